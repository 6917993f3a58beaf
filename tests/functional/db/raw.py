"""Direct access to a database without the store."""

from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy import tables


def rows(connection: sa.Connection, table: sa.Table) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table as they are stored, without conversions."""
    columns = [
        sa.type_coerce(c, sa.Text()).label(c.name)
        if isinstance(c.type, sa.types.TypeDecorator)
        else c
        for c in table.columns
    ]
    yield from connection.execute(sa.select(*columns)).mappings().all()


def texts(engine: sa.Engine) -> Iterator[tuple[str, str, str]]:
    """Yield all stored texts: (table, column, text)."""
    with engine.connect() as connection:
        for table in tables.metadata.sorted_tables:
            for row in rows(connection, table):
                for column, value in row.items():
                    if isinstance(value, str):
                        yield table.name, column, value


def places(engine: sa.Engine, desired: str) -> set[tuple[str, str]]:
    """Return the (table, column) pairs that contain a text."""
    return {(table, column) for table, column, text in texts(engine) if desired in text}
