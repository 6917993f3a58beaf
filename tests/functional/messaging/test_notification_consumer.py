"""The consumer of notifications of services, with a real RabbitMQ."""

import itertools

from tests import service_notifications
from tests.functional.messaging import base, recording
from watcherlite.messaging import notification_consumer, settings


class TestNotificationConsumer(base.RabbitTestCase):
    def setUp(self):
        super().setUp()
        self.exchange = f'{self.prefix}.nova'
        self.received = recording.Recorder()
        self.states = recording.Recorder()

    def declare(self):
        """Declare the exchange as a service does."""
        channel = self.channel()
        channel.exchange_declare(
            exchange=self.exchange, type='topic', durable=False, auto_delete=False
        )
        self.addCleanup(channel.exchange_delete, exchange=self.exchange)

    def consume_notifications(self, **options):
        consumer = notification_consumer.NotificationConsumer(
            self.messaging(**options),
            [settings.NotificationSource(self.exchange, 'versioned')],
            host='tester',
            on_notification=self.received.control,
            on_consuming=lambda: self.states.control('consuming'),
            on_lost=lambda: self.states.control('lost'),
            # The next check is always due.
            monotonic=itertools.count(0, 100).__next__,
        )
        self.addCleanup(consumer.stop, recording.TIMEOUT)
        consumer.start()
        return consumer

    def send(self, event_type, routing_key='versioned.info'):
        body = service_notifications.envelope(event_type, {})
        self.send_raw(self.exchange, routing_key, body)

    def event_types(self, count):
        return [one.event_type for one in self.received.wait_for(count)]

    def test_notifications_of_a_topic_are_consumed_in_order(self):
        self.declare()
        consumer = self.consume_notifications()
        self.assertTrue(consumer.wait_until_consuming(recording.TIMEOUT))

        self.send('instance.update')
        self.send_raw(self.exchange, 'versioned.info', b'no notification')
        self.send('instance.update', 'other.info')
        self.send('instance.create.error', 'versioned.error')

        self.assertEqual(
            ['instance.update', 'instance.create.error'], self.event_types(2)
        )
        self.assertIn('A notification of a service was rejected', self.log.output)
        consumer.stop(recording.TIMEOUT)
        self.assertEqual(['consuming', 'lost'], self.states.wait_for(2))

    def test_an_exchange_is_consumed_when_it_exists(self):
        self.consume_notifications()
        self.states.wait_for(1)

        self.declare()

        self.assertEqual(['consuming', 'consuming'], self.states.wait_for(2))
        self.send('instance.update')
        self.assertEqual(['instance.update'], self.event_types(1))
        self.assertIn(f'has no exchange {self.exchange}', self.log.output)

    def test_a_lost_connection_is_reported(self):
        self.declare()
        between, url = self.proxy()
        self.consume_notifications(url=url)
        self.states.wait_for(1)

        between.close_connections()

        self.assertEqual(['consuming', 'lost', 'consuming'], self.states.wait_for(3))
        self.send('instance.update')
        self.assertEqual(['instance.update'], self.event_types(1))
