"""Strategies on a real cloud, from the audit to the moved servers and volumes."""

import signal

from tests.acceptance.daemons import wait_until
from tests.cloud.audit_case import AuditCase
from tests.cloud.ironic import Ironic
from tests.cloud.measured import PERIOD, Measurements
from tests.cloud.plan_case import HOSTS, TIMEOUT

DATASOURCES = 'watcherlite.datasources'


class MeasuredCase(AuditCase):
    """A cloud whose hosts and servers have the measurements of the test."""

    def setUp(self):
        super().setUp()
        if 'CLOUD_PROMETHEUS_URL' not in self.variables:
            self.skip_without('The cloud has no measurements: CLOUD_PROMETHEUS_URL')
        self.measurements = self.useFixture(Measurements(self.variables))

    def datasources(self, *names, **values):
        """Return the options of the datasources.

        :param names: those that are used, the preferred one first
        :param values: options of both
        """
        return {
            'data_models': {'max_age': 0, 'datasources': ','.join(names)},
            f'{DATASOURCES}.prometheus': {'url': self.measurements.url, **values},
            f'{DATASOURCES}.aetos': {'enabled': True, **values},
        }

    def moves(self, place):
        """Return the destinations of the migrations of a plan, by server."""
        return {
            uuid: one['input_parameters'].get('destination_node')
            for uuid, one in self.by_resource(place).items()
            if one['action_type'] == 'migrate'
        }


class TestUsage(MeasuredCase):
    def test_servers_move_by_the_usage_that_prometheus_and_aetos_have(self):
        busy, calm = HOSTS
        first, second, third, last = mine = self.create_servers_on(
            self.connect_to_new_project(), *[busy] * 4
        )
        self.show_only(*mine)
        self.measurements.set(
            {
                busy: {'cpu_percent': 60, 'memory_used_mb': 9000},
                calm: {'cpu_percent': 10, 'memory_used_mb': 3000},
            },
            {
                first: {'cpu_percent': 80, 'memory_used_mb': 100},
                second: {'cpu_percent': 60, 'memory_used_mb': 100},
                third: {'cpu_percent': 40, 'memory_used_mb': 100},
            },
        )
        self.daemon = self.start_standalone(**self.datasources('prometheus'))
        self.measurements.wait_for('host_cpu_usage', {busy: 60, calm: 10})
        self.measurements.wait_for(
            'instance_cpu_usage', {first: 80, second: 60, third: 40}
        )

        # 1.8 of 16 vCPUs are used on the one, none on the other.
        self.check(
            {first: calm},
            *('workload_balance', 'workload_balancing'),
            threshold=8,
            period=PERIOD,
        )
        self.prefer('aetos')
        self.check(
            {second: calm, third: calm},
            *('workload_stabilization', 'workload_balancing'),
            periods={'instance': PERIOD, 'compute_node': PERIOD, 'node': 0},
            thresholds={'instance_cpu_usage': 0.05, 'instance_ram_usage': 0.05},
            host_choice='fullsearch',
        )
        # The last one has not been measured, and counts with its full size.
        self.addCleanup(self.enable, calm)
        self.check(
            {first: busy, second: busy, third: busy},
            *('vm_workload_consolidation', 'server_consolidation'),
            period=PERIOD,
        )
        self.assert_released(calm)
        self.enable(calm)

        self.admin.compute.live_migrate_server(last, host=calm, block_migration='auto')
        self.wait_for_server(last, compute_host=calm, task_state=None)
        self.check({last: busy}, *('basic', 'server_consolidation'), period=PERIOD)
        self.assert_released(calm)
        self.assertEqual(dict.fromkeys(mine, busy), self.hosts_of(*mine))

    def check(self, moves, strategy, goal, **parameters):
        """Check what an audit proposes, and the hosts after the execution.

        :param moves: server -> its new host
        """
        place = self.audit_by_client(strategy, goal, **parameters)
        self.assertEqual(moves, self.moves(place))
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual(moves, self.hosts_of(*moves))

    def prefer(self, datasource):
        """Use another datasource without a restart."""
        self.ini(**self.groups(**self.datasources(datasource)))
        self.daemon.send(signal.SIGHUP)
        self.daemon.wait_for_text('[data_models] datasources changed')

    def assert_released(self, host):
        """Check that a plan has disabled a host without servers."""
        service = self.service(host)
        self.assertEqual(
            ('disabled', 'watcher_disabled'), (service.status, service.disabled_reason)
        )


