"""The scopes of compute and storage models."""

from tests import base
from tests.compute_models import make_node, make_server
from watcherlite.plugins.openstack.models import compute_scope, storage
from watcherlite.plugins.openstack.models.compute import Aggregate, ComputeSnapshot
from watcherlite.plugins.openstack.models.storage import Pool, StorageSnapshot, Volume

SNAPSHOT = ComputeSnapshot(
    (make_node(1, zone='a'), make_node(2, zone='a'), make_node(3, zone='b')),
    (
        make_server(1, 1, project_id='p', metadata={'optimize': 'False'}),
        make_server(2, 2),
    ),
    (Aggregate(7, 'ssd', frozenset({'compute-2', 'gone'})),),
)


class TestComputeScope(base.TestCase):
    def hosts(self, *rules):
        model = compute_scope.restrict(SNAPSHOT, [{'compute': list(rules)}])
        return [node.hostname[-1] for node in model.nodes]

    def excluded(self, **objects):
        scope = [{'compute': [{'exclude': [objects]}]}]
        model = compute_scope.restrict(SNAPSHOT, scope)
        return [server.name for server in model.servers if server.excluded]

    def test_without_rules_all_nodes_are_in_it(self):
        self.assertEqual(['1', '2', '3'], self.hosts())
        self.assertEqual(3, len(compute_scope.restrict(SNAPSHOT, []).nodes))
        self.assertEqual(
            3, len(compute_scope.restrict(SNAPSHOT, [{'storage': []}]).nodes)
        )

    def test_aggregates_are_named_or_numbered(self):
        for aggregate in ({'name': 'ssd'}, {'id': 7}, {'id': '*'}):
            self.assertEqual(['2'], self.hosts({'host_aggregates': [aggregate]}))
        self.assertEqual([], self.hosts({'host_aggregates': [{'name': 'none'}]}))

    def test_zones_and_aggregates_add_up(self):
        zone = {'availability_zones': [{'name': 'b'}]}

        self.assertEqual(['3'], self.hosts(zone))
        self.assertEqual(['2', '3'], self.hosts(zone, {'host_aggregates': [{'id': 7}]}))
        self.assertEqual(
            ['1', '2', '3'], self.hosts({'availability_zones': [{'name': '*'}]})
        )

    def test_excluded_nodes_are_absent(self):
        self.assertEqual(
            ['3'],
            self.hosts(
                {
                    'exclude': [
                        {'compute_nodes': [{'name': 'compute-1'}]},
                        {'host_aggregates': [{'id': 7}]},
                    ]
                }
            ),
        )

    def test_excluded_servers_remain_and_are_marked(self):
        self.assertEqual(['server-2'], self.excluded(instances=[{'uuid': 'uuid-002'}]))
        self.assertEqual(['server-1'], self.excluded(projects=[{'uuid': 'p'}]))
        self.assertEqual(
            ['server-1'], self.excluded(instance_metadata=[{'optimize': False}])
        )
        self.assertEqual(
            [], self.excluded(instance_metadata=[{'optimize': False}, {'other': 1}])
        )


class TestStorageScope(base.TestCase):
    def test_pools_are_left_out_and_volumes_marked(self):
        snapshot = StorageSnapshot(
            (Pool('h@b#1', zone='a'), Pool('h@b#2', zone='a'), Pool('h@b#3', zone='b')),
            (
                Volume('1', 'one', 'h@b#1', volume_type='fast'),
                Volume('2', 'two', 'h@b#1', volume_type='slow'),
                Volume('3', 'three', 'h@b#1', volume_type='fast', project_id='p'),
            ),
        )

        model = storage.restrict(
            snapshot,
            [
                {
                    'storage': [
                        {'availability_zones': [{'name': 'a'}]},
                        {'volume_types': [{'name': 'fast'}]},
                        {
                            'exclude': [
                                {'storage_pools': [{'name': 'h@b#2'}]},
                                {'projects': [{'uuid': 'p'}]},
                            ]
                        },
                    ]
                }
            ],
        )

        self.assertEqual(['h@b#1'], [pool.name for pool in model.pools])
        self.assertEqual([False, True, True], [one.excluded for one in model.volumes])
