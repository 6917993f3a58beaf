"""The action types for stacks in action plans.

The classes are entry points, so that plans are validated against them; only a worker
creates instances that can execute, see `engine.action_types`. An operation on a stack
is an action of its own, see `derived_operations`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.creators import Creator
from watcherlite.domain.outcomes import DerivedAction, Done, Failed, Outcome, Skipped
from watcherlite.domain.stacks import Stack
from watcherlite.engine.derived_operations import OPERATION, OperationAction
from watcherlite.engine.stacks.action_inputs import STACK, StackInputs
from watcherlite.engine.stacks.actions import action_started_operations
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.engine.stacks.services import StackServices
from watcherlite.engine.stacks.tree import (
    StackTree,
    covering_lock,
    inner_lock,
    tree_target,
)
from watcherlite.execution import retries
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import stack as states

T = TypeVar('T')

_TEXT: Mapping[str, Any] = {'type': 'string', 'minLength': 1}
_OBJECT: Mapping[str, Any] = {'type': 'object'}
#: The properties that identify the stack.
_STACK: Mapping[str, Any] = {
    'stack': {**_TEXT, 'description': 'uuid, or the name of a root stack'},
    'tenant': {
        **_TEXT,
        'description': 'the project; required if several projects have the name',
    },
}


def _schema(required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    return {
        'type': 'object',
        'properties': {**_STACK, **properties},
        'required': ['stack', *required],
        'additionalProperties': False,
    }


class StackPlanAction(ActionType):
    """The base of the action types for stacks.

    :param operations: None for an instance that only validates inputs
    """

    # The derived operation does not depend on this action; before it, nothing happens.
    idempotent = True

    def __init__(
        self,
        options: Any = None,
        services: StackServices | None = None,
        operations: StackOperations | None = None,
    ) -> None:
        super().__init__(options)
        self._services = services
        self._operations = operations

    @property
    def services(self) -> StackServices:
        if self._services is None:
            raise _worker_only()
        return self._services

    @property
    def operations(self) -> StackOperations:
        if self._operations is None:
            raise _worker_only()
        return self._operations

    def tree(self, context: ActionContext) -> StackTree:
        """Return the tree of the stack that the inputs name.

        :raises StackNotFound: no stack has the name
        :raises Invalid: several stacks have the name
        """
        return self.retry(context, lambda: self._tree(context.inputs, context.creator))

    def retry(self, context: ActionContext, call: Callable[[], T]) -> T:
        """Call the store, and retry while it is unavailable."""
        return retries.retry_while_unavailable(
            context, f'Action {context.uuid} on a stack', call
        )

    def _tree(self, inputs: Mapping[str, Any], creator: Creator) -> StackTree:
        store = self.services.store
        name, tenant = inputs['stack'], inputs.get('tenant')
        # Stacks of other projects are never found.
        tenant = creator.lookup_project(tenant)
        stack = store.find_stack(name, tenant)
        if stack.uuid != name and tenant is None:
            _check_unique(name, self.services)
        return StackTree.read(store, stack)


class StackOperationAction(StackPlanAction, OperationAction):
    """Executes an operation on a stack.

    :cvar operation: the operation
    """

    operation: ClassVar[str]

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        tree = self.tree(context)
        lock = covering_lock(tree) or inner_lock(tree)
        return Skipped(f'{lock}.') if lock is not None else None

    def derive(self, context: ActionContext) -> DerivedAction:
        tree = self.tree(context)
        inputs = StackInputs(
            tree.stack.id,
            self.operation,
            level=context.inputs.get('level'),
            asked=self.arguments(context),
        )
        return DerivedAction(
            OPERATION,
            STACK,
            inputs.as_inputs(),
            name=tree.stack.name,
            target=tree_target(tree.root),
            timeout=tree.stack.timeout,
            lane=ENGINE,
        )

    def arguments(self, context: ActionContext) -> dict[str, Any]:
        """Return the arguments of an update."""
        return {}

    def title(self, context: ActionContext) -> str:
        return f'{self.operation} of stack {context.inputs["stack"]}'

    def results(self, context: ActionContext, result: DerivedResult) -> dict[str, Any]:
        return {'stack': context.inputs['stack']}


class StackUpdate(StackOperationAction):
    """Updates a stack, and repairs its FAILED resources."""

    operation = states.UPDATE
    description = (
        'Updates a stack to the given values, and replaces unhealthy resources.'
    )
    schema: ClassVar[Mapping[str, Any]] = _schema(
        template={
            'type': ['object', 'string'],
            'description': 'default: the present one',
        },
        environment=_OBJECT,
        files={'type': 'object', 'additionalProperties': {'type': 'string'}},
        parameters=_OBJECT,
        private_parameters={
            **_OBJECT,
            'description': 'parameters whose values are never shown',
        },
        clear_parameters={'type': 'array', 'items': {'type': 'string'}},
        tags={'type': 'array', 'items': _TEXT},
        timeout_mins={'type': 'integer', 'minimum': 0},
        disable_rollback={'type': 'boolean'},
    )

    def arguments(self, context: ActionContext) -> dict[str, Any]:
        """Return all inputs but the stack."""
        names = (
            *action_started_operations.UPDATE_FIELDS,
            action_started_operations.PRIVATE_PARAMETERS,
        )
        return {name: context.inputs[name] for name in names if name in context.inputs}


class StackCheck(StackOperationAction):
    """Checks the resources of a stack; unhealthy resources are not a failure."""

    operation = states.CHECK
    description = 'Checks the resources of a stack, and reports the unhealthy ones.'
    schema: ClassVar[Mapping[str, Any]] = _schema()

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        outcome = super().complete(context, results)
        if isinstance(outcome, Failed) and results[0].status != action_states.FAILED:
            return outcome
        tree = self.tree(context)
        stacks = {s.id: s for s in (tree.stack, *tree.below)}
        ids = [key for key in stacks if key]
        rows = self.retry(context, lambda: self.services.store.list_resources(ids))
        unhealthy = [
            {
                'stack': stacks[row.stack_id].name,
                'resource': row.name,
                'reason': row.status_reason,
            }
            for row in rows
            if row.base.failed and row.nested_id is None
        ]
        if isinstance(outcome, Failed) and not unhealthy:
            return outcome
        return Done({'stack': context.inputs['stack'], 'unhealthy': unhealthy})


class StackLock(StackOperationAction):
    """Locks a stack, unless it is locked at the level already."""

    operation = states.LOCK
    description = 'Locks a stack: nothing changes it until it is unlocked.'
    schema: ClassVar[Mapping[str, Any]] = _schema(
        level={'type': 'string', 'enum': list(states.LEVELS)}
    )

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip the action if the stack has the lock, or its lock cannot be changed."""
        tree = self.tree(context)
        stack, level = tree.stack, context.inputs.get('level')
        stuck = stack.state.name == 'UNLOCK_FAILED'
        if stuck or action_started_operations.is_locked_at(stack, states.LOCK, level):
            return Skipped(f'{covering_lock(tree)}.')
        return None


