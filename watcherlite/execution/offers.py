"""Work that a worker has found and does not take at once, offered to others."""

import math
import threading
from collections.abc import Callable, Iterable

from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain import commands
from watcherlite.execution.scheduling import Scheduler

#: Seconds between two offers.
EVERY = 0.05
#: Seconds for which a worker believes that it is alone, or that it is not.
ALONE = 1.0


class Offers:
    """Gathers what one worker has to offer, and tells the others, if there are any.

    :param worker: uuid of the worker that offers
    :param tell: broadcasts to the other workers; never blocks
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        scheduler: Scheduler,
        clock: Clock,
        tell: Callable[[commands.WorkAvailable], None],
    ) -> None:
        self._store = store
        self._worker = worker
        self._scheduler = scheduler
        self._clock = clock
        self._tell = tell
        self._lock = threading.Lock()
        self._plans: set[str] = set()
        self._lanes: set[str] = set()
        self._sending = False
        self._alone = True
        self._alone_until = -math.inf

    def add(self, plans: Iterable[str] = (), lanes: Iterable[str] = ()) -> None:
        """Tell, soon, that plans (uuids) and lanes have work; from any thread."""
        with self._lock:
            self._plans.update(plans)
            self._lanes.update(lanes)
            if self._sending or not (self._plans or self._lanes):
                return
            self._sending = True
        self._scheduler.after(EVERY, self._send)

    def is_alone(self) -> bool:
        """Say whether there was, a moment ago, nobody to share with.

        Asks the store; for the scheduler's thread.
        """
        now = self._clock.monotonic()
        if now >= self._alone_until:
            self._alone_until = now + ALONE
            self._alone = all(
                worker.uuid == self._worker for worker in self._store.live_workers()
            )
        return self._alone

    def _send(self) -> None:
        left = self._alone_until - self._clock.monotonic()
        if self._alone and left > 0:
            # Somebody may have come since, and would not hear of it otherwise.
            self._scheduler.after(left, self._send)
            return
        with self._lock:
            self._sending = False
            plans, self._plans = self._plans, set()
            lanes, self._lanes = self._lanes, set()
        if not self.is_alone():
            self._tell(
                commands.WorkAvailable(tuple(sorted(plans)), tuple(sorted(lanes)))
            )
