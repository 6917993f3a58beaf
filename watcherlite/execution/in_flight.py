"""The attempts of actions that a worker has in flight."""

import dataclasses
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from watcherlite.clock import Clock
from watcherlite.domain.actions import Action
from watcherlite.execution.context import TIMEOUT, Context, LeaseTime, about
from watcherlite.execution.pool import Job
from watcherlite.execution.ports import ActionTypes
from watcherlite.execution.results import Conclusion
from watcherlite.plugins.base import ActionType


class Checkpoints(Protocol):
    """The durable writes of running attempts; each returns once it is durable.

    Called in the plugin's thread.
    """

    def suspend(self, attempt: 'Attempt') -> None:
        """Store the action as SUSPENDED."""

    def resume(self, attempt: 'Attempt') -> None:
        """Store the action as RUNNING again."""

    def save_data(self, attempt: 'Attempt') -> None:
        """Store what policies decided."""

    def save_token(self, attempt: 'Attempt', token: Any) -> None:
        """Store a token of the action."""


@dataclasses.dataclass(frozen=True, slots=True)
class AttemptServices:
    """What every attempt of a worker needs.

    :param checkpoints: makes what policies and plugins decide durable
    :param lease: of the worker; None: there is none that could end
    """

    clock: Clock
    types: ActionTypes
    checkpoints: Checkpoints
    lease: LeaseTime | None = None


class Attempt:
    """What a worker knows of an action that it has taken.

    Only one thread works on an attempt at a time: a pool thread while a step runs,
    the committer while its result is written. Signals come in through the
    context. Implements `context.Checkpoints`.

    :ivar action: the row, as this worker last read or wrote it
    :ivar plan_uuid: for contexts and logs
    :ivar data: what the policies have made of `action.data`, or None
    :ivar applied: its effect was found to be there: execute is left out
    :ivar asked: names of the policies whose pre_op was called before the start
    :ivar skip_reason: why its pre_condition skipped a further run of it, or None
    :ivar executing: a plugin's execute, poll, complete or revert has begun
    :ivar ended: what it came to, while its thread still checks its dependent
    :ivar abandoned: this worker has given it up; what still comes is dropped
    :ivar idle: it is InProgress, or suspended, and no thread works on it
    :ivar paused: it is suspended, in a thread that waits for a RESUME
    :ivar probing: it has, or waits for, a thread of the probe pool
    :ivar polls: how often it was put off; only the timer of the last one counts
    :ivar remaining: seconds left when it was suspended without a thread
    :ivar give_up_at: when the plugin is given up that ignored its deadline
    :ivar job: the last job of the pool that works, or worked, on it
    """

    __slots__ = (
        '_plugin',
        '_services',
        'abandoned',
        'action',
        'applied',
        'asked',
        'context',
        'data',
        'ended',
        'executing',
        'give_up_at',
        'idle',
        'job',
        'paused',
        'plan_uuid',
        'polls',
        'probing',
        'remaining',
        'skip_reason',
    )

    def __init__(
        self, action: Action, plan_uuid: str | None, services: AttemptServices
    ) -> None:
        self.action = action
        self.plan_uuid = plan_uuid
        self._services = services
        self._plugin: ActionType | None = None
        self.context = Context(action, plan_uuid, services.clock, self, services.lease)
        self.data: Mapping[str, Any] | None = None
        self.applied = False
        self.asked: list[str] = []
        self.skip_reason: str | None = None
        self.executing = False
        self.ended: Conclusion | None = None
        self.abandoned = False
        self.idle = False
        self.paused = False
        self.probing = False
        self.polls = 0
        self.remaining: float | None = None
        self.give_up_at: float | None = None
        self.job: Callable[[], None] | None = None

    @property
    def has_plugin(self) -> bool:
        """Return whether the plugin could be made."""
        return self._plugin is not None

    def plugin(self) -> ActionType:
        """Return the plugin, which the first call makes: in a thread of a pool."""
        if self._plugin is None:
            self._plugin = self._services.types.make_action_type(
                self.action.action_type
            )
        return self._plugin

    def suspend(self) -> None:
        """Store the action as SUSPENDED."""
        self._services.checkpoints.suspend(self)

    def resume(self) -> None:
        """Store the action as RUNNING again."""
        self._services.checkpoints.resume(self)

    def save_data(self) -> None:
        """Store what policies decided."""
        self._services.checkpoints.save_data(self)

    def save_token(self, token: Any) -> None:
        """Store a token of the action."""
        self._services.checkpoints.save_token(self, token)

    def __repr__(self) -> str:
        return f'<Attempt {self.action.uuid} {self.action.action_type}>'


