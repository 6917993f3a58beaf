"""What the runner makes of an action in each of its phases."""

import threading
from typing import Any

from tests import base
from tests.unit.execution.runner_case import RunnerCase
from tests.worlds import PATIENCE, kind, raises
from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT
from watcherlite.domain.outcomes import Derived, DerivedAction, Done, InProgress
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.runner import ASK_AGAIN, default_completion
from watcherlite.states import action as states
from watcherlite.testing.actions import DerivedEnd

X = DerivedAction('x', 'nop')


class SuspendedTest(RunnerCase):
    """What is concluded of an action that is SUSPENDED fits that status."""

    def conclude(self, returned: Any, signal: str) -> str:
        task = self.task()
        runner = self.runner(execute=lambda c: returned)
        task.action = runner.prepare(task).action
        assert task.context is not None

        def swallow(context: Any) -> Any:
            task.action = task.action.evolve(status=states.SUSPENDED)
            context.signal = signal
            return returned

        task.type = kind(execute=swallow)()
        return runner.perform(task).action.status

    def test_a_plugin_that_caught_what_ended_the_pause(self) -> None:
        self.assertEqual(
            [states.CANCELLED, states.CANCELLED, states.FAILED],
            [
                self.conclude(True, states.CANCEL),
                self.conclude(Derived((X,)), states.CANCEL),
                self.conclude(True, TIMEOUT),
            ],
        )


