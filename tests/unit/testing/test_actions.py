"""An action of a plugin author, from READY to its end."""

import itertools

from oslo_config import cfg

from tests import base
from watcherlite import exceptions, testing
from watcherlite.domain import outcomes
from watcherlite.plugins.base import ActionType

READY, RUNNING = 'READY', 'RUNNING'


def kind(**methods):
    return type('Kind', (ActionType,), methods)


def executing(value):
    """Return a type whose execute returns a value, or raises it."""

    def execute(self, context):
        if isinstance(value, BaseException):
            raise value
        return value

    return kind(execute=execute)


def history(*statuses):
    return [('action', old, new) for old, new in itertools.pairwise(statuses)]


class TestOutcomes(base.TestCase):
    def test_result_of_execute_decides(self):
        failed = 'Action failed in execute: '
        cancelled = 'Action was cancelled while it ran.'
        for value, status, message, outputs in (
            (True, 'SUCCEEDED', None, None),
            (('OK', 'fine'), 'SUCCEEDED', None, {'reason': 'fine'}),
            (outcomes.Done({'a': [1]}), 'SUCCEEDED', None, {'a': [1]}),
            (None, 'FAILED', f'{failed}execute returned None, not True', None),
            (False, 'FAILED', f'{failed}execute returned False, not True', None),
            (outcomes.Failed('no luck'), 'FAILED', f'{failed}no luck', None),
            (('ERROR', 'no luck'), 'FAILED', f'{failed}no luck', None),
            (
                outcomes.TimedOut(),
                'FAILED',
                f'{failed}it ran longer than its timeout',
                None,
            ),
            (outcomes.Cancelled(), 'CANCELLED', cancelled, None),
            (exceptions.Invalid('ours'), 'FAILED', f'{failed}ours', None),
            (ValueError('canary'), 'FAILED', f'{failed}ValueError', None),
            (SystemExit(3), 'FAILED', f'{failed}SystemExit', None),
            (exceptions.Cancelled(), 'CANCELLED', cancelled, None),
            (
                outcomes.Done({'a': {1}}),
                'FAILED',
                f'{failed}its Done contains values that are not JSON: Object of type '
                'set is not JSON serializable',
                None,
            ),
        ):
            result = testing.run_action(executing(value), {})

            self.assertEqual(
                (status, message, history(READY, RUNNING, status), outputs),
                (result.status, result.status_message, result.history, result.outputs),
            )

    def test_an_exception_leaves_a_fault_that_names_its_place(self):
        result = testing.run_action(executing(KeyError('canary')), {})

        self.assertEqual(
            outcomes.Fault('KeyError', 'KeyError', __name__, 'execute'),
            result.outcome.fault,
        )

    def test_inputs_that_do_not_fit_are_raised_as_for_a_plan(self):
        picky = kind(schema={'required': ['a']}, execute=lambda self, context: True)

        error = self.assertRaises(
            exceptions.InvalidInput, testing.run_action, picky, {}
        )

        self.assertEqual('input_parameters.a: is required', str(error))


class TestPreCondition(base.TestCase):
    def result(self, outcome):
        def pre_condition(self, context):
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        return testing.run_action(
            kind(pre_condition=pre_condition, execute=lambda self, context: True), {}
        )

    def test_pre_condition_can_skip_the_action(self):
        for outcome in (
            exceptions.ActionSkipException('gone'),
            exceptions.ActionSkipped('gone'),
            outcomes.Skipped('gone'),
        ):
            result = self.result(outcome)

            self.assertEqual(
                (
                    'SKIPPED',
                    'Action was skipped automatically: gone',
                    history(READY, 'SKIPPED'),
                ),
                (result.status, result.status_message, result.history),
            )

    def test_pre_condition_can_fail_the_action_before_it_starts(self):
        cases = [
            (RuntimeError('canary'), 'RuntimeError'),
            (outcomes.Failed('no'), 'no'),
            (('ERROR', 'no'), 'no'),
            (False, 'pre_condition returned False, not True'),
            (
                outcomes.InProgress(1),
                'pre_condition returned InProgress; only execute may',
            ),
        ]
        for outcome, words in cases:
            result = self.result(outcome)

            self.assertEqual(
                (
                    'FAILED',
                    f'Action failed in pre_condition: {words}',
                    history(READY, 'FAILED'),
                ),
                (result.status, result.status_message, result.history),
            )

    def test_pre_condition_can_permit_the_action(self):
        for outcome in (None, True, outcomes.Done()):
            self.assertEqual('SUCCEEDED', self.result(outcome).status)


