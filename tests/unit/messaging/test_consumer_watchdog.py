"""The detection of consumers that the broker has forgotten."""

import types

from tests import base
from watcherlite import exceptions
from watcherlite.messaging import consumer


class FakeChannel:
    """Reports the lengths of its queues, and counts the requests."""

    def __init__(self, **ready):
        self.ready = ready
        self.asked = 0

    def queue_declare(self, queue, passive):
        self.asked += 1
        return types.SimpleNamespace(message_count=self.ready[queue])


class TestConsumerWatchdog(base.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.channel = FakeChannel(a=0, b=0)
        self.watchdog = consumer.ConsumerWatchdog(
            self.channel, ['a', 'b'], 10.0, monotonic=lambda: self.now
        )

    def after(self, seconds):
        self.now += seconds
        self.watchdog.check()

    def test_the_queue_is_checked_once_per_interval(self):
        for _ in range(30):
            self.after(1.0)

        self.assertEqual(6, self.channel.asked)

    def test_a_message_undelivered_for_an_interval_is_a_failure(self):
        self.channel.ready['b'] = 3
        self.watchdog.record('a')
        self.after(10.0)

        error = self.assertRaises(exceptions.BrokerUnavailable, self.after, 10.0)

        self.assertIn('has 3 messages in queue b and delivers none', str(error))

    def test_a_backlog_behind_deliveries_is_not_a_failure(self):
        self.channel.ready['a'] = 3

        for _ in range(5):
            self.after(5.0)
            self.watchdog.record('a')
            self.after(5.0)

        self.assertEqual(10, self.channel.asked)

    def test_a_message_since_the_last_check_is_not_a_failure(self):
        self.after(10.0)
        self.channel.ready['a'] = 3
        self.after(10.0)
        self.channel.ready['a'] = 0
        self.after(10.0)
        self.channel.ready['a'] = 3
        self.after(10.0)

        self.assertEqual(8, self.channel.asked)
