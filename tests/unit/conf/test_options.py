import os
import pathlib

import fixtures
from oslo_config import cfg

from tests import base
from watcherlite import conf, exceptions
from watcherlite.conf import applier, engine, opts
from watcherlite.destinations import REFUSED_NETWORKS
from watcherlite.execution import services

#: The options that both lanes have.
WORKER = {
    'workers': 1,
    'max_parallel': 8,
    'max_coroutines': 1000,
    'max_per_service': 200,
    'max_probes': 64,
    'max_probes_per_cluster': 16,
    'max_probes_per_project': 32,
    'lease': 30,
    'claim_batch': 512,
    'sweep_interval': 10.0,
    'max_attempts': 5,
    'signal_grace': 5.0,
    'max_action_log': 1048576,
}
#: Defaults that deployers and tests rely on; a change needs a release note.
DEFAULTS = {
    'DEFAULT': {
        'action_log_retention': 30.0,
        'default_action_timeout': 3600,
        'graceful_shutdown_timeout': 60,
    },
    'database': {
        'connection': None,
        'max_pool_size': 5,
        'pool_timeout': 30,
        'connect_timeout': 5,
        'statement_timeout': 60,
        'busy_timeout': 10,
        'sqlite_synchronous': 'FULL',
    },
    'messaging': {
        'url': 'memory://',
        'tls_ca_file': '',
        'tls_cert_file': '',
        'tls_key_file': '',
        'heartbeat': 15,
        'connect_timeout': 5,
        'confirm_timeout': 10,
        'reconnect_max': 30,
    },
    'api': {
        'host': '127.0.0.1',
        'port': 9322,
        'workers': 1,
        'threads': 16,
        'max_limit': 1000,
        'idempotency_key_lifetime': 86400,
        'request_retention': 90.0,
        'max_event_streams': None,
        'max_body_size': 4194304,
        'max_header_size': 65536,
        'max_connections': 512,
        'client_timeout': 60,
        'auth_strategy': 'noauth',
        'noauth_on_any_address': False,
        'http_basic_auth_user_file': '/etc/watcherlite/htpasswd',
        'http_basic_user_roles': {},
        'http_basic_default_roles': [],
        'enable_webhooks_auth': True,
        'healthcheck_details': False,
        'healthcheck_disable_file': '',
        'metrics': False,
        'allowed_hosts': [],
    },
    'dashboard': {
        'enabled': True,
        'session_lifetime': 28800,
        'keystone_auth_uri': None,
    },
    'applier': {**WORKER, 'on_worker_loss': 'resume'},
    'engine': {**WORKER, 'action_plan_expiry': 24.0, 'check_periodic_interval': 1800.0},
    'secrets': {'encryption_keys': []},
    'stacks': {
        'stack_action_timeout': 3600,
        'max_nested_stack_depth': 5,
        'max_resources_per_stack': 1000,
        'max_template_size': 524288,
        'max_stacks_per_tenant': 0,
        'max_software_configs_per_tenant': 4096,
        'max_software_deployments_per_tenant': 4096,
        'max_evaluation_size': 33554432,
        'max_shown_size': 8388608,
    },
    'clusters': {
        'max_nodes_per_cluster': 1000,
        'max_clusters_per_project': 100,
        'cluster_action_timeout': 3600,
        'check_interval_min': 1,
        'check_interval_max': 3600,
        'name_unique': False,
        'user_action_types': [],
        'load_balancer_drivers': ['octavia', 'haproxy'],
    },
    'outgoing_http': {
        'allowed_hosts': [],
        'refused_networks': list(REFUSED_NETWORKS),
        'allowed_networks': [],
    },
    'data_models': {
        'max_age': 60.0,
        'notification_transport_url': '',
        'notification_topics': [
            'nova.versioned_notifications',
            'openstack.notifications',
            'ironic.ironic_versioned_notifications',
        ],
        'notification_tls_ca_file': '',
        'max_age_with_notifications': 600.0,
        'datasources': ['prometheus', 'aetos', 'gnocchi', 'file'],
    },
    'openstack': {
        'cloud': None,
        'client_config_file': None,
        'auth_type': 'password',
        'auth_url': None,
        'username': None,
        'user_id': None,
        'user_domain_id': None,
        'user_domain_name': None,
        'password': None,
        'project_id': None,
        'project_name': None,
        'project_domain_id': None,
        'project_domain_name': None,
        'system_scope': None,
        'application_credential_id': None,
        'application_credential_secret': None,
        'interface': None,
        'region_name': None,
        'cafile': None,
        'certfile': None,
        'keyfile': None,
        'insecure': False,
        'connect_timeout': 5,
        'read_timeout': 60,
        'retries': 2,
        'max_connections': 256,
        'allow_service_authority': False,
        'remote_auth_urls': [],
    },
    'notifications': {
        'level': 'info',
        'topics': ['versioned_notifications'],
        'exchange': 'watcher',
        'amqp_durable_queues': False,
        'rabbit_quorum_queue': False,
        'amqp_auto_delete': False,
        'action_plan_event_prefix': 'actionplan',
        'payload_version': 'latest',
        'batch_size': 500,
        'publish_timeout': 30,
        'redelivery_window': 3600,
    },
}


