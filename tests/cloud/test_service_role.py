"""The service needs no role but the documented one."""

import json

import yaml
from openstack import exceptions as sdk_exceptions

from tests import bounded
from tests.cloud import api_case, case
from tests.cloud.audit_case import AuditCase
from tests.cloud.ironic import Ironic
from tests.cloud.plan_case import HOSTS, action, other_host
from tests.cloud.role_case import POLICIES, RoleCase
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute_collector import Compute
from watcherlite.plugins.openstack.models.storage_collector import Storage

#: Rules that are only the base of others.
BASES = {'context_is_admin', 'admin_api', 'admin_or_owner'}
#: A rule of the files that keeps the right from the role.
KEPT = {'os_compute_api:servers:migrations:index:host'}
#: Strategy -> its goal and parameters.
STRATEGIES = {
    'host_maintenance': ('cluster_maintaining', {'maintenance_node': HOSTS[0]}),
    'basic': ('server_consolidation', {}),
    'node_resource_consolidation': ('server_consolidation', {}),
    'vm_workload_consolidation': ('server_consolidation', {}),
    'outlet_temperature': ('thermal_optimization', {}),
    'uniform_airflow': ('airflow_optimization', {}),
    'workload_balance': ('workload_balancing', {}),
    'workload_stabilization': ('workload_balancing', {}),
    'storage_capacity_balance': ('workload_balancing', {}),
    'zone_migration': (
        'hardware_maintenance',
        {
            'compute_nodes': [{'src_node': HOSTS[0], 'dst_node': HOSTS[1]}],
            'storage_pools': [
                {
                    'src_pool': 'storage@fast#fast-1',
                    'src_type': 'fast',
                    'dst_pool': 'storage@fast#fast-2',
                }
            ],
        },
    ),
    'saving_energy': ('saving_energy', {}),
    'noisy_neighbor': ('noisy_neighbor', {}),
}


