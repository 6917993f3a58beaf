"""Goals, strategies, scoring engines and audits, which propose action plans."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.creators import NO_AUTHORITY, Creator
from watcherlite.domain.rows import Value, stored

ONESHOT = 'ONESHOT'
CONTINUOUS = 'CONTINUOUS'
EVENT = 'EVENT'
AUDIT_TYPES = {
    ONESHOT: 'runs once, as soon as it is accepted',
    CONTINUOUS: 'runs repeatedly, by an interval or a cron expression',
    EVENT: 'runs each time its webhook is called',
}


@dataclasses.dataclass(frozen=True, slots=True)
class NewGoal(Value):
    """The objective of an audit that is not stored yet."""

    uuid: str
    name: str
    display_name: str
    efficacy_specification: Sequence[Any] = ()
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'Goal':
        return stored(self, Goal, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Goal(NewGoal):
    """A stored goal."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewStrategy(Value):
    """A way to reach a goal that is not stored yet.

    :param parameters_spec: a JSON schema
    """

    uuid: str
    name: str
    display_name: str
    goal_id: int | None = None
    parameters_spec: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'Strategy':
        return stored(self, Strategy, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Strategy(NewStrategy):
    """A stored strategy."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewScoringEngine(Value):
    """A scoring engine that is not stored yet.

    :param metainfo: the description of its features and scores, usually JSON
    """

    uuid: str
    name: str
    description: str
    metainfo: str = ''
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'ScoringEngine':
        return stored(self, ScoringEngine, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ScoringEngine(NewScoringEngine):
    """A stored scoring engine."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewAuditTemplate(Value):
    """The common values of similar audits, not stored yet; names are unique.

    :param default_parameters: of the strategy, for audits without parameters
    """

    uuid: str
    name: str
    goal_id: int
    strategy_id: int | None = None
    description: str | None = None
    scope: Sequence[Any] = ()
    default_parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'AuditTemplate':
        return stored(self, AuditTemplate, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AuditTemplate(NewAuditTemplate):
    """A stored audit template."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewAudit(Value):
    """An audit that is not stored yet: it proposes plans.

    :param interval: of CONTINUOUS ones: seconds, or a cron expression of 5 to 7 columns
    :param next_run_time: of the next run of a CONTINUOUS one
    :param force: run even while another plan is executed
    :param start_time: no run before it
    :param end_time: no run after it; the audit then becomes SUCCEEDED
    :param action_id: the action on the engine lane that runs it, or None
    :param hostname: the host of the worker that started its last run
    :param creator: the source of the authority of the proposed plans
    """

    uuid: str
    name: str
    audit_type: str
    state: str
    goal_id: int
    strategy_id: int | None = None
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    scope: Sequence[Any] = ()
    interval: str | None = None
    auto_trigger: bool = False
    status_message: str | None = None
    next_run_time: datetime.datetime | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None
    start_time: datetime.datetime | None = None
    end_time: datetime.datetime | None = None
    force: bool = False
    action_id: int | None = None
    hostname: str | None = None
    creator: Creator = NO_AUTHORITY

    def stored(self, key: int) -> 'Audit':
        return stored(self, Audit, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Audit(NewAudit):
    """A stored audit."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class AuditRequest:
    """The request of a new audit; other values are derived.

    One of `goal` and `audit_template` is required. They and `strategy` are a uuid, an
    id, or a name in any case.

    :param name: None: generated from the strategy, template or goal and the time
    :param parameters: None: those of the template, if there is one, and the defaults of
        the strategy
    :param scope: None: that of the template
    :param interval: of CONTINUOUS ones: seconds, or a cron expression of 5 to 7 columns
    :param start_time: aware; of CONTINUOUS ones, and so `end_time`
    """

    audit_type: str
    goal: str | None = None
    audit_template: str | None = None
    strategy: str | None = None
    name: str | None = None
    parameters: Mapping[str, Any] | None = None
    scope: Sequence[Any] | None = None
    interval: str | None = None
    auto_trigger: bool = False
    start_time: datetime.datetime | None = None
    end_time: datetime.datetime | None = None
    force: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class AuditTemplateRequest:
    """The request of a new audit template.

    `goal` and `strategy` are a uuid, an id, or a name in any case.

    :param default_parameters: of the strategy; None: not given
    """

    name: str
    goal: str
    strategy: str | None = None
    description: str | None = None
    scope: Sequence[Any] | None = None
    default_parameters: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class AuditRelations:
    """An audit with its goal and strategy, for notifications.

    :param strategy: None if the audit leaves the choice to its goal
    """

    audit: Audit
    goal: Goal
    strategy: Strategy | None
