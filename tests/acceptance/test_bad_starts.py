"""A daemon that cannot start prints the reason in one line, and exits."""

import base64
import sqlite3

import sqlalchemy as sa

from tests import services
from tests.acceptance.daemons import APPLIER, ENGINE, STANDALONE, DaemonTestCase

#: A port without a listener.
NOWHERE = '127.0.0.1:1'


class FailedStartTest(DaemonTestCase):
    database = None
    broker = False
    third_party = False

    def startup_error(self, code, *arguments, what=APPLIER, **groups):
        """Start a daemon that must exit; return its message.

        The name of the command at the beginning is removed.
        """
        daemon = self.start(what, self.ini(**groups), *arguments)
        self.assertEqual(code, daemon.end(), daemon.text())
        command, text = daemon.text().split(': ', 1)
        self.assertIn(command, (what[0], ' '.join(what)))
        self.assertEqual(1, text.count('\n'), text)
        self.assertNotIn('hunter2', text)
        return text.removesuffix('\n')

    def test_a_database_that_is_newer(self):
        with sqlite3.connect(self.home / 'watcherlite.sqlite') as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()

        for what in (APPLIER, ENGINE, STANDALONE):
            self.assertRegex(
                self.startup_error(3, what=what),
                r'\AThe database has schema 9999 of a newer version .*; install',
            )

    def test_a_server_that_does_not_answer(self):
        for driver in ('postgresql+psycopg', 'mysql+pymysql'):
            url = f'{driver}://watcherlite:hunter2@{NOWHERE}/watcherlite'

            text = self.startup_error(3, database={'connection': url})

            self.assertTrue(
                text.startswith(
                    f'The database {driver}://watcherlite:***@{NOWHERE}/watcherlite '
                    'cannot be used: '
                ),
                text,
            )
            self.assertTrue(
                text.endswith(
                    'Check that the server runs and accepts the credentials; '
                    '[database] connection has its location'
                ),
                text,
            )

    def test_an_unknown_option_or_an_invalid_value(self):
        command = 'watcherlite.action_types.command'
        place = f'{self.home}/watcherlite.conf: '
        for group, option, value, expected in (
            (
                *('applier', 'max_paralel', 3),
                f'{place}[applier] has no option max_paralel; did you mean '
                'max_parallel?',
            ),
            (
                *(command, 'alowed', '/bin/true'),
                f'{place}[{command}] has no option alowed; did you mean allowed?',
            ),
            (
                *('applier', 'workers', 'none'),
                f'{place}[applier] workers is not valid: invalid literal for int() '
                "with base 10: 'none'",
            ),
            (
                *('applier', 'lease', 0),
                f'{place}[applier] lease is not valid: Should be greater than or equal '
                'to 1',
            ),
            (
                *('notifications', 'level', 'loud'),
                f'{place}[notifications] level is not valid: Valid values are ['
                ", debug, info, warning, error, critical], but found 'loud'",
            ),
            (
                *(command, 'allowed', 'true'),
                f"{place}[{command}] allowed is not valid: 'true' is not an absolute "
                'path',
            ),
            (
                *('secrets', 'encryption_keys', 'hunter2'),
                'Key 1 in [secrets] encryption_keys is not 32 bytes in base64; '
                'generate one with "openssl rand -base64 32"',
            ),
            (
                *('database', 'connection', 'oracle://u:hunter2@h/x'),
                '[database] connection begins with oracle; it can begin with '
                'mysql+pymysql, postgresql+psycopg, sqlite+pysqlite',
            ),
        ):
            with self.subTest(f'{group} {option}'):
                self.assertEqual(
                    expected, self.startup_error(2, **{group: {option: value}})
                )

    def test_a_url_that_cannot_be_used(self):
        self.assertTrue(
            self.startup_error(
                2, messaging={'url': 'kafka://u:hunter2@h/x'}
            ).startswith(
                "[messaging] url has the scheme 'kafka', which is not supported: use "
                'memory:// for a single process'
            )
        )

    def test_an_invalid_command_line_or_a_missing_file(self):
        for what in (APPLIER, ENGINE, STANDALONE):
            self.assertEqual(
                f'unrecognized arguments: --fast (see `{" ".join(what)} --help`)',
                self.startup_error(2, '--fast', what=what),
            )
        self.assertEqual(
            f'There is no configuration file {self.home}/missing.conf',
            self.startup_error(2, f'--config-file={self.home}/missing.conf'),
        )

    def test_a_host_without_the_key_of_the_others(self):
        # The first process that stores a secret creates the key.
        inputs = {'message': 'password=hunter2'}
        self.operator(self.ini()).create(('one', 'nop', inputs))
        key = self.home / 'secrets.key'
        other = base64.b64encode(b'o' * 32).decode()

        for what in (APPLIER, ENGINE, STANDALONE):
            self.assertEqual(
                'The database has secrets that [secrets] encryption_keys cannot '
                'decrypt, as they were encrypted with another key: set [secrets] '
                'encryption_keys to the keys of the host that encrypted them, alike on '
                'all hosts',
                self.startup_error(3, what=what, secrets={'encryption_keys': other}),
            )
        key.rename(self.home / 'lost')
        self.assertIn(f'restore the key file {key}', self.startup_error(3))
        self.assertFalse(key.exists())


class EmptyDatabaseTest(DaemonTestCase):
    broker = False
    third_party = False

    def test_a_server_without_a_schema(self):
        database = self.useFixture(services.Database(services.POSTGRESQL))
        applier = self.start(APPLIER, self.ini(database={'connection': database.url}))

        self.assertEqual(3, applier.end())
        self.assertEqual(
            'watcherlite-applier: The database has no schema yet; run '
            '"watcherlite-manage db upgrade"\n',
            applier.text(),
        )
        engine = sa.create_engine(database.url)
        self.addCleanup(engine.dispose)
        self.assertEqual([], sa.inspect(engine).get_table_names())
