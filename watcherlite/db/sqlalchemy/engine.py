"""The engine: how this process talks to its database.

Every connection is in autocommit mode, so that a read costs one round trip and
leaves nothing to roll back; `database` begins and ends transactions in words.
"""

import dataclasses
import errno
import os
import sqlite3
import threading
from typing import Any

import sqlalchemy as sa
import tenacity

from watcherlite import exceptions
from watcherlite.db.sqlalchemy import errors
from watcherlite.db.sqlalchemy.constructs import use_compiler
from watcherlite.db.sqlalchemy.encryption import Loading, no_keys

#: The drivers that are known to work, by what a URL may begin with.
DRIVERS = {
    'sqlite': 'sqlite+pysqlite',
    'postgresql': 'postgresql+psycopg',
    'mysql': 'mysql+pymysql',
    # SQLAlchemy's name for a dialect that refuses MySQL; oslo.db does not know it.
    'mariadb': 'mysql+pymysql',
}
#: Seconds after which a connection is made anew: servers and what is before them
#: drop idle ones, MySQL after eight hours.
RECYCLE = 3600
#: A transaction never waits for anything but the database. Locks of a process
#: that was stopped in the middle of one are given back after so many seconds.
IDLE_IN_TRANSACTION = 15
#: Held while the file of a database is made: whoever finds it has to wait until who
#: made it has closed it, see `_make_private`.
_MAKING = threading.Lock()


@dataclasses.dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """What [database] says; times in seconds.

    :param url: an SQLAlchemy URL, password included
    :param max_pool_size: the most connections of this process
    :param pool_timeout: how long to wait for one of them
    :param connect_timeout: how long a server may take to accept one
    :param statement_timeout: after which a server gives a statement up; 0: never
    :param busy_timeout: how long a statement waits for another transaction
    :param sqlite_synchronous: FULL or NORMAL
    :param keys: called for the keys of secrets when they are needed, see `sealing`
    """

    url: str
    max_pool_size: int = 5
    pool_timeout: float = 30
    connect_timeout: int = 5
    statement_timeout: int = 60
    busy_timeout: int = 10
    sqlite_synchronous: str = 'FULL'
    keys: Loading = dataclasses.field(default=no_keys, compare=False)


def make_engine(settings: DatabaseSettings) -> sa.Engine:
    """Return an engine; nothing is connected yet.

    :raises ConfigurationError: for a URL that cannot work
    """
    url = parse(settings.url)
    kind = url.get_backend_name()
    engine = sa.create_engine(
        url,
        isolation_level='AUTOCOMMIT',
        hide_parameters=True,
        pool_size=settings.max_pool_size,
        max_overflow=0,
        pool_timeout=settings.pool_timeout,
        pool_recycle=RECYCLE,
        pool_use_lifo=True,
        # Whoever begins a transaction also ends it: see `database`.
        pool_reset_on_return=None,
        # Of an INSERT too, which tells by it how many rows were new.
        execution_options={'preserve_rowcount': True},
        connect_args=_CONNECT_ARGUMENTS[kind](url, settings),
    )
    # Newer releases of SQLAlchemy can leave out the ROLLBACK after each read.
    engine.dialect.skip_autocommit_rollback = True
    use_compiler(engine)
    errors.listen(engine)
    if kind == 'sqlite':
        _prepare_sqlite(engine, settings)
    elif kind == 'mysql':
        _prepare_mysql(engine, settings)
    return engine


def parse(text: str) -> sa.URL:
    """Return a URL with a driver that works; ConfigurationError otherwise."""
    try:
        url = sa.make_url(text)
    except sa.exc.ArgumentError:
        raise exceptions.ConfigurationError(
            '[database] connection is not a URL; it looks like '
            'postgresql+psycopg://USER:PASSWORD@HOST/NAME'
        ) from None
    driver = DRIVERS.get(url.get_backend_name())
    if driver is None or url.drivername not in (driver, *DRIVERS, 'mariadb+pymysql'):
        raise exceptions.ConfigurationError(
            f'[database] connection begins with {url.drivername}; it can begin with '
            f'{", ".join(sorted(set(DRIVERS.values())))}'
        )
    if url.get_backend_name() == 'sqlite' and url.database in (None, '', ':memory:'):
        raise exceptions.ConfigurationError(
            '[database] connection names an SQLite database in memory, which would '
            'forget everything; name a file: sqlite:////var/lib/watcherlite/NAME'
        )
    return url.set(drivername=driver)


