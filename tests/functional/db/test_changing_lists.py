"""A list contains every row, including rows that change at the same time."""

import itertools
import threading
from collections.abc import Callable, Iterable
from typing import Any

from tests.bounded import TIMEOUT
from tests.contract.stack_case import make_definition, make_stack
from tests.factories import at, make_action, store_plan
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.states import action_plan as states
from watcherlite.states.stack import State

#: The number of reads of a list: MariaDB lost a row in every sixth.
READS = 150


class ChangingListsTests(stores.StoreTests):
    """Lists that one thread reads while another changes the rows."""

    def assert_list_complete(
        self,
        count: int,
        read: Callable[[], Iterable[Any]],
        change: Callable[[int], Any],
    ) -> None:
        """Check that a list has all its rows while other threads change them."""
        over, begun = threading.Event(), threading.Event()

        def changing() -> None:
            for number in itertools.count():
                change(number)
                begun.set()
                if over.is_set():
                    return

        thread = threading.Thread(target=changing)
        thread.start()
        try:
            self.assertTrue(begun.wait(TIMEOUT))
            found = [len(list(read())) for _ in range(READS)]
        finally:
            over.set()
            thread.join()
        self.assertEqual([count] * READS, found)

    def test_stacks(self) -> None:
        with self.store.transaction() as tx:
            definition = tx.insert_definition(make_definition())
            stack, _ = (
                tx.insert_stack(make_stack(definition.id, name='s', tenant=tenant))
                for tenant in ('one', 'another')
            )

        def change(number: int) -> None:
            state = State('UPDATE', 'COMPLETE' if number % 2 else 'IN_PROGRESS', '')
            with self.store.transaction() as tx:
                tx.save_stacks([stack.at(state, updated_at=at(number))])

        query = Query(filters={'name': ['s']}, limit=2)
        self.assert_list_complete(2, lambda: self.store.list_stacks(query), change)

    def test_plans(self) -> None:
        plan, *_ = (store_plan(self.store, make_action())[0] for _ in range(2))

        def change(number: int) -> None:
            state = states.ONGOING if number % 2 else states.PENDING
            with self.store.transaction() as tx:
                tx.save_plans([plan.evolve(state=state, updated_at=at(number))])

        for key in ('state', 'updated_at', 'created_at'):
            query = queries.Query(sort=((key, False),), limit=2)
            self.assert_list_complete(
                2, lambda query=query: self.store.list_action_plans(query), change
            )


define_tests(__name__, ChangingListsTests, on=(SQLITE, POSTGRESQL, MYSQL))
