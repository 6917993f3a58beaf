"""The tutorials of the documentation: every command, as printed and in order."""

import os
import pathlib
import shlex
import subprocess

from tests import base
from tests.acceptance import preloaded
from tests.acceptance.clients.commands import shared_clients
from tests.acceptance.daemons import API
from tests.acceptance.test_api import ApiCase
from tests.acceptance.test_stack_examples import list_commands
from tests.bounded import TIMEOUT
from tests.cloud import case
from tests.cloud.audit_case import AuditCase
from tests.cloud.plan_case import HOSTS
from tests.cloud.stack_case import StackCase

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ROOT / 'doc/source'


def commands(page):
    """Return the commands of a page as lists of words."""
    found = []
    for line, printed in list_commands(PAGES / page):
        while line.endswith('\\'):
            line = line.removesuffix('\\') + printed.pop(0).lstrip()
        found.append(shlex.split(line))
    return found


class TutorialCase(base.TestCase):
    """Runs commands of a tutorial.

    :ivar port: of the API
    """

    def setUp(self):
        super().setUp()
        self.scripts = self.useFixture(preloaded.Scripts()).path

    def watcherlite(self, *argv):
        """Run a command of this project; return its output."""
        code, printed = self.run_watcherlite(*argv)
        self.assertEqual(0, code, f'{argv}: {printed}')
        return printed

    def run_watcherlite(self, *argv):
        """Run a command of this project; return its exit code and its output."""
        done = subprocess.run(
            [str(pathlib.Path(self.scripts, 'watcherlite')), *argv],
            cwd=ROOT,
            env={**os.environ, 'WATCHERLITE_ENDPOINT': f'http://127.0.0.1:{self.port}'},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return done.returncode, done.stdout


class TestHostMaintenance(AuditCase, TutorialCase):
    def openstack(self, *argv):
        """Run a command of an unmodified client; return its output."""
        if argv[0] == 'optimize':
            done = self.optimize(*argv[1:])
        else:
            done = shared_clients().run(
                'openstack',
                f'--os-cloud={case.ADMIN}',
                *argv,
                OS_CLIENT_CONFIG_FILE=self.clouds_file,
            )
        self.assertEqual(0, done.code, str(done))
        return done.out

    def run_words(self, program, *argv):
        """Run a command of the tutorial; return its output."""
        run = self.watcherlite if program == 'watcherlite' else self.openstack
        return run(*(self.values.get(word, word) for word in argv))

    def test_maintenance_of_a_host(self):
        host, there = HOSTS
        connection = self.connect_to_new_project()
        busy, other = self.create_servers_on(connection, host, host)
        self.addCleanup(self.enable, host)
        self.start_all()
        show, propose, listed, review, skip, start, watch, check, enable = commands(
            'host_maintenance.rst'
        )
        self.values = {}

        self.assertIn(busy, self.run_words(*show))
        self.run_words(*propose)
        (audit,) = self.get('/v1/audits')['audits']
        self.wait_for_audit(audit['uuid'])
        (plan,) = self.get('/v1/action_plans')['action_plans']
        self.assertIn(plan['uuid'], self.run_words(*listed))
        actions = self.by_resource(f'/v1/action_plans/{plan["uuid"]}')
        self.values = {'PLAN': plan['uuid'], 'ACTION': actions[busy]['uuid']}
        self.assertIn(actions[busy]['uuid'], self.run_words(*review))
        self.run_words(*skip)
        for resource, one in actions.items():
            if one['action_type'] == 'migrate' and resource not in (busy, other):
                # The servers of others stay where they are.
                self.values['ACTION'] = one['uuid']
                self.run_words(*skip)
        self.run_words(*start)
        self.run_words(*watch)

        self.assertEqual({busy: host, other: there}, self.hosts_of(busy, other))
        remaining = self.run_words(*check)
        self.assertIn(busy, remaining)
        self.assertNotIn(other, remaining)
        self.assertEqual('disabled', self.service(host).status)
        self.run_words(*enable)
        self.assertEqual('enabled', self.service(host).status)


class TestThreeTiers(StackCase, ApiCase, TutorialCase):
    def delete_stack(self):
        """Delete the stack of a test that has failed."""
        if self.name in self.watcherlite('stack', 'list', '-f', 'value'):
            self.run_watcherlite('stack', 'unlock', self.name, '--wait')
            self.watcherlite('stack', 'delete', self.name, '--yes', '--wait')

    def test_a_three_tier_stack(self):
        self.start_engine()
        self.port = self.port_of(self.start(API, self.path))
        self.name = self.unique_name('shop')
        self.addCleanup(self.delete_stack)
        values = {
            'shop': self.name,
            'image=debian-12': 'image=tiny',
            'flavor=m1.small': 'flavor=m1.nano',
            'flavor=m1.medium': 'flavor=m1.tiny',
        }
        printed = {}

        for program, *argv in commands('three_tier_stack.rst'):
            self.assertEqual('watcherlite', program)
            words = [values.get(word, word) for word in argv]
            printed[' '.join(argv[:3])] = self.watcherlite(*words)

        self.assertIn('database', printed['stack resource list'])
        self.assertIn('https://', printed['stack output show'])
        for listing in (
            self.connection.compute.servers,
            self.connection.block_storage.volumes,
            self.connection.network.routers,
            self.connection.network.ips,
        ):
            own = {'project_id': self.connection.current_project_id}
            query = own if 'network' in listing.__module__ else {}
            self.assertEqual([], [item.name for item in listing(**query)])
