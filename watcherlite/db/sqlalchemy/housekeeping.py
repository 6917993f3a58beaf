"""The part of the store for operators: purging, and figures."""

import collections
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy.cluster_purging import ClusterPurging
from watcherlite.db.sqlalchemy.dialects import to_text
from watcherlite.db.sqlalchemy.purge_batches import BLOCK, NOT_AWAITED, delete_block
from watcherlite.db.sqlalchemy.stack_purging import StackPurging
from watcherlite.db.sqlalchemy.tables.actions import ACTIVE_PLANS

#: A limit that is none.
ALL = 2**31 - 1

_UNPUBLISHED = 'SELECT 1 FROM events WHERE events.pending = 1 AND events.'
# The relay still reads the actions of what it has to publish.
_OVER = (
    "state IN ('SUCCEEDED', 'FAILED', 'CANCELLED', 'SUPERSEDED', 'DELETED') "
    'AND COALESCE(updated_at, created_at) < :before '
    f'AND NOT EXISTS ({_UNPUBLISHED}plan_id = action_plans.id)'
)
PLANS = f'SELECT id, audit_id FROM action_plans WHERE {_OVER} ORDER BY id LIMIT :limit'
PLAN_IS_OVER = f'SELECT id FROM action_plans WHERE id = :key AND {_OVER} FOR UPDATE'
DELETE_PLAN = 'DELETE FROM action_plans WHERE id = :key'
# A webhook may run an EVENT audit again that has succeeded.
_NO_NEWS = f"NOT EXISTS ({_UNPUBLISHED}subject_id = audits.id AND subject = 'audit')"
_ENDED_AUDIT = (
    "(audits.state IN ('FAILED', 'CANCELLED', 'DELETED') "
    "OR audits.state = 'SUCCEEDED' AND audits.audit_type <> 'EVENT') "
    f'AND {_NO_NEWS}'
)
# Of two that delete plans of one audit, the second sees that it deletes the last.
LOCK_AUDIT = 'SELECT id FROM audits WHERE id = :key FOR UPDATE'
DELETE_AUDIT = (
    f'DELETE FROM audits WHERE id = :key AND {_ENDED_AUDIT} '
    'AND NOT EXISTS (SELECT 1 FROM action_plans WHERE audit_id = :key)'
)
PLANS_OF_AUDITS = (
    'SELECT audits.id, count(*) FROM audits JOIN action_plans '
    f'ON action_plans.audit_id = audits.id WHERE {_ENDED_AUDIT} '
    'AND audits.id IN_IDS(:ids) GROUP BY audits.id'
)
_OF_PLAN = 'plan_id = :key'
_OF_PLANS = 'plan_id IN_IDS(:ids)'
_LONE_ACTION = (
    "plan_id IS NULL AND ended <> '' AND updated_at < :before "
    f'AND NOT EXISTS ({_UNPUBLISHED}action_id = actions.id) AND {NOT_AWAITED}'
)
_LONE_EVENT = 'plan_id IS NULL AND pending IS NULL AND occurred_at < :before'


def _unreferred(table: str, column: str, *by: str) -> str:
    return ' AND '.join(
        f'NOT EXISTS (SELECT 1 FROM {other} WHERE {other}.{column} = {table}.id)'
        for other in by
    )


_DELETED = 'deleted_at < :before'
#: table -> (condition for old rows, that nothing refers to them). What refers to
#: others comes after them, so that each is judged as it was before the purge.
_REFERRED = {
    'goals': (
        _DELETED,
        _unreferred('goals', 'goal_id', 'strategies', 'audit_templates', 'audits'),
    ),
    'strategies': (
        _DELETED,
        _unreferred(
            *('strategies', 'strategy_id'),
            *('audit_templates', 'audits', 'action_plans'),
        ),
    ),
    'audit_templates': (_DELETED, '1 = 1'),
    'audits': (
        f'{_ENDED_AUDIT} AND COALESCE(updated_at, created_at) < :before',
        _unreferred('audits', 'audit_id', 'action_plans'),
    ),
}
PLAN_STATES = (
    f'SELECT state, count(*) FROM action_plans WHERE {ACTIVE_PLANS} GROUP BY state'
)
ACTION_STATUSES = (
    "SELECT status, count(*) FROM actions WHERE ended = '' GROUP BY status"
)
PENDING_EVENTS = 'SELECT count(*) FROM events WHERE pending = 1'
STACKS = 'SELECT status, count(*) FROM stacks WHERE hidden IN (0, 2) GROUP BY status'
RESOURCES_IN_PROGRESS = (
    "SELECT count(*) FROM resources WHERE status = 'IN_PROGRESS' AND deleted_at IS NULL"
)
WORKERS = 'SELECT count(*) FROM workers WHERE lease_until > NOW()'


