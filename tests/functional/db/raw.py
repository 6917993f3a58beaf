"""What is in a database, below the store."""

from collections.abc import Iterator

import sqlalchemy as sa

from watcherlite.db.sqlalchemy import models


def texts(engine: sa.Engine) -> Iterator[tuple[str, str, str]]:
    """Yield all that is stored as text: (table, column, text)."""
    with engine.connect() as connection:
        for table in models.metadata.sorted_tables:
            for row in connection.execute(sa.select(table)).mappings():
                for column, value in row.items():
                    if isinstance(value, str):
                        yield table.name, column, value


def places(engine: sa.Engine, wanted: str) -> set[tuple[str, str]]:
    """Return the (table, column) in which a text is found."""
    return {(table, column) for table, column, text in texts(engine) if wanted in text}
