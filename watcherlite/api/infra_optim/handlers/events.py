"""Events of plans, actions and audits."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import histories
from watcherlite.api.infra_optim.handlers import action_plans, actions
from watcherlite.api.infra_optim.histories import History
from watcherlite.api.infra_optim.schemas import events as schemas
from watcherlite.api.infra_optim.versions import ACTION_EVENTS, DELETED
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.audits import Audit
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states

#: Internal events of the core, which the states express already.
_INNER = frozenset({'started'})


def represent(stored: StoredEvent) -> dict[str, Any]:
    """Return an event with the states of its subject before and after.

    A suspended action is ONGOING before and after; `suspended` marks it.
    """
    event = stored.event
    old, new = _states(event)
    detail = {
        name: value
        for name, value in (event.detail or {}).items()
        if name not in _INNER
    }
    return {
        'sequence': stored.sequence,
        'uuid': event.uuid,
        'occurred_at': timestamps.offset(event.occurred_at),
        'subject': event.subject,
        'kind': event.kind,
        'action_uuid': stored.action_uuid,
        'action_name': stored.action_name,
        'action_type': stored.action_type,
        'old_state': old,
        'new_state': new,
        'suspended': event.new_status == states.SUSPENDED,
        'message': event.message,
        'detail': masking.mask_data(detail) or None,
    }


def _states(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject != events.ACTION:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _state_text(event.old_status, started), _state_text(
        event.new_status, started
    )


def _state_text(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)


ROUTES = RouteTable(histories.QUERY)
_events_route = functools.partial(
    ROUTES.route,
    rule='event:get_all',
    responses={200: schemas.COLLECTION, 204: None, 503: None},
    streams=True,
)


@_events_route('GET /v1/action_plans/{uuid}/events')
def plan_events(request: Request) -> Response:
    """List or stream the events of an action plan."""
    listed = action_plans.PLANS.find(request, request.show_deleted)
    plan, store = listed.plan, request.services.store

    return histories.respond(
        request,
        History(
            'events',
            represent,
            lambda: _state(lambda: store.get_plan(plan.uuid)) in plan_states.ENDED,
            lambda after, before, limit: store.list_events(
                plan_id=plan.id, after=after, before=before, limit=limit
            ),
        ),
        links.unmounted_url(request, 'action_plans', plan.uuid, 'events'),
    )


@_events_route('GET /v1/actions/{uuid}/events', since=ACTION_EVENTS)
def action_events(request: Request) -> Response:
    """List or stream the events of an action of a plan.

    :raises NotFound: no such action, or it has no plan
    """
    action = actions.ACTIONS.find(request, request.show_deleted).action
    store = request.services.store
    if action.plan_id is None:
        raise exceptions.NotFound(f'Action {action.uuid} has no action plan')
    history = History(
        'events',
        represent,
        lambda: actions.has_ended(store, action.uuid),
        functools.partial(_action_page, store, action),
    )
    place = links.unmounted_url(request, 'actions', action.uuid, 'events')
    return histories.respond(request, history, place)


def _action_page(
    store: Store, action: Action, after: int, before: int | None, limit: int
) -> Sequence[StoredEvent]:
    return store.list_events(
        plan_id=action.plan_id,
        action_id=action.id,
        after=after,
        before=before,
        limit=limit,
    )


@_events_route('GET /v1/audits/{audit}/events')
def audit_events(request: Request) -> Response:
    """List or stream the events of an audit."""
    store = request.services.store
    audit = store.find_audit(request.path['audit'], request.show_deleted).audit
    return histories.respond(
        request,
        History(
            'events',
            represent,
            lambda: _state(lambda: store.get_audit(audit.uuid)) in audit_states.ENDED,
            lambda after, before, limit: store.list_events(
                subject=events.AUDIT,
                subject_id=audit.id,
                after=after,
                before=before,
                limit=limit,
            ),
        ),
        links.unmounted_url(request, 'audits', audit.uuid, 'events'),
    )


def _state(get: Callable[[], ActionPlan | Audit]) -> str:
    """Return a state; DELETED for a deleted object."""
    try:
        return get().state
    except exceptions.NotFound:
        return DELETED
