"""Lifecycle hooks: somebody is told before a node goes, and may take their time.

What tells them is an action of its own, which that on the node depends on. So a node
that waits for its hook is a row, a hook survives its worker, and to complete it is to
end that action. To cancel it is to keep the node.
"""

import datetime
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.applier.signalling import end_unstarted
from watcherlite.db.clustering import not_found
from watcherlite.domain import commands
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.domain.clusters import Node
from watcherlite.domain.outcomes import DerivedAction, Done, InProgress, Outcome
from watcherlite.engine.clusters import actions
from watcherlite.engine.clusters.asking import Asker
from watcherlite.engine.clusters.parts import Parts
from watcherlite.engine.clusters.progress import BEGUN
from watcherlite.engine.clusters.requesting import Requests
from watcherlite.engine.patience import patiently
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.plugins.base import ActionContext, ActionType
from watcherlite.plugins.redaction import shown_url
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The type of these actions; no plan and no plugin may name it.
LIFECYCLE_HOOK = 'LIFECYCLE_HOOK'
#: In the data of an action: what a deletion policy decided of it.
HOOKS = 'hooks'
#: What becomes of the node, as those who are told know it.
TERMINATION = 'termination'
#: Seconds that one try to tell may take, and seconds until the next one: as many as
#: have passed since the first one, but not less nor more than these.
PATIENCE = 10.0
AGAIN = 5.0
SELDOM = 300.0
#: Seconds that it has beyond those that it is given, to tell and to end.
MARGIN = 60
#: Bytes of an answer that are read; nobody looks at them.
LARGEST = 4096

COMPLETED = 'Completed by whom it told.'

#: (context of the hook's action): tells; returns why that could not be done
Tell = Callable[[ActionContext], str | None]


def tell_by_http(context: ActionContext) -> str | None:
    """Send what a hook says to its address; return why that could not be done."""
    # Takes long to import and is not needed without HTTP.
    from watcherlite.plugins import http_exchange

    wanted = context.inputs
    message = {
        'lifecycle_action_token': context.uuid,
        'lifecycle_transition_type': TERMINATION,
        'cluster_id': wanted['cluster_id'],
        'node_id': wanted['node_id'],
        'resource_id': wanted['resource_id'],
    }
    request = http_exchange.Request(
        'POST',
        wanted['url'],
        {'Content-Type': 'application/json'},
        json.dumps(message).encode(),
    )
    settings = http_exchange.Settings(PATIENCE, LARGEST)
    left = context.remaining()
    seconds = PATIENCE if left is None else max(0.001, min(PATIENCE, left))
    try:
        answer = http_exchange.exchange(context, request, settings, seconds)
    except http_exchange.ExchangeFailed as error:
        return str(error)
    return None if answer.status < 300 else f'it answered {answer.status}'


class LifecycleHook(ActionType):
    """Tells somebody that a node is about to go, and waits until they are ready.

    Who cannot be told is told again until the time of the hook is over. Then the node
    goes in any case.
    """

    description = 'Tells somebody before a node goes.'
    # Whoever is told twice finds the same token.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'url': {'type': 'string'},
            'timeout': {'type': 'integer'},
            'grace_period': {'type': 'integer'},
            'cluster_id': {'type': 'string'},
            'node_id': {'type': 'string'},
            'resource_id': {'type': ['string', 'null']},
        },
        'required': ['url', 'timeout', 'cluster_id', 'node_id', 'resource_id'],
        'additionalProperties': False,
    }

    def __init__(self, parts: Parts, tell: Tell = tell_by_http) -> None:
        super().__init__()
        self._parts = parts
        self._tell_them = tell

    def execute(self, context: ActionContext) -> Outcome:
        """Tell them, after the time that the node is left anyway."""
        grace = context.inputs.get('grace_period') or 0
        if grace > 0:
            return _waiting(context, None, self._later(context, grace))
        return self._tell(context, self._until(context))

    def poll(self, context: ActionContext, token: Mapping[str, Any]) -> Outcome:
        """Tell them once more, or let the node go."""
        moment = datetime.datetime.fromisoformat(token['at'])
        if context.now() < moment:
            return _waiting(context, token['until'], moment)
        if token['until'] is None:
            return self._tell(context, self._until(context))
        until = datetime.datetime.fromisoformat(token['until'])
        if context.now() >= until:
            seconds = context.inputs['timeout']
            return Done({actions.REASON: f'Nobody completed it in {seconds} s.'})
        if self._is_over(context):
            # It was completed; whoever did that ended the action, too.
            return Done({})
        return self._tell(context, until)

    def _until(self, context: ActionContext) -> datetime.datetime:
        return self._later(context, context.inputs['timeout'])

    def _later(self, context: ActionContext, seconds: float) -> datetime.datetime:
        return context.now() + datetime.timedelta(seconds=seconds)

    def _is_over(self, context: ActionContext) -> bool:
        def over() -> bool:
            return self._parts.store.get_action(context.uuid).finished

        return patiently(context, f'The hook {context.uuid}', over)

    def _tell(self, context: ActionContext, until: datetime.datetime) -> Outcome:
        problem = self._tell_them(context)
        url = shown_url(context.inputs['url'])
        told = 'told' if problem is None else f'not told: {problem}'
        if context.now() >= until:
            if problem is not None:
                LOG.warning(
                    'Node %s goes, and %s was %s', context.inputs['node_id'], url, told
                )
            return Done({actions.REASON: f'{url} was {told}.'})
        if problem is None:
            return _waiting(context, until.isoformat(), until)
        LOG.warning(
            'Node %s is to go, and %s could not be told, which is tried again until '
            '%s: %s',
            *(context.inputs['node_id'], url, until.isoformat(), problem),
        )
        left = (until - context.now()).total_seconds()
        pause = max(AGAIN, min(context.inputs['timeout'] - left, SELDOM))
        again = min(until, self._later(context, pause))
        return _waiting(context, until.isoformat(), again)


