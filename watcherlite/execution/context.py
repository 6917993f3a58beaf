"""The contexts of an action: what its plugin is handed, and what the log names.

oslo.log asks for the context of the thread, or takes the one that comes with a line,
and writes the request id and the resource of it. Most actions log nothing: what is
written is put together only when a line asks for it.
"""

import contextlib
import datetime
import logging
import threading
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Protocol

from oslo_context import context

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain.actions import Action
from watcherlite.domain.creators import Creator, of_context
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: Not a signal of users: the deadline has passed.
TIMEOUT = 'TIMEOUT'
#: Signals with which a plugin goes on. What has not started cannot be SUSPENDED;
#: a SUSPEND that is left from an earlier run waits for the start.
GOING = (None, states.RESUME)
BEFORE_START = (*GOING, states.SUSPEND)


class Checkpoints(Protocol):
    """The attempt, as its context sees it: durable writes in the plugin's thread."""

    def suspend(self) -> None:
        """Store the action as SUSPENDED."""

    def resume(self) -> None:
        """Store the action as RUNNING again."""

    def save_token(self, token: Any) -> None:
        """Store a token of the action."""


class LeaseTime(Protocol):
    """The lease of the worker, as a context sees it."""

    def left(self) -> float:
        """Return the seconds for which this worker may still act."""