class PhaseTest(RunnerCase):
    """poll, complete, revert, is_applied."""

    def test_with_a_token_it_is_polled(self) -> None:
        task = self.task()
        runner = self.runner(
            execute=lambda c: InProgress({'n': 0}, 2.0),
            poll=lambda c, token: (
                Done(token) if token['n'] else InProgress({'n': 1}, 3.0)
            ),
        )
        task.action = runner.prepare(task).action
        delays = []
        for _ in range(3):
            done = runner.perform(task)
            delays.append(done.delay)
            task.action = done.action
        self.assertEqual([2.0, 3.0, 0.0], delays)
        self.assertEqual(
            (states.SUCCEEDED, {'n': 1}), (task.action.status, task.action.outputs)
        )

    def test_a_poll_heeds_signals_first(self) -> None:
        task = self.task()
        runner = self.runner(
            execute=lambda c: InProgress('job'), poll=raises(AssertionError)
        )
        task.action = runner.prepare(task).action
        task.action = runner.perform(task).action
        self.clock.advance(101)
        self.assertEqual(
            'Action failed in execute: it ran longer than its timeout',
            runner.perform(task).action.status_message,
        )

    def test_one_that_is_to_be_suspended_takes_no_thread_for_that(self) -> None:
        task = self.task(status=states.RUNNING, token='job')
        runner = self.runner(poll=self.calls.note('poll', Done()))
        self.assertIsNone(runner.adopt(task))
        assert task.context is not None
        task.context.deliver(states.SUSPEND)
        # Else it would stay here until a RESUME.
        self.patch(Context, 'checkpoint', raises(AssertionError))
        conclusion = runner.perform(task)
        self.assertEqual(
            (states.RUNNING, 'job', 0.0, []),
            (
                conclusion.action.status,
                conclusion.action.token,
                conclusion.delay,
                self.calls.made,
            ),
        )

    def test_one_that_is_to_be_suspended_before_it_begins_takes_none_either(
        self,
    ) -> None:
        task = self.task(timeout=30)
        runner = self.runner(
            execute=self.calls.note('execute', True), cancel=self.calls.note('cancel')
        )
        task.action = runner.prepare(task).action
        assert task.context is not None
        task.context.deliver(states.SUSPEND)
        # Else it would stay here until a RESUME.
        self.patch(Context, '_suspend', raises(AssertionError))
        task.action = runner.perform(task).action
        self.assertEqual((states.SUSPENDED, 30.0), (task.action.status, task.remaining))
        self.assertIsNone(task.context.remaining())
        self.assertEqual(
            'CANCELLED', runner.cancel(task, outcomes.Cancelled()).action.status
        )
        task.context.deliver(states.RESUME)
        task.action = task.action.evolve(status=states.RUNNING)
        self.assertEqual('SUCCEEDED', runner.perform(task).action.status)
        self.assertEqual([(task.action.name, 'execute')], self.calls.made)

    def test_complete_is_told_how_it_went_or_decides_by_default(self) -> None:
        self.derived = [DerivedEnd('x'), DerivedEnd('y', states.SKIPPED)]
        task = self.task(phase=COMPLETE)
        self.assertEqual(('SUCCEEDED', None), self.said(task))
        seen: list[Any] = []
        self.assertEqual(
            ('FAILED', 'Action failed in execute: I say so'),
            self.said(
                self.task(phase=COMPLETE),
                complete=lambda c, r: seen.extend(r) or ('ERROR', 'I say so'),
            ),
        )
        self.assertEqual(self.derived, seen)

    def test_a_store_that_is_away_is_asked_again_how_it_went(self) -> None:
        task = self.task(phase=COMPLETE)
        runner = self.runner()
        task.action = runner.prepare(task).action
        away = [
            exceptions.StoreUnavailable('no route'),
            exceptions.StoreConflict('a deadlock'),
        ]

        asked = threading.Semaphore(0)

        def ask(action: Any) -> Any:
            asked.release()
            if away:
                raise away.pop(0)
            return (DerivedEnd('x', states.SUCCEEDED, None),)

        runner._derived_results = ask
        ended: list[str] = []
        thread = threading.Thread(
            target=lambda: ended.append(runner.perform(task).action.status),
            daemon=True,
        )
        thread.start()
        for _ in range(2):
            self.assertTrue(asked.acquire(timeout=PATIENCE))
            self.clock.until_waiting()
            self.clock.advance(ASK_AGAIN)
        thread.join(PATIENCE)
        self.assertEqual([states.SUCCEEDED], ended)
        self.assertIn(
            'waits to hear how what it derived ended: no route', self.log.output
        )

    def test_who_waits_for_the_store_heeds_signals(self) -> None:
        task = self.task(phase=COMPLETE)
        runner = self.runner()
        task.action = runner.prepare(task).action

        def ask(action: Any) -> Any:
            assert task.context is not None
            task.context.deliver(states.CANCEL)
            raise exceptions.StoreUnavailable('no route')

        runner._derived_results = ask
        self.assertEqual(states.CANCELLED, runner.perform(task).action.status)

    def test_deriving_nothing_completes_at_once_and_only_once(self) -> None:
        self.assertEqual(('SUCCEEDED', None), self.said(execute=lambda c: Derived(())))
        self.assertEqual(
            ('FAILED', 'Action failed in execute: its Derived has no actions'),
            self.said(execute=lambda c: Derived(()), complete=lambda c, r: Derived(())),
        )

    def test_revert_is_handed_the_outputs_and_fails_in_revert(self) -> None:
        task = self.task(phase=REVERT, data={'outputs': {'id': 7}})
        seen: list[Any] = []
        note = self.calls.note('post_condition')
        self.assertEqual(
            ('SUCCEEDED', None),
            self.said(
                task,
                revert=lambda c: seen.append(c.outputs) or True,
                post_condition=note,
                execute=raises(AssertionError),
            ),
        )
        self.assertEqual([{'id': 7}], seen)
        for hook in (raises(OSError('x')), lambda c: ('ERROR', 'OSError')):
            self.assertEqual(
                ('FAILED', 'Action failed in revert: OSError'),
                self.said(self.task(phase=REVERT, data={}), revert=hook),
            )
        self.assertEqual([], self.calls.made)

    def test_an_effect_that_is_there_is_not_brought_about_again(self) -> None:
        done = self.run_task(
            self.task(phase=CHECK, outputs={'id': 7}),
            is_applied=lambda c: True,
            pre_condition=raises(AssertionError),
            execute=raises(AssertionError),
            post_condition=self.calls.note('post_condition'),
        )
        self.assertEqual(
            ('SUCCEEDED', {'id': 7}), (done.action.status, done.action.outputs)
        )
        self.assertEqual(1, len(self.calls.made))

    def test_one_that_is_not_is(self) -> None:
        self.run_task(
            self.task(phase=CHECK),
            is_applied=lambda c: False,
            pre_condition=self.calls.note('pre_condition'),
            execute=self.calls.note('execute', True),
        )
        self.assertEqual(['pre_condition', 'execute'], [h for _, h in self.calls.made])


