"""The ports of the core: what it asks of the rooms above it.

The core counts nothing and names no plan state; `applier.progress` does.

A projection lets what actions are about follow these: a resource is CREATE_IN_PROGRESS
because an action runs that creates it. That it is so is written in the transaction
that starts the action, and how it went in the one that ends it, whoever writes that:
nothing can stay in progress by itself.
"""

import dataclasses
import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from watcherlite.db.api import Released, Store, Transaction
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.commands import Broadcast
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault
from watcherlite.plugins.base import ActionType


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """What came of a step.

    :param more: there is more of it
    :param unblocked: actions of any plan and lane that may have their target now
    """

    more: bool = False
    unblocked: Sequence[Action] = ()


class PlanRules(Protocol):
    """Pure but for `step`; every method is handed a plan that is locked."""

    def blocking_reason(self, plan: ActionPlan) -> str | None:
        """Return why no action of this plan may start, or None if one may."""

    def on_claimed(
        self, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        """Return the plan after a worker has taken actions of it."""

    def apply_changes(
        self,
        plan: ActionPlan,
        changes: Sequence[tuple[ActionChange, Fault | None]],
        claimed: int,
        derived: int,
        now: datetime.datetime,
    ) -> ActionPlan:
        """Return the plan with its counters after these changes took effect."""

    def finish_if_done(
        self, before: ActionPlan, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        """Return the plan as it ends, if nothing of it is left to do.

        :param before: as it was before it was counted: if the message differs, and
            the plan does not end, there is an event of that
        """

    def on_worker_lost(
        self, store: Store, plan_id: int, now: datetime.datetime
    ) -> str | None:
        """Do what a plan says about the loss of a worker that ran it.

        :returns: the status that the actions which it had started are to end
            in, or None if they are recovered
        """

    def step(self, store: Store, plan_uuid: str, now: datetime.datetime) -> Step:
        """Do the next bounded piece of what a plan needs besides its actions.

        That is: cancel what has not started, make the actions that revert
        others, end a plan with nothing left.
        """


class ActionTypes(Protocol):
    """The action types that are installed."""

    def make_action_type(self, name: str) -> ActionType:
        """Return an instance; raises PluginNotFound or PluginError."""

    def validate_inputs(
        self, action_type: ActionType, inputs: Mapping[str, Any]
    ) -> None:
        """Raise InvalidInput."""


class AdmissionCheck(Protocol):
    """Keeps actions from targets that are locked for the time being."""

    def blocking_reason(self, action: Action) -> str | None:
        """Return the reason why an action must not start; None: it may."""


class SignalSender(Protocol):
    """Sends signals to actions."""

    def signal_action(self, uuid: str, signal: str) -> Action:
        """Send a signal to an action and to all that it derived; NotFound, Conflict."""


class WorkerProcess(Protocol):
    """The process of a worker; no method blocks."""

    def broadcast(self, message: Broadcast) -> None:
        """Send a hint to the other workers."""

    def time_out(self, uuid: str) -> None:
        """Have what an action derived end, if its time is over; NotFound, Conflict."""

    def on_lease_lost(self, worker_id: str) -> None:
        """End: plugins that still run cannot be stopped in any other way."""


class Claimant(Protocol):
    """The dispatcher, as its observer sees it."""

    def give_back(self) -> None:
        """Let other workers have what no thread has begun."""


class WorkerEvents(Protocol):
    """Observes the dispatcher of a worker; every method returns at once."""

    def on_plan_stopped(self, plan_uuid: str) -> None:
        """A plan has actions that are to be cancelled before they start."""

    def on_unblocked(self, actions: Sequence[Action | Released]) -> None:
        """Actions of queues that this worker does not have can be claimed."""

    def on_queue_empty(self) -> None:
        """A queue with unfinished actions has none to claim now."""

    def on_work_left(self, plans: Collection[str], lanes: Collection[str]) -> None:
        """Plans (uuids) and lanes have more than this worker takes."""

    def on_waiting(self, action: Action) -> None:
        """An action waits for what it derived."""

    def on_saturated(self, dispatcher: Claimant) -> None:
        """Jobs wait, and all threads are in actions that take long."""


class Projection(Protocol):
    """Lets what actions are about follow what becomes of them."""

    def is_affected_by(self, action: Action) -> bool:
        """Return whether an action is about something that follows it; quickly."""

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Lock what these actions are about; return it, for `follow`.

        Called before the actions are changed, with those that `concerns` is true
        of: whoever changes both locks in this order.
        """

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Change what these changes, which took effect, are about.

        :param held: what `lock` returned
        :param changes: each with the detail of its event
        """


class NoProjection:
    """For workers whose actions are about nothing that has a state of its own."""

    def is_affected_by(self, action: Action) -> bool:
        """Say no."""
        return False

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Lock nothing."""
        return None

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Change nothing."""
        return []


class CompositeProjection:
    """Subjects of several kinds, each told only of its own.

    They lock in the order in which they are given.
    """

    def __init__(self, *projection: Projection) -> None:
        self._projection = projection

    def is_affected_by(self, action: Action) -> bool:
        """Return whether one of them is concerned."""
        return any(one.is_affected_by(action) for one in self._projection)

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Let each of them lock what its actions are about."""
        held = []
        for one in self._projection:
            own = [action for action in actions if one.is_affected_by(action)]
            held.append(one.lock(tx, own) if own else None)
        return held

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Let each of them follow its own; return the events in that order."""
        events: list[Event] = []
        for one, its_own in zip(self._projection, held, strict=True):
            own = [change for change in changes if one.is_affected_by(change[0].after)]
            if own:
                events += one.apply(tx, its_own, own, now)
        return events
