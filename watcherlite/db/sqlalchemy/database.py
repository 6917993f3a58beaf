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
#: Maximum size of the rows of one statement: a packet of MySQL has up to 16 MiB.
MAX_DOCUMENT = 4 * 1024 * 1024
#: Rows deleted in one transaction.
BATCH = 2000


# Statements for which SQLAlchemy Core has no expression.
BEGIN, COMMIT, ROLLBACK = 'BEGIN', 'COMMIT', 'ROLLBACK'
#: Begins a transaction of SQLite with the write lock, so that it waits at its start.
BEGIN_IMMEDIATE = 'BEGIN IMMEDIATE'
#: Overwrite the deleted content of an SQLite file, whose copy may not fit into memory.
OVERWRITE = ('PRAGMA temp_store = FILE', 'VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)')


def _run(
    connection: sa.Connection,
    statement: sa.Executable | str,
    parameters: Mapping[str, Any],
) -> sa.CursorResult[Any]:
    if isinstance(statement, str):
        return connection.exec_driver_sql(statement, dict(parameters) or None)
    return connection.execute(statement, parameters)


# Cached: SQLAlchemy compares a new statement with those that it has compiled.
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
    def dialect(self) -> sa.Dialect:
        """Return the dialect of the database."""
        return self._connection.dialect

    @property
    def database(self) -> str:
        """Return the name of the dialect."""
        return self.dialect.name

    @property
    def cipher(self) -> FieldCipher:
        """Return the cipher of the engine."""
        return cipher_of(self.dialect)

    def rows(self, statement: sa.Executable, /, **parameters: Any) -> Rows:
        """Execute a statement and return its rows."""
        return self._run(statement, parameters).fetchall()

    def count(self, statement: sa.Executable, /, **parameters: Any) -> int:
        """Execute a statement and return the number of matched rows."""
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
        :param divisible: several statements may be executed if the rows are large
        """
        document = source.document(self.dialect, rows)
        if len(document) > MAX_DOCUMENT and len(rows) > 1 and divisible:
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
        """Execute a statement that reads rows from a source; return its result rows."""
        results = self.execute_rows(statement, source, rows, **options)
        return [row for result in results for row in result.fetchall()]

    def write_rows(
        self, statement: sa.Executable, source: RowSource, rows: Sequence[Row]
    ) -> int:
        """Execute a statement that reads rows from a source; return its row count."""
        if not rows:
            return 0
        return sum(r.rowcount for r in self.execute_rows(statement, source, rows))

    def execute_each(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the text of a compiled statement once for each row, in one call."""
        if rows:
            self._connection.exec_driver_sql(statement, list(rows))

    def insert_numbered(
        self, statement: sa.Insert, source: RowSource, rows: Sequence[Row]
    ) -> list[int]:
        """Insert rows with generated ids; return these, ascending, in row order.

        :param source: its first column is the uuid
        """
        uuids = [row[0] for row in rows]
        if self.database == 'mysql':
            self.write_rows(statement, source, rows)
            table: Any = statement.table
            ids = self.ids_by_uuid(table, uuids)
        else:
            found = self.rows_from(_returning_ids(statement), source, rows)
            ids = {row[0]: row[1] for row in found}
        return [ids[uuid] for uuid in uuids]

    def ids_by_uuid(self, table: sa.Table, uuids: Sequence[str]) -> dict[str, int]:
        """Return the ids of the rows with these uuids."""
        return {row[0]: row[1] for row in self.rows(_ids_by_uuid(table), uuids=uuids)}

    def insert_row(self, table: sa.Table, values: Mapping[str, Any]) -> int:
        """Insert one row; return its generated id."""
        result = self._connection.execute(_insertion(table), dict(values))
        key: Any = result.inserted_primary_key
        return int(key[0])

    def update_row(self, table: sa.Table, key: int, values: Mapping[str, Any]) -> None:
        """Update columns of the row with an id."""
        self._connection.execute(_update_by_id(table), {**values, 'row_id': key})

    def _run(
        self, statement: sa.Executable, parameters: Mapping[str, Any]
    ) -> sa.CursorResult[Any]:
        return self._connection.execute(statement, parameters)


