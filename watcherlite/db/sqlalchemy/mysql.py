"""Two-step statements of MariaDB and MySQL: select for update, then write."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy import changes, claims
from watcherlite.db.sqlalchemy.cluster_changes import (
    SAVE_BINDINGS,
    SAVE_CLUSTERS,
    SAVE_NODES,
)
from watcherlite.db.sqlalchemy.columns import (
    ACTION_COLUMNS,
    CHANGED_ACTION,
    CHANGED_PLAN,
)
from watcherlite.db.sqlalchemy.database import Rows
from watcherlite.db.sqlalchemy.dependents import COUNTED, HANDOVER, handover_row
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, TIME, Batch, Row, to_text
from watcherlite.db.sqlalchemy.insertion import ACTIONS
from watcherlite.db.sqlalchemy.mappers import changed_plan, new_action
from watcherlite.db.sqlalchemy.stacks import (
    NEW_RESOURCES,
    SAVE_RESOURCES,
    SAVE_STACKS,
)
from watcherlite.db.sqlalchemy.transaction import SqlTransaction
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, NewAction
from watcherlite.states import action as states

_SET_PLAN = ', '.join(f'action_plans.{name} = r.{name}' for name in CHANGED_PLAN)
# In these the rows come first, and each finds its row by its key. Left to itself the
# server reads a small table from end to end, locks all of it on the way, and two
# transactions that have nothing in common are a deadlock.
_EACH_PLAN = 'ROWS(:rows) STRAIGHT_JOIN action_plans FORCE INDEX (PRIMARY)'
_EACH_STACK = 'ROWS(:rows) STRAIGHT_JOIN stacks FORCE INDEX (PRIMARY)'
_EACH_RESOURCE = 'ROWS(:rows) STRAIGHT_JOIN resources FORCE INDEX (PRIMARY)'
_EACH_CLUSTER = 'ROWS(:rows) STRAIGHT_JOIN clusters FORCE INDEX (PRIMARY)'
_EACH_NODE = 'ROWS(:rows) STRAIGHT_JOIN nodes FORCE INDEX (PRIMARY)'
_EACH_BINDING = 'ROWS(:rows) STRAIGHT_JOIN bindings FORCE INDEX (PRIMARY)'
_EACH_ACTION = 'ROWS(:rows) STRAIGHT_JOIN actions FORCE INDEX (PRIMARY)'
SAVE_PLANS = Batch(
    f'UPDATE {_EACH_PLAN} ON action_plans.id = r.id SET {_SET_PLAN}',
    {**CHANGED_PLAN, 'id': INTEGER},
)
FENCES = (
    'SELECT id, status, owner, attempt FROM actions WHERE id IN_IDS(:ids) '
    'ORDER BY id FOR UPDATE'
)
CHANGE = Batch(
    f'UPDATE {_EACH_ACTION} ON actions.id = r.id SET {changes.assignments("actions.")}',
    CHANGED_ACTION,
)
# What can be taken is read, and then locked by its keys. A read that locks would
# hold until the end all that it has passed, of other lanes as well, and the first
# row after it: others would pass over these, and nobody would tell them again.
DUE = {
    where: [
        f'SELECT id FROM actions BY(ix_actions_claimable_of_plan) WHERE {where} '
        f'AND {due} AND id > :after {claims.LOWEST}'
        for due in claims.DUE
    ]
    for where in claims.CLAIM
}
EITHER = {
    where: f'({") UNION ALL (".join(due)}) {claims.LOWEST}'
    for where, due in DUE.items()
}
HOLD = (
    f'SELECT {ACTION_COLUMNS} FROM actions BY(PRIMARY) WHERE id IN_IDS(:ids) '
    f'AND claimable = 1 AND not_before <= :now {claims.LOWEST} FOR UPDATE SKIP LOCKED'
)
TAKE = f'UPDATE actions BY(PRIMARY) SET {claims.TAKE} WHERE id IN_IDS(:ids)'
COUNT = (
    'SELECT actions.id, actions.plan_id, actions.lane, actions.pending - d.n, '
    'actions.status, actions.owner, actions.attempt, actions.blocked_on '
    f'FROM ({COUNTED}) AS d JOIN actions ON actions.id = d.child_id '
    'ORDER BY actions.id FOR UPDATE'
)
RELEASE = Batch(
    f'UPDATE {_EACH_ACTION} ON actions.id = r.id '
    'SET actions.pending = r.pending, actions.status = r.status, '
    'actions.owner = r.owner, actions.claimable = r.claimable, '
    'actions.updated_at = COALESCE(r.updated_at, actions.updated_at)',
    {
        'id': INTEGER,
        'pending': INTEGER,
        'status': TEXT,
        'owner': TEXT,
        'claimable': INTEGER,
        'updated_at': TIME,
    },
)
HAND_OVER = Batch(
    f'UPDATE {_EACH_ACTION} ON actions.id = r.h_id SET '
    + ', '.join(f'actions.{name[2:]} = r.{name}' for name in list(HANDOVER)[1:]),
    HANDOVER,
)
BY_ID = f'SELECT {ACTION_COLUMNS} FROM actions WHERE id IN_IDS(:ids)'
HELD = (
    'SELECT target FROM locks WHERE action_id IN_IDS(:ids) ORDER BY target FOR UPDATE'
)
DROP = 'DELETE FROM locks WHERE action_id IN_IDS(:ids)'
LOCK_TARGETS = Batch(
    'INSERT INTO locks (target, action_id) SELECT r.target, r.action_id '
    'FROM ROWS(:rows) ON DUPLICATE KEY UPDATE action_id = locks.action_id',
    {'target': TEXT, 'action_id': INTEGER},
)


def _saving(batch: Batch, table: str, each: str) -> Batch:
    """Return a batch that writes rows by their ids, as it is done here."""
    names = [name for name in batch.columns if name != 'id']
    values = ', '.join(f'{table}.{name} = r.{name}' for name in names)
    return Batch(f'UPDATE {each} ON {table}.id = r.id SET {values}', batch.columns)


NOTE_DEFINITION = (
    'INSERT INTO definitions (digest, template, environment, files, parameters, '
    'used_at) VALUES (:digest, :template, :environment, :files, :parameters, NOW()) '
    'ON DUPLICATE KEY UPDATE used_at = VALUES(used_at)'
)
DEFINITION = 'SELECT id FROM definitions WHERE digest = :digest'
IDS_OF_RESOURCES = 'SELECT uuid, id FROM resources WHERE uuid IN_TEXTS(:uuids)'


class MysqlTransaction(SqlTransaction):
    """`db.api.Transaction` where an UPDATE cannot say what it has changed."""

    _save_stacks = _saving(SAVE_STACKS, 'stacks', _EACH_STACK)
    _save_resources = _saving(SAVE_RESOURCES, 'resources', _EACH_RESOURCE)
    _save_clusters = _saving(SAVE_CLUSTERS, 'clusters', _EACH_CLUSTER)
    _save_nodes = _saving(SAVE_NODES, 'nodes', _EACH_NODE)
    _save_bindings = _saving(SAVE_BINDINGS, 'bindings', _EACH_BINDING)

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        rows = [(*changed_plan(plan), plan.id) for plan in plans]
        if rows:
            self._session.batch_count(SAVE_PLANS, rows)

    def _insert_portion(self, actions: Sequence[NewAction]) -> Sequence[int]:
        # An id of NULL is one that the server counts up.
        sealing = self._session.mapper.sealing
        self._insert(ACTIONS, [new_action(a, None, sealing) for a in actions])
        ids = self._ids(action.uuid for action in actions)
        return [ids[action.uuid] for action in actions]

    def _change(self, rows: list[tuple[Any, ...]]) -> Rows:
        ids = self._session.dialect.ids(row[-4] for row in rows)
        fences = {row[0]: tuple(row[1:]) for row in self._session.rows(FENCES, ids=ids)}
        matching = [row for row in rows if fences.get(row[-4]) == row[-3:]]
        if matching:
            self._session.batch_count(CHANGE, matching)
        return [(row[-4],) for row in matching]

    def _claim(
        self,
        where: str,
        values: dict[str, Any],
        worker: str,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        time = to_text(now)
        due = self._hold(where, {**values, 'now': time, 'limit': limit})
        if due:
            ids = self._session.dialect.ids(action.id for action in due)
            self._session.count(TAKE, worker=worker, now=time, ids=ids)
        return [
            action.evolve(
                status=states.READY,
                owner=worker,
                attempt=action.attempt + 1,
                updated_at=now,
            )
            for action in due
        ]

    def _hold(self, where: str, values: dict[str, Any]) -> list[Action]:
        """Lock what is due and nobody else holds, and nothing beside it."""
        limit, last = values['limit'], 0
        held: list[Action] = []
        while True:
            found = self._session.rows(EITHER[where], after=last, **values)
            if found:
                last = found[-1][0]
                ids = self._session.dialect.ids(row[0] for row in found)
                left = {**values, 'limit': limit - len(held)}
                held += self._actions(self._session.rows(HOLD, ids=ids, **left))
            # Others may hold all of these, and what comes after them is free.
            if len(found) < limit or len(held) == limit:
                return held

    def _release(
        self,
        parent_ids: Sequence[int],
        started: bool,
        handovers: Mapping[int, Action],
        now: str,
    ) -> Rows:
        parents = self._session.dialect.ids(parent_ids)
        found: list[Row] = []
        counted: list[Row] = []
        handed: list[Row] = []
        for row in self._session.rows(COUNT, parents=parents):
            key, plan_id, lane, pending, status, owner, attempt, blocked_on = row
            waits = status == states.WAITING or status == states.INIT
            handover = handovers.get(key) if blocked_on is None else None
            changed_at = None
            if pending == 0 and waits and owner is None and handover is not None:
                handed.append(handover_row(key, handover, self._session.mapper.sealing))
                counted.append((key, pending, status, owner, None, None))
                status, owner = handover.status, handover.owner
                attempt = handover.attempt
            else:
                if pending == 0 and waits and (started or status == states.WAITING):
                    status, owner, changed_at = states.READY, None, now
                free = pending == 0 and owner is None and blocked_on is None
                can_run = status == states.READY or (
                    status == states.INIT and plan_id is not None
                )
                claimable = 1 if free and can_run else None
                counted.append((key, pending, status, owner, claimable, changed_at))
            found.append((key, plan_id, lane, pending, status, owner, attempt))
        if counted:
            self._session.batch_count(RELEASE, counted)
        if handed:
            self._session.batch_count(HAND_OVER, handed)
        return found

    def _update(
        self, assignments: str, condition: str, by: str = '', **values: Any
    ) -> list[Action]:
        # Without an index it would wait for whatever anybody holds of this table.
        rows = self._session.rows(
            f'SELECT id FROM actions {by} WHERE {condition} ORDER BY id FOR UPDATE',
            **values,
        )
        if not rows:
            return []
        ids = self._session.dialect.ids(row[0] for row in rows)
        values['changed'] = ids
        self._session.count(
            f'UPDATE actions SET {assignments} WHERE id IN_IDS(:changed)', **values
        )
        return self._actions(self._session.rows(BY_ID, ids=ids))

    def _take(self, wanted: Sequence[tuple[str, int]]) -> bool:
        # INSERT IGNORE would hold a shared lock on what is there already, and two
        # who wait for the same target would deadlock when both hold its row.
        self._session.batch_count(LOCK_TARGETS, wanted)
        return False

    def _drop(self, action_ids: Sequence[int]) -> list[str]:
        ids = self._session.dialect.ids(action_ids)
        held = [row[0] for row in self._session.rows(HELD, ids=ids)]
        if held:
            self._session.count(DROP, ids=ids)
        return held

    def _add_definition(self, values: dict[str, Any]) -> int:
        self._session.count(NOTE_DEFINITION, **values)
        return int(self._session.rows(DEFINITION, digest=values['digest'])[0][0])

    def _insert_resources(self, rows: list[dict[str, Any]]) -> Sequence[int]:
        for row in rows:
            row['id'] = None
        self._insert(NEW_RESOURCES, [tuple(row.values()) for row in rows])
        uuids = self._session.dialect.texts(row['uuid'] for row in rows)
        found = self._session.rows(IDS_OF_RESOURCES, uuids=uuids)
        ids = {row[0]: row[1] for row in found}
        return [ids[row['uuid']] for row in rows]
