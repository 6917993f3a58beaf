"""One command with all that it starts, from its start to its end.

It runs in a session and a process group of its own. Its output is read for as
long as it runs, however much there is, so that it never waits for a full pipe.
When the action is cancelled or its time is over, the whole group gets SIGTERM
and, if that is not enough, SIGKILL. When this process ends, however that goes, `guard`
does the same.
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

from watcherlite.plugins.action_types import guard
from watcherlite.plugins.base import ActionContext
from watcherlite.plugins.capture import Capture
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: How the names of variables begin by which a command is told from others.
MARKER = 'WATCHERLITE_'
_CHUNK = 65536
#: Reads per stream after the end: more than a pipe can hold. What goes on writing
#: then was left behind by the command and could do so for ever.
_LAST_READS = 32
#: Seconds after which signals and the deadline are looked at in any case.
_SLICE = 5.0
#: The same where the system cannot tell at once that a process has ended.
_FIRST_SLICE, _LAST_SLICE = 0.01, 0.25
#: Seconds to wait for a process that was killed; longer only if a driver hangs.
_REAP = 5.0


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; a negative exit code is the signal that ended it."""

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
        # An old kernel, or a sandbox that does not know the call
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
    guarding: 'Guarding | None' = None,
) -> Ended:
    """Run a command and return how it ended; what it started may live on.

    :param max_output: bytes to keep of each stream
    :param kill_grace: seconds between SIGTERM and SIGKILL
    :param guarding: ends the command when this process is gone; None: that of all
    :param descriptor: what `pidfd` is where the system has another way, or none
    :raises OSError, ValueError: it cannot be started
    :raises Cancelled, TimedOut: as the context says; the group is gone then
    """
    marks = [f'{k}={v}' for k, v in environment.items() if k.startswith(MARKER)]
    with (guarding or _GUARDING).run(marks) as started:
        return _run(
            context,
            argv,
            environment=environment,
            directory=directory,
            stdin=stdin,
            max_output=max_output,
            kill_grace=kill_grace,
            descriptor=descriptor,
            started=started,
        )


def _run(
    context: ActionContext,
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: str,
    stdin: str | None,
    max_output: int,
    kill_grace: float,
    descriptor: Callable[[int], int | None],
    started: Callable[[int], None],
) -> Ended:
    """Do what `run` says.

    :param started: called with the process group of the command
    """
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
    ended = None
    try:
        started(process.pid)
        ended = descriptor(process.pid)
        watch = _Watch(process, max_output, ended)
    except BaseException:
        # Out of descriptors, most likely: nothing may run that nobody watches.
        os.killpg(process.pid, signal.SIGKILL)
        # Waits, and closes the pipes.
        process.communicate()
        if ended is not None:
            os.close(ended)
        raise
    try:
        watch.until_exit(context)
        watch.read_the_rest()
    except BaseException:
        watch.kill(kill_grace)
        raise
    finally:
        watch.close()
    return Ended(process.wait(), watch.stdout, watch.stderr)


