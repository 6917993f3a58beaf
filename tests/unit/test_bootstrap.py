"""The composition root passes every option to the parts that use it."""

import base64
import dataclasses
from collections.abc import Mapping
from typing import Any

import fixtures

from tests import base
from watcherlite import bootstrap, conf, exceptions, settings
from watcherlite.conf.secrets import BYTES
from watcherlite.db.sqlalchemy.engine import DatabaseSettings
from watcherlite.engine.audits.reconciler import ReconcilerSettings
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.execution.services import ExecutionSettings
from watcherlite.messaging.settings import (
    MessagingSettings,
    NotificationDestination,
    NotificationSource,
)
from watcherlite.notifications.settings import NotificationSettings, RelaySettings


def section(name: str, values: Mapping[str, Any]) -> list[str]:
    """Return the lines of a section of an ini file."""
    return [f'[{name}]', *(f'{key} = {value}' for key, value in values.items())]


class SettingsCase(base.TestCase):
    """Writes ini files in which no option has its default."""

    def read(self, *lines: str) -> Any:
        path = self.home / 'watcherlite.conf'
        path.write_text('\n'.join(lines) + '\n')
        return conf.new(config_files=[str(path)])

    def assert_differs(self, found: Any, *same: str, default: Any = None) -> None:
        """Check that no field has its default, so that forgotten ones are detected.

        :param same: the fields without an option
        """
        plain = default if default is not None else type(found)()
        alike = {
            field.name
            for field in dataclasses.fields(found)
            if getattr(found, field.name) == getattr(plain, field.name)
        }
        self.assertEqual(set(same), alike)


class TestNotifications(SettingsCase):
    LINES = (
        '[DEFAULT]',
        'host = here',
        '[notifications]',
        'level = error',
        'topics = one, two',
        'exchange = elsewhere',
        'amqp_durable_queues = true',
        'rabbit_quorum_queue = true',
        'amqp_auto_delete = true',
        'action_plan_event_prefix = action_plan',
        'payload_version = 1.0',
        'batch_size = 7',
        'publish_timeout = 3',
    )

    def test_payload_settings_have_the_values_of_the_options(self) -> None:
        found = settings.payload_settings(self.read(*self.LINES))
        self.assertEqual(
            NotificationSettings(
                host='here',
                topics=('one', 'two'),
                level='error',
                event_prefix='action_plan',
                payload_version='1.0',
            ),
            found,
        )
        self.assert_differs(found, default=NotificationSettings('there'))

    def test_relay_settings_have_the_values_of_the_options(self) -> None:
        found = settings.relay_settings(self.read(*self.LINES))
        self.assertEqual(RelaySettings(batch_size=7, publish_timeout=3), found)

    def test_the_redelivery_window_is_zero_for_auto_delete_queues(self) -> None:
        lines = [line for line in self.LINES if 'auto_delete' not in line]
        found = settings.relay_settings(self.read(*lines, 'redelivery_window = 9'))
        self.assertEqual(9, found.redelivery_window)
        given = self.read(*self.LINES, 'redelivery_window = 9')
        self.assertEqual(0, settings.relay_settings(given).redelivery_window)

    def test_the_bus_is_opened_with_the_messaging_options(self) -> None:
        given: list[Any] = []

        def record(settings: Any, *, host: str, notifications: Any) -> None:
            given.append((settings, host, notifications))

        self.useFixture(
            fixtures.MonkeyPatch('watcherlite.messaging.factory.open_bus', record)
        )
        values: dict[str, Any] = {
            'url': 'amqp://u@h/v',
            'heartbeat': 1,
            'connect_timeout': 2,
            'confirm_timeout': 3,
            'reconnect_max': 4,
            'tls_ca_file': '/ca',
            'tls_cert_file': '/cert',
            'tls_key_file': '/key',
        }
        bootstrap.open_bus(self.read(*self.LINES, *section('messaging', values)))
        ((settings, host, where),) = given
        self.assertEqual(
            (
                MessagingSettings(**values),
                'here',
                NotificationDestination(
                    exchange='elsewhere',
                    topics=('one', 'two'),
                    durable_queues=True,
                    quorum_queue=True,
                    auto_delete=True,
                ),
            ),
            (settings, host, where),
        )
        self.assert_differs(
            settings, 'prefix', 'option', default=MessagingSettings('x')
        )
        self.assert_differs(where, 'priorities')

    def test_notifications_of_services_have_a_broker_of_their_own(self) -> None:
        messaging = section('messaging', {'url': 'amqp://u@h/v', 'tls_key_file': '/k'})
        values = {
            'notification_transport_url': 'rabbit://cloud',
            'notification_topics': 'nova.versioned, a.b.c',
            'notification_tls_ca_file': '/ca',
        }
        given = self.read(*messaging, *section('data_models', values))
        self.assertEqual(
            MessagingSettings(
                'rabbit://cloud',
                tls_ca_file='/ca',
                option='[data_models] notification_transport_url',
            ),
            settings.service_notification_settings(given),
        )
        self.assertEqual(
            [NotificationSource('nova', 'versioned'), NotificationSource('a.b', 'c')],
            settings.notification_sources(given),
        )
        self.assertIsNone(settings.service_notification_settings(self.read(*messaging)))

    def test_invalid_options_of_notifications_of_services_are_named(self) -> None:
        for values, message in (
            (
                {'notification_transport_url': 'memory://'},
                r'\(\[data_models\] notification_transport_url\) cannot be used',
            ),
            (
                {
                    'notification_transport_url': 'rabbit://cloud',
                    'notification_topics': 'notifications',
                },
                "'notifications' is not EXCHANGE.TOPIC",
            ),
        ):
            with self.assertRaisesRegex(exceptions.ConfigurationError, message):
                bootstrap.check(self.read(*section('data_models', values)))


