"""Actions: skipped by a patch, signalled while they run."""

import dataclasses
from collections.abc import Callable
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import attributes, pages, patches
from watcherlite.api.infra_optim.schemas import actions as schemas
from watcherlite.api.infra_optim.versions import DELETED, STATUS_MESSAGE
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes
from watcherlite.conf import masking
from watcherlite.db.query import ListedAction
from watcherlite.domain.json_values import kind
from watcherlite.states import action as states


def represent(request: Request, listed: ListedAction, detail: bool) -> dict[str, Any]:
    """Return an action; `detail` adds what it does, what became of it, its times.

    The state is in the words of the infra-optim vocabulary; that an action is
    suspended shows in `suspended`. Credentials among the inputs are masked.
    """
    action = listed.action
    shown: dict[str, Any] = {
        'uuid': action.uuid,
        'action_plan_uuid': listed.plan_uuid,
        'state': DELETED if action.deleted_at else action.state,
        'action_type': action.action_type,
        'parents': list(action.parents),
        'links': links.object_links(request, 'actions', action.uuid),
    }
    if not detail:
        return shown
    shown |= {
        'description': _description(request, action.action_type),
        'input_parameters': masking.mask_data(dict(action.inputs)),
        'name': action.name,
        'target': action.target,
        'suspended': action.status == states.SUSPENDED,
        'start_time': timestamps.naive(action.start_time),
        'end_time': timestamps.naive(action.end_time),
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


PENDING = states.INFRA_OPTIM[states.INIT]
SKIPPED = states.INFRA_OPTIM[states.SKIPPED]
#: Words for a state that clients of Watcher know; most cannot be asked for.
KNOWN_STATES = frozenset(states.INFRA_OPTIM.values()) | {'CANCELLING', DELETED}
#: The attributes that a patch may name.
PATCHED = ('state', 'status_message')


def index(request: Request) -> Response:
    """Return a page of actions."""
    return _page(request, detail=False)


def detail(request: Request) -> Response:
    """Return a page of actions with all that is shown of one."""
    return _page(request, detail=True)


def show(request: Request) -> Response:
    """Return one action; NotFound."""
    return _shown(request, _find(request, request.show_deleted))


def update(request: Request) -> Response:
    """Skip an action, or edit the message of one that was skipped (spec 000).

    :raises Invalid: the patch is none, or asks for what can never be
    :raises NotFound: there is no such action
    :raises Conflict: the action, or its plan, is in a state that forbids it
    """
    changes = patches.parse(request.body, allowed=PATCHED, mandatory=PATCHED)
    for change in changes:
        _check_value(change)
    listed = _find(request)
    action = listed.action
    wanted = patches.apply(
        {'state': action.state, 'status_message': action.status_message}, changes
    )
    named = {change.name for change in changes}
    message = wanted['status_message'] if 'status_message' in named else None
    plans = request.services.plans
    if wanted['state'] != action.state:
        if wanted['state'] != SKIPPED:
            raise exceptions.TransitionNotAllowed(
                f'State transition not allowed: ({action.state} -> {wanted["state"]})'
            )
        action = plans.skip_action(action.uuid, message)
    elif 'status_message' in named and (message or 'state' not in named):
        # A skip that is repeated without a reason leaves the old one.
        action = plans.edit_skip_message(action.uuid, message)
    return _shown(request, dataclasses.replace(listed, action=action))


def _check_value(change: patches.Change) -> None:
    """Raise Invalid for a value that its attribute never has."""
    if change.op == patches.REMOVE or change.value is None:
        return
    text = isinstance(change.value, str)
    if change.name == 'state' and not (text and change.value in KNOWN_STATES):
        shown = (
            kind(change.value)
            if isinstance(change.value, list | dict)
            else (change.value)
        )
        raise exceptions.Invalid(f'Invalid state: {shown}')
    if not text:
        raise exceptions.Invalid(
            f'Invalid input for field/attribute {change.name}. It must be text and is '
            f'{kind(change.value)}'
        )


def cancel(request: Request) -> Response:
    """Cancel an action; one that runs is told to stop."""
    return _signal(request, states.CANCEL)


def suspend(request: Request) -> Response:
    """Tell a running action to pause when it next can."""
    return _signal(request, states.SUSPEND)


def resume(request: Request) -> Response:
    """Let a suspended action go on."""
    return _signal(request, states.RESUME)


def _signal(request: Request, signal: str) -> Response:
    """Send a signal and answer 202: an action heeds it when it next looks.

    :raises Conflict: nothing in the action's state could heed it
    """
    listed = _find(request)
    action = request.services.plans.signal_action(listed.action.uuid, signal)
    return _shown(request, dataclasses.replace(listed, action=action), 202)


def _find(request: Request, deleted: bool = False) -> ListedAction:
    uuid = attributes.uuid('action_uuid', request.path['uuid'])
    try:
        return request.services.store.find_action(uuid, deleted)
    except exceptions.NotFound:
        raise exceptions.NotFound(f'Action {uuid} could not be found') from None


def _shown(request: Request, listed: ListedAction, status: int = 200) -> Response:
    return Response(represent(request, listed, True), status)


def _page(request: Request, detail: bool) -> Response:
    if 'action_plan_uuid' in request.query and 'audit_uuid' in request.query:
        raise exceptions.Invalid(
            'action_plan_uuid and audit_uuid cannot be given together'
        )
    return pages.page(
        request,
        'actions',
        request.services.store.page_of_actions,
        represent,
        detail,
    )


def _signalling(call: Callable[[Request], Response], summary: str) -> Operation:
    return Operation(
        call,
        'action:signal',
        summary,
        body=schemas.SIGNAL,
        needs_body=False,
        responses={202: schemas.ACTION, 409: None},
    )


ROUTES: Routes = merge_routes(
    pages.list_routes('actions', 'action', index, detail, schemas),
    {
        '/v1/actions/{uuid}': {
            'GET': Operation(
                show,
                'action:get',
                'Show an action.',
                responses={200: schemas.ACTION},
            ),
            'PATCH': Operation(
                update,
                'action:update',
                'Skip a PENDING action, or edit the message of a SKIPPED one.',
                body=schemas.PATCH,
                responses={200: schemas.ACTION, 409: None},
                since=(1, 5),
                too_early=400,
                too_early_text='API microversion 1.5 or higher is required.',
            ),
        },
        '/v1/actions/{uuid}/cancel': {
            'POST': _signalling(cancel, 'Cancel an action.'),
        },
        '/v1/actions/{uuid}/suspend': {
            'POST': _signalling(suspend, 'Suspend a running action.'),
        },
        '/v1/actions/{uuid}/resume': {
            'POST': _signalling(resume, 'Let a suspended action go on.'),
        },
    },
)
