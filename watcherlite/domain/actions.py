"""The action: one durable step."""

import dataclasses
import datetime
import operator
from collections.abc import Mapping
from typing import Any

from watcherlite.clock import EPOCH
from watcherlite.domain.readiness import UNDER_WAY
from watcherlite.states import action as states

APPLIER = 'applier'
ENGINE = 'engine'
LANES = (APPLIER, ENGINE)

# Which hook of its type a READY action is to be claimed for: see `states.action`
RUN = states.RUN
CHECK = states.CHECK
COMPLETE = states.COMPLETE
REVERT = states.REVERT

#: The length of the String(255) columns of spec 000.
MESSAGE_LENGTH = 255

#: In the context of periodic actions without a plan: their changes are recorded, but
#: not each of their steps.
LOOKED_AFTER = 'looked_after'

# The messages of actions that were cancelled before they started
CANCELLED_UNSTARTED = 'Action was cancelled before it started.'
STOPPED_UNSTARTED = 'Action was not started because another action of its plan failed.'

# The streams of the log of an action: the output of a process, and reports
STDOUT = 'stdout'
STDERR = 'stderr'
REPORTS = 'log'
STREAMS = (STDOUT, STDERR, REPORTS)

# The condition of an edge of the graph
COMPLETION = 'completion'
SUCCESS = 'success'


def truncate(text: str | None) -> str | None:
    """Return a status message truncated to its limit, with an ellipsis if necessary.

    NUL characters, which databases reject, become question marks.
    """
    if text is None:
        return None
    if '\x00' in text:
        text = text.replace('\x00', '?')
    if len(text) <= MESSAGE_LENGTH:
        return text
    return text[: MESSAGE_LENGTH - 1] + '…'


@dataclasses.dataclass(frozen=True, slots=True)
class NewAction:
    """An action that is not stored yet (spec 001 has the meaning of each property).

    The second half changes during its lifetime; the store writes these fields, and only
    these, when it saves a changed action.

    :param lane: which daemon serves it
    :param plan_id: the plan that it belongs to, or None
    :param derived_from: the id of the action that asked for it, or None
    :param parents: the uuids that it depends on, as given when it was created
    :param dependents: how many actions depend on it
    :param interval: seconds between the starts of two runs; 0: not repeated
    :param timeout: seconds; 0: the option `default_action_timeout`
    :param context: of the request; never credentials in clear
    :param tenant: its project, or None
    :param within: the container of its target, or None: actions on different parts of
        one container run in parallel, but not with an action on the container
    :param owner: uuid of the worker that claimed it
    :param attempt: number of claims: with `owner`, the fencing token
    :param recoveries: number of takeovers from lost workers
    :param phase: for which it is to be claimed: RUN, CHECK, COMPLETE or REVERT
    :param pending: number of unfinished actions that it depends on
    :param not_before: not to be claimed earlier; EPOCH: at once
    :param blocked_on: the target whose lock it waits for; the uuid of the action that
        derived it, while that is suspended; or None
    :param token: of the last InProgress, or None
    :param control: the last signal, or None
    :param deadline: of its timeout, while it waits for derived actions, and after a
        Retry; EPOCH: expired, and its unfinished derived actions were cancelled; while
        it is SUSPENDED: EPOCH and the remaining time; None: known only to the worker
        that runs it
    """

    uuid: str
    action_type: str
    lane: str = APPLIER
    name: str | None = None
    plan_id: int | None = None
    derived_from: int | None = None
    target: str | None = None
    cause: str = states.RPC_REQUEST
    inputs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    parents: tuple[str, ...] = ()
    dependents: int = 0
    interval: int = 0
    timeout: int = 0
    created_at: datetime.datetime | None = None
    tenant: str | None = None
    within: str | None = None

    status: str = states.INIT
    status_message: str | None = None
    owner: str | None = None
    attempt: int = 0
    recoveries: int = 0
    phase: str = RUN
    pending: int = 0
    not_before: datetime.datetime = EPOCH
    blocked_on: str | None = None
    control: str | None = None
    token: Any = None
    start_time: datetime.datetime | None = None
    end_time: datetime.datetime | None = None
    deadline: datetime.datetime | None = None
    outputs: Mapping[str, Any] | None = None
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'Action':
        return Action(*_VALUES(self), id=key)


_NAMES = tuple(field.name for field in dataclasses.fields(NewAction))
_VALUES = operator.attrgetter(*_NAMES)
_PLACES = {name: place for place, name in enumerate(_NAMES)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Action(NewAction):
    """A row of the graph."""

    id: int

    def evolve(self, **changes: Any) -> 'Action':
        """Return a copy with other values."""
        # Twice as fast as `dataclasses.replace`, for every step of every action.
        values = list(_VALUES(self))
        for name, value in changes.items():
            values[_PLACES[name]] = value
        return Action(*values, id=self.id)

    @property
    def finished(self) -> bool:
        return self.status in states.FINAL

    @property
    def is_recorded(self) -> bool:
        """Return whether each of its steps is stored as an event."""
        return self.plan_id is not None or LOOKED_AFTER not in self.context

    @property
    def state(self) -> str:
        """Return its status in the infra-optim vocabulary."""
        return states.infra_optim_state(self.status, self.has_started)

    @property
    def has_started(self) -> bool:
        """Return whether it has started and waits.

        It may wait for derived actions, and then for a worker that resumes it. READY
        for a further attempt it is not running: it will start again.
        """
        return UNDER_WAY.holds(self)


@dataclasses.dataclass(frozen=True, slots=True)
class ActionChange:
    """A compare-and-set: the row must be equal to `before`.

    Compared are status, owner and attempt: a worker that lost the action, or the race,
    changes nothing. `control` is never written by a change, because signals arrive
    while a worker holds the row.
    """

    before: Action
    after: Action


@dataclasses.dataclass(frozen=True, slots=True)
class Edge:
    """`child` depends on `parent` (uuids)."""

    parent: str
    child: str
    needs: str = COMPLETION
