"""The tables of the in-memory store: rows, sorted indices and an undo log.

Every change of a row passes `Table.put` or `Table.drop`. Those keep the indices
in step and note what was there before, so that a rollback is the same two calls
made backwards and cannot leave an index behind.
"""

import bisect
import dataclasses
import datetime
import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from watcherlite.clock import EPOCH, Clock
from watcherlite.db.api import Worker
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.audits import Audit, AuditTemplate, Goal, Strategy
from watcherlite.domain.clusters import (
    Binding,
    Cluster,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)
from watcherlite.domain.events import Event
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

Row = TypeVar('Row')

#: The fields that a database keeps as JSON, by type of row.
JSON_FIELDS: dict[type, tuple[str, ...]] = {
    Action: ('inputs', 'context', 'data', 'outputs', 'token'),
    ActionPlan: ('global_efficacy', 'efficacy_indicators', 'fault'),
    Audit: ('parameters', 'scope'),
    AuditTemplate: ('scope', 'default_parameters'),
    Binding: ('data',),
    Cluster: ('metadata', 'config', 'data', 'dependents'),
    Definition: ('template', 'environment', 'files', 'parameters'),
    Event: ('detail',),
    Goal: ('efficacy_specification',),
    Node: (
        *('metadata', 'data', 'dependents'),
        *('properties', 'attributes', 'kept'),
    ),
    PolicyObject: ('spec', 'data'),
    Profile: ('spec', 'metadata'),
    Receiver: ('actor', 'params', 'channel'),
    Resource: ('properties', 'attributes', 'metadata', 'data'),
    Stack: ('context',),
    Strategy: ('parameters_spec',),
}


def through_json(value: Any) -> Any:
    """Return what a database would give back for a value; TypeError if not JSON."""
    if value is None or value == {}:
        return value if value is None else {}
    return json.loads(json.dumps(value))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def stored(row: Any) -> Any:
    """Return a row as it is kept: nothing in it is shared with the caller."""
    fields = JSON_FIELDS[type(row)]
    return dataclasses.replace(
        row, **{name: through_json(getattr(row, name)) for name in fields}
    )


def handed_out(row: Any) -> Any:
    """Return a row for a caller, who may change the mappings in it."""
    fields = JSON_FIELDS[type(row)]
    return dataclasses.replace(
        row, **{name: _copied(getattr(row, name)) for name in fields}
    )


@dataclasses.dataclass(frozen=True, slots=True)
class EventRow:
    """An event of the outbox and when it was published."""

    event: Event
    published_at: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Role:
    """Who is in a role, and until when."""

    worker: str
    lease_until: datetime.datetime


class Index:
    """Sorted items under keys; a key without items takes no room."""

    def __init__(self) -> None:
        self._items: dict[Hashable, list[Any]] = {}

    def of(self, key: Hashable) -> Sequence[Any]:
        """Return the items of a key; copy what is kept across a change."""
        return self._items.get(key, ())

    def names(self, kind: str) -> list[Any]:
        """Return the second halves of the keys (kind, name) that have items."""
        return [
            key[1] for key in self._items if isinstance(key, tuple) and key[0] == kind
        ]

    def add(self, key: Hashable, item: Any) -> None:
        items = self._items.setdefault(key, [])
        # New rows have the highest ids, so that most items belong at the end.
        if not items or items[-1] < item:
            items.append(item)
        else:
            bisect.insort(items, item)

    def discard(self, key: Hashable, item: Any) -> None:
        items = self._items[key]
        del items[bisect.bisect_left(items, item)]
        if not items:
            del self._items[key]


class Journal:
    """What there was before, while a transaction is open."""

    def __init__(self) -> None:
        self._open: list[list[tuple[Table, Hashable, Any]]] = []

    def begin(self) -> None:
        self._open.append([])

    def commit(self) -> None:
        self._open.pop()

    def rollback(self) -> None:
        for table, key, row in reversed(self._open.pop()):
            table.restore(key, row)

    def note(self, table: 'Table', key: Hashable, row: Any) -> None:
        if self._open:
            self._open[-1].append((table, key, row))


