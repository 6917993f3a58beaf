"""The commands that change stacks: their requests and their waiting."""

import _thread
import signal

from tests.functional.cli.fake_api import Reply, error_reply
from tests.functional.cli.stacks import stack_objects as shown
from tests.functional.cli.stacks.stack_case import ALL, WEB, ModifyingStackCase


class StackCreateTest(ModifyingStackCase):
    """`stack create`."""

    def setUp(self):
        super().setUp()
        made = {'stack': {'id': shown.STACK_ID, 'links': [shown.SELF]}}
        self.api.responses[f'POST {ALL}'] = Reply(
            made, 201, {'Location': shown.STACK_URL}
        )

    def create_and_wait(self):
        return self.call(
            *('stack', 'create', 'web', '-t', self.template, '--wait'),
            *('-f', 'value', '-c', 'Stack Name', '-c', 'Stack Status'),
        )

    def test_create_sends_a_template_with_its_files(self):
        found = self.rows('stack', 'create', 'web', '-t', self.template)

        self.assertEqual('CREATE_COMPLETE', found['Stack Status'])
        self.assertEqual(
            [
                (
                    'POST ALL',
                    {
                        'stack_name': 'web',
                        'disable_rollback': True,
                        'parameters': {},
                        'template': self.sent,
                        'files': {self.motd: 'hello'},
                    },
                ),
                ('GET WEB',),
            ],
            self.take_requests(),
        )

    def test_create_sends_all_options(self):
        first = self.file('parameters: {a: 1}', 'first.yaml')
        second = self.file('parameters: {a: 2}', 'second.yaml')
        key = self.file('secret', 'key')

        self.rows(
            *('stack', 'create', 'web', '-t', self.template, '-e', first),
            *('--environment', second, '--parameter', 'size=3'),
            *('--parameter-file', f'key={key}', '--timeout', '7'),
            *('--enable-rollback', '--tags', 'a,b'),
        )

        body = self.take_requests()[0][1]
        self.assertEqual(
            {
                'stack_name': 'web',
                'disable_rollback': False,
                'parameters': {'size': '3', 'key': 'secret'},
                'template': self.sent,
                'environment_files': [f'file://{first}', f'file://{second}'],
                'files': {
                    self.motd: 'hello',
                    f'file://{first}': '{"parameters": {"a": 1}}',
                    f'file://{second}': '{"parameters": {"a": 2}}',
                },
                'timeout_mins': 7,
                'tags': 'a,b',
            },
            body,
        )

    def test_wait_prints_events_on_standard_error(self):
        self.answer_polls(
            (
                'CREATE_IN_PROGRESS',
                [
                    shown.event(1, 'CREATE_IN_PROGRESS'),
                    shown.event(2, 'CREATE_IN_PROGRESS', 'motd', ''),
                ],
            ),
            ('CREATE_IN_PROGRESS', [shown.event(3, 'CREATE_COMPLETE', 'motd', '/m')]),
            ('CREATE_COMPLETE', [shown.event(4, 'CREATE_COMPLETE')]),
        )

        code, out, err = self.create_and_wait()

        self.assertEqual((0, 'web\nCREATE_COMPLETE\n'), (code, out))
        self.assertEqual(
            """\
03:04:05 web CREATE_IN_PROGRESS state changed
03:04:05 motd CREATE_IN_PROGRESS state changed
03:04:05 motd CREATE_COMPLETE state changed
03:04:05 web CREATE_COMPLETE state changed
""",
            err,
        )

    def test_wait_for_a_failed_stack_has_exit_code_1(self):
        self.api.responses[f'GET {WEB}'] = shown.stack(stack_status='CREATE_FAILED')
        self.answer_polls(('CREATE_FAILED', []))

        code, out, err = self.create_and_wait()

        self.assertEqual(
            (
                1,
                'web\nCREATE_FAILED\n',
                'watcherlite: the stack web is CREATE_FAILED: why\n',
            ),
            (code, out, err),
        )

    def test_ctrl_c_ends_the_command_and_not_the_operation(self):
        self.answer_polls(('CREATE_IN_PROGRESS', []))
        # A background job of a shell ignores SIGINT.
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, handler)

        class Interrupting(Reply):
            """A response during which the user presses Ctrl-C."""

            @property
            def body(self):
                _thread.interrupt_main()
                return {'events': []}

            @body.setter
            def body(self, value):
                """Ignore the body."""

        line = f'GET {WEB}/events?sort_dir=asc&limit=1000'
        self.api.responses[line] = Interrupting()

        code, out, err = self.create_and_wait()

        self.assertEqual((130, 'web\nCREATE_COMPLETE\n'), (code, out))
        self.assertIn('the operation continues; see `watcherlite stack show', err)

    def test_create_with_dry_run_prints_the_preview(self):
        self.api.responses[f'POST {ALL}/preview'] = {
            'stack': {
                'stack_name': 'web',
                'resources': [
                    {'resource_name': 'motd', 'resource_type': 'Local::File'}
                ],
            }
        }
        words = ('stack', 'create', 'web', '-t', self.template, '--dry-run')

        table = self.succeed(*words)

        self.assertIn('| Resources  | motd (Local::File) |', table)
        self.assertEqual(
            ['POST ALL/preview'], [request[0] for request in self.take_requests()]
        )

    def test_usage_errors_send_no_request_and_errors_of_the_api_are_reported(self):
        words = ('stack', 'create', 'web', '-t')
        twice = self.file('a: 1\na: 2\n', 'twice.yaml')

        for argv, expected in (
            ([twice], f'{twice}:2: '),
            ([f'{self.home}/none'], f'the template {self.home}/none does not exist'),
            ([self.template, '--parameter', 'x'], "'x' is not of the form NAME=VALUE"),
            ([self.template, '--timeout', 'x'], "'x' is not a number of minutes"),
            (['http://x/y.yaml'], 'http://x/y.yaml is not fetched'),
        ):
            code, message = self.fail(*words, *argv)

            self.assertEqual(2, code)
            self.assertIn(expected, message)
        # Before the command it is the timeout of the connection.
        code, message = self.fail(
            *('--timeout', '0', *words, self.template, '--timeout', '7')
        )
        self.assertEqual(2, code)
        self.assertIn("--timeout is '0'", message)
        self.assertEqual([], self.api.requests)
        for reply, code in (
            (error_reply(409, 'StackExists', 'The Stack (web) already exists.'), 1),
            (error_reply(400, 'StackValidationFailed', 'resources.motd: wrong'), 2),
            (error_reply(503, 'HTTPServiceUnavailable', 'Try later.'), 3),
        ):
            self.api.responses[f'POST {ALL}'] = reply

            found, message = self.fail(*words, self.template)

            self.assertEqual(code, found)
            self.assertIn(reply.body['error']['message'], message)

    def test_adopt_sends_the_data_of_an_abandoned_stack(self):
        path = self.file('{"name": "web", "resources": {}}', 'web.json')

        self.rows('stack', 'adopt', 'web', '--adopt-file', path)

        self.assertEqual(
            {
                'stack_name': 'web',
                'disable_rollback': True,
                'parameters': {},
                'files': {},
                'adopt_stack_data': {'name': 'web', 'resources': {}},
            },
            self.take_requests()[0][1],
        )