class CancelTest(RunnerCase):
    """Stopping what goes on outside."""

    def cancel(self, outcome: outcomes.Outcome, **members: Any) -> tuple[str, Any]:
        task = self.task(status=states.RUNNING, token={'job': 1})
        runner = self.runner(**members)
        self.assertIsNone(runner.adopt(task))
        after = runner.cancel(task, outcome).action
        return after.status, after.status_message

    def test_the_plugin_is_handed_the_token(self) -> None:
        seen: list[Any] = []
        self.assertEqual(
            ('CANCELLED', 'Action was cancelled while it ran.'),
            self.cancel(
                outcomes.Cancelled(), cancel=lambda c, token: seen.append(token)
            ),
        )
        self.assertEqual([{'job': 1}], seen)

    def test_so_it_is_when_the_end_comes_together_with_a_poll(self) -> None:
        # Before the poll, in it, and with nothing outside
        for token, signal, poll, seen in (
            ({'job': 1}, states.CANCEL, self.calls.note('poll', True), [{'job': 1}]),
            ({'job': 1}, TIMEOUT, self.calls.note('poll', True), [{'job': 1}]),
            ({'job': 1}, None, raises(exceptions.Cancelled()), [{'job': 1}]),
            ({'job': 1}, None, raises(exceptions.TimedOut()), [{'job': 1}]),
            ({'job': 1}, None, raises(OSError('gone')), []),
            (None, states.CANCEL, None, []),
        ):
            stopped: list[Any] = []
            task = self.task(status=states.RUNNING, token=token)
            runner = self.runner(
                poll=poll,
                execute=lambda c: c.checkpoint(),
                cancel=lambda c, token, stopped=stopped: stopped.append(token),
            )
            self.assertIsNone(runner.adopt(task))
            if signal is not None:
                task.context.deliver(signal)  # type: ignore[union-attr]

            ended = runner.perform(task).action

            self.assertTrue(ended.finished)
            self.assertEqual(seen, stopped)
        self.assertEqual([], self.calls.made)

    def test_it_ends_whatever_the_plugin_does(self) -> None:
        for error in (OSError('x'), SystemExit(), KeyboardInterrupt()):
            self.assertEqual(
                ('FAILED', 'Action failed in execute: it ran longer than its timeout'),
                self.cancel(outcomes.TimedOut(), cancel=raises(error)),
            )


class AdoptTest(RunnerCase):
    """Going on with what another worker has left."""

    def adopt(self, **values: Any) -> float | None:
        task = self.task(timeout=60, token='job', **values)
        self.assertIsNone(self.runner().adopt(task))
        assert task.context is not None and task.executing
        return task.context.remaining()

    def test_its_time_goes_on_from_its_start(self) -> None:
        start = self.clock.now()
        self.clock.advance(20)
        self.assertEqual(40, self.adopt(status=states.RUNNING, start_time=start))
        self.clock.advance(200)
        self.assertEqual(0, self.adopt(status=states.RUNNING, start_time=start))

    def test_one_that_is_suspended_gets_its_whole_time_again(self) -> None:
        start = self.clock.now()
        self.clock.advance(200)
        self.assertEqual(60, self.adopt(status=states.SUSPENDED, start_time=start))

    def test_one_whose_plugin_cannot_be_made_fails(self) -> None:
        for made in (None, kind(__init__=raises(SystemExit()))):
            task = self.task(
                status=states.RUNNING,
                token='job',
                action_type='nothing' if made is None else 'kind',
            )
            failed = self.runner(made).adopt(task)
            assert failed is not None
            self.assertEqual(states.FAILED, failed.action.status)


class DefaultCompletionTest(base.TestCase):
    """How an action went by how what it derived went."""

    def test_every_way(self) -> None:
        done, skipped, failed, cancelled = (
            DerivedEnd(status.lower(), status, 'why')
            for status in ('SUCCEEDED', 'SKIPPED', 'FAILED', 'CANCELLED')
        )
        self.assertEqual(Done(), default_completion(()))
        self.assertEqual(Done(), default_completion((done, skipped)))
        self.assertEqual(
            outcomes.Cancelled('A derived action was cancelled.'),
            default_completion((done, cancelled)),
        )
        self.assertEqual(
            outcomes.Failed('derived actions failed: failed (why)'),
            default_completion((cancelled, failed, done)),
        )