class Table(Generic[Row]):
    """Rows by key.

    :param indexed: called with the row before and the row after a change; None
        stands for no row
    """

    def __init__(
        self,
        journal: Journal,
        indexed: Callable[[Any, Row | None, Row | None], None] | None = None,
    ) -> None:
        self.rows: dict[Any, Row] = {}
        self._journal = journal
        self._indexed = indexed
        self._last = 0

    def next_key(self) -> int:
        """Return a key that was never used; not even a rollback gives it back."""
        self._last += 1
        return self._last

    def put(self, key: Hashable, row: Row) -> None:
        self._journal.note(self, key, self.rows.get(key))
        self.restore(key, row)

    def drop(self, key: Hashable) -> None:
        self._journal.note(self, key, self.rows.get(key))
        self.restore(key, None)

    def restore(self, key: Hashable, row: Row | None) -> None:
        """Set or remove a row without a note."""
        before = self.rows.get(key)
        if row is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = row
        if self._indexed:
            self._indexed(key, before, row)


def _group(action: Action) -> tuple[str, Any]:
    """Return the key under which an action is looked for by claims."""
    if action.plan_id is None:
        return ('lane', action.lane)
    return ('plan', action.plan_id)


def _places(action: Action) -> set[tuple[Hashable, Any]]:
    """Return where the indices have an action as long as it does not change."""
    where: set[tuple[Hashable, Any]] = {
        (('status', action.plan_id, action.status), action.id)
    }
    if action.status in states.FINAL:
        return where
    if action.owner is not None:
        where.add((('owner', action.owner), action.id))
    if action.deadline is not None and action.status == states.WAITING:
        item = (action.deadline, action.id)
        where.add((('deadline', action.lane), item))
    if action.cause == states.RPC_REQUEST:
        if action.target is not None:
            where.add((('aimed', action.target), action.id))
        if action.within is not None:
            where.add((('within', action.within), action.id))
    if action.blocked_on is not None:
        where.add((('blocked', action.blocked_on), action.id))
    elif (
        action.owner is None
        and action.pending == 0
        and (
            action.status == states.READY
            or (action.status == states.INIT and action.plan_id is not None)
        )
    ):
        group = _group(action)
        if action.not_before == EPOCH:
            where.add((('due', *group), action.id))
        else:
            item = (action.not_before, action.id)
            where.add((('scheduled', *group), item))
            where.add((('scheduled', 'all', action.lane), item))
    return where


def is_awaited(action: Action, origin: Action | None) -> bool:
    """Say whether the run of an action that derived another one is not over."""
    if origin is None or origin.finished or origin.end_time is not None:
        return False
    made, began = action.created_at, origin.start_time
    return made is None or began is None or began <= made


