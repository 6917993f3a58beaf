"""Counting the statements that are executed, for the tests of this folder."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from tests.functional.db import stores
from watcherlite.db.api import Transaction

FRAME = {'BEGIN', 'COMMIT', 'ROLLBACK'}


class CountingTests(stores.StoreTests):
    """How many statements something has, and how a database executes one."""

    explain = 'EXPLAIN'

    @contextlib.contextmanager
    def texts(self) -> Iterator[list[str]]:
        """Collect each statement that is executed."""
        found: list[str] = []

        def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            found.append(statement)

        sa.event.listen(self.store.engine, 'before_cursor_execute', note)
        try:
            yield found
        finally:
            sa.event.remove(self.store.engine, 'before_cursor_execute', note)

    @contextlib.contextmanager
    def statements(self) -> Iterator[list[str]]:
        """Collect the first word of each statement that is executed."""
        words: list[str] = []
        with self.texts() as found:
            yield words
            words += [statement.split(None, 1)[0] for statement in found]

    def cost(self, call: Callable[[Transaction], object]) -> int:
        """Return how many statements a call has in a transaction."""
        with self.statements() as words, self.store.transaction() as tx:
            call(tx)
        self.assertEqual(['BEGIN', 'COMMIT'], [words[0], words[-1]])
        return sum(word not in FRAME for word in words)

    def explained(self, statement: sa.Executable, **values: Any) -> str:
        """Return what the database says of how it executes a statement."""
        return self.explained_call(lambda: self.store._db.rows(statement, **values))

    def explained_call(self, call: Callable[[], object]) -> str:
        """Return the same of the last statement that a call executes."""
        found: list[tuple[str, Any]] = []

        def note(_c: Any, _cursor: Any, sql: str, parameters: Any, *_rest: Any) -> None:
            found.append((sql, parameters))

        sa.event.listen(self.store.engine, 'before_cursor_execute', note)
        try:
            call()
        finally:
            sa.event.remove(self.store.engine, 'before_cursor_execute', note)
        return self.said_of(*found[-1])

    def said_of(self, sql: str, parameters: Any) -> str:
        """Return what the database says of what its driver is handed."""
        with self.store.engine.connect() as connection:
            rows = connection.exec_driver_sql(f'{self.explain} {sql}', parameters)
            return '\n'.join(str(value) for row in rows for value in row)
