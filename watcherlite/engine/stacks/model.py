"""The model of stacks for strategies: read-only, and read again at each call."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from watcherlite.db.api import Store
from watcherlite.db.query import Query
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.tree import StackTree, covering_lock, inner_lock
from watcherlite.states import stack as states

#: Number of stacks whose resources are read at once.
CHUNK = 100


@dataclasses.dataclass(frozen=True, slots=True)
class UnhealthyResource:
    """A resource that the next update of its stack would repair or replace.

    :param stack: the name of its stack, which may be nested
    :param marked: a user has marked it
    """

    stack: str
    name: str
    type: str
    state: str
    reason: str
    marked: bool


@dataclasses.dataclass(frozen=True, slots=True)
class StackSummary:
    """A root stack with the health of its tree.

    :param state: as the API shows it
    :param resources: the number of resources in the tree
    :param unhealthy: those that are FAILED
    :param failed: the last operation has failed
    :param blocking_reason: why it cannot be checked or updated now; None: it can
    """

    uuid: str
    name: str
    tenant: str
    tags: tuple[str, ...]
    state: str
    resources: int
    unhealthy: tuple[UnhealthyResource, ...]
    failed: bool
    blocking_reason: str | None

    @property
    def healthy(self) -> bool:
        return not self.unhealthy and not self.failed


class StackModel:
    """The model `stacks` of `StrategyContext.model`.

    A scope has no rules for stacks: a strategy selects them by name and tag.

    :param creator: of the audit: the model omits what it may not act on
    """

    def __init__(
        self, store: Store, scope: Sequence[Any] = (), creator: Creator = LOCAL
    ) -> None:
        self._store = store
        self._creator = creator
        self.scope = scope

    def stacks(
        self,
        names: Collection[str] = (),
        tags: Iterable[str] = (),
        tenant: str | None = None,
    ) -> list[StackSummary]:
        """Return the root stacks, sorted by name.

        :param names: names or uuids; empty: all stacks
        :param tags: tags that a stack must all have
        :param tenant: None: all projects of the creator
        """
        tenant = self._creator.lookup_project(tenant)
        query = Query({'tags': tuple(tags)}, (('name', False),), tenant=tenant)
        roots = [
            listed.stack
            for listed in self._store.list_stacks(query)
            if not names or {listed.stack.name, listed.stack.uuid} & set(names)
        ]
        trees = self._trees(roots, tenant)
        found = []
        for begin in range(0, len(roots), CHUNK):
            some = roots[begin : begin + CHUNK]
            ids = [stack.id for root in some for stack in trees[root.id]]
            rows: dict[int, list[Resource]] = {}
            for row in self._store.list_resources(ids):
                rows.setdefault(row.stack_id, []).append(row)
            found += [_summary(root, trees[root.id], rows) for root in some]
        return found

    def _trees(
        self, roots: Sequence[Stack], tenant: str | None
    ) -> dict[int, list[Stack]]:
        """Return the tree of each stack, by its id."""
        trees: dict[int, list[Stack]] = {root.id: [] for root in roots}
        if not roots:
            return trees
        query = Query(sort=(('id', False),), nested=True, tenant=tenant)
        for listed in self._store.list_stacks(query):
            if listed.stack.root_id in trees:
                trees[listed.stack.root_id].append(listed.stack)
        return trees


def _summary(
    root: Stack, stacks: Sequence[Stack], rows: dict[int, list[Resource]]
) -> StackSummary:
    own = [(stack, row) for stack in stacks for row in rows.get(stack.id, ())]
    return StackSummary(
        root.uuid,
        root.name,
        root.tenant,
        root.tags,
        root.state.name,
        len(own),
        tuple(
            UnhealthyResource(
                stack.name,
                row.name,
                row.type,
                row.base.name,
                row.base.reason,
                marked=row.under_mark is not None,
            )
            for stack, row in own
            # A stack is FAILED only because of its members, unless it is marked.
            if row.base.failed and (row.nested_id is None or row.under_mark is not None)
        ),
        root.base.failed,
        _blocking_reason(root, stacks),
    )


def _blocking_reason(root: Stack, stacks: Sequence[Stack]) -> str | None:
    tree = StackTree.of(root.id, [root, *(s for s in stacks if s.id != root.id)])
    lock = covering_lock(tree) or inner_lock(tree)
    if lock is not None:
        return lock
    for stack in stacks:
        if stack.state.busy:
            return f'Stack {stack.name} is {stack.state.name}'
    if root.base.action in (states.SUSPEND, states.DELETE):
        return f'Stack {root.name} is {root.base.name}'
    return None
