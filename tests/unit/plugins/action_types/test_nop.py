"""The action type `nop` and its flags."""

from tests import base
from watcherlite import exceptions, testing
from watcherlite.plugins.action_types.nop import Nop

RAN = [('action', 'READY', 'RUNNING')]


class TestNop(base.TestCase):
    def test_each_flag_ends_it_in_its_phase(self):
        cases = {
            None: ('SUCCEEDED', None, [*RAN, ('action', 'RUNNING', 'SUCCEEDED')]),
            'skip_pre_condition': (
                'SKIPPED',
                'Action was skipped automatically: Skipped in pre_condition',
                [('action', 'READY', 'SKIPPED')],
            ),
            'fail_pre_condition': (
                'FAILED',
                'Action failed in pre_condition: Failed in pre_condition',
                [('action', 'READY', 'FAILED')],
            ),
            **{
                f'fail_{phase}': (
                    'FAILED',
                    f'Action failed in {phase}: Failed in {phase}',
                    [*RAN, ('action', 'RUNNING', 'FAILED')],
                )
                for phase in ('execute', 'post_condition')
            },
        }
        for flag, expected in cases.items():
            inputs = {'message': 'x'} if flag is None else {'message': 'x', flag: True}

            result = testing.run_action(Nop, inputs)

            self.assertEqual(
                expected, (result.status, result.status_message, result.story)
            )

    def test_a_flag_that_is_off_does_nothing(self):
        inputs = {'message': None, 'skip_pre_condition': False, 'fail_execute': False}

        self.assertEqual('SUCCEEDED', testing.run_action(Nop, inputs).status)

    def test_the_message_is_logged_for_those_who_debug(self):
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

    def test_undoing_nothing_is_harmless(self):
        self.assertEqual(
            'SUCCEEDED', testing.revert_action(Nop, {'message': 'x'}).status
        )

    def test_it_may_run_again_after_its_worker_was_lost(self):
        self.assertTrue(Nop().is_idempotent({'message': 'x'}))