class Context:
    """Implements `plugins.base.ActionContext` for one run of one action.

    A signal arrives in another thread than the plugin's: `deliver` notes it and
    wakes the plugin if it sleeps; `checkpoint` heeds it.

    :param checkpoints: makes suspensions and tokens durable; None: nothing does
    :param lease: of the worker; None: there is none that could end
    """

    __slots__ = (
        '_asked_by',
        '_checkpoints',
        '_clock',
        '_condition',
        '_lease',
        '_listeners',
        '_unheeded',
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
        self._asked_by = action.context
        self.deadline: datetime.datetime | None = None
        self.deadline_at: float | None = None
        self.signal: str | None = action.control
        self._clock = clock
        self._checkpoints = checkpoints
        self._lease = lease
        self._condition: threading.Condition | None = None
        self._listeners: tuple[Callable[[str], None], ...] = ()
        self._unheeded: Container[str | None] = BEFORE_START

    @property
    def creator(self) -> Creator:
        """Return the creator of the plan; see `plugins.base.ActionContext`."""
        return of_context(self._asked_by)

    def now(self) -> datetime.datetime:
        """Return the time, aware, in UTC."""
        return self._clock.now()

    def set_deadline(self, seconds: float) -> None:
        """Let the action time out in so many seconds."""
        self.deadline_at = self._clock.monotonic() + seconds
        self.deadline = self._clock.now() + datetime.timedelta(seconds=seconds)

    def begin(self) -> None:
        """Heed SUSPEND from now on: the action counts as started."""
        self._unheeded = GOING

    def stop_clock(self) -> float | None:
        """Take the deadline away; return how many seconds were left until it."""
        left = self.remaining()
        self.deadline, self.deadline_at = None, None
        return left

    def remaining(self) -> float | None:
        """Return the seconds left until the deadline, never below 0."""
        if self.deadline_at is None:
            return None
        return max(0.0, self.deadline_at - self._clock.monotonic())

    def deliver(self, signal: str) -> None:
        """Note a signal and wake whoever sleeps in this context."""
        # A timeout or CANCEL is not taken back by a SUSPEND that comes later.
        if self.signal in (TIMEOUT, states.CANCEL) and signal != TIMEOUT:
            return
        self.signal = signal
        for listener in self._listeners:
            try:
                listener(signal)
            except BaseException:  # a plugin may raise anything
                # Whoever delivers has the signals of other actions to deliver.
                LOG.exception('Action %s does not want to hear %s', self.uuid, signal)
        condition = self._condition
        if condition is not None:
            with condition:
                condition.notify_all()

    @contextlib.contextmanager
    def on_signal(self, call: Callable[[str], None]) -> Iterator[None]:
        """Have `call(signal)` called as signals arrive; see `ActionContext`."""
        # Before the look at what is there already, so that none falls between.
        self._listeners = (*self._listeners, call)
        try:
            if self.signal is not None:
                call(self.signal)
            yield
        finally:
            self._listeners = tuple(c for c in self._listeners if c is not call)

    def checkpoint(self) -> None:
        """Heed signals; see `plugins.base.ActionContext`."""
        self.fence()
        if self.deadline_at is not None and self.remaining() == 0.0:
            raise exceptions.TimedOut
        if self.signal in self._unheeded:
            return
        if self.signal == states.CANCEL:
            raise exceptions.Cancelled
        if self.signal == TIMEOUT:
            raise exceptions.TimedOut
        self._suspend()

    def fence(self) -> None:
        """Raise LeaseLost if the lease is over; see `plugins.base.ActionContext`."""
        # By the monotonic clock of this machine, which counts on while the process is
        # stopped: no statement, and never later than the database sees it.
        if self._lease is not None and self._lease.left() <= 0:
            raise exceptions.LeaseLost(
                f'The lease of the worker that executed action {self.uuid} is over; '
                'another worker takes the action over.'
            )

    def save_token(self, token: Any) -> None:
        """Make a token durable; see `plugins.base.ActionContext`."""
        if self._checkpoints is not None:
            self._checkpoints.save_token(token)

    def sleep(self, seconds: float) -> None:
        """Sleep so long, heeding signals; see `plugins.base.ActionContext`."""
        until = self._clock.monotonic() + seconds
        while True:
            before = self._clock.monotonic()
            self.checkpoint()
            now = self._clock.monotonic()
            # A suspension does not use up the time that was asked for.
            until += now - before
            left = until - now
            if left <= 0:
                return
            if self.deadline_at is not None:
                left = min(left, self.deadline_at - self._clock.monotonic())
            self._wait(left, self._unheeded)

    def _wait(self, seconds: float | None, while_signal: Container[str | None]) -> None:
        """Wait until the signal is another one than these, or for so long."""
        if self._condition is None:
            self._condition = threading.Condition()
        with self._condition:
            if self.signal in while_signal and (seconds is None or seconds > 0):
                self._clock.wait(self._condition, seconds)

    def _suspend(self) -> None:
        """Stay here until RESUME, CANCEL or a lost lease; time stands still."""
        remaining = self.stop_clock()
        if self._checkpoints is not None:
            self._checkpoints.suspend()
        while self.signal == states.SUSPEND:
            self._wait(None, {states.SUSPEND})
        if remaining is not None:
            self.set_deadline(remaining)
        if self.signal == states.CANCEL:
            raise exceptions.Cancelled
        if self.signal == TIMEOUT:
            raise exceptions.TimedOut
        if self._checkpoints is not None:
            self._checkpoints.resume()


class LogContext(context.RequestContext):
    """The request that an action goes back to, and the action as its resource.

    Whoever reads it, plugins and their libraries included, finds what
    `oslo_context.context.RequestContext` promises. There are no credentials in it.
    """

    # Not the one above it, which takes ten times as long: see `__getattr__`.
    def __init__(self, action: Action) -> None:
        self._action = action

    #: Makes it the context of this thread, until another one is.
    enter = context.RequestContext.update_store

    def update_store(self) -> None:
        """Leave the thread as it is: who reads a context does not work in it."""

    def __getattr__(self, name: str) -> Any:
        """Return what nobody has asked for before, and fill everything in for that."""
        if name.startswith('__') or 'request_id' in self.__dict__:
            raise AttributeError(f'{type(self).__name__} has no {name}')
        asked = self._action.context
        super().__init__(
            user_id=asked.get('user_id'),
            user_name=asked.get('user_name'),
            project_id=asked.get('project_id'),
            resource_uuid=self._action.uuid,
            overwrite=False,
        )
        # Where nobody asked it would have made an id up, which would lead nowhere.
        self.request_id = asked.get('request_id') or ''
        return getattr(self, name)


def about(action: Action) -> dict[str, Any]:
    """Return the `extra` of a line about an action, where no thread is in it."""
    return {'context': LogContext(action)}
