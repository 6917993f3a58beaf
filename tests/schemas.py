"""Databases with the schema, one of each kind for all tests of a process.

Creating one takes a server longer than almost any test. The first test that needs it
creates it, its rows are deleted between tests, and it is dropped when the process ends.
"""

import atexit
import functools
import pathlib
import shutil
import tempfile

import sqlalchemy as sa

from tests import services
from watcherlite.db.sqlalchemy import migration, tables


@functools.cache
def server(kind: str) -> str:
    """Return the URL of a database on a server.

    :param kind: services.POSTGRESQL or services.MYSQL
    """
    database = create_database(kind)
    atexit.register(database.cleanUp)
    return database.url


def create_database(kind: str) -> services.Database:
    """Create another database; the caller cleans it up."""
    database = services.Database(kind)
    database.setUp()
    migration.upgrade(database.url)
    return database


@functools.cache
def sqlite() -> pathlib.Path:
    """Return the path of an SQLite file with the schema, to be copied."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='wl_test_'))
    atexit.register(shutil.rmtree, folder)
    path = folder / 'schema.sqlite'
    migration.upgrade(f'sqlite:///{path}')
    return path


def copy_sqlite(path: pathlib.Path) -> str:
    """Create an SQLite file with only the schema; return its URL."""
    shutil.copyfile(sqlite(), path)
    path.chmod(0o600)
    return f'sqlite:///{path}'


@functools.cache
def shared_sqlite() -> str:
    """Return the URL of the SQLite file that tests share sequentially."""
    return copy_sqlite(sqlite().with_name('shared.sqlite'))


def empty(connection: sa.Connection) -> None:
    """Delete all rows of a database.

    :param connection: in autocommit mode
    """
    used = connection.exec_driver_sql(_used_tables()).scalars().all()
    connection.exec_driver_sql('BEGIN')
    for table in sorted(used, key=_tables().index):
        connection.exec_driver_sql(f'DELETE FROM {table}')
    connection.exec_driver_sql('COMMIT')


def empty_at(url: str) -> None:
    """Delete all rows of a database, through a separate connection."""
    engine = sa.create_engine(url, isolation_level='AUTOCOMMIT')
    try:
        with engine.connect() as connection:
            empty(connection)
    finally:
        engine.dispose()


@functools.cache
def _used_tables() -> str:
    """Return the query of the names of tables that have rows."""
    return ' UNION ALL '.join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in _tables()
    )


@functools.cache
def _tables() -> list[str]:
    """Return the names of all tables, each before those that it references."""
    return [table.name for table in reversed(tables.metadata.sorted_tables)]
