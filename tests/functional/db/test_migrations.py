"""Creation, comparison, upgrade and rejection of schemas."""

import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import fixtures
import sqlalchemy as sa
from alembic import autogenerate
from alembic import migration as alembic_migration
from alembic import script as alembic_script

from tests import base, schemas, services
from tests.bounded import TIMEOUT
from tests.factories import (
    NOW,
    make_action,
    make_audit,
    make_event,
    make_worker,
    store_plan,
)
from watcherlite import exceptions
from watcherlite.db import query as queries
from watcherlite.db.sqlalchemy import migration, tables
from watcherlite.db.sqlalchemy.engine import DatabaseSettings, make_engine
from watcherlite.db.sqlalchemy.store import SqlStore, open_store
from watcherlite.domain.clusters import Receiver
from watcherlite.domain.creators import NO_AUTHORITY

#: The queries that return the definitions of indexes, including partial ones.
DEFINITIONS = {
    'sqlite': (
        "SELECT name, replace(sql, char(10), ' ') FROM sqlite_master "
        "WHERE type = 'index' AND name NOT LIKE 'alembic%' AND sql IS NOT NULL "
        'ORDER BY name'
    ),
    'postgresql': (
        'SELECT indexname, indexdef FROM pg_indexes '
        "WHERE schemaname = 'public' AND tablename <> 'alembic_version' "
        'ORDER BY indexname'
    ),
    'mysql': (
        'SELECT table_name, index_name, seq_in_index, column_name, non_unique '
        'FROM information_schema.statistics WHERE table_schema = database() '
        "AND table_name <> 'alembic_version' "
        'ORDER BY table_name, index_name, seq_in_index'
    ),
}
FIRST = migration.REVISIONS[0]
Row = tuple[object, ...]


if TYPE_CHECKING:
    Base = base.TestCase
else:
    # The database mixins provide the real base class.
    Base = object


