"""Deleting for good what was softly deleted of stacks."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.sqlalchemy.database import Database, Session
from watcherlite.db.sqlalchemy.dialects import to_text
from watcherlite.db.sqlalchemy.tables.events import OF_STACKS

#: Rows that are deleted in one transaction, which others may have to wait for.
BLOCK = 2000
#: Likewise stacks, each of which has many of them.
STACKS = 100

# The relay still reads the stack of what it has to publish, and those around it.
_GONE = (
    'stacks.deleted_at < :before AND stacks.root_id NOT IN ('
    'SELECT told.root_id FROM events JOIN stacks AS told ON told.id = subject_id '
    f'WHERE events.pending = 1 AND {OF_STACKS}) '
    'AND NOT EXISTS (SELECT 1 FROM stacks AS nested WHERE nested.owner_id = stacks.id '
    'AND (nested.deleted_at IS NULL OR nested.deleted_at >= :before))'
)
FIND = f'SELECT id FROM stacks WHERE {_GONE} ORDER BY id LIMIT :limit'
LOCK = f'SELECT id FROM stacks WHERE {_GONE} AND id IN_IDS(:ids) ORDER BY id FOR UPDATE'
_EVENTS = f'events WHERE subject_id IN_IDS(:ids) AND {OF_STACKS}'
_RESOURCES = 'resources WHERE stack_id IN_IDS(:ids)'
_OLD = 'resources WHERE deleted_at < :before'
DELETE_STACKS = 'DELETE FROM stacks WHERE id IN_IDS(:ids)'

#: Seconds for which an operation may know of a definition that no row refers to yet:
#: longer than any of them takes.
LONGEST = 2 * 24 * 3600
_FORGOTTEN = (
    'used_at < :before AND (used_at < FROM_NOW(:longest) OR NOT EXISTS ('
    "SELECT 1 FROM actions WHERE plan_id IS NULL AND ended = '' "
    "AND action_type = 'stack'))"
)


def _unused(stacks: str = '', resources: str = '') -> str:
    """Return that no row refers to a definition.

    :param stacks: which of them count; all if ''
    :param resources: likewise
    """
    return ' AND '.join(
        f'NOT EXISTS (SELECT 1 FROM {table} '
        f'WHERE {table}.{column} = definitions.id{which})'
        for table, column, which in (
            ('stacks', 'definition_id', stacks),
            ('stacks', 'previous_id', stacks),
            ('resources', 'definition_id', resources),
        )
    )


COUNT_DEFINITIONS = (
    f'SELECT count(*) FROM definitions WHERE {_FORGOTTEN} AND '
    + _unused(
        ' AND NOT (stacks.id IN_IDS(:ids))',
        ' AND NOT (resources.stack_id IN_IDS(:ids)) '
        'AND (resources.deleted_at IS NULL OR resources.deleted_at >= :before)',
    )
)
LOCK_DEFINITIONS = (
    f'SELECT id FROM definitions WHERE id > :after AND {_FORGOTTEN} AND {_unused()} '
    'ORDER BY id LIMIT :limit FOR UPDATE'
)
# Whoever came to refer to one before it was locked is seen by this one.
DELETE_DEFINITIONS = f'DELETE FROM definitions WHERE id IN_IDS(:ids) AND {_unused()}'


class StackPurging:
    """The part of `db.stacks.StackStore` that deletes.

    In blocks, each a transaction of its own: a stack's row is the last of it to go,
    so that a purge that is interrupted is continued by the next one.
    """

    _db: Database

    def purge_stacks(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        time = to_text(before)
        keys = [row[0] for row in self._db.rows(FIND, before=time, limit=limit)]
        if dry_run:
            return self._count_stacks(keys, time)
        counts = dict.fromkeys(('stacks', 'resources', 'events', 'definitions'), 0)
        for begin in range(0, len(keys), STACKS):
            ids = keys[begin : begin + STACKS]
            while self._purge_some(counts, ids, time):
                continue
        while self._purge_old_resources(counts, time):
            continue
        self._purge_definitions(counts, time)
        return counts

    def _count_stacks(self, keys: Sequence[int], before: str) -> dict[str, int]:
        # No row has the id 0, and MySQL has no empty lists.
        ids = self._db.dialect.ids(keys or [0])
        old = f'{_OLD} AND NOT (stack_id IN_IDS(:ids))'
        return {
            'stacks': len(keys),
            'resources': self._count_rows(_RESOURCES, ids=ids)
            + self._count_rows(old, ids=ids, before=before),
            'events': self._count_rows(_EVENTS, ids=ids),
            'definitions': self._db.rows(
                COUNT_DEFINITIONS, before=before, longest=-LONGEST, ids=ids
            )[0][0],
        }

    def count_young_events(self, before: datetime.datetime, limit: int) -> int:
        """Return how many events go with stacks, though younger than `before`."""
        time = to_text(before)
        rows = self._db.rows(FIND, before=time, limit=limit)
        ids = self._db.dialect.ids([row[0] for row in rows] or [0])
        return self._count_rows(
            f'{_EVENTS} AND occurred_at >= :before', ids=ids, before=time
        )

    def _count_rows(self, rows: str, **values: Any) -> int:
        return int(self._db.rows(f'SELECT count(*) FROM {rows}', **values)[0][0])

    def _purge_some(
        self, counts: dict[str, int], keys: Sequence[int], before: str
    ) -> bool:
        """Delete some of what belongs to stacks, or them; say whether more is left."""
        with self._db.transaction() as session:
            ids = session.dialect.ids(keys)
            locked = [row[0] for row in session.rows(LOCK, before=before, ids=ids)]
            if not locked:
                return False
            ids = session.dialect.ids(locked)
            events = _delete(session, 'sequence', _EVENTS, ids=ids)
            resources = _delete(session, 'id', _RESOURCES, ids=ids)
            counts['events'] += events
            counts['resources'] += resources
            if BLOCK in (events, resources):
                return True
            counts['stacks'] += session.count(DELETE_STACKS, ids=ids)
            return False

    def _purge_old_resources(self, counts: dict[str, int], before: str) -> bool:
        """Delete resources that stacks had long ago; say whether more are left."""
        with self._db.transaction() as session:
            deleted = _delete(session, 'id', _OLD, before=before)
        counts['resources'] += deleted
        return deleted == BLOCK

    def _purge_definitions(self, counts: dict[str, int], before: str) -> None:
        ids = [0]
        while ids:
            with self._db.transaction() as session:
                rows = session.rows(
                    LOCK_DEFINITIONS,
                    before=before,
                    longest=-LONGEST,
                    after=ids[-1],
                    limit=BLOCK,
                )
                ids = [row[0] for row in rows]
                if ids:
                    listed = session.dialect.ids(ids)
                    counts['definitions'] += session.count(
                        DELETE_DEFINITIONS, ids=listed
                    )


def _delete(session: Session, key: str, rows: str, **values: Any) -> int:
    """Delete a block of rows by their keys, the lowest first; return how many."""
    find = f'SELECT {key} FROM {rows} ORDER BY {key} LIMIT :limit'
    found = [row[0] for row in session.rows(find, limit=BLOCK, **values)]
    if found:
        table = rows.partition(' ')[0]
        ids = session.dialect.ids(found)
        session.count(f'DELETE FROM {table} WHERE {key} IN_IDS(:ids)', ids=ids)
    return len(found)
