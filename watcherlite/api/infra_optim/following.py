"""Following what happens to a plan or an audit, as server-sent events.

A stream is one thread of the server that waits. It looks when it is woken, and
without that once in a while, because not every process hears of every event.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from watcherlite import exceptions
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.infra_optim.representations import events as representations
from watcherlite.clock import Clock
from watcherlite.domain.events import StoredEvent

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
    """What is followed.

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
            yield b''.join(representations.chunk(stored) for stored in page)
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
    """Say whether the subject has ended and all is known of it."""
    return subject.ended() and not subject.events(after, 1)
