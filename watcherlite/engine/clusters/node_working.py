"""A node in the hands of an action: its row, its handler, and the steps on it.

What an action does with a node is a row of steps, each a call of the handler. Before
the second and each further one begins, what the one before has done is durable: it
travels in the token of the action, and the row follows it, see `progress`.
"""

import dataclasses
import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.handling import NotYet, Ready, Result
from watcherlite.domain.outcomes import (
    Done,
    Failed,
    InProgress,
    Outcome,
    public_text,
)
from watcherlite.engine.clusters import actions, keeping_out
from watcherlite.engine.clusters.node_context import DATA, kept, node_context
from watcherlite.engine.clusters.parts import Parts
from watcherlite.engine.clusters.profile_types import STACK
from watcherlite.engine.clusters.progress import AS_BEFORE, BEGUN, PAUSE, WAS
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.plugins.base import ActionContext, ResourceHandler
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

LOG = logging.getLogger(__name__)

T = TypeVar('T')

# The steps on a node
CREATE = 'create'
UPDATE = 'update'
DELETE = 'delete'
#: Looks, and nothing follows if it is well.
LOOK = 'look'
#: One of the operations of the handler.
OPERATE = 'operate'

UNKNOWN = (
    'Outcome unknown: a worker was lost while it ran, and its type cannot tell '
    'whether it took effect.'
)


def failed(reason: str) -> Failed:
    """Return the failure of an action on a node, which says why, uncut."""
    return Failed(reason, outputs={actions.REASON: reason})


def refused(reason: str) -> Failed:
    """Return the failure of one that did nothing: its node is as it was before."""
    told = {actions.REASON: reason, actions.NODE: {AS_BEFORE: True}}
    return Failed(reason, outputs=told)


@dataclasses.dataclass(frozen=True, slots=True)
class NodeWork:
    """What one step of a node's action works with.

    :param node: as it is
    :param cluster: that it is in; only uuid and name are to be read in it
    :param profile: that it was made from, or is to be
    :param lost: a worker was lost that may have done it already
    """

    parts: Parts
    action: ActionContext
    node: Node
    cluster: Cluster | None
    profile: Profile
    handler: ResourceHandler
    lost: bool = False

    @classmethod
    def of(
        cls, parts: Parts, action: ActionContext, lost: bool = False
    ) -> 'NodeWork | None':
        """Read what an action is about; None: it is gone."""
        what = f'Action {action.uuid} on a node'
        return patiently(action, what, lambda: cls._read(parts, action, lost))

    @classmethod
    def _read(
        cls, parts: Parts, action: ActionContext, lost: bool
    ) -> 'NodeWork | None':
        uuid = action.target or ''
        node = parts.store.nodes_by_uuid([uuid]).get(uuid)
        if node is None or node.deleted_at is not None:
            return None
        profile = parts.profile(node.profile_id)
        handler = parts.profile_types.make(node.handler)
        around = parts.around(node.cluster_id)
        return cls(parts, action, node, around, profile, handler, lost)

    def ask(self, call: Callable[[], T]) -> T:
        """Ask the store, and again while it is away."""
        return patiently(self.action, f'Node {self.node.uuid}', call)

    @property
    def is_request(self) -> bool:
        """Say whether it is asked for by itself and is about a node in a cluster."""
        asked = self.action.cause == action_states.RPC_REQUEST
        return asked and self.action.within is not None

    @property
    def is_made(self) -> bool:
        """Say whether there is something of it in the world, as far as is known."""
        return self.node.physical_id is not None

    @property
    def has_begun(self) -> bool:
        """Say whether there may be something of it in the world."""
        return self.is_made or bool(self.node.kept.get(BEGUN))

    def lock(self) -> str | None:
        """Return the lock of a stack that it is under, in words; None: there is none.

        What has begun comes to its end all the same. A node that is no stack could
        only have what is a resource of one; where it is one of many that the same is
        done with, that is for its handler to refuse.
        """
        asked = self.action.cause == action_states.RPC_REQUEST
        if self.lost or not (asked or self.node.handler == STACK):
            return None
        locks = keeping_out.Locks(self.parts.store)
        return self.ask(lambda: locks.on_nodes([self.node]))

    def wanted(
        self, profile: Profile | None = None, check: bool = True
    ) -> dict[str, Any]:
        """Return the properties that it is to have.

        :param profile: of its type; None: its own
        :param check: what has begun with them goes on whatever is allowed now
        :raises Invalid: they do not fit what is allowed here now
        """
        given = (profile or self.profile).spec.get('properties') or {}
        types = self.parts.profile_types
        return types.fit(self.handler, given, self.node, check)

    def had(self) -> Mapping[str, Any]:
        """Return the properties that it was last made with, or was to be."""
        if self.node.properties:
            return self.node.properties
        return self.wanted(check=False)

    def handed(
        self, properties: Mapping[str, Any] | None = None, begins: bool = False
    ) -> HandlerContext:
        """Return what the handler is handed; None: what it was last made with.

        :param begins: a step begins, that nobody has begun before unless one is lost.
            Its action may have had other owners, while it waited for a lock.
        """
        wanted = self.had() if properties is None else properties
        handed = node_context(self.action, self.node, self.cluster, wanted)
        if begins and not self.lost:
            handed.attempt = 1
        return handed

    @property
    def was_well(self) -> bool:
        """Say whether it was ACTIVE before the action that is about it."""
        was = self.node.kept.get(WAS)
        status = was[0] if was else self.node.status
        return bool(status == states.ACTIVE)


