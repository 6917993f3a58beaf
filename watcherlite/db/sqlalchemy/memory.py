"""SQLite databases in memory for tests, each a copy of a template with the schema."""

import datetime
import functools
import sqlite3
import threading
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.clock import UTC, Clock
from watcherlite.db.sqlalchemy import errors, migration
from watcherlite.db.sqlalchemy.constructs import use_compiler

#: Seconds that a thread waits for the connection.
TIMEOUT = 60
#: In bytes. A schema of many small indexes is copied faster in small pages.
_PAGE_SIZE = 512
#: The compiled statements, which all databases share.
_COMPILED: dict[Any, Any] = {}


class _OneConnection(sa.Pool):
    """A pool of one connection, which one thread at a time has.

    A transaction holds it until its end. A thread that reads outside of its own
    transaction gets the same connection, and sees uncommitted changes.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        super().__init__(_creator(database), reset_on_return=None)
        self._database = database
        self._lock = threading.RLock()
        self._closed = False
        # A nested checkout needs another record of the same connection.
        self._unused: sa.pool.ConnectionPoolEntry | None = None

    def _do_get(self) -> sa.pool.ConnectionPoolEntry:
        if not self._lock.acquire(timeout=TIMEOUT):
            raise sa.exc.TimeoutError
        if self._closed:
            self._lock.release()
            raise exceptions.StoreUnavailable('The in-memory database is closed')
        record, self._unused = self._unused, None
        return record or self._create_connection()

    def _do_return_conn(self, record: sa.pool.ConnectionPoolEntry) -> None:
        self._unused = record
        self._lock.release()

    def dispose(self) -> None:
        with self._lock:
            self._closed = True
            self._database.close()

    def recreate(self) -> sa.Pool:
        return self


def _creator(database: sqlite3.Connection) -> Any:
    return lambda: database


def make_engine(clock: Clock | None = None) -> sa.Engine:
    """Return an engine on a new database with the current schema.

    :param clock: the clock of the database; default: the clock of the machine
    """
    database = _connect()
    database.deserialize(_template())
    database.execute('PRAGMA foreign_keys = ON')
    if clock is not None:
        _use_clock(database, clock)
    return _engine(database)


@functools.cache
def _template() -> bytes:
    """Return a serialised database with the current schema and no rows."""
    database = _connect()
    database.execute(f'PRAGMA page_size = {_PAGE_SIZE}')
    engine = _engine(database)
    try:
        migration.upgrade(engine)
        return database.serialize()
    finally:
        engine.dispose()


def _connect() -> sqlite3.Connection:
    return sqlite3.connect(':memory:', isolation_level=None, check_same_thread=False)


def _engine(database: sqlite3.Connection) -> sa.Engine:
    model = _model()
    return sa.Engine(
        _OneConnection(database), model.dialect, model.url, hide_parameters=True
    ).execution_options(compiled_cache=_COMPILED, preserve_rowcount=True)


@functools.cache
def _model() -> sa.Engine:
    """Return the engine whose dialect all engines share."""
    engine = sa.create_engine('sqlite://', isolation_level='AUTOCOMMIT')
    engine.connect().close()
    use_compiler(engine)
    engine.dialect.skip_autocommit_rollback = True
    errors.listen(engine)
    return engine


def _use_clock(database: sqlite3.Connection, clock: Clock) -> None:
    """Make a clock the clock of a database."""

    def strftime(_form: str, _now: str, offset: str = '0 seconds') -> str:
        seconds = float(offset.removesuffix(' seconds'))
        time = clock.now() + datetime.timedelta(seconds=seconds)
        return time.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%S.%f')

    database.create_function('strftime', -1, strftime)
