"""`watcherlite-status upgrade check`."""

import base64
import datetime
import pathlib
import sqlite3

from tests import factories, services
from tests.functional.cmd.calling import CallingTestCase
from watcherlite.clock import UTC
from watcherlite.cmd import status

KEY = base64.b64encode(b'k' * 32).decode()


class StatusTest(CallingTestCase):
    def check(self, *argv):
        """Return the exit code, and check -> (result, details)."""
        code, out, err = self.call(status.main, *argv, 'upgrade', 'check')
        self.assertEqual('', err)
        found = {}
        for line in (line.strip('|+- ') for line in out.splitlines()[3:]):
            word, _, rest = line.partition(': ')
            if word == 'Check':
                name, found[rest] = rest, []
            elif line:
                found[name].append(rest if word in ('Result', 'Details') else line)
        return code, {k: (v[0], ' '.join(v[1:])) for k, v in found.items()}

    def test_a_new_installation_passes_and_remains_unchanged(self):
        code, found = self.check()

        self.assertEqual(
            (0, ['configuration', 'plugins', 'files', 'secrets', 'database', 'broker']),
            (code, list(found)),
        )
        self.assertEqual({'Success'}, {result for result, _ in found.values()})
        self.assertFalse(self.path.exists())
        code, out, _ = self.call(status.main, 'upgrade', 'check')
        lines = out.splitlines()
        self.assertEqual(0, code)
        self.assertEqual(1, len({len(line) for line in lines}))
        self.assertEqual('| Upgrade Check Results', lines[1].rstrip(' |'))
        self.assertEqual(
            ['| Check: configuration', '| Result: Success'],
            [line.rstrip(' |') for line in lines[3:5]],
        )

    def test_a_used_database_passes_unless_it_is_newer_or_events_are_unsent(self):
        store = self.store()

        code, found = self.check()

        self.assertEqual(0, code)
        self.assertEqual(
            {
                'database': ('Success', 'reachable'),
                'schema': ('Success', 'up to date'),
                'notifications': ('Success', 'no backlog'),
            },
            {k: found[k] for k in ('database', 'schema', 'notifications')},
        )
        plan, _ = factories.store_plan(store)
        old = datetime.datetime.now(UTC) - datetime.timedelta(seconds=status.LATE + 60)
        with store.transaction() as tx:
            tx.lock_plans([plan.id])
            tx.add_events([factories.make_event(plan, occurred_at=old)])

        code, found = self.check()

        self.assertEqual((1, 'Warning'), (code, found['notifications'][0]))
        self.assertRegex(
            found['notifications'][1],
            r'^the oldest unsent notification has waited for 36\d s',
        )
        with sqlite3.connect(self.path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")

        code, found = self.check()

        self.assertEqual((2, 'Failure'), (code, found['schema'][0]))
        self.assertIn('9999', found['schema'][1])

    def test_a_world_writable_file_is_a_warning(self):
        ini = self.write_ini('[oslo_messaging_notifications]\ndriver = noop\n')
        pathlib.Path(ini).chmod(0o666)

        code, found = self.check('--config-file', ini)

        self.assertEqual(
            (
                1,
                (
                    'Warning',
                    f'{ini}: the group [oslo_messaging_notifications] is not used; '
                    f'notifications are set in [notifications]; {ini} is '
                    'world-writable; run chmod o-w on it',
                ),
            ),
            (code, found['files']),
        )

    def test_a_server_without_a_schema_has_to_be_upgraded(self):
        url = self.useFixture(services.Database(services.POSTGRESQL)).url
        ini = self.write_ini(f'[database]\nconnection = {url.replace("$", "$$")}\n')

        code, found = self.check('--config-file', ini)

        self.assertEqual((2, 'Success'), (code, found['database'][0]))
        self.assertEqual('Failure', found['schema'][0])
        self.assertIn('watcherlite-manage db upgrade', found['schema'][1])

    def test_unreachable_service_is_reported_without_password(self):
        ini = self.write_ini(
            '[database]\nconnection = postgresql+psycopg://u:hunter2@127.0.0.1:1/x\n'
            '[messaging]\nurl = amqp://u:hunter2@127.0.0.1:1//\n'
        )

        code, found = self.check('--config-file', ini)

        self.assertEqual(2, code)
        self.assertEqual(
            ('Failure', 'Warning'), (found['database'][0], found['broker'][0])
        )
        self.assertIn('127.0.0.1:1', found['broker'][1])
        self.assertNotIn('hunter2', str(found))

    def test_a_generated_key_is_a_warning_for_a_database_of_several_hosts(self):
        text = '[database]\nconnection = postgresql+psycopg://me@127.0.0.1:1/x\n'
        where = self.home / 'watcherlite' / 'secrets.key'

        _, found = self.check('--config-file', self.write_ini(text))

        self.assertEqual(
            (
                'Warning',
                f'the encryption key exists on this host only, in {where}; set '
                '[secrets] encryption_keys to the same value on all hosts of the '
                'database, starting with this key, and keep a copy separate from '
                'the backups of the database',
            ),
            found['secrets'],
        )
        self.assertFalse(where.exists())
        text += f'[secrets]\nencryption_keys = {KEY}\n'
        _, found = self.check('--config-file', self.write_ini(text))
        self.assertEqual(
            (
                'Success',
                'encrypted with the first of 1 keys; store the keys separately from '
                'the backups of the database',
            ),
            found['secrets'],
        )

    def test_an_invalid_option_is_a_failure_and_an_available_broker_is_none(self):
        for text, name, expected in (
            (
                '[applier]\nmax_paralel = 3',
                *('configuration', 'did you mean max_parallel?'),
            ),
            ('[secrets]\nencryption_keys = hunter2', 'secrets', ''),
        ):
            code, found = self.check('--config-file', self.write_ini(f'{text}\n'))

            self.assertEqual((2, 'Failure'), (code, found[name][0]))
            self.assertIn(expected, found[name][1])
            self.assertNotIn('hunter2', str(found))
        ini = self.write_ini(f'[messaging]\nurl = {services.amqp_url()}\n')
        code, found = self.check('--config-file', ini)
        self.assertEqual((0, ('Success', 'reachable')), (code, found['broker']))

    def test_a_key_file_is_reported_with_its_permissions_and_never_created(self):
        inputs = {'password': 'canary'}
        factories.store_plan(self.store(), factories.make_action(inputs=inputs))
        path = self.home / 'watcherlite' / 'secrets.key'

        self.assertEqual(
            (
                0,
                (
                    'Success',
                    f'the key is in {path}; backups of the database are unusable '
                    'without it',
                ),
            ),
            self.check_secrets(),
        )
        path.chmod(0o640)
        warning = f'the key file {path} is readable by other users; run chmod 600 on it'
        self.assertEqual((1, ('Warning', warning)), self.check_secrets())
        path.unlink()

        code, found = self.check()

        self.assertEqual((2, 'Failure'), (code, found['database'][0]))
        self.assertIn(f'restore the key file {path}', found['database'][1])
        self.assertFalse(path.exists())

    def check_secrets(self):
        code, found = self.check()
        return code, found['secrets']

    def test_an_invalid_value_is_one_line(self):
        ini = self.write_ini('[applier]\nlease = soon\n')

        code, out, err = self.call(
            status.main, '--config-file', ini, 'upgrade', 'check'
        )

        self.assertEqual((2, ''), (code, out))
        self.assertEqual(1, err.count('\n'), err)
        self.assertIn('[applier] lease', err)
