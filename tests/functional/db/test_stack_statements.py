"""The number of statements of operations on stacks, and the indexes that they use."""

from collections.abc import Callable
from typing import Any

from tests.contract.stack_case import (
    TENANT,
    make_definition,
    make_resource,
    make_stack,
    resource_event,
    stack_event,
)
from tests.factories import at
from tests.functional.db import counting, stores
from watcherlite.db.api import Transaction
from watcherlite.db.query import EventQuery, Query
from watcherlite.db.sqlalchemy.lists import events, keyset, shapes
from watcherlite.domain.stacks import Resource, Stack

#: The maximum number of resources in a stack.
MANY = 1000


class StackStatementTests(counting.CountingTests):
    """Statements on stacks; databases differ in the class attributes."""

    unknown = True

    new_definition = 2
    lock_tree = 2
    insert = 1

    def insert_tree(self, count: int) -> list[Stack]:
        """Store a stack with nested stacks; return all of them."""
        with self.store.transaction() as tx:
            definition = tx.insert_definition(make_definition())
            root = tx.insert_stack(make_stack(definition.id))
            inner = {'owner_id': root.id, 'root_id': root.id, 'depth': 1}
            return [root] + [
                tx.insert_stack(make_stack(definition.id, **inner))
                for _ in range(count)
            ]

    def test_each_kind_of_change_costs_the_same_for_one_and_for_many(self) -> None:
        expected = {
            'lock_stacks': 1,
            'lock_tree': self.lock_tree,
            'save_stacks': 1,
            'insert_resources': self.insert,
            'resources_of': 1,
            'resources_by_id': 1,
            'save_resources': 1,
            'add_events': 1,
        }
        self.assertEqual([expected] * 2, [self.costs(n) for n in (1, MANY)])

    def costs(self, count: int) -> dict[str, int]:
        """Return the cost of calls that change a number of rows."""
        stacks = self.insert_tree(min(count, 50))
        ids = [stack.id for stack in stacks]
        new = [make_resource(stacks[0]) for _ in range(count)]
        rows: list[Resource] = []

        def insert(tx: Transaction) -> None:
            keys = tx.insert_resources(new)
            rows.extend(r.stored(k) for r, k in zip(new, keys, strict=True))

        def save(tx: Transaction) -> None:
            tx.save_resources([row.evolve(status='FAILED') for row in rows])

        def add_events(tx: Transaction) -> None:
            tx.add_events([resource_event(stacks[0], row) for row in rows])

        found = {
            'lock_stacks': self.cost(lambda tx: tx.lock_stacks(ids)),
            'lock_tree': self.cost(lambda tx: tx.lock_tree(ids[0])),
            'save_stacks': self.cost(lambda tx: tx.save_stacks(stacks)),
            'insert_resources': self.cost(insert),
            'resources_of': self.cost(lambda tx: tx.resources_of(ids)),
            'resources_by_id': self.cost(
                lambda tx: tx.resources_by_id(row.id for row in rows)
            ),
            'save_resources': self.cost(save),
            'add_events': self.cost(add_events),
        }
        listed = self.store.list_resources(ids)
        self.assertEqual([row.evolve(status='FAILED') for row in rows], listed)
        return found

    def test_a_stored_definition_costs_one_statement(self) -> None:
        definition = make_definition()
        self.assertEqual(
            (self.new_definition, 1),
            tuple(
                self.cost(lambda tx: tx.insert_definition(definition)) for _ in range(2)
            ),
        )
        key = self.insert_tree(0)[0].definition_id
        # A root stack stores its own id in a second statement.
        self.assertEqual(2, self.cost(lambda tx: tx.insert_stack(make_stack(key))))
        inner = make_stack(key, owner_id=1, root_id=1)
        self.assertEqual(1, self.cost(lambda tx: tx.insert_stack(inner)))

    def test_no_query_costs_a_statement_per_row_or_locks_one(self) -> None:
        stacks = self.insert_tree(20)
        root, ids = stacks[0], [stack.id for stack in stacks]
        with self.store.transaction() as tx:
            tx.lock_stacks(ids)
            tx.insert_resources([make_resource(stack, name='r') for stack in stacks])
            tx.add_events([stack_event(stack) for stack in stacks])
        of = {'stack_id': ids, 'type': ['T']}
        (event, *_) = self.store.list_stack_events(EventQuery({'stack_id': ids}))
        reads: dict[str, Callable[[], Any]] = {
            'find_stack': lambda: self.store.find_stack(root.name, TENANT),
            'stacks_by_id': lambda: self.store.stacks_by_id(ids),
            'stack_tree': lambda: self.store.stack_tree(ids[0]),
            'list_stacks': lambda: self.store.list_stacks(Query(nested=True)),
            'a page': lambda: self.store.list_stacks(
                Query(nested=True, after=root.uuid)
            ),
            'count_stacks': lambda: self.store.count_stacks(Query()),
            'get_definition': lambda: self.store.get_definition(root.definition_id),
            'list_resources': lambda: self.store.list_resources(ids, names=['r']),
            'list_stack_events': lambda: self.store.list_stack_events(
                EventQuery({**of, 'resource': ['r'], 'action': ['CREATE']})
            ),
            'a page of events': lambda: self.store.list_stack_events(
                EventQuery({'stack_id': ids}, after=event.event.uuid, limit=3)
            ),
            'ancestry_of_stacks': lambda: self.store.ancestry_of_stacks(ids),
            'count_resources': lambda: self.store.count_resources(ids[0]),
        }
        for name, read in reads.items():
            with self.texts() as found:
                self.assertTrue(read() or 'filters' in name or 'events' in name, name)
            self.assertEqual(1, len(found), name)
            self.assertNotRegex(found[0], 'FOR |LOCK IN', name)

    def analyze(self) -> None:
        """Collect statistics of stacks, if they decide on the index."""

    def test_limits_of_the_time_of_creation_bound_a_scan_of_its_index(self) -> None:
        with self.store.transaction() as tx:
            definition = tx.insert_definition(make_definition())
            rows = [
                tx.insert_stack(make_stack(definition.id, created_at=at(n)))
                for n in range(300)
            ]
        self.analyze()
        database = self.store.engine.dialect.name
        for after in (None, rows[50].uuid):
            for descending in (True, False):
                query = Query(
                    tenant=TENANT,
                    sort=(('created_at', descending),),
                    after=after,
                    limit=10,
                    since=at(40),
                    until=at(60),
                )
                shape, values = shapes.parse('stacks', query, database)
                query_plan = self.explained(keyset.page(shape), **values)
                self.assertIn('ix_stacks_tenant_hidden_created_at_id', query_plan)
                self.assertNotRegex(
                    query_plan, r'Seq Scan on stacks|SCAN stacks(\n|$)|\nstacks\nALL'
                )

    def test_a_page_of_events_is_read_from_its_index(self) -> None:
        first, second = self.insert_tree(1)
        with self.store.transaction() as tx:
            tx.lock_stacks([first.id, second.id])
            for stack, count in ((first, 3000), (second, 30)):
                tx.add_events([stack_event(stack) for _ in range(count)])
        of = {'stack_id': [second.id]}
        (last,) = self.store.list_stack_events(EventQuery(of, limit=1))
        database = self.store.engine.dialect.name
        for after in (None, last.event.uuid):
            for descending in (True, False):
                query = EventQuery(of, descending, after, 10)
                shape, values = events.parse(events.STACKS, query, database)
                query_plan = self.explained(events.page(shape), **values)
                self.assertIn('ix_events_of_stack', query_plan)
                self.assertNotRegex(query_plan, r'Seq Scan|events\nALL')


class SqliteStackStatementTest(StackStatementTests, stores.SqliteDatabase):
    explain = 'EXPLAIN QUERY PLAN'
    # No other transaction writes.
    lock_tree = 1


class MysqlStackStatementTest(StackStatementTests, stores.MysqlDatabase):
    # Its INSERT does not return the id of an existing row.
    new_definition = 3
    # Nor does any INSERT return the ids.
    insert = 2


class PostgresqlStackStatementTest(StackStatementTests, stores.PostgresqlDatabase):
    def analyze(self) -> None:
        # With those of another test, all indexes may seem equal.
        with self.store.engine.begin() as connection:
            connection.exec_driver_sql('ANALYZE stacks')
