"""The attempts of actions that a worker has in flight."""

import dataclasses
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from watcherlite.clock import Clock
from watcherlite.domain.actions import Action
from watcherlite.execution.action_logs import LogSink
from watcherlite.execution.context import (
    TIMEOUT,
    Context,
    LeaseTime,
    Write,
    log_extra,
    wait_for,
)
from watcherlite.execution.pool import Job
from watcherlite.execution.ports import ActionTypes
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import ExecutionSettings, Timers
from watcherlite.plugins.base import ActionType

if TYPE_CHECKING:
    from watcherlite.execution.coroutines.context import LoopContext

# The places where the steps of a busy attempt run, or wait to run
#: The action pool.
THREAD = 'thread'
#: The wide pool, for a step that mainly waits: a check, a poll, a call of a hook.
PROBE = 'probe'
#: The wide pool, for the functions of a blocking plugin.
BLOCKING = 'blocking'
#: The places in the wide pool.
WIDE = (PROBE, BLOCKING)
#: The event loop.
LOOP = 'loop'


class Checkpoints(Protocol):
    """The durable writes of running attempts; see `context.Checkpoints`."""

    def suspend(self, attempt: 'Attempt') -> Iterable[Write]:
        """Store the action as SUSPENDED."""

    def resume(self, attempt: 'Attempt') -> Iterable[Write]:
        """Store the action as RUNNING again."""

    def save_data(self, attempt: 'Attempt') -> Iterable[Write]:
        """Store the data of policies."""

    def save_token(self, attempt: 'Attempt', token: Any) -> Iterable[Write]:
        """Store a token of the action."""


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptServices:
    """The services that all attempts of a worker share.

    :param checkpoints: makes suspensions, tokens and the data of policies durable
    :param lease: of the worker; None: it never ends
    :param logs: stores the logs of actions; None: they are dropped
    :param timers: end the sleeps of coroutines; None: there are no coroutines
    :param settings: of the worker
    """

    clock: Clock
    types: ActionTypes
    checkpoints: Checkpoints
    lease: LeaseTime | None = None
    logs: LogSink | None = None
    timers: Timers | None = None
    settings: ExecutionSettings = dataclasses.field(default_factory=ExecutionSettings)


class Attempt:
    """One attempt of a worker to execute an action.

    One thread at a time uses it: a pool thread while a step runs, the committer's
    while its result is written. Signals arrive through the context. Implements
    `context.Checkpoints`.

    :ivar action: the row, as this worker last read or wrote it
    :ivar plan_uuid: for contexts and logs
    :ivar data: `action.data` as changed by policies, or None
    :ivar applied: `is_applied` found the effect of an earlier run: execute is omitted
    :ivar pre_policies: names of the policies whose pre_op was called before the start
    :ivar skip_reason: why its pre_condition skipped a further run, or None
    :ivar executing: execute, poll, complete or revert of the plugin was called
    :ivar ended: its conclusion, while its thread still prepares its dependent
    :ivar abandoned: this worker has abandoned it; its later results are dropped
    :ivar idle: it is InProgress or suspended, and no thread works on it
    :ivar paused: it is suspended, and its thread or coroutine waits for RESUME
    :ivar place: where its steps run, or wait to run, unless it is idle
    :ivar service: that its steps call in the wide pool
    :ivar is_dropped: its steps were closed at an `await`, and must do nothing else
    :ivar loop_time: seconds for which its steps have waited for the event loop
    :ivar polls: number of its delays; only the timer of the last one is valid
    :ivar remaining: seconds left when it was suspended without a thread
    :ivar give_up_at: monotonic time at which it is abandoned, after its plugin
        ignored the deadline
    :ivar job: its last job in a pool
    """

    __slots__ = (
        '_loop_context',
        '_plugin',
        '_services',
        'abandoned',
        'action',
        'applied',
        'context',
        'data',
        'ended',
        'executing',
        'give_up_at',
        'idle',
        'is_dropped',
        'job',
        'loop_time',
        'paused',
        'place',
        'plan_uuid',
        'polls',
        'pre_policies',
        'remaining',
        'service',
        'skip_reason',
    )

    def __init__(
        self, action: Action, plan_uuid: str | None, services: AttemptServices
    ) -> None:
        self.action = action
        self.plan_uuid = plan_uuid
        self._services = services
        self._plugin: ActionType | None = None
        self.context = Context(
            action, plan_uuid, services.clock, self, services.lease, services.logs
        )
        self._loop_context: LoopContext | None = None
        self.data: Mapping[str, Any] | None = None
        self.applied = False
        self.pre_policies: list[str] = []
        self.skip_reason: str | None = None
        self.executing = False
        self.ended: Conclusion | None = None
        self.abandoned = False
        self.idle = False
        self.paused = False
        self.place = THREAD
        self.service: str | None = None
        self.is_dropped = False
        self.loop_time = 0.0
        self.polls = 0
        self.remaining: float | None = None
        self.give_up_at: float | None = None
        self.job: Callable[[], None] | None = None

    @property
    def has_plugin(self) -> bool:
        """Return whether the plugin was instantiated."""
        return self._plugin is not None

    def plugin(self) -> ActionType:
        """Return the plugin; the first call instantiates it, in a thread of a pool."""
        if self._plugin is None:
            self._plugin = self._services.types.make_action_type(
                self.action.action_type
            )
        return self._plugin

    def loop_context(self) -> 'LoopContext':
        """Return the context for the coroutines of the plugin."""
        # Slow to import, and not needed without coroutines.
        from watcherlite.execution.coroutines.context import LoopContext

        if self._loop_context is None:
            timers = self._services.timers or Timers(self._services.clock)
            self._loop_context = LoopContext(
                self.context,
                self._services.clock,
                timers.after,
                lambda: self.abandoned,
                self._services.settings,
            )
        return self._loop_context

    def suspend(self) -> Iterable[Write]:
        return self._services.checkpoints.suspend(self)

    def resume(self) -> Iterable[Write]:
        return self._services.checkpoints.resume(self)

    def save_data(self) -> None:
        """Store the data of policies; return when it is durable."""
        wait_for(self._services.checkpoints.save_data(self))

    def save_token(self, token: Any) -> Iterable[Write]:
        return self._services.checkpoints.save_token(self, token)

    def __repr__(self) -> str:
        return f'<Attempt {self.action.uuid} {self.action.action_type}>'


