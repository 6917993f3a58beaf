"""Creating and upgrading the schema.

Alembic is loaded only when there is something to migrate. A daemon compares one
row with a constant at its start.
"""

import contextlib
import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from watcherlite import exceptions
from watcherlite.db.sqlalchemy import errors
from watcherlite.db.sqlalchemy.engine import DatabaseSettings, make_engine

#: The revisions in `migrations/versions`, the oldest first.
REVISIONS = (
    '0001',
    '0002',
    '0003',
    '0004',
    '0005',
    '0006',
    '0007',
    '0008',
    '0009',
    '0010',
)
HEAD = REVISIONS[-1]

#: Any number that nobody else uses for an advisory lock in the same database.
_LOCK = 7305521
# There it is one for the whole server, whose other databases are none of its concern.
_MYSQL_LOCK = f"CONCAT('{_LOCK}.', MD5(DATABASE()))"
#: Seconds that one who wants to change the schema waits for another who does.
LOCK_SECONDS = 60
Target = str | sa.Engine


def patient(settings: DatabaseSettings) -> DatabaseSettings:
    """Return the settings of who changes a schema: a large table takes its time."""
    return dataclasses.replace(settings, statement_timeout=0)


def version(target: Target) -> str | None:
    """Return the revision of a database's schema, None if there is no schema.

    :param target: a URL or an engine
    :raises StoreUnavailable: if the database cannot be reached
    """
    with _engine(target) as engine, engine.connect() as connection:
        return _version(connection)


def needs_upgrade(target: Target) -> bool:
    """Say whether `upgrade` has something to do; SchemaMismatch if it must not."""
    current = version(target)
    _refuse_newer(current)
    return current != HEAD


def check(target: Target) -> None:
    """Raise SchemaMismatch, saying what to do, unless the schema is this version's."""
    current = version(target)
    _refuse_newer(current)
    if current is None:
        raise exceptions.SchemaMismatch(
            f'The database has no schema yet; {errors.UPGRADE}'
        )
    if current != HEAD:
        raise exceptions.SchemaMismatch(
            f'The database has schema {current}, which is older than the {HEAD} that '
            f'this version needs; {errors.UPGRADE}'
        )


def upgrade(target: Target, revision: str = 'head') -> None:
    """Bring a schema to a revision, creating it if there is none.

    Several processes may do so at once: all but the first find nothing to do.

    :param target: an engine for this is made with `patient` settings
    :raises SchemaMismatch: if the schema is newer than this version
    :raises StoreConflict: if another process changes it all the time
    """
    _run(target, 'upgrade', revision)


def stamp(target: Target, revision: str) -> None:
    """Note that a schema is of a revision, without changing it."""
    _run(target, 'stamp', revision)


def _run(target: Target, name: str, revision: str) -> None:
    # It takes a quarter of a second to load, which no daemon has to wait for.
    from alembic import command, util
    from alembic.config import Config

    config = Config()
    config.set_main_option(
        'script_location', str(pathlib.Path(__file__).parent / 'migrations')
    )
    with _engine(target) as engine, _locked(engine) as connection:
        if name == 'upgrade':
            _refuse_newer(_version(connection))
        config.attributes['connection'] = connection
        try:
            getattr(command, name)(config, revision)
        except util.CommandError as error:
            raise exceptions.SchemaMismatch(
                f'There is no way to revision {revision}: {error}'
            ) from error


@contextlib.contextmanager
def _engine(target: Target) -> Iterator[sa.Engine]:
    if isinstance(target, sa.Engine):
        yield target
        return
    engine = make_engine(patient(DatabaseSettings(target)))
    try:
        yield engine
    finally:
        engine.dispose()


@contextlib.contextmanager
def _locked(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Connect, as the only one who changes the schema, in a transaction.

    MySQL ends a transaction with each change of a schema, and its lock is one of
    the connection; a migration that fails there half way has to be repaired.
    """
    mysql = engine.dialect.name == 'mysql'
    with engine.connect() as connection:
        try:
            _begin(connection, engine.dialect.name)
            yield connection
        except BaseException:
            # There may be nothing to undo. What went wrong is the error to tell of.
            with contextlib.suppress(Exception):
                _execute(connection, ['ROLLBACK'])
            raise
        else:
            _execute(connection, ['COMMIT'])
        finally:
            if mysql and not connection.invalidated:
                _execute(connection, [f'DO RELEASE_LOCK({_MYSQL_LOCK})'])


def _begin(connection: sa.Connection, kind: str) -> None:
    """Wait for the lock and begin; StoreConflict if another one has it for too long."""
    try:
        if kind == 'postgresql':
            wait = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
            lock = f'SELECT pg_advisory_xact_lock({_LOCK})'
            usual = 'SET LOCAL lock_timeout TO DEFAULT'
            _execute(connection, ['BEGIN', wait, lock, usual])
        elif kind == 'mysql':
            lock = f'SELECT GET_LOCK({_MYSQL_LOCK}, {LOCK_SECONDS})'
            if not connection.exec_driver_sql(lock).scalar():
                raise exceptions.StoreConflict('The lock is taken')
            _execute(connection, ['BEGIN'])
        else:
            _execute(connection, ['BEGIN IMMEDIATE'])
    except exceptions.StoreConflict as error:
        raise exceptions.StoreConflict(
            'Another process is changing the database, and has not ended while this '
            'one waited for it; try again when it has'
        ) from error


def _execute(connection: sa.Connection, statements: list[str]) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement).close()


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table('alembic_version'):
        return None
    rows: list[Any] = list(
        connection.exec_driver_sql('SELECT version_num FROM alembic_version')
    )
    return str(rows[0][0]) if rows else None


def _refuse_newer(current: str | None) -> None:
    if current is not None and current not in REVISIONS:
        raise exceptions.SchemaMismatch(
            f'The database has schema {current}, which this version does not know '
            f'(it knows {", ".join(REVISIONS)}): it was made by a newer one; install '
            'that, or restore a backup from before its upgrade'
        )
