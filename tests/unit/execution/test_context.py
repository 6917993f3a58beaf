"""The object that a plugin is handed: signals, deadlines, sleeping, pauses."""

import datetime
import threading

from tests import base, factories
from watcherlite import exceptions
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.testing.clock import ManualClock

PATIENCE = 10


class Pauses:
    """What a context reports of its suspensions."""

    def __init__(self):
        self.made = []
        self._condition = threading.Condition()

    def suspend(self):
        self._add(True)

    def resume(self):
        self._add(False)

    def _add(self, suspended):
        with self._condition:
            self.made.append(suspended)
            self._condition.notify_all()

    def until(self, expected):
        with self._condition:
            if not self._condition.wait_for(lambda: self.made == expected, PATIENCE):
                raise AssertionError(f'{self.made} were made, not {expected}')


class ContextCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock()
        self.pauses = Pauses()
        self.context = self.a_context()

    def a_context(self, **values):
        context = Context(
            factories.make_action(**values), 'a-plan', self.clock, self.pauses
        )
        context.begin()
        return context

    def in_thread(self, call, *arguments):
        """Call something in a thread; return a function that waits for its end."""
        ended = []

        def run():
            try:
                ended.append(call(*arguments))
            except BaseException as error:
                ended.append(type(error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def result():
            thread.join(PATIENCE)
            return ended

        return result


class TestProperties(ContextCase):
    def test_it_shows_what_the_plugin_may_know(self):
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

    def test_it_has_the_time_of_the_worker(self):
        self.assertEqual(self.clock.now(), self.context.now())

    def test_it_holds_nothing_else(self):
        self.assertRaises(AttributeError, setattr, self.context, 'store', None)


class TestCheckpoint(ContextCase):
    def test_without_a_signal_it_does_nothing(self):
        self.assertIsNone(self.context.checkpoint())

    def test_a_cancel_is_raised_each_time(self):
        self.context.deliver('CANCEL')

        self.assertRaises(exceptions.Cancelled, self.context.checkpoint)
        self.assertRaises(exceptions.Cancelled, self.context.checkpoint)

    def test_a_signal_that_was_there_before_is_heeded(self):
        context = self.a_context(control='CANCEL')

        self.assertRaises(exceptions.Cancelled, context.checkpoint)

    def test_a_resume_without_a_suspend_is_nothing(self):
        self.context.deliver('RESUME')

        self.assertIsNone(self.context.checkpoint())
        self.assertEqual([], self.pauses.made)

    def test_a_timeout_that_is_told_is_raised(self):
        self.context.deliver(TIMEOUT)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)

    def test_a_cancel_is_not_taken_back(self):
        for later in ('SUSPEND', 'RESUME'):
            self.context.deliver('CANCEL')
            self.context.deliver(later)
            self.assertEqual('CANCEL', self.context.signal)

    def test_a_timeout_is_not_taken_back(self):
        self.context.deliver(TIMEOUT)
        self.context.deliver('CANCEL')

        self.assertEqual(TIMEOUT, self.context.signal)

    def test_a_timeout_outdoes_a_cancel(self):
        self.context.deliver('CANCEL')
        self.context.deliver(TIMEOUT)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)

    def test_before_the_start_a_suspend_is_left_for_later(self):
        context = Context(
            factories.make_action(control='SUSPEND'), None, self.clock, self.pauses
        )

        context.checkpoint()
        self.assertEqual(([], 'SUSPEND'), (self.pauses.made, context.signal))

    def test_before_the_start_a_cancel_is_heeded(self):
        context = Context(factories.make_action(), None, self.clock)
        context.deliver('CANCEL')

        self.assertRaises(exceptions.Cancelled, context.checkpoint)


class TestDeadline(ContextCase):
    def test_it_is_shown_as_a_time_and_as_what_is_left(self):
        self.context.set_deadline(10)
        self.clock.advance(4)

        self.assertEqual(6, self.context.remaining())
        self.assertEqual(
            self.clock.now() + datetime.timedelta(seconds=6), self.context.deadline
        )

    def test_what_is_left_is_never_less_than_nothing(self):
        self.context.set_deadline(10)
        self.clock.advance(11)

        self.assertEqual(0.0, self.context.remaining())

    def test_a_checkpoint_raises_when_it_has_come_and_not_before(self):
        self.context.set_deadline(10)
        self.clock.advance(9.9)
        self.context.checkpoint()
        self.clock.advance(0.1)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)

    def test_a_stopped_clock_tells_what_was_left_and_never_runs_out(self):
        self.context.set_deadline(10)
        self.clock.advance(4)

        self.assertEqual(6, self.context.stop_clock())
        self.clock.advance(100)
        self.context.checkpoint()
        self.assertEqual(
            (None, None), (self.context.deadline, self.context.remaining())
        )

    def test_a_deadline_outdoes_a_cancel(self):
        self.context.set_deadline(1)
        self.context.deliver('CANCEL')
        self.clock.advance(1)

        self.assertRaises(exceptions.TimedOut, self.context.checkpoint)


