from tests import base
from watcherlite import conf
from watcherlite.conf.advisories import UPSTREAM


class TestAdvisories(base.TestCase):
    def setUp(self):
        super().setUp()
        self.ini = self.home / 'watcherlite.conf'
        self.ini.touch(mode=0o640)

    def advisories_of(self, text=''):
        """Return the advisories for a file, with ~ for the home directory."""
        self.ini.write_text(text)
        found = conf.advisories(conf.new(config_files=[str(self.ini)]))
        return [line.replace(str(self.home), '~') for line in found]

    def test_an_ordinary_file_has_no_advisories(self):
        self.assertEqual(
            [], self.advisories_of('[applier]\nworkers = 1\n[of_another]\na = b\n')
        )

    def test_groups_of_upstreams_are_reported_with_alternatives(self):
        groups = (
            *('oslo_messaging_notifications', 'oslo_messaging_rabbit'),
            *('watcher_applier', 'watcher_decision_engine', 'watcher_planner'),
            *('watcher_strategies.dummy', 'nova_client', 'heat_api', 'clients_nova'),
            *('health_manager', 'senlin_api', 'collector', 'oslo_concurrency'),
        )

        found = self.advisories_of(''.join(f'[{group}]\na = b\n' for group in groups))

        self.assertEqual(
            sorted(groups), [line.partition('[')[2].partition(']')[0] for line in found]
        )
        self.assertEqual(
            '~/watcherlite.conf: the group [watcher_decision_engine] is not used; '
            'set [engine]',
            next(line for line in found if 'decision' in line),
        )

    def test_used_groups_are_not_reported(self):
        written = ''.join(
            f'[{group.name if group else "DEFAULT"}]\n'
            for _, group in conf.validation._options(conf.new(config_files=[]))
        )
        libraries = '[oslo_policy]\n[oslo_middleware]\n[cors]\n[keystone_authtoken]\n'

        self.assertEqual([], self.advisories_of(written + libraries))
        self.assertTrue(UPSTREAM)

    def test_world_writable_files_are_reported(self):
        users = self.home / 'htpasswd'
        users.touch(mode=0o600)
        text = (
            f'[api]\nauth_strategy = http_basic\nhttp_basic_auth_user_file = {users}\n'
        )
        self.assertEqual([], self.advisories_of(text))

        users.chmod(0o602)
        self.ini.chmod(0o666)
        written = self.advisories_of(text)
        users.chmod(0o600)
        self.ini.chmod(0o640)
        self.home.chmod(0o777)

        self.assertEqual(
            [
                '~/watcherlite.conf is world-writable; run chmod o-w on it',
                '~/htpasswd is world-writable; run chmod o-w on it',
            ],
            written,
        )
        self.assertEqual(
            [
                '~, which contains configuration files, is world-writable; run chmod '
                'o-w on it'
            ],
            self.advisories_of(text),
        )
        self.home.chmod(0o1777)
        self.assertEqual([], self.advisories_of(text))

    def test_a_database_of_several_hosts_needs_a_key_of_all(self):
        shared = '[database]\nconnection = postgresql+psycopg://me@db/x\n'

        (line,) = self.advisories_of(shared)

        self.assertIn(
            'set [secrets] encryption_keys to the same value on all hosts', line
        )
        self.assertEqual(
            [], self.advisories_of(f'{shared}[secrets]\nencryption_keys = k\n')
        )