class StackUpdateTest(ModifyingStackCase):
    """`stack update`."""

    def setUp(self):
        super().setUp()
        accepted = Reply(b'Accepted.\n', 202, {'Content-Type': 'text/plain'})
        self.api.responses[f'PUT {WEB}'] = self.api.responses[f'PATCH {WEB}'] = accepted

    def test_update_sends_a_template_with_its_files(self):
        self.rows('stack', 'update', 'web', '-t', self.template)

        self.assertEqual(
            [
                (
                    'PUT WEB',
                    {
                        'parameters': {},
                        'template': self.sent,
                        'files': {self.motd: 'hello'},
                    },
                ),
                ('GET WEB',),
            ],
            self.take_requests(),
        )

    def test_update_with_existing_keeps_omitted_values(self):
        self.rows(
            *('stack', 'update', 'web', '--existing', '--parameter', 'a=1'),
            *('--clear-parameter', 'b', '--clear-parameter', 'c'),
            *('--rollback', 'enabled'),
        )
        first = self.take_requests()[0]
        self.rows('stack', 'update', 'web', '--existing', '--rollback', 'disabled')
        second = self.take_requests()[0]

        self.assertEqual(
            (
                'PATCH WEB',
                {
                    'parameters': {'a': '1'},
                    'files': {},
                    'disable_rollback': False,
                    'clear_parameters': ['b', 'c'],
                },
            ),
            first,
        )
        self.assertEqual(True, second[1]['disable_rollback'])

    def test_update_with_dry_run_prints_the_changes(self):
        changes = {
            'unchanged': [{'resource_name': 'a', 'resource_type': 'T'}],
            'updated': [],
            'replaced': [{'resource_name': 'b', 'resource_type': 'T'}],
            'added': [],
            'deleted': [],
        }
        self.api.responses[f'PUT {WEB}/preview?show_nested=true'] = {
            'resource_changes': changes
        }
        self.api.responses[f'PATCH {WEB}/preview'] = {'resource_changes': changes}

        table = self.succeed(
            *('stack', 'update', 'web', '-t', self.template, '--dry-run'),
            '--show-nested',
        )
        found = self.rows('stack', 'update', 'web', '--existing', '--dry-run')

        self.assertIn('| Unchanged  | a (T) ', table)
        self.assertIn('| Replaced   | b (T) ', table)
        self.assertEqual([], found['Added'])
        self.assertEqual(
            ['PUT WEB/preview?show_nested=true', 'PATCH WEB/preview'],
            [request[0] for request in self.take_requests()],
        )

    def test_wait_omits_earlier_events(self):
        last = f'GET {WEB}/events?sort_dir=desc&limit=1'
        self.api.responses[last] = {'events': [shown.event(7, 'CREATE_COMPLETE')]}
        self.answer_polls(('UPDATE_COMPLETE', []))
        news = f'GET {WEB}/events?sort_dir=asc&marker=event-7&limit=1000'
        self.api.responses[news] = {'events': [shown.event(8, 'UPDATE_COMPLETE')]}

        code, _, err = self.call(
            *('stack', 'update', 'web', '-t', self.template, '--wait')
        )

        self.assertEqual(
            (0, '03:04:05 web UPDATE_COMPLETE state changed\n'), (code, err)
        )
        self.assertEqual(
            [last.replace(WEB, 'WEB'), 'PUT WEB'],
            [a[0] for a in self.take_requests()][:2],
        )

    def test_usage_errors_of_update_send_no_request(self):
        for argv, message in (
            ([], 'specify -t TEMPLATE, --existing, or both'),
            (
                ['-t', self.template, '--clear-parameter', 'a'],
                '--clear-parameter requires --existing',
            ),
            (['--existing', '--show-nested'], '--show-nested requires --dry-run'),
        ):
            self.assertEqual(
                (2, f'{message} (see `watcherlite stack update --help`)'),
                self.fail('stack', 'update', 'web', *argv),
            )
        self.assertEqual([], self.take_requests())
