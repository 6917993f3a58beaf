"""The contexts of an action: one for its plugin, and one for the log.

oslo.log takes the context of the thread, or the one in `extra`, and writes its request
id and resource. Most actions log nothing, so the log context is computed on first use.
"""

import contextlib
import datetime
import logging
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, Protocol

from oslo_context import context

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.credentials import AUTHORITY
from watcherlite.domain.actions import REPORTS, Action
from watcherlite.domain.creators import Creator, of_context
from watcherlite.execution.action_logs import AttemptLog, LogSink
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: An internal signal: the deadline has passed.
TIMEOUT = 'TIMEOUT'
#: Signals that `checkpoint` ignores. An action that has not started cannot be
#: SUSPENDED; a SUSPEND left from an earlier run waits for the start.
IGNORED = (None, states.RESUME)
IGNORED_BEFORE_START = (*IGNORED, states.SUSPEND)


class Write(Protocol):
    """A durable write that was submitted."""

    def wait(self) -> None:
        """Wait until it is durable, in the plugin's thread."""

    def on_settled(self, call: Callable[[], None]) -> None:
        """Call a function, in any thread, once it is durable or refused."""


class Checkpoints(Protocol):
    """The durable writes of one attempt.

    Each method yields its writes, and continues when the caller has waited for one, in
    its own way.
    """

    def suspend(self) -> Iterable[Write]:
        """Store the action as SUSPENDED."""

    def resume(self) -> Iterable[Write]:
        """Store the action as RUNNING again."""

    def save_token(self, token: Any) -> Iterable[Write]:
        """Store a token of the action."""


def wait_for(writes: Iterable[Write]) -> None:
    """Wait in this thread until writes are durable."""
    for write in writes:
        write.wait()


class LeaseTime(Protocol):
    """The remaining time of the worker's lease."""

    def seconds_left(self) -> float:
        """Return the seconds until the lease ends."""


