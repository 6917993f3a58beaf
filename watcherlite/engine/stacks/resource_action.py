"""The action type that does something with one resource.

What that comes to, create, update, replace or nothing, is decided when it runs,
because only then what it depends on is known. The decision is durable before it
takes effect: it travels in the token of an action that is InProgress, and the row
of the resource follows it, see `progress`.
"""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.handling import KEEP, REPLACE, NotYet, PassOn, Ready, Result
from watcherlite.domain.outcomes import Done, Failed, InProgress, Outcome
from watcherlite.engine.stacks import handlers as making
from watcherlite.engine.stacks.converging import ADOPT, Converging
from watcherlite.engine.stacks.inputs import CONVERGE, SIGNAL, ResourceInputs
from watcherlite.engine.stacks.nested_resource import NestedResource
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.progress import (
    REASON,
    RESTORED,
    UNCHANGED,
    reason_of,
)
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.engine.stacks.working import Working
from watcherlite.plugins.base import (
    ActionContext,
    ActionType,
    DerivedResult,
    NestedHandler,
    ResourceHandler,
)
from watcherlite.states import stack as states

LOG = logging.getLogger(__name__)

#: What may be done twice whatever the handler says: it changes nothing, or deletes.
_HARMLESS = frozenset({states.CHECK, states.DELETE, states.ADOPT})
#: What does nothing with a type that does not override it.
_OPTIONAL = frozenset({states.SUSPEND, states.RESUME, states.LOCK, states.UNLOCK})
TIMED_OUT = 'Timed out before it began: the operation on the stack took too long.'
DELETED = 'The stack is being deleted.'
UNKNOWN = (
    'Outcome unknown: a worker was lost while it ran, and its type cannot tell '
    'whether it took effect.'
)


class ResourceAction(ActionType):
    """Does one thing with one resource."""

    description = 'Does something with a resource of a stack.'
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

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._parts = parts

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Say whether it may be begun again after its worker was lost."""
        if inputs['do'] in _HARMLESS:
            return True
        try:
            handler = making.make(self._parts.handlers, inputs['handler'])
        except exceptions.PluginError:
            # It fails when it begins again, and says so.
            return True
        if inputs['do'] == CONVERGE and handler.supports('find'):
            return True
        if inputs['do'] in _OPTIONAL and not handler.supports(inputs['do'].lower()):
            return True
        return handler.idempotent or isinstance(handler, NestedHandler)

    def execute(self, context: ActionContext) -> Outcome:
        """Do it, or decide what is to be done."""
        inputs = ResourceInputs.of(context.inputs)
        if inputs.deadline is not None and context.now() >= inputs.deadline:
            return outcomes.Cancelled(TIMED_OUT)
        work = Working.of(self._parts, context, inputs)
        if work is None:
            return Done({})
        if _comes_too_late(work):
            return outcomes.Cancelled(DELETED)
        if isinstance(work.handler, NestedHandler):
            return NestedResource(work).execute()
        if inputs.do == CONVERGE:
            return self._converge(work)
        if inputs.do == states.DELETE and not work.is_to_be_deleted:
            return Done({REASON: 'It is left where it is'})
        if inputs.do == states.DELETE and work.row.protected:
            _unprotect(work)
        return self._operate(work, inputs.do.lower(), work.context())

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Do what was decided, or look how far it is."""
        inputs = ResourceInputs.of(context.inputs)
        work = Working.of(self._parts, context, inputs)
        if work is None:
            return Done({})
        if isinstance(work.handler, NestedHandler):
            return NestedResource(work).go_on(token)
        handed = _handed(work, token)
        if 'operation' not in token:
            lost = token['attempt'] != context.attempt and token['action'] != ADOPT
            if lost and not work.handler.idempotent:
                return Failed(UNKNOWN, outputs={REASON: UNKNOWN})
            return self._operate(work, token['action'].lower(), handed)
        if _comes_too_late(work):
            _cancel(work, handed, token)
            return outcomes.Cancelled(DELETED)
        if inputs.deadline is not None and context.now() >= inputs.deadline:
            _cancel(work, handed, token)
            return outcomes.TimedOut('Timed out')
        said = work.handler.poll(
            *(handed, _hook(work, token['operation']), token['handler']),
        )
        return self._said(work, token['operation'], handed, said)

    def complete(self, context: ActionContext, results: Any) -> Outcome:
        """Say how it went, now that the stack that it is has done its part."""
        inputs = ResourceInputs.of(context.inputs)
        work = Working.of(self._parts, context, inputs)
        if work is None:
            return Done({})
        if isinstance(work.handler, NestedHandler):
            return NestedResource(work).complete(results)
        return _passed_on(results)

    def cancel(self, context: ActionContext, token: Any) -> None:
        """Tell the handler to stop."""
        if 'operation' not in token:
            return
        inputs = ResourceInputs.of(context.inputs)
        work = Working.of(self._parts, context, inputs)
        if work is not None:
            _cancel(work, _handed(work, token), token)

    # one thing each

    def _converge(self, work: Working) -> Outcome:
        """Decide what a definition means for a resource, and begin with it."""
        converging = Converging(work)
        wanted = converging.wanted()
        new = converging.is_new
        if new and work.external_id is None:
            return self._create(work, wanted)
        if converging.restored(wanted) is not None:
            return Done({UNCHANGED: RESTORED, **converging.outputs(wanted)})
        decided = ADOPT if new else converging.decision(wanted)
        if decided == KEEP:
            return Done({UNCHANGED: True, **converging.outputs()})
        if decided == REPLACE:
            work = converging.superseded()
            if work.external_id is None:
                return self._create(work, wanted)
            decided = ADOPT
        token = {
            'action': ADOPT if decided == ADOPT else states.UPDATE,
            'attempt': work.action.attempt,
            'wanted': wanted,
        }
        return InProgress(token, delay=0.0)

    def _create(self, work: Working, wanted: Mapping[str, Any]) -> Outcome:
        handed = work.context(wanted)
        result: Result = None
        if work.action.attempt > 1:
            # The worker that began it was lost: what it made is not made again.
            result = work.handler.find(handed)
        if result is None:
            result = work.handler.create(handed)
        return self._said(work, 'create', handed, result)

    def _operate(
        self, work: Working, operation: str, handed: HandlerContext
    ) -> Outcome:
        """Call the operation of the handler."""
        handler: ResourceHandler = work.handler
        if work.inputs.do == SIGNAL:
            said = handler.signal(handed, work.inputs.details or {})
            if isinstance(said, PassOn):
                return work.pass_on(said)
            return self._said(work, operation, handed, said)
        if operation == 'adopt':
            handed = work.adopted()
        result: Result = getattr(handler, _hook(work, operation))(handed)
        return self._said(work, operation, handed, result)

    def _said(
        self, work: Working, operation: str, handed: HandlerContext, result: Result
    ) -> Outcome:
        """Return the outcome that a handler's result stands for."""
        if isinstance(result, NotYet):
            return _not_yet(work, operation, handed, result)
        ready = result if isinstance(result, Ready) else Ready()
        if result is not None and not isinstance(result, Ready):
            reason = (
                f'{work.row.handler} returned {type(result).__name__} from '
                f'{operation}, which is no result'
            )
            return Failed(reason, outputs={REASON: reason})
        return Done(work.settled(operation, handed, ready))


