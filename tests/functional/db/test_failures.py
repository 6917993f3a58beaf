"""The errors of the store while its database is unavailable, busy or disconnected."""

import functools
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from tests import base
from tests.bounded import TIMEOUT
from tests.factories import (
    NOW,
    all_plans,
    make_action,
    make_event,
    make_plan,
    store_plan,
)
from tests.functional.db import stores
from watcherlite import exceptions
from watcherlite.db.sqlalchemy import migration
from watcherlite.db.sqlalchemy.engine import DatabaseSettings, make_engine
from watcherlite.db.sqlalchemy.store import SqlStore, open_store
from watcherlite.domain.action_plans import ActionPlan

#: Another process opens an SQLite file, reads it, and closes it.
COUNT_PLANS = """
import contextlib
import sqlite3
import sys
with contextlib.closing(sqlite3.connect(sys.argv[1])) as database:
    print(database.execute('SELECT count(*) FROM action_plans').fetchone()[0])
"""


class FailureTests(stores.StoreTests):
    """Failures that cause the same errors on every database."""

    def another(self, **settings: Any) -> SqlStore:
        store = self.open_again(**settings)
        self.addCleanup(store.close)
        return store

    def in_thread(self, call: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        self.addCleanup(thread.join, TIMEOUT)
        return thread

    def test_a_lock_timeout_is_a_store_conflict(self) -> None:
        plan, _ = store_plan(self.store)
        limited = self.another(busy_timeout=1)
        with self.store.transaction() as tx:
            tx.lock_plans([plan.id])
            with (
                self.assertRaises(exceptions.StoreConflict),
                limited.transaction() as other,
            ):
                other.lock_plans([plan.id])
        with limited.transaction() as other:
            self.assertEqual({plan.id: plan}, other.lock_plans([plan.id]))

    def test_a_reader_does_not_wait_for_a_writer(self) -> None:
        plan, actions = store_plan(self.store, make_action())
        with self.store.transaction() as tx:
            tx.lock_plans([plan.id])
            tx.claim(worker='w', limit=1, now=NOW, plan_id=plan.id)
            self.assertEqual(actions, self.store.list_actions(plan_id=plan.id))

    def test_an_exhausted_pool_names_its_option(self) -> None:
        store = self.another(max_pool_size=1, pool_timeout=0.1)
        with (
            store.transaction(),
            self.assertRaisesRegex(exceptions.StoreUnavailable, 'max_pool_size'),
        ):
            all_plans(store)
        self.assertEqual([], all_plans(store))

    def test_a_failed_transaction_returns_a_clean_connection(self) -> None:
        store = self.another(max_pool_size=1)
        for _ in range(3):
            with self.assertRaises(ZeroDivisionError), store.transaction() as tx:
                tx.insert_plan(make_plan())
                raise ZeroDivisionError
        self.assertEqual([], all_plans(store))
        with store.transaction() as tx:
            plan = tx.insert_plan(make_plan())
        self.assertEqual([plan], all_plans(store))

    def test_errors_do_not_contain_stored_values(self) -> None:
        action = make_action(inputs={'password': 'canary-1'}, name='canary-2')
        with self.store.transaction() as tx:
            tx.insert_actions([action], [])
        with (
            self.assertRaises(exceptions.Conflict) as caught,
            self.store.transaction() as tx,
        ):
            tx.insert_actions([action], [])
        self.assertNotIn('canary', f'{caught.exception} {self.log.output}')


class ServerFailureTests(FailureTests):
    """The behavior of every server."""

    sleep: str
    kill: str
    own_id: str
    unreachable: str
    #: Provided by the database mixin.
    url: str

    def test_an_unavailable_server_is_named_without_its_password(self) -> None:
        store = open_store(DatabaseSettings(self.unreachable, connect_timeout=2))
        self.addCleanup(store.close)

        def begin() -> None:
            with store.transaction():
                raise AssertionError('the transaction started')

        for call in (begin, lambda: all_plans(store), store.check):
            with self.assertRaisesRegex(
                exceptions.StoreUnavailable,
                r'//me:\*\*\*@127\.0\.0\.1:1/wl cannot be used: .*Check that',
            ) as caught:
                call()
            self.assertNotIn('canary', f'{caught.exception} {self.log.output}')

    def test_a_database_that_does_not_exist_is_unavailable(self) -> None:
        url = sa.make_url(self.url).set(database='wl_test_missing')
        store = open_store(DatabaseSettings(url.render_as_string(hide_password=False)))
        self.addCleanup(store.close)
        with self.assertRaisesRegex(exceptions.StoreUnavailable, 'wl_test_missing'):
            store.check()

    def test_a_slow_statement_is_cancelled(self) -> None:
        store = self.another(statement_timeout=1)
        with store.engine.connect() as connection:
            with self.assertRaisesRegex(
                exceptions.StoreUnavailable, 'took too long: .*statement_timeout'
            ):
                connection.exec_driver_sql(self.sleep)
            self.assertEqual(1, connection.exec_driver_sql('SELECT 1').scalar())

    def test_a_deadlock_is_a_store_conflict_of_one_transaction(self) -> None:
        plans = [store_plan(self.store)[0] for _ in range(2)]
        barrier = threading.Barrier(2)
        outcomes: list[str] = []

        def lock(first: ActionPlan, second: ActionPlan) -> None:
            try:
                with self.store.transaction() as tx:
                    tx.lock_plans([first.id])
                    barrier.wait(TIMEOUT)
                    tx.lock_plans([second.id])
                outcomes.append('done')
            except exceptions.StoreConflict:
                outcomes.append('conflict')

        threads = [
            self.in_thread(functools.partial(lock, *pair))
            for pair in (plans, plans[::-1])
        ]
        for thread in threads:
            thread.join(TIMEOUT)
        self.assertEqual(['conflict', 'done'], sorted(outcomes))

    # Broken connections

    def lose_connection(self, store: SqlStore) -> None:
        """Close the only connection of a store on the server."""
        with store.engine.connect() as connection:
            number = connection.exec_driver_sql(self.own_id).scalar()
        with self.store.engine.connect() as connection:
            connection.exec_driver_sql(self.kill.format(number))

    def test_a_connection_that_broke_while_idle_is_replaced(self) -> None:
        store = self.another(max_pool_size=1)
        plan, _ = store_plan(store)

        self.lose_connection(store)
        self.assertEqual(plan, store.get_plan(plan.uuid))

        self.lose_connection(store)
        with store.transaction() as tx:
            tx.save_plans([plan.evolve(total=5)])
        self.assertEqual(5, store.get_plan(plan.uuid).total)

        self.lose_connection(store)
        self.assertTrue(store.acquire_role('relay', 'w', 30))

    def close_connection_before(self, store: SqlStore, word: str) -> None:
        """Close a connection on the server before a kind of statement."""

        def cut(connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if not statement.startswith(word):
                return
            cursor = connection.connection.cursor()
            cursor.execute(self.own_id)
            with self.store.engine.connect() as other:
                other.exec_driver_sql(self.kill.format(cursor.fetchone()[0]))

        engine = store.engine
        sa.event.listen(engine, 'before_cursor_execute', cut)
        self.addCleanup(sa.event.remove, engine, 'before_cursor_execute', cut)

    def test_a_connection_lost_in_a_transaction_rolls_it_back(self) -> None:
        store = self.another(max_pool_size=1)
        plan, actions = store_plan(store, make_action())
        event = make_event(plan)
        self.close_connection_before(store, 'INSERT INTO events')

        with self.assertRaises(exceptions.StoreUnavailable), store.transaction() as tx:
            tx.save_plans([plan.evolve(total=5)])
            tx.add_events([event])

        self.assertFalse(store.event_exists(event.uuid))
        self.assertEqual(plan, store.get_plan(plan.uuid))
        self.assertEqual(actions, store.list_actions())

    def test_the_outcome_of_an_unacknowledged_commit_is_detected(self) -> None:
        store = self.another(max_pool_size=1)
        plan, _ = store_plan(store)
        events = [make_event(plan), make_event(plan)]

        with store.transaction() as tx:
            tx.add_events(events[:1])
        self.close_connection_before(store, 'COMMIT')
        with (
            self.assertRaises(exceptions.CommitOutcomeUnknown),
            store.transaction() as tx,
        ):
            tx.add_events(events[1:])

        self.assertEqual(
            [True, False], [store.event_exists(event.uuid) for event in events]
        )


class PostgresqlFailureTest(ServerFailureTests, stores.PostgresqlDatabase):
    sleep = 'SELECT pg_sleep(20)'
    own_id = 'SELECT pg_backend_pid()'
    kill = 'SELECT pg_terminate_backend({}, 5000)'
    unreachable = (
        'postgresql+psycopg://me:canary@127.0.0.1:1/wl?application_name=canary'
    )

    def test_a_text_that_cannot_be_stored_is_invalid(self) -> None:
        with self.assertRaises(exceptions.Invalid), self.store.transaction() as tx:
            tx.insert_actions([make_action(name='a\x00b')], [])


class MysqlFailureTest(ServerFailureTests, stores.MysqlDatabase):
    # A killed SLEEP alone returns 1 instead of an error.
    sleep = 'SELECT SLEEP(20) FROM information_schema.tables'
    own_id = 'SELECT connection_id()'
    kill = 'KILL {}'
    unreachable = 'mysql+pymysql://me:canary@127.0.0.1:1/wl'

    def test_a_transaction_reads_rows_committed_by_others(self) -> None:
        store_plan(self.store)
        count = 'SELECT count(*) FROM action_plans'
        with self.store.engine.connect() as connection:
            connection.exec_driver_sql('BEGIN')
            self.assertEqual(1, connection.exec_driver_sql(count).scalar())
            store_plan(self.another())
            self.assertEqual(2, connection.exec_driver_sql(count).scalar())
            connection.exec_driver_sql('COMMIT')


def settings_of(engine: sa.Engine, *names: str) -> tuple[object, ...]:
    """Return settings of a connection to SQLite."""
    with engine.connect() as connection:
        return tuple(
            connection.exec_driver_sql(f'PRAGMA {name}').scalar() for name in names
        )


class SqliteFailureTest(FailureTests, stores.SqliteFiles):
    def test_a_path_that_is_no_database_is_refused_and_unchanged(self) -> None:
        notes = self.home / 'notes.txt'
        notes.write_text('not a database, but notes\n' * 100)
        for path, message in (
            (self.home / 'missing/x.sqlite', r'missing/x\.sqlite .*No such file'),
            (self.home, 'Is a directory'),
            (notes, 'file is not a database'),
        ):
            with self.assertRaisesRegex(exceptions.StoreUnavailable, message):
                open_store(DatabaseSettings(f'sqlite:///{path}'))
        self.assertEqual('not a database', notes.read_text()[:14])

    def test_writers_of_one_process_wait_for_each_other(self) -> None:
        def write(n: int) -> None:
            for _ in range(10):
                with self.store.transaction() as tx:
                    tx.insert_plan(make_plan(total=n))

        threads = [self.in_thread(functools.partial(write, n)) for n in range(8)]
        for thread in threads:
            thread.join(TIMEOUT)
        self.assertEqual(80, len(all_plans(self.store)))

    def test_commits_are_synchronous_by_default(self) -> None:
        names = ('journal_mode', 'synchronous', 'foreign_keys')
        self.assertEqual(('wal', 2, 1), settings_of(self.store.engine, *names))
        relaxed = self.another(sqlite_synchronous='NORMAL')
        self.assertEqual(('wal', 1, 1), settings_of(relaxed.engine, *names))

    def test_only_statements_without_timeout_use_temporary_files(self) -> None:
        default, in_memory = 0, 2
        self.assertEqual((in_memory,), settings_of(self.store.engine, 'temp_store'))
        url = f'sqlite:///{self.path}'
        migrating = make_engine(migration.unlimited(DatabaseSettings(url)))
        self.addCleanup(migrating.dispose)
        self.assertEqual((default,), settings_of(migrating, 'temp_store'))

    def test_another_process_does_not_remove_the_log(self) -> None:
        """The last of all connections removes it when it is closed."""

        def count_in_other_process() -> str:
            done = subprocess.run(
                [sys.executable, '-c', COUNT_PLANS, str(self.path)],
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=True,
            )
            return done.stdout.strip()

        store_plan(self.store)
        self.assertEqual([1], [len(all_plans(self.another()))])
        before = count_in_other_process()
        store_plan(self.store)

        self.assertEqual(('1', '2'), (before, count_in_other_process()))

    def test_the_error_for_a_read_only_file_names_it(self) -> None:
        self.path.chmod(0o400)
        if os.access(self.path, os.W_OK):
            self.skipTest('a superuser has all rights')
        with self.assertRaisesRegex(exceptions.StoreUnavailable, 'Permission denied'):
            self.open_again()

    def test_a_new_file_is_readable_by_its_owner_only(self) -> None:
        behind = self.home / 'behind.sqlite'
        link = self.home / 'link.sqlite'
        link.symlink_to(behind)
        for path, made in ((self.home / 'new.sqlite', None), (link, behind)):
            store = open_store(DatabaseSettings(f'sqlite:///{path}'))
            self.addCleanup(store.close)
            self.assertEqual(0o600, stat.S_IMODE((made or path).stat().st_mode))

    def test_a_full_disk_is_an_error_without_loss(self) -> None:
        plan, _ = store_plan(self.store)
        with self.store.engine.connect() as connection:
            pages = connection.exec_driver_sql('PRAGMA page_count').scalar_one()

        def limit(connection: Any, _record: Any) -> None:
            connection.execute(f'PRAGMA max_page_count = {pages + 1}')

        full = self.open_again()
        self.addCleanup(full.close)
        full.engine.dispose()
        sa.event.listen(full.engine, 'connect', limit)
        with (
            self.assertRaisesRegex(exceptions.StoreUnavailable, 'disk is full'),
            full.transaction() as tx,
        ):
            tx.insert_actions([make_action(inputs={'x': 'y' * 200_000})], [])
        self.assertEqual([plan], all_plans(full))
        with full.transaction() as tx:
            tx.save_plans([plan.evolve(total=1)])
        self.assertEqual(1, self.store.get_plan(plan.uuid).total)


class UrlTest(base.TestCase):
    """Connection URLs, and the errors of invalid ones."""

    def test_a_url_without_a_driver_gets_the_supported_one(self) -> None:
        drivers = {
            'postgresql://u@h/d': 'postgresql+psycopg',
            'mysql://u@h/d': 'mysql+pymysql',
            'mariadb://u@h/d': 'mysql+pymysql',
            'mariadb+pymysql://u@h/d': 'mysql+pymysql',
            f'sqlite:///{self.home}/x': 'sqlite+pysqlite',
        }
        for url, driver in drivers.items():
            engine = open_engine(url)
            self.assertEqual(driver, engine.url.drivername)

    def test_invalid_urls_are_refused_without_their_passwords(self) -> None:
        for url, reason in {
            'canary': 'is not a URL',
            'postgresql+asyncpg://u:canary@h/d': 'begins with postgresql.asyncpg; it',
            'oracle://u:canary@h/d': 'begins with oracle; it can begin with mysql',
            'sqlite://': 'an in-memory SQLite database',
            'sqlite:///:memory:': 'an in-memory SQLite database',
        }.items():
            with self.assertRaisesRegex(
                exceptions.ConfigurationError, reason
            ) as caught:
                open_engine(url)
            self.assertNotIn('canary', str(caught.exception))


def open_engine(url: str) -> sa.Engine:
    """Return the engine for a URL, without connecting."""
    return make_engine(DatabaseSettings(url))
