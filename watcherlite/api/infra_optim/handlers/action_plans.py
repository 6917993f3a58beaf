"""Action plans: created from a document, started, cancelled, deleted."""

import dataclasses
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import patches
from watcherlite.api.infra_optim.collection import ObjectCollection, find_by_uuid
from watcherlite.api.infra_optim.schemas import action_plans as schemas
from watcherlite.api.infra_optim.versions import (
    DELETED,
    PROGRESS,
    RETRY,
    STATUS_MESSAGE,
)
from watcherlite.api.operation import Request, Response
from watcherlite.api.search import Search
from watcherlite.db.api import Store
from watcherlite.db.query import ListedPlan
from watcherlite.domain.action_plans import REVERTING
from watcherlite.domain.documents.json_values import kind
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
        # Any worker may execute its actions.
        'hostname': None,
        'name': plan.name,
        **timestamps.of(plan),
    }
    if request.version >= STATUS_MESSAGE:
        shown['status_message'] = plan.status_message
    if request.version >= PROGRESS:
        shown['progress'] = {
            'total': plan.total,
            'ended': plan.total - plan.unfinished,
            'failed': plan.failed,
            'skipped': plan.skipped,
            'rolled_back': plan.stage == REVERTING,
        }
    return shown


#: Attributes that a patch may name, but not change.
INTERNAL = (
    'audit_uuid',
    'efficacy_indicators',
    'global_efficacy',
    'hostname',
    'name',
    'progress',
    'status_message',
    'strategy_name',
    'strategy_uuid',
)
KNOWN = ('state', *INTERNAL, *patches.INTERNAL)
#: Transitions that a patch of the state can request.
CANCELS = frozenset(
    {
        (states.RECOMMENDED, states.CANCELLED),
        (states.PENDING, states.CANCELLED),
        (states.ONGOING, states.CANCELLING),
    }
)
STARTS = frozenset({(states.RECOMMENDED, states.PENDING)})


def _find(store: Store, name: str, deleted: bool) -> ListedPlan:
    find = store.find_action_plan
    return find_by_uuid('ActionPlan', 'action_plan_uuid', find, name, deleted)


PLANS = ObjectCollection(
    'action_plans',
    'action_plan',
    lambda store: store.list_action_plans,
    _find,
    represent,
    'uuid',
    Search(
        lambda row: (
            row.plan.uuid,
            row.plan.name,
            row.plan.status_message,
            row.strategy_name,
            row.audit_uuid,
        ),
        lambda row: row.plan.creator.user_id,
        lambda row: row.plan.uuid,
    ),
)

ROUTES = PLANS.routes(schemas, schemas.ACTION_PLAN, 'Show an action plan.')


@ROUTES.route(
    'POST /v1/action_plans',
    'action_plan:create',
    {201: schemas.ACTION_PLAN},
    restore=PLANS.respond_created,
    body=schemas.DOCUMENT,
)
def create(request: Request) -> Response:
    """Create an action plan from a document.

    :raises Invalid: the document is invalid; with all problems
    """
    services = request.services
    plan = services.plans.create_from(request.body, request.context, request.creator)
    return PLANS.respond_created(request, {'action_plan': plan.uuid})


@ROUTES.route(
    'POST /v1/action_plans/{uuid}/start',
    'action_plan:start',
    {200: schemas.ACTION_PLAN},
    body=schemas.START,
    needs_body=False,
)
def start(request: Request) -> Response:
    """Start a RECOMMENDED action plan.

    :raises Invalid: it is not RECOMMENDED, as in Watcher
    """
    listed = PLANS.find(request)
    try:
        plan = request.services.plans.start(listed.plan.uuid, states.RECOMMENDED)
    except exceptions.Conflict as error:
        raise exceptions.Invalid(str(error)) from None
    return PLANS.respond(request, dataclasses.replace(listed, plan=plan))


@ROUTES.route(
    'POST /v1/action_plans/{uuid}/retry',
    'action_plan:create',
    {201: schemas.ACTION_PLAN, 409: None},
    restore=PLANS.respond_created,
    body=schemas.RETRY,
    needs_body=False,
    since=RETRY,
)
def retry(request: Request) -> Response:
    """Create an action plan of the actions of an ended one that did not succeed.

    It is RECOMMENDED. Its actions wait for each other as before.

    :raises Conflict: the plan has not ended, succeeded, or was rolled back
    """
    listed = PLANS.find(request)
    return respond_retry(request, listed.plan.uuid)


def respond_retry(request: Request, uuid: str, only: str | None = None) -> Response:
    """Create the retry of a plan; return the response with it.

    :param only: uuid of an action, see `PlanOperations.retry`
    """
    plan = request.services.plans.retry(uuid, request.context, request.creator, only)
    return PLANS.respond_created(request, {'action_plan': plan.uuid})


@ROUTES.route(
    'PATCH /v1/action_plans/{uuid}',
    'action_plan:update',
    {200: schemas.ACTION_PLAN},
    body=schemas.PATCH,
)
def update(request: Request) -> Response:
    """Start or cancel an action plan by its state.

    :raises NotFound: no such plan
    :raises Invalid: the patch changes nothing or other attributes, or the state does
        not allow the change
    """
    changes = patches.parse(
        request.body, allowed=KNOWN, mandatory=('state',), internal=INTERNAL
    )
    listed = PLANS.find(request)
    plan, operations = listed.plan, request.services.plans
    desired = patches.apply({'state': plan.state}, changes)['state']
    step = (plan.state, desired if isinstance(desired, str) else None)
    try:
        if step in STARTS:
            plan = operations.start(plan.uuid, expected=plan.state)
        elif step in CANCELS:
            plan = operations.cancel(plan.uuid, expected=plan.state)
        else:
            raise _not_allowed(plan.state, desired)
    except exceptions.Conflict:
        # A concurrent change; the error refers to the present state.
        raise _not_allowed(PLANS.find(request).plan.state, desired) from None
    return PLANS.respond(request, dataclasses.replace(listed, plan=plan))


def _not_allowed(state: str, desired: Any) -> exceptions.Invalid:
    if isinstance(desired, list | dict):
        desired = kind(desired)
    return exceptions.Invalid(f'State transition not allowed: ({state} -> {desired})')


@ROUTES.route('DELETE /v1/action_plans/{uuid}', 'action_plan:delete', {204: None})
def delete(request: Request) -> Response:
    """Delete an action plan that is not being executed.

    :raises Invalid: its state does not allow it
    """
    try:
        request.services.plans.delete(PLANS.find(request).plan.uuid)
    except exceptions.Conflict as error:
        raise exceptions.Invalid(str(error)) from None
    return Response(status=204)
