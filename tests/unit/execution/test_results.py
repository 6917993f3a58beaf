"""The results of actions: from the outcome of a step to the row."""

from typing import Any

from tests import base
from tests.factories import NOW, at, make_action
from watcherlite.clock import EPOCH
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT, RUN, Action
from watcherlite.execution import results
from watcherlite.execution.results import (
    EXECUTE,
    POST_CONDITION,
    PRE_CONDITION,
    REVERT_STEP,
)
from watcherlite.states import action as states

FAULT = outcomes.Fault('OSError', 'OSError', 'a_plugin', 'execute')
CHILD = outcomes.DerivedAction('x', 'nop')


def make_claimed_action(**values: Any) -> Action:
    """Return a claimed action."""
    return make_action(
        **{'id': 1, 'status': states.READY, 'owner': 'w', 'attempt': 1, **values}
    )


def make_running_action(**values: Any) -> Action:
    """Return a running action."""
    return make_claimed_action(
        **{'status': states.RUNNING, 'start_time': NOW, **values}
    )


class TableTest(base.TestCase):
    """Every outcome at every step."""

    def result_of(self, outcome: outcomes.Outcome, step: str) -> tuple[str, str | None]:
        action = (
            make_claimed_action() if step == PRE_CONDITION else make_running_action()
        )
        after = results.conclude(action, outcome, step, at(5)).action
        self.assertEqual(at(5), after.updated_at)
        if after.status in states.FINAL:
            self.assertEqual(
                (None, None, at(5)), (after.owner, after.token, after.end_time)
            )
        self.assertTrue(
            after.status == action.status
            or states.MACHINE.allows(action.status, after.status)
        )
        return after.status, after.status_message

    def test_every_outcome_has_the_status_of_the_table(self) -> None:
        known = outcomes.Outcome.__args__  # type: ignore[attr-defined]
        self.assertEqual(set(known), set(results.STATUS))
        for outcome in (
            outcomes.Done(),
            outcomes.Failed('no disk'),
            outcomes.TimedOut(),
            outcomes.Cancelled(),
            outcomes.Skipped('gone'),
            outcomes.Retry('busy'),
            outcomes.Derived((outcomes.DerivedAction('x', 'nop'),)),
            outcomes.InProgress('job'),
        ):
            status, reason = results.STATUS[type(outcome)]
            skips = isinstance(outcome, outcomes.Skipped)
            step = PRE_CONDITION if skips else EXECUTE
            self.assertEqual(status, self.result_of(outcome, step)[0])
            self.assertGreater(len(reason), 0)

    def test_outcomes_before_the_start(self) -> None:
        self.assertEqual(
            [
                ('SKIPPED', 'Action was skipped automatically: gone'),
                ('FAILED', 'Action failed in pre_condition: no disk'),
                (
                    'FAILED',
                    'Action failed in pre_condition: it ran longer than its timeout',
                ),
                ('CANCELLED', 'Action was cancelled before it started.'),
                ('READY', 'busy'),
            ],
            [
                self.result_of(outcome, PRE_CONDITION)
                for outcome in (
                    outcomes.Skipped('gone'),
                    outcomes.Failed('no disk'),
                    outcomes.TimedOut(),
                    outcomes.Cancelled(),
                    outcomes.Retry('busy'),
                )
            ],
        )

    def test_outcomes_after_the_start(self) -> None:
        for step in (EXECUTE, POST_CONDITION, REVERT_STEP):
            prefix = f'Action failed in {step}: '
            self.assertEqual(
                [
                    ('SUCCEEDED', None),
                    ('FAILED', f'{prefix}no disk'),
                    ('FAILED', f'{prefix}it ran longer than its timeout'),
                    ('FAILED', f'{prefix}slow disk'),
                    ('CANCELLED', 'Action was cancelled while it ran.'),
                    ('CANCELLED', 'by itself'),
                    (
                        'FAILED',
                        f'{prefix}{step} returned Skipped (gone), which only '
                        'pre_condition may',
                    ),
                    ('READY', 'busy'),
                    ('READY', None),
                    ('WAITING', None),
                    ('RUNNING', None),
                ],
                [
                    self.result_of(outcome, step)
                    for outcome in (
                        outcomes.Done(),
                        outcomes.Failed('no disk'),
                        outcomes.TimedOut(),
                        outcomes.TimedOut('slow disk'),
                        outcomes.Cancelled(),
                        outcomes.Cancelled('by itself'),
                        outcomes.Skipped('gone'),
                        outcomes.Retry('busy'),
                        outcomes.Retry(''),
                        outcomes.Derived((CHILD,)),
                        outcomes.InProgress('job'),
                    )
                ],
            )

    def test_a_skip_after_the_start_is_a_failure_unless_the_run_has_ended(self) -> None:
        outcome = outcomes.Skipped('gone')
        for action, becomes in (
            (make_claimed_action(), (states.SKIPPED, None)),
            (make_claimed_action(phase=CHECK, start_time=NOW), (states.FAILED, None)),
            (make_claimed_action(start_time=NOW), (states.FAILED, None)),
            (
                make_claimed_action(start_time=NOW, end_time=NOW, interval=9),
                (states.READY, at(14)),
            ),
        ):
            after = results.conclude(action, outcome, PRE_CONDITION, at(5)).action
            later = after.not_before if after.not_before != EPOCH else None
            self.assertEqual(becomes, (after.status, later))

    def test_a_cancel_between_two_tries_or_for_derived_actions_is_after_a_start(
        self,
    ) -> None:
        waits = make_claimed_action(phase=COMPLETE, start_time=NOW)
        for action, text in (
            (waits, results.CANCELLED_RUNNING),
            (
                make_claimed_action(start_time=NOW),
                'Action was cancelled after it had started.',
            ),
            (make_claimed_action(), 'stopped'),
        ):
            after = results.conclude_unstarted(action, 'stopped', at(5))
            self.assertEqual(('CANCELLED', text), (after.status, after.status_message))
        after = results.conclude(waits, outcomes.Cancelled(), PRE_CONDITION, NOW).action
        self.assertEqual(
            ('CANCELLED', results.CANCELLED_RUNNING),
            (after.status, after.status_message),
        )

    def test_a_long_reason_is_cut_to_the_length_of_the_column(self) -> None:
        _, message = self.result_of(outcomes.Failed('x' * 999), EXECUTE)
        self.assertEqual(255, len(message or ''))
        self.assertTrue((message or '').endswith('x…'))


