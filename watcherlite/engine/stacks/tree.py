"""The tree of a stack: its locks, its ancestors and its nested stacks."""

import dataclasses
import datetime
from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import events
from watcherlite.domain.resource_results import Batch
from watcherlite.domain.stacks import Definition, NewResource, NewStack, Stack
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates import facade
from watcherlite.domain.templates.blueprint import Blueprint, References
from watcherlite.engine.stacks.resource_context import physical_name
from watcherlite.states import stack as states


@dataclasses.dataclass(frozen=True, slots=True)
class StackTree:
    """A stack with its ancestors and its descendants.

    :param above: the ancestors, the nearest first
    :param below: the descendants, parents before their children
    """

    stack: Stack
    above: tuple[Stack, ...]
    below: tuple[Stack, ...]

    @classmethod
    def of(cls, stack_id: int, stacks: Sequence[Stack]) -> 'StackTree':
        """Return the tree as seen from one of its stacks; raises StackNotFound."""
        by_id: dict[int | None, Stack] = {stack.id: stack for stack in stacks}
        stack = by_id.get(stack_id)
        if stack is None:
            raise exceptions.StackNotFound(
                f'The Stack ({stack_id}) could not be found.'
            )
        above = []
        owner = by_id.get(stack.owner_id)
        while owner is not None:
            above.append(owner)
            owner = by_id.get(owner.owner_id)
        inside = {stack.id}
        below = []
        # A parent is stored before its children: its id is lower.
        for other in sorted(stacks, key=lambda s: s.id):
            if other.owner_id in inside:
                inside.add(other.id)
                below.append(other)
        return cls(stack, tuple(above), tuple(below))

    @classmethod
    def read(cls, store: Store, stack: Stack) -> 'StackTree':
        """Read the tree of a stack; raises StackNotFound."""
        return cls.of(stack.id, store.stack_tree(stack.tree_id))

    @classmethod
    def lock(cls, tx: Transaction, stack: Stack) -> 'StackTree':
        """Lock the tree of a stack; raises StackNotFound."""
        return cls.of(stack.id, tx.lock_tree(stack.tree_id))

    @property
    def root(self) -> Stack:
        """Return the outermost stack."""
        return self.above[-1] if self.above else self.stack

    @property
    def target(self) -> str:
        """Return the target that every operation on one of these stacks locks."""
        return tree_target(self.root)

    @property
    def running(self) -> list[str]:
        """Return the uuids of the running operations, without derived ones."""
        stacks = (self.stack,) if self.stack.state.busy else self.below
        return [s.operation for s in stacks if s.state.busy and s.operation]


def tree_target(root: Stack) -> str:
    """Return the target that every operation on a stack of the tree locks."""
    return f'stack:{root.uuid}'


def is_rolling_back(root: Stack) -> bool:
    """Return whether the operation on a tree restores its previous definition."""
    return root.state.busy and root.action == states.ROLLBACK


def covering_lock(tree: StackTree) -> str | None:
    """Return a description of the lock that covers a stack; None: it is unlocked.

    A stack that is being unlocked counts as unlocked: the request waits for the end.
    """
    stack = tree.stack
    for other in tree.above[::-1]:
        if _is_locked(other):
            return (
                f'Stack {stack.name} is locked by the lock of stack {other.name} '
                f'({_state_text(other)}), which it is part of'
            )
    if _is_locked(stack):
        return f'Stack {stack.name} is locked ({_state_text(stack)})'
    return None


def inner_lock(tree: StackTree) -> str | None:
    """Return a description of a lock on a descendant; None: there is no such lock."""
    for other in tree.below:
        if other.lock_level is not None and _is_locked(other):
            return (
                f'Stack {other.name}, which is part of {tree.stack.name}, is locked '
                f'({_state_text(other)})'
            )
    return None


def _is_locked(stack: Stack) -> bool:
    return stack.state.name in states.LOCKED and (
        stack.state.name != 'UNLOCK_IN_PROGRESS'
    )


def _state_text(stack: Stack) -> str:
    level = f', level {stack.level}' if stack.level is not None else ''
    return f'{stack.state.name}{level}'


def nested_definition(
    batch: Batch, blueprint: Blueprint, resource_name: str, references: References
) -> Definition:
    """Return the definition of a nested stack.

    :param blueprint: of its parent
    :param references: to the resources of its parent, for its facade
    :raises StackValidationFailed: a function of its facade has an invalid argument
    """
    parent = blueprint.definition
    environment = batch.environment
    if environment is None:
        environment = environments.nested(parent.environment, resource_name)
    if facade.is_used(batch.template):
        shown = blueprint.facade_of(resource_name, references)
        environment = {**environment, facade.KEY: shown}
    return Definition(
        template=batch.template,
        environment=environment,
        files=parent.files if batch.files is None else batch.files,
        parameters=batch.parameters,
    )


def new_nested_stack(
    parent: NewStack, row: NewResource, definition_id: int, now: datetime.datetime
) -> NewStack:
    """Return the stack that a resource is, before it is stored.

    :param parent: the stack of the resource, stored or not
    """
    return NewStack(
        uuid=events.new_uuid(),
        name=physical_name(parent, row),
        tenant=parent.tenant,
        definition_id=definition_id,
        action=states.INIT,
        status=states.COMPLETE,
        owner_id=parent.id if isinstance(parent, Stack) else None,
        owner_resource=row.name,
        root_id=parent.root_id,
        depth=parent.depth + 1,
        timeout=parent.timeout,
        user=parent.user,
        context=parent.context,
        created_at=now,
    )