class TestPostCondition(base.TestCase):
    def test_post_condition_fails_a_successful_action_by_its_outputs(self):
        checked = []

        def post_condition(self, context):
            checked.append(context.outputs)
            raise exceptions.Conflict(f'{context.outputs} is not enough')

        for ended, status, message, seen in (
            (
                outcomes.Done({'a': 1}),
                'FAILED',
                "Action failed in post_condition: {'a': 1} is not enough",
                [{'a': 1}],
            ),
            (
                outcomes.Failed('first'),
                'FAILED',
                'Action failed in execute: first',
                [None],
            ),
            (
                outcomes.Cancelled(),
                'CANCELLED',
                'Action was cancelled while it ran.',
                [],
            ),
        ):
            checked.clear()
            result = testing.run_action(
                type('Kind', (executing(ended),), {'post_condition': post_condition}),
                {},
            )
            self.assertEqual(
                (status, message, seen), (result.status, result.status_message, checked)
            )


class Slow(ActionType):
    """An action that is done at the third poll."""

    stopped = ()

    def execute(self, context):
        return outcomes.InProgress({'polls': 0}, 10)

    def poll(self, context, token):
        polls = token['polls'] + 1
        if polls == 3:
            return outcomes.Done({'polls': polls})
        return outcomes.InProgress({'polls': polls}, 10)

    def cancel(self, context, token):
        type(self).stopped += (token['polls'],)


class TestInProgress(base.TestCase):
    def setUp(self):
        super().setUp()
        self.kind = type('Slow', (Slow,), {'stopped': ()})
        self.clock = testing.ManualClock()

    def test_an_action_is_polled_to_its_end_without_real_time(self):
        result = testing.run_action(self.kind, {}, clock=self.clock)

        self.assertEqual(
            ('SUCCEEDED', {'polls': 3}, 30.0, history(READY, RUNNING, 'SUCCEEDED')),
            (result.status, result.outputs, self.clock.monotonic(), result.history),
        )

    def test_a_signal_between_two_polls_or_the_timeout_stops_the_external_work(self):
        for options, status, polls in (
            ({'signals': [testing.after_seconds(15, 'CANCEL')]}, 'CANCELLED', 1),
            ({'signals': [testing.after_seconds(15, 'TIMEOUT')]}, 'FAILED', 1),
            ({'timeout': 25}, 'FAILED', 2),
        ):
            self.kind.stopped = ()

            result = testing.run_action(self.kind, {}, **options)

            self.assertEqual((status, (polls,)), (result.status, self.kind.stopped))

    def test_a_token_that_cannot_be_stored_fails_the_action(self):
        result = testing.run_action(executing(outcomes.InProgress(object())), {})

        self.assertEqual('FAILED', result.status)

    def test_an_action_that_never_ends_fails_the_test(self):
        for endless in (
            kind(
                execute=lambda self, context: outcomes.InProgress(1),
                poll=lambda self, context, token: outcomes.InProgress(1),
            ),
            executing(outcomes.Retry('busy')),
        ):
            self.assertRaises(AssertionError, testing.run_action, endless, {})

    def test_attributes_are_lost_between_phases(self):
        def execute(self, context):
            self.kept = 1
            return outcomes.InProgress(1)

        forgetful = kind(execute=execute, poll=lambda self, context, token: self.kept)

        result = testing.run_action(forgetful, {})

        self.assertEqual(
            'Action failed in execute: AttributeError', result.status_message
        )


class TestRetry(base.TestCase):
    def test_retry_runs_the_next_attempt_after_the_delay(self):
        seen = []

        def execute(self, context):
            seen.append((context.attempt, context.now().second))
            return outcomes.Retry('busy', 5) if len(seen) < 3 else True

        result = testing.run_action(kind(execute=execute), {}, attempt=4)

        self.assertEqual([(4, 0), (5, 5), (6, 10)], seen)
        self.assertEqual(
            history(READY, RUNNING, READY, RUNNING, READY, RUNNING, 'SUCCEEDED'),
            result.history,
        )


