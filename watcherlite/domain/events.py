"""Events in the past tense, stored in the transaction of the change.

One event is one change. It is a small row: immutable attributes of its subject are not
repeated. The same rows are the outbox of the notifications and the history that users
read.
"""

import dataclasses
import datetime
import os
import random
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.states import action as action_states

# Subjects
ACTION = 'action'
ACTION_PLAN = 'action_plan'
AUDIT = 'audit'
STACK = 'stack'
#: Its `subject_id` is that of the stack, so that all events of a stack are ordered.
RESOURCE = 'resource'
CLUSTER = 'cluster'
NODE = 'node'

# Kinds
CREATED = 'created'
STATE_CHANGED = 'state_changed'
MESSAGE_CHANGED = 'message_changed'
SIGNALLED = 'signalled'
DELETED = 'deleted'
STEPPED = 'stepped'
KINDS = {
    CREATED: 'it was stored',
    STATE_CHANGED: 'old_status became new_status',
    MESSAGE_CHANGED: 'its status message, or another attribute, was changed; its '
    'state was not',
    SIGNALLED: 'detail.signal was written to its control',
    DELETED: 'it was deleted, softly; its row is kept until a purge',
    STEPPED: 'detail.step of it began, ended or failed; its state did not change',
}
#: The steps of a resource at a hook: it waits, the hook was cleared, or it was not.
HOOK_BEGUN, HOOK_ENDED, HOOK_FAILED = 'hook.start', 'hook.end', 'hook.error'
#: The key in `detail` of who sent the request that changed the subject: user_id,
#: user_name, project_id, roles, request_id; of the events of clusters and nodes also
#: the receiver whose webhook was called.
INITIATOR = 'initiator'
#: The key in `detail` of the attributes that a user changed: name -> old and new value.
CHANGES = 'changes'
#: The key in `detail` of the uuid of the plan that a new plan retries.
RETRY_OF = 'retry_of'
#: The steps of an audit's run, each a `detail.step`.
STRATEGY_START = 'strategy.start'
STRATEGY_END = 'strategy.end'
STRATEGY_ERROR = 'strategy.error'
PLANNER_START = 'planner.start'
PLANNER_END = 'planner.end'
PLANNER_ERROR = 'planner.error'

# Ids are not secret. A forked process must not continue with the same ones.
_random = random.Random()  # noqa: S311  # nosec B311  # ids of events carry no authority
os.register_at_fork(after_in_child=_random.seed)


def new_uuid() -> str:
    """Return an id for an event.

    Its last digit is 0, which leaves room for the ids of the event's messages: see
    `message_id`.
    """
    # The operating system is asked once per process. The call releases the
    # interpreter's lock, and waiting for it again may take longer than all this.
    bits = _random.getrandbits(128)
    text = f'{bits:032x}'
    variant = '89ab'[bits & 3]
    return (
        f'{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:31]}0'
    )


def check_subject(
    plan_id: int | None, subject: str | None, subject_id: int | None
) -> None:
    """Raise ValueError for an invalid combination of filters."""
    if (subject is None) != (subject_id is None):
        raise ValueError('a history requires both subject and subject_id')
    if plan_id is not None and subject_id is not None:
        raise ValueError('a history is that of a plan or that of a subject, not both')


def message_id(event_uuid: str, index: int) -> str:
    """Return the stable id of the `index`-th message of an event.

    The first has the event's own id. The others differ from it in their last digit, so
    that ids of messages are unique and repeated messages have the same id.
    """
    if not 0 <= index < 16:
        raise ValueError(f'an event has at most 16 messages, not {index + 1}')
    return f'{event_uuid[:-1]}{index:x}'


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """One change.

    :param subject: ACTION, ACTION_PLAN or AUDIT
    :param old_status: the previous internal status (action) or state (plan)
    :param new_status: the new one
    :param message: the subject's status message after the change
    :param plan_state: for an action of a plan, the plan's state at that time
    :param plan_message: likewise its status message
    :param detail: data of some events only: `fault` (the fields of `outcomes.Fault`),
        `signal`, `started` (a start time was set before), `worker`, `step`, `initiator`
    :param subject_id: of subjects other than actions and plans; their events are in the
        order of commits, like those of a plan
    """

    subject: str
    kind: str
    plan_id: int | None
    action_id: int | None
    old_status: str | None
    new_status: str | None
    message: str | None
    plan_state: str | None
    plan_message: str | None
    occurred_at: datetime.datetime
    detail: Mapping[str, Any] | None = None
    uuid: str = dataclasses.field(default_factory=new_uuid)
    subject_id: int | None = None

    def with_detail(self, name: str, value: Any) -> 'Event':
        """Return a copy with one more entry of `detail`."""
        return dataclasses.replace(self, detail={**(self.detail or {}), name: value})

    @property
    def key(self) -> int:
        """Return the id of its subject; 0, which no row has, if it names none."""
        ids = {ACTION: self.action_id, ACTION_PLAN: self.plan_id}
        return ids.get(self.subject, self.subject_id) or 0


@dataclasses.dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with the attributes of its subject for readers of the outbox.

    `sequence` grows within one plan in the order of commits. The `action_*` fields are
    immutable after the action was stored, and None for events of plans; `action_inputs`
    and `action_parents` are JSON text, as stored.
    """

    sequence: int
    event: Event
    action_uuid: str | None = None
    action_name: str | None = None
    action_type: str | None = None
    action_inputs: str | None = None
    action_parents: str | None = None
    action_created_at: datetime.datetime | None = None


def action_event(
    before: Action,
    after: Action,
    plan: ActionPlan | None,
    now: datetime.datetime,
    detail: Mapping[str, Any] | None = None,
    kind: str = STATE_CHANGED,
) -> Event:
    """Return the event of one change of an action."""
    # An action that is cancelled between two attempts has started: its end is notified.
    is_retry = before.start_time is not None and before.end_time is None
    is_cancelled = (
        before.status == action_states.READY and after.status == action_states.CANCELLED
    )
    if before.has_started or after.has_started or (is_retry and is_cancelled):
        detail = {**(detail or {}), 'started': True}
    return Event(
        ACTION,
        kind,
        after.plan_id,
        after.id,
        before.status,
        after.status,
        after.status_message,
        plan.state if plan is not None else None,
        plan.status_message if plan is not None else None,
        now,
        detail,
    )


def created_event(
    action: Action, plan: ActionPlan | None, now: datetime.datetime
) -> Event:
    """Return the event of the creation of an action."""
    return Event(
        ACTION,
        CREATED,
        action.plan_id,
        action.id,
        None,
        action.status,
        action.status_message,
        plan.state if plan is not None else None,
        plan.status_message if plan is not None else None,
        now,
    )
