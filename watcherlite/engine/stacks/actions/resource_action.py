"""The action type that executes one operation on one resource.

The action decides when it runs whether to create, update, replace or keep the resource,
because its dependencies are known only then. The decision is durable before it takes
effect: it is in the token of an action that is InProgress, from which the row of the
resource follows, see `projection`.
"""

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.outcomes import Done, Failed, InProgress, Outcome
from watcherlite.domain.resource_results import (
    KEEP,
    REPLACE,
    UPDATE,
    PassOn,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.engine import affinity
from watcherlite.engine.stacks import handlers
from watcherlite.engine.stacks.action_inputs import (
    CONVERGE,
    HEALED,
    REASON,
    RESTORED,
    SIGNAL,
    UNABLE,
    UNCHANGED,
    ResourceInputs,
    failure_reason,
)
from watcherlite.engine.stacks.actions.convergence import ADOPT, Convergence, is_new
from watcherlite.engine.stacks.actions.nested_stack_operation import (
    NestedStackOperation,
)
from watcherlite.engine.stacks.actions.resource_operation import ResourceOperation
from watcherlite.engine.stacks.handler_calls import call_handler
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.engine.stacks.services import StackServices
from watcherlite.execution.coroutines.steps import steps_of_core
from watcherlite.plugins import base
from watcherlite.states import action as action_states
from watcherlite.states import stack as states
from watcherlite.states.stack import State

LOG = logging.getLogger(__name__)

#: Operations that may be repeated with every handler.
_REPEATABLE = frozenset({states.CHECK, states.DELETE, states.ADOPT})
#: Operations that do nothing unless the handler overrides them.
_OPTIONAL = frozenset({states.SUSPEND, states.RESUME, states.LOCK, states.UNLOCK})
TIMED_OUT = 'Timed out before it began: the operation on the stack took too long.'
EXTERNAL = 'It has an external id, and is left as it is'
DELETED = 'The stack is being deleted.'
_SINCE = '; its state is unknown since: '
UNKNOWN = (
    'Outcome unknown: a worker was lost while it ran, and its type cannot tell '
    'whether it took effect.'
)


class ResourceAction(base.ActionType):
    """Executes one operation on one resource."""

    description = 'Executes an operation on a resource of a stack.'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'stack': {'type': 'integer'},
            'resource': {'type': 'integer'},
            'do': {'type': 'string'},
            'handler': {'type': 'string'},
        },
        'required': ['stack', 'resource', 'do', 'handler'],
    }

    def __init__(self, services: StackServices) -> None:
        super().__init__()
        self._services = services

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Return whether it may be executed again after its worker was lost."""
        if inputs['do'] in _REPEATABLE:
            return True
        try:
            handler = handlers.make_handler(self._services.handlers, inputs['handler'])
        except exceptions.PluginError:
            # Its next execution fails with this error.
            return True
        if inputs['do'] == CONVERGE and handler.supports('find'):
            return True
        if inputs['do'] in _OPTIONAL and not handler.supports(inputs['do'].lower()):
            return True
        return handler.idempotent or isinstance(handler, base.NestedHandler)

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        """Return whether it is a check, or a poll of its handler."""
        polls = token is not None and 'operation' in token
        return inputs['do'] == states.CHECK or polls

    @steps_of_core
    async def execute(self, context: base.ActionContext) -> Outcome:
        inputs = ResourceInputs.of(context.inputs)
        if inputs.deadline is not None and context.now() >= inputs.deadline:
            return outcomes.Cancelled(TIMED_OUT)
        work = ResourceOperation.load(self._services, context, inputs)
        if work is None:
            return Done({})
        if _is_obsolete_signal(work):
            return outcomes.Cancelled(DELETED)
        if isinstance(work.handler, base.NestedHandler):
            return NestedStackOperation(work).execute()
        services = self._services
        host = work.handler.host(work.row.physical_id, work.row.data)
        elsewhere = affinity.forward(services.store, context, services.hosts, host)
        if elsewhere is not None:
            return elsewhere
        if inputs.do == CONVERGE:
            return await self._converge(work)
        if inputs.do in _OPTIONAL and work.external_id is not None:
            # An external resource is only checked.
            return Done({REASON: EXTERNAL, 'protected': False})
        if inputs.do == states.DELETE and work.row.protected:
            await _unprotect(work)
        if inputs.do == states.DELETE and not work.is_to_be_deleted:
            return Done({REASON: 'It is left where it is'})
        return await self._operate(work, inputs.do.lower(), work.context())

    @steps_of_core
    async def poll(self, context: base.ActionContext, token: Any) -> Outcome:
        """Execute the decision, or poll the handler."""
        work = self._load(context)
        if work is None:
            return Done({})
        if isinstance(work.handler, base.NestedHandler):
            return NestedStackOperation(work).resume(token)
        try:
            return await self._resume(work, token)
        except exceptions.StateUnknown:
            physical_id = token.get('physical_id') or work.row.physical_id
            there = affinity.await_host(
                self._services.store,
                context,
                self._services.hosts,
                work.handler.host(physical_id, token.get('data') or work.row.data),
                token,
                self.is_idempotent(context.inputs),
            )
            if there is None:
                raise
            return there

    async def _resume(self, work: ResourceOperation, token: Any) -> Outcome:
        context, inputs = work.action, work.inputs
        handler_context = _context_for(work, token)
        if 'operation' not in token:
            lost = token['attempt'] != context.attempt and token['action'] != ADOPT
            if lost and not work.handler.idempotent:
                return Failed(UNKNOWN, outputs={REASON: UNKNOWN})
            if work.row.under_mark is not None and not token.get('marked', True):
                return await self._decide_again(work, token)
            return await self._operate(work, token['action'].lower(), handler_context)
        if _is_obsolete_signal(work):
            await _cancel(work, handler_context, token)
            return outcomes.Cancelled(DELETED)
        if inputs.deadline is not None and context.now() >= inputs.deadline:
            await _cancel(work, handler_context, token)
            return outcomes.TimedOut('Timed out')
        operation = token['operation']
        polled = _hook(work, operation), token['handler']
        return await self._call(work, operation, handler_context, 'poll', *polled)

    def complete(self, context: base.ActionContext, results: Any) -> Outcome:
        work = self._load(context)
        if work is None:
            return Done({})
        if isinstance(work.handler, base.NestedHandler):
            return NestedStackOperation(work).complete(results)
        for result in results:
            # The only one is that of a forwarded signal.
            if result.status == action_states.FAILED:
                reason = failure_reason(result)
                return Failed(reason, outputs={REASON: reason})
        return Done({})

    @steps_of_core
    async def cancel(self, context: base.ActionContext, token: Any) -> None:
        if 'operation' not in token:
            return
        work = self._load(context)
        if work is not None:
            await _cancel(work, _context_for(work, token), token)

    def _load(self, context: base.ActionContext) -> ResourceOperation | None:
        """Return the operation of an action; None: its resource does not exist."""
        inputs = ResourceInputs.of(context.inputs)
        return ResourceOperation.load(self._services, context, inputs)

    # operations

    async def _converge(self, work: ResourceOperation) -> Outcome:
        """Decide how the resource converges, and start that."""
        convergence = Convergence(work)
        properties = convergence.target_properties()
        new = is_new(work.row)
        if new and work.external_id is None:
            return await self._start_creation(work, convergence.outputs(properties))
        if convergence.restore(properties) is not None:
            return Done({UNCHANGED: RESTORED, **convergence.outputs(properties)})
        refused = None if new else convergence.external_change()
        if refused is not None:
            return refused
        decided = ADOPT if new else convergence.decide(properties)
        if decided in (KEEP, UPDATE) and not work.row.exists:
            # Its creation has failed: there is nothing to change.
            return await self._start_creation(work, convergence.outputs(properties))
        if decided == KEEP:
            healed = work.row.base.failed
            return Done({UNCHANGED: True, HEALED: healed, **convergence.outputs()})
        restriction = convergence.restriction(decided)
        if restriction is not None:
            return restriction
        if decided == REPLACE:
            work = convergence.supersede(properties)
            if work.external_id is None:
                return await self._create(work, work.context(properties))
            decided = ADOPT
        token = {
            'action': ADOPT if decided == ADOPT else states.UPDATE,
            'attempt': work.action.attempt,
            'wanted': properties,
            'marked': work.row.under_mark is not None,
        }
        return InProgress(token, delay=0.0)

    async def _decide_again(
        self, work: ResourceOperation, token: Mapping[str, Any]
    ) -> Outcome:
        """Decide again: the resource was marked after the decision to update it."""
        marked = work.row.at(State(states.CHECK, states.FAILED))
        convergence = Convergence(dataclasses.replace(work, row=marked))
        if work.external_id is None and convergence.decide(token['wanted']) == REPLACE:
            restriction = convergence.restriction(REPLACE)
            if restriction is not None:
                return restriction
            work = convergence.supersede(token['wanted'])
            return await self._create(work, work.context(token['wanted']))
        handler_context = work.context(token['wanted'])
        return await self._operate(work, token['action'].lower(), handler_context)

    async def _start_creation(
        self, work: ResourceOperation, outputs: Mapping[str, Any]
    ) -> Outcome:
        """Create the resource once its definition is durable in the row.

        So it can be deleted, however its creation ends.

        :param outputs: for the row, from the start of the creation
        """
        token = {
            **outputs,
            'action': states.CREATE,
            'attempt': work.action.attempt,
            'again': work.row.may_exist,
        }
        work.action.save_token(token)
        return await self._create(work, _context_for(work, token), token['again'])

    async def _create(
        self,
        work: ResourceOperation,
        handler_context: HandlerContext,
        again: bool = False,
    ) -> Outcome:
        """Create the resource, unless it is found.

        :param again: an earlier creation has failed
        """
        result: Result = None
        if again or work.action.attempt > 1:
            # The lost worker may have created it: do not create it twice.
            result = await call_handler(work.handler, 'find', handler_context)
        if result is None:
            result = await call_handler(work.handler, 'create', handler_context)
        return self._outcome(work, 'create', handler_context, result)

    async def _operate(
        self, work: ResourceOperation, operation: str, handler_context: HandlerContext
    ) -> Outcome:
        """Call the hook of the handler for an operation."""
        handler: base.ResourceHandler = work.handler
        if work.inputs.do == SIGNAL:
            details = work.inputs.details or {}
            result = await call_handler(handler, 'signal', handler_context, details)
            if isinstance(result, PassOn):
                return work.derive_signal(result)
            return self._outcome(work, operation, handler_context, result)
        if operation == 'adopt':
            handler_context = work.adoption_context()
        name = _hook(work, operation)
        external = name == 'check' and work.external_id is not None
        if external and handler.supports('check_external'):
            name = 'check_external'
        return await self._call(work, operation, handler_context, name)

    async def _call(
        self,
        work: ResourceOperation,
        operation: str,
        handler_context: HandlerContext,
        hook: str,
        *arguments: Any,
    ) -> Outcome:
        """Return the outcome of a call of the handler.

        A FAILED resource that cannot be suspended or resumed does not fail the
        operation on its stack.
        """
        try:
            result = await call_handler(work.handler, hook, handler_context, *arguments)
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except exceptions.StateUnknown as error:
            if work.inputs.do != states.CHECK:
                raise
            return _unknown_state(work, outcomes.public_text(error))
        except Exception as error:
            if work.inputs.do not in states.RESTING or work.row.under_lock is None:
                raise
            reason = outcomes.public_text(error)
            LOG.warning(
                'Resource %s of stack %s is %s, and its %s failed: %s',
                work.row.name,
                work.stack.name,
                work.row.base.name,
                work.inputs.do,
                reason,
            )
            return Done({REASON: reason, UNABLE: True})
        return self._outcome(work, operation, handler_context, result)

    def _outcome(
        self,
        work: ResourceOperation,
        operation: str,
        handler_context: HandlerContext,
        result: Result,
    ) -> Outcome:
        """Return the outcome for a result of the handler."""
        if isinstance(result, ResourceInProgress):
            return _in_progress(work, operation, handler_context, result)
        ready = result if isinstance(result, Ready) else Ready()
        if result is not None and not isinstance(result, Ready):
            reason = (
                f'{work.row.handler} returned {type(result).__name__} from '
                f'{operation}, which is not a result'
            )
            return Failed(reason, outputs={REASON: reason})
        return Done(work.success_outputs(operation, handler_context, ready))


def _unknown_state(work: ResourceOperation, why: str) -> Outcome:
    """Return the outcome of a check that could not determine the state."""
    before = work.inputs.failure
    if before is None:
        return Done({REASON: f'Its state is unknown: {why}'})
    # Repeated checks replace the suffix instead of adding another one.
    before, _, _ = before.partition(_SINCE)
    reason = f'{before}{_SINCE}{why}'
    return Failed(reason, outputs={REASON: reason})


def _is_obsolete_signal(work: ResourceOperation) -> bool:
    """Return whether it is a signal to a stack that is being deleted.

    A deletion may wait for signals that modify nothing.
    """
    if work.inputs.do != SIGNAL or work.stack.action != states.DELETE:
        return False
    return isinstance(work.handler, base.NestedHandler) or (
        work.handler.modified_by_signals
    )


def _hook(work: ResourceOperation, operation: str) -> str:
    """Return the name of the hook of the handler for an operation."""
    if operation != 'adopt':
        return operation
    # To adopt an external resource, or one whose type has no hook for that, only a
    # check that it exists is needed.
    external = work.external_id is not None
    return 'check' if external or not work.handler.supports('adopt') else operation


def _context_for(work: ResourceOperation, token: Mapping[str, Any]) -> HandlerContext:
    """Return the context for the handler to continue from a token."""
    if token.get('operation') == 'adopt':
        return work.adoption_context()
    return work.context(token.get('wanted', token.get('properties')))


async def _cancel(
    work: ResourceOperation, handler_context: HandlerContext, token: Mapping[str, Any]
) -> None:
    polled = _hook(work, token['operation']), token['handler']
    await call_handler(work.handler, 'cancel', handler_context, *polled)


async def _unprotect(work: ResourceOperation) -> None:
    """Unlock a resource before it is deleted.

    Its lock is left over from a failed lock or unlock of the stack.
    """
    try:
        await call_handler(work.handler, 'unlock', work.context())
    except Exception as error:
        LOG.warning(
            'Resource %s of stack %s could not be unlocked before it is deleted: %s',
            work.row.name,
            work.stack.name,
            error,
        )


def _in_progress(
    work: ResourceOperation,
    operation: str,
    handler_context: HandlerContext,
    result: ResourceInProgress,
) -> Outcome:
    delay = result.delay
    if work.inputs.deadline is not None:
        left = (work.inputs.deadline - work.action.now()).total_seconds()
        delay = min(delay, max(0.0, left))
    token: dict[str, Any] = {
        'operation': operation,
        'handler': result.token,
        'attempt': work.action.attempt,
    }
    if operation in ('create', 'update', 'adopt'):
        token |= {
            'action': operation.upper(),
            'wanted': dict(handler_context.properties),
        }
    if result.physical_id is not None:
        token['physical_id'] = result.physical_id
    if result.data is not None:
        token['data'] = dict(result.data)
    return InProgress(token, delay)
