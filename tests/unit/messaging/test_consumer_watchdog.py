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

    def test_the_broker_is_asked_once_an_interval(self):
        for _ in range(30):
            self.after(1.0)

        self.assertEqual(6, self.channel.asked)

    def test_what_waits_for_an_interval_unheard_means_deaf(self):
        self.channel.ready['b'] = 3
        self.watchdog.record('a')
        self.after(10.0)

        error = self.assertRaises(exceptions.BrokerUnavailable, self.after, 10.0)

        self.assertIn('has 3 messages in queue b and delivers none', str(error))

    def test_what_waits_behind_deliveries_is_only_much_work(self):
        self.channel.ready['a'] = 3

        for _ in range(5):
            self.after(5.0)
            self.watchdog.record('a')
            self.after(5.0)

        self.assertEqual(10, self.channel.asked)

    def test_what_has_come_since_the_last_check_may_still_be_delivered(self):
        self.after(10.0)
        self.channel.ready['a'] = 3
        self.after(10.0)
        self.channel.ready['a'] = 0
        self.after(10.0)
        self.channel.ready['a'] = 3
        self.after(10.0)

        self.assertEqual(8, self.channel.asked)
