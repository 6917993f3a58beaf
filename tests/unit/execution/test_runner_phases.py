"""The conclusions of the runner in each phase of an action."""

import datetime
from typing import Any

import fixtures

from tests import base
from tests.unit.execution.runner_case import RunnerCase, make_policy_plugin
from tests.worlds import kind, raises
from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT, RUN
from watcherlite.domain.outcomes import Derived, DerivedAction, Done, InProgress
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.coroutines.steps import OnLoop, steps_of_core
from watcherlite.execution.retries import UNAVAILABLE_DELAY
from watcherlite.execution.runner import default_completion
from watcherlite.states import action as states
from watcherlite.testing.actions import SimulatedResult

X = DerivedAction('x', 'nop')


class SuspendedTest(RunnerCase):
    """The conclusions for a SUSPENDED action are valid for this status."""

    def conclude(self, returned: Any, signal: str) -> str:
        attempt = self.attempt()
        runner = self.runner(execute=lambda c: returned)
        attempt.action = runner.prepare(attempt).action

        def swallow(context: Any) -> Any:
            attempt.action = attempt.action.evolve(status=states.SUSPENDED)
            context.signal = signal
            return returned

        attempt._plugin = kind(execute=swallow)()
        return runner.perform(attempt).action.status

    def test_a_plugin_that_catches_the_end_of_a_suspension_is_ended(self) -> None:
        self.assertEqual(
            [states.CANCELLED, states.CANCELLED, states.FAILED],
            [
                self.conclude(True, states.CANCEL),
                self.conclude(Derived((X,)), states.CANCEL),
                self.conclude(True, TIMEOUT),
            ],
        )


