"""Threads that use one store in memory."""

import concurrent.futures
import threading

from tests import base
from tests.bounded import TIMEOUT
from tests.factories import make_action, store_actions
from watcherlite.testing import MemoryStore


class MemoryStoreTest(base.TestCase):
    def test_threads_take_turns(self) -> None:
        store = MemoryStore()
        self.addCleanup(store.close)
        barrier = threading.Barrier(4)

        def insert() -> None:
            barrier.wait(TIMEOUT)
            for _ in range(10):
                store_actions(store, make_action())
                store.list_actions(limit=1)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for future in [pool.submit(insert) for _ in range(4)]:
                future.result(TIMEOUT)
        self.assertEqual(40, len(store.list_actions()))
