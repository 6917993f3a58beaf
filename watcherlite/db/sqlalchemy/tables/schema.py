"""Constructors of tables, and of columns and indexes that tables share."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext import compiler as compiling

from watcherlite.db.sqlalchemy.tables.types import BIG, FLAG, NAME

NAMING_CONVENTION = {
    'pk': 'pk_%(table_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'ck': 'ck_%(table_name)s_%(constraint_name)s',
}

metadata = sa.MetaData(naming_convention=NAMING_CONVENTION)

# The default collation of MySQL ignores the case of names and targets.
_MYSQL = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
}


def column(name: str, kind: Any) -> sa.Column[Any]:
    """Return a NOT NULL column."""
    return sa.Column(name, kind, nullable=False)


def table(name: str, *items: Any, counted: bool = False) -> sa.Table:
    """Return a table.

    :param counted: its first column is a generated key that is never reused, not even
        after a purge
    """
    options: dict[str, Any] = dict(_MYSQL)
    if counted:
        options['sqlite_autoincrement'] = True
    return sa.Table(name, metadata, *items, **options)


def counter(name: str = 'id') -> sa.Column[int]:
    """Return the column of a generated primary key."""
    return sa.Column(name, BIG, sa.Identity(), primary_key=True)


def partial(condition: str) -> dict[str, Any]:
    """Return the options of a partial index, for databases that have these."""
    return {'postgresql_where': sa.text(condition), 'sqlite_where': sa.text(condition)}


class Computed(sa.Computed):
    """A generated column, which is STORED except on SQLite.

    PostgreSQL cannot index virtual columns. MariaDB can, but a sorted list then misses
    rows that change at the same time.
    """

    inherit_cache = True


@compiling.compiles(Computed)
def _computed(element: Computed, compiler: Any, **options: Any) -> str:
    expression = compiler.sql_compiler.process(element.sqltext, literal_binds=True)
    stored = ' STORED' * (compiler.dialect.name != 'sqlite')
    return f'GENERATED ALWAYS AS ({expression}){stored}'


def hidden(otherwise: str = '') -> sa.Column[int]:
    """Return the generated column `hidden`, which indexes of lists have.

    It is 0 in listed rows and 1 in deleted ones.

    :param otherwise: further values, as WHEN clauses
    """
    # A list with deleted rows has an index scan for each value. A partial index of
    # listed rows would do without the column, but MariaDB has no partial indexes.
    case = f'CASE WHEN deleted_at IS NOT NULL THEN 1 {otherwise}ELSE 0 END'
    return sa.Column('hidden', FLAG, Computed(case))


def orders(table: str, *columns: str) -> list[sa.Index]:
    """Return the indexes of listed rows in the order of some columns.

    Their cost does not depend on the number of deleted rows.
    """
    return [sa.Index(f'ix_{table}_hidden_id', 'hidden', 'id')] + [
        sa.Index(f'ix_{table}_hidden_{column}_id', 'hidden', column, 'id')
        for column in columns
    ]


def unique_name(name: str) -> sa.UniqueConstraint:
    """Return the constraint that names of rows that are not deleted are unique.

    `deleted` is 0, or the id of a deleted row, as MariaDB has no partial indexes.
    """
    return sa.UniqueConstraint('name', 'deleted', name=f'uq_{name}_name_deleted')


def lower_name() -> sa.Column[str]:
    """Return the column for case-insensitive searches of names.

    MariaDB cannot index an expression.
    """
    return sa.Column('lower_name', NAME, nullable=False, server_default='')
