"""Who renews a lease owns what it has taken; who cannot stops in time."""

import threading

from tests import base
from watcherlite import exceptions
from watcherlite.execution.lease import Lease
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.testing.clock import ManualClock

PATIENCE = 10


class FakeStore:
    """Answers `renew_lease` as a test says, and notes when it was asked.

    :ivar answer: True, False, or what to raise
    :ivar took: seconds that pass before it answers
    """

    def __init__(self, clock):
        self._clock = clock
        self._condition = threading.Condition()
        self.answer = True
        self.took = 0
        self.asked = []

    def renew_lease(self, worker, seconds):
        answer = self.answer
        with self._condition:
            self.asked.append((self._clock.monotonic(), worker, seconds))
            self._condition.notify_all()
        if self.took:
            self._clock.advance(self.took)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def until_asked(self, times):
        with self._condition:
            if not self._condition.wait_for(lambda: len(self.asked) >= times, PATIENCE):
                raise AssertionError(f'asked at {self.asked}, not {times} times')


class LeaseCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.store = FakeStore(self.clock)
        self.over = threading.Event()
        self.calls = []
        self.lease = Lease(self.services(), self)

    def services(self):
        return CoreServices(self.store, self.clock, ExecutionSettings(lease=40), 'me')

    def on_lease_lost(self):
        self.calls.append(self.clock.monotonic())
        self.over.set()


class TestLeft(LeaseCase):
    def test_a_worker_stops_before_the_store_gives_it_up(self):
        self.assertEqual(32, self.lease.left())

    def test_it_goes_down_with_time_and_below_nothing(self):
        self.clock.advance(33)

        self.assertEqual(-1, self.lease.left())

    def test_a_renewal_begins_it_anew(self):
        self.clock.advance(20)

        self.assertEqual((True, 32), (self.lease.renew(), self.lease.left()))
        self.assertEqual([(20, 'me', 40)], self.store.asked)

    def test_it_counts_from_before_the_store_was_asked(self):
        self.store.took = 5

        self.assertEqual((True, 27), (self.lease.renew(), self.lease.left()))

    def test_a_refusal_ends_it_at_once(self):
        self.store.answer = False

        self.assertEqual((False, 0), (self.lease.renew(), self.lease.left()))

    def test_a_store_that_is_away_changes_nothing(self):
        self.clock.advance(10)
        self.store.answer = exceptions.StoreUnavailable()

        self.assertRaises(exceptions.StoreUnavailable, self.lease.renew)
        self.assertEqual(22, self.lease.left())


class TestThread(LeaseCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.lease.stop)

    def start(self):
        self.lease.start()
        self.clock.until_waiting()

    def turn(self, seconds, asked):
        """Let time pass until the store was asked so many times."""
        self.clock.advance(seconds)
        self.store.until_asked(asked)
        self.clock.until_waiting()

    def test_it_is_renewed_every_quarter(self):
        self.start()
        self.turn(10, 1)
        self.turn(10, 2)
        self.turn(10, 3)

        self.assertEqual([10, 20, 30], [asked[0] for asked in self.store.asked])
        self.assertEqual([], self.calls)

    def test_a_store_that_comes_back_in_time_keeps_it(self):
        self.store.answer = exceptions.StoreUnavailable('The database is away.')
        self.start()
        self.turn(10, 1)
        self.store.answer = True
        self.turn(10, 2)

        self.assertEqual(([], 32), (self.calls, self.lease.left()))
        self.assertIn(
            'The lease of worker me could not be renewed: The database is away.; '
            '22.0 s are left',
            self.log.output,
        )

    def test_a_refusal_is_told_once_and_asked_for_no_more(self):
        self.store.answer = False
        self.start()
        self.clock.advance(10)

        self.assertTrue(self.over.wait(PATIENCE))
        self.lease.stop()
        self.assertEqual(([10], 1), (self.calls, len(self.store.asked)))
        self.assertIn('The lease of worker me is over', self.log.output)

    def test_a_store_that_stays_away_ends_it_before_others_take_over(self):
        self.store.answer = exceptions.StoreUnavailable()
        self.start()
        self.turn(10, 1)
        self.turn(10, 2)
        self.turn(10, 3)
        self.clock.advance(2)

        self.assertTrue(self.over.wait(PATIENCE))
        self.assertEqual([32], self.calls)

    def test_once_stopped_it_is_neither_renewed_nor_lost(self):
        self.start()
        self.lease.stop()
        self.clock.advance(1000)

        self.assertEqual(([], []), (self.store.asked, self.calls))

    def test_who_is_told_that_it_is_over_may_stop_it(self):
        case = self

        class Stopping:
            def on_lease_lost(self):
                lease.stop()
                case.over.set()

        self.store.answer = False
        lease = Lease(self.services(), Stopping())
        lease.start()
        self.clock.until_waiting()
        self.clock.advance(10)

        self.assertTrue(self.over.wait(PATIENCE))
