"""Valid and invalid settings of notifications."""

from tests import base
from watcherlite import exceptions
from watcherlite.notifications.rules import notification
from watcherlite.notifications.settings import NotificationSettings, RelaySettings


class TestLevels(base.TestCase):
    def test_each_level_sends_its_priority_and_above(self):
        sent = {
            level: [
                priority
                for priority in notification.PRIORITIES
                if NotificationSettings('host', level=level).sends(priority)
            ]
            for level in ('', *notification.LEVELS)
        }

        self.assertEqual(
            {
                '': [],
                'debug': ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'],
                'info': ['INFO', 'WARN', 'ERROR', 'CRITICAL'],
                'warning': ['WARN', 'ERROR', 'CRITICAL'],
                'error': ['ERROR', 'CRITICAL'],
                'critical': ['CRITICAL'],
            },
            sent,
        )

    def test_a_level_counts_in_any_case_as_the_option_takes_it(self):
        settings = NotificationSettings('host', level='Error')

        self.assertEqual(
            ['ERROR', 'CRITICAL'],
            [
                priority
                for priority in notification.PRIORITIES
                if settings.sends(priority)
            ],
        )


class TestRefusals(base.TestCase):
    def test_enabled_notifications_need_a_topic(self):
        error = self.assertRaises(
            exceptions.ConfigurationError, NotificationSettings, 'host', topics=()
        )

        self.assertIn('topics is empty', str(error))
        self.assertFalse(
            NotificationSettings('host', topics=(), level='').sends('CRITICAL')
        )

    def test_a_value_that_cannot_work_is_refused_with_those_that_can(self):
        texts = [
            str(
                self.assertRaises(
                    exceptions.ConfigurationError,
                    NotificationSettings,
                    'host',
                    **values,
                )
            )
            for values in (
                {'level': 'warn'},
                {'event_prefix': 'plan'},
                {'payload_version': '2.0'},
            )
        ]

        self.assertEqual(
            [
                "[notifications] level is 'warn'; it can be '', 'debug', 'info', "
                "'warning', 'error', 'critical'",
                "[notifications] action_plan_event_prefix is 'plan'; it can be "
                "'actionplan', 'action_plan'",
                "[notifications] payload_version is '2.0'; it can be 'latest', '1.0'",
            ],
            texts,
        )


class TestRelaySettings(base.TestCase):
    def test_the_lease_outlasts_a_batch(self):
        for timeout in (1, 30, 3600):
            settings = RelaySettings(publish_timeout=timeout)
            self.assertGreater(settings.lease, settings.publish_timeout)
