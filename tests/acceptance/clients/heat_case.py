"""The base case of the tests of the Heat client."""

import requests

from tests.acceptance.clients import environments
from tests.acceptance.clients.openstack_case import OpenStackCase
from tests.acceptance.daemons import wait_until
from tests.bounded import TIMEOUT

PROJECT = 'own'


class HeatCase(OpenStackCase):
    """Processes of watcherlite, and `openstack stack`."""

    environment = environments.HEAT

    def endpoint(self, project=PROJECT):
        """Return the endpoint of the stacks of a project."""
        return f'{self.url}/orchestration/v1/{project}'

    def command(self, *argv, project=PROJECT):
        """Run a command; return its result."""
        return self.clients.run(
            *('openstack', '--os-auth-type=none'),
            f'--os-endpoint={self.endpoint(project)}',
            *argv,
        )

    def ask(self, method, path, **options):
        """Send a request without a client; return the JSON body of the response."""
        return self.request(method, f'/orchestration/v1/{PROJECT}{path}', **options)

    def request(self, method, path, **options):
        """Send a request to any address of the API; return the body of the response."""
        answer = requests.request(method, self.url + path, timeout=TIMEOUT, **options)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def wait_for(self, name, status):
        """Wait until a stack has a status."""

        def now():
            return self.ask('GET', f'/stacks/{name}')['stack']['stack_status']

        wait_until(
            lambda: now() == status, lambda: f'{status} of {name}, which is {now()}'
        )

    def wait_for_deletion(self, *names):
        """Wait until no stacks have these names."""

        def remaining_names():
            shown = self.ask('GET', '/stacks')['stacks']
            return {stack['stack_name'] for stack in shown} & set(names)

        wait_until(
            lambda: not remaining_names(), lambda: f'the end of {remaining_names()}'
        )

    def create(self, name, template, **parameters):
        """Create a stack without the client, and wait for COMPLETE."""
        body = {'stack_name': name, 'template': template, 'parameters': parameters}
        self.ask('POST', '/stacks', json=body)
        self.wait_for(name, 'CREATE_COMPLETE')

    def resources(self, name):
        """Return the status and the physical id of each resource, by name."""
        return {
            row['resource_name']: (row['resource_status'], row['physical_resource_id'])
            for row in self.json('stack', 'resource', 'list', name)
        }
