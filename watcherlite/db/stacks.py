"""The interface of the store for stacks, resources and definitions."""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.db.query import EventQuery, Query
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import (
    Definition,
    NewResource,
    NewStack,
    Resource,
    Stack,
    StackAncestry,
    StoredDefinition,
)

#: Sort keys of stacks.
STACK_SORT_KEYS = ('id', 'name', 'status', 'created_at', 'updated_at')
#: Filters of stacks; each value is a collection of allowed values. Of tags: all of
#: them, any of them, not all of them, none of them.
STACK_FILTERS = (
    'name',
    'uuid',
    'action',
    'status',
    'user',
    'owner_uuid',
    'tags',
    'tags_any',
    'not_tags',
    'not_tags_any',
)


@dataclasses.dataclass(frozen=True, slots=True)
class ListedStack:
    """A stack of a list, with the uuid of the stack around it."""

    stack: Stack
    owner_uuid: str | None


def stack_not_found(name: str) -> exceptions.StackNotFound:
    """Return the error for a stack that does not exist in the caller's project."""
    return exceptions.StackNotFound(f'The Stack ({name}) could not be found.')


class StackTransaction(Protocol):
    """The methods of `db.api.Transaction` for stacks.

    Lock a stack before you change it or its resources, or add events for them: that
    puts its events in commit order.
    """

    def insert_definition(self, definition: Definition) -> StoredDefinition:
        """Return the equal definition that is stored; insert it if there is none."""

    def insert_stack(self, stack: NewStack) -> Stack:
        """Insert a stack; return it with its id.

        A `root_id` of None becomes its own id. Conflict if another stack of that name
        in the project exists; deleted and nested stacks do not count.
        """

    def lock_stacks(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        """Lock stacks until the end of the transaction; return them by id."""

    def lock_tree(self, root_id: int) -> list[Stack]:
        """Lock and return the stacks of a tree that are not deleted.

        No stack is added to the tree until the end of the transaction, because its
        insertion locks the stack around it.
        """

    def save_stacks(self, stacks: Iterable[Stack]) -> None:
        """Write stacks that this transaction has locked."""

    def insert_resources(self, resources: Sequence[NewResource]) -> list[int]:
        """Insert resources in bulk; return their ids in the same order."""

    def save_resources(self, resources: Sequence[Resource]) -> None:
        """Write resources of stacks that this transaction has locked."""

    def resources_of(
        self, stack_ids: Iterable[int], *, superseded: bool = True
    ) -> list[Resource]:
        """Return the resources of stacks that are not deleted, by id.

        :param superseded: include superseded resources, which still exist
        """

    def abandoned_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        """Return the abandoned resources of stacks, by id.

        Without resources that were deleted, superseded or never created, or that
        another stack has adopted.
        """

    def waiting_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        """See `StackStore.waiting_resources`."""

    def resources_by_id(self, resource_ids: Iterable[int]) -> dict[int, Resource]:
        """Return resources by their ids, deleted ones included."""


class StackStore(Protocol):
    """The methods of `db.api.Store` for stacks."""

    def find_stack(self, name: str, tenant: str | None, deleted: bool = False) -> Stack:
        """Return a stack by uuid, or by name if it is not nested.

        :param tenant: None: of any project
        :param deleted: include softly deleted stacks, by uuid only
        :raises StackNotFound: there is no such stack
        """

    def stacks_by_id(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        """Return stacks by their ids, deleted ones included."""

    def stack_tree(self, root_id: int) -> list[Stack]:
        """Return the stacks of a tree that are not deleted."""

    def list_stacks(self, query: Query) -> list[ListedStack]:
        """Return a page of stacks.

        :raises StackNotFound: the project has no stack `Query.after`
        """

    def count_stacks(self, query: Query) -> int:
        """Return the number of stacks, regardless of `after` and `limit`."""

    def get_definition(self, definition_id: int) -> StoredDefinition:
        """Return a definition; raise NotFound if there is none."""

    def list_resources(
        self,
        stack_ids: Iterable[int],
        *,
        names: Iterable[str] | None = None,
        superseded: bool = False,
    ) -> list[Resource]:
        """Return the resources of stacks that are not deleted, by id.

        :param names: only resources with these names
        :param superseded: include superseded resources, which still exist
        """

    def resource_of_project(self, uuid: str, tenant: str) -> Resource | None:
        """Return a resource that is not deleted, if its stack is of the project."""

    def waiting_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        """Return the resources of stacks that wait at a hook, by id.

        A deleted one waits at a hook after its deletion.
        """

    def list_stack_events(self, query: EventQuery) -> list[StoredEvent]:
        """Return a page of events of stacks and resources."""

    def ancestry_of_stacks(
        self, stack_ids: Iterable[int]
    ) -> Mapping[int, StackAncestry]:
        """Return stacks, deleted or not, with their ancestors, by id."""

    def count_resources(self, root_id: int) -> int:
        """Return the number of resources in a tree of stacks."""

    def purge_stacks(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        """Delete the rows of stacks that were softly deleted before a time.

        Up to `limit` stacks, the lowest ids first, with their resources and events;
        softly deleted resources of other stacks; and definitions without references
        that were last used before. A stack is kept while it has nested stacks, or while
        an event of its tree is unpublished. While an operation on stacks is unfinished,
        definitions used in the last two days are kept: the operation may store a
        reference to one.

        :returns: the numbers of deleted `stacks`, `resources`, `events`, `definitions`
        """
