"""The maintenance of a compute node."""

from tests import base
from tests.compute_models import make_node, make_server, migrations, services
from watcherlite import exceptions, testing
from watcherlite.plugins.openstack.models import compute
from watcherlite.plugins.openstack.models.compute import ComputeModel
from watcherlite.plugins.openstack.strategies.host_maintenance import HostMaintenance


class TestHostMaintenance(base.TestCase):
    def run_strategy(self, nodes, servers, **parameters):
        return testing.run_strategy(
            HostMaintenance,
            {'maintenance_node': 'compute-1', **parameters},
            models={'compute': lambda scope: ComputeModel(nodes, servers)},
        )

    def kinds(self, solution):
        return [
            action.input_parameters.get('migration_type', action.action_type)
            for action in solution.actions[1:]
        ]

    def test_the_service_is_disabled_and_every_server_migrated(self):
        servers = [
            make_server(1, 1),
            make_server(2, 1, state=compute.STOPPED),
            make_server(3, 1, state=compute.PAUSED),
            make_server(4, 2),
        ]

        solution = self.run_strategy([make_node(1), make_node(2)], servers)

        first = solution.actions[0]
        self.assertEqual('change_nova_service_state', first.action_type)
        self.assertEqual(
            {
                'resource_id': 'node-1',
                'resource_name': 'compute-1',
                'state': 'disabled',
                'disabled_reason': 'watcher_maintaining',
            },
            first.input_parameters,
        )
        self.assertEqual(['live', 'cold', 'live'], self.kinds(solution))
        self.assertEqual(
            {
                'resource_id': 'uuid-001',
                'resource_name': 'server-1',
                'migration_type': 'live',
                'source_node': 'compute-1',
            },
            solution.actions[1].input_parameters,
        )

    def test_a_backup_node_with_room_gets_all_servers_and_is_enabled(self):
        nodes = [make_node(1), make_node(2, status=compute.DISABLED)]
        servers = [make_server(1, 1), make_server(2, 1)]

        solution = self.run_strategy(nodes, servers, backup_node='compute-2')

        self.assertEqual(
            [
                ('uuid-001', 'compute-1', 'compute-2'),
                ('uuid-002', 'compute-1', 'compute-2'),
            ],
            migrations(solution),
        )
        self.assertEqual(
            {'compute-1': 'disabled', 'compute-2': 'enabled'}, services(solution)
        )

    def test_without_room_on_the_backup_node_nova_selects_destinations(self):
        nodes = [make_node(1), make_node(2, vcpus=1)]
        servers = [make_server(1, 1), make_server(2, 1)]

        solution = self.run_strategy(nodes, servers, backup_node='compute-2')

        self.assertEqual([None, None], [one[2] for one in migrations(solution)])

    def test_migrations_can_be_disabled(self):
        servers = [make_server(1, 1), make_server(2, 1, state=compute.STOPPED)]
        nodes = [make_node(1)]
        live = {'disable_live_migration': True}
        cold = {'disable_cold_migration': True}

        self.assertEqual(
            [['cold', 'cold'], ['live'], ['stop']],
            [
                self.kinds(self.run_strategy(nodes, servers, **given))
                for given in (live, cold, {**live, **cold})
            ],
        )

    def test_excluded_servers_stay(self):
        solution = self.run_strategy([make_node(1)], [make_server(1, 1, excluded=True)])

        self.assertEqual([], migrations(solution))

    def test_a_node_in_maintenance_without_servers_needs_nothing(self):
        node = make_node(
            1, status=compute.DISABLED, disabled_reason='watcher_maintaining'
        )

        self.assertEqual((), self.run_strategy([node], []).actions)

    def test_missing_objects_are_named(self):
        down = make_node(2, state=compute.DOWN)
        for nodes, parameters, error, text in (
            ([down], {}, exceptions.NotFound, 'no compute node compute-1'),
            (
                [make_node(1), down],
                {'backup_node': 'compute-2'},
                exceptions.Conflict,
                'compute-2 is down and cannot be the backup_node',
            ),
            (
                [make_node(1)],
                {'backup_node': 'compute-1'},
                exceptions.Invalid,
                'are both compute-1',
            ),
            (
                [make_node(1, state=compute.DOWN)],
                {},
                exceptions.Conflict,
                'compute-1 is down: its 1 servers cannot be migrated',
            ),
        ):
            with self.assertRaisesRegex(error, text):
                self.run_strategy(nodes, [make_server(1, 1)], **parameters)