class TestPlans(AuditCase, RoleCase):
    """Plans, data models and strategies, which act with the authority of the role."""

    def attached_volume(self, server):
        """Return a volume that is attached to a server."""
        volume = self.create_volume()
        self.demo.compute.create_volume_attachment(server.id, volume_id=volume.id)
        return self.wait_for_volume(volume.id, 'in-use')

    def test_every_action_type_on_servers_and_volumes(self):
        server, volume = self.create_server(), self.create_volume()
        attached = self.attached_volume(server)
        here, there = server.compute_host, other_host(server.compute_host)
        on_server = {'resource_id': server.id}
        live = {**on_server, 'migration_type': 'live'}
        cold = {**on_server, 'migration_type': 'cold'}
        self.addCleanup(self.enable, there)
        self.start_daemons()

        state, actions = self.run_plan(
            action('live', 'migrate', **live, source_node=here, destination_node=there),
            action(
                'cold',
                'migrate',
                'live',
                **cold,
                source_node=there,
                destination_node=here,
            ),
            action('anywhere', 'migrate', 'cold', **cold, source_node=here),
            action('back', 'migrate', 'anywhere', **live, source_node=there),
            action('resize', 'resize', 'back', **on_server, flavor='m1.tiny'),
            action('stop', 'stop', 'resize', **on_server),
            action('start', 'start', 'stop', **on_server),
            action(
                'swap',
                'volume_migrate',
                'start',
                resource_id=attached.id,
                migration_type='swap',
                destination_node=self.other_pool(attached.host),
            ),
            action(
                'move',
                'volume_migrate',
                resource_id=volume.id,
                migration_type='migrate',
                destination_node=self.other_pool(volume.host),
            ),
            action(
                'retype',
                'volume_migrate',
                'move',
                resource_id=volume.id,
                migration_type='retype',
                destination_type='slow',
            ),
            on_failure='continue',
        )

        self.assert_states(dict.fromkeys(actions, 'SUCCEEDED'), actions)
        self.assertEqual('SUCCEEDED', state)
        after = self.server(server.id)
        self.assertEqual(
            ('ACTIVE', 'm1.tiny', server.addresses),
            (after.status, after.flavor.original_name, after.addresses),
        )
        self.assertEqual(
            ('in-use', 'slow'),
            (
                self.admin.block_storage.get_volume(attached.id).status,
                self.admin.block_storage.get_volume(volume.id).volume_type,
            ),
        )

    def test_a_failure_is_explained_and_a_live_migration_aborted(self):
        failing = self.create_server(cloud_fail='migration')
        slow = self.create_server(cloud_migration_seconds='600')
        self.start_daemons()
        place = self.start_plan(
            action(
                'cold',
                'migrate',
                resource_id=failing.id,
                migration_type='cold',
                source_node=failing.compute_host,
            ),
            action(
                'live',
                'migrate',
                resource_id=slow.id,
                migration_type='live',
                source_node=slow.compute_host,
            ),
            on_failure='continue',
        )
        self.wait_for_server(slow.id, task_state='migrating')
        bounded.wait_until(lambda: self.actions(place)['cold']['state'] == 'FAILED')

        cancel = [{'op': 'replace', 'path': '/state', 'value': 'CANCELLING'}]
        self.ask(self.port, 'PATCH', place, cancel)

        self.wait_for_plan(place)
        self.wait_for_migrations(slow.id, 'cancelled')
        self.assertIn(
            "asked for by the server's metadata",
            self.actions(place)['cold']['status_message'],
        )

    def test_a_resize_that_awaits_its_confirmation_is_reverted(self):
        server, compute = self.create_server(), self.demo.compute
        compute.resize_server(server.id, compute.find_flavor('m1.tiny').id)
        self.wait_for_server(server.id, status='VERIFY_RESIZE', task_state=None)

        # As the cancellation of a resize does.
        self.connect(case.SERVICE).compute.revert_server_resize(server.id)

        after = self.wait_for_server(server.id, status='ACTIVE', task_state=None)
        self.assertEqual('m1.nano', after.flavor.original_name)

    def test_services_of_hosts_and_the_power_of_nodes_are_changed(self):
        hypervisor = next(
            one for one in self.admin.compute.hypervisors() if one.name == HOSTS[1]
        )
        ironic = self.useFixture(
            Ironic('rack-1', hypervisors={'rack-1': hypervisor.id})
        )
        self.clouds_file = self.changed_clouds(baremetal_endpoint_override=ironic.url)
        self.addCleanup(self.enable, HOSTS[1])
        self.start_daemons()
        # Servers on the host, which others may have, prevent that it is switched off.
        servers = self.admin.compute.servers(all_projects=True)
        occupied = any(one.compute_host == HOSTS[1] for one in servers)
        expected = 'FAILED' if occupied else 'SUCCEEDED'

        _, actions = self.run_plan(
            action(
                'disable',
                'change_nova_service_state',
                resource_id=HOSTS[1],
                state='disabled',
            ),
            action(
                'enable',
                'change_nova_service_state',
                'disable',
                resource_id=HOSTS[1],
                state='enabled',
            ),
            action('off', 'change_node_power_state', resource_id='rack-1', state='off'),
            on_failure='continue',
        )

        self.assert_states(
            {'disable': 'SUCCEEDED', 'enable': 'SUCCEEDED', 'off': expected}, actions
        )

    def test_the_data_models_are_those_that_an_administrator_collects(self):
        server, volume = self.create_server(), self.create_volume()

        def collect(collector, clouds):
            collector.clouds = clouds
            return collector.restrict(collector.collect(), [])

        every = []
        for clouds in (self.service_clouds(), self.open_clouds(case.ADMIN)):
            compute = collect(Compute(), clouds)
            storage = collect(Storage(), clouds)
            every.append(
                (
                    compute.nodes,
                    compute.find_server(server.id),
                    storage.types,
                    [pool.name for pool in storage.pools],
                    next(one for one in storage.volumes if one.uuid == volume.id),
                )
            )
        self.assertEqual(*every)

    def test_every_strategy_reads_what_it_needs(self):
        connection = self.connect_to_new_project()
        mine = self.create_servers_on(connection, *HOSTS)
        hypervisors = {one.name: one.id for one in self.admin.compute.hypervisors()}
        ironic = self.useFixture(
            Ironic('rack-1', hypervisors={'rack-1': hypervisors[HOSTS[1]]})
        )
        self.clouds_file = self.changed_clouds(baremetal_endpoint_override=ironic.url)
        values = self.home / 'measurements.json'
        values.write_text(
            json.dumps(
                {
                    name: dict.fromkeys(
                        HOSTS if name in metrics.HOST_METRICS else mine, 10.0
                    )
                    for name in metrics.UNITS
                }
            )
        )
        self.start_all(**{'watcherlite.datasources.file': {'path': str(values)}})
        scope = self.others(*mine)

        ended = {
            strategy: self.run_audit(strategy, goal, scope, **parameters)
            for strategy, (goal, parameters) in STRATEGIES.items()
        }

        self.assertEqual(
            dict.fromkeys(STRATEGIES, 'SUCCEEDED'),
            {name: audit['state'] for name, audit in ended.items()},
            {name: audit['status_message'] for name, audit in ended.items()},
        )


