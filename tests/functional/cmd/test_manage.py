"""`watcherlite-manage db ...` on each kind of database."""

import base64
import datetime
import sqlite3

import fixtures

from tests import factories, services
from tests.factories import all_plans
from tests.functional.cmd.calling import CallingTestCase
from tests.unit.cli.capturing import Stream
from watcherlite import bootstrap, conf
from watcherlite.clock import UTC
from watcherlite.cmd import manage
from watcherlite.db.sqlalchemy import migration


class SqliteTest(CallingTestCase):
    def manage(self, *argv):
        return self.call(manage.main, *argv)

    def test_upgrade_of_sqlite_is_not_needed_and_no_action_creates_a_database(self):
        self.assertEqual(
            (
                0,
                'SQLite needs no upgrade: watcherlite creates and upgrades the file '
                'whenever it opens it.\n',
                '',
            ),
            self.manage('db', 'upgrade'),
        )
        self.assertEqual((0, 'none\n', ''), self.manage('db', 'version'))
        for action in ('purge', 'reencrypt'):
            self.assertEqual(
                (0, 'The database does not exist yet.\n', ''), self.manage('db', action)
            )
        self.assertFalse(self.path.exists())

    def test_a_database_has_the_newest_version_until_stamped_and_newer_is_refused(self):
        self.addCleanup(bootstrap.open_store(conf.new()).close)

        self.assertEqual((0, f'{migration.HEAD}\n', ''), self.manage('db', 'version'))
        for named, revision in (('0007', '0007'), ('head', migration.HEAD)):
            self.assertEqual(
                (0, f'Stamped the schema with revision {revision}.\n', ''),
                self.manage('db', 'stamp', named),
            )
            self.assertEqual((0, f'{revision}\n', ''), self.manage('db', 'version'))
        with sqlite3.connect(self.path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")

        code, out, err = self.manage('db', 'purge')

        self.assertEqual((3, ''), (code, out))
        self.assertEqual(1, err.count('\n'))
        self.assertIn('9999', err)
        self.assertEqual((0, '9999\n', ''), self.manage('db', 'version'))

    def test_purge_deletes_only_old_ended_plans(self):
        store = self.store()
        now = datetime.datetime.now(UTC)
        uuids = []
        for days, state in ((200, 'SUCCEEDED'), (100, 'FAILED'), (5, 'CANCELLED')):
            ended = now - datetime.timedelta(days=days)
            plan, _ = factories.store_plan(
                store,
                factories.make_action(status='SUCCEEDED', updated_at=ended),
                state=state,
                updated_at=ended,
                unfinished=0,
            )
            uuids.append(plan.uuid)
        running, _ = factories.store_plan(
            store, updated_at=now - datetime.timedelta(days=300)
        )

        def plan_uuids():
            return [plan.uuid for plan in all_plans(store)]

        self.assertEqual(
            (0, 'Would delete: 2 action plans, 2 audits, 2 actions, 0 events.\n', ''),
            self.manage('db', 'purge', '--dry-run'),
        )
        self.assertEqual([*uuids, running.uuid], plan_uuids())
        self.assertEqual(
            (0, 'Deleted: 1 action plans, 1 audits, 1 actions, 0 events.\n', ''),
            self.manage('db', 'purge', '--max-number', '1'),
        )
        self.assertEqual([*uuids[1:], running.uuid], plan_uuids())
        self.assertEqual(
            (0, 'Deleted: 2 action plans, 2 audits, 2 actions, 0 events.\n', ''),
            self.manage('db', 'purge', '--older-than', '0.5'),
        )
        self.assertEqual([running.uuid], plan_uuids())

    def test_purge_asks_for_confirmation_on_a_terminal(self):
        store = self.store()
        ended = datetime.datetime.now(UTC) - datetime.timedelta(days=100)
        factories.store_plan(
            store,
            factories.make_action(status='SUCCEEDED', updated_at=ended),
            state='SUCCEEDED',
            updated_at=ended,
            unfinished=0,
        )
        question = (
            'Permanently delete 1 action plans, 1 audits, 1 actions, 0 events? [y/N] '
        )
        found = []
        for answer in ('\n', 'y\n'):
            self.useFixture(fixtures.MonkeyPatch('sys.stdin', Stream(True, answer)))
            found.append(self.manage('db', 'purge'))

        self.assertEqual(
            [
                (0, 'Nothing was deleted.\n', question),
                (
                    0,
                    'Deleted: 1 action plans, 1 audits, 1 actions, 0 events.\n',
                    question,
                ),
            ],
            found,
        )

    def test_everything_that_has_ended_is_deleted_only_with_yes(self):
        self.store()

        code, out, err = self.manage('db', 'purge', '--older-than', '0')

        self.assertEqual((2, ''), (code, out))
        self.assertIn(
            '--older-than 0 deletes everything that has ended; confirm with --yes', err
        )
        for option in ('--yes', '--dry-run'):
            self.assertEqual(
                0, self.manage('db', 'purge', '--older-than', '0', option)[0]
            )

    def test_the_option_config_file_may_follow_the_action(self):
        self.store()
        path = self.home / 'other.sqlite'
        ini = self.write_ini(f'[database]\nconnection = sqlite:///{path}\n')

        self.assertEqual(
            [(0, 'none\n', '')] * 3,
            [
                self.manage(f'--config-file={ini}', 'db', 'version'),
                self.manage('db', 'version', '--config-file', ini),
                self.manage('db', f'--config-file={ini}', 'version'),
            ],
        )

    def test_reencrypt_encrypts_all_secrets_with_the_first_key(self):
        nothing = (0, 'All secrets are already encrypted.\n', '')
        inputs = {'password': 'canary'}
        factories.store_plan(self.store(), factories.make_action(inputs=inputs))
        old = (self.home / 'watcherlite' / 'secrets.key').read_text().strip()
        self.assertEqual(nothing, self.manage('db', 'reencrypt'))

        new = base64.b64encode(b'n' * 32).decode()
        both = self.write_ini(f'[secrets]\nencryption_keys = {new},{old}\n')
        command = ('--config-file', both, 'db', 'reencrypt')
        self.assertEqual((0, 'Encrypted: 1 actions.\n', ''), self.manage(*command))
        self.assertEqual(nothing, self.manage(*command))

        only_old = self.write_ini(f'[secrets]\nencryption_keys = {old}\n')
        command = ('--config-file', only_old, 'db', 'reencrypt')
        code, out, err = self.manage(*command)
        self.assertEqual((3, '', 1), (code, out, err.count('\n')))
        self.assertIn(
            'encryption_keys cannot decrypt, as they were encrypted with another', err
        )

    def test_reseal_is_a_deprecated_alias_of_reencrypt(self):
        self.store()

        self.assertEqual(
            (
                0,
                'All secrets are already encrypted.\n',
                'watcherlite-manage: "db reseal" is deprecated; use "db reencrypt"\n',
            ),
            self.manage('db', 'reseal'),
        )
        _, out, _ = self.manage('db', '--help')
        self.assertIn('reencrypt', out)
        self.assertNotIn('reseal', out)

    def test_usage_errors_are_one_line(self):
        revisions = ', '.join(migration.REVISIONS)
        for argv, message in (
            (['db'], 'the following arguments are required: COMMAND'),
            (['db', 'downgrade'], "invalid choice: 'downgrade'"),
            (
                ['db', 'stamp', '9'],
                f'unknown revision 9; the revisions are {revisions}, head',
            ),
            (
                ['db', 'purge', '--older-than', 'x'],
                "'x' is not a number of days from 0 to 36525",
            ),
            (
                ['db', 'purge', '--max-number', '0'],
                "'0' is not a number of plans from 1 to 2147483647",
            ),
            (['--config-file', '/no', 'db', 'version'], 'no configuration file /no'),
        ):
            code, out, err = self.manage(*argv)

            self.assertEqual((2, ''), (code, out), argv)
            self.assertEqual(1, err.count('\n'), err)
            self.assertTrue(err.startswith('watcherlite-manage: '), err)
            self.assertIn(message, err)

    def test_version_and_help(self):
        self.assertRegex(self.manage('--version')[1], r'^watcherlite-manage \d')
        self.assertEqual(0, self.manage('db', 'purge', '--help')[0])


class ServerTest(CallingTestCase):
    def test_a_schema_is_created_once_on_every_server(self):
        for kind in (services.POSTGRESQL, services.MYSQL):
            url = self.useFixture(services.Database(kind)).url
            ini = self.write_ini(f'[database]\nconnection = {url.replace("$", "$$")}\n')

            def call(*argv, ini=ini):
                return self.call(manage.main, '--config-file', ini, 'db', *argv)

            self.assertEqual((0, 'none\n', ''), call('version'))
            code, out, err = call('purge')
            self.assertEqual((3, ''), (code, out))
            self.assertIn('has no schema yet', err)
            head = migration.HEAD
            self.assertEqual(
                (0, f'Upgraded the schema from revision none to {head}.\n', ''),
                call('upgrade'),
            )
            self.assertEqual(
                (0, f'The schema is already at revision {head}.\n', ''), call('upgrade')
            )
            self.assertEqual((0, f'{head}\n', ''), call('version'))
            self.assertEqual(
                (0, 'Deleted: 0 action plans, 0 audits, 0 actions, 0 events.\n', ''),
                call('purge'),
            )

    def test_a_server_that_does_not_answer(self):
        ini = self.write_ini(
            '[database]\nconnection = mysql+pymysql://root:hunter2@127.0.0.1:1/x\n'
        )

        for action in ('upgrade', 'version', 'purge', 'reencrypt'):
            code, out, err = self.call(manage.main, '--config-file', ini, 'db', action)

            self.assertEqual((3, ''), (code, out))
            self.assertEqual(1, err.count('\n'), err)
            self.assertNotIn('hunter2', err)
