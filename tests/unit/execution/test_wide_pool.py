"""The wide pool: limits and shares."""

from tests import base
from watcherlite.execution.pool import CLUSTER, PROJECT, WidePool
from watcherlite.execution.services import ExecutionSettings


class TestWidePool(base.TestCase):
    def setUp(self):
        super().setUp()
        self.threads = []
        self.begun = []
        self.jobs = {}

    def make_pool(self, size=8, cluster=8, project=8):
        settings = ExecutionSettings(
            max_probes=size,
            max_probes_per_cluster=cluster,
            max_probes_per_project=project,
        )
        # A started thread is a function that the test calls.
        return WidePool(settings, self.threads.append)

    def submit(self, pool, name, cluster='c', project='p'):
        self.jobs[name] = lambda: self.begun.append(name)
        pool.submit(self.jobs[name], ((CLUSTER, cluster), (PROJECT, project)))

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
