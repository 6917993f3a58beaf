"""The action pool: its threads and their number."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from tests.worlds import Gate
from watcherlite.execution.pool import SHORT, Pool


class PoolCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.condition = threading.Condition()
        self.done = []
        self.drains = 0

    def make_pool(self, size):
        pool = Pool(size, self, self.id())
        self.addCleanup(pool.stop)
        return pool

    def create_gate(self):
        gate = Gate()
        self.addCleanup(gate.open)
        return gate

    def make_busy_pool(self, *waiting):
        """Return a pool of one busy thread, with these waiting jobs."""
        pool, gate = self.make_pool(1), self.create_gate()
        pool.submit([gate, *waiting])
        gate.wait_until_entered()
        return pool, gate

    def flush(self):
        with self.condition:
            self.drains += 1
            self.condition.notify_all()

    def make_job(self, name):
        def job():
            with self.condition:
                self.done.append(name)
                self.condition.notify_all()

        return job

    def wait_until(self, desired):
        with self.condition:
            if not self.condition.wait_for(desired, TIMEOUT):
                raise AssertionError(f'{self.done} jobs, {self.drains} drains')

    def threads(self):
        return [t for t in threading.enumerate() if t.name.startswith(self.id())]

    def run_short_jobs(self, pool):
        """Run jobs sequentially until their average duration is short."""
        for number in range(1, 1000):
            pool.submit([self.make_job(number)])
            self.wait_until(lambda number=number: self.drains >= number)
            if pool.average < SHORT:
                return
        raise AssertionError(f'a job takes {pool.average} s on average')


class TestOrder(PoolCase):
    def test_jobs_run_in_the_order_of_submission_before_a_flush(self):
        pool, gate = self.make_busy_pool(self.make_job(1))
        pool.submit([self.make_job(2), self.make_job(3)])

        gate.open()
        self.wait_until(lambda: self.drains == 1)

        self.assertEqual([1, 2, 3], self.done)

    def test_an_empty_submission_starts_no_thread(self):
        self.make_pool(4).submit([])

        self.assertEqual([], self.threads())

    def test_a_job_that_raises_does_not_end_its_thread(self):
        def fail():
            raise SystemExit('a plugin wants to leave')

        pool = self.make_pool(1)
        pool.submit([fail, self.make_job(1)])

        self.wait_until(lambda: self.done == [1])
        self.assertEqual(1, len(self.threads()))
        self.assertIn('A job of the core failed', self.log.output)


class TestSize(PoolCase):
    def test_long_jobs_run_in_parallel_up_to_the_size(self):
        pool, gate = self.make_pool(3), self.create_gate()
        pool.submit([gate, gate, gate, self.make_job('last')])

        gate.wait_until_entered(3)
        self.assertEqual((1, [], 3), (pool.backlog, self.done, len(self.threads())))
        # Relief never exceeds the size.
        self.assertEqual([True] * 4, [pool.wake_if_stalled() for _ in range(4)])
        self.assertEqual((1, 3), (pool.backlog, len(self.threads())))
        gate.open()
        self.wait_until(lambda: self.done == ['last'])
        self.assertEqual(3, len(self.threads()))

    def test_an_idle_thread_is_reused(self):
        pool = self.make_pool(8)
        for number in range(1, 6):
            pool.submit([self.make_job(number)])
            self.wait_until(lambda number=number: self.drains == number)

        self.assertEqual(1, len(self.threads()))

    def test_short_jobs_share_one_thread_until_one_stalls(self):
        pool, gate = self.make_pool(4), self.create_gate()
        self.run_short_jobs(pool)

        pool.submit([gate, self.make_job('next')])

        gate.wait_until_entered()
        self.assertEqual((1, 1), (pool.backlog, len(self.threads())))
        # The first call detects that jobs have started since the preceding one.
        self.assertTrue(pool.wake_if_stalled())
        self.assertEqual(1, len(self.threads()))
        self.assertTrue(pool.wake_if_stalled())

        self.wait_until(lambda: self.done[-1] == 'next')
        self.assertEqual(2, len(self.threads()))
        self.assertFalse(pool.wake_if_stalled())


class TestBacklog(PoolCase):
    def test_a_pool_is_stuck_while_jobs_wait_and_none_starts(self):
        self.assertFalse(self.make_pool(1).is_stuck(0.0))
        pool, gate = self.make_busy_pool(self.make_job('next'))

        self.assertFalse(pool.is_stuck(TIMEOUT))
        # Each call restarts the time.
        pool._started_at -= TIMEOUT
        self.assertEqual([True, False], [pool.is_stuck(TIMEOUT) for _ in range(2)])
        self.assertGreaterEqual(pool.average, TIMEOUT)
        self.assertTrue(pool.is_stuck(0.0))
        gate.open()
        self.wait_until(lambda: self.done == ['next'])
        self.assertFalse(pool.is_stuck(0.0))

    def test_only_waiting_jobs_can_be_withdrawn(self):
        waiting = self.make_job('waiting')
        pool, gate = self.make_busy_pool(waiting)

        self.assertEqual([], pool.remove_waiting([gate]))
        self.assertEqual([waiting], pool.remove_waiting([gate, waiting]))

        self.assertEqual(0, pool.backlog)
        self.assertFalse(pool.is_stuck(0.0))


class TestDetachedThreads(PoolCase):
    def test_a_detached_thread_is_replaced(self):
        for waits in (True, False):
            jobs = [self.make_job('next')]
            pool, stuck = self.make_busy_pool(*(jobs if waits else ()))

            pool.detach(stuck)
            pool.submit([] if waits else jobs)

            self.wait_until(lambda: self.done == ['next'])
            self.assertTrue(pool.is_running(stuck))
            self.done.clear()

    def test_a_detached_thread_ends_after_its_replacement(self):
        gate = self.create_gate()
        pool, stuck = self.make_busy_pool(gate)
        (lost,) = self.threads()
        pool.detach(stuck)
        gate.wait_until_entered()
        stuck.open()
        lost.join(TIMEOUT)

        pool.submit([self.make_job('next')])
        self.assertEqual(
            (False, False, 1, []),
            (lost.is_alive(), pool.is_running(stuck), pool.backlog, self.done),
        )
        gate.open()
        self.wait_until(lambda: self.done == ['next'])

    def test_a_detached_thread_without_a_replacement_is_reused(self):
        pool, stuck = self.make_busy_pool()
        pool.detach(stuck)
        stuck.open()
        self.wait_until(lambda: self.drains == 1)

        pool.submit([self.make_job('next')])

        self.wait_until(lambda: self.done == ['next'])
        self.assertEqual(1, len(self.threads()))

    def test_a_reattached_thread_counts_again(self):
        other = self.create_gate()
        pool, found = self.make_busy_pool(other)
        pool.detach(found)
        other.wait_until_entered()

        pool.reattach(found)
        pool.submit([self.make_job('next')])
        other.open()
        self.wait_for_threads(1)

        self.assertEqual([], self.done)
        self.assertTrue(pool.is_full)
        found.open()
        self.wait_until(lambda: self.done == ['next'])

    def wait_for_threads(self, count):
        """Wait until there are at most `count` threads."""
        for thread in self.threads():
            if len(self.threads()) > count:
                thread.join(0.5)
        self.assertEqual(count, len(self.threads()))

    def test_a_job_without_a_thread_cannot_be_detached(self):
        pool, gate = self.make_pool(1), self.create_gate()
        ended, waiting = self.make_job('ended'), self.make_job('waiting')
        pool.submit([ended])
        self.wait_until(lambda: self.drains == 1)
        pool.submit([gate, waiting])
        gate.wait_until_entered()

        for job, runs in (
            (gate, True),
            (ended, False),
            (waiting, False),
            (None, False),
        ):
            self.assertEqual(runs, pool.is_running(job))
            if not runs:
                pool.detach(job)

        self.assertEqual((1, 1), (pool.backlog, len(self.threads())))


class TestStop(PoolCase):
    def test_the_stop_drops_waiting_jobs_and_ends_the_threads(self):
        pool, gate = self.make_busy_pool(self.make_job('waiting'))
        pool.stop()
        pool.submit([self.make_job('too late')])
        gate.open()
        for thread in self.threads():
            thread.join(TIMEOUT)

        self.assertEqual(([], [], 0), (self.threads(), self.done, pool.backlog))

    def test_the_stop_ends_idle_threads_at_once(self):
        pool = self.make_pool(2)
        pool.submit([self.make_job(1)])
        self.wait_until(lambda: self.drains == 1)
        (thread,) = self.threads()

        pool.stop()
        thread.join(TIMEOUT)

        self.assertFalse(thread.is_alive())
