"""The context of an action without a worker: the test sends signals."""

import contextlib
import dataclasses
import datetime
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain.creators import LOCAL, Creator
from watcherlite.execution.context import TIMEOUT
from watcherlite.states import action as states
from watcherlite.testing.clock import REAL_TIMEOUT, ManualClock

#: A uuid that is easy to recognize in the requests of an action.
UUID = '00000000-0000-4000-8000-000000000001'


@dataclasses.dataclass(frozen=True, slots=True)
class Injected:
    """A signal that arrives at a checkpoint, or after a time."""

    signal: str
    checkpoint: int | None = None
    seconds: float | None = None


def at_checkpoint(number: int, signal: str) -> Injected:
    """Return a signal that arrives right before the n-th checkpoint, from 1.

    :param signal: CANCEL, SUSPEND, RESUME or TIMEOUT
    """
    return Injected(signal, checkpoint=number)


def after_seconds(seconds: float, signal: str) -> Injected:
    """Return a signal that arrives when the clock has advanced by this time."""
    return Injected(signal, seconds=seconds)


class FakeContext:
    """Implements `plugins.base.ActionContext`.

    `sleep` advances a ManualClock instead of waiting. A suspended action resumes at
    once if a RESUME was injected; else the thread waits for `send`.

    :param signals: created by `at_checkpoint` and `after_seconds`
    :param timeout: seconds until the action times out; None: never
    :param creator: of its plan; by default one with all authority
    :param authority: of the user who requested it
    :param paused: called with True when the action is suspended, False when it resumes
    :ivar checkpoints: number of calls of `checkpoint`
    :ivar lease_lost: set it to have `fence` and `checkpoint` raise LeaseLost
    :ivar tokens: the stored ones
    :ivar logged: stream -> the text that was logged
    """

    def __init__(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        clock: Clock | None = None,
        signals: Sequence[Injected] = (),
        timeout: float | None = None,
        uuid: str = UUID,
        name: str | None = None,
        plan_uuid: str | None = None,
        target: str | None = None,
        attempt: int = 1,
        data: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        within: str | None = None,
        tenant: str | None = None,
        cause: str = states.RPC_REQUEST,
        creator: Creator = LOCAL,
        authority: str | None = None,
    ) -> None:
        self.uuid = uuid
        self.name = name
        self.plan_uuid = plan_uuid
        self.target = target
        self.within = within
        self.tenant = tenant
        self.cause = cause
        self.creator = creator
        self.authority = authority
        self.attempt = attempt
        self.inputs: Mapping[str, Any] = dict(inputs or {})
        self.data: Mapping[str, Any] = dict(data or {})
        self.outputs = outputs
        self.clock: Clock = clock if clock is not None else ManualClock()
        self.deadline: datetime.datetime | None = None
        self._deadline_at: float | None = None
        if timeout is not None:
            self._time_out_in(timeout)
        self.checkpoints = 0
        self.lease_lost = False
        self.tokens: list[Any] = []
        self.logged: dict[str, str] = {}
        self.paused: Callable[[bool], None] | None = None
        self._started = self.clock.monotonic()
        self._pending = list(signals)
        self._signal: str | None = None
        self._call: Callable[[str], None] | None = None
        self._condition = threading.Condition()

    # the interface for plugins

    def now(self) -> datetime.datetime:
        return self.clock.now()

    def remaining(self) -> float | None:
        if self._deadline_at is None:
            return None
        return max(0.0, self._deadline_at - self.clock.monotonic())

    def checkpoint(self) -> None:
        """Handle the signals that have arrived."""
        self.fence()
        self.checkpoints += 1
        self._handle_signal()

    def log(self, text: str, stream: str = 'log') -> None:
        line = text if text.endswith('\n') else f'{text}\n'
        self.logged[stream] = self.logged.get(stream, '') + line

    def fence(self) -> None:
        """Raise LeaseLost if the test has set `lease_lost`."""
        if self.lease_lost:
            raise exceptions.LeaseLost(f'The worker of action {self.uuid} lost it.')

    def save_token(self, token: Any) -> None:
        """Record a stored token."""
        self.tokens.append(token)

    def sleep(self, seconds: float) -> None:
        """Advance the time, up to the next signal."""
        self.checkpoint()
        self.pass_time(seconds)
        self.checkpoint()

    @contextlib.contextmanager
    def on_signal(self, call: Callable[[str], None]) -> Iterator[None]:
        """Call `call` with the signals that `send` delivers."""
        self._call = call
        if self._signal is not None:
            call(self._signal)
        try:
            yield
        finally:
            self._call = None

    # the interface for tests

    @property
    def signal(self) -> str | None:
        """Return the signal that was delivered last."""
        return self._signal

    def send(self, signal: str) -> None:
        """Deliver a signal now; from any thread."""
        with self._condition:
            # As in production: later signals do not revoke a CANCEL.
            if self._signal not in (states.CANCEL, TIMEOUT):
                self._signal = signal
            self._condition.notify_all()
            call = self._call
        if call is not None:
            call(signal)

    def set_deadline(self, seconds: float | None) -> None:
        """Set the deadline to a number of seconds from now; None: no deadline."""
        if seconds is None:
            self.deadline = self._deadline_at = None
        else:
            self._time_out_in(seconds)

    def pass_time(self, seconds: float) -> None:
        """Advance the clock, handling signals, as between two polls."""
        until = self.clock.monotonic() + seconds
        while (left := until - self.clock.monotonic()) > 0:
            moments = [self._started + s.seconds for s in self._pending if s.seconds]
            if self._deadline_at is not None:
                moments.append(self._deadline_at)
            steps = [moment - self.clock.monotonic() for moment in moments]
            self._turn(min([left, *(step for step in steps if step > 0)]))
            before = self.clock.monotonic()
            self._handle_signal()
            # A suspension does not use up the requested time.
            until += self.clock.monotonic() - before

    def _turn(self, seconds: float) -> None:
        if isinstance(self.clock, ManualClock):
            self.clock.advance(seconds)
            return
        with self._condition:
            if self._signal in (None, states.RESUME):
                self.clock.wait(self._condition, seconds)

    def _handle_signal(self) -> None:
        for injected in [s for s in self._pending if self._is_due(s)]:
            self._pending.remove(injected)
            self.send(injected.signal)
        if self._signal == states.SUSPEND:
            self._suspend()
        if self._signal == states.CANCEL:
            raise exceptions.Cancelled
        if self._signal == TIMEOUT or self.remaining() == 0:
            raise exceptions.TimedOut

    def _is_due(self, injected: Injected) -> bool:
        if injected.checkpoint is not None:
            return injected.checkpoint <= self.checkpoints
        passed = self.clock.monotonic() - self._started
        return injected.seconds is not None and injected.seconds <= passed

    def _suspend(self) -> None:
        """Block until another signal; the deadline is suspended."""
        left = self.remaining()
        if self.paused is not None:
            self.paused(True)
        while self._signal == states.SUSPEND:
            if self._pending:
                # There is no checkpoint while it is suspended: the next one is due.
                following = self._pending.pop(0)
                if following.seconds is not None:
                    wait = self._started + following.seconds - self.clock.monotonic()
                    self._turn(max(0.0, wait))
                self.send(following.signal)
            else:
                self._wait_for_send()
        if left is not None:
            self._time_out_in(left)
        if self._signal == states.RESUME and self.paused is not None:
            self.paused(False)

    def _wait_for_send(self) -> None:
        with self._condition:
            if not self._condition.wait_for(
                lambda: self._signal != states.SUSPEND, REAL_TIMEOUT
            ):
                raise AssertionError('the action is suspended and is never resumed')

    def _time_out_in(self, seconds: float) -> None:
        self._deadline_at = self.clock.monotonic() + seconds
        self.deadline = self.clock.now() + datetime.timedelta(seconds=seconds)
