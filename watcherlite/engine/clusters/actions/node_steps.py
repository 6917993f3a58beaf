"""The steps of an action on a node.

An action on a node is a sequence of steps, each a call of the handler. The result of a
step is durable before the next one starts: it is in the token of the action, from which
the row is projected, see `projection`.
"""

import dataclasses
import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.outcomes import Done, Failed, InProgress, Outcome, public_text
from watcherlite.domain.resource_results import Ready, ResourceInProgress, Result
from watcherlite.engine.clusters import action_types, lock_admission
from watcherlite.engine.clusters.actions.node_context import (
    binding_values,
    node_context,
)
from watcherlite.engine.clusters.node_record import HANDLER_DATA, PREVIOUS_STATUS
from watcherlite.engine.clusters.profile_types import STACK
from watcherlite.engine.clusters.projection.transitions import PAUSE, UNCHANGED
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.engine.stacks.handler_calls import call_handler
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ResourceHandler
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

LOG = logging.getLogger(__name__)

T = TypeVar('T')

# The steps on a node
CREATE = 'create'
UPDATE = 'update'
DELETE = 'delete'
#: Checks the node; a healthy node ends the action.
LOOK = 'look'
#: One of the operations of the handler.
OPERATE = 'operate'
#: The resource learns that its node is in a cluster, or in none.
JOIN = 'on_cluster_joined'
LEAVE = 'on_cluster_left'

UNKNOWN = (
    'Outcome unknown: a worker was lost while it ran, and its type cannot tell '
    'whether it took effect.'
)


def failed(reason: str) -> Failed:
    """Return the failure of an action, with the full reason."""
    return Failed(reason, outputs={action_types.REASON: reason})


def rejected(reason: str) -> Failed:
    """Return the failure of an action without an effect: its node is unchanged."""
    outputs = {action_types.REASON: reason, action_types.NODE: {UNCHANGED: True}}
    return Failed(reason, outputs=outputs)


def check_hook(handler: ResourceHandler) -> str:
    """Return the hook that checks whether the resource of a node works."""
    return 'check_health' if handler.supports('check_health') else 'check'


@dataclasses.dataclass(frozen=True, slots=True)
class NodeTarget:
    """The target of an action on a node.

    :param node: its row
    :param cluster: its cluster; only the uuid and name are current
    :param profile: of the node
    :param lost: whether a lost worker may have executed the action already
    """

    parts: ClusterServices
    action: ActionContext
    node: Node
    cluster: Cluster | None
    profile: Profile
    handler: ResourceHandler
    lost: bool = False

    @classmethod
    def load(
        cls, parts: ClusterServices, action: ActionContext, lost: bool = False
    ) -> 'NodeTarget | None':
        """Read the target of an action; None: it is deleted."""
        what = f'Action {action.uuid} on a node'
        return retry_while_unavailable(
            action, what, lambda: cls._read(parts, action, lost)
        )

    @classmethod
    def _read(
        cls, parts: ClusterServices, action: ActionContext, lost: bool
    ) -> 'NodeTarget | None':
        uuid = action.target or ''
        node = parts.store.nodes_by_uuid([uuid]).get(uuid)
        if node is None or node.deleted_at is not None:
            return None
        profile = parts.profile(node.profile_id)
        handler = parts.profile_types.make(node.handler)
        around = parts.cluster_of(node.cluster_id)
        return cls(parts, action, node, around, profile, handler, lost)

    def retry(self, call: Callable[[], T]) -> T:
        """Call the store; retry while it is unavailable."""
        return retry_while_unavailable(self.action, f'Node {self.node.uuid}', call)

    @property
    def is_request(self) -> bool:
        """Return whether the action is a request on a node of a cluster."""
        asked = self.action.cause == action_states.RPC_REQUEST
        return asked and self.action.within is not None

    @property
    def exists(self) -> bool:
        """Return whether the node has a resource, as far as is known."""
        return self.node.physical_id is not None

    @property
    def host(self) -> str | None:
        """Return the host of the resource, see `ResourceHandler.host`."""
        context = self.handler_context()
        return self.handler.host(context.physical_id, context.data)

    def blocking_lock(self) -> str | None:
        """Return the text of a stack lock that blocks the action, if there is one.

        An action that has started continues. A node that is not a stack can only share
        a resource with one; in an action on many nodes its handler rejects that.
        """
        asked = self.action.cause == action_states.RPC_REQUEST
        if self.lost or not (asked or self.node.handler == STACK):
            return None
        locks = lock_admission.NodeLocks(self.parts.store)
        return self.retry(lambda: locks.on_nodes([self.node]))

    def desired_properties(
        self, profile: Profile | None = None, check: bool = True
    ) -> dict[str, Any]:
        """Return the properties of a profile for this node.

        :param profile: None: that of the node
        :param check: False for an operation that has started already
        :raises Invalid: the properties are not allowed
        """
        given = (profile or self.profile).spec.get('properties') or {}
        types = self.parts.profile_types
        return types.fit(self.handler, given, self.node, check)

    def last_properties(self) -> Mapping[str, Any]:
        """Return the properties of the last creation or update."""
        if self.node.properties:
            return self.node.properties
        return self.desired_properties(check=False)

    def handler_context(
        self, properties: Mapping[str, Any] | None = None, begins: bool = False
    ) -> HandlerContext:
        """Return the context of a handler call.

        :param properties: None: the last properties
        :param begins: whether this is the first call of a step. The attempt is then 1:
            earlier owners of the action only waited for a lock.
        """
        desired = self.last_properties() if properties is None else properties
        context = node_context(self.action, self.node, self.cluster, desired)
        if begins and not self.lost:
            context.attempt = 1
        return context

    @property
    def was_active(self) -> bool:
        """Return whether the node was ACTIVE before the action."""
        was = self.node.kept.get(PREVIOUS_STATUS)
        status = was[0] if was else self.node.status
        return bool(status == states.ACTIVE)