class TestUsers(api_case.CloudApiCase, RoleCase):
    """Work for users: their tokens are validated, and their trusts used."""

    def test_a_stack_is_created_and_deleted_with_the_authority_of_its_user(self):
        demo, name = self.user(case.DEMO), self.unique_name('stack')
        path = f'/orchestration/v1/{demo.project}/stacks'
        template = {
            'heat_template_version': '2021-04-16',
            'resources': {'key': {'type': api_case.KEY_PAIR}},
        }

        answer = self.call(
            demo, 'POST', path, {'stack_name': name, 'template': template}
        )

        self.assertEqual(201, answer.status_code, answer.text)
        stack = answer.json['stack']['id']
        row = self.wait_for_stack(stack, 'CREATE_COMPLETE')
        (resource,) = self.runtime.store.list_resources([row.id])
        self.assertTrue(self.exists(demo, resource.physical_id))
        self.assertEqual(1, len(self.trusts_of(demo)))

        self.call(demo, 'DELETE', f'{path}/{name}/{stack}')
        self.wait_for_stack(stack, 'DELETE_COMPLETE')
        bounded.wait_until(lambda: not self.trusts_of(demo))

        self.assertFalse(self.exists(demo, resource.physical_id))


class TestLimits(RoleCase):
    """The role permits nothing else, although it sees the objects of all projects."""

    def test_requests_that_the_service_does_not_send_are_refused(self):
        admin, role = (
            self.connect(case.ADMIN),
            self.service_clouds().service_connection(),
        )
        demo = self.connect(case.DEMO)
        volume = demo.block_storage.create_volume(
            name=self.unique_name('volume'), size=1
        )
        self.addCleanup(demo.block_storage.delete_volume, volume.id)
        demo.block_storage.wait_for_status(volume, 'available', failures=['error'])
        network = demo.network.find_network('private').id
        image = admin.image.find_image('tiny').id
        hypervisor = next(iter(admin.compute.hypervisors())).id
        name = self.unique_name('refused')

        for request in (
            lambda: role.compute.create_server(
                name=name,
                image_id=image,
                flavor_id=role.compute.find_flavor('m1.nano').id,
                networks=[{'uuid': network}],
            ),
            lambda: role.compute.create_flavor(name=name, ram=1, vcpus=1, disk=1),
            lambda: role.compute.create_aggregate(name=name),
            lambda: role.compute.get_quota_set(demo.current_project_id),
            lambda: role.block_storage.delete_volume(volume.id),
            lambda: role.block_storage.extend_volume(volume.id, 2),
            lambda: role.block_storage.reset_volume_status(
                volume.id, 'error', None, None
            ),
            lambda: role.block_storage.create_type(name=name),
            lambda: role.block_storage.create_volume(name=name, size=1),
            lambda: list(role.placement.resource_providers()),
            lambda: role.placement.delete_resource_provider(hypervisor),
            lambda: list(role.identity.users()),
            lambda: list(role.identity.projects()),
            lambda: list(role.image.images()),
        ):
            self.assertRaises(sdk_exceptions.ForbiddenException, request)

    def test_the_services_allow_the_role_what_the_files_list_and_nothing_else(self):
        for path in sorted(POLICIES.glob('*.yaml')):
            listed = set(yaml.safe_load(path.read_text()))

            self.assertEqual(
                listed - BASES - KEPT,
                self.effective_rules(path.stem) - BASES,
                path.stem,
            )

    def test_objects_of_projects_do_not_exist_in_other_services(self):
        role, demo = self.service_clouds().service_connection(), self.connect(case.DEMO)

        self.assertIsNone(role.network.find_network('private'))
        self.assertRaises(
            sdk_exceptions.NotFoundException,
            role.network.delete_network,
            demo.network.find_network('private').id,
            ignore_missing=False,
        )