class TestSleep(ContextCase):
    def test_no_time_is_no_sleep(self):
        self.assertIsNone(self.context.sleep(0))
        self.assertIsNone(self.context.sleep(-1))

    def test_it_ends_when_its_time_is_over(self):
        result = self.in_thread(self.context.sleep, 5)
        self.clock.until_waiting()
        self.clock.advance(4)
        self.clock.until_waiting()
        self.clock.advance(1)

        self.assertEqual([None], result())

    def test_a_cancel_ends_it_at_once(self):
        result = self.in_thread(self.context.sleep, 3600)
        self.clock.until_waiting()
        self.context.deliver('CANCEL')

        self.assertEqual([exceptions.Cancelled], result())

    def test_a_cancel_that_is_there_already_lets_nobody_sleep(self):
        self.context.deliver('CANCEL')

        self.assertRaises(exceptions.Cancelled, self.context.sleep, 3600)

    def test_the_deadline_ends_it_before_its_time(self):
        self.context.set_deadline(3)
        result = self.in_thread(self.context.sleep, 3600)
        self.clock.until_waiting()
        self.clock.advance(3)

        self.assertEqual([exceptions.TimedOut], result())

    def test_a_suspension_does_not_use_it_up(self):
        result = self.in_thread(self.context.sleep, 10)
        self.clock.until_waiting()
        self.clock.advance(4)
        self.context.deliver('SUSPEND')
        self.pauses.until([True])
        self.clock.advance(1000)
        self.context.deliver('RESUME')
        self.pauses.until([True, False])
        self.clock.until_waiting()
        self.clock.advance(5.5)
        self.clock.until_waiting()
        self.clock.advance(0.5)

        self.assertEqual([None], result())


class TestSuspend(ContextCase):
    def suspended(self):
        """Return a function that waits for the end of a suspended checkpoint."""
        self.context.deliver('SUSPEND')
        result = self.in_thread(self.context.checkpoint)
        self.clock.until_waiting()
        return result

    def test_it_stays_until_the_resume_and_both_are_made_durable(self):
        result = self.suspended()
        self.assertEqual([True], self.pauses.made)
        self.context.deliver('RESUME')

        self.assertEqual([None], result())
        self.assertEqual([True, False], self.pauses.made)

    def test_a_cancel_ends_it_and_it_does_not_run_again(self):
        result = self.suspended()
        self.context.deliver('CANCEL')

        self.assertEqual([exceptions.Cancelled], result())
        self.assertEqual([True], self.pauses.made)

    def test_a_lost_lease_ends_it(self):
        result = self.suspended()
        self.context.deliver(TIMEOUT)

        self.assertEqual([exceptions.TimedOut], result())
        self.assertEqual([True], self.pauses.made)

    def test_time_does_not_count_while_it_lasts(self):
        self.context.set_deadline(10)
        self.clock.advance(4)
        result = self.suspended()
        self.assertEqual(
            (None, None), (self.context.deadline, self.context.remaining())
        )
        self.clock.advance(3600)
        self.context.deliver('RESUME')

        self.assertEqual([None], result())
        self.assertEqual(6, self.context.remaining())
        self.assertEqual(
            self.clock.now() + datetime.timedelta(seconds=6), self.context.deadline
        )

    def test_nobody_need_be_told(self):
        context = Context(factories.make_action(), None, self.clock)
        context.begin()
        context.deliver('SUSPEND')
        result = self.in_thread(context.checkpoint)
        self.clock.until_waiting()
        context.deliver('RESUME')

        self.assertEqual([None], result())


class TestListeners(ContextCase):
    def test_signals_are_told_while_somebody_listens(self):
        heard = []

        self.context.deliver('SUSPEND')
        self.context.deliver('RESUME')
        with self.context.on_signal(heard.append):
            self.context.deliver('CANCEL')
        self.context.deliver(TIMEOUT)

        self.assertEqual(['RESUME', 'CANCEL'], heard)

    def test_one_that_is_there_already_is_told_at_once(self):
        heard = []
        self.context.deliver('CANCEL')

        with self.context.on_signal(heard.append):
            self.assertEqual(['CANCEL'], heard)

    def test_all_listeners_are_told(self):
        heard = []

        with (
            self.context.on_signal(lambda signal: heard.append(('a', signal))),
            self.context.on_signal(lambda signal: heard.append(('b', signal))),
        ):
            self.context.deliver('CANCEL')

        self.assertEqual([('a', 'CANCEL'), ('b', 'CANCEL')], heard)

    def test_one_that_raises_anything_does_not_harm_who_delivers(self):
        heard = []

        def refuse(signal):
            raise SystemExit(signal)

        with self.context.on_signal(refuse), self.context.on_signal(heard.append):
            self.context.deliver('CANCEL')

        self.assertEqual(['CANCEL'], heard)
        self.assertIn(
            f'Action {self.context.uuid} does not want to hear CANCEL', self.log.output
        )

    def test_what_a_plugin_raises_ends_the_listening(self):
        heard = []

        def use():
            with self.context.on_signal(heard.append):
                raise ValueError

        self.assertRaises(ValueError, use)
        self.context.deliver('CANCEL')
        self.assertEqual([], heard)


class FenceTest(ContextCase):
    """No effect of a worker whose lease is over, however long its process stood."""

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
