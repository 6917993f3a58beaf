"""The action type `nop` and its flags."""

from tests import base
from watcherlite import exceptions, testing
from watcherlite.plugins.action_types.nop import Nop

RAN = [('action', 'READY', 'RUNNING')]


class TestNop(base.TestCase):
    def test_each_flag_ends_the_action_in_its_phase(self):
        off = dict.fromkeys(Nop.schema['properties'].keys() - {'message'}, False)
        done = ('SUCCEEDED', None, [*RAN, ('action', 'RUNNING', 'SUCCEEDED')])
        for flags, expected in (
            ({}, done),
            (off, done),
            (
                {'skip_pre_condition': True},
                (
                    'SKIPPED',
                    'Action was skipped automatically: Skipped in pre_condition',
                    [('action', 'READY', 'SKIPPED')],
                ),
            ),
            *(
                (
                    {f'fail_{phase}': True},
                    (
                        'FAILED',
                        f'Action failed in {phase}: Failed in {phase}',
                        [*ran, ('action', state, 'FAILED')],
                    ),
                )
                for phase, ran, state in (
                    ('pre_condition', [], 'READY'),
                    ('execute', RAN, 'RUNNING'),
                    ('post_condition', RAN, 'RUNNING'),
                )
            ),
        ):
            result = testing.run_action(Nop, {'message': 'x', **flags})

            self.assertEqual(
                expected, (result.status, result.status_message, result.history), flags
            )

    def test_the_message_is_logged_at_debug_level(self):
        testing.run_action(Nop, {'message': 'hello'})

        self.assertEqual(
            'Action 00000000-0000-4000-8000-000000000001: hello\n', self.log.output
        )

    def test_the_message_is_required_and_may_be_null(self):
        error = self.assertRaises(
            exceptions.InvalidInput, testing.run_action, Nop, {'mesage': 'x'}
        )

        self.assertEqual(
            'input_parameters.message: is required; '
            'input_parameters.mesage: is not known, did you mean message?',
            str(error),
        )
        self.assertEqual('SUCCEEDED', testing.run_action(Nop, {'message': None}).status)

    def test_a_revert_does_nothing(self):
        self.assertEqual(
            'SUCCEEDED', testing.revert_action(Nop, {'message': 'x'}).status
        )

    def test_nop_may_run_again_after_the_loss_of_its_worker(self):
        self.assertTrue(Nop().is_idempotent({'message': 'x'}))