def _waiting(
    context: ActionContext, until: str | None, moment: datetime.datetime
) -> InProgress:
    """Wait until a moment.

    :param until: when the time of the hook is over; None: nobody has been told yet
    """
    left = max(0.0, (moment - context.now()).total_seconds())
    return InProgress({'at': moment.isoformat(), 'until': until}, left)


def before(
    data: Mapping[str, Any], node: Node, cluster: str, grace_period: int = 0
) -> DerivedAction | None:
    """Return the action that tells somebody before a node goes; None: nobody is.

    Of a node that was never made nobody has to know.

    :param data: of the action that has it go
    :param cluster: uuid of the one that it is in
    :param grace_period: seconds that the node is left before that
    """
    said = data.get(HOOKS) or {}
    url = (said.get('params') or {}).get('url')
    was_begun = node.physical_id is not None or bool(node.kept.get(BEGUN))
    if not url or not was_begun:
        return None
    timeout = int(said.get('timeout') or 0)
    return DerivedAction(
        f'{LIFECYCLE_HOOK}:{node.uuid}',
        LIFECYCLE_HOOK,
        {
            'url': url,
            'timeout': timeout,
            'grace_period': grace_period,
            'cluster_id': cluster,
            'node_id': node.uuid,
            'resource_id': node.physical_id,
        },
        name=f'{LIFECYCLE_HOOK.lower()}_{node.uuid[:8]}',
        target=node.uuid,
        # It ends by itself before that; what it is a part of may have less time.
        timeout=grace_period + timeout + MARGIN,
        within=cluster,
    )


@again_on_conflict
def complete(requests: Requests, cluster: str, token: str, by: Asker) -> Action:
    """Let the node of a hook go, before its time is over; return how the hook ended.

    :param cluster: uuid of the one that the node is in
    :param token: uuid of the action that waits, as it was told
    :raises NotFound: no such action is about a node of that cluster
    :raises ActionImmutable: it waits for no hook, or not any more
    """
    found = requests.store.find_cluster_action(token, by.tenant).action
    if found.uuid != token.lower():
        raise not_found(Action, token)
    key, now = found.id or 0, requests.clock.now()
    with requests.store.transaction() as tx:
        row = tx.lock_actions([key]).get(key, found)
        _check(row, cluster)
        ended, _ = end_unstarted(
            tx,
            PlanProgress(lambda name: False),
            None,
            [row],
            states.SUCCEEDED,
            COMPLETED,
            now,
        )
    requests.parts.tell(ENGINE, commands.RunActions())
    requests.tell()
    return ended[0]


def _check(row: Action, cluster: str) -> None:
    is_hook = row.action_type == LIFECYCLE_HOOK
    if is_hook and row.within != cluster:
        raise not_found(Action, row.uuid)
    if not is_hook or row.status != states.RUNNING:
        raise exceptions.ActionImmutable(
            f'The action {row.uuid} waits for no lifecycle hook: it is '
            f'{row.action_type}, {row.status}.'
        )
