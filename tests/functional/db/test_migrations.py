"""The schema is made, compared, upgraded and refused."""

import concurrent.futures
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import autogenerate
from alembic import migration as alembic_migration
from alembic import script as alembic_script

from tests import base, services
from tests.factories import make_action, make_event, store_plan
from watcherlite import exceptions
from watcherlite.db.sqlalchemy import migration, models
from watcherlite.db.sqlalchemy.engine import DatabaseSettings, make_engine
from watcherlite.db.sqlalchemy.store import SqlStore, open_store

#: What the database itself says of its tables and indexes, partial ones included.
DEFINITIONS = {
    'sqlite': (
        "SELECT name, replace(sql, char(10), ' ') FROM sqlite_master "
        "WHERE name NOT LIKE 'alembic%' AND sql IS NOT NULL ORDER BY name"
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


if TYPE_CHECKING:
    Base = base.TestCase
else:
    # Each kind of database brings the real one.
    Base = object


class MigrationTests(Base):
    """What holds on every database; `new_url` returns that of an empty one."""

    #: From the kind of database.
    new_url: Callable[[], str]

    def engine(self, url: str) -> sa.Engine:
        engine = make_engine(DatabaseSettings(url))
        self.addCleanup(engine.dispose)
        return engine

    def definitions(self, engine: sa.Engine) -> list[tuple[object, ...]]:
        """Return what the database says of its indexes, in the same form for all."""
        with engine.connect() as connection:
            found = connection.exec_driver_sql(DEFINITIONS[engine.dialect.name])
            return [
                tuple(' '.join(str(value).lower().split()) for value in row)
                for row in found
            ]

    def test_an_upgrade_from_nothing_makes_the_schema_of_the_models(self) -> None:
        engine = self.engine(self.new_url())

        migration.upgrade(engine)

        with engine.connect() as connection:
            context = alembic_migration.MigrationContext.configure(
                connection, opts={'compare_type': True}
            )
            self.assertEqual(
                [], autogenerate.compare_metadata(context, models.metadata)
            )

    def test_the_indexes_are_those_of_the_models(self) -> None:
        migrated, created = self.engine(self.new_url()), self.engine(self.new_url())

        migration.upgrade(migrated)
        models.metadata.create_all(created)

        self.assertEqual(self.definitions(created), self.definitions(migrated))

    def test_the_revision_is_known_before_and_after(self) -> None:
        url = self.new_url()
        self.assertIsNone(migration.version(url))
        self.assertTrue(migration.needs_upgrade(url))

        migration.upgrade(url)

        self.assertEqual(migration.HEAD, migration.version(url))
        self.assertFalse(migration.needs_upgrade(url))
        migration.check(url)

    def test_an_upgrade_keeps_what_is_stored(self) -> None:
        url = self.new_url()
        migration.upgrade(url)
        store = open_store(DatabaseSettings(url))
        self.addCleanup(store.close)
        plan, actions = store_plan(store, make_action(), make_action())
        with store.transaction() as tx:
            tx.add_events([make_event(plan)])
        before = self.everything(store)

        # As if the schema had been made before revisions were noted.
        with store.engine.connect() as connection:
            connection.exec_driver_sql('DELETE FROM alembic_version')
        migration.stamp(url, migration.REVISIONS[0])
        migration.upgrade(url)

        self.assertEqual(before, self.everything(store))
        self.assertEqual(actions, store.list_actions())

    def everything(self, store: SqlStore) -> dict[str, list[tuple[object, ...]]]:
        with store.engine.connect() as connection:
            return {
                table.name: [tuple(row) for row in connection.execute(table.select())]
                for table in models.metadata.sorted_tables
            }

    def test_a_database_without_schema_is_refused_with_what_to_do(self) -> None:
        url = self.new_url()
        with self.assertRaisesRegex(
            exceptions.SchemaMismatch, 'no schema yet; run "watcherlite-manage db upgr'
        ):
            migration.check(url)

    def test_a_newer_schema_is_refused_and_left_alone(self) -> None:
        url = self.new_url()
        migration.upgrade(url)
        with self.engine(url).connect() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num='9999'")

        for call in (migration.check, migration.upgrade, migration.needs_upgrade):
            with self.assertRaisesRegex(exceptions.SchemaMismatch, 'schema 9999'):
                call(url)
        self.assertEqual('9999', migration.version(url))

    def test_a_store_says_which_schema_it_needs(self) -> None:
        url = self.new_url()
        migration.upgrade(url)
        store = SqlStore(self.engine(url))
        store.check()
        with store.engine.connect() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num='9999'")
        with self.assertRaises(exceptions.SchemaMismatch):
            store.check()

    def test_a_revision_that_does_not_exist_is_refused(self) -> None:
        url = self.new_url()
        migration.upgrade(url)
        with self.assertRaisesRegex(exceptions.SchemaMismatch, 'revision 0815'):
            migration.upgrade(url, '0815')
        self.assertEqual(migration.HEAD, migration.version(url))

    def test_upgrades_at_the_same_time_make_one_schema(self) -> None:
        url = self.new_url()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(migration.upgrade, url) for _ in range(3)]:
                done.result(60)
        self.assertEqual(migration.HEAD, migration.version(url))


class SqliteMigrationTest(MigrationTests, base.TestCase):
    def new_url(self) -> str:
        self.count = getattr(self, 'count', 0) + 1
        return f'sqlite:///{self.home}/{self.count}.sqlite'

    def test_a_file_is_made_and_upgraded_by_whoever_opens_it(self) -> None:
        url = self.new_url()
        for _ in range(2):
            store = open_store(DatabaseSettings(url))
            store.check()
            store.close()
        path = pathlib.Path(sa.make_url(url).database or '')
        self.assertEqual('0o600', oct(path.stat().st_mode & 0o777))

    def test_a_file_of_a_newer_version_is_not_opened(self) -> None:
        url = self.new_url()
        store = open_store(DatabaseSettings(url))
        with store.engine.connect() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num='9999'")
        store.close()
        with self.assertRaisesRegex(exceptions.SchemaMismatch, '9999'):
            open_store(DatabaseSettings(url))

    def test_several_may_open_a_new_file_at_the_same_time(self) -> None:
        settings = DatabaseSettings(self.new_url())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            stores = [pool.submit(open_store, settings) for _ in range(4)]
            for store in stores:
                self.addCleanup(store.result(60).close)
        self.assertEqual(
            ['0001'] * 4, [migration.version(s.result().engine) for s in stores]
        )


class PostgresqlMigrationTest(MigrationTests, base.TestCase):
    def new_url(self) -> str:
        return self.useFixture(services.Database(services.POSTGRESQL)).url


class MysqlMigrationTest(MigrationTests, base.TestCase):
    def new_url(self) -> str:
        return self.useFixture(services.Database(services.MYSQL)).url


class RevisionTest(base.TestCase):
    """The constants, which spare a daemon the loading of alembic."""

    def test_the_revisions_are_those_of_the_scripts(self) -> None:
        folder = pathlib.Path(migration.__file__).parent / 'migrations'
        scripts = alembic_script.ScriptDirectory(str(folder))
        found = [script.revision for script in scripts.walk_revisions()]
        self.assertEqual(list(migration.REVISIONS), list(reversed(found)))
        self.assertEqual(migration.HEAD, scripts.get_current_head())

    def test_alembic_is_not_loaded_where_there_is_nothing_to_migrate(self) -> None:
        program = (
            'import sys\n'
            'from watcherlite.db.sqlalchemy.engine import DatabaseSettings\n'
            'from watcherlite.db.sqlalchemy.store import open_store\n'
            f"open_store(DatabaseSettings('sqlite:///{self.home}/x.sqlite')).check()\n"
            "print('alembic' in sys.modules)\n"
        )
        loaded = [
            subprocess.run(
                [sys.executable, '-c', program],
                check=True,
                capture_output=True,
                text=True,
                timeout=60,
            ).stdout.strip()
            for _ in range(2)
        ]
        self.assertEqual(['True', 'False'], loaded)