class TestDatabase(SettingsCase):
    def test_all_of_it(self) -> None:
        values: dict[str, Any] = {
            'max_pool_size': 1,
            'pool_timeout': 2,
            'connect_timeout': 3,
            'statement_timeout': 4,
            'busy_timeout': 6,
            'sqlite_synchronous': 'NORMAL',
        }
        url = 'mysql+pymysql://u@h/d'
        found = settings.database_settings(
            self.read(*section('database', {'connection': url, **values}))
        )
        self.assertEqual(DatabaseSettings(url, **values), found)
        self.assert_differs(found, default=DatabaseSettings('x'))

    def test_its_secrets_have_the_keys_that_are_set(self) -> None:
        key = base64.b64encode(b'k' * BYTES).decode()
        conf = self.read('[secrets]', f'encryption_keys = {key}')
        self.assertEqual((key,), settings.database_settings(conf).keys(False).values)


class TestLanes(SettingsCase):
    def lane(self, name: str, first: int) -> list[str]:
        names = (
            *('max_parallel', 'claim_batch', 'lease'),
            *('sweep_interval', 'max_attempts', 'signal_grace'),
            *('max_probes', 'max_probes_per_cluster', 'max_probes_per_project'),
            *('max_action_log', 'max_coroutines', 'max_per_service'),
        )
        return section(name, {key: first + n for n, key in enumerate(names)})

    def test_each_lane_has_its_own(self) -> None:
        read = self.read(
            '[DEFAULT]',
            'default_action_timeout = 7',
            'action_log_retention = 8',
            *self.lane('applier', 11),
            *self.lane('engine', 21),
        )
        for lane, first in (('applier', 11), ('engine', 21)):
            found = settings.execution_settings(read, lane)
            self.assertEqual(
                ExecutionSettings(
                    max_parallel=first,
                    claim_batch=first + 1,
                    lease=first + 2,
                    sweep_interval=first + 3,
                    max_attempts=first + 4,
                    signal_grace=first + 5,
                    default_action_timeout=7,
                    max_probes=first + 6,
                    max_probes_per_cluster=first + 7,
                    max_probes_per_project=first + 8,
                    max_action_log=first + 9,
                    max_coroutines=first + 10,
                    max_per_service=first + 11,
                    action_log_retention=8.0,
                ),
                found,
            )
            self.assert_differs(found, 'look_ahead', 'linger', 'quick')

    def test_the_reconciler_settings_have_the_values_of_the_options(self) -> None:
        found = settings.reconciler_settings(
            self.read(
                '[engine]', 'action_plan_expiry = 2', 'check_periodic_interval = 3'
            )
        )
        self.assertEqual(ReconcilerSettings(2, 3), found)
        self.assert_differs(found)


class TestStacks(SettingsCase):
    def test_stack_limits_have_the_values_of_the_options(self) -> None:
        options = {
            'stack_action_timeout': ('timeout', 60),
            'max_nested_stack_depth': ('depth', 2),
            'max_resources_per_stack': ('resources', 3),
            'max_template_size': ('template', 2048),
            'max_stacks_per_tenant': ('stacks', 4),
            'max_software_configs_per_tenant': ('software_configs', 5),
            'max_software_deployments_per_tenant': ('software_deployments', 6),
            'max_evaluation_size': ('evaluated', 2097152),
            'max_shown_size': ('shown', 131072),
        }
        values = {name: value for name, (_, value) in options.items()}
        found = settings.stack_limits(self.read(*section('stacks', values)))

        self.assertEqual(StackLimits(**dict(options.values())), found)
        self.assert_differs(found)

    def test_their_defaults_are_those_of_the_options(self) -> None:
        self.assertEqual(StackLimits(), settings.stack_limits(self.read()))
