"""The time of the database, for all that is stored and compared with what is stored.

Hosts whose clocks differ share deadlines, schedules and the times of leases. They count
by the clock of the database, which each process measures at its start and then again
and again; between two measurements it counts on by its monotonic clock, so that a step
of the host's clock changes nothing.
"""

import datetime
import logging
import threading
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.clock import Clock

LOG = logging.getLogger(__name__)

#: Seconds between two measurements.
EVERY = 10.0
#: Seconds to wait for a measurement that is under way when it stops.
CLOSING = 1.0
#: Seconds by which the database may round its answer.
RESOLUTION = 0.002
#: Seconds of difference to the host's clock that are worth a warning.
NOTABLE = 1.0


class DatabaseClock:
    """Implements `watcherlite.clock.Clock`; its `now` is the time of the database.

    Safe for threads. Before the first measurement `now` is the time of the host.

    :param host: the clock of this host
    :param ask: returns the time of the database; may raise StoreUnavailable
    """

    def __init__(self, host: Clock, ask: Callable[[], datetime.datetime]) -> None:
        self._host = host
        self._ask = ask
        #: A time, and what the monotonic clock showed at that time.
        self._anchor: tuple[datetime.datetime, float] | None = None
        self._warned = 0.0
        self._condition = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def now(self) -> datetime.datetime:
        """Return the time of the database, aware, in UTC."""
        anchor = self._anchor
        if anchor is None:
            return self._host.now()
        return _counted_on(anchor, self._host.monotonic())

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return self._host.monotonic()

    def wait(self, condition: threading.Condition, timeout: float | None) -> bool:
        """Wait on a held condition; False when `timeout` seconds passed first."""
        return self._host.wait(condition, timeout)

    def measure(self) -> None:
        """Ask the database for its time, and count from there if it differs.

        What the question may have taken is no difference: `now` does not move back and
        forth with each measurement.

        :raises StoreUnavailable: the database does not answer
        """
        before = self._host.monotonic()
        told = self._ask()
        after = self._host.monotonic()
        middle = (before + after) / 2
        host = self._host.now()
        anchor = self._anchor or (host, after)
        drift = (told - _counted_on(anchor, middle)).total_seconds()
        if abs(drift) > (after - before) / 2 + RESOLUTION:
            anchor = told, middle
        self._anchor = anchor
        self._warn((told - host).total_seconds() + after - middle)

    def _warn(self, difference: float) -> None:
        """Warn of a difference to the host's clock, once as long as it stays."""
        if abs(difference - self._warned) <= NOTABLE:
            return
        if abs(difference) > NOTABLE:
            LOG.warning(
                'The clock of this host differs from that of the database by %.1f s. '
                "The database's counts for actions; set the clock right, for example "
                'by NTP, so that log lines can be compared',
                -difference,
            )
        self._warned = difference

    def start(self) -> None:
        """Measure now, and from now on in a thread; raises StoreUnavailable."""
        if self._thread is not None:
            return
        self.measure()
        self._thread = threading.Thread(target=self._loop, name='clock', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Measure no more; `now` counts on."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSING)

    def _loop(self) -> None:
        while self._wait():
            try:
                self.measure()
            except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
                LOG.debug('The clock is not compared this time: %s', error)
            except Exception:
                LOG.exception('The clock could not be compared; it counts on')

    def _wait(self) -> bool:
        """Wait until the next measurement; False when stopped."""
        with self._condition:
            if not self._stopped:
                self._host.wait(self._condition, EVERY)
            return not self._stopped


def _counted_on(
    anchor: tuple[datetime.datetime, float], monotonic: float
) -> datetime.datetime:
    time, at = anchor
    return time + datetime.timedelta(seconds=monotonic - at)
