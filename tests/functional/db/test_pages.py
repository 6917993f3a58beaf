"""Pages are read from an index, starting after the marker.

The tests compare query plans, on tables of a thousand rows without statistics.
"""

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

from tests.factories import (
    at,
    make_action,
    make_audit,
    make_plan,
    new_uuid,
    store_actions,
    store_plan,
)
from tests.functional.db import counting, stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from watcherlite import exceptions
from watcherlite.db import query as queries
from watcherlite.db.query import Query
from watcherlite.db.sqlalchemy.lists import keyset, shapes
from watcherlite.db.sqlalchemy.lists.queries import fetch_page
from watcherlite.db.sqlalchemy.store import SqlStore
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.audits import Audit, Goal
from watcherlite.states import action as states

ROWS = 1000


class PageCase(counting.CountingTests):
    """Lists on every database; query plans differ.

    The tests of a class share the rows, which they only read.
    """

    unknown = True

    plan: ClassVar[ActionPlan]
    audit: ClassVar[Audit]
    goal: ClassVar[Goal]
    _filled: ClassVar[SqlStore]
    #: Checks the query plan of a list; provided by the database mixin.
    assert_scans: Callable[[str, str, str], None]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._filled = store = cls.empty_shared()
        cls.plan, _ = store_plan(store)
        relations = store.plan_relations(cls.plan.id)
        assert relations is not None
        cls.audit, cls.goal = relations.audit, relations.goal
        common = {'audit_id': cls.audit.id, 'strategy_id': cls.plan.strategy_id}
        with store.transaction() as tx:
            for _ in range(300):
                tx.insert_audit(make_audit(cls.goal.id))
                tx.insert_plan(make_plan(**common))
        store_actions(
            store,
            *(
                make_action(
                    plan_id=cls.plan.id,
                    target=f'node-{n % 2}',
                    status=states.FAILED if n % 2 else states.INIT,
                )
                for n in range(ROWS)
            ),
        )

    def make_store(self) -> SqlStore:
        return self._filled

    def explained_page(self, noun: str, query: Query) -> str:
        """Return the query plan of a page."""
        return self.explained_call(
            lambda: fetch_page(self.store._db, noun, query, exceptions.NotFound)
        )

    def driver_query_plan(self, sql: str, parameters: Any) -> str:
        with self.store.engine.connect() as connection:
            rows = connection.exec_driver_sql(f'{self.explain} {sql}', parameters)
            return '\n'.join(' '.join(map(str, row)) for row in rows)

    def assert_all_scan(
        self,
        walks: list[tuple[str, dict[str, Any], str, str]],
        limit: int = 100,
        **values: Any,
    ) -> None:
        after = {
            'audits': self.audit.uuid,
            'action_plans': self.plan.uuid,
            'actions': self.store.page_of_actions(Query(limit=1))[0].action.uuid,
        }
        for noun, filters, key, index in walks:
            for descending in (False, True):
                for marker in (None, after[noun]):
                    sort = ((key, descending),)
                    query = Query(filters, sort, marker, limit, **values)
                    query_plan = self.explained_page(noun, query)
                    self.assert_scans(
                        query_plan, index, f'{noun} {query}\n{query_plan}'
                    )