class Guarding:
    """The program that ends commands whose worker is gone: one for this process.

    It is started with the first command, and anew if somebody has ended it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guard: subprocess.Popen[bytes] | None = None
        self._runs: dict[str, dict[str, Any]] = {}
        # A child that is forked must not keep the pipe of its parent open.
        os.register_at_fork(after_in_child=self._forget)

    @contextlib.contextmanager
    def run(self, marks: Sequence[str]) -> Iterator[Callable[[int], None]]:
        """Guard a command; what it gives is called with the group when it has one.

        :param marks: entries of its environment by which it is found until then
        """
        run = uuid.uuid4().hex

        def started(group: int) -> None:
            self._tell(run, {'run': run, 'group': group})

        self._tell(run, {'run': run, 'marks': list(marks)})
        try:
            yield started
        finally:
            self._tell(run, {'run': run})

    def _tell(self, run: str, message: dict[str, Any]) -> None:
        with self._lock:
            if len(message) > 1:
                self._runs[run] = {**self._runs.get(run, {}), **message}
            else:
                self._runs.pop(run, None)
            try:
                self._write([message])
            except OSError:
                # It was ended: by somebody who ends all processes, most likely.
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
            # It is no child of this process.
            self._guard.returncode = 0
        self._lock, self._guard, self._runs = threading.Lock(), None, {}


_GUARDING = Guarding()


def _input(text: str | None) -> IO[bytes]:
    """Return what a command reads: this text, or nothing."""
    if text is None:
        return open(os.devnull, 'rb')
    data = text.encode()
    # A file, not a pipe: nobody has to feed a command that reads slowly.
    source = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    source.write(data)
    source.seek(0)
    return source


class _Bell:
    """Wakes a selector from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)
        self._closed = False

    def ring(self, signal_name: str) -> None:
        """Wake the selector; does nothing once it is closed."""
        if signal_name == states.RESUME:
            return
        # The number of a closed descriptor may be another's by now.
        with self._lock:
            if not self._closed:
                try:
                    os.write(self._writer, b'!')
                except BlockingIOError:
                    LOG.debug('The bell rings already')

    def heard(self) -> bool:
        """Return whether it rang since the last time."""
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
    """Reads what a process says and notices at once when it ends."""

    def __init__(
        self, process: subprocess.Popen[bytes], max_output: int, ended: int | None
    ) -> None:
        self._process = process
        self.stdout = Capture(max_output)
        self.stderr = Capture(max_output)
        self._streams: dict[int, tuple[IO[bytes], Capture]] = {}
        self._selector = selectors.DefaultSelector()
        self._bell = _Bell()
        self._selector.register(self._bell.reader, selectors.EVENT_READ)
        for stream, capture in (
            (process.stdout, self.stdout),
            (process.stderr, self.stderr),
        ):
            pipe = cast(IO[bytes], stream)
            os.set_blocking(pipe.fileno(), False)
            self._streams[pipe.fileno()] = (pipe, capture)
            self._selector.register(pipe.fileno(), selectors.EVENT_READ)
        self._pidfd = ended
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ)
        self._slice = _FIRST_SLICE

    def until_exit(self, context: ActionContext) -> None:
        """Return when the process has ended; heed signals and the deadline."""
        with context.on_signal(self._bell.ring):
            while not self._ended():
                left = context.remaining()
                self._wait(_SLICE if left is None else min(left, _SLICE))
                if self._bell.heard():
                    self._pause(context)
                else:
                    context.checkpoint()

    def read_the_rest(self) -> None:
        """Read what a process that has ended left in its pipes."""
        for _ in range(_LAST_READS):
            reads = [self._read(number) for number in list(self._streams)]
            if not any(reads):
                return

    def kill(self, grace: float) -> None:
        """End the whole group, gently first."""
        self._selector.unregister(self._bell.reader)
        self._tell(signal.SIGTERM)
        # One that stands still does not heed it.
        self._tell(signal.SIGCONT)
        deadline = time.monotonic() + grace
        # Open pipes tell of children that are not done yet.
        while not self._ended() or self._streams:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._wait(left)
        self._tell(signal.SIGKILL)
        try:
            self._process.wait(_REAP)
        except subprocess.TimeoutExpired:
            LOG.error(
                'Process %s was killed and does not end; the system has to be '
                'looked after. Its action ends all the same.',
                self._process.pid,
            )

    def close(self) -> None:
        """Give all descriptors back."""
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            cast(IO[bytes], stream).close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._bell.close()

    def _ended(self) -> bool:
        """Return whether the process has ended, and leave it to be reaped later.

        While it is not reaped its number is its own: a signal to its group cannot
        hit a stranger.
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
        """Read once; False when there is nothing, now or ever."""
        pipe, capture = self._streams[number]
        try:
            data = os.read(number, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(number)
            del self._streams[number]
            pipe.close()
            return False
        capture.add(data)
        return True

    def _pause(self, context: ActionContext) -> None:
        """Let the group stand still while the context heeds a signal."""
        self._tell(signal.SIGSTOP)
        try:
            context.checkpoint()
        finally:
            self._tell(signal.SIGCONT)

    def _tell(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            LOG.debug('Process group %s is gone already', self._process.pid)
        except PermissionError:
            LOG.warning(
                'Process group %s belongs to another user now and cannot be told '
                '%s; it may go on',
                self._process.pid,
                number.name,
            )