class TestDefaults(base.TestCase):
    """Without an ini file every option has a working value."""

    def test_every_option_has_the_documented_default(self):
        configuration = conf.new(config_files=[])

        found = {
            group.name if group else 'DEFAULT': {
                option.dest: _value(configuration, group, option) for option in options
            }
            for group, options in opts.list_opts()
        }

        machine = {name: found['DEFAULT'].pop(name) for name in ('host', 'state_path')}
        self.assertEqual(DEFAULTS, found)
        self.assertEqual(os.uname().nodename, machine['host'])
        self.assertEqual(f'{self.home}/watcherlite', machine['state_path'])

    def test_without_xdg_state_home_the_state_is_in_the_home_directory(self):
        for value in (None, '', 'relative/path'):
            self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', value))

            configuration = conf.new(config_files=[])

            self.assertEqual(
                f'{self.home}/.local/state/watcherlite', configuration.state_path
            )

    def test_the_database_is_sqlite_in_the_state_directory_unless_one_is_given(self):
        for options, url in (
            ({}, f'sqlite:///{self.home}/watcherlite/watcherlite.sqlite'),
            (
                {'state_path': ('state', None)},
                f'sqlite:///{pathlib.Path.cwd()}/state/watcherlite.sqlite',
            ),
            (
                {'connection': ('postgresql+psycopg://h/x', 'database')},
                'postgresql+psycopg://h/x',
            ),
        ):
            configuration = conf.new(config_files=[])
            for name, (value, group) in options.items():
                configuration.set_override(name, value, group)

            self.assertEqual(url, conf.database_url(configuration))

    def test_the_values_shown_in_the_sample_file_mean_the_default(self):
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', None))
        ini = self.home / 'watcherlite.conf'
        samples = {
            option.dest: option.sample_default
            for _, options in opts.list_opts()
            for option in options
        }
        ini.write_text(
            f'[DEFAULT]\nstate_path = {samples["state_path"]}\n'
            f'[database]\nconnection = {samples["connection"]}\n'
        )

        expected = conf.new(config_files=[])
        found = conf.new(config_files=[str(ini)])

        self.assertEqual(conf.state_directory(expected), conf.state_directory(found))
        self.assertEqual(conf.database_url(expected), conf.database_url(found))


