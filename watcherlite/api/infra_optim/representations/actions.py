"""How actions are shown."""

from typing import Any

from watcherlite import exceptions
from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import common, timestamps
from watcherlite.api.operation import Request, Version
from watcherlite.conf import masking
from watcherlite.db.listing import ListedAction
from watcherlite.states import action as states

#: The microversion from which on an action has it (spec 000).
STATUS_MESSAGE: Version = (1, 5)


def represent(request: Request, listed: ListedAction, detail: bool) -> dict[str, Any]:
    """Return an action; `detail` adds what it does, what became of it, its times.

    The state is in the words of the infra-optim vocabulary; that an action is
    suspended shows in `suspended`. Credentials among the inputs are masked.
    """
    action = listed.action
    shown: dict[str, Any] = {
        'uuid': action.uuid,
        'action_plan_uuid': listed.plan_uuid,
        'state': common.DELETED if action.deleted_at else action.state,
        'action_type': action.action_type,
        'parents': list(action.parents),
        'links': links.of(request, 'actions', action.uuid),
    }
    if not detail:
        return shown
    shown |= {
        'description': _description(request, action.action_type),
        'input_parameters': masking.mask_data(dict(action.inputs)),
        'name': action.name,
        'target': action.target,
        'suspended': action.status == states.SUSPENDED,
        'start_time': common.naive_time(action.start_time),
        'end_time': common.naive_time(action.end_time),
        **timestamps.of(action),
    }
    if request.version >= STATUS_MESSAGE:
        shown['status_message'] = action.status_message
    return shown


def _description(request: Request, action_type: str) -> str:
    """Return the sentence of the action type; '' where it cannot be had."""
    try:
        return str(request.services.plugins.action_type(action_type).description)
    except exceptions.PluginError:
        return ''
