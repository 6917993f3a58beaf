"""Warnings about rejected messages: one at a time, however many messages there are."""

import logging
import threading
import time
from collections.abc import Callable

from watcherlite import exceptions

LOG = logging.getLogger(__name__)

#: Seconds between two warnings.
INTERVAL = 60.0


class RejectionLog:
    """Logs rejected messages, at most one every INTERVAL seconds; thread-safe.

    Otherwise a client of the broker could fill the disk with warnings. All are
    counted, see `bus.BusCounters`.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._next = monotonic()
        self._omitted = 0

    def report(self, what: str, error: exceptions.Invalid) -> None:
        """Log a rejected message, unless another was logged within INTERVAL.

        :param what: the start of the line: 'A broadcast'
        """
        with self._lock:
            now = self._monotonic()
            if now < self._next:
                self._omitted += 1
                return
            self._next = now + INTERVAL
            omitted, self._omitted = self._omitted, 0
        more = f' ({omitted} more were rejected since the last warning)'
        LOG.warning('%s was rejected: %s%s', what, error, more if omitted else '')
