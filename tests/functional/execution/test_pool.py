"""The action pool: its threads and their number."""

import threading

from tests import base
from tests.worlds import Gate
from watcherlite.execution.pool import SHORT, Pool

PATIENCE = 10


class PoolCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.condition = threading.Condition()
        self.done = []
        self.drains = 0

    def a_pool(self, size):
        pool = Pool(size, self, self.id())
        self.addCleanup(pool.stop)
        return pool

    def a_gate(self):
        gate = Gate()
        self.addCleanup(gate.open)
        return gate

    def flush(self):
        with self.condition:
            self.drains += 1
            self.condition.notify_all()

    def note(self, name):
        def job():
            with self.condition:
                self.done.append(name)
                self.condition.notify_all()

        return job

    def until(self, wanted):
        with self.condition:
            if not self.condition.wait_for(wanted, PATIENCE):
                raise AssertionError(f'{self.done} were done, {self.drains} drained')

    def threads(self):
        return [t for t in threading.enumerate() if t.name.startswith(self.id())]

    def run_short_jobs(self, pool):
        """Run jobs one after another until the average is short."""
        for number in range(1, 1000):
            pool.submit([self.note(number)])
            self.until(lambda number=number: self.drains >= number)
            if pool.average < SHORT:
                return
        raise AssertionError(f'a job takes {pool.average} s on average')


class TestOrder(PoolCase):
    def test_jobs_start_in_the_order_of_submission(self):
        pool = self.a_pool(1)
        pool.submit([self.note(1), self.note(2)])
        pool.submit([self.note(3)])

        self.until(lambda: len(self.done) == 3)

        self.assertEqual([1, 2, 3], self.done)

    def test_an_empty_submission_starts_no_thread(self):
        self.a_pool(4).submit([])

        self.assertEqual([], self.threads())

    def test_an_idle_thread_flushes_the_commit_queue(self):
        pool = self.a_pool(1)
        pool.submit([self.note(1), self.note(2)])

        self.until(lambda: self.drains == 1)

        self.assertEqual([1, 2], self.done)

    def test_a_job_that_raises_does_not_end_its_thread(self):
        def fail():
            raise SystemExit('a plugin wants to leave')

        pool = self.a_pool(1)
        pool.submit([fail, self.note(1)])

        self.until(lambda: self.done == [1])
        self.assertEqual(1, len(self.threads()))
        self.assertIn('A job of the core failed', self.log.output)


class TestSize(PoolCase):
    def test_long_jobs_run_in_parallel_up_to_the_size(self):
        pool, gate = self.a_pool(3), self.a_gate()
        pool.submit([gate, gate, gate, self.note('last')])

        gate.until_entered(3)
        self.assertEqual((1, [], 3), (pool.backlog, self.done, len(self.threads())))
        gate.open()
        self.until(lambda: self.done == ['last'])
        self.assertEqual(3, len(self.threads()))

    def test_an_idle_thread_is_reused(self):
        pool = self.a_pool(8)
        for number in range(1, 6):
            pool.submit([self.note(number)])
            self.until(lambda number=number: self.drains == number)

        self.assertEqual(1, len(self.threads()))

    def test_short_jobs_share_one_thread(self):
        pool, gate = self.a_pool(4), self.a_gate()
        self.run_short_jobs(pool)

        pool.submit([gate, self.note('next')])

        gate.until_entered()
        self.assertEqual((1, 1), (pool.backlog, len(self.threads())))

    def test_a_stalled_job_gets_a_second_thread(self):
        pool, gate = self.a_pool(4), self.a_gate()
        self.run_short_jobs(pool)
        pool.submit([gate, self.note('next')])
        gate.until_entered()

        # The first call finds that jobs have started since the last one.
        self.assertTrue(pool.relieve())
        self.assertEqual(1, len(self.threads()))
        self.assertTrue(pool.relieve())

        self.until(lambda: self.done[-1] == 'next')
        self.assertEqual(2, len(self.threads()))
        self.assertFalse(pool.relieve())

    def test_relief_never_exceeds_the_size(self):
        pool, gate = self.a_pool(2), self.a_gate()
        pool.submit([gate, gate, gate, gate])
        gate.until_entered(2)

        for _ in range(4):
            self.assertTrue(pool.relieve())

        self.assertEqual((2, 2, 2), (gate.entered, pool.backlog, len(self.threads())))


