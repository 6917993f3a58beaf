"""The threads of the core: the committer, the timers and the lease."""

import queue
import threading

from tests import base, factories
from tests.bounded import TIMEOUT
from tests.unit.execution.test_committer import CommitterCase
from watcherlite.execution.group_commit import ClaimRequest
from watcherlite.execution.lease import Lease
from watcherlite.execution.services import CoreServices, ExecutionSettings, Timers
from watcherlite.testing.clock import ManualClock


class TestCommitter(CommitterCase):
    """The thread of a committer whose clock does not advance by itself."""

    def make_clock(self):
        return ManualClock(factories.NOW)

    def setUp(self):
        super().setUp()
        self._semaphore = threading.Semaphore(0)
        self.queue.allow_linger()
        self.committer.start()
        self.addCleanup(self.committer.stop, TIMEOUT)
        self.clock.until_waiting()

    def on_settled(self, item, applied):
        super().on_settled(item, applied)
        self._semaphore.release()

    def wait_until_settled(self, count):
        for _ in range(count):
            self.assertTrue(self._semaphore.acquire(timeout=TIMEOUT))

    def test_the_stop_writes_queued_items(self):
        self.submit(*self.running('a'))

        self.assertTrue(self.committer.stop(TIMEOUT))
        self.assertEqual([('a', True)], self.settled)

    def test_a_submission_starts_the_linger(self):
        self.submit(*self.running('a'))
        self.assertEqual([], self.settled)
        # The thread may not wait for the end of the linger yet.
        for _ in range(1000):
            self.clock.advance(0.02)
            if self._semaphore.acquire(timeout=TIMEOUT / 1000):
                break

        self.assertEqual(([('a', True)], [1]), (self.settled, self.fragile.sizes))

    def test_a_flush_and_a_large_batch_wake_the_lingering_thread(self):
        self.submit(*self.running('a', 'b'))
        self.queue.flush()
        self.wait_until_settled(2)
        self.assertEqual([2], self.fragile.sizes)

        self.queue.allow_linger()
        self.submit(*self.running('c', 'd', 'e', 'f'))
        self.wait_until_settled(4)
        self.assertEqual(0.0, self.clock.monotonic())

    def test_a_claim_wakes_the_idle_thread(self):
        factories.store_actions(
            self.store, factories.make_action(name='a', status='READY')
        )
        claimed = threading.Event()
        self.dispatcher.on_committed = lambda result: claimed.set()
        self.dispatcher.request(ClaimRequest(None, 'applier', 5))
        self.queue.wake()

        self.assertTrue(claimed.wait(TIMEOUT))


class TestTimers(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock, 'some-timers')
        self.timers.start()
        self.addCleanup(self.timers.stop)

    def test_due_and_earlier_timers_and_the_stop_wake_the_waiting_thread(self):
        names = queue.Queue()

        def record_thread():
            names.put(threading.current_thread().name)

        self.timers.after(5, record_thread)
        self.clock.until_waiting()
        self.clock.advance(5)
        self.assertEqual('some-timers', names.get(timeout=TIMEOUT))

        self.timers.after(3600, record_thread)
        self.clock.until_waiting()
        self.timers.after(0, record_thread)
        self.assertEqual('some-timers', names.get(timeout=TIMEOUT))

        self.clock.until_waiting()
        self.timers.stop(TIMEOUT)
        self.assertNotIn(
            'some-timers', [thread.name for thread in threading.enumerate()]
        )

    def test_a_timer_may_stop_the_thread(self):
        done = threading.Event()

        def stop():
            self.timers.stop()
            done.set()

        self.timers.after(0, stop)

        self.assertTrue(done.wait(TIMEOUT))


class TestLease(base.TestCase):
    """A lease that the store refuses to renew."""

    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.over = threading.Event()
        services = CoreServices(self, self.clock, ExecutionSettings(lease=40), 'me')
        self.lease = Lease(services, self)
        self.addCleanup(self.lease.stop)

    def renew_lease(self, worker, seconds):
        return False

    def on_lease_lost(self):
        self.lease.stop()
        self.over.set()

    def test_the_observer_may_stop_the_thread_that_calls_it(self):
        self.lease.start()
        self.clock.until_waiting()
        self.clock.advance(10)

        self.assertTrue(self.over.wait(TIMEOUT))

    def test_the_stop_ends_the_waiting_thread(self):
        # Other tests may have left threads of this name.
        before = set(threading.enumerate())
        self.lease.start()
        self.clock.until_waiting()
        self.lease.stop()

        self.assertEqual(set(), set(threading.enumerate()) - before)
        self.assertFalse(self.over.is_set())
