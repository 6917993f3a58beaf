"""Pages of rows, as the API lists them.

One question answers one page: the rows, and what they show of the rows that they
belong to, so that nothing is asked per row. The next page begins after the last
row of this one (keyset), which costs the same wherever that is.
"""

import abc
import dataclasses
import datetime
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.audits import Audit, AuditTemplate, Goal, Strategy


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """Which objects of a collection are wanted, and in which order.

    :param filters: of the collection: name -> value, or a collection of allowed
        values; all must hold. What does not exist gives an empty page
    :param sort: (sort key of the collection, descending) in turn; () for the order of
        the collection. Rows that are equal in them are in the order of their ids;
        those without a value come last, both ways
    :param after: uuid of the row after which the page begins, or None. It need not
        match, and may have been deleted
    :param limit: None: all
    :param deleted: softly deleted rows too
    :param nested: stacks that are resources of others, too
    :param tenant: of clusters and stacks: None, of all projects
    """

    filters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    sort: tuple[tuple[str, bool], ...] = ()
    after: str | None = None
    limit: int | None = None
    deleted: bool = False
    nested: bool = False
    tenant: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class EventQuery:
    """Which events of stacks, or of clusters and nodes, are wanted.

    :param filters: name -> allowed values; all must hold: `uuid`, `name`, `level` (of
        `clusters.LEVELS`), `subject`; `action`, of clusters the type of the action and
        of stacks that of their state, `status`; `type` (of resources), `resource` (of
        these names; '' for the stack itself); `stack_id`; `about` (subject and id of a
        cluster or node), `cluster_id` (ids; events of a cluster are also those of its
        nodes)
    :param after: uuid of the event after which the page begins, in the order asked for;
        NotFound if the project, or the stacks, have no such event, which need not match
    :param tenant: of clusters and nodes; None: of all projects
    """

    filters: Mapping[str, Collection[Any]] = dataclasses.field(default_factory=dict)
    descending: bool = True
    after: str | None = None
    limit: int | None = None
    tenant: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedGoal:
    """A goal."""

    goal: Goal


@dataclasses.dataclass(frozen=True, slots=True)
class ListedStrategy:
    """A strategy and the goal that it reaches."""

    strategy: Strategy
    goal_uuid: str | None
    goal_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedTemplate:
    """An audit template with what it refers to."""

    template: AuditTemplate
    goal_uuid: str
    goal_name: str
    strategy_uuid: str | None
    strategy_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedAudit:
    """An audit with what it refers to."""

    audit: Audit
    goal_uuid: str
    goal_name: str
    strategy_uuid: str | None
    strategy_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedPlan:
    """A plan with what it comes from."""

    plan: ActionPlan
    audit_uuid: str | None
    strategy_uuid: str | None
    strategy_name: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedAction:
    """An action of a plan, or one without."""

    action: Action
    plan_uuid: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ListedWorker:
    """A worker, for the list of services.

    :param id: a number that stays with it; services have no uuid upstream
    """

    id: int
    uuid: str
    host: str
    lanes: tuple[str, ...]
    started_at: datetime.datetime
    lease_until: datetime.datetime
    live: bool


_TIMES = ('created_at', 'updated_at', 'deleted_at')
#: By which columns each noun can be sorted; those of joined rows included. Of tables
#: that become very large there are only those that a page is found by as quickly as
#: by the id. Not among them are texts in prose, and the uuid of what there are as
#: many of: they are filters. Nor is there what changes while an action is executed:
#: an index on that would slow down the execution of all.
SORT_KEYS: Mapping[str, tuple[str, ...]] = {
    'goals': ('id', 'uuid', 'name', 'display_name', *_TIMES),
    'strategies': (
        *('id', 'uuid', 'name', 'display_name', *_TIMES),
        *('goal_uuid', 'goal_name'),
    ),
    'audit_templates': (
        *('id', 'uuid', 'name', 'description', *_TIMES),
        *('goal_uuid', 'goal_name', 'strategy_uuid', 'strategy_name'),
    ),
    'audits': (
        *('id', 'uuid', 'name', 'audit_type', 'state', 'interval', 'auto_trigger'),
        *('next_run_time', 'start_time', 'end_time', 'force', *_TIMES),
        *('goal_uuid', 'goal_name', 'strategy_uuid', 'strategy_name'),
    ),
    'action_plans': (
        *('id', 'uuid', 'state', *_TIMES, 'strategy_uuid', 'strategy_name'),
    ),
    'actions': ('id', 'uuid', 'action_type', 'state', 'created_at'),
}
#: By what each noun can be filtered. `goal` and `strategy` are a uuid or a name
#: (names in any case), or an id; `state` is a word of the infra-optim vocabulary.
FILTERS: Mapping[str, tuple[str, ...]] = {
    'goals': (),
    'strategies': ('goal',),
    'audit_templates': ('goal', 'strategy'),
    'audits': ('goal', 'strategy', 'state'),
    'action_plans': ('audit_uuid', 'strategy', 'state'),
    'actions': ('action_plan_uuid', 'audit_uuid', 'state', 'action_type', 'target'),
}