@dataclasses.dataclass(slots=True)
class NodeSteps:
    """Runs the steps of an action on a node.

    :param profile: the desired profile; None: that of the node
    :param operation: name and parameters of OPERATE
    :param ended: values of fields that the row gets at the end
    :param outputs: outputs of the action for users
    :param delete_timeout: timeout of DELETE in seconds; None: that of the action
    :param force: continue when DELETE fails
    :param fences: whether DELETE makes sure that the resource does not run any more
    """

    target: NodeTarget
    profile: Profile | None = None
    operation: tuple[str, Mapping[str, Any]] = ('', {})
    ended: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    outputs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    delete_timeout: float | None = None
    force: bool = False
    fences: bool = False

    async def run(self, *steps: str) -> Outcome:
        """Start the first of these steps."""
        return await self._start(steps[0], steps[1:])

    def pause(self, seconds: float, *steps: str) -> Outcome:
        """Start the first of these steps after a pause."""
        until = self._deadline_in(seconds)
        return self._in_progress(PAUSE, steps, seconds, until=until)

    async def advance(self, token: Mapping[str, Any]) -> Outcome:
        """Poll the current step, or start the next one."""
        step, left = token['step'], tuple(token['left'])
        until = token.get('until')
        rest = None if until is None else self._seconds_until(until)
        over = rest is not None and rest <= 0
        if step == PAUSE:
            if rest is None or over:
                return await self._start(left[0], left[1:])
            return InProgress(token, rest)
        if 'handler' not in token:
            if token['attempt'] != self.target.action.attempt:
                self.target = dataclasses.replace(self.target, lost=True)
                if self._is_unsafe(step):
                    return failed(UNKNOWN)
            return await self._start(step, left)
        context = self._handler_context(step)
        if over:
            await self.cancel(token)
            return self._expire(left)
        try:
            result = await call_handler(
                self.target.handler, 'poll', context, self._hook(step), token['handler']
            )
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except Exception as error:
            return self._handle_error(step, left, error)
        return self._apply_result(step, left, context, result, until)

    async def cancel(self, token: Mapping[str, Any]) -> None:
        """Cancel the operation of the handler."""
        if 'handler' in token:
            step = token['step']
            await call_handler(
                self.target.handler,
                'cancel',
                self._handler_context(step),
                self._hook(step),
                token['handler'],
            )

    # one step

    def _handler_context(self, step: str, begins: bool = False) -> HandlerContext:
        fits = step in (CREATE, UPDATE)
        desired = self.target.desired_properties(self.profile, begins) if fits else None
        context = self.target.handler_context(desired, begins)
        context.is_fenced = self.fences and step == DELETE
        return context

    def _hook(self, step: str) -> str:
        """Return the handler operation of a step."""
        if step == OPERATE:
            return self.operation[0]
        return check_hook(self.target.handler) if step == LOOK else step

    def _is_unsafe(self, step: str) -> bool:
        """Return whether a step that may have started is unsafe to repeat."""
        if step in (DELETE, LOOK, JOIN, LEAVE) or self.target.handler.idempotent:
            return False
        return step != CREATE or not self.target.handler.supports('find')

    async def _start(self, step: str, left: Sequence[str]) -> Outcome:
        target = self.target
        if step == LOOK and not target.handler.supports(self._hook(LOOK)):
            return (
                self._finish_healthy()
                if target.was_active
                else self._finish_step(left, {})
            )
        context = self._handler_context(step, begins=True)
        until = None
        if step == DELETE and self.delete_timeout is not None:
            until = self._deadline_in(self.delete_timeout)
        try:
            result = await self._call(step, context)
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except Exception as error:
            return self._handle_error(step, left, error)
        return self._apply_result(step, left, context, result, until)

    async def _call(self, step: str, context: HandlerContext) -> Result:
        handler = self.target.handler
        if step == OPERATE:
            operated: Result = await call_handler(
                handler, 'operate', context, *self.operation
            )
            return operated
        if step == CREATE and self.target.lost:
            # The lost worker may have created the resource.
            found: Result = await call_handler(handler, 'find', context)
            if found is not None:
                return found
        result: Result = await call_handler(handler, self._hook(step), context)
        return result

    def _apply_result(
        self,
        step: str,
        left: Sequence[str],
        context: HandlerContext,
        result: Result,
        until: str | None,
    ) -> Outcome:
        if isinstance(result, ResourceInProgress):
            changes: dict[str, Any] = {}
            if result.physical_id is not None:
                changes['physical_id'] = result.physical_id
            if result.data is not None or step == CREATE:
                name = context.physical_name if step == CREATE else None
                changes['kept'] = binding_values(result.data, name)
            return self._in_progress(
                step, left, result.delay, changes, handler=result.token, until=until
            )
        if result is not None and not isinstance(result, Ready):
            return failed(
                f'{self.target.node.handler} returned {type(result).__name__} from '
                f'{self._hook(step)}, which is not a result'
            )
        if step == LOOK and action_types.unhealthy_mark(self.target.node) is None:
            return self._finish_healthy()
        return self._finish_step(left, self._changes(step, context, result or Ready()))

    def _changes(
        self, step: str, context: HandlerContext, ready: Ready
    ) -> dict[str, Any]:
        """Return the values of fields of the node after a step."""
        if step == DELETE:
            return {
                'physical_id': None,
                'attributes': {},
                'properties': {},
                'kept': {HANDLER_DATA: None},
            }
        changes: dict[str, Any] = {}
        physical_id = ready.physical_id
        if step == CREATE:
            physical_id = physical_id or context.physical_id or context.physical_name
        if physical_id is not None:
            changes['physical_id'] = physical_id
        if ready.attributes is not None:
            changes['attributes'] = dict(ready.attributes)
        name = context.physical_name if step == CREATE else None
        if ready.data is not None or name is not None:
            changes['kept'] = binding_values(ready.data, name)
        if step in (CREATE, UPDATE):
            changes['properties'] = dict(context.properties)
            changes['profile_id'] = (self.profile or self.target.profile).id
        return changes

    def _finish_step(self, left: Sequence[str], changes: Mapping[str, Any]) -> Outcome:
        """Start the next step after a success, or finish."""
        if left:
            return self._in_progress(left[0], left[1:], 0.0, changes)
        outputs = dict(self.outputs)
        if changes.get('physical_id') is not None:
            outputs['physical_id'] = changes['physical_id']
        return Done({**outputs, action_types.NODE: {**changes, **self.ended}})

    def _finish_healthy(self) -> Outcome:
        text = 'Recovery not needed: the node is healthy'
        well = {'status': states.ACTIVE, 'status_reason': text}
        return Done({action_types.NODE: {**well, **self.ended}})

    def _handle_error(
        self, step: str, left: Sequence[str], error: Exception
    ) -> Outcome:
        """Return the outcome after an exception of a step, or raise it again."""
        if step == LOOK and isinstance(error, exceptions.StateUnknown):
            return rejected(f'Its state is unknown: {public_text(error)}')
        goes_on = step == LOOK or (step == DELETE and self.force and left)
        if not goes_on:
            raise error
        LOG.info(
            'Node %s: %s failed, continuing the recovery: %s',
            self.target.node.uuid,
            step,
            public_text(error),
        )
        return self._finish_step(left, {})

    def _expire(self, left: Sequence[str]) -> Outcome:
        seconds = self.delete_timeout
        if self.force and left:
            return self._finish_step(left, {})
        return failed(f'The resource of the node was not deleted in {seconds} s')

    def _deadline_in(self, seconds: float) -> str:
        then = self.target.action.now() + datetime.timedelta(seconds=seconds)
        return then.isoformat()

    def _seconds_until(self, until: str) -> float:
        then = datetime.datetime.fromisoformat(until)
        return (then - self.target.action.now()).total_seconds()

    def _in_progress(
        self,
        step: str,
        left: Sequence[str],
        delay: float,
        changes: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> InProgress:
        token = {
            'step': step,
            'left': list(left),
            'attempt': self.target.action.attempt,
            **{key: value for key, value in more.items() if value is not None},
        }
        if 'handler' in more:
            token['handler'] = more['handler']
        if more.get('until') is not None:
            delay = min(delay, max(0.0, self._seconds_until(more['until'])))
        if changes:
            token[action_types.NODE] = dict(changes)
        return InProgress(token, delay)