class TestDetachedThreads(PoolCase):
    def test_a_detached_thread_is_replaced(self):
        pool, stuck = self.a_pool(1), self.a_gate()
        pool.submit([stuck, self.note('next')])
        stuck.until_entered()

        pool.detach(stuck)

        self.until(lambda: self.done == ['next'])
        self.assertTrue(pool.runs(stuck))

    def test_jobs_after_a_detachment_have_a_thread(self):
        pool, stuck = self.a_pool(1), self.a_gate()
        pool.submit([stuck])
        stuck.until_entered()
        pool.detach(stuck)

        pool.submit([self.note('next')])

        self.until(lambda: self.done == ['next'])

    def test_a_detached_thread_ends_after_its_replacement(self):
        pool, stuck, gate = self.a_pool(1), self.a_gate(), self.a_gate()
        pool.submit([stuck, gate])
        stuck.until_entered()
        (lost,) = self.threads()
        pool.detach(stuck)
        gate.until_entered()
        stuck.open()
        lost.join(PATIENCE)

        pool.submit([self.note('next')])
        self.assertEqual(
            (False, False, 1, []),
            (lost.is_alive(), pool.runs(stuck), pool.backlog, self.done),
        )
        gate.open()
        self.until(lambda: self.done == ['next'])

    def test_a_detached_thread_without_a_replacement_is_reused(self):
        pool, stuck = self.a_pool(1), self.a_gate()
        pool.submit([stuck])
        stuck.until_entered()
        pool.detach(stuck)
        stuck.open()
        self.until(lambda: self.drains == 1)

        pool.submit([self.note('next')])

        self.until(lambda: self.done == ['next'])
        self.assertEqual(1, len(self.threads()))

    def test_a_reattached_thread_counts_again(self):
        pool, found, other = self.a_pool(1), self.a_gate(), self.a_gate()
        pool.submit([found, other])
        found.until_entered()
        pool.detach(found)
        other.until_entered()

        pool.reattach(found)
        pool.submit([self.note('next')])
        other.open()
        self.until_threads(1)

        self.assertEqual([], self.done)
        self.assertTrue(pool.full)
        found.open()
        self.until(lambda: self.done == ['next'])

    def until_threads(self, count):
        """Wait until there are at most `count` threads."""
        for thread in self.threads():
            if len(self.threads()) > count:
                thread.join(0.5)
        self.assertEqual(count, len(self.threads()))

    def test_a_job_without_a_thread_cannot_be_detached(self):
        pool, gate = self.a_pool(1), self.a_gate()
        ended, waiting = self.note('ended'), self.note('waiting')
        pool.submit([ended])
        self.until(lambda: self.drains == 1)
        pool.submit([gate, waiting])
        gate.until_entered()

        pool.detach(ended)
        pool.detach(waiting)

        self.assertEqual((1, 1), (pool.backlog, len(self.threads())))

    def test_runs_returns_whether_a_thread_runs_the_job(self):
        pool, gate = self.a_pool(1), self.a_gate()
        waiting = self.note('waiting')
        pool.submit([gate, waiting])
        gate.until_entered()

        self.assertEqual(
            (True, False, False), (pool.runs(gate), pool.runs(waiting), pool.runs(None))
        )


class TestStop(PoolCase):
    def test_the_stop_drops_waiting_jobs_and_ends_the_threads(self):
        pool, gate = self.a_pool(1), self.a_gate()
        pool.submit([gate, self.note('waiting')])
        gate.until_entered()
        pool.stop()
        pool.submit([self.note('too late')])
        gate.open()
        for thread in self.threads():
            thread.join(PATIENCE)

        self.assertEqual(([], [], 0), (self.threads(), self.done, pool.backlog))

    def test_the_stop_ends_idle_threads_at_once(self):
        pool = self.a_pool(2)
        pool.submit([self.note(1)])
        self.until(lambda: self.drains == 1)
        (thread,) = self.threads()

        pool.stop()
        thread.join(PATIENCE)

        self.assertFalse(thread.is_alive())
