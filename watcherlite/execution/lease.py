"""The lease of a worker: who renews it owns what it has taken."""

import logging
import threading
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store

LOG = logging.getLogger(__name__)

#: Part of the lease after which a worker that could not renew it stops itself:
#: the rest is for clocks that run apart and for a write that is on its way.
SAFE = 0.8


class Lease:
    """Renews one row, and knows how long this worker may still write.

    The store counts by its own clock from when the renewal reaches it; this
    worker counts from before it asked, so that it always stops first.

    :param lost: called once, in the lease's thread, when the lease is over
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        seconds: float,
        clock: Clock,
        lost: Callable[[], None],
    ) -> None:
        self._store = store
        self._worker = worker
        self._seconds = seconds
        self._clock = clock
        self._lost = lost
        self._until = clock.monotonic() + seconds * SAFE
        self._condition = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def left(self) -> float:
        """Return for how many seconds this worker may still write; 0 or less: none."""
        return self._until - self._clock.monotonic()

    def renew(self) -> bool:
        """Renew it once; False if it is over, as the store sees it."""
        asked = self._clock.monotonic()
        if not self._store.renew_lease(self._worker, self._seconds):
            self._until = asked
            return False
        self._until = asked + self._seconds * SAFE
        return True

    def start(self) -> None:
        """Renew it in a thread of its own, which nothing else can hold up."""
        self._thread = threading.Thread(target=self._loop, name='lease', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Renew it no more."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self._seconds)

    def _loop(self) -> None:
        while self._wait(self._seconds / 4):
            try:
                kept = self.renew()
            except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
                kept = self.left() > 0
                LOG.warning(
                    'The lease of worker %s could not be renewed: %s; %.1f s are left',
                    self._worker,
                    error,
                    max(0.0, self.left()),
                )
            if not kept:
                LOG.error(
                    'The lease of worker %s is over; it stops, and others take '
                    'over its actions',
                    self._worker,
                )
                self._lost()
                return

    def _wait(self, seconds: float) -> bool:
        """Wait so long; False when stopped."""
        seconds = min(seconds, max(0.05, self.left()))
        with self._condition:
            if not self._stopped:
                self._clock.wait(self._condition, seconds)
            return not self._stopped
