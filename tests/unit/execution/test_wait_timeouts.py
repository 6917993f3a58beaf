"""What waits too long: found by one question for many, and at its time."""

import datetime
from typing import Any

from tests import base
from tests.factories import at, make_action, store_actions
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
from watcherlite.execution.timers import Timers
from watcherlite.states import action as states
from watcherlite.testing.actions import SimulatedResult
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class Asked(MemoryStore):
    """A store that counts the questions."""

    asked = 0

    def deadlines(self, *arguments: Any) -> Any:
        self.asked += 1
        return super().deadlines(*arguments)


class WaitTimeoutsTest(base.TestCase):
    """The look of a worker of one lane."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.store = Asked(self.clock)
        self.addCleanup(self.store.close)
        self.ended: list[str] = []
        self.error: Exception | None = None
        settings = ExecutionSettings(sweep_interval=10.0)
        services = CoreServices(self.store, self.clock, settings, 'me')
        self.timeouts = WaitTimeouts(services, ('engine',), self.timers, self)  # type: ignore[arg-type]

    def time_out(self, uuid: str) -> None:
        if self.error is not None:
            raise self.error
        with self.store.transaction() as tx:
            found = self.store.get_action(uuid)
            tx.change_actions([ActionChange(found, found.evolve(deadline=EXPIRED))])
        self.ended.append(uuid)

    def waiting(self, *seconds: float) -> list[str]:
        """Store what waits until so many seconds from now."""
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

    def test_what_is_overdue_ends_and_the_rest_at_its_time(self) -> None:
        over, soon, later = self.waiting(-1, 3, 11)
        self.timeouts.check()
        self.assertEqual([over], self.ended)
        self.pass_time(2.9)
        self.assertEqual([over], self.ended)
        self.pass_time(0.2)
        self.assertEqual([over, soon], self.ended)
        self.pass_time(7.9)
        self.assertEqual([over, soon, later], self.ended)

    def test_many_that_wait_are_one_question_until_the_first_is_due(self) -> None:
        self.waiting(*[9.0] * 100)
        for _ in range(3):
            self.timeouts.check()
        self.pass_time(8)
        self.assertEqual(3, self.store.asked)
        self.pass_time(1)
        self.assertEqual((100, 4), (len(self.ended), self.store.asked))

    def test_one_that_waits_from_now_on_needs_no_sweep(self) -> None:
        uuids = self.waiting(5, 4, 60)
        for uuid in uuids:
            self.timeouts.track(self.store.get_action(uuid))
        self.pass_time(4)
        self.assertEqual([uuids[1]], self.ended)
        self.pass_time(1)
        self.assertEqual(uuids[1::-1], self.ended)
        # The last one is far away, and for a sweep to find.
        self.pass_time(44)
        asked = self.store.asked
        self.pass_time(20)
        self.assertEqual(asked, self.store.asked)

    def test_more_than_one_look_takes_are_taken_before_long(self) -> None:
        self.waiting(*[-1.0] * (WINDOW + 1))
        self.timeouts.check()
        self.assertEqual(WINDOW, len(self.ended))
        self.pass_time(0.1)
        self.assertEqual(WINDOW + 1, len(self.ended))

    def test_one_that_cannot_be_ended_keeps_no_other_from_it(self) -> None:
        self.waiting(-2, -1)
        for error in (exceptions.NotFound('purged'), exceptions.Conflict('changed')):
            self.error = error
            self.timeouts.check()
        self.error = None
        self.timeouts.check()
        self.assertEqual(2, len(self.ended))


class TurnedTest(base.TestCase):
    """Time stands still while an action is SUSPENDED."""

    def apply_signal(self, deadline: datetime.datetime | None) -> list[Any]:
        action = make_action(status=states.WAITING, deadline=deadline)
        held = change_status(action, states.SUSPENDED, at(0))
        free = change_status(held, states.WAITING, at(100))
        return [(one.status, one.deadline) for one in (held, free)]

    def test_what_is_left_is_kept(self) -> None:
        left = EPOCH + datetime.timedelta(seconds=7)
        self.assertEqual(
            [('SUSPENDED', left), ('WAITING', at(107))], self.apply_signal(at(7))
        )

    def test_one_that_is_overdue_is_so_again_at_once(self) -> None:
        _, (_, deadline) = self.apply_signal(at(-7))
        self.assertEqual(at(100.001), deadline)

    def test_one_that_was_told_and_one_without_a_deadline_stay_so(self) -> None:
        for deadline in (EXPIRED, None):
            ends = [('SUSPENDED', deadline), ('WAITING', deadline)]
            self.assertEqual(ends, self.apply_signal(deadline))


class SecondsLeftTest(base.TestCase):
    """The time of an action that begins, or goes on."""

    def left(self, seconds: int, **values: Any) -> float:
        action = make_action(timeout=60, deadline=at(seconds), **values)
        return seconds_left(action, at(0), ExecutionSettings(signal_grace=5.0))

    def test_a_further_try_has_what_those_before_it_left(self) -> None:
        self.assertEqual([10.0, 60.0], [self.left(10), self.left(90)])

    def test_one_that_completes_has_what_is_left_and_time_to_say_so(self) -> None:
        found = [self.left(seconds, phase=COMPLETE) for seconds in (90, 2)]
        self.assertEqual([90.0, 5.0], found)


class IsCutOffTest(base.TestCase):
    """What has ended well counts, however late it is."""

    def cut_off(self, deadline: datetime.datetime | None, *statuses: str) -> bool:
        ends = [SimulatedResult(str(n), status) for n, status in enumerate(statuses)]
        return is_expired(make_action(deadline=deadline), ends, at(0))

    def test_what_was_told_to_end_and_did_not_end_well_was_cut_off(self) -> None:
        ends = {
            (states.SUCCEEDED, states.SKIPPED): False,
            (states.SUCCEEDED, states.CANCELLED): True,
            (states.FAILED,): True,
        }
        self.assertEqual(ends, {each: self.cut_off(EXPIRED, *each) for each in ends})

    def test_so_was_what_was_told_after_the_action_was_read(self) -> None:
        ends = {
            (states.SUCCEEDED,): False,
            (states.CANCELLED,): True,
            (states.FAILED,): False,
        }
        self.assertEqual(ends, {each: self.cut_off(at(-1), *each) for each in ends})

    def test_before_its_time_it_ends_as_what_it_derived_did(self) -> None:
        for deadline in (None, at(1)):
            self.assertFalse(self.cut_off(deadline, states.CANCELLED))
