"""Commands and broadcasts through a real broker."""

import json
import threading

from tests import bounded, services
from tests.functional.messaging import base, bus_contract, recording
from watcherlite import exceptions
from watcherlite.domain.commands import Receipt
from watcherlite.messaging import codec, topology

RUN = bus_contract.RUN
MALFORMED = [
    b'',
    b'not json',
    b'\xff\xfe\x00',
    b'\x80\x04\x95\x10\x00\x00\x00}\x94.',
    b'[1, 2, 3]',
    b'"text"',
    b'[' * 10000,
    json.dumps({'schema': 'other', 'version': 1, 'type': 'x'}).encode(),
    json.dumps({'schema': 'watcherlite.command', 'version': 2, 'type': 'x'}).encode(),
    json.dumps({'schema': 'watcherlite.command', 'version': 1, 'type': 1}).encode(),
    b'"' + b'x' * 1024 * 1024 + b'"',
]


class TestContract(bus_contract.BusContract, base.RabbitTestCase):
    pass


class TestMalformed(base.RabbitTestCase):
    def setUp(self):
        super().setUp()
        self.bus, self.commands, self.controls = self.worker()

    def test_malformed_commands_are_dead_letters_and_the_consumer_continues(self):
        for body in MALFORMED:
            self.send_raw(topology.commands(self.prefix), 'applier', body)
        self.send_raw(
            topology.commands(self.prefix),
            'applier',
            b'S"x"\n.',
            content_type='application/x-python-serialize',
            content_encoding='zlib',
        )
        self.bus.send_command('applier', RUN)

        self.assertEqual([('applier', RUN)], self.commands.wait_for(1))
        self.assertEqual(
            sorted([*MALFORMED, b'S"x"\n.']),
            # py-amqp gives a message without a body an empty str.
            sorted(body or b'' for body in self.dead_letters(len(MALFORMED) + 1)),
        )
        self.assertEqual(len(MALFORMED) + 1, self.bus.counters.malformed)
        self.assertEqual(1, self.bus.counters.connections)
        self.assertIn('A command for lane applier was rejected', self.log.output)

    def test_malformed_broadcasts_are_dropped_and_the_consumer_continues(self):
        for body in MALFORMED:
            self.send_raw(topology.control(self.prefix), '', body)
        self.bus.broadcast(RUN)

        self.assertEqual([RUN], self.controls.wait_for(1))
        self.assertEqual(len(MALFORMED), self.bus.counters.malformed)
        self.assertEqual(1, self.bus.counters.connections)


class TestTopologyConflict(base.RabbitTestCase):
    def test_a_queue_with_different_properties_is_a_configuration_error(self):
        queue = topology.lane_queue(self.prefix, 'applier')
        self.channel().queue_declare(queue=queue, durable=True, auto_delete=False)
        failures = recording.Recorder()
        bus = self.open_bus(on_failure=failures.failure)

        bus.start(['applier'], print, print)
        bus.send_command('applier', RUN)
        error = self.assertRaises(
            exceptions.ConfigurationError, bus.wait_until_consuming, recording.TIMEOUT
        )

        self.assertIn(f'the queue {queue} with other properties', str(error))
        self.assertIn('Delete it on the broker', str(error))
        self.assertEqual([str(error)], [str(item) for item in failures.wait_for(1)])
        self.assertIn('Messaging stopped', self.log.output)
        bus.close(recording.TIMEOUT)
        # Neither the consumer nor the publisher has reported it a second time.
        self.assertEqual(1, len(failures.seen))
        self.assertEqual(1, bus.counters.dropped)

    def test_an_exchange_with_different_properties_is_a_configuration_error(self):
        exchange = topology.control(self.prefix)
        self.channel().exchange_declare(
            exchange=exchange, type='direct', durable=True, auto_delete=False
        )
        bus = self.open_bus()

        bus.start(['applier'], print, print)
        error = self.assertRaises(
            exceptions.ConfigurationError, bus.wait_until_consuming, recording.TIMEOUT
        )

        self.assertIn(f'the exchange {exchange} with other properties', str(error))


class TestFullQueue(base.RabbitTestCase):
    def test_a_full_queue_rejects_hints_with_a_warning(self):
        if not self.vhost.isolated:
            self.skipTest('a policy needs a usable rabbitmqctl')
        services.rabbitmqctl(
            'set_policy',
            *('-p', self.vhost.name, '--apply-to', 'queues'),
            *('short', f'^{self.prefix}[.]applier$', '{"max-length": 1}'),
        )
        bus = self.open_bus()

        for _ in range(300):
            bus.send_command('applier', RUN)
        # A publisher waits for its confirms before it closes.
        bus.close(recording.TIMEOUT)

        self.assertGreater(bus.counters.dropped, 100)
        self.assertIn('applier refused it: the queue is full', self.log.output)


class TestReceipts(base.RabbitTestCase):
    """Commands whose handler returned a receipt."""

    def settler(self, receipt):
        """Start a worker that returns this receipt for each command."""
        commands = recording.Recorder()

        def take(lane, message):
            commands.command(lane, message)
            return receipt(message)

        bus = self.open_bus()
        bus.start(['applier'], take, print)
        self.assertTrue(bus.wait_until_consuming(recording.TIMEOUT))
        return bus, commands

    def test_an_unsettled_command_is_redelivered_to_another_worker(self):
        bus, first = self.settler(lambda message: Receipt())
        bus.send_command('applier', RUN)
        first.wait_for(1)
        _, second = self.settler(lambda message: None)

        bus.close(recording.TIMEOUT)

        self.assertEqual([('applier', RUN)], second.wait_for(1))

    def test_a_settled_command_is_acknowledged_from_any_thread(self):
        receipts = []

        def receipt(message):
            receipts.append(Receipt())
            threading.Thread(target=receipts[-1].settle).start()
            return receipts[-1]

        bus, first = self.settler(receipt)
        sent = [bus_contract.launch(f'p{number}') for number in range(40)]
        for command in sent:
            bus.send_command('applier', command)
        # More than are delivered without an acknowledgement.
        self.assertEqual([('applier', c) for c in sent], first.wait_for(len(sent)))
        bus.close(recording.TIMEOUT)

        other, second = self.settler(lambda message: None)
        other.send_command('applier', RUN)

        self.assertEqual([('applier', RUN)], second.wait_for(1))

    def test_a_receipt_of_a_lost_connection_acknowledges_nothing(self):
        receipts = []

        def receipt(message):
            receipts.append(Receipt())
            return receipts[-1]

        bus, first = self.settler(receipt)
        bus.send_command('applier', RUN)
        first.wait_for(1)
        self.vhost.close_connections()
        # It is delivered again, on a second connection.
        bounded.wait_until(lambda: len(receipts) == 2)

        for each in receipts:
            each.settle()
        bus.close(recording.TIMEOUT)

        # The second delivery was acknowledged, in spite of the first one.
        last = bus_contract.launch('last')
        other, second = self.settler(lambda message: None)
        other.send_command('applier', last)
        self.assertEqual([('applier', last)], second.wait_for(1))

    def test_a_command_that_kills_its_workers_becomes_a_dead_letter(self):
        sender = self.open_bus()
        sender.send_command('applier', RUN)

        for _ in range(topology.DELIVERY_LIMIT + 1):
            bus, commands = self.settler(lambda message: Receipt())
            commands.wait_for(1)
            bus.close(recording.TIMEOUT)
            self.assertEqual([('applier', RUN)], commands.seen)

        self.assertEqual([codec.encode(RUN)], self.dead_letters(1))
