"""The clock of the database, for all times that are stored or compared with these.

Hosts whose clocks differ share deadlines, schedules and leases. They use the clock of
the database, which each process measures at its start and periodically after that.
Between two measurements it uses its monotonic clock, so that a step of the clock of the
host has no effect.
"""

import datetime
import logging
import threading
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.clock import Clock

LOG = logging.getLogger(__name__)

#: Seconds between two measurements.
INTERVAL = 10.0
#: Seconds to wait at the end for a measurement in progress.
STOP_TIMEOUT = 1.0
#: Seconds to which the database may round its time.
RESOLUTION = 0.002
#: Seconds of difference to the clock of the host that cause a warning.
NOTABLE = 1.0


class DatabaseClock:
    """Implementation of `watcherlite.clock.Clock` with the time of the database.

    Thread-safe. Before the first measurement `now` returns the time of the host.

    :param host: the clock of this host
    :param ask: returns the time of the database; may raise StoreUnavailable
    """

    def __init__(self, host: Clock, ask: Callable[[], datetime.datetime]) -> None:
        self._host = host
        self._ask = ask
        #: A time, and the monotonic time of that moment.
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
        return _extrapolate(anchor, self._host.monotonic())

    def monotonic(self) -> float:
        """Return seconds that never decrease."""
        return self._host.monotonic()

    def wait(self, condition: threading.Condition, timeout: float | None) -> bool:
        """Wait on a held condition; return False after `timeout` seconds."""
        return self._host.wait(condition, timeout)

    def measure(self) -> None:
        """Query the time of the database, and adopt it if it differs.

        A difference within the duration of the query is ignored, so that `now` does not
        move back and forth with each measurement.

        :raises StoreUnavailable: the database does not answer
        """
        before = self._host.monotonic()
        measured = self._ask()
        after = self._host.monotonic()
        middle = (before + after) / 2
        host = self._host.now()
        anchor = self._anchor or (host, after)
        drift = (measured - _extrapolate(anchor, middle)).total_seconds()
        if abs(drift) > (after - before) / 2 + RESOLUTION:
            anchor = measured, middle
        self._anchor = anchor
        self._warn((measured - host).total_seconds() + after - middle)

    def _warn(self, difference: float) -> None:
        """Log a difference to the clock of the host, once until it changes."""
        if abs(difference - self._warned) <= NOTABLE:
            return
        if abs(difference) > NOTABLE:
            LOG.warning(
                'The clock of this host differs from the clock of the database by '
                '%.1f s. Actions use the clock of the database; synchronize the clock '
                'of the host, for example by NTP, so that log lines can be compared',
                -difference,
            )
        self._warned = difference

    def start(self) -> None:
        """Measure now, and start a thread that measures periodically.

        :raises StoreUnavailable: the database does not answer
        """
        if self._thread is not None:
            return
        self.measure()
        self._thread = threading.Thread(target=self._loop, name='clock', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; `now` continues by the monotonic clock."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT)

    def _loop(self) -> None:
        while self._wait():
            try:
                self.measure()
            except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
                LOG.debug('The clock of the database cannot be measured: %s', error)
            except Exception:
                LOG.exception('Measuring the clock of the database failed; retrying')

    def _wait(self) -> bool:
        """Wait until the next measurement; return False after `stop`."""
        with self._condition:
            if not self._stopped:
                self._host.wait(self._condition, INTERVAL)
            return not self._stopped


def _extrapolate(
    anchor: tuple[datetime.datetime, float], monotonic: float
) -> datetime.datetime:
    time, at = anchor
    return time + datetime.timedelta(seconds=monotonic - at)