class TestDerived(base.TestCase):
    ASKED = (
        outcomes.DerivedAction('a', 'nop'),
        outcomes.DerivedAction('b', 'nop', parents=('a',)),
    )
    HISTORY = history(READY, RUNNING, 'WAITING', READY, RUNNING)

    def test_action_waits_for_derived_actions_and_fails_with_them(self):
        def fail(action):
            return testing.SimulatedResult(action.key, 'FAILED', 'no')

        for options, status, message in (
            ({}, 'SUCCEEDED', ''),
            ({'derived_end': fail}, 'FAILED', 'a (no), b (no)'),
        ):
            derives = executing(outcomes.Derived(self.ASKED))
            result = testing.run_action(derives, {}, **options)

            self.assertEqual(
                (self.ASKED, status, [*self.HISTORY, ('action', RUNNING, status)]),
                (result.derived, result.status, result.history),
            )
            self.assertIn(message, result.status_message or '')

    def test_complete_receives_the_results_of_derived_actions(self):
        summing = kind(
            execute=lambda self, context: outcomes.Derived(TestDerived.ASKED),
            complete=lambda self, context, results: outcomes.Done(
                {'sum': sum(result.outputs['n'] for result in results)}
            ),
        )

        result = testing.run_action(
            summing,
            {},
            derived_end=lambda action: testing.SimulatedResult(
                action.key, outputs={'n': 2}
            ),
        )

        self.assertEqual({'sum': 4}, result.outputs)

    def overdue(self, seconds, **members):
        """Derive an action that takes this time, and is cancelled after 10 seconds."""
        clock = testing.ManualClock()

        def ends(action):
            clock.advance(seconds)
            status = 'CANCELLED' if seconds > 10 else 'SUCCEEDED'
            return testing.SimulatedResult(action.key, status)

        derives = kind(
            execute=lambda self, context: outcomes.Derived(TestDerived.ASKED[:1]),
            **members,
        )
        return testing.run_action(
            derives, {}, clock=clock, timeout=10, derived_end=ends
        )

    def test_expired_action_fails_unless_it_handles_the_timeout(self):
        result = self.overdue(11)

        self.assertEqual(
            ('FAILED', 'Action failed in execute: it ran longer than its timeout'),
            (result.status, result.status_message),
        )
        self.assertEqual('SUCCEEDED', self.overdue(9).status)

        def overdue(self, context, results):
            context.checkpoint()
            return outcomes.Done({one.key: one.status for one in results})

        self.assertEqual({'a': 'CANCELLED'}, self.overdue(11, overdue=overdue).outputs)


class TestOptionsSignalsAndRevert(base.TestCase):
    def test_options_have_their_defaults_unless_given(self):
        configured = kind(
            get_config_opts=classmethod(
                lambda cls: [cfg.StrOpt('a', default='x'), cfg.StrOpt('b', default='y')]
            ),
            execute=lambda self, context: outcomes.Done(
                {'a': self.options.a, 'b': self.options.b}
            ),
        )

        result = testing.run_action(configured, {}, options={'b': 'z'})

        self.assertEqual({'a': 'x', 'b': 'z'}, result.outputs)

    def test_signals_arrive_while_an_action_runs(self):
        def execute(self, context):
            for _ in range(10):
                context.sleep(1)
            return True

        result = testing.run_action(
            kind(execute=execute),
            {},
            signals=[
                testing.after_seconds(3, 'SUSPEND'),
                testing.after_seconds(4, 'RESUME'),
                testing.after_seconds(5, 'CANCEL'),
            ],
        )

        self.assertEqual(
            history(READY, RUNNING, 'SUSPENDED', RUNNING, 'CANCELLED'), result.history
        )

    def test_revert_gets_the_outputs_of_the_run_and_fails_without_support(self):
        undoing = kind(
            revert=lambda self, context: outcomes.Done({'undone': context.outputs['a']})
        )

        result = testing.revert_action(undoing, {}, {'a': 1})

        self.assertEqual(('SUCCEEDED', {'undone': 1}), (result.status, result.outputs))
        result = testing.revert_action(executing(True), {})
        self.assertEqual(
            'Action failed in revert: NotImplementedError', result.status_message
        )
