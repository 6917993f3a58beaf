"""Events of plans and audits: pages, and streams of server-sent events."""

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.infra_optim.handlers import action_plans
from watcherlite.api.infra_optim.schemas import events as schemas
from watcherlite.api.infra_optim.versions import DELETED
from watcherlite.api.operation import Operation, Request, Response, Routes
from watcherlite.clock import Clock
from watcherlite.conf import masking
from watcherlite.domain import events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import Audit
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states

#: Internal to the core; the states express it already.
_INNER = frozenset({'started'})


def represent(stored: StoredEvent) -> dict[str, Any]:
    """Return an event; the states are those of its subject, before and after.

    An action that was suspended is ONGOING before and after; `suspended` tells.
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
    """Return an event as a stream of server-sent events has it."""
    data = json.dumps(represent(stored), ensure_ascii=False)
    return f'id: {stored.sequence}\ndata: {data}\n\n'.encode()


def _states(event: events.Event) -> tuple[str | None, str | None]:
    if event.subject != events.ACTION:
        return event.old_status, event.new_status
    started = bool((event.detail or {}).get('started'))
    return _word(event.old_status, started), _word(event.new_status, started)


def _word(status: str | None, started: bool) -> str | None:
    return None if status is None else states.infra_optim_state(status, started)


#: Seconds between two looks that nobody asked for.
POLL = 1.0
#: Least seconds between two looks, however often it is woken.
SPACING = 0.1
#: Seconds after which a comment shows that the connection lives. That a client has
#: left is noticed by it too, and its place is free again then.
HEARTBEAT = 5.0
#: Events that are read at a time.
PAGE = 200

BEGIN = b': events follow\n\n'
ALIVE = b': nothing new\n\n'
AWAY = b': waiting for the database\n\n'
#: The last of a stream: there is no use in coming back.
END = b'event: end\ndata: {}\n\n'


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """A plan or an audit whose events are streamed.

    :param ended: says whether nothing more will happen to it; asked first, so that
        the events of one that has ended are all there
    :param events: (after, limit) -> a page of its events, by sequence
    """

    ended: Callable[[], bool]
    events: Callable[[int, int], Sequence[StoredEvent]]


def follow(
    subject: Subject, streams: EventStreams, clock: Clock, after: int
) -> Iterator[bytes]:
    """Yield events as they come, until the subject or the process has ended.

    :param after: the sequence of the last event that is known
    """
    yield BEGIN
    shown = clock.monotonic()
    while not streams.ended:
        seen = streams.wakes()
        over = away = False
        try:
            over = subject.ended()
            page = subject.events(after, PAGE)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            # It comes back, and what happened meanwhile is told then.
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
    """Return whether the subject has ended and the client has all of its events."""
    return subject.ended() and not subject.events(after, 1)


def of_plan(request: Request) -> Response:
    """Return the events of a plan; NotFound."""
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
        links.unmounted_url(request, 'action_plans', plan.uuid, 'events'),
    )


def of_audit(request: Request) -> Response:
    """Return the events of an audit, by uuid, id or name; NotFound."""
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
        links.unmounted_url(request, 'audits', audit.uuid, 'events'),
    )


def _state(get: Callable[[], ActionPlan | Audit]) -> str:
    """Return a state; DELETED for what is gone."""
    try:
        return get().state
    except exceptions.NotFound:
        return DELETED


def _answered(request: Request, subject: Subject, place: str) -> Response:
    if request.event_stream:
        return _stream(request, subject)
    return _page(request, subject, place)


def _page(request: Request, subject: Subject, place: str) -> Response:
    """Return events after one, by sequence; `next` if there are more."""
    limit = request.page_size
    found = subject.events(request.query.get('after', 0), limit + 1)
    shown = found[:limit]
    body = {'events': [represent(stored) for stored in shown]}
    if len(found) > limit:
        return Response(
            {**body, 'next': f'{place}?after={shown[-1].sequence}&limit={limit}'}
        )
    return Response(body)


def _stream(request: Request, subject: Subject) -> Response:
    """Return a stream; 204, which tells browsers to stay away, when all is known.

    :raises TooManyStreams: so many are open
    """
    services = request.services
    after = _last_known(request)
    if is_over(subject, after):
        return Response(status=204)
    chunks = follow(subject, services.streams, services.clock, after)
    stream = services.streams.serve(services.max_event_streams, chunks)
    return Response(stream=stream)


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


def _operation(call: Callable[[Request], Response], summary: str) -> Operation:
    return Operation(
        call,
        'event:get_all',
        summary,
        query=schemas.QUERY,
        responses={200: schemas.COLLECTION, 204: None, 503: None},
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