class MigrationTests(Base):
    """Migrations on every database.

    A server takes seconds to create a schema. The tests that only read it, or that undo
    their changes, share the `upgraded` one and the `created` one of their class.
    """

    #: Returns the URL of an empty database for a test; provided by the database mixin.
    new_url: Callable[[], str]
    #: The same for all tests of the class.
    shared_url: ClassVar[Callable[[], str]]
    _shared: ClassVar[dict[str, str]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._shared = {}

    def upgraded(self) -> sa.Engine:
        """Return an engine of a database created by migrations."""
        if 'upgraded' not in self._shared:
            url = self.shared_url()
            migration.upgrade(url)
            self._shared['upgraded'] = url
        return self.engine(self._shared['upgraded'])

    def created(self) -> sa.Engine:
        """Return an engine of a database created from the models."""
        if 'created' not in self._shared:
            url = self.shared_url()
            tables.metadata.create_all(self.engine(url))
            self._shared['created'] = url
        return self.engine(self._shared['created'])

    def set_revision(self, engine: sa.Engine, revision: str) -> None:
        """Record another revision in a database, and restore it after the test."""
        if revision != migration.HEAD:
            self.addCleanup(self.set_revision, engine, migration.HEAD)
        with engine.connect() as connection:
            connection.execute(
                sa.text('UPDATE alembic_version SET version_num = :revision'),
                {'revision': revision},
            )

    def engine(self, url: str) -> sa.Engine:
        engine = make_engine(DatabaseSettings(url))
        self.addCleanup(engine.dispose)
        return engine

    def definitions(self, engine: sa.Engine) -> list[tuple[object, ...]]:
        """Return the indexes of the database, in a common form."""
        with engine.connect() as connection:
            found = connection.exec_driver_sql(DEFINITIONS[engine.dialect.name])
            return [
                tuple(' '.join(str(value).lower().split()) for value in row)
                for row in found
            ]

    def test_an_upgrade_from_nothing_creates_the_schema_of_the_models(self) -> None:
        with self.upgraded().connect() as connection:
            context = alembic_migration.MigrationContext.configure(
                connection, opts={'compare_type': True}
            )
            self.assertEqual(
                [], autogenerate.compare_metadata(context, tables.metadata)
            )
        created, upgraded = self.created(), self.upgraded()
        self.assertEqual(self.columns(created), self.columns(upgraded))
        self.assertEqual(self.definitions(created), self.definitions(upgraded))

    def test_an_empty_database_is_refused_until_it_is_upgraded(self) -> None:
        before, after = self.new_url(), self.upgraded()

        self.assertIsNone(migration.version(before))
        self.assertTrue(migration.needs_upgrade(before))
        with self.assertRaisesRegex(
            exceptions.SchemaMismatch, 'no schema yet; run "watcherlite-manage db upgr'
        ):
            migration.check(before)
        self.assertEqual(migration.HEAD, migration.version(after))
        self.assertFalse(migration.needs_upgrade(after))
        migration.check(after)

    def test_an_upgrade_keeps_all_rows(self) -> None:
        url = self.upgraded().url.render_as_string(hide_password=False)
        store = open_store(DatabaseSettings(url))
        self.addCleanup(store.close)
        plan, actions = store_plan(store, make_action(), make_action())
        with store.transaction() as tx:
            tx.add_events([make_event(plan)])
        before = self.stored(store.engine, tables.metadata)

        # As if the schema had been created before revisions were recorded.
        with store.engine.connect() as connection:
            connection.exec_driver_sql('DELETE FROM alembic_version')
        migration.stamp(url, migration.HEAD)
        migration.upgrade(url)

        self.assertEqual(before, self.stored(store.engine, tables.metadata))
        self.assertEqual(actions, store.list_actions())

    def rows_of_first_schema(self, engine: sa.Engine) -> dict[sa.Table, list[Row]]:
        """Insert rows at the first revision; return them as they are stored."""
        migration.upgrade(engine, FIRST)
        metadata = sa.MetaData()
        metadata.reflect(engine)
        now = NOW.replace(tzinfo=None)
        goal = {
            'name': 'Größe Ż',
            'lower_name': 'größe ż',
            'display_name': 'G',
            'efficacy_specification': '[]',
            'deleted': 0,
        }
        strategy = {
            'goal_id': 1,
            'display_name': 'S',
            'parameters_spec': '{}',
            'deleted': 0,
        }
        audit = {
            'name': 'Once',
            'lower_name': 'once',
            'audit_type': 'ONESHOT',
            'state': 'SUCCEEDED',
            'goal_id': 1,
            'parameters': '{}',
            'scope': '[]',
            'auto_trigger': False,
        }
        plan = {
            'audit_id': 1,
            'strategy_id': 1,
            'on_failure': 'continue',
            'on_worker_loss': 'resume',
            'global_efficacy': '[]',
            'state': 'ONGOING',
            'stage': 'forward',
            **dict.fromkeys(('total', 'unfinished', 'active', 'failed', 'skipped'), 1),
        }
        action = {
            'action_type': 'nop',
            'lane': 'applier',
            'cause': 'RPC Request',
            'status': 'INIT',
            **dict.fromkeys(('inputs', 'context', 'data'), '{}'),
            'parents': '[]',
            'phase': 'run',
            'ended': '',
            'not_before': now,
            **dict.fromkeys(('dependents', 'run_interval', 'timeout'), 0),
            **dict.fromkeys(('attempt', 'recoveries', 'pending'), 0),
        }
        event = {'subject': 'action_plan', 'kind': 'created', 'plan_id': 1}
        worker = {'host': 'h', 'identity': 'i', 'lanes': '["applier"]'}
        documents = dict.fromkeys(('actor', 'params', 'channel'), '{}')
        receiver = {'type': 'webhook', 'tenant': 't', **documents}
        rows: dict[str, list[dict[str, object]]] = {
            'goals': [
                {'uuid': 'g', 'name': 'Größe Ż', 'lower_name': 'größe ż', **goal}
            ],
            'strategies': [{'uuid': 's', 'name': 'S', 'lower_name': 's', **strategy}],
            'audits': [
                {'uuid': 'a1', **audit},
                {'uuid': 'a2', **audit, 'deleted': 2, 'deleted_at': now},
            ],
            'action_plans': [{'uuid': 'p', **plan}],
            'actions': [{'uuid': f'x{n}', **action, 'plan_id': n} for n in (1, None)],
            'events': [{'uuid': 'e', **event, 'occurred_at': now, 'pending': 1}],
            'workers': [{'uuid': 'w', **worker, 'started_at': now, 'lease_until': now}],
            'receivers': [{'uuid': 'r', 'name': 'R', **receiver}],
        }
        with engine.connect() as connection:
            for table, some in rows.items():
                for row in some:
                    connection.execute(metadata.tables[table].insert(), row)
        return self.stored(engine, metadata)

    def stored(
        self, engine: sa.Engine, metadata: sa.MetaData
    ) -> dict[sa.Table, list[Row]]:
        with engine.connect() as connection:
            return {
                table: [tuple(row) for row in connection.execute(table.select())]
                for table in metadata.sorted_tables
                if table.name != 'alembic_version'
            }

    def test_an_upgrade_of_the_first_schema_keeps_its_rows(self) -> None:
        engine = self.engine(self.new_url())
        before = self.rows_of_first_schema(engine)

        migration.upgrade(engine)

        self.assertEqual(migration.HEAD, migration.version(engine))
        self.assertEqual(before, self.stored(engine, next(iter(before)).metadata))
        self.assertEqual(self.columns(self.created()), self.columns(engine))
        self.assertEqual(self.definitions(self.created()), self.definitions(engine))
        store = SqlStore(engine)
        goal = store.find_goal('GRÖßE ż').goal
        self.assertEqual('s', store.find_strategy('s').strategy.uuid)
        listed = store.list_audits(queries.Query(deleted=True))
        self.assertEqual([None, NOW], [one.audit.deleted_at for one in listed])
        audit = store.find_audit('ONCE').audit
        self.assertEqual(('a1', NO_AUTHORITY), (audit.uuid, audit.creator))
        self.assertEqual(NO_AUTHORITY, store.get_plan('p').creator)
        self.assertEqual(['x1', 'xNone'], [one.uuid for one in store.list_actions()])
        (event,) = store.pending_events(9)
        self.assertEqual(('e', None), (event.event.uuid, event.event.subject_id))
        (receiver,) = store.list_objects(Receiver, queries.Query())
        self.assertEqual(('r', None), (receiver.uuid, receiver.token_digest))
        self.assertEqual([(1, 'w')], [(w.id, w.uuid) for w in store.list_workers()])
        # Sequences continue, and names stay unique.
        worker = store.register_worker(make_worker(), 60)
        self.assertIn((2, worker.uuid), [(w.id, w.uuid) for w in store.list_workers()])
        with self.assertRaises(exceptions.Conflict), store.transaction() as tx:
            tx.insert_audit(make_audit(goal.id, name='Once'))

    def test_every_constraint_has_the_name_that_the_models_give_it(self) -> None:
        migrated = sa.inspect(self.upgraded())
        named = {
            (table.name, str(constraint.name))
            for table in tables.metadata.tables.values()
            for constraint in table.constraints
            # A primary key has no name on SQLite, and a fixed one on MySQL.
            if not isinstance(constraint, sa.PrimaryKeyConstraint)
        }
        found = {
            (table, str(constraint['name']))
            for table in tables.metadata.tables
            for constraint in (
                *migrated.get_foreign_keys(table),
                *migrated.get_unique_constraints(table),
                *migrated.get_check_constraints(table),
            )
        }
        # On MySQL a unique index is also a constraint.
        indexes = {
            (table.name, str(index.name))
            for table in tables.metadata.tables.values()
            for index in table.indexes
            if index.unique
        }
        self.assertEqual(named, found - indexes)
        self.assertGreater(len(named), 10)

    def columns(self, engine: sa.Engine) -> dict[str, dict[str, tuple[object, ...]]]:
        """Return the properties of all columns, by table.

        Type, nullability, default, and whether a generated column is stored.
        """
        inspected = sa.inspect(engine)
        return {
            table: {
                column['name']: (
                    str(column['type']),
                    column['nullable'],
                    column['default'],
                    (column.get('computed') or {}).get('persisted'),
                )
                for column in inspected.get_columns(table)
            }
            for table in tables.metadata.tables
        }

    def test_a_schema_of_another_version_is_refused_and_unchanged(self) -> None:
        engine = self.upgraded()
        with self.assertRaisesRegex(exceptions.SchemaMismatch, 'revision 0815'):
            migration.upgrade(engine, '0815')
        self.assertEqual(migration.HEAD, migration.version(engine))
        self.set_revision(engine, FIRST)
        with self.assertRaisesRegex(
            exceptions.SchemaMismatch, 'older .*; run "watcherlite-manage db upgrade"'
        ):
            migration.check(engine)
        self.assertTrue(migration.needs_upgrade(engine))
        for revision, message in (
            ('9999', 'schema 9999 of a newer version'),
            ('0006', 'schema 0006, .* 0007 .*; upgrade it with an earlier version'),
        ):
            self.set_revision(engine, revision)
            for call in (migration.check, migration.upgrade, migration.needs_upgrade):
                with self.assertRaisesRegex(exceptions.SchemaMismatch, message):
                    call(engine)
            with self.assertRaisesRegex(exceptions.SchemaMismatch, message):
                SqlStore(engine).check()
            self.assertEqual(revision, migration.version(engine))

    def test_concurrent_upgrades_create_one_schema(self) -> None:
        url = self.new_url()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(migration.upgrade, url) for _ in range(3)]:
                done.result(TIMEOUT)
        self.assertEqual(migration.HEAD, migration.version(url))

    def test_a_timeout_of_the_migration_lock_is_an_error(self) -> None:
        self.useFixture(fixtures.MonkeyPatch(f'{migration.__name__}.LOCK_SECONDS', 1))
        url = self.new_url()
        limited = make_engine(DatabaseSettings(url, busy_timeout=1))
        self.addCleanup(limited.dispose)
        refused = self.assertRaisesRegex(exceptions.StoreConflict, 'Another process')
        with migration._locked(self.engine(url)), refused:
            migration.upgrade(limited)
        self.assertIsNone(migration.version(url))
        migration.upgrade(limited, FIRST)
        self.assertEqual(FIRST, migration.version(url))

    def test_upgrades_of_different_databases_are_independent(self) -> None:
        self.useFixture(fixtures.MonkeyPatch(f'{migration.__name__}.LOCK_SECONDS', 1))
        busy, url = self.new_url(), self.new_url()
        with migration._locked(self.engine(busy)):
            migration.stamp(url, FIRST)
        self.assertEqual(FIRST, migration.version(url))


