"""The collectors of the data models, with services that exist as lists only."""

import math

from tests import base
from tests.functional.plugins.fake_cloud import FakeCloud, connect
from tests.openstack_lists import FakeConnection
from watcherlite import exceptions
from watcherlite.plugins.openstack.models import baremetal
from watcherlite.plugins.openstack.models.compute import Aggregate, Resources
from watcherlite.plugins.openstack.models.compute_collector import Compute
from watcherlite.plugins.openstack.models.storage_collector import Storage


def hypervisor(number, **values):
    return {
        'id': f'uuid-{number}',
        'hypervisor_hostname': f'compute-{number}.example.org',
        'hypervisor_type': 'QEMU',
        'status': 'enabled',
        'state': 'up',
        'service': {'host': f'compute-{number}', 'disabled_reason': None},
        'vcpus': 8,
        'memory_mb': 4096,
        'local_gb': 50,
        **values,
    }


def server(number, node, **values):
    return {
        'id': f'{number:08}',
        'name': f'server-{number}',
        'tenant_id': 'project',
        'OS-EXT-STS:vm_state': 'active',
        'OS-EXT-SRV-ATTR:hypervisor_hostname': f'compute-{node}.example.org',
        'flavor': {'vcpus': 2, 'ram': 512, 'disk': 10, 'ephemeral': 1, 'swap': 1500},
        'image': {'id': 'image'},
        'metadata': {},
        'locked': False,
        'pinned_availability_zone': None,
        'created': '2030-01-01T00:00:00Z',
        **values,
    }


def inventories(**values):
    return {
        'inventories': {
            name: {'total': 100, 'reserved': 1, 'allocation_ratio': 2.0, **values}
            for name in ('VCPU', 'MEMORY_MB', 'DISK_GB')
        }
    }


def nova(nodes, servers, **changed):
    """Return the answers of nova and placement."""
    return {
        'compute /os-services': {
            'services': [
                {'host': f'compute-{number}', 'zone': 'nova'} for number in nodes
            ]
        },
        'compute /os-hypervisors/detail': {
            'hypervisors': [hypervisor(number) for number in nodes]
        },
        'compute /os-aggregates': {
            'aggregates': [{'id': 3, 'name': 'ssd', 'hosts': ['compute-1']}]
        },
        'compute /servers/detail': {'servers': servers},
        **{
            f'placement /resource_providers/uuid-{number}/inventories': inventories()
            for number in nodes
        },
        **changed,
    }


class TestCompute(base.TestCase):
    def collect(self, answers, **values):
        self.cloud = FakeConnection(answers, **values)
        collector = Compute()
        collector.clouds = self.cloud
        return collector.collect()

    def test_a_thousand_servers_take_as_many_requests_as_a_hundred(self):
        counts = []
        for amount in (100, 1000):
            servers = [server(number, number % 20) for number in range(amount)]
            snapshot = self.collect(nova(range(20), servers))
            self.assertEqual(amount, len(snapshot.servers))
            counts.append(len(self.cloud.requests))

        # Services, hypervisors, aggregates and servers; an inventory for each node.
        self.assertEqual([4 + 20] * 2, counts)

    def test_pages_are_followed_without_their_links(self):
        servers = [server(number, 1) for number in range(25)]

        snapshot = self.collect(nova([1], servers), page=10)

        self.assertEqual(25, len({one.uuid for one in snapshot.servers}))
        self.assertEqual(3, self.cloud.requests.count('compute /servers/detail'))

    def test_nodes_have_the_inventories_of_placement(self):
        (node,) = self.collect(nova([1], [])).nodes

        self.assertEqual(
            ('uuid-1', 'compute-1', 'enabled', 'up', 'nova'),
            (node.uuid, node.hostname, node.status, node.state, node.zone),
        )
        self.assertEqual(Resources(198, 198, 198), node.capacity)

    def test_nodes_without_inventories_have_the_sizes_of_nova(self):
        path = 'placement /resource_providers/uuid-1/inventories'

        (node,) = self.collect(nova([1], [], **{path: 404})).nodes

        self.assertEqual(Resources(8, 4096, 50), node.capacity)

    def test_aggregates_are_kept_for_scopes(self):
        self.assertEqual(
            (Aggregate(3, 'ssd', frozenset({'compute-1'})),),
            self.collect(nova([1], [])).aggregates,
        )

    def test_servers_have_the_resources_of_their_flavor(self):
        volume = {'image': '', 'flavor': {'vcpus': 1, 'ram': 64, 'disk': 10}}

        snapshot = self.collect(nova([1], [server(1, 1), server(2, 1, **volume)]))

        self.assertEqual(
            [Resources(2, 512, 13), Resources(1, 64, 0)],
            [one.resources for one in snapshot.servers],
        )

    def test_servers_without_a_place_and_nodes_of_ironic_are_left_out(self):
        ironic = hypervisor(2, hypervisor_type='ironic')
        answers = nova(
            [1],
            [
                server(1, 1),
                server(2, 1, **{'OS-EXT-STS:vm_state': 'shelved_offloaded'}),
                server(3, 1, **{'OS-EXT-SRV-ATTR:hypervisor_hostname': None}),
                server(4, 2),
            ],
        )
        answers['compute /os-hypervisors/detail']['hypervisors'].append(ironic)

        snapshot = self.collect(answers)

        self.assertEqual(['server-1'], [one.name for one in snapshot.servers])
        self.assertEqual(['compute-1'], [one.hostname for one in snapshot.nodes])

    def test_a_refused_list_is_named(self):
        with self.assertRaisesRegex(
            exceptions.Forbidden, r'GET /os-hypervisors/detail: the compute service'
        ):
            self.collect(nova([1], [], **{'compute /os-hypervisors/detail': 403}))

    def test_a_service_that_is_down_can_be_read_later(self):
        with self.assertRaises(exceptions.ServiceUnavailable):
            self.collect(nova([1], [], **{'compute /servers/detail': 503}))