class PhaseTest(RunnerCase):
    """The phases of an action, and polls."""

    def test_an_action_with_a_token_is_polled(self) -> None:
        attempt = self.attempt()
        runner = self.runner(
            execute=lambda c: InProgress({'n': 0}, 2.0),
            poll=lambda c, token: (
                Done(token) if token['n'] else InProgress({'n': 1}, 3.0)
            ),
        )
        attempt.action = runner.prepare(attempt).action
        delays = []
        for _ in range(3):
            done = runner.perform(attempt)
            delays.append(done.delay)
            attempt.action = done.action
        self.assertEqual([2.0, 3.0, 0.0], delays)
        self.assertEqual(
            (states.SUCCEEDED, {'n': 1}),
            (attempt.action.status, attempt.action.outputs),
        )

    def test_a_skip_of_a_further_run_depends_on_the_phase(self) -> None:
        def skip(context: Any) -> Any:
            raise exceptions.ActionSkipException('it is there')

        def ends(phase: str, **members: Any) -> tuple[str, str | None]:
            attempt = self.attempt(phase=phase, start_time=self.clock.now())
            execute = raises(AssertionError)
            runner = self.runner(execute=execute, pre_condition=skip, **members)
            attempt.action = runner.prepare(attempt).action
            if attempt.action.status == states.RUNNING:
                attempt.action = runner.perform(attempt).action
            return attempt.action.status, attempt.action.status_message

        late = 'its further run was skipped: it is there'
        self.assertEqual(
            [
                (states.SUCCEEDED, f'Action had started before, and {late}'),
                (states.FAILED, 'Action failed in post_condition: not like that'),
                (
                    states.FAILED,
                    'Action failed in pre_condition: it had started before its '
                    f'worker was lost, its effect is not there, and {late}',
                ),
            ],
            [
                ends(RUN),
                ends(
                    RUN,
                    post_condition=raises(exceptions.WatcherliteError('not like that')),
                ),
                ends(CHECK),
            ],
        )

    def test_the_timeout_covers_all_tries(self) -> None:
        attempt = self.attempt(timeout=10)
        seen: list[tuple[float | None, float]] = []
        runner = self.runner(
            execute=lambda c: (
                seen.append((c.remaining(), self.clock.advance(4.0) or 0.0))
                or outcomes.Retry('busy', 3.0)
            )
        )
        for _ in range(2):
            attempt.action = runner.prepare(attempt).action
            # The wait for a thread counts for later attempts only.
            self.clock.advance(1.0)
            attempt.action = runner.perform(attempt).action
            wait = (attempt.action.not_before - self.clock.now()).total_seconds()
            seen.append((None, wait))
            self.clock.advance(wait)
            taken = attempt.action.evolve(owner='w', attempt=attempt.action.attempt + 1)
            attempt = runner.make_attempt(taken, None)
        self.assertEqual(
            [(10.0, 0.0), (None, 3.0), (2.0, 0.0), (None, 0.0)],
            [(left, max(0.0, wait)) for left, wait in seen],
        )
        over = runner.prepare(attempt).action
        self.assertEqual(
            (
                states.FAILED,
                'Action failed in execute: it ran longer than its timeout, which '
                'covers all tries; it had 2, and the last one reported: '
                'busy',
                None,
            ),
            (over.status, over.status_message, over.deadline),
        )

    def test_a_retry_before_the_start_counts_towards_the_timeout(self) -> None:
        attempt = self.attempt(timeout=10)
        runner = self.runner(pre_condition=lambda c: outcomes.Retry('not yet', 60.0))
        self.assertEqual(
            self.clock.now() + datetime.timedelta(seconds=10),
            runner.prepare(attempt).action.not_before,
        )

    def test_a_worker_without_a_lease_runs_no_policies_and_cancels_nothing(
        self,
    ) -> None:
        calls: list[Any] = []

        def lose_lease(context: Any) -> Any:
            self.lease = 0.0
            context.fence()

        self.policies = [
            make_policy_plugin(
                pre_op=lambda context, data: calls.append('asked'),
                post_op=lambda context, data: calls.append(context.result),
            )
        ]
        runner = self.runner(execute=lose_lease, cancel=self.calls.record('cancel'))
        attempt = self.attempt()
        attempt.action = runner.prepare(attempt).action
        runner.perform(attempt)
        attempt.action = attempt.action.evolve(token='job')
        runner.cancel(attempt, outcomes.Cancelled())
        self.lease = 1.0
        self.prepare(pre_condition=lose_lease)
        self.assertEqual((['asked', 'asked'], []), (calls, self.calls.made))

    def test_signals_are_applied_before_a_poll(self) -> None:
        attempt = self.attempt()
        runner = self.runner(
            execute=lambda c: InProgress('job'), poll=raises(AssertionError)
        )
        attempt.action = runner.prepare(attempt).action
        attempt.action = runner.perform(attempt).action
        self.clock.advance(101)
        self.assertEqual(
            'Action failed in execute: it ran longer than its timeout',
            runner.perform(attempt).action.status_message,
        )

    def test_a_suspend_of_an_action_in_progress_takes_no_thread(self) -> None:
        attempt = self.attempt(status=states.RUNNING, token='job')
        runner = self.runner(poll=self.calls.record('poll', Done()))
        self.assertIsNone(runner.adopt(attempt))
        attempt.context.deliver(states.SUSPEND)
        # Otherwise it would wait for a RESUME.
        self.patch(Context, 'checkpoint', raises(AssertionError))
        conclusion = runner.perform(attempt)
        self.assertEqual(
            (states.RUNNING, 'job', 0.0, []),
            (
                conclusion.action.status,
                conclusion.action.token,
                conclusion.delay,
                self.calls.made,
            ),
        )

    def test_a_suspend_before_the_execution_takes_no_thread(self) -> None:
        attempt = self.attempt(timeout=30)
        runner = self.runner(
            execute=self.calls.record('execute', True),
            cancel=self.calls.record('cancel'),
        )
        attempt.action = runner.prepare(attempt).action
        attempt.context.deliver(states.SUSPEND)
        # Otherwise it would wait for a RESUME.
        self.patch(Context, '_suspend', raises(AssertionError))
        attempt.action = runner.perform(attempt).action
        self.assertEqual(
            (states.SUSPENDED, 30.0), (attempt.action.status, attempt.remaining)
        )
        self.assertIsNone(attempt.context.remaining())
        self.assertEqual(
            'CANCELLED', runner.cancel(attempt, outcomes.Cancelled()).action.status
        )
        attempt.context.deliver(states.RESUME)
        attempt.action = attempt.action.evolve(status=states.RUNNING)
        self.assertEqual('SUCCEEDED', runner.perform(attempt).action.status)
        self.assertEqual([(attempt.action.name, 'execute')], self.calls.made)

    def test_complete_receives_the_results_and_has_a_default(self) -> None:
        self.derived = [SimulatedResult('x'), SimulatedResult('y', states.SKIPPED)]
        attempt = self.attempt(phase=COMPLETE)
        self.assertEqual(('SUCCEEDED', None), self.result_of(attempt))
        seen: list[Any] = []
        self.assertEqual(
            ('FAILED', 'Action failed in execute: I say so'),
            self.result_of(
                self.attempt(phase=COMPLETE),
                complete=lambda c, r: seen.extend(r) or ('ERROR', 'I say so'),
            ),
        )
        self.assertEqual(self.derived, seen)

    def test_an_unavailable_store_is_read_again_for_the_derived_actions(self) -> None:
        attempt = self.attempt(phase=COMPLETE)
        runner = self.runner()
        attempt.action = runner.prepare(attempt).action
        away = [
            exceptions.StoreUnavailable('no route'),
            exceptions.StoreConflict('a deadlock'),
        ]

        def load_results(action: Any) -> Any:
            if away:
                raise away.pop(0)
            return (SimulatedResult('x', states.SUCCEEDED, None),)

        runner.core._load_results = load_results
        self.assertEqual(states.SUCCEEDED, runner.perform(attempt).action.status)
        self.assertEqual([UNAVAILABLE_DELAY], self.clock.waits)
        self.assertIn('the database is unavailable, retrying in 2 s', self.log.output)

    def cancelled_during(self, error: Exception) -> str:
        """Return the end of an action that is cancelled while the store fails once."""
        attempt = self.attempt(phase=COMPLETE)
        runner = self.runner()
        attempt.action = runner.prepare(attempt).action
        errors = [error]

        def load_results(action: Any) -> Any:
            attempt.context.deliver(states.CANCEL)
            if errors:
                raise errors.pop()
            return ()

        runner.core._load_results = load_results
        return runner.perform(attempt).action.status

    def test_signals_are_applied_while_the_store_is_unavailable_or_busy(self) -> None:
        for error in exceptions.StoreUnavailable, exceptions.StoreConflict:
            self.assertEqual(states.CANCELLED, self.cancelled_during(error('away')))

    def test_an_empty_derived_outcome_completes_at_once(self) -> None:
        self.assertEqual(
            ('SUCCEEDED', None), self.result_of(execute=lambda c: Derived(()))
        )
        self.assertEqual(
            ('FAILED', 'Action failed in execute: its Derived has no actions'),
            self.result_of(
                execute=lambda c: Derived(()), complete=lambda c, r: Derived(())
            ),
        )

    def test_revert_receives_the_outputs_and_fails_in_its_own_step(self) -> None:
        attempt = self.attempt(phase=REVERT, data={'outputs': {'id': 7}})
        seen: list[Any] = []
        note = self.calls.record('post_condition')
        self.assertEqual(
            ('SUCCEEDED', None),
            self.result_of(
                attempt,
                revert=lambda c: seen.append(c.outputs) or True,
                post_condition=note,
                execute=raises(AssertionError),
            ),
        )
        self.assertEqual([{'id': 7}], seen)
        for hook in (raises(OSError('x')), lambda c: ('ERROR', 'OSError')):
            self.assertEqual(
                ('FAILED', 'Action failed in revert: OSError'),
                self.result_of(self.attempt(phase=REVERT, data={}), revert=hook),
            )
        self.assertEqual([], self.calls.made)

    def test_an_applied_action_does_not_execute_again(self) -> None:
        done = self.run_task(
            self.attempt(phase=CHECK, outputs={'id': 7}),
            is_applied=lambda c: True,
            pre_condition=raises(AssertionError),
            execute=raises(AssertionError),
            post_condition=self.calls.record('post_condition'),
        )
        self.assertEqual(
            ('SUCCEEDED', {'id': 7}), (done.action.status, done.action.outputs)
        )
        self.assertEqual(1, len(self.calls.made))

    def test_an_action_that_is_not_applied_executes(self) -> None:
        self.run_task(
            self.attempt(phase=CHECK),
            is_applied=lambda c: False,
            pre_condition=self.calls.record('pre_condition'),
            execute=self.calls.record('execute', True),
        )
        self.assertEqual(['pre_condition', 'execute'], [h for _, h in self.calls.made])