class PageTests(PageCase):
    """Pages of tables of which the server has no statistics."""

    def test_the_default_order_and_each_filter_use_an_index(self) -> None:
        of_plan = {'action_plan_uuid': self.plan.uuid}
        of_audit = {'audit_uuid': self.audit.uuid}
        of_goal = {'goal': self.goal.name}
        self.assert_all_scan(
            [
                ('audits', {}, 'id', 'ix_audits_hidden_id'),
                *(
                    ('audits', {'state': 'SUCCEEDED'}, key, 'ix_audits_hidden_state_id')
                    for key in ('id', 'state', 'deleted_at')
                ),
                *(
                    ('audits', of_goal, key, 'ix_audits_goal_id_hidden_id')
                    for key in ('id', 'goal_uuid', 'goal_name')
                ),
                ('action_plans', {}, 'id', 'ix_action_plans_hidden_id'),
                (
                    *('action_plans', {'state': 'ONGOING'}, 'id'),
                    'ix_action_plans_hidden_state_id',
                ),
                ('action_plans', of_audit, 'id', 'ix_action_plans_audit_id_hidden_id'),
                ('actions', {}, 'id', 'ix_actions_hidden_id'),
                ('actions', of_plan, 'id', 'ix_actions_plan_id'),
                ('actions', of_audit, 'id', 'ix_actions_audit_id'),
                ('actions', {'state': 'FAILED'}, 'id', 'ix_actions_hidden_ended_id'),
                (
                    'actions',
                    {'state': 'PENDING'},
                    'state',
                    'ix_actions_hidden_ended_id',
                ),
                (
                    *('actions', {'action_type': 'nop'}, 'id'),
                    'ix_actions_hidden_action_type_id',
                ),
                ('actions', {'target': 'node-1'}, 'id', 'ix_actions_target'),
            ]
        )
        query_plan = self.explained_page('audits', Query(of_goal, limit=100))
        self.assertIn('ix_goals_lower_name', query_plan)

    def test_every_sort_key_of_large_tables_uses_an_index(self) -> None:
        named = {
            ('actions', 'state'): 'ix_actions_hidden_ended_id',
            ('action_plans', 'updated_at'): 'ix_action_plans_hidden_settled_at_id',
            ('audits', 'interval'): 'ix_audits_hidden_run_interval_id',
            ('audits', 'force'): 'ix_audits_hidden_forced_id',
        }
        walks: list[tuple[str, dict[str, Any], str, str]] = []
        for noun in ('audits', 'action_plans', 'actions'):
            for key in set(queries.SORT_KEYS[noun]) - {'uuid'}:
                of, _, column = key.partition('_')
                index = f'ix_{noun}_hidden_{key}_id'
                if key in ('id', 'deleted_at'):
                    index = f'ix_{noun}_hidden_id'
                elif of in ('goal', 'strategy') and column:
                    index = f'ix_{noun}_{of}_id_hidden_id'
                walks.append((noun, {}, key, named.get((noun, key), index)))
        self.assert_all_scan(walks)

    def test_limits_of_the_time_of_creation_bound_a_scan_of_its_index(self) -> None:
        walks: list[tuple[str, dict[str, Any], str, str]] = [
            (noun, {}, 'created_at', f'ix_{noun}_hidden_created_at_id')
            for noun in queries.TIMED
        ]
        self.assert_all_scan(walks, since=at(-60), until=at(60))

    def test_the_cache_of_statements_is_limited(self) -> None:
        before = keyset.page.cache_info().misses
        for limit in range(200):
            self.store.list_goals(Query(limit=limit + 1))
        self.assertLess(keyset.page.cache_info().misses - before, 100)
        self.assertEqual(keyset.MAX_STATEMENTS, keyset.page.cache_info().maxsize)

    def test_a_page_can_have_any_limit(self) -> None:
        keys = queries.SORT_KEYS['actions']
        for key, limit in zip(
            keys, itertools.cycle((1, 7, 100, 101, 10**9)), strict=False
        ):
            query = Query(sort=((key, False),), limit=limit)
            found = self.store.page_of_actions(query)
            self.assertEqual(min(limit, ROWS), len(found), query)
        self.assertGreaterEqual(len(keys), 5)

    def test_an_unknown_marker_costs_one_statement(self) -> None:
        with self.statements() as words, self.assertRaises(exceptions.NotFound):
            self.store.page_of_actions(Query(after=new_uuid()))
        self.assertEqual(['SELECT'], words)


