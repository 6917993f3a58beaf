"""Two durable transitions per action, with minimal statements.

A table of its own with what a transition needs and nothing else: no owner to
compare, no dependents, no counters, no events.
"""

import datetime
import pathlib
import sqlite3
import uuid
from collections.abc import Sequence
from typing import Protocol

from tests.bench import connections
from watcherlite.states import action as states

_CREATE = (
    'CREATE TABLE transitions (id BIGINT PRIMARY KEY, uuid VARCHAR(36) NOT NULL, '
    'status VARCHAR(32) NOT NULL, start_time TIMESTAMP, end_time TIMESTAMP)'
)


class Transitions(Protocol):
    """Rows of actions with the ids 0, 1, ... in a database; used by one thread."""

    def fill(self, count: int) -> list[str]:
        """Insert `count` READY actions; return their UUIDs by id."""

    def begin(self, ids: Sequence[int]) -> None:
        """Change actions to RUNNING and commit."""

    def end(self, ids: Sequence[int]) -> None:
        """Change actions to SUCCEEDED and commit."""

    def pass_on(self, ended: int, begun: int) -> None:
        """End one action and start the next in one commit."""

    def close(self) -> None:
        """Drop the table, and the connection."""


class LostUpdate(AssertionError):
    """An update changed another number of rows than expected."""


class PostgresqlTransitions:
    """Transitions on PostgreSQL: one statement in autocommit mode per change."""

    def __init__(self, url: str) -> None:
        self._connection = connections.postgresql(url)
        self._cursor = self._connection.cursor()
        self._cursor.execute(_CREATE)

    def fill(self, count: int) -> list[str]:
        uuids = _uuids(count)
        with self._cursor.copy(
            'COPY transitions (id, uuid, status) FROM STDIN'
        ) as copy:
            for number, text in enumerate(uuids):
                copy.write_row((number, text, states.READY))
        return uuids

    def begin(self, ids: Sequence[int]) -> None:
        self._change('start_time', ids, states.READY, states.RUNNING)

    def end(self, ids: Sequence[int]) -> None:
        self._change('end_time', ids, states.RUNNING, states.SUCCEEDED)

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

    def close(self) -> None:
        self._cursor.execute('DROP TABLE transitions')
        self._connection.close()

    def _change(self, column: str, ids: Sequence[int], old: str, new: str) -> None:
        self._cursor.execute(
            f'UPDATE transitions SET status = %s, {column} = %s '
            'WHERE id = ANY(%s) AND status = %s',
            (new, _now(), list(ids), old),
        )
        _check(self._cursor.rowcount, len(ids))


class SqliteTransitions:
    """Transitions on SQLite: WAL and synchronous=FULL, one transaction per change."""

    def __init__(self, path: pathlib.Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute('PRAGMA journal_mode = WAL')
        self._connection.execute('PRAGMA synchronous = FULL')
        self._connection.execute(_CREATE.replace('BIGINT', 'INTEGER'))

    def fill(self, count: int) -> list[str]:
        uuids = _uuids(count)
        rows = [(number, text, states.READY) for number, text in enumerate(uuids)]
        with self._connection:
            self._connection.execute('BEGIN IMMEDIATE')
            self._connection.executemany(
                'INSERT INTO transitions (id, uuid, status) VALUES (?, ?, ?)', rows
            )
        return uuids

    def begin(self, ids: Sequence[int]) -> None:
        with self._connection:
            self._connection.execute('BEGIN IMMEDIATE')
            self._change('start_time', ids, states.READY, states.RUNNING)

    def end(self, ids: Sequence[int]) -> None:
        with self._connection:
            self._connection.execute('BEGIN IMMEDIATE')
            self._change('end_time', ids, states.RUNNING, states.SUCCEEDED)

    def pass_on(self, ended: int, begun: int) -> None:
        with self._connection:
            self._connection.execute('BEGIN IMMEDIATE')
            self._change('end_time', [ended], states.RUNNING, states.SUCCEEDED)
            self._change('start_time', [begun], states.READY, states.RUNNING)

    def close(self) -> None:
        self._connection.execute('DROP TABLE transitions')
        self._connection.close()

    def _change(self, column: str, ids: Sequence[int], old: str, new: str) -> None:
        now = _now().isoformat(' ')
        cursor = self._connection.executemany(
            f'UPDATE transitions SET status = ?, {column} = ? '
            'WHERE id = ? AND status = ?',
            [(new, now, number, old) for number in ids],
        )
        _check(cursor.rowcount, len(ids))


def _check(changed: int, wanted: int) -> None:
    if changed != wanted:
        raise LostUpdate(f'{changed} rows were changed instead of {wanted}')


def _uuids(count: int) -> list[str]:
    return [str(uuid.uuid4()) for _ in range(count)]


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
