"""Deleting for good what was softly deleted of clusters and nodes."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy.database import Database
from watcherlite.db.sqlalchemy.dialects import to_text
from watcherlite.db.sqlalchemy.purge_batches import BLOCK, NOT_AWAITED, delete_block

#: A limit that is none.
_ALL = 2**31 - 1


def _gone(table: str, subject: str) -> str:
    """Return that a row can go: nobody works on it, or has to tell of it."""
    return (
        f'{table}.deleted_at < :before '
        'AND NOT EXISTS (SELECT 1 FROM events WHERE events.pending = 1 '
        f"AND events.subject = '{subject}' AND events.subject_id = {table}.id) "
        'AND NOT EXISTS (SELECT 1 FROM actions AS busy '
        f'WHERE busy.tenant = {table}.tenant '
        f"AND busy.ended = '' AND (busy.target = {table}.uuid "
        f'OR busy.within = {table}.uuid))'
    )


_NODE = _gone('nodes', 'node')
_CLUSTER = (
    f'{_gone("clusters", "cluster")} AND NOT EXISTS (SELECT 1 FROM nodes '
    'WHERE nodes.cluster_id = clusters.id '
    f'AND (nodes.deleted_at IS NULL OR NOT ({_NODE})))'
)
#: table -> (subject of its events, which of its rows go)
_GOING = {'nodes': ('node', _NODE), 'clusters': ('cluster', _CLUSTER)}
_ACTIONS = (
    "actions.tenant IS NOT NULL AND actions.ended <> '' "
    'AND actions.tenant IN_TEXTS(:tenants) AND actions.target IN_TEXTS(:uuids) '
    'AND NOT EXISTS (SELECT 1 FROM events '
    f'WHERE events.pending = 1 AND events.action_id = actions.id) AND {NOT_AWAITED}'
)
_EVENTS = "events.subject_id IN_IDS(:keys) AND events.subject = '{}'"
DELETE_BINDINGS = 'DELETE FROM bindings WHERE cluster_id IN_IDS(:ids)'


class ClusterPurging:
    """The part of `db.clusters.ClusterStore` that deletes.

    In blocks, each a transaction of its own: the row of a cluster or node is the last
    of it to go, so that a purge that is interrupted is continued by the next one.
    """

    _db: Database

    def purge_clusters(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        counts = {'clusters': 0, 'nodes': 0, 'actions': 0, 'events': 0}
        time = to_text(before)
        for table, most in (('nodes', _ALL), ('clusters', limit)):
            found = self._gone_rows(table, time, most)
            if dry_run:
                counts[table] = len(found)
            for begin in range(0, len(found), BLOCK):
                portion = found[begin : begin + BLOCK]
                if dry_run:
                    self._count_of(counts, table, portion)
                while not dry_run and self._purge_block(counts, table, portion, time):
                    continue
        return counts

    def count_young_of_clusters(self, before: datetime.datetime) -> dict[str, int]:
        """Return how much goes with clusters and nodes, though it is younger."""
        counts, time = {'actions': 0, 'events': 0}, to_text(before)
        for table in _GOING:
            found = self._gone_rows(table, time, _ALL)
            for begin in range(0, len(found), BLOCK):
                self._count_of(counts, table, found[begin : begin + BLOCK], time)
        return counts

    def _gone_rows(self, table: str, before: str, limit: int) -> list[Sequence[Any]]:
        found = self._db.rows(
            f'SELECT id, uuid, tenant FROM {table} WHERE {_GOING[table][1]} '
            'ORDER BY id LIMIT :limit',
            before=before,
            limit=limit,
        )
        return list(found)

    def _values(self, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
        dialect = self._db.dialect
        return {
            'keys': dialect.ids(row[0] for row in rows),
            'uuids': dialect.texts(row[1] for row in rows),
            'tenants': dialect.texts(sorted({row[2] for row in rows})),
        }

    def _count_of(
        self,
        counts: dict[str, int],
        table: str,
        rows: Sequence[Sequence[Any]],
        since: str | None = None,
    ) -> None:
        """Count the actions and events of rows.

        :param since: only those that are not older
        """
        values = self._values(rows)
        events = _EVENTS.format(_GOING[table][0])
        keys = values.pop('keys')
        young: dict[str, Any] = {}
        actions = _ACTIONS
        if since is not None:
            young = {'since': since}
            actions += ' AND actions.updated_at >= :since'
            events += ' AND events.occurred_at >= :since'
        counts['actions'] += self._counted('actions', actions, **values, **young)
        counts['events'] += self._counted('events', events, keys=keys, **young)

    def _counted(self, table: str, where: str, **values: Any) -> int:
        sql = f'SELECT count(*) FROM {table} WHERE {where}'
        return int(self._db.rows(sql, **values)[0][0])

    def _purge_block(
        self,
        counts: dict[str, int],
        table: str,
        rows: Sequence[Sequence[Any]],
        before: str,
    ) -> bool:
        """Delete some of what belongs to rows, or them; say whether more is left."""
        subject, going = _GOING[table]
        with self._db.transaction() as session:
            locked = session.rows(
                f'SELECT id, uuid, tenant FROM {table} BY(PRIMARY) '
                f'WHERE id IN_IDS(:ids) AND {going} ORDER BY id FOR UPDATE',
                ids=session.dialect.ids(row[0] for row in rows),
                before=before,
            )
            if not locked:
                return False
            events = _EVENTS.format(subject)
            if delete_block(session, counts, _ACTIONS, events, **self._values(locked)):
                return True
            ids = session.dialect.ids(row[0] for row in locked)
            if table == 'clusters':
                session.count(DELETE_BINDINGS, ids=ids)
            counts[table] += session.count(
                f'DELETE FROM {table} WHERE id IN_IDS(:ids)', ids=ids
            )
            return False
