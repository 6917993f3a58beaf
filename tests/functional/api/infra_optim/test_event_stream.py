"""Streams of events: content, timing and end."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests import base
from tests.bounded import TIMEOUT
from tests.factories import NOW
from watcherlite import exceptions
from watcherlite.api.event_streams import EventStreams
from watcherlite.api.infra_optim import histories
from watcherlite.api.infra_optim.handlers import events as event_api
from watcherlite.api.infra_optim.histories import ALIVE, AWAY, BEGIN, END, History
from watcherlite.domain import events
from watcherlite.domain.events import Event, StoredEvent
from watcherlite.testing import ManualClock


class FakePlan:
    """The events of a plan during a stream.

    :ivar looks: the number of polls
    :ivar away: whether the database is unavailable
    """

    def __init__(self) -> None:
        self.over = False
        self.away = False
        self.looks = 0
        self._events: list[StoredEvent] = []

    def add_event(self, state: str, over: bool = False) -> None:
        """Add an event with the new state of the plan."""
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
        self.plan = FakePlan()
        self.streams = EventStreams()
        self.clock = ManualClock()

        self.history = History(
            'events', event_api.represent, self.plan.ended, self.plan.events
        )

    def follow(self, after: int = 0) -> Iterator[bytes]:
        return histories.follow(self.history, self.streams, self.clock, after)

    def open_stream(self) -> Iterator[bytes]:
        """Return a stream after its first chunk."""
        stream = self.follow()
        next(stream)
        return stream

    def next_of(
        self, stream: Iterator[bytes], *meanwhile: Callable[[], Any]
    ) -> bytes | None:
        """Return the next chunk; call each of `meanwhile` at a wait of the stream."""
        found: list[bytes | None] = []
        thread = threading.Thread(
            target=lambda: found.append(next(stream, None)), daemon=True
        )
        thread.start()
        for act in meanwhile:
            self.clock.until_waiting()
            act()
        thread.join(TIMEOUT)
        self.assertFalse(thread.is_alive(), 'the stream still waits')
        return found[0]


def event_states(chunk: bytes | None) -> list[tuple[int, str]]:
    """Return (sequence, new state) of the events in a chunk."""
    lines = (chunk or b'').decode().split('\n\n')
    found = []
    for text in lines[:-1]:
        head, data = text.split('\n')
        found.append(
            (int(head.removeprefix('id: ')), json.loads(data[6:])['new_state'])
        )
    return found


class TestFollow(FollowCase):
    def test_stream_of_ended_plan_has_events_after_sequence_and_end(self) -> None:
        self.plan.add_event('ONGOING')
        self.plan.add_event('SUCCEEDED', over=True)
        for after in (0, 1):
            begin, page, end = self.follow(after)
            self.assertEqual([BEGIN, END], [begin, end])
            self.assertEqual(
                [(1, 'ONGOING'), (2, 'SUCCEEDED')][after:], event_states(page)
            )

    def test_many_events_are_sent_in_pages_without_wait(self) -> None:
        for _ in range(histories.PAGE + 1):
            self.plan.add_event('ONGOING')
        self.plan.over = True
        _, first, second, end = self.follow()
        self.assertEqual(
            [histories.PAGE, 1, END],
            [len(event_states(first)), len(event_states(second)), end],
        )

    def test_wakeups_deliver_events_before_poll_with_one_query_each(self) -> None:
        stream = self.open_stream()

        def wake(times: int, state: str, over: bool) -> None:
            for _ in range(times):
                self.streams.wake()
            self.plan.add_event(state, over)
            self.clock.advance(histories.SPACING)

        one = self.next_of(stream, lambda: wake(1, 'ONGOING', False))
        crowd = self.next_of(stream, lambda: wake(50, 'FAILED', True))
        self.assertEqual(
            [(1, 'ONGOING'), (2, 'FAILED')], event_states(one) + event_states(crowd)
        )
        self.assertEqual(3, self.plan.looks)
        self.assertEqual([END], list(stream))

    def test_poll_finds_events_without_wakeup(self) -> None:
        def happens() -> None:
            self.plan.add_event('FAILED', over=True)
            self.clock.advance(histories.POLL)

        self.assertEqual(
            [(1, 'FAILED')], event_states(self.next_of(self.open_stream(), happens))
        )

    def test_heartbeat_reports_whether_database_is_available(self) -> None:
        stream = self.open_stream()

        def heartbeat() -> None:
            self.clock.advance(histories.HEARTBEAT)

        self.assertEqual(ALIVE, self.next_of(stream, heartbeat))
        self.plan.away = True
        self.assertEqual(AWAY, self.next_of(stream, heartbeat))

        def restore() -> None:
            self.plan.away = False
            self.plan.add_event('SUCCEEDED', over=True)
            self.clock.advance(histories.POLL)

        self.assertEqual(
            [(1, 'SUCCEEDED')], event_states(self.next_of(stream, restore))
        )

    def test_end_of_process_ends_stream(self) -> None:
        self.assertIsNone(self.next_of(self.open_stream(), self.streams.end))


class TestIsOver(FollowCase):
    def test_stream_ends_if_subject_ended_and_all_events_are_known(self) -> None:
        self.assertFalse(histories.is_over(self.history, 0))
        self.plan.add_event('SUCCEEDED', over=True)
        self.assertFalse(histories.is_over(self.history, 0))
        self.assertTrue(histories.is_over(self.history, 1))
