"""Commands while a broker is lost, frozen or missing: they are delayed or dropped."""

import socket
import time

from tests import bounded
from tests.functional.messaging import base, bus_contract, recording
from tests.ports import reserve_port
from watcherlite.messaging import addresses, publisher, reconnect

RUN = bus_contract.RUN
CANARY = 'canary-password'


class RecoveryTestCase(base.RabbitTestCase):
    def send_until(self, send, recorder, expected):
        """Repeat a hint until one arrives, since a fault may lose some."""
        deadline = time.monotonic() + recording.TIMEOUT
        while len(recorder.seen) < expected and time.monotonic() < deadline:
            send()
            recorder.wait_for(expected, timeout=0.5)
        self.assertGreaterEqual(len(recorder.seen), expected)


class TestLostConnections(RecoveryTestCase):
    def test_messages_are_delivered_after_the_broker_closed_all_connections(self):
        bus, commands, controls = self.worker()
        bus.send_command('applier', RUN)
        bus.broadcast(RUN)
        commands.wait_for(1)
        controls.wait_for(1)

        self.vhost.close_connections()

        self.send_until(lambda: bus.send_command('applier', RUN), commands, 2)
        self.send_until(lambda: bus.broadcast(RUN), controls, 2)
        self.assertEqual(2, bus.counters.connections)
        self.assertIn('CONNECTION_FORCED - closed by a test', self.log.output)

    def test_a_command_sent_during_an_outage_arrives(self):
        between, url = self.proxy()
        bus, commands, _ = self.worker(url=url)
        between.refuse()

        bus.send_command('applier', RUN)
        between.accept()

        self.assertIn(('applier', RUN), commands.wait_for(1))
        self.assertEqual(0, bus.counters.dropped)

    def test_a_frozen_connection_is_detected_by_its_heartbeat(self):
        between, url = self.proxy()
        bus, commands, _ = self.worker(url=url, heartbeat=1, confirm_timeout=1.0)

        between.freeze()

        self.send_until(lambda: bus.send_command('applier', RUN), commands, 1)
        self.assertGreaterEqual(bus.counters.connections, 2)

    def test_a_deleted_queue_is_recreated(self):
        bus, commands, _ = self.worker(heartbeat=1)
        bus.send_command('applier', RUN)
        commands.wait_for(1)

        self.channel().queue_delete(queue=f'{self.prefix}.applier')

        self.send_until(lambda: bus.send_command('applier', RUN), commands, 2)
        self.assertGreaterEqual(bus.counters.connections, 2)

    def test_a_consumer_is_restored_after_its_queue_was_replaced(self):
        bus, commands, _ = self.worker(heartbeat=1)

        self.channel().queue_delete(queue=f'{self.prefix}.applier')

        # The publisher connects only now, and declares the queue before its consumer
        # notices the deletion: RabbitMQ may then forget the consumer.
        self.send_until(lambda: bus.send_command('applier', RUN), commands, 1)
        self.assertGreaterEqual(bus.counters.connections, 2)


class TestUnreachable(RecoveryTestCase):
    def test_sending_and_closing_do_not_wait_for_an_unreachable_broker(self):
        # The publisher and the consumer wait forever after their first attempt.
        self.patch(reconnect, '_FIRST_WAIT', bounded.FOREVER)
        self.patch(reconnect, '_LEAST_WAIT', bounded.FOREVER)
        url = f'amqp://u:{CANARY}@127.0.0.1:{reserve_port()}/v'
        bus = self.open_bus(url=url, reconnect_max=bounded.FOREVER)
        bus.start(['applier'], print, print)

        def send():
            for _ in range(publisher.LIMIT + 10):
                bus.send_command('applier', RUN)
            bus.broadcast(RUN)

        bounded.call(send)
        bounded.wait_until(
            lambda: 'no connection to the message broker' in self.log.output
        )
        self.assertFalse(bus.wait_until_consuming(0.1))
        bounded.call(bus.close, bounded.FOREVER)

        self.assertEqual(publisher.LIMIT + 11, bus.counters.dropped)
        self.assertIn('newer ones are pending', self.log.output)
        self.assertNotIn(CANARY, self.log.output)

    def test_closing_does_not_wait_for_an_unresponsive_broker(self):
        # It accepts connections, and sends nothing.
        silent = socket.create_server(('127.0.0.1', 0))
        port = silent.getsockname()[1]
        bus = self.open_bus(
            url=f'amqp://127.0.0.1:{port}/', connect_timeout=bounded.FOREVER
        )
        # Before the bus is closed again: this ends its threads.
        self.addCleanup(silent.close)
        bus.start(['applier'], print, print)
        bus.send_command('applier', RUN)

        bounded.call(bus.close, 0.2)

        self.assertIn('without the last confirmations of the broker', self.log.output)

    def test_closing_does_not_wait_for_a_frozen_connection(self):
        between, url = self.proxy()
        bus, commands, _ = self.worker(url=url, confirm_timeout=bounded.FOREVER)
        # Before the bus is closed again: this ends its threads.
        self.addCleanup(between.close_connections)
        bus.send_command('applier', RUN)
        commands.wait_for(1)
        between.freeze()
        bus.send_command('applier', RUN)

        bounded.call(bus.close, 0.5)

        self.assertIn('without the last confirmations of the broker', self.log.output)

    def test_wrong_credentials_are_reported_without_the_password(self):
        (address,) = addresses.parse(self.vhost.url)
        bus = self.open_bus(
            url=f'amqp://unknown:{CANARY}@{address.host}:{address.port}/{address.vhost}'
        )
        bus.start(['applier'], print, print)

        bounded.wait_until(lambda: 'ACCESS_REFUSED' in self.log.output)
        self.assertFalse(bus.wait_until_consuming(0))
        bus.close(recording.TIMEOUT)

        self.assertNotIn(CANARY, self.log.output)

    def test_the_next_host_is_used_if_the_first_is_unreachable(self):
        (address,) = addresses.parse(self.vhost.url)
        url = (
            f'rabbit://{address.user}:{address.password}@127.0.0.1:{reserve_port()},'
            f'{address.host}:{address.port}/{address.vhost}'
        )

        bus, commands, _ = self.worker(url=url)
        bus.send_command('applier', RUN)

        self.assertEqual([('applier', RUN)], commands.wait_for(1))
