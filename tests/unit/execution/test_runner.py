"""The steps of the runner, for any behavior of a plugin."""

import logging
from typing import Any

from tests.unit.execution.runner_case import RunnerCase, make_policy_plugin
from tests.worlds import kind, raises
from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.actions import COMPLETE, REVERT, Action
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Retry,
)
from watcherlite.states import action as states

X = DerivedAction('x', 'nop')


class PrepareTest(RunnerCase):
    """The steps before the start."""

    def failed(self, **members: Any) -> str:
        after = self.prepare(**members)
        self.assertEqual(states.FAILED, after.status)
        return (after.status_message or '').removeprefix(
            'Action failed in pre_condition: '
        )

    def test_an_action_that_passes_all_steps_is_running(self) -> None:
        for answer in (None, True, Done(), Done({'n': 1})):
            after = self.prepare(pre_condition=lambda c, a=answer: a)
            self.assertEqual(
                (states.RUNNING, self.clock.now(), None),
                (after.status, after.start_time, after.outputs),
            )

    def test_pre_condition_may_skip_an_action(self) -> None:
        for hook in (
            raises(exceptions.ActionSkipException('gone')),
            lambda context: outcomes.Skipped('gone'),
        ):
            after = self.prepare(pre_condition=hook)
            self.assertEqual(
                (states.SKIPPED, 'Action was skipped automatically: gone'),
                (after.status, after.status_message),
            )

    def test_an_action_on_a_locked_target_is_skipped_unless_started(self) -> None:
        class Locked:
            def blocking_reason(self, action: Action) -> str:
                return 'it is locked'

        self.admission = Locked()
        runner = self.runner()
        found = []
        for start in (None, self.clock.now()):
            attempt = self.attempt(start_time=start)
            status = runner.prepare(attempt).action.status
            found.append((status, attempt.skip_reason))
        self.assertEqual([(states.SKIPPED, None), (states.RUNNING, None)], found)

    def test_any_other_exception_or_result_of_pre_condition_is_a_failure(self) -> None:
        for error, message in (
            (KeyError('secret'), 'KeyError'),
            (SystemExit(1), 'SystemExit'),
            (KeyboardInterrupt(), 'KeyboardInterrupt'),
            (exceptions.WatcherliteError('no quota is left'), 'no quota is left'),
        ):
            self.assertEqual(message, self.failed(pre_condition=raises(error)))
        self.assertEqual(
            [
                'pre_condition returned False, not True',
                'pre_condition returned a str, which is not an outcome',
                'pre_condition returned Derived; only execute may',
                'pre_condition returned InProgress; only execute may',
                'no',
                'its Retry has a delay of text; it must be a number of seconds, at '
                'least 0',
            ],
            [
                self.failed(pre_condition=lambda c, a=answer: a)
                for answer in (
                    False,
                    'yes',
                    Derived((X,)),
                    InProgress('job'),
                    ('ERROR', 'no'),
                    Retry('x', 'soon'),  # type: ignore[arg-type]
                )
            ],
        )

    def test_pre_condition_may_retry_and_be_cancelled(self) -> None:
        retried = self.prepare(pre_condition=lambda c: Retry('not yet', 3.0))
        self.assertEqual((states.READY, None), (retried.status, retried.owner))
        cancelled = self.prepare(pre_condition=raises(exceptions.Cancelled()))
        self.assertEqual(
            (states.CANCELLED, 'Action was cancelled before it started.'),
            (cancelled.status, cancelled.status_message),
        )

    def test_a_missing_broken_or_changed_type_is_a_failure(self) -> None:
        missing = self.runner().prepare(self.attempt(action_type='nothing')).action
        self.assertEqual(
            'Action failed in pre_condition: There is no action type nothing. '
            'Installed: kind.',
            missing.status_message,
        )
        self.assertEqual('OSError', self.failed(__init__=raises(OSError('x'))))
        # Nor are inputs that another version of it accepted
        schema = {'type': 'object', 'required': ['size']}
        self.assertEqual(
            'input_parameters.size: is required', self.failed(schema=schema)
        )

    def test_a_cancelled_action_is_not_prepared(self) -> None:
        after = self.prepare(
            self.attempt(control=states.CANCEL),
            pre_condition=self.calls.record('pre_condition'),
        )
        self.assertEqual(states.CANCELLED, after.status)
        self.assertEqual([], self.calls.made)

    def test_a_suspend_before_the_start_is_deferred(self) -> None:
        # A READY action cannot be SUSPENDED.
        after = self.prepare(
            self.attempt(control=states.SUSPEND), pre_condition=lambda c: c.checkpoint()
        )
        self.assertEqual(states.RUNNING, after.status)

    def test_the_preparation_has_a_deadline_and_the_wait_for_a_thread_has_none(
        self,
    ) -> None:
        seen: list[Any] = []
        attempt = self.attempt(timeout=7)
        self.prepare(attempt, pre_condition=lambda c: seen.append(c.remaining()))
        self.assertEqual([7], seen)
        self.assertIsNone(attempt.context.remaining())

    def test_an_action_without_a_pre_condition_stays_in_its_thread(self) -> None:
        async def checks(context: Any) -> None:
            raise AssertionError('there is nothing to check')

        checked = {'has_pre_condition': lambda inputs: 'check' in inputs}
        for members, elsewhere in (
            ({}, False),
            ({'blocking': True}, False),
            ({'pre_condition': checks, **checked}, False),
            ({'pre_condition': checks}, True),
            ({'has_pre_condition': raises(ValueError)}, False),
        ):
            attempt = self.attempt(inputs={})
            runner = self.runner(**members)
            self.assertEqual(elsewhere, runner.core.prepares_elsewhere(attempt))
        attempt = self.attempt(inputs={})
        after = self.prepare(attempt, pre_condition=checks, **checked)
        self.assertEqual(states.RUNNING, after.status)

    def test_a_completion_or_revert_has_no_pre_condition(self) -> None:
        for phase in (COMPLETE, REVERT):
            after = self.prepare(
                self.attempt(phase=phase), pre_condition=raises(AssertionError)
            )
            self.assertEqual(states.RUNNING, after.status)


