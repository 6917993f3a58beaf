"""Each resource type on real services, driven by openstacksdk."""

import collections
import pathlib
import urllib.parse

import openstack
from keystoneauth1 import noauth, session

from tests.acceptance.daemons import wait_until
from tests.acceptance.test_api import ApiCase
from tests.cloud import api_case, image_gate, stack_case
from tests.functional.plugins.http_server import Server
from watcherlite.domain.templates import document
from watcherlite.plugins.openstack.resources.wait_conditions import SIGNALS

TEMPLATES = pathlib.Path(__file__).parent / 'templates'
#: The effects of an update on a resource; others are unchanged.
UPDATED, REPLACED = 'updated', 'replaced'
#: The types with URLs of the API, as options are named.
ENDPOINTS = (
    'os_heat_softwaredeployment',
    'os_heat_deployedserver',
    'os_heat_waitconditionhandle',
    'os_heat_updatewaitconditionhandle',
)


def effects(updated=(), replaced=()):
    """Return the effects of an update by the names of the resources."""
    return {**dict.fromkeys(updated, UPDATED), **dict.fromkeys(replaced, REPLACED)}


class _NoAuth(noauth.NoAuth):
    """Requests without a token, to an endpoint that is not discovered."""

    def get_endpoint_data(self, session, **options):
        return super().get_endpoint_data(
            session, **{**options, 'discover_versions': False}
        )


