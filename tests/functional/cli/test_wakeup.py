"""Wakes from another thread."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from watcherlite.cli.wakeup import Wake


class WakeTest(base.TestCase):
    def test_another_thread_ends_the_wait(self):
        wake = Wake()
        thread = threading.Thread(target=wake.now)
        thread.start()

        wake.wait(TIMEOUT)
        thread.join()