class TestStorage(base.TestCase):
    def test_pools_volumes_and_types(self):
        volume = {
            'id': 'v1',
            'name': None,
            'os-vol-host-attr:host': 'storage@fast#fast-1',
            'size': 3,
            'status': 'in-use',
            'volume_type': 'fast',
            'bootable': 'true',
            'attachments': [{'server_id': 's1'}],
            'os-vol-tenant-attr:tenant_id': 'project',
            'created_at': '2030-01-01T00:00:00',
        }
        capabilities = {
            'total_capacity_gb': 100,
            'free_capacity_gb': 'unknown',
            'allocated_capacity_gb': 7,
            'max_over_subscription_ratio': '20.0',
            'volume_backend_name': 'fast',
        }
        collector = Storage()
        collector.clouds = FakeConnection(
            {
                'block_storage /os-services': {
                    'services': [
                        {
                            'host': 'storage@fast',
                            'zone': 'nova',
                            'status': 'enabled',
                            'state': 'up',
                        }
                    ]
                },
                'block_storage /scheduler-stats/get_pools': {
                    'pools': [
                        {'name': 'storage@fast#fast-1', 'capabilities': capabilities},
                        {
                            'name': 'lost@slow#1',
                            'capabilities': {'total_capacity_gb': 'infinite'},
                        },
                    ]
                },
                'block_storage /types': {
                    'volume_types': [
                        {
                            'id': 't',
                            'name': 'fast',
                            'extra_specs': {'volume_backend_name': 'fast'},
                        }
                    ]
                },
                'block_storage /volumes/detail': {
                    'volumes': [volume, {'id': 'v2', 'os-vol-host-attr:host': None}]
                },
                'block_storage /snapshots': {
                    'snapshots': [{'id': 'x', 'volume_id': 'v1'}]
                },
            }
        )

        model = collector.restrict(collector.collect(), [])

        lost, pool = model.pools
        self.assertEqual((False, math.inf), (lost.is_enabled, lost.total_capacity_gb))
        self.assertEqual(
            (True, 100.0, None, 7.0, 20.0, 'fast-1'),
            (
                pool.is_enabled,
                pool.total_capacity_gb,
                pool.free_capacity_gb,
                pool.allocated_capacity_gb,
                pool.max_over_subscription_ratio,
                pool.short_name,
            ),
        )
        (found,) = model.volumes
        self.assertEqual(
            ('v1', '', True, True, ('s1',)),
            (
                found.uuid,
                found.name,
                found.bootable,
                found.has_snapshots,
                found.attached_to,
            ),
        )
        self.assertEqual('fast', model.find_type('fast').backend)
        self.assertEqual(5, len(collector.clouds.requests))
        self.assertEqual(
            ['infinite', 100.0],
            [row['pool_total_capacity_gb'] for row in collector.represent(model)],
        )


class TestBaremetal(base.TestCase):
    def test_nodes_name_their_hypervisor(self):
        collector = baremetal.Baremetal()
        collector.clouds = FakeConnection(
            {
                'baremetal /nodes': {
                    'nodes': [
                        {
                            'id': 1,
                            'uuid': 'a',
                            'name': 'rack-1',
                            'power_state': 'power on',
                            'maintenance': False,
                            'extra': {'compute_node_id': 'uuid-1'},
                        },
                        {'id': 2, 'uuid': 'b', 'power_state': None, 'extra': {}},
                    ]
                }
            }
        )
        scope = [{'baremetal': [{'exclude': [{'ironic_nodes': [{'uuid': 'b'}]}]}]}]

        model = collector.restrict(collector.collect(), scope)

        self.assertEqual(
            [('uuid-1', 'power on', False), (None, None, True)],
            [(one.compute_node, one.power_state, one.excluded) for one in model.nodes],
        )
        self.assertEqual('rack-1', collector.represent(model)[0]['node_name'])


class ComputeCloud(FakeCloud):
    """A cloud with nova and placement, whose lists are prescribed."""

    def __init__(self, answers):
        super().__init__()
        self.catalog = {'compute': '/compute', 'placement': '/placement'}
        for name, answer in answers.items():
            service, path = name.split(' ')
            root = '/compute/v2' if service == 'compute' else '/placement'
            self.answers['GET', f'{root}{path}'] = (200, answer, {})

    def describe_version(self, path):
        version = super().describe_version(path)
        if path == '/placement':
            links = [{'rel': 'self', 'href': f'{self.url}/placement'}]
            return {**version, 'id': 'v1.0', 'links': links}
        return {**version, 'version': '2.96', 'min_version': '2.1'}


class TestRequests(base.TestCase):
    def test_a_thousand_servers_take_some_requests_to_real_endpoints(self):
        hosts = range(20)
        servers = [server(number, number % len(hosts)) for number in range(1000)]
        cloud = ComputeCloud(nova(hosts, servers))
        collector = Compute()
        collector.clouds = connect(self, cloud)

        snapshot = collector.collect()

        self.assertEqual((1000, 20), (len(snapshot.servers), len(snapshot.nodes)))
        # Without the tokens and versions of the services.
        self.assertEqual(4 + len(hosts), len(cloud.requests))
