"""Clusters of servers and of stacks in a real cloud, requested with openstacksdk."""

from typing import Any

from openstack import exceptions as sdk_exceptions

from tests.acceptance.daemons import wait_until
from tests.cloud.cluster_case import SERVER, TIMEOUT, ClusterCase

TEMPLATE: dict[str, Any] = {
    'heat_template_version': '2021-04-16',
    'resources': {'server': {'type': 'OS::Nova::Server', 'properties': SERVER}},
    'outputs': {'server': {'value': {'get_resource': 'server'}}},
}


class TestClustersOfServers(ClusterCase):
    def test_a_cluster_is_scaled_updated_operated_recovered_and_deleted(self) -> None:
        made = self.cluster(
            self.server_profile(metadata={'tier': 'web'}, name='web-%index%'), 2
        )
        first = self.servers_of(made)
        self.assertEqual(
            [
                (
                    f'web-{at}',
                    'ACTIVE',
                    {
                        'tier': 'web',
                        'cluster_id': made.id,
                        'cluster_node_id': node.id,
                        'cluster_node_index': str(at),
                        'watcherlite_resource': node.id,
                    },
                )
                for at, node in enumerate(self.nodes(made), 1)
            ],
            [(server.name, server.status, server.metadata) for server in first],
        )

        self.act(made, 'scale_out', count=1)
        self.assertEqual(['ACTIVE'] * 3, self.statuses(made))
        self.act(made, 'scale_in', count=1)
        self.assertEqual(2, len(self.servers()))
        ids = [server.id for server in self.servers_of(made)]

        batch = self.policy(
            'senlin.policy.batch-1.0', min_in_service=1, max_batch_size=1, pause_time=1
        )
        self.act(made, 'policy_attach', policy_id=batch)

        # In place and one by one: the servers are the same.
        action = self.update(
            made,
            self.server_profile(
                metadata={'tier': 'app'}, name='app-%index%', flavor='m1.tiny'
            ),
        )
        servers = self.servers_of(made)
        # openstacksdk does not show the decisions of policies.
        shown = self.clustering.get(f'/actions/{action.id}').json()['action']
        plan = shown['data']['update']['plan']
        self.assertEqual([1, 1], [len(nodes) for nodes in plan])
        self.assertEqual(ids, [server.id for server in servers])
        self.assertEqual(
            {('app', 'm1.tiny', 'ACTIVE')},
            {(s.metadata['tier'], s.flavor.original_name, s.status) for s in servers},
        )
        # By a rebuild: still the same.
        self.update(
            made,
            self.server_profile(
                name='app-%index%',
                flavor='m1.tiny',
                image='tiny-qcow2',
                key_name='cloud',
                user_data='#!/bin/sh',
                personality=[{'path': '/etc/motd', 'contents': 'aGVsbG8='}],
            ),
        )
        servers = self.servers_of(made)
        image = self.user.image.find_image('tiny-qcow2').id
        self.assertEqual(
            [(uuid, image, 'cloud') for uuid in ids],
            [(s.id, s.image.id, s.key_name) for s in servers],
        )
        # By replacement.
        self.update(made, self.server_profile(config_drive=True))
        servers = self.servers_of(made)
        self.assertEqual(set(), {server.id for server in servers} & set(ids))
        self.assertEqual(2, len(self.servers()))
        self.assertEqual([True, True], [bool(s.has_config_drive) for s in servers])

        self.delete(made)
        self.assertEqual({}, self.left())

    def test_a_profile_is_validated_against_the_cloud(self) -> None:
        valid = {**SERVER, 'availability_zone': 'nova', 'security_groups': ['default']}

        self.assertEqual((200, None), self.validate(valid))
        self.assertEqual(
            (
                400,
                "The specified availability_zone 'x' could not be found.; "
                "The specified flavor 'x' could not be found.; "
                "The specified image 'x' could not be found.; "
                "The specified key_name 'x' could not be found.; "
                "The specified network 'x' could not be found.",
            ),
            self.validate(
                {
                    'availability_zone': 'x',
                    'flavor': 'x',
                    'image': 'x',
                    'key_name': 'x',
                    'networks': [{'network': 'x'}],
                }
            ),
        )
        code, text = self.validate({**SERVER, 'context': {'region_name': 'nowhere'}})
        self.assertEqual(400, code)
        self.assertIn('has no endpoint', str(text))

    def validate(self, properties: Any) -> tuple[int, str | None]:
        """Return the status, and the message, of the validation of a profile."""
        spec = {'type': 'os.nova.server', 'version': '1.0', 'properties': properties}
        try:
            self.clustering.validate_profile(spec=spec)
        except sdk_exceptions.BadRequestException as error:
            return error.status_code, error.details
        return 200, None

    def test_a_server_is_adopted_joins_a_cluster_and_leaves_it(self) -> None:
        compute = self.user.compute
        server = compute.create_server(
            name=self.unique_name('server'),
            image_id=self.user.image.find_image('tiny').id,
            flavor_id=compute.find_flavor('m1.nano').id,
            networks=[{'uuid': self.user.network.find_network('shared').id}],
            metadata={'tier': 'web'},
        )
        compute.wait_for_server(server, wait=TIMEOUT)
        made = self.cluster(self.server_profile(), 0)

        node = self.clustering.adopt_node(
            identity=server.id, type='os.nova.server-1.0', name='kept'
        )
        (check,) = self.clustering.actions(target_id=node.id)
        self.wait_for_action(check.id)
        profile = self.clustering.get_profile(node.profile_id)
        self.act(made, 'add_nodes', nodes=['kept'])
        (joined,) = self.servers_of(made)

        self.assertEqual(
            {
                'auto_disk_config': False,
                'availability_zone': 'nova',
                'config_drive': False,
                'flavor': 'm1.nano',
                'image': server.image.id,
                'metadata': {'tier': 'web'},
                'name': server.name,
                'networks': [{'network': 'shared'}],
                'security_groups': ['default'],
            },
            {**profile.spec['properties'], 'auto_disk_config': False},
        )
        self.assertEqual((server.id, ['ACTIVE']), (joined.id, self.statuses(made)))
        self.assertEqual(made.id, joined.metadata['cluster_id'])
        self.act(made, 'del_nodes', nodes=['kept'])
        left = compute.get_server(server.id).metadata
        self.assertEqual(
            {
                'tier': 'web',
                'cluster_node_id': node.id,
                'watcherlite_resource': node.id,
            },
            left,
        )
        self.delete(made)

    def test_operations_change_the_servers_and_checks_expect_what_they_left(
        self,
    ) -> None:
        made = self.cluster(self.server_profile(), 2)

        for operation, parameters, status in (
            ('reboot', {'type': 'HARD'}, 'ACTIVE'),
            ('reboot', {}, 'ACTIVE'),
            ('pause', {}, 'PAUSED'),
            ('unpause', {}, 'ACTIVE'),
            ('suspend', {}, 'SUSPENDED'),
            ('resume', {}, 'ACTIVE'),
            ('rebuild', {}, 'ACTIVE'),
            ('rescue', {'admin_pass': 'secret-word'}, 'RESCUE'),
            ('unrescue', {}, 'ACTIVE'),
            ('change_password', {'admin_pass': 'secret-word'}, 'ACTIVE'),
            ('stop', {}, 'SHUTOFF'),
        ):
            action = self.operate(made, operation, **parameters)
            self.assertEqual(
                [status, status],
                [server.status for server in self.servers_of(made)],
                operation,
            )
            self.assertEqual(['ACTIVE'] * 2, self.statuses(made), operation)
            self.assertNotIn('secret-word', self.dump(action.to_dict()))
        # They were stopped on purpose.
        self.act(made, 'check')
        self.assertEqual(['ACTIVE'] * 2, self.statuses(made))
        self.operate(made, 'start')
        self.operate(made, 'lock')
        self.assertEqual([True] * 2, [s.is_locked for s in self.servers_of(made)])
        self.operate(made, 'unlock')

        # Only administrators may move servers.
        self.operate(made, 'migrate', 'FAILED')
        reasons = {node.status_reason for node in self.nodes(made)}
        self.assertIn('The user needs a role that permits this', str(reasons))

    def test_servers_that_stopped_failed_or_were_deleted_are_recovered(self) -> None:
        made = self.cluster(self.server_profile(), 3)
        gone, stopped, broken = self.servers_of(made)
        compute = self.user.compute
        compute.delete_server(gone)
        compute.wait_for_delete(gone, wait=TIMEOUT)
        compute.stop_server(stopped)
        compute.wait_for_server(stopped, status='SHUTOFF', wait=TIMEOUT)
        self.admin.compute.reset_server_state(broken.id, 'error')

        self.act(made, 'check')
        self.assertEqual(['ERROR'] * 3, self.statuses(made))
        reasons = [node.status_reason for node in self.nodes(made)]
        self.assertIn('no longer exists', reasons[0])
        self.assertIn('has the status SHUTOFF', reasons[1])
        self.assertIn('has the status ERROR', reasons[2])
        _, second, third = self.nodes(made)
        self.act(second, 'recover', operation='REBOOT')
        self.act(third, 'recover', operation='REBUILD')
        self.act(made, 'recover', operation='RECREATE', check=True)

        self.assertEqual(['ACTIVE'] * 3, self.statuses(made))
        servers = self.servers_of(made)
        self.assertNotEqual(gone.id, servers[0].id)
        self.assertEqual([stopped.id, broken.id], [s.id for s in servers[1:]])
        self.assertEqual(['ACTIVE'] * 3, [s.status for s in servers])
        self.act(made, 'check')
        self.assertEqual(['ACTIVE'] * 3, self.statuses(made))

    def test_an_engine_that_is_killed_leaves_each_node_one_server(self) -> None:
        made = self.clustering.create_cluster(
            name=self.unique_name('cluster'),
            profile_id=self.server_profile(networks=[{'network': 'shared'}]),
            desired_capacity=6,
        )
        (action,) = self.clustering.actions(target_id=made.id)
        wait_until(lambda: len(self.servers()) >= 2, self.describe, TIMEOUT)

        self.engine.kill()
        self.start_engine()
        self.wait_for_action(action.id)

        self.assertEqual(['ACTIVE'] * 6, self.statuses(made))
        self.assertEqual(
            sorted(node.physical_id for node in self.nodes(made)),
            sorted(server.id for server in self.servers()),
        )
        self.delete(made)
        self.assertEqual({}, self.left())

    def test_ports_and_floating_ips_of_nodes_are_created_and_deleted(self) -> None:
        network = self.network()
        made = self.cluster(
            self.server_profile(
                networks=[
                    {
                        'subnet': network['subnet'],
                        'floating_network': 'public',
                        'security_groups': ['default'],
                        'vnic_type': 'normal',
                    }
                ]
            ),
            2,
        )
        ports = list(self.user.network.ports(network_id=network['network']))
        own = [port for port in ports if port.device_owner.startswith('compute:')]
        floating = list(self.user.network.ips())
        self.assertEqual(
            {port.id for port in own}, {address.port_id for address in floating}
        )
        self.assertEqual(
            {'fixed', 'floating'},
            {
                address['OS-EXT-IPS:type']
                for server in self.servers_of(made)
                for addresses in server.addresses.values()
                for address in addresses
            },
        )

        # Another port takes the place of the first, which is deleted.
        self.update(
            made, self.server_profile(networks=[{'network': network['network']}])
        )

        self.assertEqual([], list(self.user.network.ips()))
        ports = list(self.user.network.ports(network_id=network['network']))
        attached = {p.device_id for p in ports if p.device_owner.startswith('compute:')}
        self.assertEqual({server.id for server in self.servers_of(made)}, attached)
        self.delete(made)
        self.assertEqual({}, {k: v for k, v in self.left().items() if k != 'port'})

    def network(self) -> dict[str, str]:
        """Create a network with a router to the public one; return its ids."""
        network = self.user.network
        made = network.create_network(name=self.unique_name('network'))
        self.addCleanup(network.delete_network, made)
        subnet = network.create_subnet(
            network_id=made.id, cidr='10.123.0.0/24', ip_version=4
        )
        router = network.create_router(
            external_gateway_info={'network_id': network.find_network('public').id}
        )
        self.addCleanup(network.delete_router, router)
        network.add_interface_to_router(router, subnet_id=subnet.id)
        self.addCleanup(
            network.remove_interface_from_router, router, subnet_id=subnet.id
        )
        # Before what they use.
        self.addCleanup(self.remove_all, 'clusters')
        return {'network': made.id, 'subnet': subnet.id}


