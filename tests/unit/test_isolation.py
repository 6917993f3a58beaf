"""The operations that `tests.base` rejects in unit tests."""

import concurrent.futures
import threading

from tests import base


class NoThreadsTest(base.TestCase):
    def test_threads_timers_and_pools_do_not_start(self) -> None:
        ran: list[str] = []
        thread = threading.Thread(target=ran.append, args=('thread',), name='one')
        timer = threading.Timer(0, ran.append, ('timer',))
        timer.name = 'two'
        pool = concurrent.futures.ThreadPoolExecutor(1, 'three')
        for name, start in (
            ('one', thread.start),
            ('two', timer.start),
            ('three_0', lambda: pool.submit(ran.append, 'pool')),
        ):
            with self.subTest(name):
                self.assertEqual(
                    f'A unit test tried to start the thread {name}. Tests that need '
                    'threads belong to tests/functional.',
                    str(self.assertRaises(AssertionError, start)),
                )
        self.assertEqual([], ran)
