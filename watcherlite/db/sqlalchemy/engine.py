"""The engine: connection URLs, drivers and session settings.

Connections are in autocommit mode, so that a query costs one round trip and needs no
ROLLBACK; `database` executes BEGIN and COMMIT for transactions.
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
from watcherlite.db.sqlalchemy.encryption import KeyLoader, no_keys

#: Scheme of a URL -> the supported driver.
DRIVERS = {
    'sqlite': 'sqlite+pysqlite',
    'postgresql': 'postgresql+psycopg',
    'mysql': 'mysql+pymysql',
    # SQLAlchemy's name for a dialect that refuses MySQL; oslo.db does not know it.
    'mariadb': 'mysql+pymysql',
}
#: Seconds after which a connection is replaced: servers and proxies close idle ones,
#: MySQL after eight hours.
RECYCLE = 3600
#: Seconds after which the server ends an idle transaction. Transactions wait for the
#: database only; this releases the locks of a process that was suspended.
IDLE_IN_TRANSACTION = 15
#: Held while an SQLite file is created: a thread that finds the file must wait until
#: the other one has closed it, see `_create_private`.
_CREATING = threading.Lock()


@dataclasses.dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The options of [database]; times in seconds.

    :param url: an SQLAlchemy URL, with the password
    :param max_pool_size: the maximum number of connections of this process
    :param pool_timeout: the maximum time to wait for a connection of the pool
    :param connect_timeout: the maximum time to connect to a server
    :param statement_timeout: after which a server cancels a statement; 0: never, for
        statements that may change whole tables
    :param busy_timeout: the maximum time that a statement waits for a lock
    :param sqlite_synchronous: FULL or NORMAL
    :param keys: loads the encryption keys on their first use, see `encryption`
    """

    url: str
    max_pool_size: int = 5
    pool_timeout: float = 30
    connect_timeout: int = 5
    statement_timeout: int = 60
    busy_timeout: int = 10
    sqlite_synchronous: str = 'FULL'
    keys: KeyLoader = dataclasses.field(default=no_keys, compare=False)


def make_engine(settings: DatabaseSettings) -> sa.Engine:
    """Return an engine, without connecting.

    :raises ConfigurationError: the URL is invalid
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
        # `database` ends each transaction that it begins.
        pool_reset_on_return=None,
        # For INSERT, too, whose row count is the number of new rows.
        execution_options={'preserve_rowcount': True},
        connect_args=_CONNECT_ARGUMENTS[kind](url, settings),
    )
    # SQLAlchemy 2.0.43 and later can omit the ROLLBACK after each query.
    engine.dialect.skip_autocommit_rollback = True
    use_compiler(engine)
    errors.listen(engine)
    if kind == 'sqlite':
        _prepare_sqlite(engine, settings)
    elif kind == 'mysql':
        _prepare_mysql(engine, settings)
    return engine


def parse(text: str) -> sa.URL:
    """Return a URL with its supported driver; raise ConfigurationError."""
    try:
        url = sa.make_url(text)
    except sa.exc.ArgumentError:
        raise exceptions.ConfigurationError(
            '[database] connection is not a URL of the form '
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
            '[database] connection names an in-memory SQLite database, which loses all '
            'data at exit; name a file: sqlite:////var/lib/watcherlite/NAME'
        )
    return url.set(drivername=driver)


def _postgresql_arguments(url: sa.URL, settings: DatabaseSettings) -> dict[str, Any]:
    options = {
        'statement_timeout': f'{settings.statement_timeout}s',
        'lock_timeout': f'{settings.busy_timeout}s',
        'idle_in_transaction_session_timeout': f'{IDLE_IN_TRANSACTION}s',
        # Compilation takes longer than the execution of any statement here.
        'jit': 'off',
        # Without statistics, for example of a new action plan, a sorted bitmap of all
        # waiting actions seems as cheap as the first rows of an index.
        'enable_bitmapscan': 'off',
        # Every statement here has an index. The planner does not know the number of
        # rows in a document, and would scan small tables: each step of a chain would
        # read the whole action plan.
        'enable_seqscan': 'off',
        # For the same reason it would hash all actions for the few in a document.
        'enable_hashjoin': 'off',
        'enable_mergejoin': 'off',
        # For a page of unknown length it would start parallel workers.
        'max_parallel_workers_per_gather': '0',
        # The plan is the same for all values; planning costs more than the execution of
        # most statements.
        'plan_cache_mode': 'force_generic_plan',
    }
    arguments = {
        'connect_timeout': settings.connect_timeout,
        'application_name': 'watcherlite',
        # Detects a broken connection while a statement is executed.
        'keepalives_idle': 10,
        'keepalives_interval': 5,
        'keepalives_count': 3,
    }
    # Options in the URL take precedence.
    arguments = {k: v for k, v in arguments.items() if k not in url.query}
    ours = ' '.join(f'-c {name}={value}' for name, value in options.items())
    theirs = url.query.get('options', '')
    return {**arguments, 'options': f'{ours} {theirs}'.strip()}


def _mysql_arguments(url: sa.URL, settings: DatabaseSettings) -> dict[str, Any]:
    # The timeouts of the socket detect a broken connection. They exceed the statement
    # timeout of the server.
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
            # With the default, REPEATABLE READ, a claim would read old rows.
            cursor.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
            wait = f'innodb_lock_wait_timeout = {settings.busy_timeout}'
            cursor.execute(f'SET SESSION {wait}, {limit}')

    sa.event.listen(engine, 'connect', connected)


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and 'locked' in str(error)


def _create_private(path: str) -> None:
    """Create the file of a database, readable by its owner only, if it does not exist.

    An existing file must not be opened and closed here: that would release all locks of
    this process on it. The next process that closes the database would take itself for
    the last one and remove the write-ahead log, and all later writes would be lost.

    :raises OSError: the file cannot be used
    """
    path = os.path.realpath(path)
    with _CREATING:
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
            _create_private(path)
        except OSError as error:
            raise errors.unavailable(engine.url, str(error.strerror)) from error

    def connected(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        # Processes that open a new file at the same time conflict here, and SQLite does
        # not apply its busy timeout to this statement.
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
        if settings.statement_timeout:
            # The original pages of a statement are kept for its rollback, by default in
            # a temporary file.
            cursor.execute('PRAGMA temp_store = MEMORY')
        cursor.close()

    if not path.startswith('file:'):
        sa.event.listen(engine, 'do_connect', connecting)
    sa.event.listen(engine, 'connect', connected)
