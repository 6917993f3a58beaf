"""Streams of events: what is sent, when, and how they end."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests import base
from tests.factories import NOW
from watcherlite import exceptions
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.infra_optim import histories
from watcherlite.api.infra_optim.handlers import events as event_api
from watcherlite.api.infra_optim.histories import ALIVE, AWAY, BEGIN, END, History
from watcherlite.domain import events
from watcherlite.domain.events import Event, StoredEvent
from watcherlite.testing import ManualClock


class Story:
    """Events of a plan during a stream.

    :ivar looks: how often it was looked at
    :ivar away: whether the database is
    """

    def __init__(self) -> None:
        self.over = False
        self.away = False
        self.looks = 0
        self._events: list[StoredEvent] = []

    def happens(self, state: str, over: bool = False) -> None:
        """Let the plan come to a state."""
        event = Event(
            *(events.ACTION_PLAN, events.STATE_CHANGED, 1, None),
            *('ONGOING', state, None, None, None, NOW),
        )
        self._events.append(StoredEvent(len(self._events) + 1, event))
        self.over = over

    def ended(self) -> bool:
        self.looks += 1
        if self.away:
            raise exceptions.StoreUnavailable
        return self.over

    def events(
        self, after: int, before: int | None, limit: int
    ) -> Sequence[StoredEvent]:
        return self._events[after : after + limit]


class FollowCase(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.story = Story()
        self.streams = EventStreams()
        self.clock = ManualClock()

    def follow(self, after: int = 0) -> Iterator[bytes]:
        return histories.follow(
            History('events', event_api.represent, self.story.ended, self.story.events),
            self.streams,
            self.clock,
            after,
        )

    def next_of(
        self, stream: Iterator[bytes], *meanwhile: Callable[[], Any]
    ) -> bytes | None:
        """Return the next chunk; each of `meanwhile` is done when it waits again."""
        found: list[bytes | None] = []
        thread = threading.Thread(
            target=lambda: found.append(next(stream, None)), daemon=True
        )
        thread.start()
        for act in meanwhile:
            self.clock.until_waiting()
            act()
        thread.join(10)
        self.assertFalse(thread.is_alive(), 'it still waits')
        return found[0]


def told(chunk: bytes | None) -> list[tuple[int, str]]:
    """Return (sequence, new state) of what a chunk tells."""
    lines = (chunk or b'').decode().split('\n\n')
    found = []
    for text in lines[:-1]:
        head, data = text.split('\n')
        found.append(
            (int(head.removeprefix('id: ')), json.loads(data[6:])['new_state'])
        )
    return found


class TestAStream(FollowCase):
    def test_past_events_come_at_once_and_then_the_end(self) -> None:
        self.story.happens('ONGOING')
        self.story.happens('SUCCEEDED', over=True)
        begin, page, end = self.follow()
        self.assertEqual([BEGIN, END], [begin, end])
        self.assertEqual([(1, 'ONGOING'), (2, 'SUCCEEDED')], told(page))

    def test_reconnection_gets_later_events(self) -> None:
        self.story.happens('ONGOING')
        self.story.happens('SUCCEEDED', over=True)
        self.assertEqual([(2, 'SUCCEEDED')], told(list(self.follow(after=1))[1]))

    def test_many_events_come_in_pages_without_a_wait(self) -> None:
        for _ in range(histories.PAGE + 1):
            self.story.happens('ONGOING')
        self.story.over = True
        _, first, second, end = self.follow()
        self.assertEqual(
            [histories.PAGE, 1, END], [len(told(first)), len(told(second)), end]
        )

    def test_a_wake_brings_news_without_the_time_of_a_poll(self) -> None:
        stream = self.follow()
        next(stream)

        def wake() -> None:
            self.story.happens('FAILED', over=True)
            self.streams.wake()
            self.clock.advance(histories.SPACING)

        self.assertEqual([(1, 'FAILED')], told(self.next_of(stream, wake)))
        self.assertEqual([END], list(stream))

    def test_poll_finds_events_without_wakeup(self) -> None:
        stream = self.follow()
        next(stream)

        def happens() -> None:
            self.story.happens('FAILED', over=True)
            self.clock.advance(histories.POLL)

        self.assertEqual([(1, 'FAILED')], told(self.next_of(stream, happens)))

    def test_wakes_in_a_crowd_cost_one_look(self) -> None:
        stream = self.follow()
        next(stream)

        def crowd() -> None:
            for _ in range(50):
                self.streams.wake()
            self.story.happens('FAILED', over=True)
            self.clock.advance(histories.SPACING)

        self.next_of(stream, crowd)
        self.assertEqual(2, self.story.looks)

    def test_while_nothing_happens_a_comment_shows_that_it_lives(self) -> None:
        stream = self.follow()
        next(stream)
        chunk = self.next_of(stream, lambda: self.clock.advance(histories.HEARTBEAT))
        self.assertEqual(ALIVE, chunk)

    def test_stream_resumes_after_an_outage_of_the_database(self) -> None:
        stream = self.follow()
        next(stream)
        self.story.away = True
        chunk = self.next_of(stream, lambda: self.clock.advance(histories.HEARTBEAT))
        self.assertEqual(AWAY, chunk)

        def comes_back() -> None:
            self.story.away = False
            self.story.happens('SUCCEEDED', over=True)
            self.clock.advance(histories.POLL)

        self.assertEqual([(1, 'SUCCEEDED')], told(self.next_of(stream, comes_back)))

    def test_it_ends_with_the_process(self) -> None:
        stream = self.follow()
        next(stream)
        self.assertIsNone(self.next_of(stream, self.streams.end))


class TestWhatIsOver(FollowCase):
    def is_over(self, after: int) -> bool:
        return histories.is_over(
            History('events', event_api.represent, self.story.ended, self.story.events),
            after,
        )

    def test_only_ended_subjects_with_known_events_are_over(self) -> None:
        self.assertFalse(self.is_over(0))
        self.story.happens('SUCCEEDED', over=True)
        self.assertFalse(self.is_over(0))
        self.assertTrue(self.is_over(1))
