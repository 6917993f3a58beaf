"""The action types with which plans do something with stacks.

The classes are entry points, so that plans are checked against them; only a worker
makes instances that can execute, see `engine.types`. An operation on a stack is an
action of its own in the lane of the engine, as if a user had asked for it. The
action of the plan derives it and waits for its end, at which the core wakes it:
nothing is polled, and no thread is held.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from watcherlite import exceptions
from watcherlite.db.stacking import StackQuery
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    Outcome,
    Skipped,
)
from watcherlite.domain.stacks import Stack
from watcherlite.engine import patience
from watcherlite.engine.stacks import asked, locks
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.engine.stacks.inputs import STACK, StackInputs
from watcherlite.engine.stacks.operations import StackOperations, target
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.progress import REASON, reason_of
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

T = TypeVar('T')

#: The key of the action that is derived.
OPERATION = 'operation'

_TEXT: Mapping[str, Any] = {'type': 'string', 'minLength': 1}
_OBJECT: Mapping[str, Any] = {'type': 'object'}
#: Which stack is meant.
_STACK: Mapping[str, Any] = {
    'stack': {**_TEXT, 'description': 'uuid, or the name of one that is in no other'},
    'tenant': {**_TEXT, 'description': 'the project; needed if several have that name'},
}


def _schema(required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    return {
        'type': 'object',
        'properties': {**_STACK, **properties},
        'required': ['stack', *required],
        'additionalProperties': False,
    }


class OfStacks(ActionType):
    """What all of them have in common.

    :param operations: None for one that only says what it takes
    """

    # The operation, once it is derived, begins and ends whoever waits for it; before
    # that nothing has happened.
    idempotent = True

    def __init__(
        self,
        options: Any = None,
        parts: Parts | None = None,
        operations: StackOperations | None = None,
    ) -> None:
        super().__init__(options)
        self._of_worker = parts
        self._operations_of_worker = operations

    @property
    def parts(self) -> Parts:
        """Return what it works with."""
        if self._of_worker is None:
            raise _not_here()
        return self._of_worker

    @property
    def operations(self) -> StackOperations:
        """Return what users do with stacks."""
        if self._operations_of_worker is None:
            raise _not_here()
        return self._operations_of_worker

    def tree(self, context: ActionContext) -> Tree:
        """Return the stack that is meant, with those around it and in it.

        :raises StackNotFound: there is none
        :raises Invalid: there are several
        """
        return self.patiently(context, lambda: self._tree(context.inputs))

    def patiently(self, context: ActionContext, call: Callable[[], T]) -> T:
        """Call something that needs the store, and again while that is away."""
        return patience.patiently(context, f'Action {context.uuid} on a stack', call)

    def _tree(self, inputs: Mapping[str, Any]) -> Tree:
        store = self.parts.store
        name, tenant = inputs['stack'], inputs.get('tenant')
        stack = store.find_stack(name, tenant)
        if stack.uuid != name and tenant is None:
            _check_only(name, self.parts)
        stacks = store.stack_tree(stack.root_id or 0)
        return Tree.of(stack.id or 0, stacks)


class Operating(OfStacks):
    """Does an operation on a stack, and waits for its end.

    :cvar operation: which one
    """

    operation: ClassVar[str]

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip it under a lock."""
        tree = self.tree(context)
        lock = locks.lock_on(tree) or locks.lock_inside(tree)
        return Skipped(f'{lock}.') if lock is not None else None

    def execute(self, context: ActionContext) -> Outcome:
        """Derive the operation."""
        tree = self.tree(context)
        inputs = StackInputs(
            tree.stack.id or 0,
            self.operation,
            level=context.inputs.get('level'),
            asked=self.asked(context),
        )
        derived = DerivedAction(
            OPERATION,
            STACK,
            inputs.as_inputs(),
            name=tree.stack.name,
            target=target(tree.root),
            timeout=tree.stack.timeout,
            lane=ENGINE,
        )
        return Derived((derived,))

    def asked(self, context: ActionContext) -> dict[str, Any]:
        """Return what an update is asked for with."""
        return {}

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Say how the operation went."""
        (result,) = results
        if result.status == action_states.SUCCEEDED:
            return Done({'stack': context.inputs['stack']})
        name = context.inputs['stack']
        if result.status == action_states.CANCELLED:
            why = result.status_message or 'it was cancelled'
            return Failed(f'{self.operation} of stack {name} was cancelled: {why}')
        reason = reason_of(cast(Action, result))
        return Failed(
            f'{self.operation} of stack {name} failed: {reason}',
            outputs={REASON: reason},
        )


class StackUpdate(Operating):
    """Makes a stack what it is to be: repairs what is FAILED, and changes it."""

    operation = states.UPDATE
    description = (
        'Updates a stack: replaces what is unhealthy, and changes what is given.'
    )
    schema: ClassVar[Mapping[str, Any]] = _schema(
        template={'type': ['object', 'string'], 'description': 'as it is now, if not'},
        environment=_OBJECT,
        files={'type': 'object', 'additionalProperties': {'type': 'string'}},
        parameters=_OBJECT,
        private_parameters={
            **_OBJECT,
            'description': 'parameters whose values are shown nowhere',
        },
        clear_parameters={'type': 'array', 'items': {'type': 'string'}},
        tags={'type': 'array', 'items': _TEXT},
        timeout_mins={'type': 'integer', 'minimum': 0},
        disable_rollback={'type': 'boolean'},
    )

    def asked(self, context: ActionContext) -> dict[str, Any]:
        """Return all but the stack."""
        wanted = (*asked.FIELDS, asked.PRIVATE)
        return {key: context.inputs[key] for key in wanted if key in context.inputs}


class StackCheck(Operating):
    """Looks at the resources of a stack; that some are unhealthy is no failure."""

    operation = states.CHECK
    description = 'Checks the resources of a stack, and says which are unhealthy.'
    schema: ClassVar[Mapping[str, Any]] = _schema()

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Say what is unhealthy."""
        said = super().complete(context, results)
        if isinstance(said, Failed) and results[0].status != action_states.FAILED:
            return said
        tree = self.tree(context)
        stacks = {s.id: s for s in (tree.stack, *tree.below)}
        ids = [key for key in stacks if key]
        rows = self.patiently(context, lambda: self.parts.store.list_resources(ids))
        unhealthy = [
            {
                'stack': stacks[row.stack_id].name,
                'resource': row.name,
                'reason': row.status_reason,
            }
            for row in rows
            if row.base.failed and row.nested_id is None
        ]
        if isinstance(said, Failed) and not unhealthy:
            return said
        return Done({'stack': context.inputs['stack'], 'unhealthy': unhealthy})


