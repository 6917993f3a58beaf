"""The part of the store that keeps stacks and their resources.

As in `db.api`: compare and set, all or nothing, no query per row.
"""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.db.query import EventQuery, Query
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Definition, Resource, Stack, StackSurroundings

#: By which columns stacks can be sorted.
STACK_SORT_KEYS = ('id', 'name', 'status', 'created_at', 'updated_at')
#: By what stacks can be filtered; each value is a collection of allowed ones. Of tags:
#: all of these; any; not all of these; none of these.
STACK_FILTERS = (
    *('name', 'uuid', 'action', 'status', 'user', 'owner_uuid'),
    *('tags', 'tags_any', 'not_tags', 'not_tags_any'),
)


@dataclasses.dataclass(frozen=True, slots=True)
class ListedStack:
    """A stack with what is shown of others in a list."""

    stack: Stack
    owner_uuid: str | None


def stack_not_found(name: str) -> exceptions.StackNotFound:
    """Return the error for a stack that does not exist for who asks."""
    return exceptions.StackNotFound(f'The Stack ({name}) could not be found.')


class StackTransaction(Protocol):
    """The part of `db.api.Transaction` that is about stacks.

    Who changes a stack or its resources, or writes events of them, locks the stack
    first: that orders its events by commit. Stacks are locked after plans and before
    actions, several of them in the order of their ids.
    """

    def insert_definition(self, definition: Definition) -> Definition:
        """Return an equal definition that is stored, now if there was none."""

    def insert_stack(self, stack: Stack) -> Stack:
        """Store a new stack; return it with its id.

        A `root_id` of None becomes its own id. Conflict when another one of its
        tenant that is not deleted has its name and neither is nested.
        """

    def lock_stacks(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        """Lock the rows until the end and return them as they are, by id."""

    def lock_tree(self, root_id: int) -> list[Stack]:
        """Lock all stacks below a root, itself included, that are not deleted.

        Until the end no other one comes: who stores a stack in another locks that.
        """

    def save_stacks(self, stacks: Iterable[Stack]) -> None:
        """Write all of stacks that this transaction has locked."""

    def insert_resources(self, resources: Sequence[Resource]) -> list[int]:
        """Store new resources in bulk; return the ids, in the same order."""

    def save_resources(self, resources: Sequence[Resource]) -> None:
        """Write all of resources, of stacks that this transaction has locked."""

    def resources_of(
        self, stack_ids: Iterable[int], *, superseded: bool = True
    ) -> list[Resource]:
        """Return the resources of stacks that are not deleted, by id.

        :param superseded: those that have been replaced and still exist, too
        """

    def abandoned_resources(self, stack_ids: Iterable[int]) -> list[Resource]:
        """Return the resources that stacks were made to forget, by id.

        Not those that were deleted or replaced, that were never made, or that another
        stack has adopted since.
        """

    def resources_by_id(self, resource_ids: Iterable[int]) -> dict[int, Resource]:
        """Return resources by their ids, deleted ones included."""


class StackStore(Protocol):
    """The part of `db.api.Store` that is about stacks."""

    def find_stack(self, name: str, tenant: str | None, deleted: bool = False) -> Stack:
        """Return a stack by uuid, or by name (not nested ones); NotFound.

        :param tenant: None: of any
        :param deleted: a softly deleted one, too; by uuid only
        """

    def stacks_by_id(self, stack_ids: Iterable[int]) -> dict[int, Stack]:
        """Return stacks by their ids, deleted ones included."""

    def stack_tree(self, root_id: int) -> list[Stack]:
        """Return all stacks below a root, itself included, that are not deleted."""

    def list_stacks(self, query: Query) -> list[ListedStack]:
        """Return a page of stacks, by one statement; NotFound for `after`.

        A stack of the same tenant, though, which need not match. Those that have no
        `updated_at` come last in both directions.
        """

    def count_stacks(self, query: Query) -> int:
        """Return how many stacks there are, whatever `after` and `limit` say."""

    def get_definition(self, definition_id: int) -> Definition:
        """Return a definition; NotFound."""

    def list_resources(
        self,
        stack_ids: Iterable[int],
        *,
        names: Iterable[str] | None = None,
        superseded: bool = False,
    ) -> list[Resource]:
        """Return the resources of stacks that are not deleted, by id.

        :param names: of these names alone
        :param superseded: those that have been replaced and still exist, too
        """

    def list_stack_events(self, query: EventQuery) -> list[StoredEvent]:
        """Return a page of events of stacks and resources, in one statement."""

    def surroundings_of_stacks(
        self, stack_ids: Iterable[int]
    ) -> Mapping[int, StackSurroundings]:
        """Return stacks, deleted or not, with those around them, by id.

        Those that are gone are left out.
        """

    def count_resources(self, root_id: int) -> int:
        """Return how many resources the stacks below a root have together."""

    def purge_stacks(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        """Delete rows of stacks that were deleted before a time, and what is theirs.

        At most `limit` stacks, the lowest ids first; also resources of other stacks
        that were deleted before; and definitions that no row refers to, which were
        last asked for before. A stack stays as long as one in it does, or as an event
        in its tree is not published. While an operation on stacks is unfinished,
        definitions stay that were asked for in the last two days: it may know of one
        that no row refers to yet.

        :returns: how many rows: `stacks`, `resources`, `events`, `definitions`
        """