class TestSizes(AuditCase):
    def test_a_host_is_closed_while_nova_selects_places_for_its_servers(self):
        full, free = HOSTS
        mine = self.create_servers_on(self.connect_to_new_project(), full, full, free)
        self.show_only(*mine)
        self.start_standalone()
        self.addCleanup(self.enable, free)

        place = self.audit_by_client(
            'node_resource_consolidation', 'server_consolidation', host_choice='auto'
        )

        actions = self.actions(place).values()
        names = {one['uuid']: one['name'] for one in actions}
        disable, enable = 'change_nova_service_state-1', 'change_nova_service_state-2'
        self.assertEqual(
            {disable: [], 'migrate-1': [disable], enable: ['migrate-1']},
            {one['name']: [names[uuid] for uuid in one['parents']] for one in actions},
        )
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual(dict.fromkeys(mine, full), self.hosts_of(*mine))
        self.assertEqual('enabled', self.service(free).status)


class TestSensors(MeasuredCase):
    """The cloud has no sensors: the memory of servers is what they measure."""

    def test_servers_leave_a_host_with_a_hot_outlet_or_a_high_airflow(self):
        hot, cool = HOSTS
        server, other = self.create_servers_on(self.connect_to_new_project(), hot, hot)
        self.show_only(server, other)
        kinds = {
            'outlet': (45, 25),
            'inlet': (20, 20),
            'airflow': (60, 10),
            'power': (200, 100),
        }
        name = self.unique_name('sensor')
        self.measurements.set(
            servers={
                f'{name}-{kind}-{host}': {
                    'memory_used_mb': value,
                    'labels': {'resource': host, 'sensor': f'{name}-{kind}'},
                }
                for kind, values in kinds.items()
                for host, value in zip(HOSTS, values, strict=True)
            }
        )
        expressions = {
            'host_outlet_temp_expression': 'outlet',
            'host_inlet_temp_expression': 'inlet',
            'host_power_expression': 'power',
        }
        options = {
            option: f'ceilometer_memory_usage{{sensor="{name}-{kind}"}}'
            for option, kind in expressions.items()
        }
        options['host_airflow_expression'] = (
            f'10 * ceilometer_memory_usage{{sensor="{name}-airflow"}}'
        )
        self.start_standalone(**self.datasources('aetos', **options))
        for metric, values in (
            ('host_outlet_temp', (45, 25)),
            ('host_airflow', (600, 100)),
            ('host_power', (200, 100)),
        ):
            self.measurements.wait_for(
                metric, dict(zip(HOSTS, values, strict=True)), **options
            )

        place = self.audit_by_client(
            'outlet_temperature', 'thermal_optimization', threshold=40
        )
        ((moved, destination),) = self.moves(place).items()
        self.assertEqual(cool, destination)
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual(cool, self.server(moved).compute_host)
        (left,) = {server, other} - {moved}

        # A high airflow with a cool inlet and a low power: all servers leave.
        place = self.audit_by_client(
            'uniform_airflow', 'airflow_optimization', period=PERIOD
        )
        self.assertEqual({left: cool}, self.moves(place))
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual(
            dict.fromkeys([server, other], cool), self.hosts_of(server, other)
        )


class TestCache(MeasuredCase):
    """The memory of servers is what they measure: no cloud here measures caches."""

    def test_a_server_that_takes_the_cache_of_a_more_important_one_moves(self):
        host, quiet = HOSTS
        connection = self.connect_to_new_project()
        (victim,) = self.create_servers_on(
            connection, host, metadata={'watcher-priority': '1'}
        )
        (noisy,) = self.create_servers_on(
            connection, host, metadata={'watcher-priority': '9'}
        )
        self.show_only(victim, noisy)
        expression = {'instance_l3_cache_usage_expression': 'ceilometer_memory_usage'}
        self.measure({victim: 100, noisy: 100})
        self.start_standalone(**self.datasources('prometheus', **expression))
        self.measurements.wait_for(
            'instance_l3_cache_usage', {victim: 100, noisy: 100}, **expression
        )

        self.measure({victim: 10, noisy: 300})
        # The last measurements of the period before may be missing.
        place = wait_until(self.propose, lambda: 'no server moves', TIMEOUT)

        self.assertEqual({noisy: quiet}, self.moves(place))
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual({victim: host, noisy: quiet}, self.hosts_of(victim, noisy))

    def measure(self, caches):
        """Set the caches of servers."""
        self.measurements.set(
            servers={uuid: {'memory_used_mb': size} for uuid, size in caches.items()}
        )

    def propose(self):
        """Run an audit; return the path of its plan, or None without actions."""
        place = self.audit_by_client('noisy_neighbor', 'noisy_neighbor', period=10)
        return place if self.by_resource(place) else None


