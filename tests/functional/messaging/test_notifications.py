"""Notifications through a real broker: confirmed, or reported as unsafe."""

from tests import bounded
from tests.bounded import TIMEOUT
from tests.functional.messaging import base
from watcherlite import exceptions
from watcherlite.messaging import topology


class NotificationTestCase(base.RabbitTestCase):
    def setUp(self):
        super().setUp()
        self.key = f'{self.topic}.info'

    def batch(self, count, first=0):
        return [
            (self.key, b'{"number": %d}' % number)
            for number in range(first, first + count)
        ]

    def bodies(self, count):
        return [message.body for message in self.consume(self.key, count)]

    def unavailable(self, publisher, batch, timeout=TIMEOUT):
        """Publish without success; return the error."""
        return self.assertRaises(
            exceptions.BrokerUnavailable,
            bounded.call,
            *(publisher.publish, batch, timeout),
        )

    def open_through_proxy(self, **options):
        """Return a proxy in front of the broker, and a publisher that uses it."""
        between, url = self.proxy()
        return between, self.publisher(self.open_bus(url=url, **options))


class TestPublish(NotificationTestCase):
    def test_a_thousand_messages_are_confirmed_in_order(self):
        batch = self.batch(1000)

        self.publisher().publish(batch, TIMEOUT)

        self.assertEqual([body for _, body in batch], self.bodies(1000))

    def test_a_message_has_the_properties_of_oslo_messaging(self):
        self.publisher().publish(self.batch(1), TIMEOUT)

        (message,) = self.consume(self.key, 1)
        self.assertEqual(
            {
                'content_type': 'application/json',
                'content_encoding': 'utf-8',
                'application_headers': {},
                'delivery_mode': 2,
                'priority': 0,
            },
            message.properties,
        )
        self.assertEqual(
            (self.notifications.exchange, self.key),
            (message.delivery_info['exchange'], message.delivery_info['routing_key']),
        )

    def test_each_priority_has_its_queue(self):
        publisher = self.publisher()
        keys = [
            f'{self.topic}.{priority}' for priority in self.notifications.priorities
        ]

        publisher.publish([(key, key.encode()) for key in keys], TIMEOUT)

        self.assertEqual(
            [[key.encode()] for key in keys],
            [[message.body for message in self.consume(key, 1)] for key in keys],
        )

    def test_a_large_message_arrives_whole(self):
        body = b'"' + b'x' * 1_000_000 + b'"'

        self.publisher().publish([(self.key, body)], TIMEOUT)

        self.assertEqual([body], self.bodies(1))

    def test_an_empty_batch_needs_no_broker(self):
        publisher = self.publisher(self.open_bus(url='amqp://127.0.0.1:1/'))

        publisher.publish([], 0)
        publisher.keep_alive()