class ListStore(Protocol):
    """The part of `db.api.Store` that lists, and that finds one by what users name.

    The names of nouns are the keys of SORT_KEYS. NotFound when `Query.after` is
    not there; ValueError for a sort key or a filter that the noun does not have.
    Each method is one statement, whatever the size of the page; two where audits or
    plans are sorted by their goal or strategy.

    The state of a deleted action is DELETED for filters and sorting. Who deletes a
    plan deletes its actions as well.
    """

    def list_goals(self, query: Query) -> list[ListedGoal]:
        """Return a page of goals."""

    def list_strategies(self, query: Query) -> list[ListedStrategy]:
        """Return a page of strategies."""

    def list_audit_templates(self, query: Query) -> list[ListedTemplate]:
        """Return a page of audit templates."""

    def list_audits(self, query: Query) -> list[ListedAudit]:
        """Return a page of audits."""

    def list_action_plans(self, query: Query) -> list[ListedPlan]:
        """Return a page of plans."""

    def page_of_actions(self, query: Query) -> list[ListedAction]:
        """Return a page of actions; those without a plan are on none."""

    def list_workers(self) -> list[ListedWorker]:
        """Return all workers that are known, by id."""

    def find_goal(self, name: str, deleted: bool = False) -> ListedGoal:
        """Return a goal by uuid, by name in any case, or by id; NotFound."""

    def find_strategy(self, name: str, deleted: bool = False) -> ListedStrategy:
        """Return a strategy, likewise."""

    def find_audit_template(self, name: str, deleted: bool = False) -> ListedTemplate:
        """Return an audit template, likewise."""

    def find_audit(self, name: str, deleted: bool = False) -> ListedAudit:
        """Return an audit, likewise."""

    def find_action_plan(self, uuid: str, deleted: bool = False) -> ListedPlan:
        """Return a plan by its uuid; NotFound."""

    def find_action(self, uuid: str, deleted: bool = False) -> ListedAction:
        """Return an action of a plan by its uuid; NotFound."""


#: No id is above it, on any database.
_LAST_ID = 2**63 - 1
#: What a user says that a noun is, for messages.
TITLES: Mapping[str, str] = {
    'goals': 'Goal',
    'strategies': 'Strategy',
    'audit_templates': 'Audit template',
    'audits': 'Audit',
    'action_plans': 'Action plan',
    'actions': 'Action',
}


def check(
    title: str, query: Query, keys: Collection[str], filters: Collection[str]
) -> None:
    """Raise ValueError for what a collection cannot be listed by."""
    for key, _ in query.sort:
        if key not in keys:
            raise ValueError(f'{title} cannot be sorted by {key}')
    unknown = sorted(query.filters.keys() - set(filters))
    if unknown:
        raise ValueError(f'{title} cannot be filtered by {", ".join(unknown)}')


def not_found(noun: str, name: str) -> exceptions.NotFound:
    """Return the error for an object that is not there."""
    return exceptions.NotFound(f'{TITLES[noun]} {name} could not be found.')


def name_in_use(noun: str, name: str) -> exceptions.Conflict:
    """Return the error for a name, or uuid, that another object has."""
    title = TITLES[noun]
    return exceptions.Conflict(f'{title} with UUID or name {name} already exists.')


def as_id(name: str) -> int:
    """Return the id that a name can be, 0 if it cannot be one."""
    if not (name.isascii() and name.isdigit() and len(name) < 20):
        return 0
    number = int(name)
    return number if number <= _LAST_ID else 0


class Finders(abc.ABC):
    """Finds one of each noun in the same two ways; see `ListStore`."""

    @abc.abstractmethod
    def _find(self, noun: str, name: str, deleted: bool) -> Any:
        """Return what is listed of one by uuid, name or id; NotFound."""

    @abc.abstractmethod
    def _find_uuid(self, noun: str, uuid: str, deleted: bool) -> Any:
        """Return what is listed of one by uuid alone; NotFound."""

    def find_goal(self, name: str, deleted: bool = False) -> ListedGoal:
        found: ListedGoal = self._find('goals', name, deleted)
        return found

    def find_strategy(self, name: str, deleted: bool = False) -> ListedStrategy:
        found: ListedStrategy = self._find('strategies', name, deleted)
        return found

    def find_audit_template(self, name: str, deleted: bool = False) -> ListedTemplate:
        found: ListedTemplate = self._find('audit_templates', name, deleted)
        return found

    def find_audit(self, name: str, deleted: bool = False) -> ListedAudit:
        found: ListedAudit = self._find('audits', name, deleted)
        return found

    def find_action_plan(self, uuid: str, deleted: bool = False) -> ListedPlan:
        found: ListedPlan = self._find_uuid('action_plans', uuid, deleted)
        return found

    def find_action(self, uuid: str, deleted: bool = False) -> ListedAction:
        found: ListedAction = self._find_uuid('actions', uuid, deleted)
        if found.plan_uuid is None:
            # Of an audit or a stack, which may be another project's.
            raise not_found('actions', uuid)
        return found
