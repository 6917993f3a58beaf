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
        self.build()

    def build(self):
        """Create a lease."""
        self.clock = ScriptedClock()
        self.store = FakeStore(self.clock)
        self.calls = []
        services = CoreServices(
            self.store, self.clock, ExecutionSettings(lease=40), 'me'
        )
        self.lease = Lease(services, self)

    def on_lease_lost(self):
        self.calls.append(self.clock.monotonic())


class TestSecondsLeft(LeaseCase):
    def test_a_worker_stops_before_its_lease_ends_in_the_store(self):
        self.assertEqual(32, self.lease.seconds_left())

    def test_a_renewal_restarts_the_lease_unless_its_end_is_known(self):
        for waited, known, took, answers, renewed, left in (
            (20, False, 0, [], True, 32),
            # No expiry has been processed yet.
            (33, False, 0, [], True, 32),
            (33, True, 0, [], False, -1),
            # It counts from before the request.
            (0, False, 5, [], True, 27),
            (0, False, 0, [False], False, 0),
        ):
            self.build()
            self.clock.advance(waited)
            self.store.took, self.store.answers = took, answers
            if known:
                self.assertEqual(-1, self.lease.seconds_left())

            self.assertEqual(
                (renewed, left), (self.lease.renew(), self.lease.seconds_left())
            )
            self.assertEqual([(waited, 'me', 40)] * (not known), self.store.renewals)

    def test_an_unavailable_store_does_not_change_the_lease(self):
        self.clock.advance(10)
        self.store.answers = [AWAY]

        self.assertRaises(exceptions.StoreUnavailable, self.lease.renew)
        self.assertEqual(22, self.lease.seconds_left())


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

        self.assertEqual(([], 32), (self.calls, self.lease.seconds_left()))
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
