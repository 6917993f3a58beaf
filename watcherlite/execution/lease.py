"""The lease of a worker, which owns its actions as long as it renews it."""

import logging
import os
import pathlib
import socket
import threading
import uuid
from typing import Protocol

from watcherlite import exceptions
from watcherlite.execution.services import CoreServices

LOG = logging.getLogger(__name__)

#: Part of the lease after which a worker that could not renew it stops itself:
#: the rest is for clocks that run apart and for a write that is on its way.
SAFE = 0.8


class LeaseObserver(Protocol):
    """Hears of the end of a lease."""

    def on_lease_lost(self) -> None:
        """Stop: other workers take the actions over."""


class Lease:
    """The lease of one worker: renewed in time, and how long it may still write.

    The store counts by its own clock from when the renewal reaches it; this
    worker counts from before it asked, so that it always stops first.

    :param observer: hears of its end, in the thread that finds it
    """

    def __init__(self, services: CoreServices, observer: LeaseObserver) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._seconds = services.settings.lease
        self._clock = services.clock
        self._observer = observer
        self._until = self._clock.monotonic() + self._seconds * SAFE
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

    def report_loss(self) -> None:
        """Tell the observer that the lease is over."""
        self._observer.on_lease_lost()

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
                self.report_loss()
                return

    def _wait(self, seconds: float) -> bool:
        """Wait so long; False when stopped."""
        seconds = min(seconds, max(0.05, self.left()))
        with self._condition:
            if not self._stopped:
                self._clock.wait(self._condition, seconds)
            return not self._stopped


def new_uuid() -> str:
    """Return the uuid of a worker: new with each start."""
    return str(uuid.uuid4())


def of_process(pid: int | None = None) -> str:
    """Return a text that names a process and no other one, ever.

    `MACHINE/PID-NAMESPACE/PID/START`: the boot of the machine, the namespace in
    which the pid counts (containers may share a host name), the pid, and the
    start of the process, because pids are used again.
    """
    pid = os.getpid() if pid is None else pid
    return f'{_place()}/{pid}/{_start(pid)}'


def is_gone(identity: str) -> bool:
    """Return whether the process of that identity certainly runs no more.

    False also where this machine cannot tell, such as for other machines.
    """
    place, _, rest = identity.partition('/pid/')
    pid, _, start = rest.partition('/')
    if f'{place}/pid' != _place() or not pid.isdigit() or start == '?':
        return False
    return _start(int(pid)) not in (start, '?')


def _place() -> str:
    try:
        boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
        namespace = os.readlink('/proc/self/ns/pid')
    except OSError:
        # No such files on this system: nobody else's identity looks like ours.
        boot, namespace = socket.gethostname(), f'unknown-{uuid.uuid4()}'
    return f'{boot}/{namespace}/pid'


def _start(pid: int) -> str:
    """Return when a process was started, in ticks since boot.

    '' if it is gone, '?' if that cannot be told.
    """
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return '?' if _is_hidden(pid) else ''
    except OSError:
        return '?'
    # The second field is the command in parentheses, which may hold anything.
    state, *others = stat.rpartition(')')[2].split()
    # One that its parent has not taken notice of runs no more.
    return '' if state in 'ZX' else others[18]


def _is_hidden(pid: int) -> bool:
    """Return whether a process exists that `/proc` does not show.

    With `hidepid`, which is what `ProtectProc=` of systemd sets, it shows only those
    of the same user; signal 0 tells of all (proc(5)).
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
