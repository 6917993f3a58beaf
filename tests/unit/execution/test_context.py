"""The context of a plugin: signals, deadlines, sleep, suspension."""

import datetime

from tests import base, factories
from tests.clocks import ScriptedClock
from watcherlite import exceptions
from watcherlite.execution.context import TIMEOUT, Context


class Checkpoints:
    """Records the suspensions that a context makes durable.

    :ivar made: True for a suspension, False for its end
    """

    def __init__(self):
        self.made = []

    def suspend(self):
        self.made.append(True)

    def resume(self):
        self.made.append(False)


class ContextCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ScriptedClock()
        self.pauses = Checkpoints()
        self.context = self.a_context()

    def a_context(self, **values):
        context = Context(
            factories.make_action(**values), 'a-plan', self.clock, self.pauses
        )
        context.mark_started()
        return context

    def script(self, *steps):
        """Set what happens during the next waits: (seconds, signal or None)."""

        def step(seconds, signal):
            self.clock.advance(seconds)
            if signal is not None:
                self.context.deliver(signal)

        for seconds, signal in steps:
            self.clock.steps.append(lambda s=seconds, g=signal: step(s, g))


class TestProperties(ContextCase):
    def test_a_context_has_the_properties_of_its_action(self):
        context = self.a_context(
            uuid='u',
            name='n',
            target='t',
            attempt=3,
            inputs={'a': 1},
            data={'b': 2},
            outputs={'c': 3},
        )

        self.assertEqual(
            ('u', 'n', 'a-plan', 't', 3, {'a': 1}, {'b': 2}, {'c': 3}, None, None),
            (
                context.uuid,
                context.name,
                context.plan_uuid,
                context.target,
                context.attempt,
                context.inputs,
                context.data,
                context.outputs,
                context.deadline,
                context.remaining(),
            ),
        )

    def test_a_context_has_the_time_of_the_worker(self):
        self.assertEqual(self.clock.now(), self.context.now())

    def test_a_context_has_no_other_attributes(self):
        self.assertRaises(AttributeError, setattr, self.context, 'store', None)


class TestCheckpoint(ContextCase):
    def test_a_checkpoint_without_a_signal_does_nothing(self):
        self.assertIsNone(self.context.checkpoint())

    def test_a_cancel_is_raised_each_time(self):
        self.context.deliver('CANCEL')

        self.assertRaises(exceptions.Cancelled, self.context.checkpoint)
        self.assertRaises(exceptions.Cancelled, self.context.checkpoint)

    def test_a_stored_signal_is_applied(self):
        context = self.a_context(control='CANCEL')

        self.assertRaises(exceptions.Cancelled, context.checkpoint)

    def test_a_resume_without_a_suspend_is_ignored(self):
        self.context.deliver('RESUME')

        self.assertIsNone(self.context.checkpoint())
        self.assertEqual([], self.pauses.made)

    def test_a_delivered_timeout_is_raised(self):
        self.context.deliver(TIMEOUT)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)

    def test_a_cancel_is_not_revoked(self):
        for later in ('SUSPEND', 'RESUME'):
            self.context.deliver('CANCEL')
            self.context.deliver(later)
            self.assertEqual('CANCEL', self.context.signal)

    def test_a_timeout_is_not_revoked(self):
        self.context.deliver(TIMEOUT)
        self.context.deliver('CANCEL')

        self.assertEqual(TIMEOUT, self.context.signal)

    def test_a_timeout_overrides_a_cancel(self):
        self.context.deliver('CANCEL')
        self.context.deliver(TIMEOUT)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)

    def test_a_suspend_before_the_start_is_deferred(self):
        context = Context(
            factories.make_action(control='SUSPEND'), None, self.clock, self.pauses
        )

        context.checkpoint()
        self.assertEqual(([], 'SUSPEND'), (self.pauses.made, context.signal))

    def test_a_cancel_before_the_start_is_applied(self):
        context = Context(factories.make_action(), None, self.clock)
        context.deliver('CANCEL')

        self.assertRaises(exceptions.Cancelled, context.checkpoint)


class TestDeadline(ContextCase):
    def test_a_deadline_is_a_time_and_the_seconds_left(self):
        self.context.set_deadline(10)
        self.clock.advance(4)

        self.assertEqual(6, self.context.remaining())
        self.assertEqual(
            self.clock.now() + datetime.timedelta(seconds=6), self.context.deadline
        )

    def test_the_seconds_left_are_never_negative(self):
        self.context.set_deadline(10)
        self.clock.advance(11)

        self.assertEqual(0.0, self.context.remaining())

    def test_a_checkpoint_raises_at_the_deadline(self):
        self.context.set_deadline(10)
        self.clock.advance(9.9)
        self.context.checkpoint()
        self.clock.advance(0.1)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)

    def test_a_stopped_clock_returns_the_time_left_and_never_expires(self):
        self.context.set_deadline(10)
        self.clock.advance(4)

        self.assertEqual(6, self.context.stop_clock())
        self.clock.advance(100)
        self.context.checkpoint()
        self.assertEqual(
            (None, None), (self.context.deadline, self.context.remaining())
        )

    def test_a_deadline_overrides_a_cancel(self):
        self.context.set_deadline(1)
        self.context.deliver('CANCEL')
        self.clock.advance(1)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)


