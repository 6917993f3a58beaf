"""Connections, statements and transactions."""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.dialects import DIALECTS, Batch, Dialect, Row
from watcherlite.db.sqlalchemy.mappers import Mapper
from watcherlite.db.sqlalchemy.sealing import Sealing

Rows = Sequence[Sequence[Any]]
#: Most characters of rows in one statement: MySQL takes 16 MiB in one packet.
LARGEST = 4 * 1024 * 1024


class Session:
    """One connection, and statements as `dialects` describes them.

    :ivar dialect: of its database
    :ivar mapper: for its rows
    """

    __slots__ = ('_connection', 'dialect', 'mapper')

    def __init__(
        self, connection: sa.Connection, dialect: Dialect, mapper: Mapper
    ) -> None:
        self._connection = connection
        self.dialect = dialect
        self.mapper = mapper

    def rows(self, template: str, /, **parameters: Any) -> Rows:
        """Execute a statement and return its rows."""
        return self._execute(self.dialect.sql(template), parameters).fetchall()

    def count(self, template: str, /, **parameters: Any) -> int:
        """Execute a statement and return how many rows it was about."""
        return self._execute(self.dialect.sql(template), parameters).rowcount

    def insert(self, table: str, values: Mapping[str, Any]) -> int:
        """Insert one row; return the id that the database gave it."""
        names = ', '.join(values)
        places = ', '.join(f':{name}' for name in values)
        template = f'INSERT INTO {table} ({names}) VALUES ({places})'
        if not self.dialect.returning:
            return int(self._execute(self.dialect.sql(template), values).lastrowid)
        sql = self.dialect.sql(f'{template} RETURNING id')
        return int(self._execute(sql, values).scalar_one())

    def batch_rows(self, batch: Batch, rows: Sequence[Row], **parameters: Any) -> Rows:
        """Execute the statement of a batch and return its rows."""
        found: list[Sequence[Any]] = []
        for result in self._batch(batch, rows, parameters):
            found += result.fetchall()
        return found

    def batch_count(self, batch: Batch, rows: Sequence[Row], **parameters: Any) -> int:
        """Execute the statement of a batch and return how many rows it changed."""
        return sum(result.rowcount for result in self._batch(batch, rows, parameters))

    def driver_rows(self, sql: str, parameters: Sequence[Any]) -> Rows:
        """Execute what is written for the driver itself; return its rows."""
        return self._connection.exec_driver_sql(sql, tuple(parameters)).fetchall()

    def driver_many(self, sql: str, rows: Sequence[Row]) -> int:
        """Execute what is written for the driver once per row; return the count."""
        return self._connection.exec_driver_sql(sql, [tuple(r) for r in rows]).rowcount

    def _execute(self, sql: str, parameters: Mapping[str, Any]) -> sa.CursorResult[Any]:
        return self._connection.exec_driver_sql(sql, dict(parameters) or None)

    def _batch(
        self, batch: Batch, rows: Sequence[Row], parameters: Mapping[str, Any]
    ) -> Iterator[sa.CursorResult[Any]]:
        document = self.dialect.rows(batch.columns, rows)
        if len(document) > LARGEST and len(rows) > 1 and batch.divisible:
            middle = len(rows) // 2
            yield from self._batch(batch, rows[:middle], parameters)
            yield from self._batch(batch, rows[middle:], parameters)
        else:
            sql = self.dialect.batch_sql(batch)
            yield self._execute(sql, {**parameters, 'rows': document})


class Database:
    """An engine, and how it is used.

    :ivar dialect: what it says differently
    :ivar mapper: for its rows

    :param lock_timeout: seconds for which a writer waits for another one of this
        process, where only one can write
    :param sealing: for what is secret in its rows
    """

    def __init__(
        self, engine: sa.Engine, lock_timeout: float, sealing: Sealing
    ) -> None:
        self.engine = engine
        self.dialect = DIALECTS[engine.dialect.name]()
        self.mapper = Mapper(self.dialect, sealing)
        self._lock_timeout = lock_timeout
        # SQLite makes writers poll for each other. In one process they can wait
        # in line instead.
        self._turn = threading.Lock() if engine.dialect.name == 'sqlite' else None

    def rows(self, template: str, /, **parameters: Any) -> Rows:
        """Read, outside of any transaction."""
        sql = self.dialect.sql(template)
        with self._executed(sql, parameters) as (_, result):
            return result.fetchall()

    def change(self, template: str, /, **parameters: Any) -> int:
        """Execute one statement that stands alone; return how many rows it changed.

        It may be executed twice when the connection breaks.
        """
        sql = self.dialect.sql(template)
        with self._in_turn(), self._executed(sql, parameters) as (_, result):
            return result.rowcount

    def change_once(self, sql: str, **parameters: Any) -> int:
        """Execute one statement that must not be executed twice; likewise.

        :param sql: as the driver takes it
        :raises StoreUnavailable: also where nobody knows whether it took effect
        """
        with self._in_turn(), contextlib.closing(self._connect()) as connection:
            return connection.exec_driver_sql(sql, parameters).rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Begin; commit at the end, roll back when the block raises."""
        begin = 'BEGIN' if self._turn is None else 'BEGIN IMMEDIATE'
        with self._in_turn(), self._executed(begin, {}) as (connection, _):
            try:
                yield Session(connection, self.dialect, self.mapper)
                connection.exec_driver_sql('COMMIT')
            except BaseException:
                _roll_back(connection)
                raise

    @contextlib.contextmanager
    def _executed(
        self, sql: str, parameters: Mapping[str, Any]
    ) -> Iterator[tuple[sa.Connection, sa.CursorResult[Any]]]:
        """Execute the first statement on a connection, on a new one if need be.

        A connection that has been idle may turn out to be dead. Asking it first,
        each time, would cost a round trip.
        """
        connection = self._connect()
        try:
            try:
                result = connection.exec_driver_sql(sql, dict(parameters) or None)
            except exceptions.StoreUnavailable:
                if not connection.invalidated:
                    raise
                connection.close()
                connection = self._connect()
                result = connection.exec_driver_sql(sql, dict(parameters) or None)
            yield connection, result
        finally:
            connection.close()

    def _connect(self) -> sa.Connection:
        try:
            return self.engine.connect()
        except sa.exc.TimeoutError:
            raise exceptions.StoreUnavailable(
                'All connections of this process to the database are in use; see '
                '[database] max_pool_size and pool_timeout'
            ) from None

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        if self._turn is None:
            yield
            return
        if not self._turn.acquire(timeout=self._lock_timeout):
            raise exceptions.StoreConflict(
                'Another thread of this process has been writing to the database for '
                f'{self._lock_timeout} s'
            )
        try:
            yield
        finally:
            self._turn.release()


def _roll_back(connection: sa.Connection) -> None:
    """Undo a transaction, by dropping its connection if there is no other way."""
    if connection.invalidated:
        return
    try:
        connection.exec_driver_sql('ROLLBACK')
    except Exception:
        # What made the transaction fail is the error to tell of.
        if not connection.invalidated:
            connection.invalidate()