def _comes_too_late(work: Working) -> bool:
    """Say whether it is a signal for what is to be deleted."""
    return work.inputs.do == SIGNAL and work.stack.action == states.DELETE


def _hook(work: Working, operation: str) -> str:
    """Return what of a handler does an operation."""
    if operation != 'adopt':
        return operation
    # What stays somebody else's, or is of a type that takes nothing over, is only
    # looked at: that says whether it is there.
    others = work.external_id is not None
    return 'check' if others or not work.handler.supports('adopt') else operation


def _handed(work: Working, token: Mapping[str, Any]) -> HandlerContext:
    """Return what the handler is handed to go on with what a token says."""
    if token.get('operation') == 'adopt':
        return work.adopted()
    return work.context(token.get('wanted'))


def _cancel(work: Working, handed: HandlerContext, token: Mapping[str, Any]) -> None:
    work.handler.cancel(handed, _hook(work, token['operation']), token['handler'])


def _unprotect(work: Working) -> None:
    """Take back what a lock left on a resource that is to be deleted.

    The stack could not be locked, or unlocked, as a whole, and may be deleted then.
    """
    try:
        work.handler.unlock(work.context())
    except Exception as error:
        LOG.warning(
            'Resource %s of stack %s could not be unlocked before it is deleted: %s',
            work.row.name,
            work.stack.name,
            error,
        )


def _not_yet(
    work: Working, operation: str, handed: HandlerContext, result: NotYet
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
        token |= {'action': operation.upper(), 'wanted': dict(handed.properties)}
    if result.physical_id is not None:
        token['physical_id'] = result.physical_id
    if result.data is not None:
        token['data'] = dict(result.data)
    return InProgress(token, delay)


def _passed_on(results: list[DerivedResult]) -> Outcome:
    """Say how a signal went that another resource was told instead."""
    for result in results:
        if result.status == 'FAILED':
            return Failed(reason_of(result), outputs={REASON: reason_of(result)})
    return Done({})
