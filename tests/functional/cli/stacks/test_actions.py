"""The commands that act on stacks, delete them, and validate templates."""

import io
import json

import fixtures

from tests.functional.cli.fake_api import Reply, error_reply
from tests.functional.cli.stacks import stack_objects as shown
from tests.functional.cli.stacks.stack_case import ALL, WEB, ModifyingStackCase
from tests.unit.cli.capturing import Stream


class StackActionTest(ModifyingStackCase):
    """`stack check`, `suspend`, `resume`, `lock`, `unlock` and `cancel`."""

    def setUp(self):
        super().setUp()
        self.api.responses[f'POST {WEB}/actions'] = Reply(b'null')
        self.answer_polls(('CHECK_IN_PROGRESS', []))

    def test_commands_request_actions_and_report_errors(self):
        for argv, body in (
            (['check'], {'check': None}),
            (['suspend'], {'suspend': None}),
            (['resume'], {'resume': None}),
            (['lock'], {'lock': {'level': 'all'}}),
            (['lock', '--level', 'stacks'], {'lock': {'level': 'stacks'}}),
            (['unlock'], {'unlock': None}),
            (['cancel'], {'cancel_update': None}),
            (['cancel', '--no-rollback'], {'cancel_without_rollback': None}),
        ):
            found = self.rows('stack', *argv, 'web')

            self.assertEqual('CHECK_IN_PROGRESS', found['Stack Status'])
            self.assertEqual(('POST WEB/actions', body), self.take_requests()[0])
        code, message = self.fail('stack', 'lock', 'web', '--level', 'some')

        self.assertEqual(2, code)
        self.assertIn('all', message)
        self.assertEqual([], self.take_requests())
        text = 'Stack web is locked (LOCK_COMPLETE): CHECK needs an unlock first.'
        self.api.responses[f'POST {WEB}/actions'] = error_reply(
            409, 'ActionInProgress', text
        )
        self.assertEqual((1, text), self.fail('stack', 'check', 'web'))

    def test_wait_ends_with_the_status_of_the_requested_action(self):
        self.api.responses[f'GET {WEB}/events?sort_dir=desc&limit=1'] = {'events': []}
        for verb in ('check', 'suspend', 'resume', 'lock', 'unlock'):
            for status, code in (
                (f'{verb.upper()}_COMPLETE', 0),
                (f'{verb.upper()}_FAILED', 1),
            ):
                self.answer_polls((status, []))

                found = self.call('stack', verb, 'web', '--wait')

                self.assertEqual(code, found[0], (verb, status, found))


class StackDeleteTest(ModifyingStackCase):
    """`stack delete`."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.StringIO()))
        self.api.responses[f'DELETE {WEB}'] = Reply(None, 204)

    def test_delete_continues_after_an_error(self):
        self.api.responses[f'GET {ALL}/nothing'] = error_reply(
            404, 'EntityNotFound', 'The Stack (nothing) could not be found.'
        )

        code, out, err = self.call('stack', 'delete', '--yes', 'nothing', 'web')

        self.assertEqual(
            (2, '', 'watcherlite: The Stack (nothing) could not be found.\n'),
            (code, out, err),
        )
        self.assertEqual([('GET ALL/nothing',), ('DELETE WEB',)], self.take_requests())

    def test_deletion_asks_for_confirmation_only_on_a_terminal(self):
        self.assertEqual('', self.succeed('stack', 'delete', 'web'))
        self.assertEqual([('DELETE WEB',)], self.take_requests())
        for answer, code, requests in (
            ('y\n', 0, [('DELETE WEB',)]),
            ('n\n', 1, []),
            ('', 1, []),
        ):
            self.useFixture(fixtures.MonkeyPatch('sys.stdin', Stream(True, answer)))

            found, out, err = self.call('stack', 'delete', 'web')

            self.assertEqual((code, ''), (found, out))
            self.assertTrue(err.startswith('Delete web? [y/N] '), err)
            self.assertEqual(requests, self.take_requests())

    def test_wait_ends_when_the_stack_is_deleted(self):
        self.api.responses[f'GET {WEB}/events?sort_dir=desc&limit=1'] = {'events': []}
        gone = error_reply(404, 'EntityNotFound', 'gone')
        for last, code in (
            (gone, 0),
            (shown.stack(stack_status='DELETE_COMPLETE'), 0),
            (shown.stack(stack_status='DELETE_FAILED'), 1),
        ):
            self.api.responses[f'GET {WEB}/events?sort_dir=asc&limit=1000'] = {
                'events': []
            }
            self.api.responses[f'GET {WEB}?resolve_outputs=false'] = [
                shown.stack(stack_status='DELETE_IN_PROGRESS'),
                last,
            ]

            found = self.call('stack', 'delete', '-y', 'web', '--wait')

            self.assertEqual(code, found[0], found)


class TemplateValidateTest(ModifyingStackCase):
    """`stack template validate`."""

    def test_validate_sends_a_template_with_its_files(self):
        answer = {
            'Description': 'A file.',
            'Parameters': {'size': {'Type': 'Number'}},
            'Environment': {},
        }
        root = '/orchestration/v1/default/validate'
        self.api.responses[f'POST {root}'] = answer
        self.api.responses[f'POST {root}?show_nested=true'] = answer
        environment = self.file('parameters: {a: 1}', 'env.yaml')

        found = self.rows('stack', 'template', 'validate', '-t', self.template)
        self.rows(
            *('stack', 'template', 'validate', '-t', self.template, '-e', environment),
            *('--parameter', 'b=2', '--show-nested'),
        )

        self.assertEqual(
            {
                'Description': 'A file.',
                'Parameters': {'size': {'Type': 'Number'}},
                'Environment': {},
            },
            found,
        )
        self.assertEqual(
            [
                (
                    f'POST {root}',
                    {'template': self.sent, 'files': {self.motd: 'hello'}},
                ),
                (
                    f'POST {root}?show_nested=true',
                    {
                        'template': self.sent,
                        'environment': {'parameters': {'b': '2'}},
                        'environment_files': [f'file://{environment}'],
                        'files': {
                            self.motd: 'hello',
                            f'file://{environment}': json.dumps(
                                {'parameters': {'a': 1}}
                            ),
                        },
                    },
                ),
            ],
            self.take_requests(),
        )
