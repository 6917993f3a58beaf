"""The lease of a worker, which owns its actions while it renews the lease."""

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

#: Part of the lease after which a worker that could not renew it stops. The rest is
#: a margin for clock drift and for a write in progress.
SAFE = 0.8


class LeaseObserver(Protocol):
    """Observes the end of a lease."""

    def on_lease_lost(self) -> None:
        """Stop: other workers take the actions over."""


class Lease:
    """The lease of one worker.

    The store counts its time from the arrival of the renewal; the worker counts
    from before the request, so that it always stops first.

    :param observer: notified of the end, in the thread that detects it
    """

    def __init__(self, services: CoreServices, observer: LeaseObserver) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._seconds = services.settings.lease
        self._clock = services.clock
        self._observer = observer
        self._until = self._clock.monotonic() + self._seconds * SAFE
        self._is_lost = False
        self._condition = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def seconds_left(self) -> float:
        """Return the seconds for which this worker may write; 0 or less: not at all.

        Once it is 0 or less, it remains so. Otherwise a late renewal would permit to
        write what came of the interruption, such as the failure of an action whose
        plugin was stopped by a fence.
        """
        left = self._remaining()
        if left <= 0:
            self._is_lost = True
        return min(left, 0.0) if self._is_lost else left

    def _remaining(self) -> float:
        return self._until - self._clock.monotonic()

    def renew(self) -> bool:
        """Renew the lease; return False if it has expired, here or in the store."""
        if self._is_lost:
            return False
        requested = self._clock.monotonic()
        if not self._store.renew_lease(self._worker, self._seconds):
            self._until = requested
            return False
        self._until = requested + self._seconds * SAFE
        return True

    def report_loss(self) -> None:
        """Notify the observer that the lease has expired."""
        self._observer.on_lease_lost()

    def start(self) -> None:
        """Start the thread that renews the lease, which nothing else can delay."""
        self._thread = threading.Thread(target=self.run, name='lease', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing the lease."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(self._seconds)

    def run(self) -> None:
        """Renew the lease until `stop`, or until it is lost."""
        while self._wait(self._seconds / 4):
            try:
                kept = self.renew()
            except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
                kept = self.seconds_left() > 0
                LOG.warning(
                    'The lease of worker %s could not be renewed: %s; %.1f s remain',
                    self._worker,
                    error,
                    max(0.0, self.seconds_left()),
                )
            if not kept:
                LOG.error(
                    'The lease of worker %s has expired; it stops, and others take '
                    'over its actions',
                    self._worker,
                )
                self.report_loss()
                return

    def _wait(self, seconds: float) -> bool:
        """Wait for `seconds`; return False when stopped."""
        seconds = min(seconds, max(0.05, self._remaining()))
        with self._condition:
            if not self._stopped:
                self._clock.wait(self._condition, seconds)
            return not self._stopped


def process_identity(pid: int | None = None) -> str:
    """Return the identity of a process, which is unique forever.

    `BOOT/PID-NAMESPACE/pid/PID/START`: the boot of the machine, the namespace of the
    pid (containers may share a host name), the pid, and the start of the process,
    because pids are reused.
    """
    pid = os.getpid() if pid is None else pid
    return f'{_namespace_identity()}/{pid}/{_start(pid)}'


def is_gone(identity: str) -> bool:
    """Return whether the process of an identity does not exist any more.

    It returns False if this is not known, for example for other machines.
    """
    place, _, rest = identity.partition('/pid/')
    pid, _, start = rest.partition('/')
    if f'{place}/pid' != _namespace_identity() or not pid.isdigit() or start == '?':
        return False
    return _start(int(pid)) not in (start, '?')


def _namespace_identity() -> str:
    try:
        boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
        namespace = os.readlink('/proc/self/ns/pid')
    except OSError:
        # This system has no such files: make an identity that no other process has.
        boot, namespace = socket.gethostname(), f'unknown-{uuid.uuid4()}'
    return f'{boot}/{namespace}/pid'


def _start(pid: int) -> str:
    """Return the start of a process in ticks since boot.

    It is '' if the process does not exist, and '?' if that is not known.
    """
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return '?' if _is_hidden(pid) else ''
    except OSError:
        return '?'
    # The second field is the command in parentheses, which may contain any character.
    state, *others = stat.rpartition(')')[2].split()
    # A zombie does not run any more.
    return '' if state in 'ZX' else others[18]


def _is_hidden(pid: int) -> bool:
    """Return whether a process exists that `/proc` hides.

    With `hidepid`, set by `ProtectProc=` of systemd, `/proc` shows only the processes
    of the same user; signal 0 reaches all (proc(5)).
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
