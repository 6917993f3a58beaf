"""The migration of servers and volumes from given places."""

from tests import base
from tests.compute_models import make_node, make_server, migrations
from watcherlite import exceptions, testing
from watcherlite.plugins.openstack.models import compute, storage
from watcherlite.plugins.openstack.models.compute import ComputeModel
from watcherlite.plugins.openstack.models.storage import (
    Pool,
    StorageModel,
    Volume,
    VolumeType,
)
from watcherlite.plugins.openstack.strategies.zone_migration import ZoneMigration

NODES = [make_node(1), make_node(2)]
SERVERS = [
    make_server(1, 1, project_id='a', memory=100),
    make_server(2, 1, project_id='b', memory=300, state=compute.STOPPED),
    make_server(3, 1, project_id='a', memory=200),
    make_server(4, 1, state='error'),
    make_server(5, 1, excluded=True),
]
VOLUMES = [
    Volume('v1', 'one', 'h@a#1', size=1, volume_type='old'),
    Volume(
        'v2',
        '',
        'h@a#1',
        size=2,
        status=storage.IN_USE,
        attached_to=('uuid-003', 'uuid-999'),
    ),
    Volume('v3', 'three', 'h@a#1', size=3, status='error'),
    Volume('v4', 'four', 'h@b#1', size=9),
]
POOLS = [Pool('h@a#1'), Pool('h@b#1')]
COMPUTE = [{'src_node': 'compute-1'}]
STORAGE = [{'src_pool': 'h@a#1', 'dst_pool': 'h@b#1'}]


class TestZoneMigration(base.TestCase):
    def run_strategy(self, **parameters):
        return testing.run_strategy(
            ZoneMigration,
            parameters,
            models={
                'compute': lambda scope: ComputeModel(NODES, SERVERS),
                'storage': lambda scope: StorageModel(
                    POOLS, VOLUMES, [VolumeType('new')]
                ),
            },
        )

    def moved(self, solution):
        return [one.input_parameters['resource_id'] for one in solution.actions]

    def test_servers_are_migrated_within_the_limits(self):
        self.assertEqual(
            ['uuid-001', 'uuid-002'],
            self.moved(self.run_strategy(compute_nodes=COMPUTE)),
        )
        solution = self.run_strategy(compute_nodes=COMPUTE, parallel_per_node=9)
        self.assertEqual(3, len(solution.actions))
        self.assertEqual(
            1, len(self.run_strategy(compute_nodes=COMPUTE, parallel_total=1).actions)
        )

    def test_the_state_selects_the_kind_and_the_rule_the_destination(self):
        solution = self.run_strategy(
            compute_nodes=[{'src_node': 'compute-1', 'dst_node': 'compute-2'}]
        )

        self.assertEqual(
            ['live', 'cold'],
            [one.input_parameters['migration_type'] for one in solution.actions],
        )
        self.assertEqual({'compute-2'}, {one[2] for one in migrations(solution)})

    def test_priorities_order_servers(self):
        for priority, order in (
            ({'compute': 'mem_size'}, ['uuid-002', 'uuid-003', 'uuid-001']),
            ({'project': ['b']}, ['uuid-002', 'uuid-001', 'uuid-003']),
            (
                {'project': ['a'], 'compute': 'mem_size'},
                ['uuid-003', 'uuid-001', 'uuid-002'],
            ),
        ):
            solution = self.run_strategy(
                compute_nodes=COMPUTE, parallel_per_node=9, priority=priority
            )
            self.assertEqual(order, self.moved(solution))

    def test_volumes_are_migrated_or_retyped(self):
        solution = self.run_strategy(
            storage_pools=[
                {'src_pool': 'h@a#1', 'src_type': 'old', 'dst_type': 'new'},
                *STORAGE,
            ]
        )

        retype, migrate = solution.actions
        self.assertEqual(
            {
                'resource_id': 'v1',
                'resource_name': 'one',
                'migration_type': 'retype',
                'destination_type': 'new',
            },
            retype.input_parameters,
        )
        self.assertEqual(
            {
                'resource_id': 'v2',
                'resource_name': 'v2',
                'migration_type': 'migrate',
                'destination_node': 'h@b#1',
            },
            migrate.input_parameters,
        )
        self.assertEqual(
            (1, 1),
            (
                solution.indicators['volume_migrate_count'],
                solution.indicators['volume_update_count'],
            ),
        )

    def test_servers_follow_their_volumes(self):
        solution = self.run_strategy(
            compute_nodes=COMPUTE, storage_pools=STORAGE, with_attached_volume=True
        )

        self.assertEqual(['v1', 'v2', 'uuid-003', 'uuid-001'], self.moved(solution))

    def test_the_efficacy_compares_with_all_that_is_to_be_moved(self):
        indicators = self.run_strategy(compute_nodes=COMPUTE).indicators

        self.assertEqual(
            (1, 2, 1, 1),
            (
                indicators['live_migrate_instance_count'],
                indicators['planned_live_migrate_instance_count'],
                indicators['cold_migrate_instance_count'],
                indicators['planned_cold_migrate_instance_count'],
            ),
        )

    def test_missing_objects_are_named(self):
        for parameters, error, text in (
            ({}, exceptions.Invalid, 'compute_nodes or storage_pools'),
            (
                {'compute_nodes': [{'src_node': 'x'}]},
                exceptions.NotFound,
                'no compute node x',
            ),
            (
                {'storage_pools': [{'src_pool': 'h@a#1', 'dst_pool': 'y'}]},
                exceptions.NotFound,
                'no pool y',
            ),
            (
                {'storage_pools': [{'src_pool': 'h@a#1'}]},
                exceptions.InvalidInput,
                'storage_pools',
            ),
        ):
            with self.assertRaisesRegex(error, text):
                self.run_strategy(**parameters)
