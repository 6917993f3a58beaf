"""The SQL constructs, executed on each database."""

import datetime
import sqlite3

import sqlalchemy as sa

from tests.factories import NOW, make_worker, new_uuid
from tests.functional.db import stores
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests
from watcherlite.db.sqlalchemy import constructs
from watcherlite.db.sqlalchemy.constructs import RowSource
from watcherlite.db.sqlalchemy.tables.actions import actions
from watcherlite.db.sqlalchemy.tables.audits import audit_templates, goals
from watcherlite.db.sqlalchemy.tables.coordination import locks, workers
from watcherlite.db.sqlalchemy.tables.types import EncryptedJson

GOAL = {'name': 'n', 'display_name': 'd', 'efficacy_specification': [], 'deleted': 0}
LOCKS = RowSource(locks.c.target, locks.c.action_id)
LOCK = constructs.insert_ignore(locks).from_select(
    ['target', 'action_id'], sa.select(LOCKS)
)
BY_UUID = sa.select(goals.c.name).where(constructs.text_in(goals.c.uuid, 'uuids'))
BY_ID = sa.select(goals.c.name).where(constructs.id_in(goals.c.id, 'ids'))
TIMES = RowSource(goals.c.id, goals.c.created_at)


class ConstructTests(stores.StoreTests):
    """Constructs have the same effect on every database."""

    def insert_goal(self, name: str, **values: object) -> tuple[int, str]:
        """Store a goal; return its id and its uuid."""
        uuid = new_uuid()
        row = {**GOAL, 'uuid': uuid, 'name': name, **values}
        with self.store._db.transaction() as session:
            return session.insert_row(goals, row), uuid

    def test_many_ids_and_texts_are_one_parameter(self) -> None:
        (one, first), (two, _), _ = map(self.insert_goal, ('a', 'b', 'c'))

        by_id = self.store._db.rows(BY_ID, ids=[one, two])
        by_uuid = self.store._db.rows(BY_UUID, uuids=[first, new_uuid()])

        self.assertEqual({'a', 'b'}, {row.name for row in by_id})
        self.assertEqual([('a',)], [tuple(row) for row in by_uuid])

    def test_rows_of_a_document_are_inserted_once(self) -> None:
        rows = [('a', 1), ('b', 2)]
        with self.store._db.transaction() as session:
            (first,) = session.execute_rows(LOCK, LOCKS, rows)
            (second,) = session.execute_rows(LOCK, LOCKS, [*rows, ('c', 3)])
        self.assertEqual((2, 1), (first.rowcount, second.rowcount))

    def test_a_large_document_is_divided(self) -> None:
        rows = [(f'{n}{"x" * 240}', n) for n in range(17_000)]
        with self.store._db.transaction() as session:
            results = session.execute_rows(LOCK, LOCKS, rows)
        self.assertEqual(2, len(results))
        self.assertEqual(17_000, sum(result.rowcount for result in results))

    def test_rows_of_a_document_are_updated_by_their_ids(self) -> None:
        keys = [self.insert_goal(name)[0] for name in ('a', 'b', 'c')]
        source = RowSource(goals.c.id, goals.c.display_name, goals.c.updated_at)
        statement = constructs.update_rows(goals, source)
        with self.store._db.transaction() as session:
            (result,) = session.execute_rows(
                statement, source, [(key, f'n{key}', NOW) for key in keys[1:]]
            )
        self.assertEqual(2, result.rowcount)
        written = sa.select(goals.c.display_name, goals.c.updated_at)
        self.assertEqual(
            [('d', None), *((f'n{key}', NOW) for key in keys[1:])],
            [tuple(row) for row in self.store._db.rows(written.order_by(goals.c.id))],
        )

    def test_a_document_has_the_stored_values_of_columns(self) -> None:
        key, _ = self.insert_goal('a')
        joined = sa.select(goals.c.id, TIMES.c.created_at).join_from(
            goals, TIMES, TIMES.c.id == goals.c.id
        )
        with self.store._db.transaction() as session:
            (result,) = session.execute_rows(joined, TIMES, [(key, NOW)])
            self.assertEqual([(key, NOW)], [tuple(row) for row in result])

    def test_times_are_aware_and_exact(self) -> None:
        time = NOW.replace(microsecond=123456)
        self.insert_goal('a', created_at=time)
        query = sa.select(goals.c.created_at).where(goals.c.created_at <= time)
        self.assertEqual([(time,)], [tuple(r) for r in self.store._db.rows(query)])

    def test_the_clock_is_that_of_the_database(self) -> None:
        query = sa.select(
            constructs.now(), constructs.from_now(sa.bindparam('s', type_=sa.Float))
        )
        ((now, later),) = self.store._db.rows(query, s=90.5)
        difference = later - now - datetime.timedelta(seconds=90.5)
        # The database may read its clock twice.
        self.assertLess(abs(difference), datetime.timedelta(seconds=60))
        self.assertEqual(datetime.timedelta(0), now.utcoffset())

    def test_tuples_and_secrets_are_returned_as_they_were_stored(self) -> None:
        self.store.register_worker(make_worker(lanes=('a', 'b')), 60)
        self.assertIsInstance(audit_templates.c.scope.type, EncryptedJson)
        ((lanes,),) = self.store._db.rows(sa.select(workers.c.lanes))
        self.assertEqual(('a', 'b'), lanes)

    def test_a_failed_conversion_raises_its_own_error(self) -> None:
        for wrong in ([object()], [float]):
            with self.assertRaises(TypeError):
                self.insert_goal('a', efficacy_specification=wrong)

    def test_a_statement_can_have_an_index_hint(self) -> None:
        query = sa.select(actions.c.id).where(actions.c.hidden == 0)
        hinted = constructs.use_index(
            query, actions, 'ix_actions_hidden_id', 'mysql', 'sqlite'
        )
        text = str(hinted.compile(self.store.engine))
        named = self.store.engine.dialect.name != 'postgresql'
        self.assertEqual(named, 'ix_actions_hidden_id' in text)
        self.assertEqual([], list(self.store._db.rows(hinted)))


define_tests(__name__, ConstructTests, on=(SQLITE, POSTGRESQL, MYSQL))


class SqliteValueTest(stores.StoreTests, stores.SqliteDatabase):
    """The separate values of the rows of a document."""

    def test_a_statement_has_no_more_values_than_sqlite_accepts(self) -> None:
        with self.store._db.transaction() as session:
            driver = session._connection.connection.driver_connection
            assert driver is not None
            # The default; distributions compile SQLite with a higher one.
            usual = driver.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
            self.addCleanup(
                driver.setlimit, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, usual
            )
            for count in (8192, 8193):
                rows = [(f'{count} {n}', n) for n in range(count)]
                (result,) = session.execute_rows(LOCK, LOCKS, rows)
                self.assertEqual(count, result.rowcount)