class CancelTest(RunnerCase):
    """The cancellation of external work."""

    def cancel(self, outcome: outcomes.Outcome, **members: Any) -> tuple[str, Any]:
        attempt = self.attempt(status=states.RUNNING, token={'job': 1})
        runner = self.runner(**members)
        self.assertIsNone(runner.adopt(attempt))
        after = runner.cancel(attempt, outcome).action
        return after.status, after.status_message

    def test_cancel_receives_the_token(self) -> None:
        seen: list[Any] = []
        self.assertEqual(
            ('CANCELLED', 'Action was cancelled while it ran.'),
            self.cancel(
                outcomes.Cancelled(), cancel=lambda c, token: seen.append(token)
            ),
        )
        self.assertEqual([{'job': 1}], seen)

    def test_cancel_receives_the_token_after_a_poll_that_raises(self) -> None:
        # Before the poll, during it, and without external work.
        for token, signal, poll, seen in (
            ({'job': 1}, states.CANCEL, self.calls.record('poll', True), [{'job': 1}]),
            ({'job': 1}, TIMEOUT, self.calls.record('poll', True), [{'job': 1}]),
            ({'job': 1}, None, raises(exceptions.Cancelled()), [{'job': 1}]),
            ({'job': 1}, None, raises(exceptions.TimedOut()), [{'job': 1}]),
            ({'job': 1}, None, raises(OSError('gone')), []),
            (None, states.CANCEL, None, []),
        ):
            stopped: list[Any] = []
            attempt = self.attempt(status=states.RUNNING, token=token)
            runner = self.runner(
                poll=poll,
                execute=lambda c: c.checkpoint(),
                cancel=lambda c, token, stopped=stopped: stopped.append(token),
            )
            self.assertIsNone(runner.adopt(attempt))
            if signal is not None:
                attempt.context.deliver(signal)

            ended = runner.perform(attempt).action

            self.assertTrue(ended.finished)
            self.assertEqual(seen, stopped)
        self.assertEqual([], self.calls.made)

    def test_a_failed_cancel_ends_the_action(self) -> None:
        for error in (OSError('x'), SystemExit(), KeyboardInterrupt()):
            self.assertEqual(
                ('FAILED', 'Action failed in execute: it ran longer than its timeout'),
                self.cancel(outcomes.TimedOut(), cancel=raises(error)),
            )


