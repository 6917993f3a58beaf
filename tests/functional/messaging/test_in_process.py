"""The bus of a single process."""

import threading

from tests import base
from tests.functional.messaging import bus_contract, recording
from watcherlite import exceptions
from watcherlite.messaging import in_process

RUN = bus_contract.RUN


class InProcessTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.bus = in_process.InProcessBus()
        self.addCleanup(self.bus.close, recording.TIMEOUT)


class TestContract(bus_contract.BusContract, InProcessTestCase):
    def open_bus(self):
        return self.bus

    def dead_letters(self, count):
        fence = recording.Recorder()
        self.bus.start([], fence.command, fence.control)
        # Each repetition is appended to the queue, and so is each fence.
        for number in range(1, 20):
            if len(self.bus.dead_letters) < count:
                self.bus.broadcast({'type': 'fence'})
                fence.wait_for(number)
        return list(self.bus.dead_letters)


class TestHints(InProcessTestCase):
    def test_handlers_run_in_the_thread_of_the_bus(self):
        names = recording.Recorder()
        self.bus.start(
            ['applier'],
            lambda lane, message: names.control(threading.current_thread().name),
            lambda message: names.control(threading.current_thread().name),
        )

        self.bus.send_command('applier', RUN)
        self.bus.broadcast(RUN)

        self.assertEqual(['in-process-bus'] * 2, names.wait_for(2))

    def test_excess_pending_messages_are_dropped_oldest_first(self):
        commands = recording.Recorder()
        fence = recording.Recorder()
        self.bus.start(['engine'], fence.command, fence.control)

        for number in range(in_process.LIMIT + 3):
            self.bus.send_command('applier', bus_contract.launch(f'p{number}'))
            self.bus.send_command('engine', RUN)
            fence.wait_for(number + 1)
        self.bus.start(['applier'], commands.command, fence.control)

        kept = commands.wait_for(in_process.LIMIT)
        self.assertEqual(
            [f'p{number}' for number in range(3, in_process.LIMIT + 3)],
            [message['plan'] for _, message in kept],
        )
        self.assertEqual(3, self.bus.counters.dropped)
        self.assertIn('Dropped a message', self.log.output)

    def test_a_handler_may_send_and_close(self):
        recorder = recording.Recorder()

        def take(lane, message):
            self.bus.broadcast({'type': 'seen'})

        def end(message):
            self.bus.close(recording.TIMEOUT)
            recorder.control(message)

        self.bus.start(['applier'], take, end)
        self.bus.send_command('applier', RUN)

        self.assertEqual([{'type': 'seen'}], recorder.wait_for(1))

    def test_closing_does_not_wait_for_a_handler_that_hangs(self):
        entered, leave = threading.Event(), threading.Event()
        self.addCleanup(leave.set)

        def hang(lane, message):
            entered.set()
            leave.wait(recording.TIMEOUT)

        self.bus.start(['applier'], hang, print)
        self.bus.send_command('applier', RUN)
        self.assertTrue(entered.wait(recording.TIMEOUT))

        self.bus.close(0.01)

        self.assertIn('still runs', self.log.output)


class TestNotifications(InProcessTestCase):
    def setUp(self):
        super().setUp()
        self.publisher = self.bus.notification_publisher()
        self.addCleanup(self.publisher.close)

    def test_every_subscriber_has_everything_in_order_when_publish_returns(self):
        one, two = recording.Recorder(), recording.Recorder()
        self.assertFalse(self.publisher.has_subscribers())
        self.bus.subscribe_notifications(one.notification)
        self.assertTrue(self.publisher.has_subscribers())
        self.bus.subscribe_notifications(two.notification)
        batch = [('t.info', b'1'), ('t.error', b'2'), ('t.info', b'3')]

        self.publisher.publish(batch, recording.TIMEOUT)

        self.assertEqual((batch, batch), (one.seen, two.seen))

    def test_without_a_subscriber_there_is_nothing_to_wait_for(self):
        self.publisher.publish([('t.info', b'1')], 0)
        self.publisher.keep_alive()

    def test_a_subscriber_that_fails_keeps_nothing_from_the_others(self):
        broken = recording.Recorder(recording.broken)
        other = recording.Recorder()
        self.bus.subscribe_notifications(broken.notification)
        self.bus.subscribe_notifications(other.notification)

        self.publisher.publish([('t.info', b'1'), ('t.info', b'2')], recording.TIMEOUT)

        self.assertEqual([('t.info', b'1'), ('t.info', b'2')], other.seen)
        self.assertIn('A subscriber failed on a notification t.info', self.log.output)

    def test_messages_that_a_hanging_subscriber_missed_are_not_delivered_later(self):
        entered, leave = threading.Event(), threading.Event()
        self.addCleanup(leave.set)
        seen = []

        def hang(routing_key, body):
            seen.append(body)
            entered.set()
            leave.wait(recording.TIMEOUT)

        def assert_not_taken(*batch):
            error = self.assertRaises(
                exceptions.BrokerUnavailable,
                self.publisher.publish,
                [('t.info', body) for body in batch],
                0.01,
            )
            expected = f'did not take {len(batch)} notifications in 0.01 s'
            self.assertIn(expected, str(error))

        self.bus.subscribe_notifications(hang)
        # On a busy machine all of them are withdrawn before the first one is taken.
        for _ in range(1000):
            assert_not_taken(b'1', b'2')
            if entered.wait(0.05):
                break
        assert_not_taken(b'3')
        self.assertTrue(entered.is_set())
        leave.set()

        self.publisher.publish([('t.info', b'1'), ('t.info', b'2')], recording.TIMEOUT)

        self.assertEqual([b'1', b'1', b'2'], seen)

    def test_a_closed_bus_and_a_closed_publisher_are_unavailable(self):
        self.bus.subscribe_notifications(print)
        closed = self.bus.notification_publisher()
        closed.close()
        self.assertRaises(
            exceptions.BrokerUnavailable, closed.publish, [('t.info', b'1')], 1
        )

        self.bus.close(recording.TIMEOUT)

        self.assertRaises(
            exceptions.BrokerUnavailable, self.publisher.publish, [('t.info', b'')], 1
        )
