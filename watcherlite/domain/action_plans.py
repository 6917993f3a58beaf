"""The action plan: a graph of actions that an operator starts as one."""

import dataclasses
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.domain import audits
from watcherlite.domain.actions import MESSAGE_LENGTH, cut
from watcherlite.domain.creators import NOBODY, Creator
from watcherlite.states import action_plan as states

# What its workers do for it while it is ONGOING
FORWARD = 'forward'  # execute its actions
STOPPING = 'stopping'  # an action failed: cancel what has not started
REVERTING = 'reverting'  # undo what succeeded
STAGES = (FORWARD, STOPPING, REVERTING)

SKIPPED_MESSAGE = 'One or more actions were skipped.'
_NAMED = re.compile(r' Action \S+ was skipped (?:by user|automatically)\.')
_MORE = re.compile(r' And (\d+) more\.$| (\d+) in all\.$')


@dataclasses.dataclass(frozen=True, slots=True)
class NewActionPlan:
    """An action plan that is not stored yet.

    The second half is what changes while it lives.

    :param max_parallel: most actions that may be taken at one time; None: no
        limit but the workers' own
    :param efficacy_indicators: name, description, unit and value of each
    :param creator: whose authority its actions have
    :param total: how many actions it has
    :param unfinished: how many of them have not ended
    :param active: how many of them a worker has taken and not ended
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
    creator: Creator = NOBODY

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
        """Return the plan as the row that the store made of it."""
        values = {f.name: getattr(self, f.name) for f in _NEW_FIELDS}
        return ActionPlan(**values, id=key)


_NEW_FIELDS = dataclasses.fields(NewActionPlan)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlan(NewActionPlan):
    """A plan and the counters that tell how far it is.

    :param id: the store's key
    """

    id: int

    def evolve(self, **changes: Any) -> 'ActionPlan':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)

    @property
    def claimable(self) -> bool:
        """Return whether workers may take actions of it."""
        if self.state == states.ONGOING:
            return self.stage != STOPPING
        return self.state == states.PENDING

    @property
    def cancels_unstarted(self) -> bool:
        """Return whether its actions that have not started are to be cancelled."""
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
    """Return whether the actions that revert others are to be made now."""
    return (
        plan.state == states.ONGOING
        and plan.stage == STOPPING
        and plan.unfinished == 0
        and plan.on_failure == states.ROLLBACK
    )


@dataclasses.dataclass(frozen=True, slots=True)
class PlanMessage:
    """The parts of a plan's status message, in their order.

    :param reason: why the plan ended, or ends, as it does
    :param text: what else it says
    :param skipped: whether actions were skipped: then SKIPPED_MESSAGE follows the
        reason
    :param named: a sentence for each skipped action that is named
    :param unnamed: how many more were skipped
    :param last: what is appended behind all
    """

    reason: str = ''
    text: str = ''
    skipped: bool = False
    named: tuple[str, ...] = ()
    unnamed: int = 0
    last: str = ''

    def render(self) -> str | None:
        """Return the message, which fits: as many actions are named as there is room.

        The reason and what is appended are never shortened in favour of the rest.
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
            # No half of the fixed sentence, which clients compare.
            begun = self.reason and len(f'{words[0]} {SKIPPED_MESSAGE}') > room
            head = self.reason if begun else f'{head[: room - 1]}…'
        elif self.skipped:
            head += self._list(room - len(head))
        return cut(f'{head}{last}'.strip()) or None

    def _list(self, room: int) -> str:
        """Return the names that fit, and how many more there are."""
        total = len(self.named) + self.unnamed
        for count in range(len(self.named), -1, -1):
            more = total - count
            tail = f' And {more} more.' if count else f' {more} in all.'
            found = ''.join(self.named[:count]) + (tail if more else '')
            if len(found) <= room:
                return found
        return ''


def parse_message(message: str | None) -> PlanMessage:
    """Return the parts of a status message that `PlanMessage.render` returned.

    What precedes SKIPPED_MESSAGE is the reason. A message without it is text.
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
    """Return a plan's status message after more of its actions were skipped.

    The fixed sentence first, behind the reason if there is one; then the actions
    as far as 255 characters go, and how many more there are.

    :param skipped: (uuid of the action, whether a user skipped it)
    :param reason_first: what the message says so far is why the plan ends
    """
    parts = parse_message(current)
    if reason_first and not parts.skipped:
        parts = PlanMessage(reason=parts.text)
    sentences = tuple(
        f' Action {uuid} was skipped {"by user" if by_user else "automatically"}.'
        for uuid, by_user in skipped
    )
    if parts.unnamed:
        # Their order is that of the skips: no later one takes an earlier one's place.
        unnamed = parts.unnamed + len(sentences)
        return dataclasses.replace(parts, unnamed=unnamed).render()
    named = parts.named + sentences
    return dataclasses.replace(parts, skipped=True, named=named).render()


def reason_message(current: str | None, reason: str) -> str | None:
    """Return the status message of a plan that ends badly: why, then the skips."""
    return dataclasses.replace(parse_message(current), reason=reason).render()


def appended_message(current: str | None, last: str) -> str | None:
    """Return a status message with a sentence behind what it said, which stays."""
    return dataclasses.replace(parse_message(current), last=last).render()