class Database:
    """An engine, with its transactions.

    :param lock_timeout: seconds that a writer waits for another thread, on SQLite,
        which has one writer at a time
    :param cipher: the cipher of encrypted columns
    """

    def __init__(
        self, engine: sa.Engine, lock_timeout: float, cipher: FieldCipher
    ) -> None:
        self.engine = engine
        use_cipher(engine.dialect, cipher)
        self._lock_timeout = lock_timeout
        # Writers of SQLite poll for its lock. A lock of the process makes the threads
        # wait in order.
        self._write_lock = threading.Lock() if engine.dialect.name == 'sqlite' else None

    @property
    def database(self) -> str:
        """Return the name of the database dialect."""
        return self.engine.dialect.name

    def rows(self, statement: sa.Executable, /, **parameters: Any) -> Rows:
        """Execute a query outside of a transaction and return its rows."""
        with self._executed(statement, parameters) as (_, result):
            return result.fetchall()

    def change(self, statement: sa.Executable, /, **parameters: Any) -> int:
        """Execute an idempotent statement; return the number of matched rows.

        It may be executed twice if the connection is lost.
        """
        with self._locked(), self._executed(statement, parameters) as (_, result):
            return result.rowcount

    def delete_in_batches(
        self, keys: sa.Executable, delete: sa.Executable, /, **parameters: Any
    ) -> int:
        """Delete rows, up to BATCH of them in one transaction; return their number.

        :param keys: SELECT of the keys of up to `limit` of the rows
        :param delete: DELETE of the rows with the keys `ids`
        """
        count = 0
        while True:
            ids = [row[0] for row in self.rows(keys, limit=BATCH, **parameters)]
            if ids:
                count += self.change(delete, ids=ids)
            if len(ids) < BATCH:
                return count

    def overwrite(self) -> None:
        """Overwrite deleted content, which SQLite otherwise leaves in the file."""
        with self._locked(), contextlib.closing(self._connect()) as connection:
            for statement in OVERWRITE:
                connection.exec_driver_sql(statement)

    def change_once(self, statement: sa.Executable | str, **parameters: Any) -> int:
        """Execute a statement at most once; return the number of matched rows.

        :param statement: text is that of a compiled statement
        :raises StoreUnavailable: also if the outcome is unknown
        """
        with self._locked(), contextlib.closing(self._connect()) as connection:
            return _run(connection, statement, parameters).rowcount

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Begin a transaction; commit at the end of the block, roll back on errors.

        :raises CommitOutcomeUnknown: the server did not acknowledge the COMMIT
        """
        begin = BEGIN if self._write_lock is None else BEGIN_IMMEDIATE
        with self._locked(), self._executed(begin, {}) as (connection, _):
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
            if self._write_lock is not None:
                # SQLite rolls back a transaction whose COMMIT fails.
                raise
            raise exceptions.CommitOutcomeUnknown(str(error)) from error

    @contextlib.contextmanager
    def _executed(
        self, statement: sa.Executable | str, parameters: Mapping[str, Any]
    ) -> Iterator[tuple[sa.Connection, sa.CursorResult[Any]]]:
        """Execute a first statement, on a second connection if the first is dead.

        An idle connection may be dead. To test it before each use would cost a round
        trip.
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
                'All connections of this process to the database are in use; increase '
                '[database] max_pool_size or pool_timeout'
            ) from None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self._write_lock is None:
            yield
            return
        if not self._write_lock.acquire(timeout=self._lock_timeout):
            raise exceptions.StoreConflict(
                'Another thread of this process has been writing to the database for '
                f'{self._lock_timeout} s'
            )
        try:
            yield
        finally:
            self._write_lock.release()


def _roll_back(connection: sa.Connection) -> None:
    """Roll back a transaction; invalidate its connection if that fails."""
    if connection.invalidated:
        return
    try:
        connection.exec_driver_sql(ROLLBACK)
    except Exception:
        # The error that caused the rollback is the one to report.
        if not connection.invalidated:
            connection.invalidate()
