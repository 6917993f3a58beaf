"""Databases with the schema in them, one of each kind for all tests of a process.

To make one takes a server longer than almost any test. It is made for the first that
asks, its rows are deleted between tests, and it is dropped when the process ends.
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
    database = new(kind)
    atexit.register(database.cleanUp)
    return database.url


def new(kind: str) -> services.Database:
    """Make another one; it is for the caller to clean it up."""
    database = services.Database(kind)
    database.setUp()
    migration.upgrade(database.url)
    return database


@functools.cache
def sqlite() -> pathlib.Path:
    """Return an SQLite file that is there to be copied."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='wl_test_'))
    atexit.register(shutil.rmtree, folder)
    path = folder / 'schema.sqlite'
    migration.upgrade(f'sqlite:///{path}')
    return path


def copy_sqlite(path: pathlib.Path) -> str:
    """Make an SQLite file with nothing but the schema in it; return its URL."""
    shutil.copyfile(sqlite(), path)
    path.chmod(0o600)
    return f'sqlite:///{path}'


def empty_sqlite() -> str:
    """Make the SQLite file that tests share, one after the other; return its URL."""
    path = sqlite().with_name('shared.sqlite')
    for old in path.parent.glob(f'{path.name}*'):
        old.unlink()
    return copy_sqlite(path)


def empty(connection: sa.Connection) -> None:
    """Delete all rows of a database."""
    deletions = [f'DELETE FROM {table}' for table in _tables()]
    if connection.dialect.name == services.POSTGRESQL:
        # All at once, where the driver lets them.
        deletions = ['; '.join(deletions)]
    for sql in deletions:
        connection.exec_driver_sql(sql)


def empty_at(url: str) -> None:
    """Delete all rows of a database, over a connection of its own."""
    engine = sa.create_engine(url)
    try:
        with engine.begin() as connection:
            empty(connection)
    finally:
        engine.dispose()


@functools.cache
def _tables() -> list[str]:
    """Return the names of all tables, each before those that it refers to."""
    return [table.name for table in reversed(tables.metadata.sorted_tables)]
