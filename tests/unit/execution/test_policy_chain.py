"""The policy chain: order, selection, durable decisions."""

import json
import math

from tests import base, factories
from tests.policies import chain_of
from tests.unit.execution.attempts import make_attempt
from tests.worlds import raises
from watcherlite import exceptions
from watcherlite.domain.outcomes import Cancelled, Done, Failed, Fault, Retry, TimedOut
from watcherlite.execution.coroutines.steps import run_steps
from watcherlite.execution.policy_chain import (
    ERROR,
    OK,
    PolicyChain,
    PolicyCheckFailed,
    PolicyDelay,
    PolicyWait,
)
from watcherlite.plugins.base import Policy


def make_policy_plugin(name, number, does, before=('nop',), after=('nop',)):
    """Return a policy whose hooks call a function with the data."""

    def hook(self, context, data):
        return does(data)

    members = {
        'priority': number,
        'before': before,
        'after': after,
        'pre_op': hook,
        'post_op': hook,
    }
    return type(name, (Policy,), members)()


class TestPolicyChain(base.TestCase):
    def setUp(self):
        super().setUp()
        self.attempt = make_attempt(
            factories.make_action(data={'count': 1}), checkpoints=self
        )
        self.asked = []
        self.kept = []

    def save_data(self, attempt):
        self.kept.append((list(self.asked), dict(attempt.data)))
        return ()

    def make_recording(self, name, number, **values):
        return make_policy_plugin(
            name, number, lambda data: self.asked.append(name), **values
        )

    def setting(self, name, number, **changes):
        def does(data):
            self.asked.append(name)
            data.update(changes)

        return make_policy_plugin(name, number, does)

    def ask(self, *policies):
        run_steps(chain_of(*policies).run_pre_op(self.attempt))

    def test_policies_run_in_the_order_of_their_priority_and_attachment(self):
        self.ask(
            self.make_recording('c', 300),
            self.make_recording('b', 100),
            self.make_recording('a', 100),
        )

        self.assertEqual(['b', 'a', 'c'], self.asked)

    def test_only_policies_of_the_type_and_the_hook_run(self):
        policies = [
            self.make_recording('both', 1),
            self.make_recording('before', 2, after=()),
            self.make_recording('after', 3, before=()),
            self.make_recording('other', 4, before=('sleep',), after=('sleep',)),
        ]
        chain = chain_of(*policies)

        run_steps(chain.run_pre_op(self.attempt))
        self.asked.append('|')
        run_steps(chain.run_post_op(self.attempt, OK))

        self.assertEqual(['both', 'before', '|', 'both', 'after'], self.asked)

    def test_a_decision_is_durable_before_the_next_policy_runs(self):
        self.ask(
            self.setting('a', 1, count=2),
            self.make_recording('b', 2),
            self.setting('c', 3, zone='x'),
        )

        self.assertEqual(
            [(['a'], {'count': 2}), (['a', 'b', 'c'], {'count': 2, 'zone': 'x'})],
            self.kept,
        )
        # The plugin receives it.
        self.assertEqual(
            ({'count': 2, 'zone': 'x'},) * 2,
            (self.attempt.data, self.attempt.context.data),
        )

    def test_unchanged_data_is_not_written(self):
        unchanging = self.make_recording('a', 1), self.setting('b', 2, count=1)
        for chain in (PolicyChain(), chain_of(*unchanging)):
            run_steps(chain.run_pre_op(self.attempt))
            run_steps(chain.run_post_op(self.attempt, OK))

            self.assertEqual(([], None), (self.kept, self.attempt.data))

    def test_a_change_of_a_nested_value_is_detected(self):
        self.attempt = make_attempt(
            factories.make_action(data={'nodes': ['n1']}), checkpoints=self
        )

        self.ask(make_policy_plugin('a', 1, lambda data: data['nodes'].append('n2')))

        self.assertEqual({'nodes': ['n1', 'n2']}, self.attempt.data)
        self.assertEqual({'nodes': ['n1']}, self.attempt.action.data)

    def test_post_op_receives_the_data_of_pre_op(self):
        chain = chain_of(
            make_policy_plugin(
                'a', 1, lambda data: data.update(count=data['count'] + 1)
            )
        )

        run_steps(chain.run_pre_op(self.attempt))
        run_steps(chain.run_post_op(self.attempt, OK))

        self.assertEqual({'count': 3}, self.attempt.data)

    def test_data_that_is_not_json_is_refused(self):
        error = self.assertRaises(
            exceptions.WatcherliteError, self.ask, self.setting('Sly', 1, x=math.nan)
        )

        self.assertEqual(
            "Policy check failure: Failed policy 'Sly': "
            'Sly.hook left data that is not JSON: x: nan is not a number in JSON',
            str(error),
        )
        self.assertEqual(([], None), (self.kept, self.attempt.data))

    def test_an_exception_of_a_policy_ends_the_chain(self):
        failed = "Policy check failure: Failed policy 'a': "
        for raised, error, text in (
            (
                exceptions.WatcherliteError('too small'),
                PolicyCheckFailed,
                f'{failed}too small',
            ),
            (OSError('a secret'), PolicyCheckFailed, f'{failed}OSError'),
            # The action was lost.
            (exceptions.Cancelled(), exceptions.Cancelled, ''),
        ):
            caught = self.assertRaises(
                error,
                self.ask,
                make_policy_plugin('a', 1, raises(raised)),
                self.make_recording('b', 2),
            )
            self.assertEqual(text, str(caught))
            self.assertEqual([], self.asked)

    def test_post_op_receives_the_result_of_the_action(self):
        results = []

        class RecordingPolicy(Policy):
            before = after = frozenset({'nop'})

            def pre_op(self, context, data):
                results.append(context.result)

            post_op = pre_op

        chain = chain_of(RecordingPolicy())

        run_steps(chain.run_pre_op(self.attempt))
        run_steps(chain.run_post_op(self.attempt, OK))
        run_steps(chain.run_post_op(self.attempt, ERROR))

        self.assertEqual([None, 'OK', 'ERROR'], results)

    def test_the_next_run_of_a_repeated_action_starts_without_data(self):
        self.attempt = make_attempt(
            factories.make_action(data={'count': 7}, end_time=factories.NOW),
            checkpoints=self,
        )
        chain = chain_of(self.setting('a', 1, zone='x'))

        run_steps(chain.run_pre_op(self.attempt))

        self.assertEqual({'zone': 'x'}, self.attempt.data)

    def test_a_policy_may_be_called_again_later(self):
        chain = chain_of(
            self.setting('a', 1, count=2),
            make_policy_plugin('b', 2, lambda data: Retry('it is busy', 3.0)),
            self.make_recording('c', 3),
        )

        delayed = run_steps(chain.run_pre_op(self.attempt))
        after = run_steps(chain.run_post_op(self.attempt, OK))

        self.assertEqual(
            (PolicyDelay('b', 'it is busy', 3.0), ['a', 'a'], [(['a'], {'count': 2})]),
            (delayed, self.asked, self.kept),
        )
        self.assertEqual(delayed, after)
        self.assertEqual(Retry("Policy 'b': it is busy", 3.0), delayed.as_retry())

    def test_an_invalid_delay_is_refused(self):
        error = self.assertRaises(
            PolicyCheckFailed,
            self.ask,
            make_policy_plugin('a', 1, lambda data: Retry('it is busy', -1.0)),
        )

        self.assertIn('has a delay of -1.0', str(error))

    def test_the_outcome_of_a_waiting_action_is_in_its_token(self):
        fault = Fault('Broken', 'no disk', 'acme', 'write')
        for outcome in (
            Done({'a': 1}, factories.NOW, last=True),
            Failed('no disk', fault, {'a': 1}),
            Cancelled('by a user'),
            TimedOut('too slow'),
        ):
            wait = PolicyWait(outcome, 'execute', raised=True)
            stored = json.loads(json.dumps(wait.token()))
            self.assertEqual(wait, PolicyWait.from_token(stored))
        for token in (None, 'job', {'handler': 1}, {'_policies': 1, 'step': 2}):
            self.assertIsNone(PolicyWait.from_token(token))