class TestDeclarations(base.TestCase):
    """Rules for all options, including those of later groups."""

    def test_every_option_has_help_in_sentences_and_a_number_a_least_value(self):
        for group, options in opts.list_opts():
            for option in options:
                with self.subTest(group=group and group.name, option=option.dest):
                    self.assertGreaterEqual(len(option.help.split()), 12)
                    self.assertTrue(option.help.endswith('.'), option.help)
                    if isinstance(option, cfg.IntOpt | cfg.FloatOpt):
                        self.assertIsNotNone(option.type.min)

    def test_every_url_and_password_is_secret(self):
        words = ('connection', 'url', 'password', 'secret', 'token')
        named = {
            f'{group.name if group else "DEFAULT"}.{option.dest}': option.secret
            for group, options in opts.list_opts()
            for option in options
            if any(word in option.dest.split('_') for word in words)
        }

        self.assertEqual(
            {
                'database.connection': True,
                'messaging.url': True,
                'data_models.notification_transport_url': True,
                # Without a password.
                'openstack.auth_url': False,
                'openstack.password': True,
                'openstack.application_credential_secret': True,
            },
            dict(named),
        )

    def test_mutable_options_of_lanes_are_those_the_core_reloads(self):
        for module in (applier, engine):
            marked = {option.dest for option in module.OPTS if option.mutable}
            if module is engine:
                # Options that the reconciler implements.
                marked -= {'action_plan_expiry', 'check_periodic_interval'}

            shared = {'default_action_timeout', 'action_log_retention'}
            self.assertEqual(set(services.MUTABLE) - shared, marked)

    def test_each_group_has_a_module_of_its_name(self):
        found = {}
        for module in conf.GROUPS:
            configuration = cfg.ConfigOpts()
            conf.register_group(configuration, module)
            found[module.__name__.rpartition('.')[2]] = {
                group.name if group else 'default'
                for info, group in configuration._all_opt_infos()
                if info['opt'].dest not in ('config_source', 'shell_completion')
            }

        self.assertEqual(
            {name: {name} for name in (group.lower() for group in DEFAULTS)}, found
        )

    def test_list_opts_has_all_registered_options(self):
        configuration = cfg.ConfigOpts()
        for module in conf.GROUPS:
            conf.register_group(configuration, module)
        listed = {
            (group.name if group else None, option.dest)
            for group, options in opts.list_opts()
            for option in options
        }

        registered = {
            (group.name if group else None, info['opt'].dest)
            for info, group in configuration._all_opt_infos()
        }

        self.assertEqual(
            listed, registered - {(None, 'config_source'), (None, 'shell_completion')}
        )


class TestSources(base.TestCase):
    """The first of command line, environment and files that has a value is used."""

    def setUp(self):
        super().setUp()
        self.ini = self.home / 'one.conf'
        self.ini.write_text('[applier]\nlease = 7\nmax_parallel = 3\n')

    def test_the_environment_wins_over_files_and_a_later_file_over_earlier(self):
        other, drop_in = self.home / 'two.conf', self.home / 'conf.d'
        drop_in.mkdir()
        for path, lease in (
            (other, 8),
            (drop_in / '10-first.conf', 10),
            (drop_in / '20-second.conf', 20),
        ):
            path.write_text(f'[applier]\nlease = {lease}\n')
        ini = str(self.ini)

        for configuration, lease in (
            (conf.new(['--config-file', ini]), 7),
            (conf.new(config_files=[ini, str(other)]), 8),
            (conf.new(config_files=[ini], config_dirs=[str(drop_in)]), 20),
        ):
            self.assertEqual((lease, 3), _worker(configuration))
        self.useFixture(fixtures.EnvironmentVariable('OS_APPLIER__LEASE', '9'))
        self.assertEqual((9, 3), _worker(conf.new(config_files=[ini])))

    def test_without_a_named_file_the_search_path_of_oslo_config_is_used(self):
        (self.home / '.watcherlite').mkdir()
        self.ini.rename(self.home / '.watcherlite' / 'watcherlite.conf')

        self.assertEqual(7, _lease(conf.new()))
        self.assertEqual(30, _lease(conf.new(config_files=[])))

    def test_two_configurations_do_not_see_the_values_of_each_other(self):
        one = conf.new(config_files=[])
        two = conf.new(config_files=[])

        one.set_override('lease', 77, 'applier')
        one.set_override('host', 'elsewhere')

        self.assertEqual(30, _lease(two))
        self.assertEqual(30, _lease(conf.new(config_files=[])))
        self.assertNotEqual('elsewhere', two.host)


class TestStateDirectory(base.TestCase):
    """The directory of the files that watcherlite writes."""

    def test_the_directory_is_created_for_its_owner_only(self):
        path = conf.state_directory(conf.new(config_files=[]))

        self.assertEqual(self.home / 'watcherlite', path)
        self.assertEqual(0o700, path.stat().st_mode & 0o777)
        self.assertEqual(path, conf.state_directory(conf.new(config_files=[])))

    def test_the_error_names_the_path_and_the_option(self):
        (self.home / 'watcherlite').write_text('a file')

        error = self.assertRaises(
            exceptions.ConfigurationError,
            conf.state_directory,
            conf.new(config_files=[]),
        )

        self.assertEqual(
            f'The state directory {self.home}/watcherlite cannot be created: File '
            'exists. Set [DEFAULT] state_path to a directory that this user can '
            'write to.',
            str(error),
        )


def _value(configuration, group, option):
    return (configuration[group.name] if group else configuration)[option.dest]


def _lease(configuration):
    return configuration.applier.lease


def _worker(configuration):
    return _lease(configuration), configuration.applier.max_parallel