class TestSleep(ContextCase):
    def test_a_sleep_without_time_returns_at_once(self):
        self.assertIsNone(self.context.sleep(0))
        self.assertIsNone(self.context.sleep(-1))

    def test_a_sleep_ends_after_its_time(self):
        self.script((4, None))

        self.assertIsNone(self.context.sleep(5))
        self.assertEqual(([5, 1], 5), (self.clock.waits, self.clock.monotonic()))

    def test_a_cancel_ends_a_sleep_at_once(self):
        self.script((0, 'CANCEL'))

        self.assertRaises(exceptions.Cancelled, self.context.sleep, 3600)
        self.assertEqual(0, self.clock.monotonic())

    def test_a_cancel_before_a_sleep_prevents_it(self):
        self.context.deliver('CANCEL')

        self.assertRaises(exceptions.Cancelled, self.context.sleep, 3600)
        self.assertEqual([], self.clock.waits)

    def test_the_deadline_ends_a_sleep(self):
        self.context.set_deadline(3)

        self.assertRaises(exceptions.TimedOut, self.context.sleep, 3600)
        self.assertEqual(([3], 3), (self.clock.waits, self.clock.monotonic()))

    def test_a_suspension_does_not_count_towards_a_sleep(self):
        self.script((4, 'SUSPEND'), (1000, 'RESUME'), (5.5, None))

        self.assertIsNone(self.context.sleep(10))
        self.assertEqual(
            ([10, None, 6, 0.5], 1010, [True, False]),
            (self.clock.waits, self.clock.monotonic(), self.pauses.made),
        )


class TestSuspend(ContextCase):
    def suspend(self, during):
        """Suspend the action in a checkpoint, during which a function is called."""
        self.context.deliver('SUSPEND')
        self.clock.steps.append(during)
        self.context.checkpoint()

    def test_a_suspension_lasts_until_the_resume_and_both_are_durable(self):
        def resume():
            self.assertEqual([True], self.pauses.made)
            self.context.deliver('RESUME')

        self.suspend(resume)

        self.assertEqual(([None], []), (self.clock.waits, list(self.clock.steps)))
        self.assertEqual([True, False], self.pauses.made)

    def test_a_cancel_ends_a_suspension_and_the_action_does_not_resume(self):
        self.assertRaises(
            exceptions.Cancelled, self.suspend, lambda: self.context.deliver('CANCEL')
        )
        self.assertEqual([True], self.pauses.made)

    def test_a_lost_lease_ends_a_suspension(self):
        self.assertRaises(
            exceptions.TimedOut, self.suspend, lambda: self.context.deliver(TIMEOUT)
        )
        self.assertEqual([True], self.pauses.made)

    def test_the_timeout_stops_during_a_suspension(self):
        def resume():
            self.assertEqual(
                (None, None), (self.context.deadline, self.context.remaining())
            )
            self.clock.advance(3600)
            self.context.deliver('RESUME')

        self.context.set_deadline(10)
        self.clock.advance(4)
        self.suspend(resume)

        self.assertEqual(6, self.context.remaining())
        self.assertEqual(
            self.clock.now() + datetime.timedelta(seconds=6), self.context.deadline
        )

    def test_a_context_without_checkpoints_suspends_as_well(self):
        context = Context(factories.make_action(), None, self.clock)
        context.mark_started()
        context.deliver('SUSPEND')
        self.clock.steps.append(lambda: context.deliver('RESUME'))

        self.assertIsNone(context.checkpoint())
        self.assertEqual([None], self.clock.waits)


class TestListeners(ContextCase):
    def test_a_listener_is_called_for_each_signal_until_it_leaves(self):
        received = []

        self.context.deliver('SUSPEND')
        self.context.deliver('RESUME')
        with self.context.on_signal(received.append):
            self.context.deliver('CANCEL')
        self.context.deliver(TIMEOUT)

        self.assertEqual(['RESUME', 'CANCEL'], received)

    def test_a_listener_is_called_at_once_for_an_earlier_signal(self):
        received = []
        self.context.deliver('CANCEL')

        with self.context.on_signal(received.append):
            self.assertEqual(['CANCEL'], received)

    def test_all_listeners_are_called(self):
        received = []

        with (
            self.context.on_signal(lambda signal: received.append(('a', signal))),
            self.context.on_signal(lambda signal: received.append(('b', signal))),
        ):
            self.context.deliver('CANCEL')

        self.assertEqual([('a', 'CANCEL'), ('b', 'CANCEL')], received)

    def test_an_exception_of_a_listener_is_logged(self):
        received = []

        def refuse(signal):
            raise SystemExit(signal)

        with self.context.on_signal(refuse), self.context.on_signal(received.append):
            self.context.deliver('CANCEL')

        self.assertEqual(['CANCEL'], received)
        self.assertIn(
            f'Action {self.context.uuid}: its listener of signals failed for CANCEL',
            self.log.output,
        )

    def test_an_exception_of_the_plugin_removes_its_listener(self):
        received = []

        def use():
            with self.context.on_signal(received.append):
                raise ValueError

        self.assertRaises(ValueError, use)
        self.context.deliver('CANCEL')
        self.assertEqual([], received)


class FenceTest(ContextCase):
    """A worker has no effect after its lease, also if its process was stopped."""

    def test_the_lease_is_checked_at_each_fence_and_checkpoint(self):
        left = [1.0]

        class Lease:
            def left(self):
                return left[0]

        context = Context(factories.make_action(), 'a-plan', self.clock, None, Lease())
        context.fence()
        context.checkpoint()

        left[0] = 0.0

        self.assertRaises(exceptions.LeaseLost, context.fence)
        self.assertRaises(exceptions.LeaseLost, context.checkpoint)
        self.assertRaises(exceptions.LeaseLost, context.sleep, 1)
