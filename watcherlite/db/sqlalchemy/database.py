"""Connections, statements and transactions."""

import contextlib
import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy.constructs import RowSource, text_in
from watcherlite.db.sqlalchemy.encryption import FieldCipher, cipher_of, use_cipher

Rows = Sequence[Sequence[Any]]
#: One value per column, in the order of the columns.
Row = Sequence[Any]
#: Most characters of rows in one statement: MySQL takes 16 MiB in one packet.
LARGEST = 4 * 1024 * 1024


# The only statements that are texts: Core has no expression for these. That begin and
# end a transaction:
BEGIN, COMMIT, ROLLBACK = 'BEGIN', 'COMMIT', 'ROLLBACK'
#: Of SQLite, that begins one which writes: it waits at once, not in the middle.
BEGIN_IMMEDIATE = 'BEGIN IMMEDIATE'
#: Of SQLite, that write over what rows were.
OVERWRITE = ('VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)')


def _run(
    connection: sa.Connection,
    statement: sa.Executable | str,
    parameters: Mapping[str, Any],
) -> sa.CursorResult[Any]:
    if isinstance(statement, str):
        return connection.exec_driver_sql(statement)
    return connection.execute(statement, parameters)


# Made once for each table: what is made anew has to be compared with what was compiled.
@functools.cache
def _insertion(table: sa.Table) -> sa.Insert:
    return sa.insert(table)


@functools.cache
def _update_by_id(table: sa.Table) -> sa.Update:
    return sa.update(table).where(table.c.id == sa.bindparam('row_id'))


@functools.cache
def _ids_by_uuid(table: sa.Table) -> sa.Select[Any]:
    by_uuid = text_in(table.c.uuid, 'uuids')
    return sa.select(table.c.uuid, table.c.id).where(by_uuid)


@functools.cache
def _returning_ids(statement: sa.Insert) -> Any:
    table: Any = statement.table
    return statement.returning(table.c.uuid, table.c.id)


class Session:
    """The statements of one transaction, on its connection."""

    __slots__ = ('_connection',)

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    @property
    def database(self) -> str:
        """Return the name of the kind of database."""
        return self._connection.dialect.name

    @property
    def cipher(self) -> FieldCipher:
        """Return the cipher of the engine."""
        return cipher_of(self._connection.dialect)

    def rows(self, statement: sa.Executable, /, **parameters: Any) -> Rows:
        """Execute a statement and return its rows."""
        return self._run(statement, parameters).fetchall()

    def count(self, statement: sa.Executable, /, **parameters: Any) -> int:
        """Execute a statement and return how many rows it was about."""
        return self._run(statement, parameters).rowcount

    def execute_rows(
        self,
        statement: sa.Executable,
        source: RowSource,
        rows: Sequence[Row],
        *,
        divisible: bool = True,
        **parameters: Any,
    ) -> list[sa.CursorResult[Any]]:
        """Execute a statement that reads rows from a source; return its results.

        :param rows: each with the values of the columns of the source
        :param divisible: whether it may be executed in parts when the rows are large
        """
        document = source.document(self._connection.dialect, rows)
        if len(document) > LARGEST and len(rows) > 1 and divisible:
            middle = len(rows) // 2
            return [
                *self.execute_rows(statement, source, rows[:middle], **parameters),
                *self.execute_rows(statement, source, rows[middle:], **parameters),
            ]
        return [self._run(statement, {**parameters, source.parameter: document})]

    def rows_from(
        self,
        statement: sa.Executable,
        source: RowSource,
        rows: Sequence[Row],
        **options: Any,
    ) -> Rows:
        """Execute a statement that reads rows from a source; return its own rows."""
        results = self.execute_rows(statement, source, rows, **options)
        return [row for result in results for row in result]

    def write_rows(
        self, statement: sa.Executable, source: RowSource, rows: Sequence[Row]
    ) -> int:
        """Execute a statement that reads rows from a source; return the count."""
        if not rows:
            return 0
        return sum(r.rowcount for r in self.execute_rows(statement, source, rows))

    def insert_numbered(
        self,
        statement: sa.Insert,
        source: RowSource,
        rows: Sequence[Row],
    ) -> list[int]:
        """Insert rows, whose ids the database counts up; return these.

        They ascend in the order of the rows.

        :param source: its columns begin with the uuid
        """
        uuids = [row[0] for row in rows]
        if self.database == 'mysql':
            self.write_rows(statement, source, rows)
            table: Any = statement.table
            found = self.rows(_ids_by_uuid(table), uuids=uuids)
        else:
            found = self.rows_from(_returning_ids(statement), source, rows)
        known = {row[0]: row[1] for row in found}
        return [known[uuid] for uuid in uuids]

    def insert_row(self, table: sa.Table, values: Mapping[str, Any]) -> int:
        """Insert one row, by column; return the id that the database gave it."""
        result = self._connection.execute(_insertion(table), dict(values))
        key: Any = result.inserted_primary_key
        return int(key[0])

    def update_row(self, table: sa.Table, key: int, values: Mapping[str, Any]) -> None:
        """Write columns of the row with an id."""
        self._connection.execute(_update_by_id(table), {**values, 'row_id': key})

    def _run(
        self, statement: sa.Executable, parameters: Mapping[str, Any]
    ) -> sa.CursorResult[Any]:
        return self._connection.execute(statement, parameters)