LOG = logging.getLogger(__name__)


class InFlight:
    """The attempts of one worker; safe for threads.

    An attempt is busy from its claim to its end, except while it is idle: InProgress or
    suspended, without a thread. Busy attempts are counted by their places, without the
    paused ones; only those in the action pool count towards its size.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._attempts: dict[int, Attempt] = {}
        #: action id -> signal that arrived before its attempt was added
        self._early_signals: dict[int, str] = {}
        self._busy = 0
        self._paused = 0
        #: place -> its busy attempts that are not paused
        self._places: Counter[str] = Counter()
        self._closed = False

    @property
    def busy(self) -> int:
        """Return how many attempts have, or wait for, a thread of the action pool."""
        return self._places[THREAD]

    @property
    def on_loop(self) -> int:
        """Return how many attempts wait for coroutines in the event loop."""
        return self._places[LOOP]

    @property
    def blocking(self) -> int:
        """Return how many attempts of blocking plugins are in the wide pool."""
        return self._places[BLOCKING]

    def attempt_numbers(self) -> dict[int, int]:
        """Return the number of the attempt of each action in flight, by its id."""
        with self._lock:
            return {key: one.action.attempt for key, one in self._attempts.items()}

    def attempts(self) -> list[Attempt]:
        """Return all attempts."""
        with self._lock:
            return list(self._attempts.values())

    def get(self, action_id: int) -> Attempt | None:
        """Return the attempt of an action, or None."""
        return self._attempts.get(action_id)

    def is_current(self, attempt: Attempt) -> bool:
        """Return whether this attempt of its action is the one in flight."""
        return self._attempts.get(attempt.action.id) is attempt

    # from the claim to the end

    def add(self, attempt: Attempt) -> None:
        """Add an attempt, which is busy."""
        with self._lock:
            if self._closed:
                attempt.abandoned = True
                return
            before = self._attempts.get(attempt.action.id)
            if before is not None:
                # Another worker took the action over, and this one claimed it again.
                before.abandoned = True
                self.remove(before)
            self._attempts[attempt.action.id] = attempt
            self._count(attempt, 1)

    def remove(self, attempt: Attempt) -> None:
        """Remove an attempt, if it is still in flight."""
        with self._lock:
            if not self.is_current(attempt):
                return
            del self._attempts[attempt.action.id]
            self._count(attempt, -1)
            self._changed.notify_all()

    def reject(self, attempt: Attempt, status: str) -> None:
        """Remove an attempt whose conclusion the store refused."""
        LOG.info(
            'Action %s has another owner, or was changed by another transaction; the '
            'result of this worker (%s) is dropped',
            attempt.action.uuid,
            status,
            extra=log_extra(attempt.action),
        )
        self.remove(attempt)

    def set_idle(self, attempt: Attempt) -> int:
        """Record that no thread works on an attempt; return its number of delays."""
        with self._lock:
            attempt.polls += 1
            if self.is_current(attempt) and not attempt.idle:
                self._count(attempt, -1)
                attempt.idle, attempt.place = True, THREAD
                self._count(attempt, 1)
                self._changed.notify_all()
            return attempt.polls

    def set_busy(self, attempt: Attempt) -> bool:
        """Record that an idle attempt needs a thread; return whether it was idle."""
        with self._lock:
            if not self.is_current(attempt) or not attempt.idle:
                return False
            self._count(attempt, -1)
            attempt.idle = False
            self._count(attempt, 1)
            return True

    def set_paused(self, attempt: Attempt, paused: bool) -> None:
        """Record whether the thread or coroutine of an attempt waits for RESUME."""
        with self._lock:
            if self.is_current(attempt) and attempt.paused != paused:
                self._count(attempt, -1)
                attempt.paused = paused
                self._count(attempt, 1)
                self._changed.notify_all()

    def set_job(self, attempt: Attempt, job: Job, place: str | None = None) -> None:
        """Set the job of an attempt, and its place.

        :param place: None: unchanged
        """
        with self._lock:
            attempt.job = job
            if place is not None:
                self._set_place(attempt, place)

    def await_loop(self, attempt: Attempt) -> None:
        """Record that the steps of an attempt wait for a coroutine."""
        with self._lock:
            self._set_place(attempt, LOOP)

    def exit_wide_pool(self, attempt: Attempt, job: Job) -> None:
        """Record that the wide pool has run this job of an attempt."""
        with self._lock:
            # Otherwise the next job of the attempt has started.
            if attempt.job is job and attempt.place in WIDE:
                self._set_place(attempt, THREAD)

    def _set_place(self, attempt: Attempt, place: str) -> None:
        if attempt.place != place and self.is_current(attempt) and not attempt.idle:
            self._count(attempt, -1)
            attempt.place = place
            self._count(attempt, 1)

    def _count(self, attempt: Attempt, sign: int) -> None:
        """Add an attempt to the counters, or subtract it."""
        if attempt.idle:
            return
        self._busy += sign
        if attempt.paused:
            self._paused += sign
        else:
            self._places[attempt.place] += sign

    # signals

    def reset_signals(self) -> None:
        """Drop the early signals: the caller has read all signals again."""
        with self._lock:
            self._early_signals = {}

    def find_or_keep_signal(self, action_id: int, signal: str) -> Attempt | None:
        """Return the attempt of an action; keep the signal if there is none."""
        with self._lock:
            attempt = self._attempts.get(action_id)
            if attempt is None:
                self._early_signals[action_id] = signal
            return attempt

    def take_signal(self, attempt: Attempt) -> str | None:
        """Remove and return the early signal of an attempt."""
        with self._lock:
            return self._early_signals.pop(attempt.action.id, None)

    # the end of the worker

    def wait_until_idle(self, timeout: float) -> bool:
        """Wait until no attempt is busy; return False if one is after `timeout`.

        Attempts that wait for RESUME are ignored: only a user can end that.
        """
        until = self._clock.monotonic() + timeout
        with self._lock:
            while self._busy > self._paused:
                left = until - self._clock.monotonic()
                if left <= 0:
                    break
                self._clock.wait(self._changed, left)
            return self._busy == 0

    def abandon(self) -> None:
        """Abandon all attempts, also those added later; wake waiting threads."""
        with self._lock:
            self._closed = True
            attempts = list(self._attempts.values())
            self._attempts.clear()
            self._busy = self._paused = 0
            self._places.clear()
            for attempt in attempts:
                attempt.abandoned = True
            self._changed.notify_all()
        for attempt in attempts:
            attempt.context.deliver(TIMEOUT)