class AnalyzedPageTests(PageCase):
    """Pages of tables with statistics.

    Statistics survive the deletion of rows, so other tests use another database.
    """

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.analyze()

    @classmethod
    def analyze(cls) -> None:
        """Collect statistics of the database, if it has any."""

    def test_uuids_are_listed_by_one_index_scan_also_with_deleted_rows(self) -> None:
        for noun in ('audits', 'action_plans', 'actions'):
            self.assert_all_scan([(noun, {}, 'uuid', f'uq_{noun}_uuid')], limit=1)
            query = Query(sort=(('uuid', False),), limit=1, deleted=True)
            shape, _ = shapes.parse(noun, query, self.store.engine.dialect.name)
            self.assertNotIn('UNION', str(keyset.page(shape)))
            query_plan = self.explained_page(noun, query)
            self.assert_scans(
                query_plan, f'uq_{noun}_uuid', f'{noun} {query}\n{query_plan}'
            )


class SqlitePages(PageCase):
    explain = 'EXPLAIN QUERY PLAN'

    def assert_scans(self, query_plan: str, index: str, message: str) -> None:
        name = index if index.startswith('ix_') else index[3:].removesuffix('_uuid')
        self.assertIn(name, query_plan, message)
        self.assertNotRegex(query_plan, r'SCAN (audits|action_plans|actions)$', message)


class PostgresqlPages(PageCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        with cls._filled.engine.connect() as connection:
            for table in ('audits', 'action_plans', 'actions'):
                # Otherwise the server would collect statistics during the test.
                connection.exec_driver_sql(
                    f'ALTER TABLE {table} SET (autovacuum_enabled = off)'
                )

    @classmethod
    def analyze(cls) -> None:
        with cls._filled.engine.connect() as connection:
            connection.exec_driver_sql('ANALYZE audits, action_plans, actions')

    def assert_scans(self, query_plan: str, index: str, message: str) -> None:
        walk = query_plan[query_plan.index('Limit') :]
        self.assertIn(f' using {index} on ', walk, message)
        backward = ', True),)' in message
        self.assertEqual(backward, ' Scan Backward ' in walk, message)
        for table in ('audits', 'action_plans', 'actions'):
            self.assertNotIn(f'Seq Scan on {table}', query_plan, message)
        if "sort=(('id', " in message and 'after=None' not in message:
            # It starts after the marker, and reads no row before it.
            first = walk[walk.index(f' using {index} on ') :].split(' Index Cond: ')[1]
            self.assertRegex(first.partition('\n')[0], r'\bid\b.* [<>] ', message)
        if "action_plans Query(filters={}, sort=(('updated_at'" not in message:
            # Several scans are merged; none is sorted below. Lists by `updated_at` are
            # an exception, because they sort the few active plans.
            self.assertLessEqual(walk.count('Sort Key'), 1, message)


class PostgresqlPageTest(PostgresqlPages, PageTests, stores.PostgresqlDatabase):
    def test_an_index_scan_ends_with_its_matching_rows(self) -> None:
        # Each scan is bounded in every column of its index: one that is bounded by a
        # row comparison would read all other rows of the same strategy.
        by_strategy = (('strategy_name', True),)
        query = Query({}, by_strategy, self.plan.uuid, 100, deleted=True)
        query_plan = self.explained_page('action_plans', query)
        walks = [
            line.split('Index Cond: ')[1]
            for line in query_plan.splitlines()
            if 'Index Cond: ' in line and '(strategy_id' in line
        ]
        self.assertGreater(len(walks), 1, query_plan)
        for walk in walks:
            self.assertRegex(walk, r'AND \(hidden = [01]\)', query_plan)


class MysqlPages(PageCase):
    def assert_scans(self, query_plan: str, index: str, message: str) -> None:
        walks = [
            line for line in query_plan.splitlines() if ' PRIMARY ' not in line[:11]
        ]
        rows = [line for line in walks if f' {index} ' in line]
        self.assertTrue(rows, message)
        for row in rows:
            self.assertNotIn('filesort', row, message)


for _pages, _database in (
    (SqlitePages, SQLITE),
    (PostgresqlPages, POSTGRESQL),
    (MysqlPages, MYSQL),
):
    define_tests(__name__, AnalyzedPageTests, on=(_database,), before=(_pages,))
    if _database is not POSTGRESQL:
        define_tests(__name__, PageTests, on=(_database,), before=(_pages,))