class EndTest(base.TestCase):
    """The data of an ended action."""

    def test_an_end_without_outputs_keeps_the_former_ones(self) -> None:
        action = make_running_action(outputs={'old': 1})
        for outputs, kept in (({'new': 2}, {'new': 2}), ({}, {}), (None, {'old': 1})):
            for outcome in (
                outcomes.Done(outputs),
                outcomes.Failed('no', None, outputs),
            ):
                after = results.conclude(action, outcome, EXECUTE, NOW).action
                self.assertEqual(kept, after.outputs)

    def test_a_failure_has_a_fault_for_its_event(self) -> None:
        def detail(outcome: outcomes.Outcome) -> Any:
            return results.conclude(make_running_action(), outcome, EXECUTE, NOW).detail

        self.assertEqual(
            {
                'fault': {
                    'exception': 'OSError',
                    'message': 'OSError',
                    'module': 'a_plugin',
                    'function': 'execute',
                }
            },
            detail(outcomes.Failed('OSError', FAULT)),
        )
        self.assertEqual(
            ('ActionFailed', 'no disk', 'nop', 'execute'),
            tuple(detail(outcomes.Failed('no disk'))['fault'].values()),
        )
        self.assertEqual('TimedOut', detail(outcomes.TimedOut())['fault']['exception'])
        for outcome in (outcomes.Done(), outcomes.Cancelled(), outcomes.Retry('x')):
            self.assertIsNone(detail(outcome))

    def test_the_data_of_policies_is_stored_with_any_outcome(self) -> None:
        for outcome in (outcomes.Done(), outcomes.Failed('x'), outcomes.Retry('x')):
            after = results.conclude(
                make_running_action(), outcome, EXECUTE, NOW, {'n': 1}
            ).action
            self.assertEqual({'n': 1}, after.data)


