"""The number of statements of operations: round trips determine their duration."""

import functools
from collections.abc import Callable
from typing import Any
from unittest import mock

from tests.factories import (
    NOW,
    at,
    make_action,
    make_event,
    make_goal,
    make_scoring_engine,
    make_strategy,
    new_uuid,
    store_plan,
)
from tests.functional.db import counting, stores
from watcherlite.db import query as queries
from watcherlite.db.api import Transaction
from watcherlite.db.sqlalchemy import mysql
from watcherlite.db.sqlalchemy.statements import action_queries, claims, workers
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.states import action as states

WORKER = new_uuid()


class StatementTests(counting.CountingTests):
    """Statements on actions; databases differ in the class attributes."""

    unknown = True

    #: Checks the query plan of a statement; provided by the database mixin.
    assert_in_order: Callable[[str], None]

    #: The statements of one call of each method of a group commit.
    change = 1
    claim = 1
    release = 1
    hand_over = 1
    #: Whether rows that are too large for one document need several statements.
    divides = True
    insert = 1
    signal = 1
    acquire_locks = 1
    release_locks = 2

    def started(self, actions: list[Action]) -> list[ActionChange]:
        return [
            ActionChange(a, a.evolve(status=states.RUNNING, start_time=NOW))
            for a in actions
        ]

    # One statement for any number of rows

    def test_each_kind_of_change_costs_the_same_for_one_and_for_many(self) -> None:
        expected = {
            'lock_plans': 1,
            'save_plans': 1,
            'claim': self.claim,
            'change_actions': self.change,
            'set_control': self.signal,
            'add_events': 1,
        }
        self.assertEqual([expected] * 2, [self.cost_of_changes(n) for n in (1, 300)])

    def cost_of_changes(self, count: int) -> dict[str, int]:
        """Return the cost of the calls of a group commit."""
        plan, actions = store_plan(self.store, *(make_action() for _ in range(count)))
        taken: list[Action] = []

        def claim(tx: Transaction) -> None:
            taken.extend(tx.claim(worker=WORKER, limit=count, now=NOW, plan_id=plan.id))

        def start(tx: Transaction) -> None:
            self.assertEqual(count, len(tx.change_actions(self.started(taken))))

        def signal(tx: Transaction) -> None:
            signalled = tx.set_control(states.CANCEL, NOW, plan_id=plan.id)
            self.assertEqual(count, len(signalled))

        return {
            'lock_plans': self.cost(lambda tx: tx.lock_plans([plan.id])),
            'save_plans': self.cost(lambda tx: tx.save_plans([plan])),
            'claim': self.cost(claim),
            'change_actions': self.cost(start),
            'set_control': self.cost(signal),
            'add_events': self.cost(
                lambda tx: tx.add_events([make_event(a) for a in actions])
            ),
        }

    def test_inserts_and_releases_cost_the_same_for_one_and_for_many(self) -> None:
        expected = {
            'insert_actions': self.insert,
            'release_dependents': self.release,
            'with handovers': self.hand_over,
        }
        self.assertEqual([expected] * 2, [self.cost_of_graphs(n) for n in (1, 300)])

    def test_a_plan_is_purged_in_one_transaction_and_a_dry_run_counts_many(
        self,
    ) -> None:
        begun, foretold = [], []
        for count in (1, 3):
            for _ in range(count):
                store_plan(
                    self.store,
                    make_action(status=states.SUCCEEDED),
                    state='SUCCEEDED',
                    updated_at=at(-10),
                )
            with self.statements() as words:
                self.store.purge(NOW, count, dry_run=True)
            foretold.append(len(words))
            with self.statements() as words:
                purged = self.store.purge(NOW, count)
            self.assertEqual((count, count), (purged['action_plans'], purged['audits']))
            begun.append(words.count('BEGIN'))
        # The fourth is for actions without a plan.
        self.assertEqual([2, 4], begun)
        self.assertEqual(1, len(set(foretold)))

    def cost_of_graphs(self, count: int) -> dict[str, int]:
        """Return the cost of inserting and releasing actions."""
        plan, _ = store_plan(self.store)
        lonely = [make_action(plan_id=plan.id) for _ in range(count)]
        released, handed_over = self.pairs(count), self.pairs(count)
        handovers = {
            child.id: child.evolve(status=states.RUNNING, owner=WORKER, attempt=1)
            for _, child in handed_over
        }

        def insert(tx: Transaction) -> None:
            ids = tx.insert_actions(lonely, [])
            self.assertEqual((sorted(ids), count), (ids, len(set(ids))))

        def release(tx: Transaction) -> None:
            ids = [parent.id for parent, _ in released]
            found = tx.release_dependents(ids, started=True, now=NOW)
            self.assertEqual([False] * count, [r.handed_over for r in found])

        def hand_over(tx: Transaction) -> None:
            ids = [parent.id for parent, _ in handed_over]
            found = tx.release_dependents(
                ids, started=True, handovers=handovers, now=NOW
            )
            self.assertEqual([True] * count, [r.handed_over for r in found])

        return {
            'insert_actions': self.cost(insert),
            'release_dependents': self.cost(release),
            'with handovers': self.cost(hand_over),
        }

    def pairs(self, count: int) -> list[tuple[Action, Action]]:
        """Store actions, each with one dependent."""
        parents = [make_action() for _ in range(count)]
        children = [make_action(parents=(a.uuid,)) for a in parents]
        _, stored = store_plan(self.store, *parents, *children)
        return list(zip(stored[:count], stored[count:], strict=True))

    def test_locks_cost_the_same_for_one_and_for_many(self) -> None:
        _, actions = store_plan(self.store, *(make_action() for _ in range(200)))
        costs = [self.cost_of_locks(some) for some in (actions[:1], actions[1:])]
        self.assertEqual([(self.acquire_locks, self.release_locks)] * 2, costs)

    def cost_of_locks(self, actions: list[Action]) -> tuple[int, int]:
        """Return the cost of taking and releasing the locks of actions."""
        targets = {f'node-{action.id}': action.id for action in actions}
        ids = list(targets.values())
        return (
            self.cost(lambda tx: tx.acquire_locks(targets)),
            self.cost(lambda tx: tx.release_locks(ids)),
        )

    def test_successors_are_one_statement_for_any_depth(self) -> None:
        chain: list[Action] = []
        for _ in range(20):
            chain.append(make_action(parents=tuple(a.uuid for a in chain[-1:])))
        _, stored = store_plan(self.store, *chain)
        found: list[Action] = []
        self.assertEqual(
            1,
            self.cost(
                lambda tx: found.extend(
                    s.action for s in tx.successors([stored[0].id], 30)
                )
            ),
        )
        # Only the first of these has a single unfinished parent.
        self.assertEqual([a.id for a in stored[1:]], [a.id for a in found])

    # Reading

    def test_no_list_costs_a_statement_per_row_and_no_query_a_transaction(self) -> None:
        plan, actions = store_plan(self.store, *(make_action() for _ in range(50)))
        with self.store.transaction() as tx:
            tx.add_events([make_event(a) for a in actions])
        reads: dict[str, Callable[[], Any]] = {
            'list_actions': lambda: self.store.list_actions(plan_id=plan.id),
            'list_events': lambda: self.store.list_events(plan_id=plan.id),
            'pending_events': lambda: self.store.pending_events(100),
            'relations_of_plans': lambda: self.store.relations_of_plans([1, 2]),
            'get_action': lambda: self.store.get_action(actions[0].uuid),
            'active_plans': lambda: self.store.active_plans(10),
            'owned_ids': lambda: self.store.owned_ids(WORKER),
        }
        for name, read in reads.items():
            with self.statements() as words:
                read()
            self.assertEqual(['SELECT'], words, name)

    def test_a_connection_is_used_without_a_test(self) -> None:
        """A test by the pool would not be counted as a statement."""
        dialect = self.store.engine.dialect
        with mock.patch.object(dialect, 'do_ping', return_value=True) as ping:
            words = self.statement_words()
        self.assertEqual([], ping.mock_calls)
        self.assertEqual([*['SELECT'] * 3, 'BEGIN', 'SELECT', 'COMMIT'], words)

    def statement_words(self) -> list[str]:
        """Use a connection four times; return the first words of the statements."""
        plan, _ = store_plan(self.store)
        with self.statements() as words:
            for _ in range(3):
                self.store.get_plan(plan.uuid)
            with self.store.transaction() as tx:
                tx.lock_plans([plan.id])
        return words

    def test_a_page_and_a_search_of_any_collection_are_one_statement(self) -> None:
        plan, actions = store_plan(self.store, *(make_action() for _ in range(50)))
        relations = self.store.plan_relations(plan.id)
        assert relations is not None and relations.strategy is not None
        audit, goal, strategy = relations.audit, relations.goal, relations.strategy
        store = self.store
        with store.transaction() as tx:
            tx.sync_scoring_engines([make_scoring_engine()], NOW)
        engine = store.list_scoring_engines(queries.Query())[0].engine
        lists: dict[str, tuple[Callable[..., list[Any]], Any]] = {
            'goals': (store.list_goals, goal),
            'strategies': (store.list_strategies, strategy),
            'scoring_engines': (store.list_scoring_engines, engine),
            'audits': (store.list_audits, audit),
            'action_plans': (store.list_action_plans, plan),
            'actions': (store.page_of_actions, actions[9]),
        }
        values = {
            'goal': goal.name,
            'strategy': strategy.uuid,
            'audit_uuid': audit.uuid,
            'action_plan_uuid': plan.uuid,
        }
        reads: dict[str, Callable[[], object]] = {
            'find_goal': lambda: store.find_goal(goal.name),
            'find_strategy': lambda: store.find_strategy(strategy.uuid),
            'find_scoring_engine': lambda: store.find_scoring_engine(engine.name),
            'find_audit': lambda: store.find_audit(audit.name.upper()),
            'find_action_plan': lambda: store.find_action_plan(plan.uuid),
            'find_action': lambda: store.find_action(actions[0].uuid),
            'list_workers': store.list_workers,
            'get_audit': lambda: store.get_audit(audit.uuid),
            'relations_of_audits': lambda: store.relations_of_audits([1, 2, 3]),
            'has_plan_in': lambda: store.has_plan_in(['ONGOING', 'PENDING']),
            'expired_plans': lambda: store.expired_plans(['ONGOING'], at(1), 100),
            'history': lambda: store.list_events(subject='audit', subject_id=1),
        }
        for noun, (pages, row) in lists.items():
            filters = {name: values.get(name, 'x') for name in queries.FILTERS[noun]}
            for key in queries.SORT_KEYS[noun]:
                for query in (
                    queries.Query(sort=((key, False),)),
                    queries.Query(filters, ((key, False),), after=row.uuid),
                ):
                    reads[f'{noun} {query}'] = functools.partial(pages, query)
        for name, read in reads.items():
            with self.statements() as words:
                read()
            # Lists sorted by goal or strategy first read these, unless a filter names
            # one.
            first = name.startswith(('audits', 'action_plans')) and any(
                f"filters={{}}, sort=(('{of}_" in name for of in ('goal', 'strategy')
            )
            self.assertEqual(['SELECT'] * (2 if first else 1), words, name)

    def test_syncing_costs_the_same_for_one_and_for_many(self) -> None:
        def cost(count: int, display: str) -> int:
            goals = [
                make_goal(name=f'{count}-{n}', display_name=display)
                for n in range(count)
            ]
            strategies = {
                goal.name: [make_strategy(name=goal.name, display_name=display)]
                for goal in goals
            }

            def sync(tx: Transaction) -> None:
                tx.sync_goals(goals, NOW)
                tx.sync_strategies(strategies, NOW)

            return self.cost(sync)

        # Goals are read twice, strategies once; both are written.
        self.assertEqual(
            [5] * 4, [cost(n, text) for n in (1, 50) for text in ('new', 'changed')]
        )
        self.assertEqual(3, cost(50, 'changed'))

    # The whole life of many actions

    def test_a_wide_plan_costs_a_tenth_of_a_statement_for_each_action(self) -> None:
        count = 256
        plan, _ = store_plan(self.store, *(make_action() for _ in range(count)))
        with self.statements() as words:
            with self.store.transaction() as tx:
                (locked,) = tx.lock_plans([plan.id]).values()
                taken = tx.claim(worker=WORKER, limit=count, now=NOW, plan_id=plan.id)
                tx.save_plans([locked.evolve(active=count)])
            running = self.write(self.started(taken))
            self.write(
                [
                    ActionChange(
                        a, a.evolve(status=states.SUCCEEDED, owner=None, end_time=at(1))
                    )
                    for a in running
                ]
            )
            pending = self.store.pending_events(2 * count)
            self.store.mark_published([e.sequence for e in pending], at(2))

        self.assertEqual({'SUCCEEDED': count}, self.store.count_actions(plan.id))
        self.assertEqual((2 * count, []), (len(pending), self.store.pending_events(1)))
        self.assertLessEqual(len(words) / count, 0.1, words)
        # Each transaction has one commit, and so does the mark of its events.
        self.assertLessEqual((words.count('COMMIT') + 1) / count, 0.05, words)

    def write(self, changes: list[ActionChange]) -> list[Action]:
        """Write changes like a group commit; return the changed actions."""
        after = [change.after for change in changes]
        with self.store.transaction() as tx:
            (plan,) = tx.lock_plans([after[0].plan_id or 0]).values()
            self.assertEqual(len(changes), len(tx.change_actions(changes)))
            tx.save_plans([plan.evolve(updated_at=NOW)])
            tx.add_events([make_event(action) for action in after])
        return after

    # Large rows

    def test_rows_that_exceed_one_statement_are_divided(self) -> None:
        plan, _ = store_plan(self.store, *(make_action() for _ in range(5)))
        with self.store.transaction() as tx:
            taken = tx.claim(worker=WORKER, limit=9, now=NOW, plan_id=plan.id)

        def cost_of_change(outputs: dict[str, str]) -> int:
            changes = [ActionChange(a, a.evolve(outputs=outputs)) for a in taken]
            changed: set[int] = set()
            cost = self.cost(lambda tx: changed.update(tx.change_actions(changes)))
            self.assertEqual({a.id for a in taken}, changed)
            listed = self.store.list_actions(plan_id=plan.id)
            self.assertEqual([outputs] * 5, [a.outputs for a in listed])
            return cost

        small, large = (cost_of_change({'text': 'ž' * n}) for n in (10, 200_000))
        self.assertEqual(self.divides, large > small)

    # The query plan of a claim

    def explain_claim(self) -> str:
        return self.explained(
            claims.CLAIM['plan'], source=1, worker=WORKER, limit=10, now=NOW
        )

    def test_claims_deadlines_and_derived_actions_use_an_index(self) -> None:
        store_plan(self.store, *(make_action() for _ in range(3000)))
        self.assert_in_order(self.explain_claim())
        late = self.explained(workers.DEADLINES, lane='engine', until=NOW, limit=500)
        derived = self.explained(action_queries.DERIVED_SINCE, key=1, since=NOW)
        self.assertIn('ix_actions_deadline', late)
        self.assertNotRegex(late, 'TEMP B-TREE|Sort|filesort')
        self.assertIn('ix_actions_derived_from_created_at', derived)


