"""Actions: skipped by a patch, signalled while they run."""

import dataclasses
import functools
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import patches
from watcherlite.api.infra_optim.collection import ObjectCollection, find_by_uuid
from watcherlite.api.infra_optim.handlers import action_plans
from watcherlite.api.infra_optim.schemas import action_plans as plan_schemas
from watcherlite.api.infra_optim.schemas import actions as schemas
from watcherlite.api.infra_optim.versions import DELETED, OUTPUTS, RETRY, STATUS_MESSAGE
from watcherlite.api.operation import Request, Response
from watcherlite.api.search import Search
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.db.query import ListedAction
from watcherlite.domain import creators
from watcherlite.domain.documents.json_values import kind
from watcherlite.states import action as states


def represent(request: Request, listed: ListedAction, detail: bool) -> dict[str, Any]:
    """Return an action; `detail` adds its inputs, its result and its times.

    The state is that of the infra-optim API; `suspended` marks suspended actions.
    Credentials in the inputs are masked.
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
    """Return the description of the action type, or ''."""
    try:
        return str(request.services.plugins.action_type(action_type).description)
    except exceptions.PluginError:
        return ''


PENDING = states.INFRA_OPTIM[states.INIT]
SKIPPED = states.INFRA_OPTIM[states.SKIPPED]
#: States of Watcher; most of them cannot be requested.
KNOWN_STATES = frozenset(states.INFRA_OPTIM.values()) | {'CANCELLING', DELETED}
#: Attributes that a patch may name.
PATCHED = ('state', 'status_message')


class _Actions(ObjectCollection[ListedAction]):
    def page(self, request: Request, detail: bool) -> Response:
        """Return a page; Invalid for filters that exclude each other."""
        if 'action_plan_uuid' in request.query and 'audit_uuid' in request.query:
            raise exceptions.Invalid(
                'action_plan_uuid and audit_uuid cannot be given together'
            )
        return super().page(request, detail)

    def respond(
        self, request: Request, row: ListedAction, status: int = 200
    ) -> Response:
        """Return the response with an action and, from 1.8 on, its outputs.

        Credentials in the outputs are masked.
        """
        response = super().respond(request, row, status)
        if request.version >= OUTPUTS:
            outputs = row.action.outputs
            shown = None if outputs is None else masking.mask_data(dict(outputs))
            response.body['outputs'] = shown
        return response


def _find(store: Store, name: str, deleted: bool) -> ListedAction:
    return find_by_uuid('Action', 'action_uuid', store.find_action, name, deleted)


def has_ended(store: Store, uuid: str) -> bool:
    """Return whether an action has ended, or does not exist any more."""
    try:
        return store.get_action(uuid).status in states.FINAL
    except exceptions.NotFound:
        return True


ACTIONS = _Actions(
    'actions',
    'action',
    lambda store: store.page_of_actions,
    _find,
    represent,
    'uuid',
    Search(
        lambda row: (
            row.action.uuid,
            row.action.name,
            row.action.target,
            row.action.status_message,
            row.plan_uuid,
        ),
        lambda row: creators.of_context(row.action.context).user_id,
        lambda row: row.action.uuid,
    ),
)

ROUTES = ACTIONS.routes(schemas, schemas.ACTION, 'Show an action.')


@ROUTES.route(
    'PATCH /v1/actions/{uuid}',
    'action:update',
    {200: schemas.ACTION, 409: None},
    body=schemas.PATCH,
    since=(1, 5),
    too_early=400,
    too_early_text='API microversion 1.5 or higher is required.',
)
def update(request: Request) -> Response:
    """Skip a PENDING action, or edit the message of a SKIPPED one.

    The state may have any case.

    :raises Invalid: the patch is malformed, or its change is never possible
    :raises NotFound: no such action
    :raises Conflict: the state of the action or its plan does not allow it
    """
    changes = [
        _in_upper_case(change)
        for change in patches.parse(request.body, allowed=PATCHED, mandatory=PATCHED)
    ]
    for change in changes:
        _check_value(change)
    listed = ACTIONS.find(request)
    action = listed.action
    desired = patches.apply(
        {'state': action.state, 'status_message': action.status_message}, changes
    )
    named = {change.name for change in changes}
    message = desired['status_message'] if 'status_message' in named else None
    plans = request.services.plans
    if desired['state'] != action.state:
        if desired['state'] != SKIPPED:
            raise exceptions.TransitionNotAllowed(
                f'State transition not allowed: ({action.state} -> {desired["state"]})'
            )
        action = plans.skip_action(action.uuid, message)
    elif 'status_message' in named and (message or 'state' not in named):
        # A repeated skip without a reason keeps the old reason.
        action = plans.edit_skip_message(action.uuid, message)
    return ACTIONS.respond(request, dataclasses.replace(listed, action=action))


def _in_upper_case(change: patches.Change) -> patches.Change:
    """Return a change with its state, if it is known, in upper case."""
    if change.name == 'state' and isinstance(change.value, str):
        state = change.value.upper()
        if state in KNOWN_STATES:
            return dataclasses.replace(change, value=state)
    return change


def _check_value(change: patches.Change) -> None:
    """Raise Invalid for an invalid value of an attribute."""
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


@ROUTES.route(
    'POST /v1/actions/{uuid}/retry',
    'action_plan:create',
    {201: plan_schemas.ACTION_PLAN, 409: None},
    restore=action_plans.PLANS.respond_created,
    body=plan_schemas.RETRY,
    needs_body=False,
    since=RETRY,
)
def retry(request: Request) -> Response:
    """Create an action plan of a FAILED or CANCELLED action of an ended plan.

    It is RECOMMENDED, and has the actions that depend on this one and did not succeed
    as well.

    :raises Conflict: the state of the action or its plan does not allow it
    """
    listed = ACTIONS.find(request)
    if listed.plan_uuid is None:
        raise exceptions.Conflict('An action without an action plan is not retried.')
    return action_plans.respond_retry(request, listed.plan_uuid, listed.action.uuid)


_signal_route = functools.partial(
    ROUTES.route,
    rule='action:signal',
    responses={202: schemas.ACTION, 409: None},
    body=schemas.SIGNAL,
    needs_body=False,
)


@_signal_route('POST /v1/actions/{uuid}/cancel')
def cancel(request: Request) -> Response:
    """Cancel an action."""
    return _signal(request, states.CANCEL)


@_signal_route('POST /v1/actions/{uuid}/suspend')
def suspend(request: Request) -> Response:
    """Suspend a running action."""
    return _signal(request, states.SUSPEND)


@_signal_route('POST /v1/actions/{uuid}/resume')
def resume(request: Request) -> Response:
    """Resume a suspended action."""
    return _signal(request, states.RESUME)


def _signal(request: Request, signal: str) -> Response:
    """Send a signal; return 202, as the action handles it asynchronously.

    :raises Conflict: the state of the action does not allow the signal
    """
    listed = ACTIONS.find(request)
    action = request.services.plans.signal_action(listed.action.uuid, signal)
    return ACTIONS.respond(request, dataclasses.replace(listed, action=action), 202)