class Context:
    """Implements `plugins.base.ActionContext` for one run of one action.

    A signal arrives in another thread than the plugin's: `deliver` stores it and
    wakes the plugin if it sleeps; `checkpoint` applies it.

    :param checkpoints: makes suspensions and tokens durable; None: they are not stored
    :param lease: of the worker; None: it never ends
    :param logs: stores the log of the action; None: it is dropped
    """

    __slots__ = (
        '_checkpoints',
        '_clock',
        '_condition',
        '_creator_context',
        '_ignored',
        '_lease',
        '_listeners',
        '_log',
        'attempt',
        'cause',
        'data',
        'deadline',
        'deadline_at',
        'inputs',
        'name',
        'outputs',
        'plan_uuid',
        'signal',
        'target',
        'tenant',
        'uuid',
        'within',
    )

    def __init__(
        self,
        action: Action,
        plan_uuid: str | None,
        clock: Clock,
        checkpoints: Checkpoints | None = None,
        lease: LeaseTime | None = None,
        logs: LogSink | None = None,
    ) -> None:
        self.uuid = action.uuid
        self.name = action.name
        self.plan_uuid = plan_uuid
        self.target = action.target
        self.within = action.within
        self.tenant = action.tenant
        self.cause = action.cause
        self.attempt = action.attempt
        self.inputs: Mapping[str, Any] = action.inputs
        self.data: Mapping[str, Any] = action.data
        self.outputs: Mapping[str, Any] | None = action.outputs
        self._creator_context = action.context
        self.deadline: datetime.datetime | None = None
        self.deadline_at: float | None = None
        self.signal: str | None = action.control
        self._clock = clock
        self._checkpoints = checkpoints
        self._lease = lease
        self._log = None if logs is None else AttemptLog(action, logs, clock.now)
        self._condition: threading.Condition | None = None
        self._listeners: tuple[Callable[[str], None], ...] = ()
        self._ignored: Container[str | None] = IGNORED_BEFORE_START

    @property
    def creator(self) -> Creator:
        return of_context(self._creator_context)

    @property
    def authority(self) -> str | None:
        found: str | None = self._creator_context.get(AUTHORITY)
        return found

    def now(self) -> datetime.datetime:
        return self._clock.now()

    def set_deadline(self, seconds: float) -> None:
        """Set the deadline to `seconds` from now."""
        self.deadline_at = self._clock.monotonic() + seconds
        self.deadline = self._clock.now() + datetime.timedelta(seconds=seconds)

    def mark_started(self) -> None:
        """Apply SUSPEND from now on: the action has started."""
        self._ignored = IGNORED

    def stop_clock(self) -> float | None:
        """Remove the deadline; return the seconds that were left until it."""
        left = self.remaining()
        self.deadline, self.deadline_at = None, None
        return left

    def remaining(self) -> float | None:
        if self.deadline_at is None:
            return None
        return max(0.0, self.deadline_at - self._clock.monotonic())

    def deliver(self, signal: str) -> None:
        """Store a signal and wake the plugin if it sleeps."""
        # A later SUSPEND or RESUME does not revoke a timeout or CANCEL.
        if self.signal in (TIMEOUT, states.CANCEL) and signal != TIMEOUT:
            return
        self.signal = signal
        for listener in self._listeners:
            try:
                listener(signal)
            except BaseException:  # a plugin may raise anything
                # The caller has signals for other actions to deliver.
                LOG.exception(
                    'Action %s: its listener of signals failed for %s',
                    self.uuid,
                    signal,
                )
        condition = self._condition
        if condition is not None:
            with condition:
                condition.notify_all()

    def add_listener(self, call: Callable[[str], None]) -> None:
        """Call a function for arriving signals, in the thread that delivers them."""
        self._listeners = (*self._listeners, call)

    def remove_listener(self, call: Callable[[str], None]) -> None:
        """Do not call a function any more."""
        self._listeners = tuple(c for c in self._listeners if c is not call)

    @contextlib.contextmanager
    def on_signal(self, call: Callable[[str], None]) -> Iterator[None]:
        # First, so that no signal arrives unnoticed between the two steps.
        self.add_listener(call)
        try:
            if self.signal is not None:
                call(self.signal)
            yield
        finally:
            self.remove_listener(call)

    def checkpoint(self) -> None:
        if self.is_to_suspend():
            self._suspend()

    def is_to_suspend(self) -> bool:
        """Apply the signals that end the action; return whether SUSPEND is pending.

        :raises Cancelled, TimedOut, LeaseLost: the action must end
        """
        self.fence()
        if self.deadline_at is not None and self.remaining() == 0.0:
            raise exceptions.TimedOut
        if self.signal in self._ignored:
            return False
        self.raise_ending()
        return True

    def raise_ending(self) -> None:
        """Raise Cancelled or TimedOut for the signal of that meaning."""
        if self.signal == states.CANCEL:
            raise exceptions.Cancelled
        if self.signal == TIMEOUT:
            raise exceptions.TimedOut

    @property
    def ignored(self) -> Container[str | None]:
        """Return the signals that a checkpoint ignores at present."""
        return self._ignored

    def fence(self) -> None:
        # By the monotonic clock, which continues while the process is stopped. It costs
        # no statement, and the lease never ends later than at the database.
        if self._lease is not None and self._lease.seconds_left() <= 0:
            raise exceptions.LeaseLost(
                f'The lease of the worker of action {self.uuid} has expired; '
                'another worker takes the action over.'
            )

    def save_token(self, token: Any) -> None:
        if self._checkpoints is not None:
            wait_for(self._checkpoints.save_token(token))

    @property
    def checkpoints(self) -> Checkpoints | None:
        """Return what makes suspensions and tokens durable."""
        return self._checkpoints

    def log(self, text: str, stream: str = REPORTS) -> None:
        if self._log is not None:
            self._log.write(stream, text if text.endswith('\n') else f'{text}\n')

    def sleep(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while True:
            before = self._clock.monotonic()
            self.checkpoint()
            now = self._clock.monotonic()
            # A suspension does not count towards the sleep.
            until += now - before
            left = until - now
            if left <= 0:
                return
            if self.deadline_at is not None:
                left = min(left, self.deadline_at - self._clock.monotonic())
            self._wait(left, self._ignored)

    def _wait(self, seconds: float | None, while_signal: Container[str | None]) -> None:
        """Wait until the signal is none of `while_signal`, or for `seconds`."""
        if self._condition is None:
            self._condition = threading.Condition()
        with self._condition:
            if self.signal in while_signal and (seconds is None or seconds > 0):
                self._clock.wait(self._condition, seconds)

    def _suspend(self) -> None:
        """Wait for RESUME, CANCEL or a lost lease; this time does not count."""
        remaining = self.stop_clock()
        if self._checkpoints is not None:
            wait_for(self._checkpoints.suspend())
        while self.signal == states.SUSPEND:
            self._wait(None, {states.SUSPEND})
        if remaining is not None:
            self.set_deadline(remaining)
        self.raise_ending()
        if self._checkpoints is not None:
            wait_for(self._checkpoints.resume())


class LogContext(context.RequestContext):
    """The request that created an action, with the action as the resource.

    It has all attributes of `oslo_context.context.RequestContext`, also for plugins and
    their libraries, and no credentials.
    """

    # The base constructor takes ten times as long: see `__getattr__`.
    def __init__(self, action: Action) -> None:
        self._action = action

    #: Make this the context of the thread.
    enter = context.RequestContext.update_store

    def update_store(self) -> None:
        """Do nothing: the base constructor must not change the thread."""

    def __getattr__(self, name: str) -> Any:
        """Initialize the base class when an attribute is first read."""
        if name.startswith('__') or 'request_id' in self.__dict__:
            raise AttributeError(f'{type(self).__name__} has no {name}')
        request = self._action.context
        super().__init__(
            user_id=request.get('user_id'),
            user_name=request.get('user_name'),
            project_id=request.get('project_id'),
            resource_uuid=self._action.uuid,
            overwrite=False,
        )
        # Without a request the base class invents an id that matches nothing.
        self.request_id = request.get('request_id') or ''
        return getattr(self, name)


def log_extra(action: Action) -> dict[str, Any]:
    """Return the `extra` of a log line about an action, in a thread of no action."""
    return {'context': LogContext(action)}
