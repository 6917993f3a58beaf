"""Threads for jobs: as many as pay, never more than allowed, none lost."""

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
        """Run jobs one after another until the pool knows that they are short."""
        for number in range(1, 1000):
            pool.submit([self.note(number)])
            self.until(lambda number=number: self.drains >= number)
            if pool.average < SHORT:
                return
        raise AssertionError(f'a job takes {pool.average} s on average')


class TestOrder(PoolCase):
    def test_jobs_are_begun_in_the_order_of_submission(self):
        pool = self.a_pool(1)
        pool.submit([self.note(1), self.note(2)])
        pool.submit([self.note(3)])

        self.until(lambda: len(self.done) == 3)

        self.assertEqual([1, 2, 3], self.done)

    def test_nothing_submitted_starts_no_thread(self):
        self.a_pool(4).submit([])

        self.assertEqual([], self.threads())

    def test_a_thread_that_finds_nothing_says_so(self):
        pool = self.a_pool(1)
        pool.submit([self.note(1), self.note(2)])

        self.until(lambda: self.drains == 1)

        self.assertEqual([1, 2], self.done)

    def test_a_job_that_raises_anything_ends_no_thread(self):
        def fail():
            raise SystemExit('a plugin wants to leave')

        pool = self.a_pool(1)
        pool.submit([fail, self.note(1)])

        self.until(lambda: self.done == [1])
        self.assertEqual(1, len(self.threads()))
        self.assertIn('A job of the core failed', self.log.output)


class TestSize(PoolCase):
    def test_long_jobs_are_run_at_the_same_time_up_to_the_size(self):
        pool, gate = self.a_pool(3), self.a_gate()
        pool.submit([gate, gate, gate, self.note('last')])

        gate.until_entered(3)
        self.assertEqual((1, [], 3), (pool.backlog, self.done, len(self.threads())))
        gate.open()
        self.until(lambda: self.done == ['last'])
        self.assertEqual(3, len(self.threads()))

    def test_a_thread_that_is_free_is_used_again(self):
        pool = self.a_pool(8)
        for number in range(1, 6):
            pool.submit([self.note(number)])
            self.until(lambda number=number: self.drains == number)

        self.assertEqual(1, len(self.threads()))

    def test_jobs_that_are_short_share_one_thread(self):
        pool, gate = self.a_pool(4), self.a_gate()
        self.run_short_jobs(pool)

        pool.submit([gate, self.note('next')])

        gate.until_entered()
        self.assertEqual((1, 1), (pool.backlog, len(self.threads())))

    def test_a_job_that_stalls_among_short_ones_is_relieved(self):
        pool, gate = self.a_pool(4), self.a_gate()
        self.run_short_jobs(pool)
        pool.submit([gate, self.note('next')])
        gate.until_entered()

        # The first look sees that jobs were begun since the last one.
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


class TestLostThreads(PoolCase):
    def test_another_thread_takes_the_place_of_one_that_does_not_come_back(self):
        pool, stuck = self.a_pool(1), self.a_gate()
        pool.submit([stuck, self.note('next')])
        stuck.until_entered()

        pool.lose_thread(stuck)

        self.until(lambda: self.done == ['next'])
        self.assertTrue(pool.runs(stuck))

    def test_what_comes_after_the_loss_has_a_thread_too(self):
        pool, stuck = self.a_pool(1), self.a_gate()
        pool.submit([stuck])
        stuck.until_entered()
        pool.lose_thread(stuck)

        pool.submit([self.note('next')])

        self.until(lambda: self.done == ['next'])

    def test_one_that_comes_back_after_all_makes_the_pool_no_larger(self):
        pool, stuck, gate = self.a_pool(1), self.a_gate(), self.a_gate()
        pool.submit([stuck, gate])
        stuck.until_entered()
        (lost,) = self.threads()
        pool.lose_thread(stuck)
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

    def test_one_that_comes_back_before_it_was_replaced_is_used_again(self):
        pool, stuck = self.a_pool(1), self.a_gate()
        pool.submit([stuck])
        stuck.until_entered()
        pool.lose_thread(stuck)
        stuck.open()
        self.until(lambda: self.drains == 1)

        pool.submit([self.note('next')])

        self.until(lambda: self.done == ['next'])
        self.assertEqual(1, len(self.threads()))

    def test_one_that_is_found_counts_again(self):
        pool, found, other = self.a_pool(1), self.a_gate(), self.a_gate()
        pool.submit([found, other])
        found.until_entered()
        pool.lose_thread(found)
        other.until_entered()

        pool.find_thread(found)
        pool.submit([self.note('next')])
        other.open()
        self.until_threads(1)

        self.assertEqual([], self.done)
        self.assertTrue(pool.full)
        found.open()
        self.until(lambda: self.done == ['next'])

    def until_threads(self, count):
        """Wait until there are no more than so many."""
        for thread in self.threads():
            if len(self.threads()) > count:
                thread.join(0.5)
        self.assertEqual(count, len(self.threads()))

    def test_a_job_that_no_thread_is_in_loses_none(self):
        pool, gate = self.a_pool(1), self.a_gate()
        ended, waiting = self.note('ended'), self.note('waiting')
        pool.submit([ended])
        self.until(lambda: self.drains == 1)
        pool.submit([gate, waiting])
        gate.until_entered()

        pool.lose_thread(ended)
        pool.lose_thread(waiting)

        self.assertEqual((1, 1), (pool.backlog, len(self.threads())))

    def test_it_says_which_job_a_thread_is_in(self):
        pool, gate = self.a_pool(1), self.a_gate()
        waiting = self.note('waiting')
        pool.submit([gate, waiting])
        gate.until_entered()

        self.assertEqual(
            (True, False, False),
            (pool.runs(gate), pool.runs(waiting), pool.runs(None)),
        )


class TestStop(PoolCase):
    def test_threads_end_and_what_waits_is_dropped(self):
        pool, gate = self.a_pool(1), self.a_gate()
        pool.submit([gate, self.note('waiting')])
        gate.until_entered()
        pool.stop()
        pool.submit([self.note('too late')])
        gate.open()
        for thread in self.threads():
            thread.join(PATIENCE)

        self.assertEqual(([], [], 0), (self.threads(), self.done, pool.backlog))

    def test_threads_that_have_nothing_to_do_end_at_once(self):
        pool = self.a_pool(2)
        pool.submit([self.note(1)])
        self.until(lambda: self.drains == 1)
        (thread,) = self.threads()

        pool.stop()
        thread.join(PATIENCE)

        self.assertFalse(thread.is_alive())
