"""The strategies that read measurements, in small examples."""

import json

from tests import base
from tests.compute_models import make_node, make_server, migrations, services
from watcherlite import exceptions, testing
from watcherlite.plugins import loader, options
from watcherlite.plugins.openstack.datasources.file import File
from watcherlite.plugins.openstack.datasources.prometheus import Prometheus
from watcherlite.plugins.openstack.models import compute
from watcherlite.plugins.openstack.models.compute import ComputeModel
from watcherlite.plugins.openstack.strategies import (
    basic,
    node_resource_consolidation,
    noisy_neighbor,
    outlet_temperature,
    uniform_airflow,
    vm_workload_consolidation,
    workload_balance,
    workload_stabilization,
)

#: Measurements of `TestBasic`.
USAGE = {
    'host_cpu_usage': {'compute-1': 80, 'compute-2': 10, 'compute-3': 40},
    'instance_cpu_usage': {'uuid-001': 10},
}


class MeasuredCase(base.TestCase):
    def run_strategy(self, strategy, nodes, servers, measurements, **parameters):
        """Run a strategy with the datasource `file`."""
        path = self.home / 'measurements.json'
        path.write_text(json.dumps(measurements))
        return testing.run_strategy(
            strategy,
            parameters,
            models={'compute': lambda scope: ComputeModel(nodes, servers)},
            datasource=File(options.standalone_group(File, {'path': str(path)})),
        )


class TestNeeds(MeasuredCase):
    def test_a_missing_datasource_is_named(self):
        with self.assertRaisesRegex(
            exceptions.ConfigurationError, 'No datasource has host_cpu_usage'
        ):
            testing.run_strategy(
                basic.Basic, models={'compute': lambda scope: ComputeModel([], [])}
            )

    def test_missing_measurements_are_named(self):
        with self.assertRaisesRegex(
            exceptions.NotFound,
            r'no host_cpu_usage .* of any of the 1 compute nodes in the last 7200 s',
        ):
            self.run_strategy(basic.Basic, [make_node(1)], [], {})


class TestBasic(MeasuredCase):
    def test_the_least_used_node_is_released(self):
        nodes = [make_node(1), make_node(2, vcpus=2), make_node(3, vcpus=1)]
        servers = [make_server(1, 1), make_server(2, 2), make_server(3, 3)]

        solution = self.run_strategy(basic.Basic, nodes, servers, USAGE)

        self.assertEqual(
            [
                ('uuid-002', 'compute-2', 'compute-1'),
                ('uuid-003', 'compute-3', 'compute-1'),
            ],
            migrations(solution),
        )
        self.assertEqual(
            {'compute-2': 'disabled', 'compute-3': 'disabled'}, services(solution)
        )
        self.assertEqual(
            {
                'compute_nodes_count': 3,
                'released_compute_nodes_count': 2,
                'instance_migrations_count': 2,
            },
            solution.indicators,
        )

    def test_a_node_is_released_as_a_whole_or_not_at_all(self):
        nodes = [make_node(1, vcpus=2), make_node(2)]
        servers = [make_server(1, 1), make_server(2, 2), make_server(3, 2)]

        solution = self.run_strategy(basic.Basic, nodes, servers, USAGE)

        self.assertEqual((), solution.actions)

    def test_attempts_are_limited(self):
        nodes = [make_node(number) for number in (1, 2, 3, 4)]
        servers = [
            make_server(1, 1),
            make_server(2, 2),
            make_server(3, 3, excluded=True),
            make_server(4, 4, excluded=True),
        ]
        usage = {
            'host_cpu_usage': {
                'compute-1': 90,
                'compute-2': 80,
                'compute-3': 20,
                'compute-4': 10,
            },
            'instance_cpu_usage': {'uuid-001': 10},
        }

        released = [
            len(
                migrations(
                    self.run_strategy(
                        basic.Basic, nodes, servers, usage, migration_attempts=limit
                    )
                )
            )
            for limit in (0, 1, 2)
        ]

        self.assertEqual([1, 0, 1], released)