class Database:
    """An engine, and how it is used.

    :param lock_timeout: seconds for which a writer waits for another one of this
        process, where only one can write
    :param sealing: for what is secret in its rows
    """

    def __init__(
        self, engine: sa.Engine, lock_timeout: float, sealing: FieldCipher
    ) -> None:
        self.engine = engine
        use_cipher(engine.dialect, sealing)
        self._lock_timeout = lock_timeout
        # SQLite makes writers poll for each other. In one process they can wait
        # in line instead.
        self._turn = threading.Lock() if engine.dialect.name == 'sqlite' else None

    def rows(self, statement: sa.Executable, /, **parameters: Any) -> Rows:
        """Read, outside of any transaction."""
        with self._executed(statement, parameters) as (_, result):
            return result.fetchall()

    def change(self, statement: sa.Executable, /, **parameters: Any) -> int:
        """Execute one statement that stands alone; return how many rows it changed.

        It may be executed twice when the connection breaks.
        """
        with self._in_turn(), self._executed(statement, parameters) as (_, result):
            return result.rowcount

    def overwrite(self) -> None:
        """Have SQLite write over what rows were; it leaves it in the file otherwise."""
        with self._in_turn(), contextlib.closing(self._connect()) as connection:
            for statement in OVERWRITE:
                connection.exec_driver_sql(statement)

    def change_once(self, statement: sa.Executable, **parameters: Any) -> int:
        """Execute one statement that must not be executed twice; likewise.

        :raises StoreUnavailable: also where nobody knows whether it took effect
        """
        with self._in_turn(), contextlib.closing(self._connect()) as connection:
            return connection.execute(statement, parameters).rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Begin; commit at the end, roll back when the block raises.

        :raises CommitOutcomeUnknown: the server did not answer the COMMIT
        """
        begin = BEGIN if self._turn is None else BEGIN_IMMEDIATE
        with self._in_turn(), self._executed(begin, {}) as (connection, _):
            try:
                yield Session(connection)
                self._commit(connection)
            except BaseException:
                _roll_back(connection)
                raise

    def _commit(self, connection: sa.Connection) -> None:
        try:
            connection.exec_driver_sql(COMMIT)
        except exceptions.StoreUnavailable as error:
            if self._turn is not None:
                # SQLite rolls back what it could not commit.
                raise
            raise exceptions.CommitOutcomeUnknown(str(error)) from error

    @contextlib.contextmanager
    def _executed(
        self, statement: sa.Executable | str, parameters: Mapping[str, Any]
    ) -> Iterator[tuple[sa.Connection, sa.CursorResult[Any]]]:
        """Execute the first statement on a connection, on a new one if need be.

        A connection that has been idle may turn out to be dead. Asking it first,
        each time, would cost a round trip.
        """
        connection = self._connect()
        try:
            try:
                result = _run(connection, statement, parameters)
            except exceptions.StoreUnavailable:
                if not connection.invalidated:
                    raise
                connection.close()
                connection = self._connect()
                result = _run(connection, statement, parameters)
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
        connection.exec_driver_sql(ROLLBACK)
    except Exception:
        # What made the transaction fail is the error to tell of.
        if not connection.invalidated:
            connection.invalidate()
