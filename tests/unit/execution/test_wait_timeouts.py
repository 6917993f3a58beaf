"""The timeouts of waiting actions."""

import datetime
from typing import Any

from tests import base
from tests.factories import at, make_action, store_actions
from tests.unit.execution.recorded_process import RecordedProcess
from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.domain.actions import COMPLETE, ActionChange
from watcherlite.execution.deadlines import (
    EXPIRED,
    WINDOW,
    WaitTimeouts,
    change_status,
    is_expired,
    seconds_left,
)
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.states import action as states
from watcherlite.testing.actions import SimulatedResult
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class CountingStore(MemoryStore):
    """A store that counts its reads of deadlines."""

    asked = 0

    def deadlines(self, *arguments: Any) -> Any:
        self.asked += 1
        return super().deadlines(*arguments)


class WaitTimeoutsTest(base.TestCase):
    """The checks of a worker of one lane."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.store = CountingStore(self.clock)
        self.addCleanup(self.store.close)
        process = RecordedProcess(self.expire)
        self.ended = process.timed_out
        self.error: Exception | None = None
        settings = ExecutionSettings(sweep_interval=10.0)
        services = CoreServices(self.store, self.clock, settings, 'me')
        self.timers = services.chores
        self.timeouts = WaitTimeouts(services, ('engine',), process)

    def expire(self, uuid: str) -> None:
        if self.error is not None:
            raise self.error
        with self.store.transaction() as tx:
            found = self.store.get_action(uuid)
            tx.change_actions([ActionChange(found, found.evolve(deadline=EXPIRED))])

    def waiting(self, *seconds: float) -> list[str]:
        """Store waiting actions with deadlines in these seconds."""
        now = self.clock.now()
        stored = store_actions(
            self.store,
            *(
                make_action(
                    lane='engine',
                    status=states.WAITING,
                    phase=COMPLETE,
                    deadline=now + datetime.timedelta(seconds=n),
                )
                for n in seconds
            ),
        )
        return [action.uuid for action in stored]

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.run_due()

    def test_overdue_actions_time_out_and_others_at_their_deadlines(self) -> None:
        over, soon, later = self.waiting(-1, 3, 11)
        self.timeouts.check()
        self.assertEqual([over], self.ended)
        self.pass_time(2.9)
        self.assertEqual([over], self.ended)
        self.pass_time(0.2)
        self.assertEqual([over, soon], self.ended)
        self.pass_time(7.9)
        self.assertEqual([over, soon, later], self.ended)

    def test_many_deadlines_are_read_with_one_statement(self) -> None:
        self.waiting(*[9.0] * 100)
        for _ in range(3):
            self.timeouts.check()
        self.pass_time(8)
        self.assertEqual(3, self.store.asked)
        self.pass_time(1)
        self.assertEqual((100, 4), (len(self.ended), self.store.asked))

    def test_a_newly_waiting_action_times_out_before_the_sweep(self) -> None:
        uuids = self.waiting(5, 4, 60)
        for uuid in uuids:
            self.timeouts.track(self.store.get_action(uuid))
        self.pass_time(4)
        self.assertEqual([uuids[1]], self.ended)
        self.pass_time(1)
        self.assertEqual(uuids[1::-1], self.ended)
        # The next sweep finds the last one.
        self.pass_time(44)
        asked = self.store.asked
        self.pass_time(20)
        self.assertEqual(asked, self.store.asked)

    def test_more_deadlines_than_a_window_are_read_soon(self) -> None:
        self.waiting(*[-1.0] * (WINDOW + 1))
        self.timeouts.check()
        self.assertEqual(WINDOW, len(self.ended))
        self.pass_time(0.1)
        self.assertEqual(WINDOW + 1, len(self.ended))

    def test_a_conflict_does_not_prevent_other_timeouts(self) -> None:
        self.waiting(-2, -1)
        for error in (exceptions.NotFound('purged'), exceptions.Conflict('changed')):
            self.error = error
            self.timeouts.check()
        self.error = None
        self.timeouts.check()
        self.assertEqual(2, len(self.ended))


class ChangeStatusTest(base.TestCase):
    """The deadline of a SUSPENDED action."""

    def test_the_time_left_is_kept_unless_it_is_exhausted_or_unlimited(self) -> None:
        left = EPOCH + datetime.timedelta(seconds=7)
        over = EPOCH + datetime.timedelta(seconds=0.001)
        for deadline, suspended, resumed in (
            (at(7), left, at(107)),
            # An overdue action is overdue after its resume.
            (at(-7), over, at(100.001)),
            (EXPIRED, EXPIRED, EXPIRED),
            (None, None, None),
        ):
            action = make_action(status=states.WAITING, deadline=deadline)
            held = change_status(action, states.SUSPENDED, at(0))
            free = change_status(held, states.WAITING, at(100))
            self.assertEqual(
                [('SUSPENDED', suspended), ('WAITING', resumed)],
                [(one.status, one.deadline) for one in (held, free)],
            )


class SecondsLeftTest(base.TestCase):
    """The seconds left for an action that starts or continues."""

    def left(self, seconds: int, **values: Any) -> float:
        action = make_action(timeout=60, deadline=at(seconds), **values)
        return seconds_left(action, at(0), ExecutionSettings(signal_grace=5.0))

    def test_a_retry_has_the_time_left_by_the_previous_attempt(self) -> None:
        self.assertEqual([10.0, 60.0], [self.left(10), self.left(90)])

    def test_a_completion_has_the_time_left_or_the_grace_period(self) -> None:
        found = [self.left(seconds, phase=COMPLETE) for seconds in (90, 2)]
        self.assertEqual([90.0, 5.0], found)


class IsExpiredTest(base.TestCase):
    """The detection of timeouts after the derived actions have ended."""

    def test_an_expired_action_with_unsuccessful_results_timed_out(self) -> None:
        for deadline, statuses, timed_out in (
            (EXPIRED, (states.SUCCEEDED, states.SKIPPED), False),
            (EXPIRED, (states.SUCCEEDED, states.CANCELLED), True),
            (EXPIRED, (states.FAILED,), True),
            # It expired after it was read.
            (at(-1), (states.SUCCEEDED,), False),
            (at(-1), (states.CANCELLED,), True),
            (at(-1), (states.FAILED,), False),
            # Before the deadline the results decide.
            (at(1), (states.CANCELLED,), False),
            (None, (states.CANCELLED,), False),
        ):
            ends = [SimulatedResult(str(n), s) for n, s in enumerate(statuses)]
            found = is_expired(make_action(deadline=deadline), ends, at(0))
            self.assertEqual(timed_out, found, f'{deadline} {statuses}')