class TestWorkloadBalance(MeasuredCase):
    def run_balance(self, **parameters):
        nodes = [make_node(1, memory=8192), make_node(2, memory=8192), make_node(3)]
        servers = [
            make_server(1, 1, vcpus=4),
            make_server(2, 1, vcpus=2),
            make_server(3, 2, vcpus=1),
        ]
        usage = {
            'instance_cpu_usage': {'uuid-001': 100, 'uuid-002': 90, 'uuid-003': 50},
            'instance_ram_usage': {'uuid-001': 100, 'uuid-002': 3000, 'uuid-003': 0},
        }
        return self.run_strategy(
            workload_balance.WorkloadBalance, nodes, servers, usage, **parameters
        )

    def test_one_server_of_an_overloaded_node_goes_to_the_least_loaded(self):
        solution = self.run_balance()

        # compute-1 has 5.8 vCPUs of load, the average is 2.1: the excess is 3.7.
        self.assertEqual([('uuid-002', 'compute-1', 'compute-3')], migrations(solution))
        indicators = solution.indicators
        self.assertEqual(
            (1, 3),
            (indicators['instance_migrations_count'], indicators['instances_count']),
        )
        self.assertLess(
            indicators['standard_deviation_after_audit'],
            indicators['standard_deviation_before_audit'],
        )

    def test_below_the_threshold_nothing_is_moved(self):
        self.assertEqual([], migrations(self.run_balance(threshold=40)))

    def test_no_destination_reaches_the_threshold(self):
        # 1.8 vCPUs are 11.25 % of compute-3.
        self.assertEqual(1, len(migrations(self.run_balance(threshold=11.3))))
        self.assertEqual([], migrations(self.run_balance(threshold=11.2)))

    def test_memory_is_a_workload_too(self):
        solution = self.run_balance(metrics='instance_ram_usage')

        self.assertEqual(
            ['uuid-001'], [server for server, _, _ in migrations(solution)]
        )


class TestVMWorkloadConsolidation(MeasuredCase):
    def run_consolidation(self, nodes, servers, hosts, cpu):
        measured = {
            'host_cpu_usage': hosts,
            'host_ram_usage': dict.fromkeys(hosts, 10),
            'instance_cpu_usage': cpu,
            'instance_ram_usage': dict.fromkeys(cpu, 10),
        }
        return self.run_strategy(
            vm_workload_consolidation.VMWorkloadConsolidation, nodes, servers, measured
        )

    def test_an_overloaded_node_is_relieved_by_a_disabled_one(self):
        nodes = [make_node(1, vcpus=4), make_node(2, status=compute.DISABLED)]
        servers = [make_server(number, 1, vcpus=2) for number in (1, 2, 3)]
        usage = {'uuid-001': 100, 'uuid-002': 60, 'uuid-003': 100}

        solution = self.run_consolidation(nodes, servers, {'compute-1': 100}, usage)

        self.assertEqual('uuid-002', migrations(solution)[0][0])
        self.assertEqual({'compute-2': 'enabled'}, services(solution))

    def test_little_used_nodes_are_emptied_and_disabled(self):
        nodes = [make_node(1), make_node(2), make_node(3)]
        servers = [make_server(1, 1), make_server(2, 2), make_server(3, 2)]

        solution = self.run_consolidation(
            nodes, servers, {'compute-1': 5, 'compute-2': 20}, {'uuid-001': 50}
        )

        self.assertEqual([('uuid-001', 'compute-1', 'compute-2')], migrations(solution))
        self.assertEqual(
            {'compute-1': 'disabled', 'compute-3': 'disabled'}, services(solution)
        )


