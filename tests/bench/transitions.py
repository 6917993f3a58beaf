"""Two durable transitions per action, with minimal statements.

The table has only the columns that a transition needs: no owner to compare, no
dependents, no counters, no events.
"""

import abc
import contextlib
import datetime
import pathlib
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from tests.bench import connections
from watcherlite.states import action as states

_CREATE = (
    'CREATE TABLE transitions (id BIGINT PRIMARY KEY, uuid VARCHAR(36) NOT NULL, '
    'status VARCHAR(32) NOT NULL, start_time TIMESTAMP, end_time TIMESTAMP)'
)


class Transitions(abc.ABC):
    """Rows of actions with the ids 0, 1, ... in a database; used by one thread."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def fill(self, count: int) -> list[str]:
        """Insert `count` READY actions; return their UUIDs by id."""
        uuids = [str(uuid.uuid4()) for _ in range(count)]
        self._insert(
            [(number, text, states.READY) for number, text in enumerate(uuids)]
        )
        return uuids

    def start(self, ids: Sequence[int]) -> None:
        """Change actions to RUNNING and commit."""
        self._change('start_time', ids, states.READY, states.RUNNING)

    def end(self, ids: Sequence[int]) -> None:
        """Change actions to SUCCEEDED and commit."""
        self._change('end_time', ids, states.RUNNING, states.SUCCEEDED)

    def close(self) -> None:
        """Drop the table, and the connection."""
        self._connection.execute('DROP TABLE transitions')
        self._connection.close()

    @abc.abstractmethod
    def pass_on(self, ended: int, begun: int) -> None:
        """End one action and start the next in one commit."""

    @abc.abstractmethod
    def _insert(self, rows: Sequence[tuple[int, str, str]]) -> None: ...

    @abc.abstractmethod
    def _change(self, column: str, ids: Sequence[int], old: str, new: str) -> None: ...


class LostUpdate(AssertionError):
    """An update changed another number of rows than expected."""


class PostgresqlTransitions(Transitions):
    """Transitions on PostgreSQL: one statement in autocommit mode per change."""

    def __init__(self, url: str) -> None:
        super().__init__(connections.postgresql(url))
        self._cursor = self._connection.cursor()
        self._cursor.execute(_CREATE)

    def pass_on(self, ended: int, begun: int) -> None:
        now = _now()
        self._cursor.execute(
            'UPDATE transitions SET '
            'status = CASE id WHEN %s THEN %s ELSE %s END, '
            'end_time = CASE id WHEN %s THEN %s END, '
            'start_time = CASE id WHEN %s THEN start_time ELSE %s END '
            'WHERE id IN (%s, %s)',
            (
                *(ended, states.SUCCEEDED, states.RUNNING),
                *(ended, now),
                *(ended, now),
                *(ended, begun),
            ),
        )
        _check(self._cursor.rowcount, 2)

    def _insert(self, rows: Sequence[tuple[int, str, str]]) -> None:
        with self._cursor.copy(
            'COPY transitions (id, uuid, status) FROM STDIN'
        ) as copy:
            for row in rows:
                copy.write_row(row)

    def _change(self, column: str, ids: Sequence[int], old: str, new: str) -> None:
        self._cursor.execute(
            f'UPDATE transitions SET status = %s, {column} = %s '
            'WHERE id = ANY(%s) AND status = %s',
            (new, _now(), list(ids), old),
        )
        _check(self._cursor.rowcount, len(ids))


class SqliteTransitions(Transitions):
    """Transitions on SQLite: WAL and synchronous=FULL, one transaction per change."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(sqlite3.connect(path, isolation_level=None))
        self._connection.execute('PRAGMA journal_mode = WAL')
        self._connection.execute('PRAGMA synchronous = FULL')
        self._connection.execute(_CREATE.replace('BIGINT', 'INTEGER'))

    def pass_on(self, ended: int, begun: int) -> None:
        with self._transaction():
            self._update('end_time', [ended], states.RUNNING, states.SUCCEEDED)
            self._update('start_time', [begun], states.READY, states.RUNNING)

    def _insert(self, rows: Sequence[tuple[int, str, str]]) -> None:
        with self._transaction():
            self._connection.executemany(
                'INSERT INTO transitions (id, uuid, status) VALUES (?, ?, ?)', rows
            )

    def _change(self, column: str, ids: Sequence[int], old: str, new: str) -> None:
        with self._transaction():
            self._update(column, ids, old, new)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._connection:
            self._connection.execute('BEGIN IMMEDIATE')
            yield

    def _update(self, column: str, ids: Sequence[int], old: str, new: str) -> None:
        now = _now().isoformat(' ')
        cursor = self._connection.executemany(
            f'UPDATE transitions SET status = ?, {column} = ? '
            'WHERE id = ? AND status = ?',
            [(new, now, number, old) for number in ids],
        )
        _check(cursor.rowcount, len(ids))


def _check(changed: int, desired: int) -> None:
    if changed != desired:
        raise LostUpdate(f'{changed} rows were changed instead of {desired}')


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
