"""The wide pool: limits and shares."""

from tests import base
from watcherlite.execution.pool import CLUSTER, PROJECT, SERVICE, WidePool
from watcherlite.execution.service_slots import ServiceSlots, SlotRequest
from watcherlite.execution.services import ExecutionSettings


class TestWidePool(base.TestCase):
    def setUp(self):
        super().setUp()
        self.threads = []
        self.begun = []
        self.jobs = {}

    def make_pool(self, size=8, cluster=8, project=8, service=8):
        settings = ExecutionSettings(
            max_probes=size,
            max_probes_per_cluster=cluster,
            max_probes_per_project=project,
            max_per_service=service,
        )
        self.slots = ServiceSlots(settings)
        # A started thread is a function that the test calls.
        return WidePool(settings, self.slots, self.threads.append)

    def submit(self, pool, name, cluster='c', project='p', service=None):
        self.jobs[name] = lambda: self.begun.append(name)
        keys = [(CLUSTER, cluster), (PROJECT, project)]
        if service is not None:
            keys.append((SERVICE, service))
        pool.submit(self.jobs[name], keys)

    def finish(self, at=0):
        """Run a thread until it ends."""
        self.threads.pop(at)()
        return self.begun

    def test_the_number_of_probes_is_limited(self):
        pool = self.make_pool(size=2)
        for name in 'abc':
            self.submit(pool, name, cluster=name, project=name)

        self.assertEqual(2, len(self.threads))
        self.assertEqual(['a', 'c'], self.finish())

    def test_a_cluster_or_a_project_cannot_exceed_its_share(self):
        for limit in ('cluster', 'project'):
            self.begun.clear()
            pool = self.make_pool(**{limit: 1})
            self.submit(pool, 'a', **{limit: 'slow'})
            self.submit(pool, 'b', **{limit: 'slow'})
            self.submit(pool, 'c', **{limit: 'quick'})

            self.assertEqual(2, len(self.threads))
            self.assertEqual(['c'], self.finish(1))
            self.assertEqual(['c', 'a', 'b'], self.finish())

    def test_a_detached_thread_frees_its_place(self):
        pool = self.make_pool(size=1)
        self.submit(pool, 'a')
        self.submit(pool, 'b')

        pool.detach(self.jobs['a'])

        self.assertEqual(2, len(self.threads))
        self.assertTrue(pool.is_running(self.jobs['a']))
        self.finish()
        self.assertFalse(pool.is_running(self.jobs['a']))
        self.assertEqual(['a', 'b'], self.finish())

    def test_waiting_jobs_can_be_withdrawn(self):
        pool = self.make_pool(size=1)
        for name in 'abc':
            self.submit(pool, name)
        jobs = self.jobs

        withdrawn = pool.remove_waiting({jobs['a'], jobs['b']})

        self.assertEqual([jobs['b']], withdrawn)
        self.assertEqual(['a', 'c'], self.finish())

    def test_a_job_that_raises_frees_its_place(self):
        pool = self.make_pool(size=1)

        def broken():
            raise RuntimeError('broken')

        pool.submit(broken, ())
        self.submit(pool, 'a')

        with self.assertLogs('watcherlite.execution', 'ERROR'):
            self.finish()
        self.assertEqual(['a'], self.begun)

    def request(self, name):
        """Request a slot of the service `s` for a coroutine; return whether it got it.

        A slot that it gets later is recorded in `begun`.
        """
        request = SlotRequest(lambda: self.begun.append(name) is None)
        return self.slots.take('s', request)

    def test_the_calls_of_a_service_are_counted_with_those_of_coroutines(self):
        pool = self.make_pool(service=1)
        self.assertTrue(self.request('coroutine 1'))
        self.submit(pool, 'a', service='s')
        self.submit(pool, 'other', service='t')
        self.assertFalse(self.request('coroutine 2'))
        self.submit(pool, 'b', service='s')
        self.assertEqual(['other'], self.finish())

        # Each slot goes to the first who waits.
        self.slots.release('s')
        self.assertEqual(['other', 'a', 'coroutine 2'], self.finish())
        self.assertEqual([], self.threads)
        self.slots.release('s')
        self.assertEqual(['other', 'a', 'coroutine 2', 'b'], self.finish())
        self.assertTrue(self.request('coroutine 3'))

    def test_a_slot_that_a_pool_cannot_use_goes_to_the_next(self):
        for reason in ('withdrawn', 'full', 'stopped'):
            self.begun.clear()
            pool = self.make_pool(size=1, service=1)
            self.request('coroutine 1')
            self.submit(pool, 'a', service='s')
            self.assertFalse(self.request('coroutine 2'))
            if reason == 'withdrawn':
                pool.remove_waiting({self.jobs['a']})
            elif reason == 'full':
                self.submit(pool, 'long')
            else:
                pool.stop()

            self.slots.release('s')

            self.assertEqual(['coroutine 2'], self.begun, reason)
            self.slots.release('s')
            if reason == 'full':
                self.assertEqual(['coroutine 2', 'long', 'a'], self.finish())
            self.assertTrue(self.request('coroutine 3'), reason)
            self.threads.clear()

    def test_requests_of_a_stuck_loop_are_granted_without_slots(self):
        self.make_pool(service=1)
        stuck, begun = object(), self.begun
        self.request('first')
        request = SlotRequest(lambda: begun.append('stuck') is None, stuck)
        self.slots.take('s', request)
        self.request('next')

        self.slots.dismiss(stuck)

        self.assertEqual((['stuck'], False), (begun, request.is_counted))
        self.slots.release('s')
        self.assertEqual(['stuck', 'next'], begun)
