"""The actions of plans, as the pages of plans and of actions show them."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.dashboard.api_client import ApiError
from watcherlite.dashboard.views import View
from watcherlite.states import action_plan as states

#: The states of actions that pages show.
STATES = (
    *('PENDING', 'ONGOING', 'SUSPENDED', 'SUCCEEDED', 'FAILED', 'SKIPPED'),
    'CANCELLED',
)
#: The states of plans that end by themselves.
_STARTED = frozenset({states.PENDING, states.ONGOING, states.CANCELLING})


def show(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action as pages show it.

    Its state is SUSPENDED while it is, and without a name it is called by its type.
    """
    state = 'SUSPENDED' if action['suspended'] else action['state']
    name = action['name'] or action['action_type']
    return {**action, 'shown_state': state, 'name': name}


def check_pending(view: View, uuids: Sequence[str]) -> None:
    """Raise ApiError unless all chosen actions are PENDING, and there is one."""
    if not uuids:
        raise ApiError(400, 'No action is chosen; choose at least one.')
    for uuid in uuids:
        action = show(view.api.get(f'/v1/actions/{uuid}'))
        if action['state'] != 'PENDING':
            raise ApiError(
                409,
                f'Action {action["name"]} is {action["shown_state"]}; only PENDING '
                'actions can be skipped. None of the chosen actions was skipped.',
            )


def skip(view: View, uuid: str, reason: str) -> None:
    """Skip an action; raise ApiError.

    :param reason: '' for none
    """
    change = [{'op': 'replace', 'path': '/state', 'value': 'SKIPPED'}]
    if reason.strip():
        message = {'op': 'replace', 'path': '/status_message', 'value': reason.strip()}
        change.append(message)
    view.api.request('PATCH', f'/v1/actions/{uuid}', change)


def can_retry(view: View, plan: Mapping[str, Any]) -> bool:
    """Return whether the user may retry an ended plan; not if it was rolled back."""
    return (
        plan['state'] in states.RETRIABLE
        and not plan['progress']['rolled_back']
        and view.allows('action_plan:create')
    )


def can_retry_later(view: View, plan: Mapping[str, Any]) -> bool:
    """Return whether the user may retry a started plan once it has ended."""
    return (
        plan['state'] in _STARTED
        and not plan['progress']['rolled_back']
        and view.allows('action_plan:create')
    )


def retry(view: View, path: str) -> str:
    """Retry a plan or an action; return the address of the new plan."""
    plan = view.api.request('POST', f'{path}/retry')
    return view.address('action_plans', plan['uuid'], done='retried')


#: A sequence number after all events.
NEWEST = 2**53 - 1


def latest_events(view: View, uuid: str, limit: int) -> Sequence[Mapping[str, Any]]:
    """Return the latest events of a plan; none if the user may not see events."""
    if not view.allows('event:get_all'):
        return ()
    path = f'/v1/action_plans/{uuid}/events'
    body = view.api.get(path, before=NEWEST, limit=limit)
    found: Sequence[Mapping[str, Any]] = body['events']
    return found


def latest_sequence(view: View, uuid: str) -> int:
    """Return the sequence number of the latest event of a plan, or 0."""
    events = latest_events(view, uuid, 1)
    return int(events[0]['sequence']) if events else 0