class PerformTest(RunnerCase):
    """The steps from the start to the end."""

    def test_the_steps_run_in_order(self) -> None:
        note = self.calls.record
        self.policies = [
            make_policy_plugin(pre_op=note('pre_op'), post_op=note('post_op'))
        ]
        seen: list[Any] = []
        after = self.run_task(
            pre_condition=note('pre_condition'),
            execute=note('execute', Done({'n': 1})),
            post_condition=note('post_condition', lambda c: seen.append(c.outputs)),
        ).action
        self.assertEqual(
            ['pre_op', 'pre_condition', 'execute', 'post_op', 'post_condition'],
            [hook for _, hook in self.calls.made],
        )
        self.assertEqual([{'n': 1}], seen)
        self.assertEqual(states.SUCCEEDED, after.status)

    def test_a_failed_post_condition_keeps_the_outputs(self) -> None:
        after = self.run_task(
            execute=lambda c: Done({'id': 7}), post_condition=raises(OSError('x'))
        ).action
        self.assertEqual(
            ('FAILED', 'Action failed in post_condition: OSError', {'id': 7}),
            (after.status, after.status_message, after.outputs),
        )

    def test_a_first_failure_keeps_its_own_reason(self) -> None:
        note = self.calls.record('post_condition', raises(OSError('x')))
        self.assertEqual(
            ('FAILED', 'Action failed in execute: no disk'),
            self.result_of(execute=lambda c: ('ERROR', 'no disk'), post_condition=note),
        )
        self.assertEqual(1, len(self.calls.made))

    def test_a_failed_post_op_fails_the_action(self) -> None:
        self.policies = [make_policy_plugin(post_op=raises(OSError))]
        note = self.calls.record('post_condition')
        self.assertEqual(
            ('FAILED', "Policy check failure: Failed policy 'P': OSError"),
            self.result_of(post_condition=note),
        )
        self.assertEqual([], self.calls.made)

    def test_post_op_runs_for_every_end(self) -> None:
        calls: list[Any] = []

        def post_op(context: Any, data: dict[str, Any]) -> None:
            calls.append(context.result)
            if context.result == 'ERROR':
                raise OSError

        self.policies = [make_policy_plugin(post_op=post_op)]
        messages = [
            self.result_of(execute=execute)
            for execute in (
                lambda c: Done(),
                lambda c: ('ERROR', 'no disk'),
                lambda c: outcomes.TimedOut('too slow'),
                lambda c: outcomes.Cancelled('on request'),
                raises(OSError('x')),
                lambda c: Retry('busy'),
                lambda c: InProgress('job'),
            )
        ]
        self.assertEqual(['OK', 'ERROR', 'ERROR', 'ERROR', 'ERROR'], calls)
        self.assertEqual(
            [
                ('SUCCEEDED', None),
                ('FAILED', 'Action failed in execute: no disk'),
                ('FAILED', 'Action failed in execute: too slow'),
                ('CANCELLED', 'on request'),
                ('FAILED', 'Action failed in execute: OSError'),
                ('READY', 'busy'),
                ('RUNNING', None),
            ],
            messages,
        )

    def test_post_op_runs_for_a_cancelled_parent_of_derived_actions(self) -> None:
        calls: list[Any] = []
        self.policies = [
            make_policy_plugin(
                pre_op=lambda context, data: calls.append('before'),
                post_op=lambda context, data: (
                    calls.append(context.result) or data.update(seen=True)
                ),
            )
        ]
        waited = self.prepare(self.attempt(phase=COMPLETE, control=states.CANCEL))
        unstarted = self.prepare(self.attempt(control=states.CANCEL))
        self.assertEqual(['ERROR'], calls)
        self.assertEqual(
            [('CANCELLED', {'seen': True}), ('CANCELLED', {})],
            [(after.status, after.data) for after in (waited, unstarted)],
        )

    def test_post_op_runs_for_an_end_before_the_start(self) -> None:
        calls: list[tuple[str, str | None]] = []
        attempt = self.attempt()

        def policy(name: str, does: Any) -> Any:
            return make_policy_plugin(
                name,
                pre_op=lambda context, data: calls.append((name, 'asked')) or does(),
                post_op=lambda context, data: calls.append((name, context.result)),
            )

        def signal(word: str) -> None:
            attempt.context.deliver(word)

        def ends(does: Any, **members: Any) -> tuple[Any, ...]:
            nonlocal attempt
            calls.clear()
            attempt = self.attempt()
            self.policies = [policy('a', does), policy('b', lambda: None)]
            after = self.prepare(attempt, **members)
            return after.status, list(calls)

        def refuse() -> None:
            raise exceptions.WatcherliteError('no')

        asked = [('a', 'asked'), ('b', 'asked')]
        over = [('a', 'ERROR'), ('b', 'ERROR')]
        self.assertEqual(
            [
                ('CANCELLED', [('a', 'asked'), ('a', 'ERROR')]),
                ('RUNNING', asked),
                ('FAILED', [('a', 'asked')]),
                ('SKIPPED', [*asked, *over]),
                ('FAILED', [*asked, *over]),
                ('CANCELLED', [*asked, *over]),
                ('READY', asked),
            ],
            [
                ends(lambda: signal(states.CANCEL)),
                ends(lambda: signal(states.SUSPEND)),
                ends(refuse),
                ends(lambda: None, pre_condition=lambda c: outcomes.Skipped('gone')),
                ends(lambda: None, pre_condition=raises(OSError)),
                ends(lambda: None, pre_condition=lambda c: signal(states.CANCEL)),
                ends(lambda: None, pre_condition=lambda c: Retry('busy')),
            ],
        )

    def test_a_cancel_before_the_attempt_is_applied(self) -> None:
        early, late = self.attempt(), self.attempt()
        early.context.deliver(states.CANCEL)
        early.context.deliver(states.SUSPEND)
        late.context.deliver(states.SUSPEND)
        self.assertEqual(
            [states.CANCELLED, states.RUNNING],
            [self.prepare(attempt).status for attempt in (early, late)],
        )
        self.assertEqual(states.SUSPEND, late.context.signal)

    def test_a_failed_pre_op_fails_the_action_before_its_start(self) -> None:
        refuse = raises(exceptions.WatcherliteError('the cluster is at its minimum'))
        self.policies = [make_policy_plugin(pre_op=refuse)]
        after = self.prepare(pre_condition=raises(AssertionError))
        self.assertEqual(
            "Policy check failure: Failed policy 'P': the cluster is at its minimum",
            after.status_message,
        )

    def test_the_data_of_policies_is_stored_and_passed_on(self) -> None:
        self.policies = [
            make_policy_plugin(pre_op=lambda context, data: data.update(count=2))
        ]
        seen: list[Any] = []
        after = self.run_task(execute=lambda c: seen.append(c.data) or True).action
        self.assertEqual([{'count': 2}], seen)
        self.assertEqual([{'count': 2}], self.kept)
        self.assertEqual({'count': 2}, after.data)

    def test_only_a_completed_or_failed_run_has_a_post_condition(self) -> None:
        for outcome in (
            Retry('x'),
            InProgress('job'),
            Derived((X,)),
            outcomes.Cancelled(),
            outcomes.TimedOut(),
        ):
            self.run_task(
                execute=lambda c, o=outcome: o,
                post_condition=self.calls.record('post_condition'),
            )
        self.assertEqual([], self.calls.made)

    def test_a_signal_before_the_execution_is_applied_first(self) -> None:
        for phase in ('run', COMPLETE, REVERT):
            status, _ = self.result_of(
                self.attempt(phase=phase),
                states.CANCEL,
                execute=self.calls.record('execute'),
                complete=self.calls.record('complete'),
                revert=self.calls.record('revert'),
            )
            self.assertEqual(states.CANCELLED, status)
        self.assertEqual([], self.calls.made)

    def test_a_cancel_prevents_later_steps_unless_the_action_was_faster(self) -> None:
        cancelled = (states.CANCELLED, 'Action was cancelled while it ran.')
        for outcome, interval, expected in (
            (Retry('x'), 0, cancelled),
            (Derived((X,)), 0, cancelled),
            (True, 60, cancelled),
            (True, 0, (states.SUCCEEDED, None)),
        ):
            done = self.run_task(
                self.attempt(interval=interval),
                execute=lambda c, o=outcome: c.deliver(states.CANCEL) or o,
            )
            after = done.action
            self.assertEqual(
                (expected, ()), ((after.status, after.status_message), done.derived)
            )

    def test_the_timeout_or_its_default_counts_from_the_execution(self) -> None:
        for values, left in (({'timeout': 7}, 7.0), ({}, 100.0)):
            attempt = self.attempt(**values)
            runner = self.runner(execute=lambda c: Done({'left': c.remaining()}))
            attempt.action = runner.prepare(attempt).action
            self.clock.advance(50)
            outputs = runner.perform(attempt).action.outputs
            self.assertEqual({'left': left}, outputs)

    def test_an_unexpected_error_is_logged_in_full_and_named_in_the_message(
        self,
    ) -> None:
        with self.assertLogs(level=logging.WARNING) as found:
            result = self.result_of(execute=raises(ValueError('at line 7')))

        self.assertEqual(('FAILED', 'Action failed in execute: ValueError'), result)
        (record,) = found.records
        (line,) = found.output
        self.assertEqual('ERROR', record.levelname)
        self.assertIn('Traceback (most recent call last)', line)
        self.assertIn('ValueError: at line 7', line)

    def test_an_expected_failure_is_logged_as_a_warning(self) -> None:
        class NoDisk(exceptions.WatcherliteError):
            """An error of a plugin that the contract allows."""

        for plan_id, what_comes in (
            (7, 'the plan continues as its on_failure option says'),
            (None, 'correct the cause and repeat the request'),
        ):
            attempt = self.attempt(plan_id=plan_id, name='disk', target='stack:one')
            runner = self.runner(execute=raises(NoDisk('no disk\nis left')))
            attempt.action = runner.prepare(attempt).action
            with self.assertLogs(level=logging.WARNING) as found:
                runner.perform(attempt)

            uuid = attempt.action.uuid
            self.assertEqual(
                [
                    'WARNING:watcherlite.execution.runner:Action '
                    f'{uuid} (kind, disk, stack:one) failed in execute: no disk is '
                    f'left; {what_comes}'
                ],
                found.output,
            )
            self.assertIsNone(found.records[0].exc_info)

    def test_a_fault_has_the_location_of_the_error(self) -> None:
        done = self.run_task(execute=raises(ValueError('secret')))
        fault = (done.detail or {})['fault']
        self.assertEqual(
            ('ValueError', 'ValueError', 'tests.worlds', 'hook'),
            (fault['exception'], fault['message'], fault['module'], fault['function']),
        )

    def test_the_fault_of_a_value_names_the_class_and_module_of_the_plugin(
        self,
    ) -> None:
        for value, message in (
            (False, 'execute returned False, not True'),
            (Failed('no disk'), 'no disk'),
        ):
            made = kind(execute=lambda context, result=value: result)
            done = self.run_task(made=made)
            fault = (done.detail or {})['fault']
            self.assertEqual(
                {
                    'exception': 'ActionFailed',
                    'message': message,
                    'module': made.__module__,
                    'function': f'{made.__qualname__}.execute',
                },
                fault,
            )

    def test_an_error_whose_text_raises_is_named_by_its_class(self) -> None:
        class Hostile(exceptions.ActionSkipException):
            def __str__(self) -> str:
                raise SystemExit

        self.assertIn('Hostile', str(self.result_of(execute=raises(Hostile()))))
