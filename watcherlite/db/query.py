"""Queries of lists, and the items of lists.

One query returns one page: its rows, with columns of the rows that they refer to. The
next page begins after the last row of this one (keyset pagination), so that its cost
does not depend on its position.
"""

import dataclasses
import datetime
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.audits import (
    Audit,
    AuditTemplate,
    Goal,
    ScoringEngine,
    Strategy,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """A query of a collection: its filters, order and page.

    :param filters: name -> value, or collection of allowed values; all must match. A
        value that does not exist gives an empty page
    :param sort: (sort key, descending) in turn; () for the default order. Rows that are
        equal in all keys are sorted by id; NULLs come last in both directions
    :param after: uuid of the row after which the page begins, the marker. It need not
        match the filters, and may be deleted
    :param limit: None: no limit
    :param deleted: include softly deleted rows
    :param nested: include nested stacks
    :param tenant: the project, of clusters and stacks; None: all projects
    :param since: created at this time or later; of TIMED collections, stacks, clusters
        and nodes. Fast if they are sorted by `created_at`, clusters and nodes by
        `init_at`; None: at any time. `until` likewise
    """

    filters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    sort: tuple[tuple[str, bool], ...] = ()
    after: str | None = None
    limit: int | None = None
    deleted: bool = False
    nested: bool = False
    tenant: str | None = None
    since: datetime.datetime | None = None
    until: datetime.datetime | None = None

    @property
    def times(self) -> Mapping[str, datetime.datetime]:
        """Return the limits of the time of creation by name."""
        limits = {'since': self.since, 'until': self.until}
        return {name: time for name, time in limits.items() if time is not None}


@dataclasses.dataclass(frozen=True, slots=True)
class EventQuery:
    """A query of the events of stacks, or of clusters and nodes.

    :param filters: name -> allowed values; all must match. `uuid`; `name`; `level` (of
        `clusters.LEVELS`); `subject`; `action`: of clusters the type of the action, of
        stacks the action of their state; `status`; `type` of resources; `resource`:
        names of resources, '' for the stack itself; `stack_id`; `about`: subject and id
        of a cluster or node; `cluster_id`: ids of clusters, whose events include those
        of their nodes
    :param after: uuid of the event after which the page begins. It need not match the
        filters; NotFound if the project, or the stacks, have no such event
    :param tenant: the project of clusters and nodes; None: all projects
    """

    filters: Mapping[str, Collection[Any]] = dataclasses.field(default_factory=dict)
    descending: bool = True
    after: str | None = None
    limit: int | None = None
    tenant: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedGoal:
    """A goal of a list."""

    goal: Goal


@dataclasses.dataclass(frozen=True, slots=True)
class ListedStrategy:
    """A strategy of a list, with its goal."""

    strategy: Strategy
    goal_uuid: str | None
    goal_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedScoringEngine:
    """A scoring engine of a list."""

    engine: ScoringEngine


@dataclasses.dataclass(frozen=True, slots=True)
class ListedTemplate:
    """An audit template of a list, with its goal and strategy."""

    template: AuditTemplate
    goal_uuid: str
    goal_name: str
    strategy_uuid: str | None
    strategy_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedAudit:
    """An audit of a list, with its goal and strategy."""

    audit: Audit
    goal_uuid: str
    goal_name: str
    strategy_uuid: str | None
    strategy_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedPlan:
    """An action plan of a list, with its audit and strategy."""

    plan: ActionPlan
    audit_uuid: str | None
    strategy_uuid: str | None
    strategy_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedAction:
    """An action of a list, with its action plan; None for an action without one."""

    action: Action
    plan_uuid: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedWorker:
    """A worker of the list of services.

    :param id: a permanent number; services have no uuid upstream
    """

    id: int
    uuid: str
    host: str
    lanes: tuple[str, ...]
    started_at: datetime.datetime
    lease_until: datetime.datetime
    live: bool


_TIMES = ('created_at', 'updated_at', 'deleted_at')
#: Collection -> sort keys, including columns of the rows that it refers to. Large
#: tables have only keys by which a page is as fast as by the id: no free text, no uuids
#: of other large tables, which are filters, and no columns that change while an action
#: runs, whose index would slow down every execution.
SORT_KEYS: Mapping[str, tuple[str, ...]] = {
    'goals': ('id', 'uuid', 'name', 'display_name', *_TIMES),
    'strategies': (
        'id',
        'uuid',
        'name',
        'display_name',
        *_TIMES,
        'goal_uuid',
        'goal_name',
    ),
    'scoring_engines': ('id', 'uuid', 'name', 'description', 'metainfo', *_TIMES),
    'audit_templates': (
        'id',
        'uuid',
        'name',
        'description',
        *_TIMES,
        'goal_uuid',
        'goal_name',
        'strategy_uuid',
        'strategy_name',
    ),
    'audits': (
        'id',
        'uuid',
        'name',
        'audit_type',
        'state',
        'interval',
        'auto_trigger',
        'next_run_time',
        'start_time',
        'end_time',
        'force',
        *_TIMES,
        'goal_uuid',
        'goal_name',
        'strategy_uuid',
        'strategy_name',
    ),
    'action_plans': ('id', 'uuid', 'state', *_TIMES, 'strategy_uuid', 'strategy_name'),
    'actions': ('id', 'uuid', 'action_type', 'state', 'created_at'),
}
#: Collection -> filters. `goal` and `strategy` are a uuid, a name in any case, or an
#: id; `state` is a state of the infra-optim API.
FILTERS: Mapping[str, tuple[str, ...]] = {
    'goals': (),
    'strategies': ('goal',),
    'scoring_engines': (),
    'audit_templates': ('goal', 'strategy'),
    'audits': ('goal', 'strategy', 'state'),
    'action_plans': ('audit_uuid', 'strategy', 'state'),
    'actions': ('action_plan_uuid', 'audit_uuid', 'state', 'action_type', 'target'),
}


#: The collections of the infra-optim API that can be limited to a range of times of
#: creation.
TIMED = ('audits', 'action_plans', 'actions')


class ListStore(Protocol):
    """The methods of `db.api.Store` that list objects, or find one by uuid or name.

    The names of collections are the keys of SORT_KEYS. A method raises NotFound if
    `Query.after` does not exist, and ValueError for an unknown sort key or filter. Each
    list is one statement, and two if audits or plans are sorted by goal or strategy.

    For filters and sorting, the state of a deleted action is DELETED. The deletion of a
    plan deletes its actions.
    """

    def list_goals(self, query: Query) -> list[ListedGoal]:
        """Return a page of goals."""

    def list_strategies(self, query: Query) -> list[ListedStrategy]:
        """Return a page of strategies."""

    def list_scoring_engines(self, query: Query) -> list[ListedScoringEngine]:
        """Return a page of scoring engines."""

    def list_audit_templates(self, query: Query) -> list[ListedTemplate]:
        """Return a page of audit templates."""

    def list_audits(self, query: Query) -> list[ListedAudit]:
        """Return a page of audits."""

    def list_action_plans(self, query: Query) -> list[ListedPlan]:
        """Return a page of plans."""

    def page_of_actions(self, query: Query) -> list[ListedAction]:
        """Return a page of the actions of plans."""

    def list_workers(self) -> list[ListedWorker]:
        """Return all workers, by id."""

    def find_goal(self, name: str, deleted: bool = False) -> ListedGoal:
        """Return a goal by uuid, by name in any case, or by id; raise NotFound."""

    def find_strategy(self, name: str, deleted: bool = False) -> ListedStrategy:
        """Return a strategy by uuid, by name in any case, or by id; raise NotFound."""

    def find_scoring_engine(
        self, name: str, deleted: bool = False
    ) -> ListedScoringEngine:
        """Return a scoring engine by uuid, by name in any case, or by id; NotFound."""

    def find_audit_template(self, name: str, deleted: bool = False) -> ListedTemplate:
        """Return an audit template by uuid, name or id; raise NotFound."""

    def find_audit(self, name: str, deleted: bool = False) -> ListedAudit:
        """Return an audit by uuid, by name in any case, or by id; raise NotFound."""

    def find_action_plan(self, uuid: str, deleted: bool = False) -> ListedPlan:
        """Return a plan by its uuid; raise NotFound."""

    def find_action(self, uuid: str, deleted: bool = False) -> ListedAction:
        """Return an action of a plan by its uuid; raise NotFound."""


#: The largest id on any database.
_LAST_ID = 2**63 - 1
#: Collection -> the name of its objects in messages.
TITLES: Mapping[str, str] = {
    'goals': 'Goal',
    'strategies': 'Strategy',
    'scoring_engines': 'ScoringEngine',
    'audit_templates': 'Audit template',
    'audits': 'Audit',
    'action_plans': 'Action plan',
    'actions': 'Action',
}


def check(
    title: str, query: Query, keys: Collection[str], filters: Collection[str]
) -> None:
    """Raise ValueError for a sort key or filter that a collection does not have."""
    for key, _ in query.sort:
        if key not in keys:
            raise ValueError(f'{title} cannot be sorted by {key}')
    unknown = sorted((query.filters.keys() | query.times.keys()) - set(filters))
    if unknown:
        raise ValueError(f'{title} cannot be filtered by {", ".join(unknown)}')


def not_found(noun: str, name: str) -> exceptions.NotFound:
    """Return the error for an object that does not exist."""
    return exceptions.NotFound(f'{TITLES[noun]} {name} could not be found.')


def name_in_use(noun: str, name: str) -> exceptions.Conflict:
    """Return the error for a name or uuid of another object."""
    title = TITLES[noun]
    return exceptions.Conflict(f'{title} with UUID or name {name} already exists.')


def as_id(name: str) -> int:
    """Return a name as an id; 0 if it cannot be one."""
    if not (name.isascii() and name.isdigit() and len(name) < 20):
        return 0
    number = int(name)
    return number if number <= _LAST_ID else 0
