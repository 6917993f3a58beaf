"""An action in the hands of a worker."""

from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.domain.actions import Action
from watcherlite.execution.context import Context
from watcherlite.execution.results import Conclusion
from watcherlite.plugins.base import ActionType


class Task:
    """What a worker knows of an action that it has taken.

    Only one thread works on a task at a time: a pool thread while a step runs,
    the committer while its result is written. Signals come in through the
    context.

    :ivar action: the row, as this worker last read or wrote it
    :ivar plan_uuid: for contexts and logs
    :ivar type: the plugin instance; None until prepared
    :ivar data: what the policies have made of `action.data`, or None
    :ivar applied: its effect was found to be there: execute is left out
    :ivar executing: a plugin's execute, poll, complete or revert has begun
    :ivar ended: what it came to, while its thread still checks its dependent
    :ivar abandoned: this worker has given it up; what still comes is dropped
    :ivar idle: it is InProgress, or suspended, and no thread works on it
    :ivar paused: it is suspended, in a thread that waits for a RESUME
    :ivar polls: how often it was put off; only the timer of the last one counts
    :ivar remaining: seconds left when it was suspended without a thread
    :ivar give_up_at: when the plugin is given up that ignored its deadline
    :ivar job: the last job of the pool that works, or worked, on it
    """

    __slots__ = (
        'abandoned',
        'action',
        'applied',
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
        'remaining',
        'type',
    )

    def __init__(self, action: Action, plan_uuid: str | None = None) -> None:
        self.action = action
        self.plan_uuid = plan_uuid
        self.type: ActionType | None = None
        self.context: Context | None = None
        self.data: Mapping[str, Any] | None = None
        self.applied = False
        self.executing = False
        self.ended: Conclusion | None = None
        self.abandoned = False
        self.idle = False
        self.paused = False
        self.polls = 0
        self.remaining: float | None = None
        self.give_up_at: float | None = None
        self.job: Callable[[], None] | None = None

    def __repr__(self) -> str:
        return f'<Task {self.action.uuid} {self.action.action_type}>'