def _postgresql_arguments(url: sa.URL, settings: DatabaseSettings) -> dict[str, Any]:
    options = {
        'statement_timeout': f'{settings.statement_timeout}s',
        'lock_timeout': f'{settings.busy_timeout}s',
        'idle_in_transaction_session_timeout': f'{IDLE_IN_TRANSACTION}s',
        # Compiling takes longer than any statement here runs.
        'jit': 'off',
        # Without statistics, as of a plan that was just stored, a bitmap of all
        # that waits, sorted, looks as cheap as the first few of an index.
        'enable_bitmapscan': 'off',
        # Every statement here has an index. How many rows a document holds cannot
        # be told before it is read, so that scanning a small table looks cheaper:
        # a chain would read all of its plan for every link.
        'enable_seqscan': 'off',
        # Likewise a hash of all actions for the few that a document names.
        'enable_hashjoin': 'off',
        'enable_mergejoin': 'off',
        # For a page whose length it does not know it would start other processes.
        'max_parallel_workers_per_gather': '0',
        # The plan is the same for all values; making it anew for each costs more
        # than the longer statements take.
        'plan_cache_mode': 'force_generic_plan',
    }
    arguments = {
        'connect_timeout': settings.connect_timeout,
        'application_name': 'watcherlite',
        # A server that is cut off is noticed even while it owes an answer.
        'keepalives_idle': 10,
        'keepalives_interval': 5,
        'keepalives_count': 3,
    }
    # What the URL says is meant so.
    arguments = {k: v for k, v in arguments.items() if k not in url.query}
    ours = ' '.join(f'-c {name}={value}' for name, value in options.items())
    theirs = url.query.get('options', '')
    return {**arguments, 'options': f'{ours} {theirs}'.strip()}


def _mysql_arguments(url: sa.URL, settings: DatabaseSettings) -> dict[str, Any]:
    # The limits of the socket are for a server that is cut off; its own limit on
    # a statement comes first.
    limit = settings.statement_timeout
    answer = limit + settings.connect_timeout if limit else None
    return {
        'connect_timeout': settings.connect_timeout,
        'read_timeout': answer,
        'write_timeout': answer,
    }


def _sqlite_arguments(url: sa.URL, settings: DatabaseSettings) -> dict[str, Any]:
    return {'timeout': settings.busy_timeout}


_CONNECT_ARGUMENTS = {
    'postgresql': _postgresql_arguments,
    'mysql': _mysql_arguments,
    'sqlite': _sqlite_arguments,
}


def _prepare_mysql(engine: sa.Engine, settings: DatabaseSettings) -> None:
    def connected(connection: Any, _record: Any) -> None:
        mariadb = 'mariadb' in connection.get_server_info().lower()
        limit = (
            f'max_statement_time = {settings.statement_timeout}, '
            f'idle_transaction_timeout = {IDLE_IN_TRANSACTION}'
            if mariadb
            else f'max_execution_time = {settings.statement_timeout * 1000}'
        )
        with connection.cursor() as cursor:
            # The default, REPEATABLE READ, lets a claim read rows as they were.
            cursor.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
            wait = f'innodb_lock_wait_timeout = {settings.busy_timeout}'
            cursor.execute(f'SET SESSION {wait}, {limit}')

    sa.event.listen(engine, 'connect', connected)


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and 'locked' in str(error)


def _make_private(path: str) -> None:
    """Make the file of a database if there is none: nobody else may read it.

    One that is there must not be opened and closed here. That drops all locks of this
    process on it, so that the next process which ends its work with the database takes
    itself for the only one, and removes the write-ahead log from under this one: what
    is stored from then on is lost.

    :raises OSError: it cannot be used
    """
    path = os.path.realpath(path)
    with _MAKING:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(path, flags, 0o600))
        except FileExistsError:
            if os.path.isdir(path):
                raise IsADirectoryError(
                    errno.EISDIR, os.strerror(errno.EISDIR)
                ) from None
            if not os.access(path, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None


def _prepare_sqlite(engine: sa.Engine, settings: DatabaseSettings) -> None:
    path = str(engine.url.database)

    def connecting(_dialect: Any, _record: Any, _args: Any, _kwargs: Any) -> None:
        try:
            _make_private(path)
        except OSError as error:
            raise errors.unavailable(engine.url, str(error.strerror)) from error

    def connected(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        # Several that open a new file at once stand in each other's way here, and
        # SQLite does not let them wait as it does everywhere else.
        for attempt in tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_locked),
            stop=tenacity.stop_after_delay(settings.busy_timeout),
            wait=tenacity.wait_random(0.005, 0.05),
            reraise=True,
        ):
            with attempt:
                cursor.execute('PRAGMA journal_mode = WAL')
        cursor.execute(f'PRAGMA synchronous = {settings.sqlite_synchronous}')
        cursor.execute('PRAGMA foreign_keys = ON')
        cursor.close()

    if not path.startswith('file:'):
        sa.event.listen(engine, 'do_connect', connecting)
    sa.event.listen(engine, 'connect', connected)