class SqliteStatementTest(StatementTests, stores.SqliteDatabase):
    explain = 'EXPLAIN QUERY PLAN'
    # Their values are separate, and their number is small.
    divides = False

    def assert_in_order(self, explanation: str) -> None:
        unscheduled = explanation.split('MATERIALIZE unscheduled')[1].split('SCAN')[0]
        self.assertIn('ix_actions_claimable_of_plan', unscheduled)
        self.assertNotIn('TEMP B-TREE', unscheduled)

    def test_the_driver_executes_no_further_statements(self) -> None:
        executed: list[str] = []
        with self.store.engine.connect() as connection:
            # The pool returns the connection that was released last.
            connection.connection.driver_connection.set_trace_callback(executed.append)
        words = self.statement_words()
        first_words = [statement.split(None, 1)[0] for statement in executed]
        self.assertEqual(words, first_words[-len(words) :])
        self.assertNotIn('SELECT 1', executed)


class PostgresqlStatementTest(StatementTests, stores.PostgresqlDatabase):
    def assert_in_order(self, explanation: str) -> None:
        unscheduled = explanation.split('CTE unscheduled')[1].split('CTE scheduled')[0]
        self.assertIn('Index Scan using ix_actions_claimable_of_plan', unscheduled)
        self.assertNotIn('Sort', unscheduled)

    def test_no_query_plan_depends_on_statistics(self) -> None:
        """A new plan has none."""
        store_plan(self.store, *(make_action() for _ in range(3000)))
        with self.store.engine.connect() as connection:
            connection.exec_driver_sql('ANALYZE actions')
        self.assert_in_order(self.explain_claim())


class MysqlStatementTest(StatementTests, stores.MysqlDatabase):
    # An UPDATE does not return its changes there, so a read precedes or follows it.
    change = 2
    claim = 3
    release = 2
    hand_over = 3
    insert = 2
    signal = 3
    acquire_locks = 2
    release_locks = 3

    def explain_claim(self) -> str:
        return self.explained(mysql.FIND_DUE['plan'][0], source=1, after=0, limit=10)

    def assert_in_order(self, explanation: str) -> None:
        self.assertIn('ix_actions_claimable_of_plan', explanation)
        self.assertNotIn('filesort', explanation)
