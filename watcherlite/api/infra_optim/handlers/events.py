"""What happened to a plan or an audit: page by page, or as a stream that goes on."""

from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.api.infra_optim import following, links, listing
from watcherlite.api.infra_optim.following import Subject
from watcherlite.api.infra_optim.handlers import action_plans
from watcherlite.api.infra_optim.representations import events as representations
from watcherlite.api.infra_optim.representations.common import DELETED
from watcherlite.api.infra_optim.schemas import events as schemas
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import Audit
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states


def of_plan(request: Request) -> Answer:
    """Answer the events of a plan; NotFound."""
    listed = action_plans.find(request, request.show_deleted)
    plan, store = listed.plan, request.services.store

    return _answered(
        request,
        Subject(
            lambda: _state(lambda: store.get_plan(plan.uuid)) in plan_states.ENDED,
            lambda after, limit: store.list_events(
                plan_id=plan.id, after=after, limit=limit
            ),
        ),
        links.url(request, 'action_plans', plan.uuid, 'events'),
    )


def of_audit(request: Request) -> Answer:
    """Answer the events of an audit, by uuid, id or name; NotFound."""
    store = request.services.store
    audit = store.find_audit(request.path['audit'], request.show_deleted).audit
    return _answered(
        request,
        Subject(
            lambda: _state(lambda: store.get_audit(audit.uuid)) in audit_states.ENDED,
            lambda after, limit: store.list_events(
                subject=events.AUDIT, subject_id=audit.id, after=after, limit=limit
            ),
        ),
        links.url(request, 'audits', audit.uuid, 'events'),
    )


def _state(get: Callable[[], ActionPlan | Audit]) -> str:
    """Return a state; DELETED for what is gone."""
    try:
        return get().state
    except exceptions.NotFound:
        return DELETED


def _answered(request: Request, subject: Subject, place: str) -> Answer:
    if request.event_stream:
        return _stream(request, subject)
    return _page(request, subject, place)


def _page(request: Request, subject: Subject, place: str) -> Answer:
    """Answer events after one, by sequence; `next` if there are more."""
    limit = listing.limit(request)
    found = subject.events(request.query.get('after', 0), limit + 1)
    shown = found[:limit]
    body = {'events': [representations.represent(stored) for stored in shown]}
    if len(found) > limit:
        return Answer(
            {**body, 'next': f'{place}?after={shown[-1].sequence}&limit={limit}'}
        )
    return Answer(body)


def _stream(request: Request, subject: Subject) -> Answer:
    """Answer a stream; 204, which tells browsers to stay away, when all is known.

    :raises TooManyStreams: so many are open
    """
    services = request.services
    after = _last_known(request)
    if following.is_over(subject, after):
        return Answer(status=204)
    chunks = following.follow(subject, services.streams, services.clock, after)
    stream = services.streams.serve(services.max_event_streams, chunks)
    return Answer(stream=stream)


def _last_known(request: Request) -> int:
    """Return the sequence after which a client wants to go on; Invalid.

    One that reconnects says so in a header, with the old argument in its URL.
    """
    header = request.last_event_id
    if not header:
        return int(request.query.get('after', 0))
    if not (header.isascii() and header.isdecimal() and len(header) <= 18):
        raise exceptions.Invalid(
            'Last-Event-ID is the sequence number of an event, a whole number'
        )
    return int(header)


def _operation(call: Callable[[Request], Answer], summary: str) -> Operation:
    return Operation(
        call,
        'event:get_all',
        summary,
        query=schemas.QUERY,
        answers={200: schemas.COLLECTION, 204: None, 503: None},
        streams=True,
    )


ROUTES: Routes = {
    '/v1/action_plans/{uuid}/events': {
        'GET': _operation(
            of_plan,
            'List what happened to an action plan, or follow what happens to it.',
        )
    },
    '/v1/audits/{audit}/events': {
        'GET': _operation(
            of_audit, 'List what happened to an audit, or follow what happens to it.'
        )
    },
}