class Tables:
    """All rows and the indices over them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.journal = Journal()
        self.index = Index()
        self.action_ids: dict[str, int] = {}
        self.plan_ids: dict[str, int] = {}
        self.event_uuids: set[str] = set()
        #: uuid -> number, for the list of services
        self.worker_ids: dict[str, int] = {}
        #: parent id -> child id -> what the edge needs
        self.children: dict[int, dict[int, str]] = {}
        #: child id -> ids of its parents
        self.parents: dict[int, set[int]] = {}
        journal = self.journal
        self.actions: Table[Action] = Table(journal, self._index_action)
        self.plans: Table[ActionPlan] = Table(journal, self._index_plan)
        self.edges: Table[str] = Table(journal, self._index_edge)
        self.events: Table[EventRow] = Table(journal, self._index_event)
        #: target -> who holds it, or 0 if it is shared, -1 if by no more
        self.locks: Table[int] = Table(journal, self._index_lock)
        #: (target, action id) -> True
        self.sharers: Table[bool] = Table(journal, self._index_sharer)
        self.audits: Table[Audit] = Table(journal)
        self.goals: Table[Goal] = Table(journal)
        self.strategies: Table[Strategy] = Table(journal)
        self.templates: Table[AuditTemplate] = Table(journal)
        self.definitions: Table[Definition] = Table(journal)
        #: id of a definition -> when it was last asked for
        self.used: dict[int, datetime.datetime] = {}
        self.stacks: Table[Stack] = Table(journal)
        self.resources: Table[Resource] = Table(journal, self._index_resource)
        #: (kind, uuid) -> key
        self.noun_ids: dict[tuple[type, str], int] = {}
        self.profiles: Table[Profile] = Table(journal, self._index_noun)
        self.policies: Table[PolicyObject] = Table(journal, self._index_noun)
        self.clusters: Table[Cluster] = Table(journal, self._index_noun)
        self.nodes: Table[Node] = Table(journal, self._index_node)
        self.receivers: Table[Receiver] = Table(journal, self._index_noun)
        self.bindings: Table[Binding] = Table(journal)
        self.nouns: dict[type, Table[Any]] = {
            Profile: self.profiles,
            PolicyObject: self.policies,
            Cluster: self.clusters,
            Node: self.nodes,
            Receiver: self.receivers,
        }
        self.workers: Table[Worker] = Table(journal)
        self.roles: Table[Role] = Table(journal)

    def _move(
        self, before: set[tuple[Hashable, Any]], after: set[tuple[Hashable, Any]]
    ) -> None:
        for key, item in before - after:
            self.index.discard(key, item)
        for key, item in after - before:
            self.index.add(key, item)

    def _index_action(
        self, key: int, before: Action | None, after: Action | None
    ) -> None:
        old = _places(before) if before else set()
        new = _places(after) if after else set()
        row = after or before
        if row and (before is None or after is None):
            # What never changes is looked at only when a row comes or goes.
            fixed = {('actions', key), (('plan', row.plan_id), key)}
            if row.derived_from is not None:
                fixed.add((('derived', row.derived_from), key))
            if after:
                new |= fixed
                self.action_ids[row.uuid] = key
            else:
                old |= fixed
                self.action_ids.pop(row.uuid, None)
        self._move(old, new)

    def _index_plan(
        self, key: int, before: ActionPlan | None, after: ActionPlan | None
    ) -> None:
        def places(plan: ActionPlan | None) -> set[tuple[Hashable, Any]]:
            if plan is None:
                return set()
            active = plan.state in plan_states.ACTIVE
            return {('plans', key)} | ({('active', key)} if active else set())

        self._move(places(before), places(after))
        if after:
            self.plan_ids[after.uuid] = key
        elif before:
            self.plan_ids.pop(before.uuid, None)

    def _index_edge(
        self, key: tuple[int, int], before: str | None, after: str | None
    ) -> None:
        parent, child = key
        if after is not None:
            self.children.setdefault(parent, {})[child] = after
            self.parents.setdefault(child, set()).add(parent)
        elif before is not None:
            del self.children[parent][child]
            if not self.children[parent]:
                del self.children[parent]
            self.parents[child].discard(parent)
            if not self.parents[child]:
                del self.parents[child]

    def _index_event(
        self, key: int, before: EventRow | None, after: EventRow | None
    ) -> None:
        def places(row: EventRow | None) -> set[tuple[Hashable, Any]]:
            if row is None:
                return set()
            where: set[tuple[Hashable, Any]] = {
                ('events', key),
                (('events', row.event.plan_id), key),
            }
            if row.event.subject_id is not None:
                of = ('history', row.event.subject, row.event.subject_id)
                where.add((of, key))
            if row.published_at is None:
                where |= {('pending', key), (('pending', row.event.plan_id), key)}
            return where

        self._move(places(before), places(after))
        if after:
            self.event_uuids.add(after.event.uuid)
        elif before:
            self.event_uuids.discard(before.event.uuid)

    def _index_resource(
        self, key: int, before: Resource | None, after: Resource | None
    ) -> None:
        def places(row: Resource | None) -> set[tuple[Hashable, Any]]:
            return {(('resources', row.stack_id), key)} if row is not None else set()

        self._move(places(before), places(after))

    def _index_noun(self, key: int, before: Any, after: Any) -> None:
        if after is not None:
            self.noun_ids[type(after), after.uuid] = key
        elif before is not None:
            self.noun_ids.pop((type(before), before.uuid), None)

    def _index_node(self, key: int, before: Node | None, after: Node | None) -> None:
        def places(row: Node | None) -> set[tuple[Hashable, Any]]:
            if row is None or row.cluster_id is None:
                return set()
            return {(('nodes', row.cluster_id), key)}

        self._move(places(before), places(after))
        self._index_noun(key, before, after)

    def drop_row(self, table: Table[Any], key: int) -> None:
        """Drop a row, and what hangs on it."""
        if table is self.actions:
            for child in list(self.children.get(key, ())):
                self.edges.drop((key, child))
            for parent in list(self.parents.get(key, ())):
                self.edges.drop((parent, key))
            for target in list(self.index.of(('locks', key))):
                self.locks.drop(target)
        table.drop(key)

    def _index_sharer(
        self, key: tuple[str, int], before: bool | None, after: bool | None
    ) -> None:
        target, action_id = key
        places: set[tuple[Hashable, Any]] = {
            (('sharers', target), action_id),
            (('shares', action_id), target),
        }
        self._move(places if before else set(), places if after else set())

    def _index_lock(self, key: str, before: int | None, after: int | None) -> None:
        if before is not None and before != after:
            self.index.discard(('locks', before), key)
        if after is not None and before != after:
            self.index.add(('locks', after), key)