class TestNodeResourceConsolidation(base.TestCase):
    def propose(self, *arguments):
        nodes = [make_node(1), make_node(2), make_node(3, status=compute.DISABLED)]
        servers = [make_server(1, 1), make_server(2, 1)] + [
            make_server(number, 2) for number in (3, 4, 5)
        ]
        return node_resource_consolidation.propose(
            ComputeModel(nodes, servers), *arguments
        )

    def test_nodes_are_closed_while_nova_selects_destinations(self):
        solution = self.propose()

        planner = loader.load().make_planner(
            node_resource_consolidation.NodeResourceConsolidation.planner
        )
        disable, first, second, enable = planner.plan(solution).actions
        self.assertEqual('disabled', disable.input_parameters['state'])
        self.assertEqual((disable.name,), first.parents)
        self.assertEqual((first.name,), second.parents)
        self.assertEqual((second.name,), enable.parents)
        self.assertEqual('enabled', enable.input_parameters['state'])
        self.assertEqual([None, None], [one[2] for one in migrations(solution)])

    def test_destinations_can_be_specified(self):
        solution = self.propose('specify')

        self.assertEqual(
            ['compute-2', 'compute-2'], [one[2] for one in migrations(solution)]
        )
        self.assertEqual({}, services(solution))


class TestWorkloadStabilization(MeasuredCase):
    def run_stabilization(self, **parameters):
        nodes = [make_node(1), make_node(2)]
        servers = [make_server(1, 1, vcpus=4), make_server(2, 1, vcpus=4)]
        usage = {
            'host_cpu_usage': {'compute-1': 60, 'compute-2': 10},
            'instance_cpu_usage': {'uuid-001': 100, 'uuid-002': 10},
        }
        return self.run_strategy(
            workload_stabilization.WorkloadStabilization,
            nodes,
            servers,
            usage,
            **parameters,
        )

    def test_servers_move_until_the_deviation_is_below_the_threshold(self):
        for choice in ('cycle', 'retry', 'fullsearch'):
            solution = self.run_stabilization(host_choice=choice)

            self.assertEqual(
                [('uuid-001', 'compute-1', 'compute-2')], migrations(solution)
            )
            indicators = solution.indicators
            self.assertAlmostEqual(0.25, indicators['standard_deviation_before_audit'])
            self.assertAlmostEqual(0.0, indicators['standard_deviation_after_audit'])

    def test_a_stable_cloud_is_left_alone(self):
        solution = self.run_stabilization(thresholds={'instance_cpu_usage': 0.3})

        self.assertEqual((), solution.actions)


class TestNoisyNeighbor(base.TestCase):
    def test_the_server_that_gained_cache_is_moved(self):
        nodes = [make_node(1), make_node(2)]
        servers = [
            make_server(1, 1, metadata={'watcher-priority': '1'}),
            make_server(2, 1, metadata={'watcher-priority': '9'}),
            make_server(3, 1, metadata={'watcher-priority': 'none'}),
        ]
        before = dict.fromkeys(('uuid-001', 'uuid-002', 'uuid-003'), 100.0)
        now = {'uuid-001': 50.0, 'uuid-002': 180.0, 'uuid-003': 100.0}

        def propose(threshold):
            return migrations(
                noisy_neighbor.propose(
                    ComputeModel(nodes, servers), before, now, threshold
                )
            )

        self.assertEqual([('uuid-002', 'compute-1', 'compute-2')], propose(0.35))
        self.assertEqual([], propose(0.6))


class TestOutletTemperature(MeasuredCase):
    def run_outlet(self, temperatures, servers, nodes=None, **parameters):
        return self.run_strategy(
            outlet_temperature.OutletTemperature,
            nodes or [make_node(number) for number in (1, 2, 3)],
            servers,
            {
                'host_outlet_temp': {
                    f'compute-{number}': value
                    for number, value in enumerate(temperatures, start=1)
                }
            },
            **parameters,
        )

    def test_one_server_of_the_hottest_node_goes_to_the_coolest(self):
        servers = [make_server(1, 1), make_server(2, 2), make_server(3, 2)]

        solution = self.run_outlet((36, 40, 30), servers)

        self.assertEqual([('uuid-002', 'compute-2', 'compute-3')], migrations(solution))
        self.assertEqual({}, solution.indicators)

    def test_the_threshold_is_too_hot(self):
        servers = [make_server(1, 1)]

        found = [
            len(migrations(self.run_outlet(temperatures, servers, threshold=30)))
            for temperatures in ((30, 29.9, 31), (29.9, 20, 20), (31, 30, 30))
        ]

        self.assertEqual([1, 0, 0], found)

    def test_servers_that_must_stay_and_full_nodes_are_skipped(self):
        nodes = [
            make_node(1),
            make_node(2, vcpus=1),
            make_node(3),
            make_node(4, status=compute.DISABLED),
        ]
        servers = [
            make_server(1, 1, excluded=True),
            make_server(2, 1, state=compute.STOPPED),
            make_server(3, 1, vcpus=2),
        ]

        solution = self.run_outlet((40, 10, 20, 5), servers, nodes)

        self.assertEqual([('uuid-003', 'compute-1', 'compute-3')], migrations(solution))

    def test_a_node_without_a_measurement_is_no_destination(self):
        self.assertEqual([], migrations(self.run_outlet((40,), [make_server(1, 1)])))


