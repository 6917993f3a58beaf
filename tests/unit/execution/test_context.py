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
        return ()

    def resume(self):
        self.made.append(False)
        return ()


class ContextCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ScriptedClock()
        self.pauses = Checkpoints()
        self.context = self.make_context()

    def make_context(self, started=True, **values):
        context = Context(
            factories.make_action(**values), 'a-plan', self.clock, self.pauses
        )
        if started:
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
    def test_a_context_has_the_properties_of_its_action_and_no_others(self):
        context = self.make_context(
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
        # The time is that of the worker.
        self.assertEqual(self.clock.now(), context.now())
        self.assertRaises(AttributeError, setattr, context, 'store', None)


class TestCheckpoint(ContextCase):
    def test_a_checkpoint_applies_the_signal_that_overrides_the_others(self):
        cancelled, timed_out = exceptions.Cancelled, exceptions.TimedOut
        for control, delivered, started, signal, error in (
            (None, '', True, None, None),
            (None, 'RESUME', True, 'RESUME', None),
            (None, 'CANCEL', True, 'CANCEL', cancelled),
            # A stored signal is applied as well.
            ('CANCEL', '', True, 'CANCEL', cancelled),
            (None, TIMEOUT, True, TIMEOUT, timed_out),
            (None, 'CANCEL SUSPEND', True, 'CANCEL', cancelled),
            (None, 'CANCEL RESUME', True, 'CANCEL', cancelled),
            (None, f'{TIMEOUT} CANCEL', True, TIMEOUT, timed_out),
            (None, f'CANCEL {TIMEOUT}', True, TIMEOUT, timed_out),
            # Before the start, a SUSPEND is deferred and a CANCEL is applied.
            ('SUSPEND', '', False, 'SUSPEND', None),
            (None, 'CANCEL', False, 'CANCEL', cancelled),
        ):
            with self.subTest(control=control, delivered=delivered, started=started):
                context = self.make_context(started, control=control)
                for word in delivered.split():
                    context.deliver(word)

                # It is raised each time.
                for _ in range(2):
                    if error is None:
                        context.checkpoint()
                    else:
                        self.assertRaises(error, context.checkpoint)
                self.assertEqual(([], signal), (self.pauses.made, context.signal))


class TestDeadline(ContextCase):
    def test_a_checkpoint_raises_at_the_deadline(self):
        self.context.set_deadline(10)
        self.clock.advance(4)
        self.assertEqual(
            (6, self.clock.now() + datetime.timedelta(seconds=6)),
            (self.context.remaining(), self.context.deadline),
        )
        self.clock.advance(5.9)
        self.context.checkpoint()
        self.clock.advance(0.1)
        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)
        # It overrides a CANCEL.
        self.context.deliver('CANCEL')
        self.clock.advance(1)
        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)
        self.assertEqual(0.0, self.context.remaining())

    def test_a_stopped_clock_returns_the_time_left_and_never_expires(self):
        self.context.set_deadline(10)
        self.clock.advance(4)

        self.assertEqual(6, self.context.stop_clock())
        self.clock.advance(100)
        self.context.checkpoint()
        self.assertEqual(
            (None, None), (self.context.deadline, self.context.remaining())
        )


class TestSleep(ContextCase):
    def test_a_sleep_ends_after_its_time_or_by_a_signal_or_the_deadline(self):
        cancelled, timed_out = exceptions.Cancelled, exceptions.TimedOut
        for seconds, before, deadline, during, error, waits, at in (
            (0, None, None, (), None, [], 0),
            (-1, None, None, (), None, [], 0),
            (5, None, None, [(4, None)], None, [5, 1], 5),
            (3600, None, None, [(0, 'CANCEL')], cancelled, [3600], 0),
            (3600, 'CANCEL', None, (), cancelled, [], 0),
            (3600, None, 3, (), timed_out, [3], 3),
        ):
            with self.subTest(seconds=seconds, before=before, during=during):
                self.clock = ScriptedClock()
                self.context = self.make_context(control=before)
                self.script(*during)
                if deadline:
                    self.context.set_deadline(deadline)
                if error is None:
                    self.context.sleep(seconds)
                else:
                    self.assertRaises(error, self.context.sleep, seconds)
                self.assertEqual(
                    (waits, at), (self.clock.waits, self.clock.monotonic())
                )

    def test_a_suspension_does_not_count_towards_a_sleep(self):
        self.script((4, 'SUSPEND'), (1000, 'RESUME'), (5.5, None))

        self.context.sleep(10)
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

    def test_a_suspension_is_durable_and_stops_the_timeout_until_the_resume(self):
        def resume():
            self.assertEqual(
                ([True], None, None),
                (self.pauses.made, self.context.deadline, self.context.remaining()),
            )
            self.clock.advance(3600)
            self.context.deliver('RESUME')

        self.context.set_deadline(10)
        self.clock.advance(4)
        self.suspend(resume)

        self.assertEqual(
            ([None], [], [True, False], 6),
            (
                self.clock.waits,
                list(self.clock.steps),
                self.pauses.made,
                self.context.remaining(),
            ),
        )
        self.assertEqual(
            self.clock.now() + datetime.timedelta(seconds=6), self.context.deadline
        )

    def test_a_cancel_or_a_lost_lease_ends_a_suspension_without_a_resume(self):
        for signal, error in (
            ('CANCEL', exceptions.Cancelled),
            (TIMEOUT, exceptions.TimedOut),
        ):
            self.pauses.made.clear()
            self.context = self.make_context()
            self.assertRaises(
                error, self.suspend, lambda word=signal: self.context.deliver(word)
            )
            self.assertEqual([True], self.pauses.made)

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
            # Immediately for an earlier signal.
            self.assertEqual(['RESUME'], received)
            self.context.deliver('CANCEL')
        self.context.deliver(TIMEOUT)

        self.assertEqual(['RESUME', 'CANCEL'], received)

    def test_all_listeners_are_called_and_an_exception_of_one_is_logged(self):
        received = []

        def refuse(signal):
            raise SystemExit(signal)

        with (
            self.context.on_signal(lambda signal: received.append(('a', signal))),
            self.context.on_signal(refuse),
            self.context.on_signal(lambda signal: received.append(('b', signal))),
        ):
            self.context.deliver('CANCEL')

        self.assertEqual([('a', 'CANCEL'), ('b', 'CANCEL')], received)
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
            def seconds_left(self):
                return left[0]

        context = Context(factories.make_action(), 'a-plan', self.clock, None, Lease())
        context.fence()
        context.checkpoint()

        left[0] = 0.0

        self.assertRaises(exceptions.LeaseLost, context.fence)
        self.assertRaises(exceptions.LeaseLost, context.checkpoint)
        self.assertRaises(exceptions.LeaseLost, context.sleep, 1)