class SqliteMigrationTest(MigrationTests, base.TestCase):
    @classmethod
    def shared_url(cls) -> str:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        return f'sqlite:///{folder.name}/shared.sqlite'

    def new_url(self) -> str:
        self.count = getattr(self, 'count', 0) + 1
        return f'sqlite:///{self.home}/{self.count}.sqlite'

    def test_a_file_is_created_upgraded_or_refused_when_it_is_opened(self) -> None:
        url = self.new_url()
        for _ in range(2):
            store = open_store(DatabaseSettings(url))
            store.check()
            store.close()
        path = pathlib.Path(sa.make_url(url).database or '')
        self.assertEqual('0o600', oct(path.stat().st_mode & 0o777))
        self.set_revision(store.engine, '9999')
        with self.assertRaisesRegex(exceptions.SchemaMismatch, '9999'):
            open_store(DatabaseSettings(url))

    def test_a_new_file_can_be_opened_concurrently(self) -> None:
        settings = DatabaseSettings(self.new_url())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            stores = [pool.submit(open_store, settings) for _ in range(4)]
            for store in stores:
                self.addCleanup(store.result(TIMEOUT).close)
        self.assertEqual(
            [migration.HEAD] * 4, [migration.version(s.result().engine) for s in stores]
        )


class ServerMigrationTests(MigrationTests):
    """Migrations on a server."""

    kind: ClassVar[str]

    @classmethod
    def shared_url(cls) -> str:
        database = services.Database(cls.kind)
        database.setUp()
        cls.addClassCleanup(database.cleanUp)
        return database.url

    def new_url(self) -> str:
        return self.useFixture(services.Database(self.kind)).url


