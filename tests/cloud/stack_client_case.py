"""The base of tests of stacks that a user of a real OpenStack requests with clients."""

import json
from typing import Any

from tests.acceptance.clients import environments
from tests.acceptance.clients.commands import Done
from tests.acceptance.clients.plugin import write_plugin
from tests.acceptance.daemons import wait_until
from tests.cloud import user_case

#: Seconds that an operation on a stack may take on a busy machine.
TIMEOUT = 240
#: The smallest server.
SERVER: dict[str, Any] = {
    'type': 'OS::Nova::Server',
    'properties': {
        'image': 'tiny',
        'flavor': 'm1.nano',
        'networks': [{'network': 'shared'}],
    },
}
#: Heat's condition and the handle with its URL.
CONDITION: dict[str, Any] = {
    'handle': {'type': 'OS::Heat::WaitConditionHandle'},
    'condition': {
        'type': 'OS::Heat::WaitCondition',
        'properties': {'handle': {'get_resource': 'handle'}, 'timeout': TIMEOUT},
    },
}


def template(**resources: Any) -> dict[str, Any]:
    """Return a template with resources."""
    return {'heat_template_version': '2018-08-31', 'resources': resources}


class StackClientCase(user_case.UserCase):
    """A test of stacks of the user; all are deleted after it.

    :ivar heat: the stacks in openstacksdk
    :ivar name: a unique name for a stack
    :ivar region: the region of the endpoint of the API in the catalog of keystone
    """

    def setUp(self) -> None:
        super().setUp()
        self.heat = self.user.orchestration
        self.name = self.unique_name('stack')
        self.variables_of_clients: dict[str, str] = {}
        self.addCleanup(self.remove_stacks)

    def user_values(self) -> dict[str, Any]:
        self.region = self.publish_endpoint()
        regions = [self.variables['OS_REGION_NAME'], self.region]
        return {**super().user_values(), 'regions': regions}

    def publish_endpoint(self) -> str:
        """Add the API to the catalog of keystone; return the region of the endpoint.

        python-heatclient finds it only there. The region is one of the test, because
        tests of others may do the same.
        """
        identity, name = self.admin.identity, self.unique_name('region')
        region = identity.create_region(id=name)
        self.addCleanup(identity.delete_region, region)
        service = identity.create_service(name=name, type='orchestration')
        self.addCleanup(identity.delete_service, service)
        identity.create_endpoint(
            service_id=service.id,
            region_id=name,
            interface='public',
            url=f'http://127.0.0.1:{self.port}/orchestration/v1/%(project_id)s',
        )
        return name

    def install_plugin(self) -> None:
        """Make the plugin of watcherlite available to the client."""
        self.variables_of_clients = write_plugin(self.home / 'site-packages')

    def listings(self) -> Any:
        network = self.user.network

        def security_groups() -> Any:
            # neutron makes the group `default`.
            groups = network.security_groups()
            return [group for group in groups if group.name != 'default']

        def key_pairs() -> Any:
            # They belong to the user, not to the project.
            pairs = self.user.compute.keypairs()
            return [pair for pair in pairs if pair.name.startswith(self.name)]

        return {
            **super().listings(),
            'network': network.networks,
            'router': network.routers,
            'security group': security_groups,
            'key pair': key_pairs,
        }

    def remove_stacks(self) -> None:
        """Delete all stacks of the project; fail if objects are left."""
        for stack in self.heat.stacks():
            if stack.status.startswith('LOCK'):
                path = f'/stacks/{stack.name}/{stack.id}/actions'
                self.heat.post(path, json={'unlock': None})
                self.wait_for(stack.name, 'UNLOCK_COMPLETE')
            self.heat.delete_stack(stack)
        wait_until(
            lambda: not list(self.heat.stacks()),
            lambda: f'{[(s.name, s.status_reason) for s in self.heat.stacks()]}',
            TIMEOUT,
        )
        self.assertEqual({}, self.left())

    def file(self, name: str, content: Any) -> str:
        """Write a file of JSON; return its path."""
        path = self.home / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    # commands

    def command(self, *argv: str) -> Done:
        """Run `openstack ...` as the user; return its result."""
        words = argv
        if argv[0] in ('orchestration', 'software', 'stack'):
            words = (f'--os-region-name={self.region}', *argv)
        return self.run_openstack(
            environments.HEAT, *words, **self.variables_of_clients
        )

    def output(self, *argv: str) -> str:
        """Run a command that must succeed; return its output."""
        done = self.command(*argv)
        self.assertEqual(0, done.code, f'{done}\n{self.describe()}')
        found: str = done.out
        return found

    def shown(self, *argv: str) -> Any:
        """Run a command that must succeed; return its output as JSON."""
        return json.loads(self.output(*argv, '-f', 'json'))

    def refusal(self, *argv: str) -> str:
        """Run a command that must fail; return all its text."""
        done = self.command(*argv)
        self.assertNotEqual(0, done.code, str(done))
        return ' '.join((done.out + done.err).split())

    # observations

    def status(self, name: str) -> str:
        """Return the status of a stack as the client shows it."""
        found: str = self.shown('stack', 'show', name)['stack_status']
        return found

    def wait_for(self, name: str, status: str) -> Any:
        """Wait until a stack has a status; return it."""
        wait_until(
            lambda: self.heat.get_stack(name).status == status,
            lambda: f'{status} of {name}:\n{self.describe()}',
            TIMEOUT,
        )
        return self.heat.get_stack(name)

    def ids(self, name: str) -> dict[str, str]:
        """Return the physical ids of the resources of a stack by name."""
        rows = self.shown('stack', 'resource', 'list', name)
        return {row['resource_name']: row['physical_resource_id'] for row in rows}

    def statuses(self, name: str) -> dict[str, str]:
        """Return the statuses of the resources of a stack by name."""
        return {row.name: row.status for row in self.heat.resources(name)}

    def servers(self) -> dict[str, Any]:
        """Return the servers of the project by id."""
        return {server.id: server for server in self.user.compute.servers()}

    def describe(self) -> str:
        """Return the states of all stacks and their resources."""
        lines = []
        for stack in self.heat.stacks():
            lines.append(f'{stack.name}: {stack.status} {stack.status_reason}')
            lines += [
                f'  {row.name}: {row.status} {row.status_reason}'
                for row in self.heat.resources(stack)
            ]
        return '\n'.join(lines)
