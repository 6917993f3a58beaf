"""The stacks as strategies see them: read once for each question, never changed."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from watcherlite.db.api import Store
from watcherlite.db.stacking import StackQuery
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.engine.stacks.locks import lock_inside, lock_on
from watcherlite.states import stack as states

#: Of how many stacks the resources are read at once.
CHUNK = 100


@dataclasses.dataclass(frozen=True, slots=True)
class UnhealthyResource:
    """A resource that the next update of its stack would repair or replace.

    :param stack: the name of the stack that it is in, which may be in another one
    :param marked: a user said so
    """

    stack: str
    name: str
    type: str
    state: str
    reason: str
    marked: bool


@dataclasses.dataclass(frozen=True, slots=True)
class SeenStack:
    """A stack that is in no other, with all that is in it.

    :param state: as it is shown
    :param resources: how many there are, those of stacks in it included
    :param unhealthy: those of them that are FAILED
    :param failed: the last operation on it did not end well
    :param hindrance: why it can be neither checked nor updated now; None: it can
    """

    uuid: str
    name: str
    tenant: str
    tags: tuple[str, ...]
    state: str
    resources: int
    unhealthy: tuple[UnhealthyResource, ...]
    failed: bool
    hindrance: str | None

    @property
    def healthy(self) -> bool:
        return not self.unhealthy and not self.failed


class StackModel:
    """The model `stacks` of `StrategyContext.model`.

    A scope has no rules for stacks: which are meant, a strategy asks for.
    """

    def __init__(self, store: Store, scope: Sequence[Any] = ()) -> None:
        self._store = store
        self.scope = scope

    def stacks(
        self,
        names: Collection[str] = (),
        tags: Iterable[str] = (),
        tenant: str | None = None,
    ) -> list[SeenStack]:
        """Return the stacks that are in no other, by name.

        :param names: or uuids, of which one must fit; none: all do
        :param tags: that a stack must all have
        :param tenant: None: of all projects
        """
        query = StackQuery(tenant, tags=tuple(tags), sort=(('name', False),))
        roots = [
            listed.stack
            for listed in self._store.list_stacks(query)
            if not names or {listed.stack.name, listed.stack.uuid} & set(names)
        ]
        trees = self._trees(roots, tenant)
        found = []
        for begin in range(0, len(roots), CHUNK):
            some = roots[begin : begin + CHUNK]
            rows = self._rows(stack for root in some for stack in trees[root.id or 0])
            found += [_seen(root, trees[root.id or 0], rows) for root in some]
        return found

    def _trees(
        self, roots: Sequence[Stack], tenant: str | None
    ) -> dict[int, list[Stack]]:
        """Return each stack with those in it, by its id."""
        trees: dict[int, list[Stack]] = {root.id or 0: [] for root in roots}
        if not roots:
            return trees
        query = StackQuery(tenant, nested=True, sort=(('id', False),))
        for listed in self._store.list_stacks(query):
            if listed.stack.root_id in trees:
                trees[listed.stack.root_id].append(listed.stack)
        return trees

    def _rows(self, stacks: Iterable[Stack]) -> dict[int, list[Resource]]:
        found: dict[int, list[Resource]] = {}
        for row in self._store.list_resources([stack.id or 0 for stack in stacks]):
            found.setdefault(row.stack_id, []).append(row)
        return found


def _seen(
    root: Stack, stacks: Sequence[Stack], rows: dict[int, list[Resource]]
) -> SeenStack:
    own = [(stack, row) for stack in stacks for row in rows.get(stack.id or 0, ())]
    return SeenStack(
        root.uuid,
        root.name,
        root.tenant,
        root.tags,
        root.state.name,
        len(own),
        tuple(_unhealthy(stack, row) for stack, row in own if is_unhealthy(row)),
        root.base.failed,
        _hindrance(root, stacks),
    )


def is_unhealthy(row: Resource) -> bool:
    """Say whether a resource is FAILED by itself.

    One that is a stack is FAILED with what is in it, unless a user said so of it.
    """
    return row.base.failed and (row.nested_id is None or row.under_mark is not None)


def _unhealthy(stack: Stack, row: Resource) -> UnhealthyResource:
    return UnhealthyResource(
        *(stack.name, row.name, row.type, row.base.name, row.base.reason),
        marked=row.under_mark is not None,
    )


def _hindrance(root: Stack, stacks: Sequence[Stack]) -> str | None:
    tree = Tree.of(root.id or 0, [root, *(s for s in stacks if s.id != root.id)])
    lock = lock_on(tree) or lock_inside(tree)
    if lock is not None:
        return lock
    for stack in stacks:
        if stack.state.busy:
            return f'Stack {stack.name} is {stack.state.name}'
    if root.base.action in (states.SUSPEND, states.DELETE):
        return f'Stack {root.name} is {root.base.name}'
    return None
