"""The unmodified client of OpenStack Heat, with processes of watcherlite.

Every command that does not need cloud services, with SQLite and one process; the
commands of maintenance with PostgreSQL, RabbitMQ and one process per task.
"""

import ast
import inspect
import itertools
import os
import pathlib

from tests.acceptance import preloaded
from tests.acceptance.clients import software_tests, stack_templates, stack_tests
from tests.acceptance.clients.heat_case import HeatCase
from tests.acceptance.clients.openstack_case import OnStandalone
from tests.acceptance.clients.plugin import write_plugin
from tests.acceptance.clients.serving import start_servers
from tests.acceptance.clients.stack_templates import TEMPLATE

NAMES = """
import importlib.metadata
for point in importlib.metadata.entry_points(group='openstack.orchestration.v1'):
    print(point.name)
"""
#: A program that uses the client as a library.
PROGRAM = """
import json
import sys
from heatclient import client
heat = client.Client('1', endpoint=sys.argv[1], token='unused')
heat.stacks.create(stack_name='by-program', template=sys.argv[2])
print(json.dumps([stack.stack_name for stack in heat.stacks.list()]))
"""


def list_commands():
    """Return all prefixes of the commands that the tests run."""
    return {
        '_'.join(words[:length])
        for module in (stack_tests, software_tests)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        for args in [_arguments(node)]
        for words in [_leading(args)]
        for length in range(1, len(words) + 1)
    }


def _arguments(node):
    """Return the arguments of a call, including those of unpacked tuples."""
    found = getattr(node, 'elts', getattr(node, 'args', None))
    if not isinstance(found, list):
        return []
    return list(
        itertools.chain.from_iterable(
            each.value.elts
            if isinstance(each, ast.Starred) and isinstance(each.value, ast.Tuple)
            else [each]
            for each in found
        )
    )


def _leading(args):
    taken = itertools.takewhile(lambda arg: isinstance(arg, ast.Constant), args)
    return [str(arg.value) for arg in taken]


class TestHeatClient(
    stack_tests.StackLifecycleTests,
    stack_tests.StackQueryTests,
    software_tests.SoftwareTests,
    OnStandalone,
    HeatCase,
):
    """One process with SQLite."""

    def test_every_command_of_the_client_is_tested(self):
        done = self.clients.run('python', '-c', NAMES)

        names = set(done.out.split())
        documented = list_commands() | {
            # The verb comes from a loop.
            *(f'stack_{verb}' for verb in ('suspend', 'resume', 'check')),
            *(
                f'stack_snapshot_{verb}'
                for verb in ('create', 'list', 'show', 'delete', 'restore')
            ),
        }
        self.assertLess(30, len(names))
        self.assertEqual(set(), names - documented)

    def test_a_token_is_accepted_without_authentication(self):
        done = self.clients.run(
            *('openstack', '--os-auth-type=admin_token', '--os-token=unused'),
            *(f'--os-endpoint={self.endpoint("tokens")}', 'stack', 'list'),
        )

        self.assertEqual(0, done.code, str(done))

    def test_a_program_that_uses_the_library(self):
        path = self.file('program.yaml', stack_templates.MORE)

        done = self.clients.run(
            *('python', '-c', PROGRAM, self.endpoint('programs')),
            pathlib.Path(path).read_text(),
        )

        self.assertEqual(['by-program'], done.json())

    def test_an_installed_watcherlite_adds_lock_and_unlock_to_the_command(self):
        self.create('protected', TEMPLATE)
        words = ('--os-auth-type=none', f'--os-endpoint={self.endpoint()}')
        environment = write_plugin(self.home / 'site-packages')

        self.check_output('stack', 'suspend', 'protected', '--wait')
        statuses = []
        for verb, *more in (('lock', '--level', 'all'), ('unlock',)):
            done = self.clients.run(
                *('openstack', *words, 'stack', verb, 'protected', '--wait', *more),
                *('-f', 'value', '-c', 'Stack Status'),
                **environment,
            )
            self.assertEqual(0, done.code, str(done))
            # The output lists the events first, then the status.
            statuses.append(done.out.split()[-1])
        # The event that it waits for is older than those of the unlock.
        self.check_output('stack', 'suspend', 'protected', '--wait')

        self.assertEqual(['LOCK_COMPLETE', 'UNLOCK_COMPLETE'], statuses)
        shown = self.json('stack', 'show', 'protected')
        self.assertEqual('SUSPEND_COMPLETE', shown['stack_status'])

    def test_the_former_command_lists_stacks(self):
        self.create('old', stack_templates.MORE)

        done = self.clients.run_script(
            *('heat', '--os-no-client-auth', '--os-auth-token', 'unused'),
            *('--heat-url', self.endpoint(), 'stack-list'),
        )

        self.assertIn('| old ', done.out, str(done))


class TestHeatClientWithServers(stack_tests.StackMaintenanceTests, HeatCase):
    """An API and two engines, with PostgreSQL and RabbitMQ.

    Health marks, locks and signals, with the commands of both projects.
    """

    @classmethod
    def serve(cls):
        return start_servers(cls)

    def run_watcherlite(self, *argv):
        """Run a command of watcherlite, which must succeed."""
        done = preloaded.complete(
            ['watcherlite', *argv],
            env={
                **os.environ,
                'WATCHERLITE_ENDPOINT': self.endpoint(),
                'HOME': str(self.home),
            },
            cwd=self.home,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout
