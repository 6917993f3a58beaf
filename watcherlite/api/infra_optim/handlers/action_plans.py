"""Action plans: created from a document, started, cancelled, deleted."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import attributes, pages, patches
from watcherlite.api.infra_optim.schemas import action_plans as schemas
from watcherlite.api.infra_optim.versions import DELETED, STATUS_MESSAGE
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes
from watcherlite.db.query import ListedPlan
from watcherlite.domain.json_values import kind
from watcherlite.states import action_plan as states


def represent(request: Request, listed: ListedPlan, detail: bool) -> dict[str, Any]:
    """Return a plan; `detail` adds all its times and its status message."""
    plan = listed.plan
    shown: dict[str, Any] = {
        'uuid': plan.uuid,
        'state': DELETED if plan.deleted_at else plan.state,
        'audit_uuid': listed.audit_uuid,
        'strategy_uuid': listed.strategy_uuid,
        'strategy_name': listed.strategy_name,
        'efficacy_indicators': [dict(one) for one in plan.efficacy_indicators],
        'global_efficacy': [dict(one) for one in plan.global_efficacy],
        'updated_at': timestamps.offset(plan.updated_at),
        'links': links.object_links(request, 'action_plans', plan.uuid),
    }
    if not detail:
        return shown
    shown |= {
        # Any worker may take it, and the next action of it may be elsewhere.
        'hostname': None,
        'name': plan.name,
        **timestamps.of(plan),
    }
    if request.version >= STATUS_MESSAGE:
        shown['status_message'] = plan.status_message
    return shown


#: What a patch may name so that it is told that it cannot change it.
INTERNAL = (
    'audit_uuid',
    'efficacy_indicators',
    'global_efficacy',
    'hostname',
    'name',
    'status_message',
    'strategy_name',
    'strategy_uuid',
)
KNOWN = ('state', *INTERNAL, *patches.INTERNAL)
#: What a patch of the state can ask for: (from, to).
CANCELS = frozenset(
    {
        (states.RECOMMENDED, states.CANCELLED),
        (states.PENDING, states.CANCELLED),
        (states.ONGOING, states.CANCELLING),
    }
)
STARTS = frozenset({(states.RECOMMENDED, states.PENDING)})


index, detail = pages.list_handlers(
    'action_plans', lambda store: store.list_action_plans, represent
)


def show(request: Request) -> Response:
    """Return one plan; NotFound."""
    return _shown(request, find(request, request.show_deleted))


def create(request: Request) -> Response:
    """Store a plan as RECOMMENDED; Invalid with all that is wrong with the document.

    The plan is answered, and its address in `Location`.
    """
    services = request.services
    plan = services.plans.create_from(request.body, request.context, request.creator)
    return _created(request, {'action_plan': plan.uuid})


def _created(request: Request, created: Mapping[str, str]) -> Response:
    """Return the plan that was created."""
    uuid = created['action_plan']
    answer = _shown(request, request.services.store.find_action_plan(uuid), 201)
    place = links.unmounted_url(request, 'action_plans', uuid)
    return dataclasses.replace(answer, headers={'Location': place})


def start(request: Request) -> Response:
    """Start a plan; Invalid unless it is RECOMMENDED, as clients expect."""
    listed = find(request)
    try:
        plan = request.services.plans.start(listed.plan.uuid, states.RECOMMENDED)
    except exceptions.Conflict as error:
        raise exceptions.Invalid(str(error)) from None
    return _shown(request, dataclasses.replace(listed, plan=plan))


def update(request: Request) -> Response:
    """Start or cancel a plan by a patch of its state.

    :raises NotFound: there is no such plan
    :raises Invalid: the patch changes anything else, or nothing, or the state
        forbids it
    """
    changes = patches.parse(
        request.body, allowed=KNOWN, mandatory=('state',), internal=INTERNAL
    )
    listed = find(request)
    plan, operations = listed.plan, request.services.plans
    wanted = patches.apply({'state': plan.state}, changes)['state']
    step = (plan.state, wanted if isinstance(wanted, str) else None)
    try:
        if step in STARTS:
            plan = operations.start(plan.uuid, expected=plan.state)
        elif step in CANCELS:
            plan = operations.cancel(plan.uuid, expected=plan.state)
        else:
            raise _not_allowed(plan.state, wanted)
    except exceptions.Conflict:
        # Somebody else was faster; the refusal is about what it is now.
        raise _not_allowed(find(request).plan.state, wanted) from None
    return _shown(request, dataclasses.replace(listed, plan=plan))


def _not_allowed(state: str, wanted: Any) -> exceptions.Invalid:
    if isinstance(wanted, list | dict):
        wanted = kind(wanted)
    return exceptions.Invalid(f'State transition not allowed: ({state} -> {wanted})')


def delete(request: Request) -> Response:
    """Delete a plan softly, with its actions; Invalid while it may not be."""
    try:
        request.services.plans.delete(find(request).plan.uuid)
    except exceptions.Conflict as error:
        raise exceptions.Invalid(str(error)) from None
    return Response(status=204)


def find(request: Request, deleted: bool = False) -> ListedPlan:
    """Return the plan that the address names; Invalid, NotFound."""
    uuid = attributes.uuid('action_plan_uuid', request.path['uuid'])
    try:
        return request.services.store.find_action_plan(uuid, deleted)
    except exceptions.NotFound:
        raise exceptions.NotFound(f'ActionPlan {uuid} could not be found') from None


def _shown(request: Request, listed: ListedPlan, status: int = 200) -> Response:
    return Response(represent(request, listed, True), status)


ROUTES: Routes = merge_routes(
    pages.list_routes('action_plans', 'action_plan', index, detail, schemas),
    {
        '/v1/action_plans': {
            'POST': Operation(
                create,
                'action_plan:create',
                'Hand in a plan document.',
                restore=_created,
                body=schemas.DOCUMENT,
                responses={201: schemas.ACTION_PLAN},
            ),
        },
        '/v1/action_plans/{uuid}': {
            'GET': Operation(
                show,
                'action_plan:get',
                'Show an action plan.',
                responses={200: schemas.ACTION_PLAN},
            ),
            'PATCH': Operation(
                update,
                'action_plan:update',
                'Start or cancel an action plan by its state.',
                body=schemas.PATCH,
                responses={200: schemas.ACTION_PLAN},
            ),
            'DELETE': Operation(
                delete,
                'action_plan:delete',
                'Delete an action plan that is not being executed.',
                responses={204: None},
            ),
        },
        '/v1/action_plans/{uuid}/start': {
            'POST': Operation(
                start,
                'action_plan:start',
                'Start a RECOMMENDED action plan.',
                body=schemas.START,
                needs_body=False,
                responses={200: schemas.ACTION_PLAN},
            )
        },
    },
)
