"""The ports of the core, which the packages above it implement.

The core does not know the states and counters of plans; `applier.progress` does.

A projection derives the states of objects from those of actions: a resource is
CREATE_IN_PROGRESS because an action runs that creates it. It is written in the
transaction that starts or ends the action, so that no object can stay in progress
without an action.
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
class PlanStepResult:
    """The result of one step of a plan.

    :param more: whether another step is needed
    :param unblocked: actions of any plan and lane that can take a released lock
    """

    more: bool = False
    unblocked: Sequence[Action] = ()


class PlanRules(Protocol):
    """The rules of plans; pure except `step` and `on_worker_lost`. Plans are locked."""

    def blocking_reason(self, plan: ActionPlan) -> str | None:
        """Return why no action of this plan may start, or None if one may."""

    def on_claimed(
        self, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        """Return the plan after a worker has claimed actions of it."""

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
        """Return the plan in its final state if all its actions have ended.

        :param before: the plan before `apply_changes`; if only the message differs,
            there is an event of that
        """

    def on_worker_lost(
        self, store: Store, plan_id: int, now: datetime.datetime
    ) -> str | None:
        """Apply `on_worker_loss` of a plan.

        :returns: the status in which the started actions of the worker must end, or
            None if they are recovered
        """

    def step(
        self, store: Store, plan_uuid: str, now: datetime.datetime
    ) -> PlanStepResult:
        """Perform one bounded step of a plan: everything but its actions.

        It cancels unstarted actions, inserts the actions of a rollback, or ends a plan
        whose actions have ended.
        """


class ActionTypes(Protocol):
    """The installed action types."""

    def make_action_type(self, name: str) -> ActionType:
        """Return a new instance; raises PluginNotFound or PluginError."""

    def validate_inputs(
        self, action_type: ActionType, inputs: Mapping[str, Any]
    ) -> None:
        """Raise InvalidInput for inputs that the type does not accept."""


class AdmissionCheck(Protocol):
    """Blocks actions on targets that are locked by an operator."""

    def blocking_reason(self, action: Action) -> str | None:
        """Return why an action must not start, or None if it may."""


class SignalSender(Protocol):
    """Sends signals to actions."""

    def signal_action(self, uuid: str, signal: str) -> Action:
        """Send a signal to an action and its derived actions; NotFound, Conflict."""


class WorkerProcess(Protocol):
    """The process of a worker; no method blocks for long."""

    def broadcast(self, message: Broadcast) -> None:
        """Broadcast a hint to the other workers."""

    def time_out(self, uuid: str) -> None:
        """Time out an action that waits for derived actions; NotFound, Conflict."""

    def on_lease_lost(self, worker_id: str) -> None:
        """End the process: running plugins cannot be stopped in any other way."""


class Claimant(Protocol):
    """The part of the dispatcher that its observer uses."""

    def release_unstarted(self) -> None:
        """Release the actions that no thread has started to execute."""


class WorkerEvents(Protocol):
    """Observes the dispatcher of a worker; every method returns at once."""

    def on_plan_stopped(self, plan_uuid: str) -> None:
        """A plan has unstarted actions to cancel."""

    def on_unblocked(self, actions: Sequence[Action | Released]) -> None:
        """Actions of queues that this worker does not have are claimable."""

    def on_queue_empty(self, claimed_at: datetime.datetime) -> None:
        """A queue had unfinished actions at a time, but none to claim."""

    def on_work_left(self, plans: Collection[str], lanes: Collection[str]) -> None:
        """Plans (uuids) and lanes have more work than this worker claims."""

    def on_waiting(self, action: Action) -> None:
        """An action waits for its derived actions."""

    def on_saturated(self, dispatcher: Claimant) -> None:
        """Jobs wait, and all threads run long actions."""


class Projection(Protocol):
    """Derives the states of objects from those of their actions."""

    def is_affected_by(self, action: Action) -> bool:
        """Return whether an action changes an object's state; quick and pure."""

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        """Lock the objects of these actions; return them for `apply`.

        Called before the actions are changed, with those for which `is_affected_by` is
        true. All transactions lock objects before actions.
        """

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[tuple[ActionChange, Mapping[str, Any] | None]],
        now: datetime.datetime,
    ) -> list[Event]:
        """Apply changes that took effect to the locked objects; return the events.

        :param held: the result of `lock`
        :param changes: each with the detail of its event
        """


class CompositeProjection:
    """Projections, each applied to its own actions, in the given order; or none."""

    def __init__(self, *projections: Projection) -> None:
        self._projections = projections

    def is_affected_by(self, action: Action) -> bool:
        return any(one.is_affected_by(action) for one in self._projections)

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Any:
        held = []
        for one in self._projections:
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
        events: list[Event] = []
        for one, its_own in zip(self._projections, held, strict=True):
            own = [change for change in changes if one.is_affected_by(change[0].after)]
            if own:
                events += one.apply(tx, its_own, own, now)
        return events