class Steps:
    """Takes a node through the steps of its action.

    :param profile: that it is to be made from; None: its own
    :param operation: name and parameters of OPERATE
    :param ended: told to the row at the end besides what the steps tell
    :param outputs: of the action, for users
    :param delete_timeout: seconds that DELETE may take; None: what the action has
    :param force: go on when DELETE fails
    """

    def __init__(
        self,
        work: NodeWork,
        profile: Profile | None = None,
        operation: tuple[str, Mapping[str, Any]] | None = None,
        ended: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        delete_timeout: float | None = None,
        force: bool = False,
    ) -> None:
        self._work = work
        self._profile = profile or work.profile
        self._operation = operation or ('', {})
        self._ended = dict(ended or {})
        self._outputs = dict(outputs or {})
        self._delete_timeout = delete_timeout
        self._force = force

    def run(self, *steps: str) -> Outcome:
        """Begin with the first of these steps."""
        return self._begin(steps[0], steps[1:])

    def pause(self, seconds: float, *steps: str) -> Outcome:
        """Begin with the first of these steps in so many seconds."""
        until = self._in(seconds)
        return self._in_progress(PAUSE, steps, seconds, until=until)

    def go_on(self, token: Mapping[str, Any]) -> Outcome:
        """Look how far a step is, or begin the next one."""
        step, left = token['step'], tuple(token['left'])
        now = self._work.action.now()
        until = token.get('until')
        rest = None
        if until is not None:
            then = datetime.datetime.fromisoformat(until)
            rest = (then - now).total_seconds()
        over = rest is not None and rest <= 0
        if step == PAUSE:
            if rest is None or over:
                return self._begin(left[0], left[1:])
            return InProgress(token, rest)
        if 'handler' not in token:
            if token['attempt'] != self._work.action.attempt:
                self._work = dataclasses.replace(self._work, lost=True)
                if self._is_unsafe(step):
                    return failed(UNKNOWN)
            return self._begin(step, left)
        handed = self._handed(step)
        if over:
            self.cancel(token)
            return self._too_long(left)
        try:
            said = self._work.handler.poll(handed, self._hook(step), token['handler'])
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except Exception as error:
            return self._fails(step, left, error)
        return self._said(step, left, handed, said, until)

    def cancel(self, token: Mapping[str, Any]) -> None:
        """Tell the handler to stop."""
        if 'handler' in token:
            step = token['step']
            self._work.handler.cancel(
                *(self._handed(step), self._hook(step), token['handler'])
            )

    # one step

    def _handed(self, step: str, begins: bool = False) -> HandlerContext:
        fits = step in (CREATE, UPDATE)
        wanted = self._work.wanted(self._profile, begins) if fits else None
        return self._work.handed(wanted, begins)

    def _hook(self, step: str) -> str:
        """Return the operation of the handler that a step is."""
        if step == OPERATE:
            return self._operation[0]
        return 'check' if step == LOOK else step

    def _is_unsafe(self, step: str) -> bool:
        """Say whether a step that may have begun cannot be begun again."""
        if step in (DELETE, LOOK) or self._work.handler.idempotent:
            return False
        return step != CREATE or not self._work.handler.supports('find')

    def _begin(self, step: str, left: Sequence[str]) -> Outcome:
        work = self._work
        if step == LOOK and not work.handler.supports('check'):
            return self._is_well() if work.was_well else self._next(left, {})
        handed = self._handed(step, begins=True)
        until = None
        if step == DELETE and self._delete_timeout is not None:
            until = self._in(self._delete_timeout)
        try:
            said = self._call(step, handed)
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except Exception as error:
            return self._fails(step, left, error)
        return self._said(step, left, handed, said, until)

    def _call(self, step: str, handed: HandlerContext) -> Result:
        handler = self._work.handler
        if step == OPERATE:
            return handler.operate(handed, *self._operation)
        if step == CREATE and self._work.lost:
            # What the lost worker may have made is not made again.
            found = handler.find(handed)
            if found is not None:
                return found
        result: Result = getattr(handler, self._hook(step))(handed)
        return result

    def _said(
        self,
        step: str,
        left: Sequence[str],
        handed: HandlerContext,
        said: Result,
        until: str | None,
    ) -> Outcome:
        if isinstance(said, NotYet):
            became: dict[str, Any] = {}
            if said.physical_id is not None:
                became['physical_id'] = said.physical_id
            if said.data is not None or step == CREATE:
                name = handed.physical_name if step == CREATE else None
                became['kept'] = kept(said.data, name)
            return self._in_progress(
                *(step, left, said.delay, became), handler=said.token, until=until
            )
        if said is not None and not isinstance(said, Ready):
            return failed(
                f'{self._work.node.handler} returned {type(said).__name__} from '
                f'{self._hook(step)}, which is no result'
            )
        if step == LOOK and actions.mark_of(self._work.node) is None:
            return self._is_well()
        return self._next(left, self._became(step, handed, said or Ready()))

    def _became(
        self, step: str, handed: HandlerContext, ready: Ready
    ) -> dict[str, Any]:
        """Return what a node becomes by a step."""
        if step == DELETE:
            empty: dict[str, Any] = {
                'physical_id': None,
                'attributes': {},
                'properties': {},
            }
            return {**empty, 'kept': {DATA: None}}
        became: dict[str, Any] = {}
        physical_id = ready.physical_id
        if step == CREATE:
            physical_id = physical_id or handed.physical_id or handed.physical_name
        if physical_id is not None:
            became['physical_id'] = physical_id
        if ready.attributes is not None:
            became['attributes'] = dict(ready.attributes)
        name = handed.physical_name if step == CREATE else None
        if ready.data is not None or name is not None:
            became['kept'] = kept(ready.data, name)
        if step in (CREATE, UPDATE):
            became['properties'] = dict(handed.properties)
            became['profile_id'] = self._profile.id
        return became

    def _next(self, left: Sequence[str], became: Mapping[str, Any]) -> Outcome:
        """Go on after a step that has done what it should."""
        if left:
            return self._in_progress(left[0], left[1:], 0.0, became)
        outputs = dict(self._outputs)
        if became.get('physical_id') is not None:
            outputs['physical_id'] = became['physical_id']
        return Done({**outputs, actions.NODE: {**became, **self._ended}})

    def _is_well(self) -> Outcome:
        text = 'Recovery not needed: the node is well'
        well = {'status': states.ACTIVE, 'status_reason': text}
        return Done({actions.NODE: {**well, **self._ended}})

    def _fails(self, step: str, left: Sequence[str], error: Exception) -> Outcome:
        """Return what becomes of the action when a step raises; or raise again."""
        goes_on = step == LOOK or (step == DELETE and self._force and left)
        if not goes_on:
            raise error
        LOG.info(
            '%s of node %s failed, and it is made anew or repaired: %s',
            *(step, self._work.node.uuid, public_text(error)),
        )
        return self._next(left, {})

    def _too_long(self, left: Sequence[str]) -> Outcome:
        seconds = self._delete_timeout
        if self._force and left:
            return self._next(left, {})
        return failed(f'What the node stands for was not deleted in {seconds} s')

    def _in(self, seconds: float) -> str:
        then = self._work.action.now() + datetime.timedelta(seconds=seconds)
        return then.isoformat()

    def _in_progress(
        self,
        step: str,
        left: Sequence[str],
        delay: float,
        became: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> InProgress:
        token = {
            'step': step,
            'left': list(left),
            'attempt': self._work.action.attempt,
            **{key: value for key, value in more.items() if value is not None},
        }
        if 'handler' in more:
            token['handler'] = more['handler']
        if more.get('until') is not None:
            then = datetime.datetime.fromisoformat(more['until'])
            rest = (then - self._work.action.now()).total_seconds()
            delay = min(delay, max(0.0, rest))
        if became:
            token[actions.NODE] = dict(became)
        return InProgress(token, delay)
