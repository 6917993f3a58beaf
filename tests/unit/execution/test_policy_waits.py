"""Actions whose policies are called again later, without a thread in between."""

import datetime
from typing import Any

from tests.unit.execution.runner_case import (
    DrivenRunner,
    RunnerCase,
    make_policy_plugin,
)
from tests.worlds import raises
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, RUN
from watcherlite.domain.outcomes import Done, Retry
from watcherlite.execution.in_flight import Attempt
from watcherlite.states import action as states

BUSY = "Policy 'P': it is busy"
REFUSED = "Policy check failure: Failed policy 'P': it is busy"


class PolicyWaitCase(RunnerCase):
    """A policy that is to be called again later a number of times."""

    def setUp(self) -> None:
        super().setUp()
        self.results: list[str | None] = []
        self.busy = 1

    def hook(self, context: Any, data: dict[str, Any]) -> Retry | None:
        self.results.append(context.result)
        self.busy -= 1
        return Retry('it is busy', 3.0) if self.busy >= 0 else None


class BeforeTest(PolicyWaitCase):
    """`pre_op`: the action is READY again."""

    def setUp(self) -> None:
        super().setUp()
        self.policies = [make_policy_plugin(pre_op=self.hook, post_op=self.hook)]

    def next_attempt(self, runner: DrivenRunner, before: Attempt) -> Attempt:
        again = before.action.evolve(owner='w', attempt=before.action.attempt + 1)
        return runner.make_attempt(again, None)

    def test_the_action_is_ready_again_after_the_delay(self) -> None:
        attempt = self.attempt()
        runner = self.runner()
        attempt.action = runner.prepare(attempt).action
        delayed = attempt.action
        attempt = self.next_attempt(runner, attempt)
        attempt.action = runner.prepare(attempt).action
        ended = runner.perform(attempt).action

        self.assertEqual(
            (states.READY, BUSY, self.clock.now() + datetime.timedelta(seconds=3), RUN),
            (delayed.status, delayed.status_message, delayed.not_before, delayed.phase),
        )
        self.assertEqual(
            (states.SUCCEEDED, [None, None, 'OK']), (ended.status, self.results)
        )

    def test_an_action_of_a_lost_worker_is_still_checked_for_its_effect(self) -> None:
        attempt = self.attempt(phase=CHECK, start_time=self.clock.now())

        delayed = self.prepare(attempt, is_applied=raises(AssertionError))

        self.assertEqual((states.READY, CHECK), (delayed.status, delayed.phase))

    def test_a_cancel_during_the_delay_releases_the_policies(self) -> None:
        attempt = self.attempt()
        runner = self.runner(execute=raises(AssertionError))
        attempt.action = runner.prepare(attempt).action
        attempt.action = attempt.action.evolve(control=states.CANCEL)
        attempt = self.next_attempt(runner, attempt)

        unprepared = runner.cancel_unprepared(attempt)
        ended = runner.prepare(attempt).action

        self.assertIsNone(unprepared)
        self.assertEqual(
            (states.CANCELLED, [None, 'ERROR']), (ended.status, self.results)
        )


class AfterTest(PolicyWaitCase):
    """`post_op`: the action is InProgress, and keeps its outcome."""

    def setUp(self) -> None:
        super().setUp()
        self.policies = [make_policy_plugin(post_op=self.hook)]

    def wait(
        self, runner: DrivenRunner, attempt: Attempt | None = None
    ) -> tuple[Attempt, float]:
        """Run an action until its policy delays it."""
        attempt = attempt or self.attempt()
        attempt.action = runner.prepare(attempt).action
        conclusion = runner.perform(attempt)
        attempt.action = conclusion.action
        self.assertEqual(states.RUNNING, attempt.action.status)
        return attempt, conclusion.delay

    def test_the_policy_is_called_again_and_the_plugin_is_not(self) -> None:
        made = self.calls
        runner = self.runner(
            execute=made.record('execute', Done({'a': 1})),
            poll=raises(AssertionError),
            post_condition=made.record('post_condition'),
        )
        attempt, delay = self.wait(runner)
        before = len(made.made)
        # Another worker continues.
        other = runner.make_attempt(attempt.action, None)
        self.assertIsNone(runner.adopt(other))
        ended = runner.perform(other).action

        self.assertEqual((3.0, 1), (delay, before))
        self.assertEqual(
            (states.SUCCEEDED, {'a': 1}, ['OK', 'OK'], 2),
            (ended.status, ended.outputs, self.results, len(made.made)),
        )

    def test_a_failure_keeps_its_reason(self) -> None:
        runner = self.runner(execute=lambda c: ('ERROR', 'no disk'))
        attempt, _ = self.wait(runner)
        ended = runner.perform(attempt).action

        self.assertEqual(
            (states.FAILED, 'Action failed in execute: no disk', ['ERROR'] * 2),
            (ended.status, ended.status_message, self.results),
        )

    def test_a_signal_ends_the_wait_with_a_last_call(self) -> None:
        for busy, status, message in (
            (1, states.SUCCEEDED, None),
            (9, states.FAILED, REFUSED),
        ):
            self.busy = busy
            runner = self.runner(
                execute=lambda c: Done({'a': 1}), cancel=raises(AssertionError)
            )
            attempt, _ = self.wait(runner)
            idle = runner.cancel(attempt, outcomes.Cancelled()).action
            self.busy = busy - 1
            attempt.context.deliver(states.CANCEL)
            polled = runner.perform(attempt).action

            for ended in (idle, polled):
                self.assertEqual(
                    (status, message, {'a': 1}),
                    (ended.status, ended.status_message, ended.outputs),
                )

    def test_the_timeout_ends_the_wait(self) -> None:
        self.busy = 9
        runner = self.runner()
        attempt, _ = self.wait(runner)
        self.clock.advance(101)
        ended = runner.perform(attempt).action

        self.assertEqual((states.FAILED, REFUSED), (ended.status, ended.status_message))

    def test_a_suspend_keeps_the_action_in_progress(self) -> None:
        runner = self.runner()
        attempt, _ = self.wait(runner)
        token = attempt.action.token
        attempt.context.deliver(states.SUSPEND)
        after = runner.perform(attempt).action

        self.assertEqual((states.RUNNING, token), (after.status, after.token))


class PoolTest(RunnerCase):
    """The hooks of blocking policies."""

    def test_a_blocking_policy_runs_in_the_wide_pool(self) -> None:
        for is_blocking, pools in ((True, ['load-balancer'] * 2), (False, [])):
            policy = make_policy_plugin(
                pre_op=lambda context, data: None, post_op=lambda context, data: None
            )
            policy.__class__.blocking = is_blocking
            policy.__class__.service = 'load-balancer'
            self.policies = [policy]
            attempt, runner = self.attempt(), self.runner()
            requested: list[str | None] = []
            attempt.action = drive(runner.core.prepare(attempt), requested).action
            ended = drive(runner.core.perform(attempt), requested).action

            self.assertEqual((states.SUCCEEDED, pools), (ended.status, requested))


def drive(steps: Any, requested: list[str | None]) -> Any:
    """Run steps, and record the services of the wide pool that they request."""
    try:
        while True:
            requested.append(steps.send(None).service)
    except StopIteration as end:
        return end.value
