"""The base case of the tests of the Senlin client."""

import textwrap

import requests
import yaml

from tests.acceptance.clients import environments
from tests.acceptance.clients.openstack_case import OpenStackCase
from tests.acceptance.daemons import wait_until
from tests.bounded import TIMEOUT

#: The profile of nodes without side effects.
PROFILE = """\
    type: os.heat.test_resource
    version: "1.0"
    properties: {value: hello}
"""
ENDED = ('SUCCEEDED', 'FAILED', 'CANCELLED')


class SenlinCase(OpenStackCase):
    """Processes of watcherlite, and `openstack cluster`."""

    environment = environments.SENLIN

    def endpoint(self):
        """Return the endpoint of clusters."""
        return f'{self.url}/clustering'

    def command(self, *argv):
        """Run `openstack cluster ...`; return its result."""
        return self.clients.run(
            *('openstack', '--os-auth-type=none'),
            f'--os-endpoint={self.endpoint()}',
            *('cluster', *argv),
        )

    def run_action(self, *argv):
        """Run a command that starts an action; return the action at its end."""
        return self.wait_for_end(
            self.check_output(*argv).rstrip(' .\n').rpartition(' ')[2]
        )

    def wait_for_end(self, uuid):
        """Wait until an action has ended; return it."""

        def now():
            return self.ask('GET', f'/actions/{uuid}')['action']

        wait_until(
            lambda: now()['status'] in ENDED, lambda: f'the end of the action {now()}'
        )
        return now()

    def ask(self, method, path, **options):
        """Send a request without a client; return the JSON body of the response."""
        answer = requests.request(
            method,
            f'{self.endpoint()}/v1{path}',
            timeout=TIMEOUT,
            headers={'OpenStack-API-Version': 'clustering 1.15'},
            **options,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def wait_until_idle(self, name):
        """Wait until no action runs on a cluster."""
        cluster = self.ask('GET', f'/clusters/{name}')['cluster']['id']

        def busy():
            found = self.ask('GET', f'/actions?cluster_id={cluster}')['actions']
            return [a['name'] for a in found if a['status'] not in ENDED]

        wait_until(lambda: not busy(), lambda: f'the end of {busy()}')

    def profile(self, name, text=PROFILE):
        """Store a profile without the client; return its name."""
        spec = yaml.safe_load(textwrap.dedent(text))
        self.ask('POST', '/profiles', json={'profile': {'name': name, 'spec': spec}})
        return name

    def create(self, name, size, *argv):
        """Create a cluster, and wait until it is ACTIVE; return its profile."""
        profile = self.profile(f'profile-of-{name}')
        self.check_output(
            *('create', '--profile', profile, '--desired-capacity', str(size)),
            *(*argv, name),
        )
        self.wait_until_idle(name)
        self.assertEqual('ACTIVE', self.status(name))
        return profile

    def status(self, name):
        """Return the status of a cluster."""
        return self.ask('GET', f'/clusters/{name}')['cluster']['status']

    def members(self, name):
        """Return the status of each node of a cluster, by index."""
        rows = self.json('members', 'list', name)
        return {row['index']: row['status'] for row in rows}