class StartTest(base.TestCase):
    """The start of an action."""

    def test_a_start_resets_the_former_run(self) -> None:
        before = make_claimed_action(
            start_time=at(-9),
            end_time=at(-8),
            token={'old': 1},
            status_message='busy',
            data={'n': 1},
        )
        after = results.start(before, NOW)
        self.assertEqual(
            (states.RUNNING, NOW, None, None, None, {'n': 1}, 'w'),
            (
                after.status,
                after.start_time,
                after.end_time,
                after.token,
                after.status_message,
                after.data,
                after.owner,
            ),
        )
        self.assertEqual({'m': 2}, results.start(before, NOW, {'m': 2}).data)

    def test_a_completion_keeps_the_start_time(self) -> None:
        before = make_claimed_action(phase=COMPLETE, start_time=at(-9))
        self.assertEqual(at(-9), results.start(before, NOW).start_time)


class UnfinishedOutcomesTest(base.TestCase):
    """Outcomes that do not end an action."""

    def test_a_retry_is_due_after_its_delay(self) -> None:
        def again(delay: float, **values: Any) -> Action:
            outcome = outcomes.Retry('busy', delay)
            return results.conclude(
                make_running_action(**values), outcome, EXECUTE, NOW
            ).action

        self.assertEqual((None, EPOCH), (again(0).owner, again(0).not_before))
        self.assertEqual(at(2.5), again(2.5).not_before)
        self.assertIsNone(again(1, token='job').token)

    def test_the_delay_of_a_retry_grows_with_the_tries(self) -> None:
        def waits(attempt: int, delay: float = 0.0) -> float:
            outcome = outcomes.Retry('busy', delay)
            running = make_running_action(attempt=attempt)
            again = results.conclude(running, outcome, EXECUTE, NOW).action
            return round(max(0.0, (again.not_before - NOW).total_seconds()), 1)

        self.assertEqual(
            [0.0, 0.1, 0.2, 0.4, 6.4, 10.0, 10.0],
            [waits(attempt) for attempt in (1, 2, 3, 4, 8, 9, 10**6)],
        )
        self.assertEqual([2.5, 60.0], [waits(3, 2.5), waits(50, 60.0)])

    def test_a_retry_starts_in_phase_run(self) -> None:
        phases = {
            phase: results.conclude(
                make_running_action(phase=phase), outcomes.Retry('x'), EXECUTE, NOW
            ).action.phase
            for phase in (RUN, CHECK, COMPLETE, REVERT)
        }
        self.assertEqual({RUN: RUN, CHECK: RUN, COMPLETE: RUN, REVERT: REVERT}, phases)

    def test_an_action_with_derived_actions_waits_without_an_owner(self) -> None:
        done = results.conclude(
            make_running_action(token='x'), outcomes.Derived((CHILD,)), EXECUTE, NOW
        )
        after = done.action
        self.assertEqual(
            (COMPLETE, None, None, NOW), (after.phase, after.owner, after.token, NOW)
        )
        self.assertEqual((CHILD,), done.derived)

    def test_an_action_in_progress_keeps_its_owner_and_token(self) -> None:
        done = results.conclude(
            make_running_action(recoveries=3),
            outcomes.InProgress({'job': 1}, 7.0),
            EXECUTE,
            NOW,
        )
        after = done.action
        self.assertEqual(
            ('w', {'job': 1}, 7.0, 0),
            (after.owner, after.token, done.delay, after.recoveries),
        )