class TestLostQueues(NotificationTestCase):
    def setUp(self):
        super().setUp()
        self.keys = frozenset(
            f'{self.topic}.{priority}' for priority in self.notifications.priorities
        )
        self.sentinel = topology.sentinel(self.prefix, self.notifications).name

    def restore_queues(self):
        """Return a publisher after the confirmed restoration of all queues."""
        publisher = self.publisher()
        self.assertEqual(self.keys, publisher.inspect_queues(TIMEOUT)[0])
        publisher.confirm_restored(TIMEOUT)
        return publisher

    def test_an_empty_queue_is_detected(self):
        publisher = self.restore_queues()
        publisher.publish(self.batch(1), TIMEOUT)

        self.assertEqual(
            (frozenset(), self.keys - {self.key}), publisher.inspect_queues(TIMEOUT)
        )

    def test_a_deleted_queue_is_lost_and_declared_again(self):
        publisher = self.restore_queues()
        publisher.publish(self.batch(3), TIMEOUT)
        self.channel().queue_delete(self.key)

        lost = [publisher.inspect_queues(TIMEOUT)[0] for _ in range(2)]
        publisher.publish(self.batch(3), TIMEOUT)
        publisher.confirm_restored(TIMEOUT)

        self.assertEqual([frozenset({self.key})] * 2, lost)
        self.assertEqual(3, len(self.bodies(3)))
        self.assertEqual(frozenset(), publisher.inspect_queues(TIMEOUT)[0])

    def test_a_lost_queue_is_reported_to_all_publishers_until_it_is_restored(self):
        first, second = self.restore_queues(), self.publisher()
        self.assertEqual(frozenset(), second.inspect_queues(TIMEOUT)[0])
        self.channel().queue_delete(self.key)
        first.inspect_queues(TIMEOUT)

        self.assertEqual(self.keys, second.inspect_queues(TIMEOUT)[0])

    def test_a_queue_that_its_consumer_declared_first_after_a_restart_is_lost(self):
        publisher = self.restore_queues()
        # A restart deletes this queue, and no consumer declares it again.
        self.channel().queue_delete(self.sentinel)

        self.assertEqual(self.keys, publisher.inspect_queues(TIMEOUT)[0])

    def test_messages_of_a_lost_connection_are_not_confirmed_by_another(self):
        between, publisher = self.open_through_proxy()
        publisher.inspect_queues(TIMEOUT)
        between.refuse()

        self.assertRaises(
            exceptions.BrokerUnavailable, publisher.confirm_restored, TIMEOUT
        )
        self.assertEqual(self.keys, self.publisher().inspect_queues(TIMEOUT)[0])


class TestDurability(NotificationTestCase):
    def declared(self, **options):
        """Publish with these options; declare the queue as a consumer would."""
        self.notifications = self.vhost.notifications(**options)
        (topic,) = self.notifications.topics
        self.publisher().publish([(f'{topic}.info', b'1')], TIMEOUT)
        return f'{topic}.info'

    def test_the_durability_options_are_applied(self):
        for options, expected in (
            ({}, {'durable': False}),
            ({'durable_queues': True}, {'durable': True}),
            (
                {'quorum_queue': True},
                {'durable': True, 'arguments': {'x-queue-type': 'quorum'}},
            ),
            ({'auto_delete': True}, {'durable': False, 'auto_delete': True}),
        ):
            queue = self.declared(**options)

            # The broker rejects this if any property differs.
            declared = self.channel().queue_declare(
                queue=queue, **{'auto_delete': False, **expected}
            )

            self.assertEqual(1, declared.message_count)

    def test_a_foreign_exchange_with_other_properties_is_a_configuration_error(self):
        self.channel().exchange_declare(
            exchange=self.notifications.exchange,
            type='topic',
            durable=True,
            auto_delete=False,
        )

        error = self.assertRaises(
            exceptions.ConfigurationError,
            self.publisher().publish,
            self.batch(1),
            TIMEOUT,
        )

        self.assertIn(f'the exchange {self.notifications.exchange} with', str(error))
        self.assertIn('amqp_durable_queues', str(error))


