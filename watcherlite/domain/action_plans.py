"""The action plan: a graph of actions that an operator starts as one."""

import dataclasses
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.domain import audits
from watcherlite.domain.actions import MESSAGE_LENGTH, truncate
from watcherlite.domain.creators import NO_AUTHORITY, Creator
from watcherlite.domain.rows import Value, stored
from watcherlite.states import action_plan as states

# The mode of its workers while it is ONGOING
FORWARD = 'forward'  # execute its actions
STOPPING = 'stopping'  # an action failed: cancel actions that have not started
REVERTING = 'reverting'  # revert actions that succeeded
STAGES = (FORWARD, STOPPING, REVERTING)

SKIPPED_MESSAGE = 'One or more actions were skipped.'
_NAMED = re.compile(r' Action \S+ was skipped (?:by user|automatically)\.')
_MORE = re.compile(r' And (\d+) more\.$| (\d+) in all\.$')


@dataclasses.dataclass(frozen=True, slots=True)
class NewActionPlan(Value):
    """An action plan that is not stored yet.

    The second half changes during its lifetime.

    :param max_parallel: maximum number of actions claimed at a time; None: limited by
        the workers only
    :param efficacy_indicators: name, description, unit and value of each
    :param creator: the source of the authority of its actions
    :param total: number of actions
    :param unfinished: number of actions that have not ended
    :param active: number of claimed actions that have not ended
    :param fault: the fields of `outcomes.Fault` of the first failure, or None
    """

    uuid: str
    name: str | None = None
    audit_id: int | None = None
    strategy_id: int | None = None
    on_failure: str = states.CONTINUE
    on_worker_loss: str = states.RESUME
    max_parallel: int | None = None
    global_efficacy: Sequence[Mapping[str, Any]] = ()
    efficacy_indicators: Sequence[Mapping[str, Any]] = ()
    created_at: datetime.datetime | None = None
    creator: Creator = NO_AUTHORITY

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

    def stored(self, key: int) -> 'ActionPlan':
        return stored(self, ActionPlan, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlan(NewActionPlan):
    """A plan and the counters of its progress."""

    id: int

    @property
    def claimable(self) -> bool:
        """Return whether workers may claim its actions."""
        if self.state == states.ONGOING:
            return self.stage != STOPPING
        return self.state == states.PENDING

    @property
    def cancels_unstarted(self) -> bool:
        """Return whether its unstarted actions are to be cancelled."""
        return self.state == states.CANCELLING or (
            self.state == states.ONGOING and self.stage == STOPPING
        )


@dataclasses.dataclass(frozen=True, slots=True)
class PlanRelations:
    """A plan with its audit, goal and strategy, for notifications."""

    plan: ActionPlan
    audit: audits.Audit
    goal: audits.Goal
    strategy: audits.Strategy | None


def ended_state(plan: ActionPlan) -> str | None:
    """Return the final state of a plan, or None if it has not ended.

    FAILED requires a FAILED action: skipped and cancelled ones do not count (spec 000).
    A plan that is to be rolled back continues until that is done.
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
    """Return whether the actions that revert others are to be created now."""
    return (
        plan.state == states.ONGOING
        and plan.stage == STOPPING
        and plan.unfinished == 0
        and plan.on_failure == states.ROLLBACK
    )


@dataclasses.dataclass(frozen=True, slots=True)
class PlanMessage:
    """The parts of a plan's status message, in order.

    :param reason: of the end of the plan
    :param text: other text
    :param skipped: whether actions were skipped: then SKIPPED_MESSAGE follows the
        reason
    :param named: a sentence for each named skipped action
    :param unnamed: the number of other skipped actions
    :param last: the text appended at the end
    """

    reason: str = ''
    text: str = ''
    skipped: bool = False
    named: tuple[str, ...] = ()
    unnamed: int = 0
    last: str = ''

    def render(self) -> str | None:
        """Return the message within its length limit, with as many actions as fit.

        The reason and the appended text are never shortened in favour of the rest.
        """
        last = f' {self.last}' if self.last else ''
        room = MESSAGE_LENGTH - len(last)
        words = [SKIPPED_MESSAGE] if self.skipped else []
        if self.text:
            words.append(self.text)
        if self.reason:
            stops = self.reason.endswith(('.', '!', '?', '…')) or not words
            words.insert(0, self.reason if stops else f'{self.reason}.')
        head = ' '.join(words)
        if len(head) > room:
            # Never truncate the fixed sentence, which clients compare.
            begun = self.reason and len(f'{words[0]} {SKIPPED_MESSAGE}') > room
            head = self.reason if begun else f'{head[: room - 1]}…'
        elif self.skipped:
            head += self._list(room - len(head))
        return truncate(f'{head}{last}'.strip()) or None

    def _list(self, room: int) -> str:
        """Return the sentences that fit, and the number of the others."""
        total = len(self.named) + self.unnamed
        for count in range(len(self.named), -1, -1):
            more = total - count
            tail = f' And {more} more.' if count else f' {more} in all.'
            found = ''.join(self.named[:count]) + (tail if more else '')
            if len(found) <= room:
                return found
        return ''


def parse_message(message: str | None) -> PlanMessage:
    """Return the parts of a status message created by `PlanMessage.render`.

    The text before SKIPPED_MESSAGE is the reason. A message without it is text.
    """
    before, found, after = (message or '').partition(SKIPPED_MESSAGE)
    if not found:
        return PlanMessage(text=before)
    named = tuple(_NAMED.findall(after))
    rest = _NAMED.sub('', after)
    more = _MORE.search(rest)
    unnamed = int(more.group(1) or more.group(2)) if more else 0
    text = _MORE.sub('', rest).strip()
    return PlanMessage(before.strip(), text, True, named, unnamed)


def skip_message(
    current: str | None,
    skipped: Iterable[tuple[str, bool]],
    *,
    reason_first: bool = False,
) -> str | None:
    """Return a plan's status message after further actions were skipped.

    The fixed sentence comes first, after the reason if there is one; then the actions
    that fit into 255 characters, and the number of the others.

    :param skipped: (uuid of the action, whether a user skipped it)
    :param reason_first: the existing message is the reason of the end of the plan
    """
    parts = parse_message(current)
    if reason_first and not parts.skipped:
        parts = PlanMessage(reason=parts.text)
    sentences = tuple(
        f' Action {uuid} was skipped {"by user" if by_user else "automatically"}.'
        for uuid, by_user in skipped
    )
    if parts.unnamed:
        # In the order of the skips: a later one does not displace an earlier one.
        unnamed = parts.unnamed + len(sentences)
        return dataclasses.replace(parts, unnamed=unnamed).render()
    named = parts.named + sentences
    return dataclasses.replace(parts, skipped=True, named=named).render()


def reason_message(current: str | None, reason: str) -> str | None:
    """Return the status message of a failed plan: the reason, then the skips."""
    return dataclasses.replace(parse_message(current), reason=reason).render()


def appended_message(current: str | None, last: str) -> str | None:
    """Return a status message with a sentence appended."""
    return dataclasses.replace(parse_message(current), last=last).render()
