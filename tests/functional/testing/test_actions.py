"""Signals from another thread to an action that is executed."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from tests.unit.testing.test_actions import kind
from watcherlite import testing


class TestSignals(base.TestCase):
    def test_a_test_may_send_signals_from_another_thread(self):
        context = testing.FakeContext()
        signalled = threading.Event()

        def execute(self, context):
            with context.on_signal(lambda signal: signalled.set()):
                threading.Thread(target=context.send, args=('CANCEL',)).start()
                signalled.wait(TIMEOUT)
                context.checkpoint()

        result = testing.run_action(kind(execute=execute), {}, context=context)

        self.assertEqual('CANCELLED', result.status)