class StackLock(Operating):
    """Locks a stack; one that is locked at this level is left alone."""

    operation = states.LOCK
    description = 'Locks a stack, so that nothing changes it until it is unlocked.'
    schema: ClassVar[Mapping[str, Any]] = _schema(
        level={'type': 'string', 'enum': list(states.LEVELS)}
    )

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip it where this lock is there already, or cannot be changed."""
        tree = self.tree(context)
        stack, level = tree.stack, context.inputs.get('level')
        stuck = stack.state.name == 'UNLOCK_FAILED'
        if stuck or asked.is_done(stack, states.LOCK, level):
            return Skipped(f'{locks.lock_on(tree)}.')
        return None


class StackUnlock(Operating):
    """Unlocks a stack; one that is not locked by itself is left alone."""

    operation = states.UNLOCK
    description = 'Unlocks a stack.'
    schema: ClassVar[Mapping[str, Any]] = _schema()

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip it where there is no lock of the stack's own."""
        tree = self.tree(context)
        if tree.stack.lock_level is not None:
            return None
        lock = locks.lock_on(tree)
        return Skipped(f'{lock}.' if lock else _unlocked(tree.stack))


class ResourceMarkUnhealthy(OfStacks):
    """Says how a resource is, as a user would (spec 002)."""

    description = (
        'Marks a resource of a stack as unhealthy, so that the next update replaces it.'
    )
    schema: ClassVar[Mapping[str, Any]] = _schema(
        ['resource'],
        resource={**_TEXT, 'description': 'name, or physical id'},
        unhealthy={'type': 'boolean', 'description': 'false takes the mark back'},
        reason={**_TEXT, 'maxLength': 255},
    )

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip it under a lock."""
        lock = locks.lock_on(self.tree(context))
        return Skipped(f'{lock}.') if lock is not None else None

    def execute(self, context: ActionContext) -> Outcome:
        """Mark it, or take the mark back."""
        inputs = context.inputs
        stack = self.tree(context).stack
        wanted = (inputs.get('unhealthy', True), inputs.get('reason'))
        row = self.patiently(
            context,
            lambda: self.operations.mark_unhealthy(
                *(stack.uuid, stack.tenant, inputs['resource'], *wanted)
            ),
        )
        return Done(
            {'stack': stack.uuid, 'resource': row.name, 'state': row.state.name}
        )


#: Name of the entry point -> class.
TYPES: Mapping[str, type[OfStacks]] = {
    'resource_mark_unhealthy': ResourceMarkUnhealthy,
    'stack_check': StackCheck,
    'stack_lock': StackLock,
    'stack_unlock': StackUnlock,
    'stack_update': StackUpdate,
}


def _check_only(name: str, parts: Parts) -> None:
    """Raise Invalid if several stacks have a name."""
    query = StackQuery(filters={'name': [name]}, limit=2)
    if len(parts.store.list_stacks(query)) > 1:
        raise exceptions.Invalid(
            f'Several projects have a stack {name}: name the tenant, or the uuid.'
        )


def _unlocked(stack: Stack) -> str:
    return f'Stack {stack.name} is not locked ({stack.state.name}).'


def _not_here() -> exceptions.PluginError:
    return exceptions.PluginError(
        'Only a worker of watcherlite can execute what is done with stacks'
    )