class TestPlaces(AuditCase):
    def test_servers_and_volumes_of_a_zone_migrate(self):
        source, destination = HOSTS
        connection = self.connect_to_new_project()
        (server,) = self.create_servers_on(connection, source)
        volume = self.create_volume(connection=connection)
        pool = self.other_pool(volume.host)
        self.start_standalone()

        place = self.audit_by_client(
            *('zone_migration', 'hardware_maintenance', self.others(server, volume.id)),
            compute_nodes=[{'src_node': source, 'dst_node': destination}],
            storage_pools=[{'src_pool': volume.host, 'dst_pool': pool}],
        )

        self.assertEqual({server, volume.id}, set(self.by_resource(place)))
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual(destination, self.server(server).compute_host)
        after = self.admin.block_storage.get_volume(volume.id)
        self.assertEqual((pool, 'available'), (after.host, after.status))
        efficacy = self.get(place)['efficacy_indicators']
        self.assertEqual(
            {
                'live_migrate_instance_count': 1,
                'planned_live_migrate_instance_count': 1,
                'volume_migrate_count': 1,
                'planned_volume_migrate_count': 1,
            },
            {one['name']: one['value'] for one in efficacy if one['value']},
        )

    def test_a_volume_leaves_a_full_pool_by_a_retype(self):
        size, connection = 40, self.connect_to_new_project()
        first, second = (self.create_volume(size, 'slow', connection) for _ in range(2))
        pool = first.host

        def used():
            found = {
                one.name: one.capabilities
                for one in self.admin.block_storage.backend_pools()
            }
            return {
                name: has['total_capacity_gb'] - float(has['free_capacity_gb'])
                for name, has in found.items()
            }

        # cinder reports the capacity of a pool once a minute.
        wait_until(lambda: used()[pool] >= 2 * size, lambda: str(used()), TIMEOUT)
        threshold = used()[pool] - size / 2
        self.start_standalone()

        place = self.audit_by_client(
            'storage_capacity_balance',
            'workload_balancing',
            self.others(first.id, second.id),
            volume_threshold=threshold,
        )

        ((volume, action),) = self.by_resource(place).items()
        self.assertEqual(
            ('retype', 'fast'),
            (
                action['input_parameters']['migration_type'],
                action['input_parameters']['destination_type'],
            ),
        )
        self.assertIn(volume, (first.id, second.id))
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        after = self.admin.block_storage.get_volume(volume)
        self.assertEqual(('fast', 'available'), (after.volume_type, after.status))
        self.assertNotEqual(pool, after.host)


class TestEnergy(AuditCase):
    """The small cloud has no bare metal service: it is one of the test."""

    def test_a_host_without_servers_is_powered_off(self):
        used, free = HOSTS
        servers = self.create_servers_on(self.connect_to_new_project(), used)
        hypervisors = {
            one.name: one.id for one in self.admin.compute.hypervisors(details=True)
        }
        ironic = self.useFixture(Ironic(*HOSTS, hypervisors=hypervisors))
        self.show_only(*servers, baremetal_endpoint_override=ironic.url)
        self.start_standalone()

        place = self.propose(0)

        node = ironic.nodes[free]['uuid']
        self.assertEqual({node}, set(self.by_resource(place)))
        self.assertEqual('SUCCEEDED', self.execute_by_client(place))
        self.assertEqual(
            {used: 'power on', free: 'power off'},
            {name: one['power_state'] for name, one in ironic.nodes.items()},
        )
        self.assertEqual(
            [(f'/v1/nodes/{node}/states/power', 'power off')], ironic.requests
        )

        self.assertEqual('SUCCEEDED', self.execute_by_client(self.propose(1)))
        self.assertEqual('power on', ironic.nodes[free]['power_state'])

    def propose(self, needed):
        """Run an audit; return the path of its plan.

        :param needed: the number of hosts without servers that are on
        """
        return self.audit_by_client(
            *('saving_energy', 'saving_energy'),
            free_used_percent=0,
            min_free_hosts_num=needed,
        )
