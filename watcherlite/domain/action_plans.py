"""The action plan: a graph of actions that an operator starts as one."""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.domain import audits
from watcherlite.domain.actions import MESSAGE_LENGTH, cut
from watcherlite.states import action_plan as states

# What its workers do for it while it is ONGOING
FORWARD = 'forward'  # execute its actions
STOPPING = 'stopping'  # an action failed: cancel what has not started
REVERTING = 'reverting'  # undo what succeeded
STAGES = (FORWARD, STOPPING, REVERTING)

SKIPPED_MESSAGE = 'One or more actions were skipped.'


@dataclasses.dataclass(frozen=True, slots=True)
class ActionPlan:
    """A plan and the counters that tell how far it is.

    The second half is what changes while it lives.

    :param max_parallel: most actions that may be taken at one time; None: no
        limit but the workers' own
    :param efficacy_indicators: name, description, unit and value of each
    :param total: how many actions it has
    :param unfinished: how many of them have not ended
    :param active: how many of them a worker has taken and not ended
    :param fault: the fields of `outcomes.Fault` of the first failure, or None
    """

    uuid: str
    name: str | None = None
    id: int | None = None
    audit_id: int | None = None
    strategy_id: int | None = None
    on_failure: str = states.CONTINUE
    on_worker_loss: str = states.RESUME
    max_parallel: int | None = None
    global_efficacy: Sequence[Mapping[str, Any]] = ()
    efficacy_indicators: Sequence[Mapping[str, Any]] = ()
    created_at: datetime.datetime | None = None

    state: str = states.RECOMMENDED
    stage: str = FORWARD
    status_message: str | None = None
    total: int = 0
    unfinished: int = 0
    active: int = 0
    failed: int = 0
    skipped: int = 0
    fault: Mapping[str, Any] | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'ActionPlan':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)

    @property
    def claimable(self) -> bool:
        """Say whether workers may take actions of it."""
        if self.state == states.ONGOING:
            return self.stage != STOPPING
        return self.state == states.PENDING

    @property
    def cancels_unstarted(self) -> bool:
        """Say whether its actions that have not started are to be cancelled."""
        return self.state == states.CANCELLING or (
            self.state == states.ONGOING and self.stage == STOPPING
        )


@dataclasses.dataclass(frozen=True, slots=True)
class PlanSurroundings:
    """What of a plan's neighbourhood its notifications repeat."""

    plan: ActionPlan
    audit: audits.Audit
    goal: audits.Goal
    strategy: audits.Strategy | None


def ended_state(plan: ActionPlan) -> str | None:
    """Return the state that a plan has now come to, or None if it goes on.

    FAILED needs a FAILED action: skipped and cancelled ones do not count
    (spec 000). A plan that is to be rolled back goes on until that is done.
    """
    if plan.unfinished:
        return None
    if plan.state == states.CANCELLING:
        return states.CANCELLED
    if plan.state != states.ONGOING:
        return None
    if not plan.failed:
        return states.SUCCEEDED
    if plan.on_failure == states.ROLLBACK and plan.stage != REVERTING:
        return None
    return states.FAILED


def needs_rollback(plan: ActionPlan) -> bool:
    """Say whether the actions that revert others are to be made now."""
    return (
        plan.state == states.ONGOING
        and plan.stage == STOPPING
        and plan.unfinished == 0
        and plan.on_failure == states.ROLLBACK
    )


def skip_message(current: str | None, skipped: Iterable[tuple[str, bool]]) -> str:
    """Return a plan's status message after more of its actions were skipped.

    The fixed sentence first, then the actions as far as 255 characters go.

    :param skipped: (uuid of the action, whether a user skipped it)
    """
    text = current or ''
    if not text.startswith(SKIPPED_MESSAGE):
        text = f'{SKIPPED_MESSAGE} {text}'.strip()
    for uuid, by_user in skipped:
        who = 'by user' if by_user else 'automatically'
        sentence = f' Action {uuid} was skipped {who}.'
        if len(text) + len(sentence) > MESSAGE_LENGTH:
            break
        text += sentence
    return cut(text) or SKIPPED_MESSAGE
