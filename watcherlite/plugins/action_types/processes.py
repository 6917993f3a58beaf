"""One command with its child processes, from start to end.

It runs in a session and process group of its own. Its output is read while it runs,
however much there is, so that it never blocks on a full pipe. When the action is
cancelled or timed out, the whole group is sent SIGTERM and, if necessary, SIGKILL.
`guard` does the same when this process ends unexpectedly.
"""

import contextlib
import dataclasses
import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, cast

from watcherlite.domain.actions import STDERR, STDOUT
from watcherlite.plugins.action_types import guard
from watcherlite.plugins.base import ActionContext
from watcherlite.plugins.capture import Capture, LineReader
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: The prefix of the variables that identify a command.
MARKER = 'WATCHERLITE_'
_CHUNK = 65536
#: Reads per stream after the end: more than a pipe can hold. Any later output comes
#: from a process that the command left behind, and might never end.
_LAST_READS = 32
#: Maximum seconds between two checks of signals and the deadline.
_SLICE = 5.0
#: The same on systems that cannot report the end of a process.
_FIRST_SLICE, _LAST_SLICE = 0.01, 0.25
#: Seconds to wait for a killed process; only a blocked driver takes longer.
_REAP = 5.0


@dataclasses.dataclass(frozen=True, slots=True)
class ExitResult:
    """The result of a command; a negative exit code is the signal that ended it."""

    exit_code: int
    stdout: Capture
    stderr: Capture


def pidfd(pid: int) -> int | None:
    """Return a descriptor that is readable once the process has ended, or None."""
    opener = getattr(os, 'pidfd_open', None)
    if opener is None:
        return None
    try:
        return cast(int, opener(pid))
    except OSError:
        # An old kernel, or a sandbox that blocks the call
        return None


def run(
    context: ActionContext,
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: str,
    stdin: str | None,
    max_output: int,
    kill_grace: float,
    descriptor: Callable[[int], int | None] = pidfd,
) -> ExitResult:
    """Run a command and return its result; its child processes may survive.

    :param max_output: bytes to store of each stream
    :param kill_grace: seconds between SIGTERM and SIGKILL
    :param descriptor: a replacement for `pidfd`
    :raises OSError, ValueError: it cannot be started
    :raises Cancelled, TimedOut: from the context; the group has been terminated
    """
    marks = [f'{k}={v}' for k, v in environment.items() if k.startswith(MARKER)]
    with _GUARDING.run(marks) as started:
        with _input(stdin) as source:
            context.fence()
            process = subprocess.Popen(  # noqa: S603  # nosec B603  # the caller has an allow-list
                list(argv),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd=directory,
                start_new_session=True,
            )
        watch = _supervise(process, started, descriptor, max_output, context)
        try:
            watch.wait_for_exit(context)
            watch.read_remaining()
        except BaseException:
            watch.kill(kill_grace)
            raise
        finally:
            watch.close()
        return ExitResult(process.wait(), watch.stdout, watch.stderr)


def _supervise(
    process: subprocess.Popen[bytes],
    started: Callable[[int], None],
    descriptor: Callable[[int], int | None],
    max_output: int,
    context: ActionContext,
) -> '_Watch':
    """Return the supervision of a process; kill it if that fails.

    :param started: called with the process group of the command
    """
    ended = None
    try:
        started(process.pid)
        ended = descriptor(process.pid)
        return _Watch(process, max_output, ended, context)
    except BaseException:
        # Out of descriptors, most likely: do not leave a command running unguarded.
        os.killpg(process.pid, signal.SIGKILL)
        # Waits, and closes the pipes.
        process.communicate()
        if ended is not None:
            os.close(ended)
        raise


class GuardProcess:
    """The guard process of this process, which ends the commands of a lost worker.

    It is started with the first command, and again if it has ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guard: subprocess.Popen[bytes] | None = None
        self._runs: dict[str, dict[str, Any]] = {}
        # A forked child must not keep the pipe of its parent open.
        os.register_at_fork(after_in_child=self._forget)

    @contextlib.contextmanager
    def run(self, marks: Sequence[str]) -> Iterator[Callable[[int], None]]:
        """Guard a command; call the yielded function with its process group.

        :param marks: entries of its environment that identify it until then
        """
        run = uuid.uuid4().hex

        def started(group: int) -> None:
            self._send(run, {'run': run, 'group': group})

        self._send(run, {'run': run, 'marks': list(marks)})
        try:
            yield started
        finally:
            self._send(run, {'run': run})

    def _send(self, run: str, message: dict[str, Any]) -> None:
        with self._lock:
            if len(message) > 1:
                self._runs[run] = {**self._runs.get(run, {}), **message}
            else:
                self._runs.pop(run, None)
            try:
                self._write([message])
            except OSError:
                # The guard has ended, for example because all processes were killed.
                if self._guard is not None:
                    self._guard.wait()
                self._guard = None
                if self._runs:
                    self._write(list(self._runs.values()))

    def _write(self, messages: Sequence[dict[str, Any]]) -> None:
        if self._guard is None:
            self._guard = subprocess.Popen(  # noqa: S603  # nosec B603  # it is our own
                [sys.executable, '-I', '-S', guard.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd='/',
                bufsize=0,
                start_new_session=True,
            )
        pipe = cast(IO[bytes], self._guard.stdin)
        pipe.write(''.join(f'{json.dumps(m)}\n' for m in messages).encode())

    def _forget(self) -> None:
        if self._guard is not None:
            cast(IO[bytes], self._guard.stdin).close()
            # It is not a child of this process.
            self._guard.returncode = 0
        self._lock, self._guard, self._runs = threading.Lock(), None, {}


_GUARDING = GuardProcess()


def _input(text: str | None) -> IO[bytes]:
    """Return the standard input of a command: the text, or nothing."""
    if text is None:
        return open(os.devnull, 'rb')
    data = text.encode()
    # A file, not a pipe: no thread has to feed a command that reads slowly.
    source = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    source.write(data)
    source.seek(0)
    return source


class _WakeupPipe:
    """A wake-up of a selector by another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)
        self._closed = False

    def wake(self, signal_name: str) -> None:
        """Wake the selector; no-op once it is closed."""
        if signal_name == states.RESUME:
            return
        # The number of a closed descriptor may have been reused.
        with self._lock:
            if not self._closed:
                try:
                    os.write(self._writer, b'!')
                except BlockingIOError:
                    LOG.debug('A wake-up is already pending')

    def was_woken(self) -> bool:
        """Return whether it was rung since the last call."""
        try:
            return bool(os.read(self.reader, _CHUNK))
        except BlockingIOError:
            return False

    def close(self) -> None:
        with self._lock:
            self._closed = True
            os.close(self.reader)
            os.close(self._writer)