class EachTypeCase(stack_case.StackCase, ApiCase):
    """The API, an engine, and a client of the API.

    :ivar client: the orchestration service of openstacksdk
    """

    def setUp(self):
        super().setUp()
        # It reads live attributes, and needs no other endpoints.
        _, self.port = self.serve(openstack=self.cloud_options())
        url = f'http://127.0.0.1:{self.port}'
        self.groups = {
            f'watcherlite.resource_handlers.{name}': {'endpoint': url}
            for name in ENDPOINTS
        }
        endpoint = f'{url}/orchestration/v1/{stack_case.TENANT}'
        client = openstack.connection.Connection(
            session=session.Session(auth=_NoAuth(endpoint))
        )
        self.addCleanup(client.close)
        self.client = client.orchestration
        self.configure(clustering_endpoint_override=f'{url}/clustering/v1')
        self.start_engine()

    # requests

    def create(self, name, **parameters):
        """Create a stack of a template of this folder; return it."""
        self.template = document.parse((TEMPLATES / name).read_text(), name)
        self.parameters = parameters
        stack = self.client.create_stack(
            name=self.unique_name('stack'),
            template=self.template,
            parameters=parameters,
        )
        row = self.stacks.store.find_stack(stack.id, stack_case.TENANT)
        self.addCleanup(self.remove, row)
        self.seen = collections.Counter()
        self.known = {}
        self.assert_done(row, 'CREATE_COMPLETE')
        self.effects(row)
        return row

    def update(self, row, **parameters):
        """Update a stack with other parameters; return the effects."""
        self.parameters = {**self.parameters, **parameters}
        self.client.update_stack(
            row.uuid, template=self.template, parameters=self.parameters
        )
        self.assert_done(row, 'UPDATE_COMPLETE')
        return self.effects(row)

    def act(self, row, expected, **action):
        """Request an action on a stack."""
        response = self.client.post(
            f'/stacks/{row.name}/{row.uuid}/actions', json=action
        )
        self.assertEqual(200, response.status_code, response.text)
        self.assert_done(row, expected)

    def assert_done(self, row, expected):
        """Assert the state in which the operation on a stack ends."""
        wait_until(
            lambda: not self.is_busy(row),
            lambda: self.stacks.describe(row),
            stack_case.TIMEOUT,
        )
        found = self.client.get_stack(row.uuid)
        self.assertEqual(expected, found.status, self.stacks.describe(row))

    def is_busy(self, row):
        self.signal_handles(row)
        return self.stacks.reload(row).state.busy

    def signal_handles(self, row):
        """Send a signal to each handle that has received none."""
        for handle in self.stacks.rows(row).values():
            if SIGNALS in handle.attributes and not handle.attributes[SIGNALS]:
                url = urllib.parse.urlsplit(handle.attributes['endpoint'])
                self.ask(self.port, 'POST', f'{url.path}?{url.query}', {'id': '1'})

    # results

    def effects(self, row):
        """Return the effects of the last update by the names of the resources."""
        service = self.client
        known = {r.name: r.physical_resource_id for r in service.resources(row.uuid)}
        seen = collections.Counter(
            event.resource_name
            for event in service.stack_events(row.uuid)
            if event.resource_status == 'UPDATE_COMPLETE'
        )
        found = {
            name: REPLACED
            for name, physical_id in known.items()
            if physical_id != self.known.get(name, physical_id)
        }
        # The ids of relations contain those of their objects.
        found |= {name: UPDATED for name in known if seen[name] > self.seen[name]}
        self.seen, self.known = seen, known
        return found

    def assert_attributes(self, row):
        """Assert that each resource has exactly the attributes of its type."""
        service, types = self.client, self.stacks.runtime.plugins
        missing = {}
        for name, kind in [(r.name, r.resource_type) for r in self.resources(row)]:
            shown = service.get(f'/stacks/{row.name}/{row.uuid}/resources/{name}')
            found = shown.json()['resource']['attributes']
            declared = types.resource_types()[kind].attributes
            if absent := set(declared) - set(found):
                missing[name] = absent
        self.assertEqual({}, missing)

    def resources(self, row):
        return list(self.client.resources(row.uuid))

    def output(self, row):
        """Return the values of the output `values`; none may be missing."""
        stack = self.client.get_stack(row.uuid)
        (output,) = stack.outputs
        self.assertNotIn('output_error', output)
        return output['output_value']

    def check(self, row):
        """Check a stack; return the states of its resources."""
        self.client.check_stack(self.client.get_stack(row.uuid))
        self.assert_done(row, 'CHECK_COMPLETE')
        return {resource.status for resource in self.resources(row)}

    def delete(self, row):
        """Delete a stack; nothing may be left."""
        self.client.delete_stack(row.uuid)
        wait_until(
            lambda: not self.stacks.reload(row).state.busy,
            lambda: self.stacks.describe(row),
            stack_case.TIMEOUT,
        )
        self.assertEqual(
            'DELETE_COMPLETE',
            self.stacks.reload(row).state.name,
            self.stacks.describe(row),
        )
        self.assertEqual({}, self.left(row))

    def left(self, stack):
        connection, found = self.connection, super().left(stack)
        identity = connection.identity
        listings = {
            'subnet': connection.network.subnets(),
            'trunk': connection.network.trunks(),
            'QoS policy': connection.network.qos_policies(),
            'flavor': connection.compute.flavors(is_public=None),
            'volume type': connection.block_storage.types(is_public=None),
            'image': connection.image.images(),
            'project': identity.projects(),
            'role': identity.roles(),
            'user': identity.users(),
        }
        for kind, listing in listings.items():
            names = [item.name for item in listing if item.name.startswith(stack.name)]
            if names:
                found[kind] = names
        project = connection.current_project_id
        addresses = list(connection.network.ips(project_id=project))
        return {**found, 'floating IP': addresses} if addresses else found


