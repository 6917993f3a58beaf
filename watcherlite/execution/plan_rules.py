"""What the core asks of those who know about plans.

The core counts nothing and names no plan state; `applier.progress` does.
"""

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Protocol

from watcherlite.db.api import Store
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.domain.outcomes import Fault


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

    def refusal(self, plan: ActionPlan) -> str | None:
        """Return why no action of this plan may start, or None if one may."""

    def taken(
        self, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        """Return the plan after a worker has taken actions of it."""

    def counted(
        self,
        plan: ActionPlan,
        changes: Sequence[tuple[ActionChange, Fault | None]],
        claimed: int,
        derived: int,
        now: datetime.datetime,
    ) -> ActionPlan:
        """Return the plan with its counters after these changes took effect."""

    def ended(
        self, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        """Return the plan as it ends, if nothing of it is left to do."""

    def lost(self, store: Store, plan_id: int, now: datetime.datetime) -> str | None:
        """Do what a plan says about the loss of a worker that ran it.

        :returns: the status that the actions which it had started are to end
            in, or None if they are recovered
        """

    def step(self, store: Store, plan_uuid: str, now: datetime.datetime) -> Step:
        """Do the next bounded piece of what a plan needs besides its actions.

        That is: cancel what has not started, make the actions that revert
        others, end a plan with nothing left.
        """