class PostgresqlMigrationTest(ServerMigrationTests, base.TestCase):
    kind = services.POSTGRESQL

    def test_an_upgrade_has_no_statement_timeout(self) -> None:
        with migration._engine(self.new_url()) as engine, engine.connect() as found:
            limit = found.exec_driver_sql('SHOW statement_timeout').scalar()
        self.assertEqual('0', limit)


class MysqlMigrationTest(ServerMigrationTests, base.TestCase):
    kind = services.MYSQL

    def test_an_upgrade_has_no_statement_timeout(self) -> None:
        with migration._engine(self.new_url()) as engine, engine.connect() as found:
            limit = found.exec_driver_sql('SELECT @@max_statement_time').scalar()
            socket = found.connection.driver_connection
        self.assertEqual((0, None), (limit, getattr(socket, '_read_timeout', 1)))


class RevisionTest(base.TestCase):
    """The constants that spare a daemon the import of alembic."""

    def test_the_revisions_are_those_of_the_scripts(self) -> None:
        folder = pathlib.Path(migration.__file__).parent / 'migrations'
        scripts = alembic_script.ScriptDirectory(str(folder))
        found = [script.revision for script in scripts.walk_revisions()]
        self.assertEqual(list(migration.REVISIONS), list(reversed(found)))
        self.assertEqual(migration.HEAD, scripts.get_current_head())

    def test_alembic_is_not_imported_without_a_migration(self) -> None:
        existing = schemas.copy_sqlite(self.home / 'existing.sqlite')
        program = (
            'import sys\n'
            'from watcherlite.db.sqlalchemy.engine import DatabaseSettings\n'
            'from watcherlite.db.sqlalchemy.store import open_store\n'
            f"for url in ('{existing}', 'sqlite:///{self.home}/new.sqlite'):\n"
            '    open_store(DatabaseSettings(url)).check()\n'
            "    print('alembic' in sys.modules)\n"
        )
        loaded = subprocess.run(
            [sys.executable, '-c', program],
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        self.assertEqual('False\nTrue\n', loaded.stdout)
