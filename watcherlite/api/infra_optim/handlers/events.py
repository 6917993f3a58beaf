"""Events of plans and audits: pages, and streams of server-sent events."""

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.infra_optim.handlers import action_plans
from watcherlite.api.infra_optim.schemas import events as schemas
from watcherlite.api.infra_optim.versions import DELETED
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.clock import Clock
from watcherlite.conf import masking
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
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


def chunk(stored: StoredEvent) -> bytes:
    """Return an event in the format of server-sent events."""
    data = json.dumps(represent(stored), ensure_ascii=False)
    return f'id: {stored.sequence}\ndata: {data}\n\n'.encode()


def _states(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject != events.ACTION:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _word(event.old_status, started), _word(event.new_status, started)


def _word(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)


#: Maximum number of seconds between two queries without a wakeup.
POLL = 1.0
#: Minimum number of seconds between two queries.
SPACING = 0.1
#: Seconds between two keep-alive comments, which also detect disconnected clients.
HEARTBEAT = 5.0
#: Number of events read at a time.
PAGE = 200

BEGIN = b': events follow\n\n'
ALIVE = b': nothing new\n\n'
AWAY = b': waiting for the database\n\n'
#: The last event of a stream: clients must not reconnect.
END = b'event: end\ndata: {}\n\n'


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """A plan or an audit whose events are streamed.

    :param ended: returns whether it has ended; called before the query, so that all
        events of an ended subject are found
    :param events: (after, before, limit) -> a page of its events, by sequence number;
        with `before`, the latest first
    """

    ended: Callable[[], bool]
    events: Callable[[int, int | None, int], Sequence[StoredEvent]]


def follow(
    subject: Subject, streams: EventStreams, clock: Clock, after: int
) -> Iterator[bytes]:
    """Yield events until the subject or the process has ended.

    :param after: the sequence number of the last known event
    """
    yield BEGIN
    shown = clock.monotonic()
    while not streams.ended:
        seen = streams.wakes()
        over = away = False
        try:
            over = subject.ended()
            page = subject.events(after, None, PAGE)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            # The client reconnects and gets the missed events.
            away, page = True, ()
        if page:
            yield b''.join(chunk(stored) for stored in page)
            shown, after = clock.monotonic(), page[-1].sequence
        if len(page) == PAGE:
            continue
        if over:
            yield END
            return
        if clock.monotonic() - shown >= HEARTBEAT:
            yield AWAY if away else ALIVE
            shown = clock.monotonic()
        streams.wait(clock, seen, SPACING, POLL)


def is_over(subject: Subject, after: int) -> bool:
    """Return whether the subject has ended and the client has all its events."""
    return subject.ended() and not subject.events(after, None, 1)


ROUTES = RouteTable(schemas.QUERY)
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

    return _answered(
        request,
        Subject(
            lambda: _state(lambda: store.get_plan(plan.uuid)) in plan_states.ENDED,
            lambda after, before, limit: store.list_events(
                plan_id=plan.id, after=after, before=before, limit=limit
            ),
        ),
        links.unmounted_url(request, 'action_plans', plan.uuid, 'events'),
    )


@_events_route('GET /v1/audits/{audit}/events')
def audit_events(request: Request) -> Response:
    """List or stream the events of an audit."""
    store = request.services.store
    audit = store.find_audit(request.path['audit'], request.show_deleted).audit
    return _answered(
        request,
        Subject(
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


def _answered(request: Request, subject: Subject, place: str) -> Response:
    if request.event_stream:
        return _stream(request, subject)
    return _page(request, subject, place)


def _page(request: Request, subject: Subject, place: str) -> Response:
    """Return a page of events by sequence number, with `next` if there are more.

    :raises Invalid: both `after` and `before` are given
    """
    limit = request.page_size
    before = request.query.get('before')
    if before is not None and 'after' in request.query:
        raise exceptions.Invalid('after and before cannot be given together')
    found = subject.events(request.query.get('after', 0), before, limit + 1)
    shown = found[:limit]
    body = {'events': [represent(stored) for stored in shown]}
    if len(found) > limit:
        bound = 'after' if before is None else 'before'
        last = shown[-1].sequence
        return Response({**body, 'next': f'{place}?{bound}={last}&limit={limit}'})
    return Response(body)


def _stream(request: Request, subject: Subject) -> Response:
    """Return a stream; 204, which stops reconnections, if all events are known.

    :raises TooManyStreams: the limit is reached
    """
    services = request.services
    after = _last_known(request)
    if is_over(subject, after):
        return Response(status=204)
    chunks = follow(subject, services.streams, services.clock, after)
    stream = services.streams.serve(services.max_event_streams, chunks)
    return Response(stream=stream)


def _last_known(request: Request) -> int:
    """Return the sequence number of the last event of a client; Invalid.

    The header of a reconnection overrides the argument of its URL.
    """
    header = request.last_event_id
    if not header:
        return int(request.query.get('after', 0))
    if not (header.isascii() and header.isdecimal() and len(header) <= 18):
        raise exceptions.Invalid(
            'Last-Event-ID is the sequence number of an event, a whole number'
        )
    return int(header)