class IntervalTest(base.TestCase):
    """Repeated actions."""

    def test_the_interval_counts_from_the_start_of_a_run(self) -> None:
        failed = 'Action failed in execute: '
        for outcome, seconds, status, not_before, message in (
            (outcomes.Done(), 0.5, states.READY, at(60), None),
            (outcomes.Done(), 10, states.READY, at(60), None),
            # A run longer than its interval is repeated immediately.
            (outcomes.Done(), 61, states.READY, EPOCH, None),
            (outcomes.Failed('x'), 10, states.READY, at(60), f'{failed}x'),
            (
                outcomes.TimedOut(),
                10,
                states.READY,
                at(60),
                f'{failed}it ran longer than its timeout',
            ),
            (
                outcomes.Cancelled(),
                1,
                states.CANCELLED,
                EPOCH,
                'Action was cancelled while it ran.',
            ),
            # A run may be the last.
            (outcomes.Done(last=True), 1, states.SUCCEEDED, EPOCH, None),
            (outcomes.Failed('x', last=True), 1, states.FAILED, EPOCH, f'{failed}x'),
        ):
            again = results.conclude(
                make_running_action(interval=60, recoveries=2),
                outcome,
                EXECUTE,
                at(seconds),
            ).action
            self.assertEqual(
                (status, not_before, message, None, at(seconds)),
                (
                    again.status,
                    again.not_before,
                    again.status_message,
                    again.owner,
                    again.end_time,
                ),
            )
            self.assertEqual(0 if status == states.READY else 2, again.recoveries)

    def test_the_interval_of_an_unstarted_run_counts_from_its_end(self) -> None:
        # The start time of the former run does not count.
        action = make_claimed_action(interval=60, start_time=at(-300))
        for outcome in (outcomes.Failed('x'), outcomes.Skipped('x')):
            again = results.conclude(action, outcome, PRE_CONDITION, at(1)).action
            self.assertEqual((states.READY, at(61)), (again.status, again.not_before))

    def test_an_interval_of_zero_or_less_does_not_repeat(self) -> None:
        for interval in (0, -1):
            done = results.conclude(
                make_running_action(interval=interval), outcomes.Done(), EXECUTE, NOW
            )
            self.assertEqual(states.SUCCEEDED, done.action.status)

    def test_the_end_of_a_run_differs_from_a_retry(self) -> None:
        running = make_running_action(interval=60)
        ended = results.conclude(running, outcomes.Done(), EXECUTE, at(1)).action
        retried = results.conclude(running, outcomes.Retry('x'), EXECUTE, at(1)).action
        given_back = ended.evolve(owner=None)
        self.assertTrue(results.ends_repeated_run(running, ended))
        self.assertFalse(results.ends_repeated_run(running, retried))
        self.assertFalse(results.ends_repeated_run(ended, given_back))

    def test_a_run_may_set_the_time_of_the_next_one(self) -> None:
        for interval in (0, 60):
            running = make_running_action(interval=interval)
            for outcome in (
                outcomes.Done({'n': 1}, again_at=at(99)),
                outcomes.Failed('no', None, {'n': 1}, again_at=at(99)),
            ):
                again = results.conclude(running, outcome, EXECUTE, at(1)).action
                self.assertEqual(
                    (states.READY, at(99), at(1), {'n': 1}),
                    (again.status, again.not_before, again.end_time, again.outputs),
                )
                self.assertTrue(results.ends_repeated_run(running, again))

    def test_a_lost_run_is_followed_by_the_next(self) -> None:
        for interval, status in ((60, states.READY), (0, states.FAILED)):
            done = results.fail_lost_run(
                make_running_action(interval=interval), 'who knows', FAULT, at(1)
            )
            self.assertEqual(
                (status, 'who knows'), (done.action.status, done.action.status_message)
            )
            self.assertIsNotNone(done.detail)
