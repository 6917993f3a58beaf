"""Tables, and the columns and indexes that many of them have."""

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

# MySQL would ignore the case of names and targets without the collation.
_MYSQL = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
}


def column(name: str, kind: Any) -> sa.Column[Any]:
    """Return a column that is never NULL."""
    return sa.Column(name, kind, nullable=False)


def table(name: str, *items: Any, counted: bool = False) -> sa.Table:
    """Return a table.

    :param counted: whether its first column is a key that the database counts
        up, and that no row has again after a purge
    """
    options: dict[str, Any] = dict(_MYSQL)
    if counted:
        options['sqlite_autoincrement'] = True
    return sa.Table(name, metadata, *items, **options)


def counter(name: str = 'id') -> sa.Column[int]:
    return sa.Column(name, BIG, sa.Identity(), primary_key=True)


def partial(condition: str) -> dict[str, Any]:
    """Return what makes an index partial, where there are such."""
    return {'postgresql_where': sa.text(condition), 'sqlite_where': sa.text(condition)}


class Computed(sa.Computed):
    """What the database makes of other columns.

    Stored, but in SQLite. PostgreSQL has no index on what is not; MariaDB has, and
    loses rows by it: one that is changed at that moment is left out of a sorted list.
    """

    inherit_cache = True


@compiling.compiles(Computed)
def _computed(element: Computed, compiler: Any, **options: Any) -> str:
    expression = compiler.sql_compiler.process(element.sqltext, literal_binds=True)
    stored = ' STORED' * (compiler.dialect.name != 'sqlite')
    return f'GENERATED ALWAYS AS ({expression}){stored}'


def hidden(otherwise: str = '') -> sa.Column[int]:
    """Return the column that is 0 in what lists show, and that their indexes have.

    1: deleted. The database makes it of other columns, so that nobody forgets it.

    :param otherwise: what else is hidden, as a part of CASE
    """
    # What is listed with deleted rows is a walk for each of its few values. A
    # partial index would do for the rows that are shown, but MariaDB has none.
    case = f'CASE WHEN deleted_at IS NOT NULL THEN 1 {otherwise}ELSE 0 END'
    return sa.Column('hidden', FLAG, Computed(case))


def orders(table: str, *columns: str) -> list[sa.Index]:
    """Return the indexes by which what is shown is found in the order of a column.

    However many rows were deleted before.
    """
    return [sa.Index(f'ix_{table}_hidden_id', 'hidden', 'id')] + [
        sa.Index(f'ix_{table}_hidden_{column}_id', 'hidden', column, 'id')
        for column in columns
    ]


def unique_name(name: str) -> sa.UniqueConstraint:
    """Return what keeps names unique among rows that are not deleted.

    `deleted` is 0, or the row's id once it is deleted: that works on databases
    without partial indexes as well.
    """
    return sa.UniqueConstraint('name', 'deleted', name=f'uq_{name}_name_deleted')


def lower_name() -> sa.Column[str]:
    """Return the column by which names are found in any case.

    MariaDB cannot index what a function makes of another column.
    """
    return sa.Column('lower_name', NAME, nullable=False, server_default='')
