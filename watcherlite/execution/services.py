"""The services, settings and timers that the parts of a worker share."""

import dataclasses
import heapq
import itertools
import logging
import threading
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(slots=True)
class ExecutionSettings:
    """The settings of the options of the same names; times are seconds unless stated.

    One object is shared by all parts of a worker, so that a reload reaches them.

    :param look_ahead: the largest number of actions to prefetch
    :param linger: the time for which the committer collects changes while threads
        still produce them
    :param max_coroutines: number of coroutines of plugins in the event loop
    :param max_per_service: concurrent calls of the worker to one service
    :param quick: the largest average duration of the preparation of an action type
        for a dependent to start in the transaction of its parent's end
    :param action_log_retention: days; 0 disables the purge of logs
    """

    max_parallel: int = 8
    claim_batch: int = 512
    lease: float = 30.0
    sweep_interval: float = 10.0
    max_attempts: int = 5
    signal_grace: float = 5.0
    default_action_timeout: int = 3600
    look_ahead: int = 64
    linger: float = 0.02
    quick: float = 0.005
    max_coroutines: int = 1000
    max_per_service: int = 200
    max_probes: int = 64
    max_probes_per_cluster: int = 16
    max_probes_per_project: int = 32
    max_action_log: int = 1048576
    action_log_retention: float = 30.0

    def update(self, other: 'ExecutionSettings') -> None:
        """Copy the mutable values of `other`."""
        for name in MUTABLE:
            setattr(self, name, getattr(other, name))


#: The options that are mutable.
MUTABLE = (
    'claim_batch',
    'sweep_interval',
    'max_attempts',
    'signal_grace',
    'max_coroutines',
    'default_action_timeout',
    'max_action_log',
    'action_log_retention',
)


class Timers:
    """Calls functions at their times, one after another, in a thread of its own.

    The functions return quickly. An exception is logged, and does not stop the others.
    """

    def __init__(self, clock: Clock, name: str = 'timers') -> None:
        self._clock = clock
        self._name = name
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._condition = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, function: Callable[[], None]) -> None:
        """Call `function` once, in `seconds`."""
        when = self._clock.monotonic() + seconds
        with self._condition:
            heapq.heappush(self._heap, (when, next(self._numbers), function))
            if self._heap[0][0] == when:
                self._condition.notify()

    def every(self, seconds: float, function: Callable[[], None]) -> None:
        """Call `function` periodically."""

        def tick() -> None:
            try:
                function()
            finally:
                self.after(seconds, tick)

        self.after(seconds, tick)

    def run_due(self) -> float | None:
        """Call the due functions; return the seconds until the next, or None."""
        while True:
            with self._condition:
                if not self._heap:
                    return None
                left = self._heap[0][0] - self._clock.monotonic()
                if left > 0 or self._stopped:
                    return left
                function = heapq.heappop(self._heap)[2]
            try:
                function()
            except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
                LOG.warning('%s; the next sweep tries again', error)
            except Exception:
                LOG.exception('A timer failed; the next sweep tries again')

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self.run, name=self._name, daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Stop the thread, and drop all timers."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def run(self) -> None:
        """Call due functions until `stop`."""
        while not self._stopped:
            self.run_due()
            with self._condition:
                if self._stopped:
                    return
                left = None
                if self._heap:
                    left = self._heap[0][0] - self._clock.monotonic()
                if left is None or left > 0:
                    self._clock.wait(self._condition, left)


@dataclasses.dataclass(slots=True)
class CoreServices:
    """The store, the clock, the settings and the timers of one worker.

    :param worker_id: uuid of the worker, the owner of the actions that it claims
    :ivar timers: of functions that do not use the store
    :ivar chores: of functions that may use it
    """

    store: Store
    clock: Clock
    settings: ExecutionSettings
    worker_id: str
    timers: Timers = dataclasses.field(init=False)
    chores: Timers = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.timers = Timers(self.clock, 'timers')
        self.chores = Timers(self.clock, 'chores')