class TestPlacement(ClusterCase):
    def test_zones_regions_and_server_groups_of_policies_are_those_of_nova(
        self,
    ) -> None:
        zone, region = 'nova', self.variables['OS_REGION_NAME']
        made = self.cluster(self.server_profile(), 0)
        for policy in (
            self.policy('senlin.policy.zone_placement-1.0', zones=[{'name': zone}]),
            self.policy(
                'senlin.policy.region_placement-1.0', regions=[{'name': region}]
            ),
            self.policy(
                'senlin.policy.affinity-1.0', servergroup={'policies': 'anti-affinity'}
            ),
        ):
            self.act(made, 'policy_attach', policy_id=policy)
        (group,) = self.user.compute.server_groups()
        self.assertEqual('anti-affinity', group.policy)

        self.act(made, 'scale_out', count=2)

        servers = [
            self.admin.compute.get_server(server.id) for server in self.servers_of(made)
        ]
        self.assertEqual(
            [(zone, zone)] * 2,
            [(s.availability_zone, s.pinned_availability_zone) for s in servers],
        )
        self.assertEqual(
            {'compute-1', 'compute-2'}, {server.compute_host for server in servers}
        )
        (group,) = self.user.compute.server_groups()
        self.assertEqual({s.id for s in servers}, set(group.member_ids))
        self.assertEqual(
            [{'zone': zone, 'region_name': region, 'servergroup': group.id}] * 2,
            [node.data['placement'] for node in self.nodes(made)],
        )

        # There is no third host.
        self.act(made, 'scale_out', 'FAILED', count=1)
        self.assertEqual(['ACTIVE', 'ACTIVE', 'ERROR'], self.statuses(made))
        self.assertIn('No valid host', self.nodes(made)[2].status_reason)
        self.delete(made)
        self.assertEqual({}, self.left())

    def test_a_zone_or_region_that_does_not_exist_is_the_reason(self) -> None:
        for kind, places, text in (
            ('zone_placement', {'zones': [{'name': 'nowhere'}]}, 'availability zone'),
            ('region_placement', {'regions': [{'name': 'nowhere'}]}, 'region nowhere'),
        ):
            made = self.cluster(self.server_profile(), 0)
            policy = self.policy(f'senlin.policy.{kind}-1.0', **places)
            self.act(made, 'policy_attach', policy_id=policy)

            self.act(made, 'scale_out', 'FAILED', count=1)

            (node,) = self.nodes(made)
            self.assertEqual('ERROR', node.status)
            self.assertIn(text, node.status_reason)


class TestClustersOfStacks(ClusterCase):
    def test_a_cluster_of_stacks_is_scaled_checked_recovered_and_deleted(self) -> None:
        made = self.cluster(self.profile('os.heat.stack', template=TEMPLATE), 1)
        self.act(made, 'scale_out', count=1)
        self.assertEqual(['ACTIVE'] * 2, self.statuses(made))
        first, second = self.servers()
        self.user.compute.delete_server(first)
        self.user.compute.wait_for_delete(first, wait=TIMEOUT)

        self.act(made, 'check')
        self.assertEqual(['ACTIVE', 'ERROR'], sorted(self.statuses(made)))
        self.act(made, 'recover', operation='RECREATE')

        self.assertEqual(['ACTIVE'] * 2, self.statuses(made))
        ids = {server.id for server in self.servers()}
        self.assertIn(second.id, ids)
        self.assertEqual(2, len(ids - {first.id}))
        self.delete(made)
        self.assertEqual({}, self.left())