class TestInfrastructure(EachTypeCase):
    def configure(self, **values):
        glance = urllib.parse.urlsplit(self.connection.image.get_endpoint())
        offered = self.connection.image.get_import_info().import_methods['value']
        if 'web-download' not in offered:
            target = f'{glance.scheme}://{glance.netloc}'
            gate = self.useFixture(image_gate.ImageGate(target))
            values['image_endpoint_override'] = gate.url
        super().configure(**values)

    def test_objects_are_created_changed_replaced_locked_and_deleted(self):
        site = self.useFixture(Server(lambda exchange, _: exchange.answer(body=b'x')))
        row = self.create(
            'infrastructure.yaml',
            image_url=f'{site.url}/image',
            public_key=api_case.public_key(),
            project=self.connection.current_project_id,
        )

        self.assert_attributes(row)
        self.assertEqual({'CHECK_COMPLETE'}, self.check(row))
        output = self.output(row)
        self.assertEqual([], [n for n, v in output.items() if v is None])
        network = output['member_network']
        self.assertEqual([network] * 2, output['member_networks'])
        self.assertEqual(2, len({*output['member_addresses'], None}) - 1)

        self.assertEqual(
            effects(
                updated=(
                    *('net', 'subnet', 'router', 'group', 'qos', 'port', 'trunk'),
                    *('address', 'flavor', 'server', 'volume_type', 'volume', 'image'),
                    *('project', 'role', 'user', 'ports'),
                )
            ),
            self.update(row, text='second', number=2),
        )
        output = self.output(row)
        self.assertEqual(
            (2, {'text': 'second'}), (output['volume_size'], output['extra_specs'])
        )
        self.assertEqual(
            effects(
                updated=('association', 'attachment', 'user', 'volume_type', 'ports'),
                replaced=(
                    *('spare_subnet', 'spare_interface', 'rule', 'spare_port'),
                    *('spare_address', 'server_group', 'key', 'flavor', 'server'),
                    *('volume', 'image', 'project'),
                ),
            ),
            self.update(row, generation=2),
        )
        self.assertEqual({'CHECK_COMPLETE'}, self.check(row))

        self.act(row, 'LOCK_COMPLETE', lock={'level': 'all'})
        self.assertEqual({True}, self.protection())
        self.act(row, 'UNLOCK_COMPLETE', unlock=None)
        self.assertEqual({False}, self.protection())
        self.delete(row)

    def protection(self):
        """Return whether the objects that can be locked are protected."""
        connection, known = self.connection, self.known
        identity = connection.identity
        return {
            connection.compute.get_server(known['server']).is_locked,
            connection.image.get_image(known['image']).is_protected,
            *(
                bool(found.options.get('immutable'))
                for found in (
                    identity.get_project(known['project']),
                    identity.get_role(known['role']),
                )
            ),
        }


class TestConfiguration(EachTypeCase):
    def test_configs_are_deployed_and_conditions_wait_for_signals(self):
        row = self.create('configuration.yaml')

        self.assertEqual('first', self.output(row)['config'])
        self.assertEqual(2, len(self.output(row)['chain']))
        self.assert_attributes(row)
        self.assertEqual({'CHECK_COMPLETE'}, self.check(row))

        self.assertEqual(
            effects(
                updated=('deployed', 'deployment', 'deployments', 'chain'),
                replaced=('config', 'cloud_config', 'mime', 'update_handle'),
            ),
            self.update(row, text='second'),
        )
        self.assertEqual(
            effects(
                updated=('deployments',),
                replaced=('deployment', 'handle', 'condition', 'update_handle'),
            ),
            self.update(row, generation=2),
        )
        self.delete(row)


class TestClusters(EachTypeCase):
    def test_clusters_of_servers_are_created_resized_and_deleted(self):
        row = self.create('clusters.yaml')

        self.assertEqual([], [n for n, v in self.output(row).items() if not v])
        self.assert_attributes(row)
        self.assertEqual({'CHECK_COMPLETE'}, self.check(row))
        servers = self.server_ids()
        self.assertEqual(2, len(servers))

        self.assertEqual(
            effects(updated=('profile', 'cluster', 'node', 'policy')),
            self.update(row, text='second', number=2),
        )
        self.assertEqual(2, len(self.output(row)['nodes']))
        self.assertEqual(
            effects(
                updated=('cluster', 'node'), replaced=('profile', 'policy', 'receiver')
            ),
            self.update(row, generation=2),
        )
        self.assertEqual(3, len(self.server_ids()))
        self.assertEqual(set(), servers - self.server_ids())

        self.scale(row)
        self.delete(row)
        self.assertEqual(set(), self.server_ids())

    def scale(self, row):
        """Trigger the receiver, and wait until the cluster has a node less."""
        url = urllib.parse.urlsplit(self.output(row)['url'])
        status, answer = self.ask(self.port, 'POST', f'{url.path}?{url.query}')
        self.assertEqual(202, status, answer)
        wait_until(
            lambda: len(self.server_ids()) == 2,
            lambda: f'{self.server_ids()}',
            stack_case.TIMEOUT,
        )

    def server_ids(self):
        """Return the ids of the servers in the project of the test."""
        return {server.id for server in self.connection.compute.servers()}