class _Watch:
    """The supervision of a process: its output, its end, signals and the deadline."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        max_output: int,
        ended: int | None,
        context: ActionContext,
    ) -> None:
        self._process = process
        self._context = context
        self.stdout = Capture(max_output)
        self.stderr = Capture(max_output)
        #: descriptor -> the pipe, what is stored of it, its lines and their stream
        self._streams: dict[int, tuple[IO[bytes], Capture, LineReader, str]] = {}
        self._selector = selectors.DefaultSelector()
        self._bell = _WakeupPipe()
        self._selector.register(self._bell.reader, selectors.EVENT_READ)
        for stream, capture, name in (
            (process.stdout, self.stdout, STDOUT),
            (process.stderr, self.stderr, STDERR),
        ):
            pipe = cast(IO[bytes], stream)
            os.set_blocking(pipe.fileno(), False)
            self._streams[pipe.fileno()] = (pipe, capture, LineReader(), name)
            self._selector.register(pipe.fileno(), selectors.EVENT_READ)
        self._pidfd = ended
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)
        self._slice = _FIRST_SLICE

    def wait_for_exit(self, context: ActionContext) -> None:
        """Return when the process has ended; handle signals and the deadline."""
        with context.on_signal(self._bell.wake):
            while not self._has_ended():
                left = context.remaining()
                self._wait(_SLICE if left is None else min(left, _SLICE))
                if self._bell.was_woken():
                    self._pause(context)
                else:
                    context.checkpoint()

    def read_remaining(self) -> None:
        """Read the remaining output of a process that has ended."""
        for _ in range(_LAST_READS):
            reads = [self._read(number) for number in list(self._streams)]
            if not any(reads):
                return

    def kill(self, grace: float) -> None:
        """Terminate the whole group: SIGTERM, then SIGKILL."""
        self._selector.unregister(self._bell.reader)
        self._send(signal.SIGTERM)
        # A stopped process does not handle SIGTERM.
        self._send(signal.SIGCONT)
        deadline = time.monotonic() + grace
        # Open pipes mean that children are still running.
        while not self._has_ended() or self._streams:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._wait(left)
        self._send(signal.SIGKILL)
        try:
            self._process.wait(_REAP)
        except subprocess.TimeoutExpired:
            LOG.error(
                'Process %s does not end after SIGKILL; check the system. Its action '
                'ends anyway.',
                self._process.pid,
            )

    def close(self) -> None:
        """Log unfinished lines, and close all descriptors."""
        for _, _, lines, name in self._streams.values():
            self._log(lines.finish(), name)
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            cast(IO[bytes], stream).close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._bell.close()

    def _has_ended(self) -> bool:
        """Return whether the process has ended, without reaping it.

        Until it is reaped its pid cannot be reused: a signal to its group cannot hit
        another process.
        """
        if self._process.returncode is not None:
            return True
        if not hasattr(os, 'waitid'):
            return self._process.poll() is not None
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, options) is not None

    def _wait(self, seconds: float) -> None:
        if self._pidfd is None:
            seconds = min(seconds, self._slice)
            self._slice = min(self._slice * 2, _LAST_SLICE)
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.fd in self._streams:
                self._read(key.fd)
            elif key.fd == self._pidfd:
                # It stays readable, and would wake every later wait.
                self._selector.unregister(key.fd)

    def _read(self, number: int) -> bool:
        """Read once; return False if nothing is available."""
        pipe, capture, lines, stream = self._streams[number]
        try:
            data = os.read(number, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(number)
            del self._streams[number]
            pipe.close()
            self._log(lines.finish(), stream)
            return False
        capture.add(data)
        self._log(lines.feed(data), stream)
        return True

    def _log(self, text: str, stream: str) -> None:
        if text:
            self._context.log(text, stream)

    def _pause(self, context: ActionContext) -> None:
        """Stop the group while the context handles a suspension."""
        self._send(signal.SIGSTOP)
        try:
            context.checkpoint()
        finally:
            self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            LOG.debug('Process group %s has ended already', self._process.pid)
        except PermissionError:
            LOG.warning(
                'Process group %s now belongs to another user and cannot be sent %s; '
                'it may continue',
                self._process.pid,
                number.name,
            )
