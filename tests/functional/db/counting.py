"""Counters of executed statements for the tests of this package."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from tests.functional.db import stores
from watcherlite.db.api import Transaction

FRAME = {'BEGIN', 'COMMIT', 'ROLLBACK'}


class CountingTests(stores.StoreTests):
    """Counters of statements and commits."""

    explain = 'EXPLAIN'

    @contextlib.contextmanager
    def executed(self) -> Iterator[list[tuple[str, Any]]]:
        """Collect each statement that is executed, with its parameters."""
        found: list[tuple[str, Any]] = []

        def record(_c: Any, _cursor: Any, sql: str, values: Any, *_rest: Any) -> None:
            found.append((sql, values))

        sa.event.listen(self.store.engine, 'before_cursor_execute', record)
        try:
            yield found
        finally:
            sa.event.remove(self.store.engine, 'before_cursor_execute', record)

    @contextlib.contextmanager
    def texts(self) -> Iterator[list[str]]:
        """Collect each statement that is executed."""
        texts: list[str] = []
        with self.executed() as found:
            yield texts
            texts += [sql for sql, _ in found]

    @contextlib.contextmanager
    def statements(self) -> Iterator[list[str]]:
        """Collect the first word of each statement that is executed."""
        words: list[str] = []
        with self.executed() as found:
            yield words
            words += [sql.split(None, 1)[0] for sql, _ in found]

    def cost(self, call: Callable[[Transaction], object]) -> int:
        """Return the number of statements of a call in a transaction."""
        with self.statements() as words, self.store.transaction() as tx:
            call(tx)
        self.assertEqual(['BEGIN', 'COMMIT'], [words[0], words[-1]])
        return sum(word not in FRAME for word in words)

    def explained(self, statement: sa.Executable, **values: Any) -> str:
        """Return the query plan of a statement."""
        return self.explained_call(lambda: self.store._db.rows(statement, **values))

    def explained_call(self, call: Callable[[], object]) -> str:
        """Return the query plan of the last statement of a call."""
        with self.executed() as found:
            call()
        return self.driver_query_plan(*found[-1])

    def driver_query_plan(self, sql: str, parameters: Any) -> str:
        """Return the query plan of a statement of the driver."""
        with self.store.engine.connect() as connection:
            rows = connection.exec_driver_sql(f'{self.explain} {sql}', parameters)
            return '\n'.join(str(value) for row in rows for value in row)