LOG = logging.getLogger(__name__)


class InFlight:
    """The attempts of one worker; safe for threads.

    An attempt is busy from its claim to its end, except while it is idle: InProgress,
    or suspended, with nothing to do for a thread here. An attempt that is suspended in
    its thread keeps the thread, and another takes its place. An attempt in the probe
    pool takes nobody's place.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._attempts: dict[int, Attempt] = {}
        #: signals for actions whose start is durable and not yet known
        self._early_signals: dict[int, str] = {}
        self._busy = 0
        self._paused = 0
        self._probing = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """Return how many attempts have, or wait for, a thread that does something."""
        return self._busy - self._paused - self._probing

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
                # It was lost to another worker and came back as a new attempt.
                before.abandoned = True
                self.remove(before)
            self._attempts[attempt.action.id] = attempt
            self._busy += 1

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
            'Action %s has another owner, or was decided elsewhere; the result of this '
            'worker (%s) is dropped',
            attempt.action.uuid,
            status,
            extra=about(attempt.action),
        )
        self.remove(attempt)

    def set_idle(self, attempt: Attempt) -> int:
        """Record that no thread works on an attempt; return the number of its wait."""
        with self._lock:
            attempt.polls += 1
            if self.is_current(attempt) and not attempt.idle:
                self._count(attempt, -1)
                attempt.idle, attempt.probing = True, False
                self._count(attempt, 1)
                self._changed.notify_all()
            return attempt.polls

    def set_busy(self, attempt: Attempt) -> bool:
        """Record that an idle attempt needs a thread; False if it is not idle."""
        with self._lock:
            if not self.is_current(attempt) or not attempt.idle:
                return False
            self._count(attempt, -1)
            attempt.idle = False
            self._count(attempt, 1)
            return True

    def set_paused(self, attempt: Attempt, paused: bool) -> None:
        """Record that the thread of an attempt waits for RESUME, or no more."""
        with self._lock:
            if self.is_current(attempt) and attempt.paused != paused:
                self._count(attempt, -1)
                attempt.paused = paused
                self._count(attempt, 1)
                self._changed.notify_all()

    def set_job(self, attempt: Attempt, job: Job, probing: bool | None = None) -> None:
        """Set the job of an attempt, and whether the probe pool runs it.

        :param probing: None: as before
        """
        with self._lock:
            attempt.job = job
            if probing is not None:
                self._set_probing(attempt, probing)

    def end_probe(self, attempt: Attempt, job: Job) -> None:
        """Record that the probe pool has run this job of an attempt."""
        with self._lock:
            # Else the next job of the attempt has begun already.
            if attempt.job is job:
                self._set_probing(attempt, False)

    def _set_probing(self, attempt: Attempt, probing: bool) -> None:
        if attempt.probing != probing and self.is_current(attempt) and not attempt.idle:
            self._count(attempt, -1)
            attempt.probing = probing
            self._count(attempt, 1)

    def _count(self, attempt: Attempt, sign: int) -> None:
        """Add, or take away, what an attempt counts for."""
        if attempt.idle:
            return
        self._busy += sign
        if attempt.paused:
            self._paused += sign
        elif attempt.probing:
            self._probing += sign

    # signals

    def reset_signals(self) -> None:
        """Forget the signals that were kept: all of them are read anew."""
        with self._lock:
            self._early_signals = {}

    def find_or_keep_signal(self, action_id: int, signal: str) -> Attempt | None:
        """Return the attempt of an action; keep the signal if there is none yet."""
        with self._lock:
            attempt = self._attempts.get(action_id)
            if attempt is None:
                self._early_signals[action_id] = signal
            return attempt

    def take_signal(self, attempt: Attempt) -> str | None:
        """Return the signal that was kept for an attempt, once."""
        with self._lock:
            return self._early_signals.pop(attempt.action.id, None)

    # the end of the worker

    def wait_until_idle(self, timeout: float) -> bool:
        """Wait until no thread is at work; False if one still is.

        An attempt that waits for RESUME is not waited for: only a user ends that.
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
        """Give up every attempt, now and from now on; wake whoever waits."""
        with self._lock:
            self._closed = True
            attempts = list(self._attempts.values())
            self._attempts.clear()
            self._busy = self._paused = self._probing = 0
            for attempt in attempts:
                attempt.abandoned = True
            self._changed.notify_all()
        for attempt in attempts:
            attempt.context.deliver(TIMEOUT)