class StackUnlock(StackOperationAction):
    """Unlocks a stack, unless it has no lock of its own."""

    operation = states.UNLOCK
    description = 'Unlocks a stack.'
    schema: ClassVar[Mapping[str, Any]] = _schema()

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip the action if the stack has no lock of its own."""
        tree = self.tree(context)
        if tree.stack.lock_level is not None:
            return None
        lock = covering_lock(tree)
        return Skipped(f'{lock}.' if lock else _not_locked_text(tree.stack))


class ResourceMarkUnhealthy(StackPlanAction):
    """Marks a resource as unhealthy, as a user would (spec 002)."""

    description = (
        'Marks a resource of a stack as unhealthy: the next update replaces it.'
    )
    schema: ClassVar[Mapping[str, Any]] = _schema(
        ['resource'],
        resource={**_TEXT, 'description': 'name, or physical id'},
        unhealthy={'type': 'boolean', 'description': 'false clears the mark'},
        reason={**_TEXT, 'maxLength': 255},
    )

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip the action if the stack is locked."""
        lock = covering_lock(self.tree(context))
        return Skipped(f'{lock}.') if lock is not None else None

    def execute(self, context: ActionContext) -> Outcome:
        inputs = context.inputs
        stack = self.tree(context).stack
        row = self.retry(
            context,
            lambda: self.operations.mark_unhealthy(
                stack.uuid,
                stack.tenant,
                inputs['resource'],
                inputs.get('unhealthy', True),
                inputs.get('reason'),
            ),
        )
        return Done(
            {'stack': stack.uuid, 'resource': row.name, 'state': row.state.name}
        )


#: Name of the entry point -> class.
TYPES: Mapping[str, type[StackPlanAction]] = {
    'resource_mark_unhealthy': ResourceMarkUnhealthy,
    'stack_check': StackCheck,
    'stack_lock': StackLock,
    'stack_unlock': StackUnlock,
    'stack_update': StackUpdate,
}


def _check_unique(name: str, services: StackServices) -> None:
    """Raise Invalid if several stacks have a name."""
    query = Query({'name': [name]}, limit=2)
    if len(services.store.list_stacks(query)) > 1:
        raise exceptions.Invalid(
            f'Several projects have a stack {name}: specify the tenant or the uuid.'
        )


def _not_locked_text(stack: Stack) -> str:
    return f'Stack {stack.name} is not locked ({stack.state.name}).'


def _worker_only() -> exceptions.PluginError:
    return exceptions.PluginError(
        'Only a worker of watcherlite can execute actions on stacks'
    )
