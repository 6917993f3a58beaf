"""Valid and invalid settings of notifications."""

from tests import base
from watcherlite import exceptions
from watcherlite.notifications.rules import notification
from watcherlite.notifications.settings import NotificationSettings, RelaySettings


class TestLevels(base.TestCase):
    def test_each_level_sends_its_priority_and_above(self):
        sent = {
            level: self.sent(level) for level in ('', *notification.LEVELS, 'Error')
        }

        self.assertEqual(
            {
                '': [],
                'debug': ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'],
                'info': ['INFO', 'WARN', 'ERROR', 'CRITICAL'],
                'warning': ['WARN', 'ERROR', 'CRITICAL'],
                'error': ['ERROR', 'CRITICAL'],
                # The option takes it in any case.
                'Error': ['ERROR', 'CRITICAL'],
                'critical': ['CRITICAL'],
            },
            sent,
        )

    def sent(self, level):
        settings = NotificationSettings('host', level=level)
        return [p for p in notification.PRIORITIES if settings.is_enabled(p)]


class TestRefusals(base.TestCase):
    def test_enabled_notifications_need_a_topic(self):
        error = self.assertRaises(
            exceptions.ConfigurationError, NotificationSettings, 'host', topics=()
        )

        self.assertIn('topics is empty', str(error))
        self.assertFalse(
            NotificationSettings('host', topics=(), level='').is_enabled('CRITICAL')
        )

    def test_an_invalid_value_is_refused_with_the_valid_ones(self):
        for values, words in (
            (
                {'level': 'warn'},
                "level is 'warn'; it can be '', 'debug', 'info', 'warning', 'error', "
                "'critical'",
            ),
            (
                {'event_prefix': 'plan'},
                "action_plan_event_prefix is 'plan'; it can be 'actionplan', "
                "'action_plan'",
            ),
            (
                {'payload_version': '2.0'},
                "payload_version is '2.0'; it can be 'latest', '1.0'",
            ),
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError, NotificationSettings, 'host', **values
            )
            self.assertEqual(f'[notifications] {words}', str(error))


class TestRelaySettings(base.TestCase):
    def test_the_lease_outlasts_a_batch(self):
        for timeout in (1, 30, 3600):
            settings = RelaySettings(publish_timeout=timeout)
            self.assertGreater(settings.lease, settings.publish_timeout)