class TestPublishFailures(NotificationTestCase):
    def test_an_unroutable_message_is_reported_as_unavailable(self):
        publisher = self.publisher()
        batch = [*self.batch(1), ('missing.info', b'lost'), *self.batch(1, first=1)]

        error = self.unavailable(publisher, batch)

        self.assertIn('did not take 1 of 3 notifications', str(error))
        self.assertIn("'missing.info': NO_ROUTE", str(error))
        publisher.publish(self.batch(1, first=2), TIMEOUT)
        self.assertEqual([body for _, body in self.batch(3)], self.bodies(3))

    def assert_repeated(self, delete, **what):
        """Delete an object between two batches; check the remaining messages."""
        publisher = self.publisher()
        publisher.publish(self.batch(1), TIMEOUT)
        delete(**what)

        self.unavailable(publisher, self.batch(2))
        publisher.publish(self.batch(2), TIMEOUT)

        left = self.batch(2) if 'queue' in what else self.batch(1) + self.batch(2)
        self.assertEqual([body for _, body in left], self.bodies(len(left)))

    def test_a_deleted_queue_is_declared_before_a_retry(self):
        self.assert_repeated(self.channel().queue_delete, queue=self.key)

    def test_a_deleted_exchange_is_declared_before_a_retry(self):
        self.assert_repeated(
            self.channel().exchange_delete, exchange=self.notifications.exchange
        )

    def test_an_idle_connection_that_the_broker_closed_is_replaced_unnoticed(self):
        publisher = self.publisher()
        publisher.publish(self.batch(1), TIMEOUT)

        self.vhost.close_connections()
        publisher.publish(self.batch(1, first=1), TIMEOUT)

        self.assertEqual([body for _, body in self.batch(2)], self.bodies(2))

    def test_a_connection_that_is_lost_is_reported_and_the_next_call_works(self):
        between, publisher = self.open_through_proxy()
        publisher.publish(self.batch(1), TIMEOUT)
        between.refuse()

        error = self.unavailable(publisher, self.batch(2))
        between.accept()
        publisher.publish(self.batch(2), TIMEOUT)

        self.assertRegex(str(error), 'was lost while 2 notif|cannot be reached')
        self.assertEqual(3, len(self.bodies(3)))

    def test_a_broker_without_confirms_costs_one_timeout(self):
        between, publisher = self.open_through_proxy(confirm_timeout=bounded.FOREVER)
        publisher.publish(self.batch(1), bounded.FOREVER)
        between.freeze()

        error = self.unavailable(publisher, self.batch(3), 0.5)

        # Sending them may have taken a part of the time.
        self.assertRegex(str(error), r'did not confirm 3 messages in 0\.\d+ s')
        # There was no second attempt.
        self.assertEqual(1, between.accepted)
        publisher.publish(self.batch(1, first=1), TIMEOUT)
        self.assertEqual([body for _, body in self.batch(2)], self.bodies(2))

    def test_a_broker_that_reads_nothing_costs_one_timeout(self):
        huge = [(self.key, b'x' * 8_000_000)] * 4
        for batch, frozen in (
            # The server reads nothing.
            (huge, {}),
            # Heartbeats are no confirms.
            (self.batch(3), {'heartbeats': True}),
        ):
            between, publisher = self.open_through_proxy(
                confirm_timeout=bounded.FOREVER
            )
            publisher.publish(self.batch(1), bounded.FOREVER)
            between.freeze(**frozen)

            self.unavailable(publisher, batch, 0.5)

            self.assertEqual(1, between.accepted)

    def test_closing_does_not_wait_for_a_frozen_connection(self):
        between, publisher = self.open_through_proxy(confirm_timeout=bounded.FOREVER)
        publisher.publish(self.batch(1), bounded.FOREVER)
        between.freeze(heartbeats=True)

        bounded.call(publisher.close)
        bounded.call(publisher.close)

        self.unavailable(publisher, self.batch(1), 1)

    def test_a_heartbeat_keeps_an_idle_connection(self):
        between, publisher = self.open_through_proxy(heartbeat=4)
        publisher.publish(self.batch(1), TIMEOUT)

        def is_kept():
            publisher.keep_alive()
            return between.heartbeats

        bounded.wait_until(is_kept)
        # A connection that the broker had closed could not be replaced.
        between.stop_listening()
        publisher.publish(self.batch(1, first=1), TIMEOUT)

        self.assertEqual([body for _, body in self.batch(2)], self.bodies(2))

    def test_no_broker_is_reported_within_the_timeout(self):
        publisher = self.publisher(
            self.open_bus(url='amqp://u:canary@127.0.0.1:1/v', connect_timeout=60.0)
        )

        error = self.unavailable(publisher, self.batch(1), 1)

        self.assertIn('127.0.0.1:1 (virtual host v)', str(error))
        self.assertNotIn('canary', str(error) + self.log.output)
