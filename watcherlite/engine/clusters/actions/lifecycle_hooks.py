"""Lifecycle hooks: a receiver is notified before a node is removed, and may delay it.

A hook is an action that the action on the node depends on. So a hook survives its
worker; completing the hook ends the action, and cancelling it keeps the node.
"""

import datetime
import functools
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db.clusters import not_found
from watcherlite.destinations import Destinations
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Node
from watcherlite.domain.outcomes import DerivedAction, Done, InProgress, Outcome
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.node_record import may_exist
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.coroutines.steps import OnLoop, steps_of_core
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType, CoroutineContext
from watcherlite.plugins.http_messages import (
    ExchangeFailed,
    HttpRequestMessage,
    Settings,
)
from watcherlite.plugins.redaction import redact_url
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The action type; plans and plugins cannot name it.
LIFECYCLE_HOOK = 'LIFECYCLE_HOOK'
#: Key in the data of an action: the hook settings of a deletion policy.
HOOKS = 'hooks'
#: The lifecycle transition in the message.
TERMINATION = 'termination'
#: Timeout of one attempt to send, and the limits of the delay until the next one, in
#: seconds. The delay grows with the time since the first attempt.
SEND_TIMEOUT = 10.0
MIN_RETRY_DELAY = 5.0
MAX_RETRY_DELAY = 300.0
#: Seconds of the timeout of the action beyond that of the hook.
MARGIN = 60
#: Bytes of a response that are read; they are not used.
MAX_BODY_SIZE = 4096

COMPLETED = 'Completed by the external service.'


async def send_over_http(
    destinations: Callable[[], Destinations], context: CoroutineContext
) -> str | None:
    """Send the message of a hook to its URL; return the problem, if any.

    :param destinations: returns the allowed destinations
    """
    # Imported here because it is slow, and needed only for HTTP.
    from watcherlite.plugins import http_client

    desired = context.inputs
    message = {
        'lifecycle_action_token': context.uuid,
        'lifecycle_transition_type': TERMINATION,
        'cluster_id': desired['cluster_id'],
        'node_id': desired['node_id'],
        'resource_id': desired['resource_id'],
    }
    request = HttpRequestMessage(
        'POST',
        desired['url'],
        {'Content-Type': 'application/json'},
        json.dumps(message).encode(),
    )
    settings = Settings(SEND_TIMEOUT, MAX_BODY_SIZE, destinations())
    left = context.remaining()
    seconds = SEND_TIMEOUT if left is None else max(0.001, min(SEND_TIMEOUT, left))
    try:
        answer = await http_client.exchange(context, request, settings, seconds)
    except ExchangeFailed as error:
        return str(error)
    return None if answer.status < 300 else f'it answered {answer.status}'


class LifecycleHook(ActionType):
    """Notifies a receiver that a node will be removed, and waits for completion.

    Sending is retried until the timeout of the hook. After the timeout the node is
    removed in any case.
    """

    description = 'Notifies a receiver before a node is removed.'
    # A repeated message has the same token.
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

    def __init__(self, parts: ClusterServices) -> None:
        super().__init__()
        self._parts = parts

    @steps_of_core
    async def execute(self, context: ActionContext) -> Outcome:
        """Send the message, after the grace period."""
        grace = context.inputs.get('grace_period') or 0
        if grace > 0:
            return _wait_until(context, None, _deadline_after(context, grace))
        return await self._notify_hook(
            context, _deadline_after(context, context.inputs['timeout'])
        )

    @steps_of_core
    async def poll(self, context: ActionContext, token: Mapping[str, Any]) -> Outcome:
        """Send the message again, or finish at the timeout."""
        moment = datetime.datetime.fromisoformat(token['at'])
        if context.now() < moment:
            return _wait_until(context, token['until'], moment)
        if token['until'] is None:
            return await self._notify_hook(
                context, _deadline_after(context, context.inputs['timeout'])
            )
        until = datetime.datetime.fromisoformat(token['until'])
        if context.now() >= until:
            seconds = context.inputs['timeout']
            return Done({action_types.REASON: f'Not completed within {seconds} s.'})
        store = self._parts.store
        what = f'The hook {context.uuid}'
        if retry_while_unavailable(
            context, what, lambda: store.get_action(context.uuid).finished
        ):
            # The request that completed it has ended the action.
            return Done({})
        return await self._notify_hook(context, until)

    async def _notify_hook(
        self, context: ActionContext, until: datetime.datetime
    ) -> Outcome:
        send = functools.partial(send_over_http, self._parts.destinations)
        problem = await OnLoop(send)
        url = redact_url(context.inputs['url'])
        result = 'notified' if problem is None else f'not notified: {problem}'
        if context.now() >= until:
            if problem is not None:
                LOG.warning(
                    'Removing node %s: %s was %s',
                    context.inputs['node_id'],
                    url,
                    result,
                )
            return Done({action_types.REASON: f'{url} was {result}.'})
        if problem is None:
            return _wait_until(context, until.isoformat(), until)
        LOG.warning(
            'Node %s: could not notify %s of its removal, retrying until %s: %s',
            context.inputs['node_id'],
            url,
            until.isoformat(),
            problem,
        )
        left = (until - context.now()).total_seconds()
        pause = max(
            MIN_RETRY_DELAY, min(context.inputs['timeout'] - left, MAX_RETRY_DELAY)
        )
        again = min(until, _deadline_after(context, pause))
        return _wait_until(context, until.isoformat(), again)


def _deadline_after(context: ActionContext, seconds: float) -> datetime.datetime:
    return context.now() + datetime.timedelta(seconds=seconds)


def _wait_until(
    context: ActionContext, until: str | None, moment: datetime.datetime
) -> InProgress:
    """Wait until a time.

    :param until: end of the timeout; None: nothing was sent yet
    """
    left = max(0.0, (moment - context.now()).total_seconds())
    return InProgress({'at': moment.isoformat(), 'until': until}, left)


def hook_action(
    data: Mapping[str, Any], node: Node, cluster: str, grace_period: int = 0
) -> DerivedAction | None:
    """Return the hook action for the removal of a node; None: it has no hook.

    A node that was never created has no hook.

    :param data: of the action that removes the node
    :param cluster: uuid of its cluster
    :param grace_period: seconds before the message is sent
    """
    hooks = data.get(HOOKS) or {}
    url = (hooks.get('params') or {}).get('url')
    if not url or not may_exist(node):
        return None
    timeout = int(hooks.get('timeout') or 0)
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
        name=action_types.action_name(LIFECYCLE_HOOK, node.uuid),
        target=node.uuid,
        # It ends by itself before that; the parent action may have less time.
        timeout=grace_period + timeout + MARGIN,
        within=cluster,
    )


def check_waiting(row: Action, cluster: str) -> None:
    """Raise NotFound or ActionImmutable if an action is not a waiting hook."""
    is_hook = row.action_type == LIFECYCLE_HOOK
    if is_hook and row.within != cluster:
        raise not_found(Action, row.uuid)
    if not is_hook or row.status != states.RUNNING:
        raise exceptions.ActionImmutable(
            f'The action {row.uuid} waits for no lifecycle hook: it is '
            f'{row.action_type}, {row.status}.'
        )