class Housekeeping(StackPurging, ClusterPurging):
    """Deletes in blocks, each a transaction of its own.

    A purge that is interrupted is continued by the next one: a plan's row is the
    last of it to go.
    """

    def purge(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, int]:
        time = to_text(before)
        counts = {'action_plans': 0, 'audits': 0, 'actions': 0, 'events': 0}
        plans = self._db.rows(PLANS, before=time, limit=limit)
        # All audits are looked at, which is for the last call of many.
        for table in _REFERRED if len(plans) < limit else ():
            count = (self._count_unreferred if dry_run else self._purge_unreferred)(
                table, time
            )
            if count or table in counts:
                counts[table] = count
        if len(plans) < limit:
            self._purge_all_stacks(counts, before, dry_run)
            self._purge_all_clusters(counts, before, dry_run)
        if dry_run:
            self._count_plans(counts, [key for key, _ in plans])
            self._count_audits(counts, [audit for _, audit in plans if audit])
            self._count(counts, _LONE_ACTION, _LONE_EVENT, before=time)
            return counts
        for key, audit in plans:
            self._purge_plan(counts, key, audit, time)
        self._purge_lone(counts, time)
        return counts

    def _purge_all_stacks(
        self, counts: dict[str, int], before: datetime.datetime, dry_run: bool
    ) -> None:
        found = dict(self.purge_stacks(before, ALL, dry_run))
        if dry_run:
            # Of old events it is counted below that they go, whatever they tell of.
            found['events'] = self.count_young_events(before, ALL)
        counts['events'] += found.pop('events')
        counts.update({table: count for table, count in found.items() if count})

    def _purge_all_clusters(
        self, counts: dict[str, int], before: datetime.datetime, dry_run: bool
    ) -> None:
        found = dict(self.purge_clusters(before, ALL, dry_run))
        if dry_run:
            # Likewise; and so it is of old actions.
            found.update(self.count_young_of_clusters(before))
        for table in ('actions', 'events'):
            counts[table] += found.pop(table)
        counts.update({table: count for table, count in found.items() if count})

    def _count_plans(self, counts: dict[str, int], keys: Sequence[int]) -> None:
        counts['action_plans'] = len(keys)
        for begin in range(0, len(keys), BLOCK):
            ids = self._db.dialect.ids(keys[begin : begin + BLOCK])
            self._count(counts, _OF_PLANS, _OF_PLANS, ids=ids)

    def _count(
        self, counts: dict[str, int], actions: str, events: str, **values: Any
    ) -> None:
        for table, where in (('actions', actions), ('events', events)):
            sql = f'SELECT count(*) FROM {table} WHERE {where}'
            counts[table] += self._db.rows(sql, **values)[0][0]

    def _count_unreferred(self, table: str, before: str) -> int:
        old, unreferred = _REFERRED[table]
        sql = f'SELECT count(*) FROM {table} WHERE {old} AND {unreferred}'
        return int(self._db.rows(sql, before=before)[0][0])

    def _purge_unreferred(self, table: str, before: str) -> int:
        """Delete the old rows of a table that nothing refers to; return how many."""
        old, unreferred = _REFERRED[table]
        find = (
            f'SELECT id FROM {table} WHERE {table}.id > :after AND {old} '
            f'AND {unreferred} ORDER BY id LIMIT :limit FOR UPDATE'
        )
        # Whoever came to refer to one before it was locked is seen by this one.
        delete = f'DELETE FROM {table} WHERE id IN_IDS(:ids) AND {unreferred}'
        count, ids = 0, [0]
        while ids:
            with self._db.transaction() as session:
                rows = session.rows(find, before=before, after=ids[-1], limit=BLOCK)
                ids = [row[0] for row in rows]
                if ids:
                    listed = session.dialect.ids(ids)
                    count += session.count(delete, ids=listed)
        return count

    def _count_audits(self, counts: dict[str, int], audits: Sequence[int]) -> None:
        """Count the audits of which no plan would be left.

        :param audits: of the plans that would be deleted, one for each
        """
        gone = collections.Counter(audits)
        keys = list(gone)
        with self._db.transaction() as session:
            for begin in range(0, len(keys), BLOCK):
                ids = session.dialect.ids(keys[begin : begin + BLOCK])
                for key, plans in session.rows(PLANS_OF_AUDITS, ids=ids):
                    counts['audits'] += plans == gone[key]

    def _purge_plan(
        self, counts: dict[str, int], key: int, audit: int | None, before: str
    ) -> None:
        more = True
        while more:
            with self._db.transaction() as session:
                if audit is not None:
                    # First, as whoever changes an audit and its plans does.
                    session.rows(LOCK_AUDIT, key=audit)
                if not session.rows(PLAN_IS_OVER, key=key, before=before):
                    return
                more = delete_block(session, counts, _OF_PLAN, _OF_PLAN, key=key)
                if not more:
                    counts['action_plans'] += session.count(DELETE_PLAN, key=key)
                    if audit is not None:
                        counts['audits'] += session.count(DELETE_AUDIT, key=audit)

    def _purge_lone(self, counts: dict[str, int], before: str) -> None:
        more = True
        while more:
            with self._db.transaction() as session:
                more = delete_block(
                    session, counts, _LONE_ACTION, _LONE_EVENT, before=before
                )

    def statistics(self) -> Mapping[str, Any]:
        return {
            'action_plans': {row[0]: row[1] for row in self._db.rows(PLAN_STATES)},
            'actions': {row[0]: row[1] for row in self._db.rows(ACTION_STATUSES)},
            'pending_events': self._db.rows(PENDING_EVENTS)[0][0],
            'stacks': {row[0]: row[1] for row in self._db.rows(STACKS)},
            'resources_in_progress': self._db.rows(RESOURCES_IN_PROGRESS)[0][0],
            'workers': self._db.rows(WORKERS)[0][0],
        }
