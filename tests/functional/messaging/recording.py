"""Handlers that record their messages, for tests to wait for."""

import threading

from tests.bounded import TIMEOUT


class Recorder:
    """Records messages in `seen`, in order.

    :param answer: called with each message; may raise what a handler may raise
    """

    def __init__(self, answer=None):
        self.seen = []
        self._answer = answer
        self._arrived = threading.Condition()

    def command(self, lane, message):
        self._record((lane, message))

    def control(self, message):
        self._record(message)

    def notification(self, routing_key, body):
        self._record((routing_key, body))

    def failure(self, error):
        self._record(error)

    def wait_for(self, count, timeout=TIMEOUT):
        """Return the messages once there are `count`, or those that arrived in time."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self.seen) >= count, timeout)
            return list(self.seen)

    def _record(self, item):
        with self._arrived:
            self.seen.append(item)
            self._arrived.notify_all()
        if self._answer is not None:
            self._answer(item)


def broken(item):
    """Raise an error, as a handler with a defect does."""
    raise RuntimeError('the handler of the test fails')
