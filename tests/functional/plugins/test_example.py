"""The example plan: its requirements exist, and it has the documented results."""

import math
import pathlib
import socket
import subprocess
import sys
import threading
import urllib.request

from tests import base
from tests.bounded import TIMEOUT
from watcherlite import conf, exceptions, testing
from watcherlite.clock import SystemClock
from watcherlite.cmd import example_endpoint
from watcherlite.domain.documents import plan_document
from watcherlite.plugins import loader

EXAMPLES = pathlib.Path(__file__).parents[3] / 'etc' / 'watcherlite' / 'examples'


class TestPlan(base.TestCase):
    def setUp(self):
        super().setUp()
        path = EXAMPLES / 'first-plan.yaml'
        self.plan = plan_document.parse(path.read_text(), str(path))
        self.conf = conf.new([], config_files=[str(EXAMPLES / 'example.conf')])
        self.plugins = loader.load(options=self.conf)
        self.actions = {action.name: action for action in self.plan.actions}

    def run_action(self, name):
        action = self.actions[name]
        kind = self.plugins.action_type(action.action_type)
        group = self.conf[f'watcherlite.action_types.{action.action_type}']
        names = ('allowed', 'creates_below') if action.action_type == 'command' else ()
        given = {name: group[name] for name in names}
        return testing.run_action(
            kind, action.input_parameters, options=given, clock=SystemClock()
        )

    def test_its_settings_and_inputs_are_valid(self):
        self.assertEqual([], conf.unknown_options(self.conf))
        plan_document.check_inputs(
            self.plan,
            lambda name, inputs: self.plugins.validate_inputs(
                self.plugins.make_action_type(name), inputs
            ),
        )

    def test_without_its_settings_it_is_refused(self):
        plugins = loader.load(options=conf.new([], config_files=[]))

        problems = []
        for action in self.plan.actions:
            try:
                plugins.validate_inputs(
                    plugins.make_action_type(action.action_type),
                    action.input_parameters,
                )
            except exceptions.InvalidInput as error:
                problems.append((action.name, str(error).partition(':')[0]))

        self.assertEqual(
            [
                ('temporary-directory', 'input_parameters.argv.0'),
                ('date', 'input_parameters.argv.0'),
                ('disk-space', 'input_parameters.argv.0'),
                ('endpoint', 'input_parameters.argv.0'),
            ],
            problems,
        )

    def test_nothing_of_its_allow_list_can_be_extended(self):
        kind = self.plugins.make_action_type('command')
        for action in self.plan.actions:
            if action.action_type == 'command':
                for more in (['/etc'], ['--directory', '/'], ['-x'], ['']):
                    self.assertRaises(
                        exceptions.InvalidInput,
                        self.plugins.validate_inputs,
                        kind,
                        {'argv': [*action.input_parameters['argv'], *more]},
                    )

    def test_its_web_server_shows_one_directory_and_no_other(self):
        handler = self.plugins.make_resource_handler('Local::Process')
        served = ['{python}', '-m', 'http.server', '--bind', '127.0.0.1']
        served += ['--directory', '/tmp/watcherlite-maintained']
        good = [*served, '28659']

        handler.validate({'argv': good})
        for argv in (
            [*good, '--directory', '/'],
            [*served, '--directory', '/', '28659'],
            [*good, '--bind', '0.0.0.0'],
            [*served, '--cgi'],
            [*served, '--directory=/'],
            good[:5],
        ):
            self.assertRaises(
                exceptions.StackValidationFailed, handler.validate, {'argv': argv}
            )

    def test_its_pre_condition_skips_the_directory(self):
        result = self.run_action('temporary-directory')

        self.assertEqual(
            ('SKIPPED', 'Action was skipped automatically: /tmp exists already'),
            (result.status, result.status_message),
        )

    def test_its_commands_print_output(self):
        for name in ('date', 'disk-space'):
            result = self.run_action(name)

            self.assertEqual('SUCCEEDED', result.status, result)
            self.assertTrue(result.outputs['stdout'])

    def test_concurrent_runs_use_separate_endpoints(self):
        results = []
        threads = [
            threading.Thread(
                target=lambda name=name: results.append((name, self.run_action(name))),
                daemon=True,
            )
            for name in ('call', 'call', 'endpoint', 'endpoint')
        ]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)

        self.assertEqual(
            [('call', 'SUCCEEDED')] * 2 + [('endpoint', 'SUCCEEDED')] * 2,
            sorted((name, result.status) for name, result in results),
            results,
        )
        answers = [r.outputs['json'] for name, r in results if name == 'call']
        self.assertEqual(
            {'system', 'release', 'python', 'cpus', 'load'}, set(answers[0])
        )


class TestEndpoint(base.TestCase):
    MODULE = 'watcherlite.cmd.example_endpoint'

    def start(self, *arguments):
        process = subprocess.Popen(
            [sys.executable, '-m', self.MODULE, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_it_ends_after_one_request(self):
        process = self.start('--port', '0')
        address = process.stdout.readline().removeprefix('listening on ').strip()
        host, _, port = address.partition(':')
        self.assertEqual('127.0.0.1', host)

        # The server must survive a client that sends nothing.
        socket.create_connection((host, int(port))).close()
        with urllib.request.urlopen(f'http://{address}/', timeout=TIMEOUT) as answer:
            self.assertEqual('application/json', answer.headers['Content-Type'])
            self.assertEqual(200, answer.status)

        self.assertEqual(0, process.wait(TIMEOUT))

    def test_the_endpoint_times_out(self):
        process = self.start('--port', '0', '--seconds', '0.2')

        _, err = process.communicate(timeout=TIMEOUT)

        self.assertEqual((1, 'no request within 0.2 s\n'), (process.returncode, err))

    def test_a_port_in_use_is_reported(self):
        with socket.create_server(('127.0.0.1', 0)) as taken:
            port = taken.getsockname()[1]
            process = self.start('--port', str(port), '--seconds', '0.2')

            _, err = process.communicate(timeout=TIMEOUT)

        self.assertEqual(
            (1, f'port {port} is in use by another program\n'),
            (process.returncode, err),
        )

    def test_it_takes_the_port_when_another_run_has_left_it(self):
        taken = socket.create_server(('127.0.0.1', 0))
        port = taken.getsockname()[1]
        waited = []

        def wait(seconds):
            waited.append(seconds)
            if len(waited) == 2:
                taken.close()

        with example_endpoint.listen(port, math.inf, wait) as endpoint:
            self.assertEqual(port, endpoint.server_port)
        self.assertEqual([example_endpoint.PORT_CHECK] * 2, waited)
