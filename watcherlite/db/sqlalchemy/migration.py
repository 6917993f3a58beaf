"""Creation and upgrade of the schema.

Alembic is imported only to migrate. A daemon compares one row with a constant.
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

#: The revisions in `migrations/versions`, in order.
REVISIONS = (
    '0007',
    '0008',
    '0009',
    '0010',
    '0011',
    '0012',
    '0013',
    '0014',
    '0015',
    '0016',
    '0017',
    '0018',
)
HEAD = REVISIONS[-1]

#: The key of the advisory lock: an arbitrary number.
_LOCK = 7305521
# Locks of MySQL belong to the server, not to a database.
_MYSQL_LOCK = f"CONCAT('{_LOCK}.', MD5(DATABASE()))"
#: Seconds to wait for another process that migrates the schema.
LOCK_SECONDS = 60
#: A URL, the settings of connections, or an engine.
Target = str | DatabaseSettings | sa.Engine


def unlimited(settings: DatabaseSettings) -> DatabaseSettings:
    """Return settings for migrations, without a statement timeout."""
    return dataclasses.replace(settings, statement_timeout=0)


def version(target: Target) -> str | None:
    """Return the revision of a database's schema, None if there is no schema.

    :raises StoreUnavailable: if the database cannot be reached
    """
    with _engine(target) as engine, engine.connect() as connection:
        return _version(connection)


def needs_upgrade(target: Target) -> bool:
    """Return whether the schema is older; raise SchemaMismatch if it is unknown."""
    current = version(target)
    _refuse_unknown(current)
    return current != HEAD


def check(target: Target) -> None:
    """Raise SchemaMismatch unless the schema is that of this version."""
    current = version(target)
    _refuse_unknown(current)
    if current is None:
        raise exceptions.SchemaMismatch(
            f'The database has no schema yet; {errors.UPGRADE}'
        )
    if current != HEAD:
        raise exceptions.SchemaMismatch(
            f'The database has schema {current}, which is older than the {HEAD} that '
            f'this version requires; {errors.UPGRADE}'
        )


def upgrade(target: Target, revision: str = 'head') -> None:
    """Upgrade a schema to a revision; create it if there is none.

    Several processes may upgrade at the same time: the first one does.

    :param target: an engine needs settings `unlimited`
    :raises SchemaMismatch: the schema is newer than this version, or too old for it
    :raises StoreConflict: another process has the lock for too long
    """
    _run(target, 'upgrade', revision)


def stamp(target: Target, revision: str) -> None:
    """Record a revision as that of the schema, without migrating."""
    _run(target, 'stamp', revision)


def _run(target: Target, name: str, revision: str) -> None:
    # Imported here: the import takes a quarter of a second.
    from alembic import command, util
    from alembic.config import Config

    config = Config()
    config.set_main_option(
        'script_location', str(pathlib.Path(__file__).parent / 'migrations')
    )
    with _engine(target) as engine, _locked(engine) as connection:
        if name == 'upgrade':
            _refuse_unknown(_version(connection))
        config.attributes['connection'] = connection
        try:
            getattr(command, name)(config, revision)
        except util.CommandError as error:
            raise exceptions.SchemaMismatch(
                f'The schema cannot be migrated to revision {revision}: {error}'
            ) from error


@contextlib.contextmanager
def _engine(target: Target) -> Iterator[sa.Engine]:
    if isinstance(target, sa.Engine):
        yield target
        return
    settings = DatabaseSettings(target) if isinstance(target, str) else target
    engine = make_engine(unlimited(settings))
    try:
        yield engine
    finally:
        engine.dispose()


@contextlib.contextmanager
def _locked(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Yield a connection that has the migration lock, in a transaction.

    MySQL commits at each change of the schema, and its lock belongs to the connection;
    a failed migration must be repaired by hand.
    """
    mysql = engine.dialect.name == 'mysql'
    with engine.connect() as connection:
        try:
            _begin(connection, engine.dialect.name)
            yield connection
        except BaseException:
            # There may be no transaction. The first error is the one to report.
            with contextlib.suppress(Exception):
                _execute(connection, ['ROLLBACK'])
            raise
        else:
            _execute(connection, ['COMMIT'])
        finally:
            if mysql and not connection.invalidated:
                _execute(connection, [f'DO RELEASE_LOCK({_MYSQL_LOCK})'])


def _begin(connection: sa.Connection, kind: str) -> None:
    """Acquire the lock and begin a transaction; raise StoreConflict on timeout."""
    try:
        if kind == 'postgresql':
            wait = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
            lock = f'SELECT pg_advisory_xact_lock({_LOCK})'
            usual = 'SET LOCAL lock_timeout TO DEFAULT'
            _execute(connection, ['BEGIN', wait, lock, usual])
        elif kind == 'mysql':
            lock = f'SELECT GET_LOCK({_MYSQL_LOCK}, {LOCK_SECONDS})'
            if not connection.exec_driver_sql(lock).scalar():
                raise exceptions.StoreConflict('The lock is held')
            _execute(connection, ['BEGIN'])
        else:
            _execute(connection, ['BEGIN IMMEDIATE'])
    except exceptions.StoreConflict as error:
        raise exceptions.StoreConflict(
            f'Another process migrates the database, and has not finished within '
            f'{LOCK_SECONDS} s; retry when it has'
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


def _refuse_unknown(current: str | None) -> None:
    if current is None or current in REVISIONS:
        return
    if current < REVISIONS[0]:
        raise exceptions.SchemaMismatch(
            f'The database has schema {current}, and this version upgrades '
            f'{REVISIONS[0]} and later ones; upgrade it with an earlier version first'
        )
    raise exceptions.SchemaMismatch(
        f'The database has schema {current} of a newer version (this one supports '
        f'{REVISIONS[0]} to {HEAD}); install that version, or restore a backup '
        'made before its upgrade'
    )
