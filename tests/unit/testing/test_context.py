"""The context without a worker."""

from tests import base
from watcherlite import exceptions
from watcherlite.testing import FakeContext, ManualClock, after_seconds, at_checkpoint


class TestSignals(base.TestCase):
    def test_no_signal_arrives_by_itself(self):
        context = FakeContext()

        for _ in range(3):
            context.checkpoint()

        self.assertEqual(3, context.checkpoints)
        # A sleep has a checkpoint before and after.
        context.sleep(1)
        self.assertEqual(5, context.checkpoints)

    def test_a_signal_arrives_at_its_checkpoint(self):
        for signal, expected in (
            ('CANCEL', exceptions.Cancelled),
            ('TIMEOUT', exceptions.TimedOut),
        ):
            context = FakeContext(signals=[at_checkpoint(2, signal)])

            context.checkpoint()

            self.assertRaises(expected, context.checkpoint)

    def test_a_signal_arrives_when_it_is_time(self):
        clock = ManualClock()
        context = FakeContext(clock=clock, signals=[after_seconds(3, 'CANCEL')])

        context.sleep(2.5)

        self.assertRaises(exceptions.Cancelled, context.sleep, 2)
        self.assertEqual(3.0, clock.monotonic())

    def test_a_cancel_is_permanent(self):
        context = FakeContext()

        context.send('CANCEL')
        context.send('RESUME')

        self.assertRaises(exceptions.Cancelled, context.checkpoint)

    def test_signal_handler_is_called_also_for_an_earlier_signal(self):
        context = FakeContext()
        received = []

        with context.on_signal(received.append):
            context.send('SUSPEND')
            context.send('RESUME')
        context.send('CANCEL')

        self.assertEqual(['SUSPEND', 'RESUME'], received)
        with context.on_signal(received.append):
            self.assertEqual(['SUSPEND', 'RESUME', 'CANCEL'], received)


class TestDeadline(base.TestCase):
    def test_the_remaining_time_of_a_timeout_decreases(self):
        context = FakeContext()
        self.assertEqual((None, None), (context.deadline, context.remaining()))

        context = FakeContext(timeout=5)

        context.sleep(2)

        self.assertEqual(3.0, context.remaining())
        self.assertEqual(3.0, (context.deadline - context.now()).total_seconds())

    def test_a_sleep_ends_at_the_deadline(self):
        context = FakeContext(timeout=5)

        self.assertRaises(exceptions.TimedOut, context.sleep, 60)
        self.assertEqual((5.0, 0.0), (context.clock.monotonic(), context.remaining()))


class TestSuspension(base.TestCase):
    def test_time_stands_still_for_the_action(self):
        context = FakeContext(
            timeout=5,
            signals=[after_seconds(1, 'SUSPEND'), after_seconds(101, 'RESUME')],
        )
        times = []
        context.paused = times.append

        context.sleep(2)

        self.assertEqual([True, False], times)
        self.assertEqual(3.0, context.remaining())
        self.assertEqual(102.0, context.clock.monotonic())

    def test_the_next_signal_ends_a_suspension(self):
        context = FakeContext(
            signals=[at_checkpoint(1, 'SUSPEND'), at_checkpoint(2, 'CANCEL')]
        )
        received = []
        context.paused = received.append

        self.assertRaises(exceptions.Cancelled, context.checkpoint)
        self.assertEqual([True], received)