class TestUniformAirflow(MeasuredCase):
    def run_airflow(self, servers, inlet=30, power=400, nodes=None, **parameters):
        return self.run_strategy(
            uniform_airflow.UniformAirflow,
            nodes or [make_node(1), make_node(2), make_node(3, vcpus=4)],
            servers,
            {
                'host_airflow': {'compute-1': 500, 'compute-2': 300, 'compute-3': 100},
                'host_inlet_temp': {'compute-1': inlet},
                'host_power': {'compute-1': power},
            },
            **parameters,
        )

    def test_one_active_server_goes_to_the_lowest_airflow(self):
        servers = [
            make_server(1, 1, state=compute.STOPPED),
            make_server(2, 1),
            make_server(3, 1),
        ]

        # Hot, or powerful: the airflow is no problem of the hardware.
        found = [
            migrations(self.run_airflow(servers, *values))
            for values in ((28, 349), (27, 350), (30, 400))
        ]

        self.assertEqual([[('uuid-002', 'compute-1', 'compute-3')]] * 3, found)

    def test_a_faulty_node_is_emptied_and_its_largest_servers_go_first(self):
        servers = [
            make_server(1, 1, vcpus=1),
            make_server(2, 1, vcpus=4),
            make_server(3, 1, vcpus=2, state=compute.STOPPED),
            make_server(4, 1, vcpus=2, excluded=True),
        ]

        solution = self.run_airflow(servers, inlet=27, power=349)

        self.assertEqual(
            [
                ('uuid-001', 'compute-1', 'compute-2'),
                ('uuid-002', 'compute-1', 'compute-3'),
                ('uuid-003', 'compute-1', 'compute-2'),
            ],
            migrations(solution),
        )
        self.assertEqual({}, solution.indicators)

    def test_a_faulty_node_is_emptied_completely_or_not_at_all(self):
        nodes = [make_node(1), make_node(2, vcpus=1), make_node(3, vcpus=1)]
        servers = [make_server(number, 1) for number in (1, 2, 3)]

        self.assertEqual([], migrations(self.run_airflow(servers, 20, 100, nodes)))

    def test_the_thresholds_are_parameters(self):
        servers = [make_server(1, 1), make_server(2, 1)]

        found = [
            len(migrations(self.run_airflow(servers, **parameters)))
            for parameters in (
                {'threshold_airflow': 501},
                {'threshold_airflow': 500},
                {'threshold_inlet_t': 30.1, 'threshold_power': 400.1},
            )
        ]

        self.assertEqual([0, 1, 2], found)

    def test_missing_metrics_are_named(self):
        for strategy, missing in (
            (
                uniform_airflow.UniformAirflow,
                'host_airflow, host_inlet_temp, host_power',
            ),
            (outlet_temperature.OutletTemperature, 'host_outlet_temp'),
        ):
            without = {f'{metric}_expression': '' for metric in strategy.metrics}
            source = Prometheus(
                options.standalone_group(Prometheus, {'url': 'http://x', **without})
            )
            with self.assertRaisesRegex(
                exceptions.ConfigurationError, f'No datasource has {missing}'
            ):
                testing.run_strategy(
                    strategy,
                    models={'compute': lambda scope: ComputeModel([], [])},
                    datasource=source,
                )
            with self.assertRaisesRegex(
                exceptions.NotFound,
                rf'no {missing.partition(",")[0]} \(.*\) of any of the 1 compute nodes',
            ):
                self.run_strategy(strategy, [make_node(1)], [], {})