class AdoptTest(RunnerCase):
    """The adoption of actions of lost workers."""

    def adopt(self, **values: Any) -> float | None:
        attempt = self.attempt(timeout=60, token='job', **values)
        self.assertIsNone(self.runner().adopt(attempt))
        assert attempt.executing
        return attempt.context.remaining()

    def test_the_timeout_continues_after_an_adoption_unless_suspended(self) -> None:
        start = self.clock.now()
        self.clock.advance(20)
        self.assertEqual(40, self.adopt(status=states.RUNNING, start_time=start))
        self.clock.advance(200)
        self.assertEqual(0, self.adopt(status=states.RUNNING, start_time=start))
        self.assertEqual(60, self.adopt(status=states.SUSPENDED, start_time=start))

    def test_an_adopted_action_without_its_plugin_fails(self) -> None:
        for made in (None, kind(__init__=raises(SystemExit()))):
            attempt = self.attempt(
                status=states.RUNNING,
                token='job',
                action_type='nothing' if made is None else 'kind',
            )
            failed = self.runner(made).adopt(attempt)
            assert failed is not None
            self.assertEqual(states.FAILED, failed.action.status)


class DefaultCompletionTest(base.TestCase):
    """The end of an action, by the ends of its derived actions."""

    def test_the_default_completion_follows_the_derived_actions(self) -> None:
        done, skipped, failed, cancelled = (
            SimulatedResult(status.lower(), status, 'why')
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


class DroppedStepsTest(RunnerCase):
    """Steps that are closed while they await a coroutine or the wide pool."""

    def test_closed_steps_do_nothing_else_and_log_nothing(self) -> None:
        log = self.useFixture(fixtures.FakeLogger('watcherlite'))

        async def waits(context: Any, *arguments: Any) -> bool:
            return True

        @steps_of_core
        async def awaits(context: Any, *arguments: Any) -> Any:
            return await OnLoop(waits)

        def fails(context: Any, *arguments: Any) -> bool:
            raise AssertionError('it is not the attempt that may call it')

        for hook, blocking in ((waits, False), (awaits, False), (fails, True)):
            runner = self.runner(
                pre_condition=hook,
                poll=hook,
                post_condition=hook,
                cancel=fails,
                blocking=blocking,
            )
            attempt = self.attempt()
            steps = runner.core.prepare(attempt)
            steps.send(None)
            steps.close()
            self.assertTrue(attempt.is_dropped)
            for settled in (0,) if blocking else (0, 1):
                attempt = self.attempt(status=states.RUNNING, token={'job': 1})
                attempt.executing = True
                steps = runner.core.perform(attempt)
                steps.send(None)
                for _ in range(settled):
                    steps.send((True, None))
                attempt.context.deliver(states.CANCEL)
                steps.close()
                self.assertTrue(attempt.is_dropped)
        self.assertEqual('', log.output)
