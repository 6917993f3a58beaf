"""The lease of a worker, renewed in the thread of the test."""

from tests import base
from tests.clocks import ScriptedClock
from watcherlite import exceptions
from watcherlite.execution.lease import Lease
from watcherlite.execution.services import CoreServices, ExecutionSettings

AWAY = exceptions.StoreUnavailable('The database is away.')


class FakeStore:
    """A store whose answers to `renew_lease` a test sets.

    :ivar answers: the next answers: True, False, or an exception; then True
    :ivar took: seconds that pass before an answer
    :ivar renewals: (time, worker, seconds) of each request
    """

    def __init__(self, clock):
        self._clock = clock
        self.answers = []
        self.took = 0
        self.renewals = []

    def renew_lease(self, worker, seconds):
        self.renewals.append((self._clock.monotonic(), worker, seconds))
        if self.took:
            self._clock.advance(self.took)
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer


class LeaseCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ScriptedClock()
        self.store = FakeStore(self.clock)
        self.calls = []
        services = CoreServices(
            self.store, self.clock, ExecutionSettings(lease=40), 'me'
        )
        self.lease = Lease(services, self)

    def on_lease_lost(self):
        self.calls.append(self.clock.monotonic())


class TestLeft(LeaseCase):
    def test_a_worker_stops_before_the_store_gives_it_up(self):
        self.assertEqual(32, self.lease.left())

    def test_the_time_left_decreases_below_zero(self):
        self.clock.advance(33)

        self.assertEqual(-1, self.lease.left())

    def test_a_renewal_restarts_the_lease(self):
        self.clock.advance(20)

        self.assertEqual((True, 32), (self.lease.renew(), self.lease.left()))
        self.assertEqual([(20, 'me', 40)], self.store.renewals)

    def test_an_expiry_that_nobody_acted_on_is_mended_by_a_renewal(self):
        self.clock.advance(33)

        self.assertEqual((True, 32), (self.lease.renew(), self.lease.left()))

    def test_an_expiry_that_was_acted_on_is_final(self):
        self.clock.advance(33)
        self.assertEqual(-1, self.lease.left())

        self.assertEqual((False, -1), (self.lease.renew(), self.lease.left()))
        self.assertEqual([], self.store.renewals)

    def test_the_lease_counts_from_before_the_request(self):
        self.store.took = 5

        self.assertEqual((True, 27), (self.lease.renew(), self.lease.left()))

    def test_a_refusal_ends_the_lease_at_once(self):
        self.store.answers = [False]

        self.assertEqual((False, 0), (self.lease.renew(), self.lease.left()))

    def test_an_unavailable_store_does_not_change_the_lease(self):
        self.clock.advance(10)
        self.store.answers = [AWAY]

        self.assertRaises(exceptions.StoreUnavailable, self.lease.renew)
        self.assertEqual(22, self.lease.left())


class TestRun(LeaseCase):
    def run_for(self, waits):
        """Run the lease until it has waited this many times."""
        for _ in range(waits):
            self.clock.steps.append(lambda: self.clock.advance(10))
        self.clock.steps.append(self.lease.stop)
        self.lease.run()

    def test_a_lease_is_renewed_after_each_quarter(self):
        self.run_for(3)

        self.assertEqual([10] * 4, self.clock.waits)
        self.assertEqual([10, 20, 30], [at for at, *_ in self.store.renewals])
        self.assertEqual([], self.calls)

    def test_a_store_that_is_available_again_in_time_keeps_the_lease(self):
        self.store.answers = [AWAY]
        self.run_for(2)

        self.assertEqual(([], 32), (self.calls, self.lease.left()))
        self.assertIn(
            'The lease of worker me could not be renewed: The database is away.; '
            '22.0 s remain',
            self.log.output,
        )

    def test_a_refusal_is_reported_once_and_ends_the_renewals(self):
        self.store.answers = [False]
        self.lease.run()

        self.assertEqual(([10], 1), (self.calls, len(self.store.renewals)))
        self.assertIn('The lease of worker me has expired', self.log.output)

    def test_a_lease_ends_early_if_the_store_stays_unavailable(self):
        self.store.answers = [AWAY] * 10
        self.lease.run()

        self.assertEqual(([32], [10, 10, 10, 2]), (self.calls, self.clock.waits))

    def test_a_stopped_lease_is_neither_renewed_nor_lost(self):
        self.lease.stop()
        self.lease.run()

        self.assertEqual(([], []), (self.store.renewals, self.calls))
