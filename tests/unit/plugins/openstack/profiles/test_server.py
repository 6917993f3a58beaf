"""The profile type `os.nova.server`: requests, changes in place, operations, checks."""

import base64
import email

import yaml

from tests.service_notifications import notification
from tests.unit.plugins.openstack.resources import case
from tests.unit.plugins.openstack.resources.fake_cloud import conflict
from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE
from watcherlite.plugins import specs
from watcherlite.plugins.openstack.profiles.server import ServerProfile
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.openstack.resources.servers import Server
from watcherlite.plugins.resource_handlers.errors import ResourceFault
from watcherlite.testing.resources import STACK

BASE = {'flavor': 'small', 'image': 'image-1'}
TASK = 'OS-EXT-STS:task_state'


class ServerProfileCase(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.compute, self.network = self.connection.compute, self.connection.network
        self.compute.defaults['server'] = {'status': 'ACTIVE'}
        for name in ('image-1', 'image-2'):
            self.connection.image.create_image(id=f'id-of-{name}', name=name)
        self.compute.create_flavor(id='1', name='small')
        self.compute.create_flavor(id='2', name='large')
        self.network.create_network(id='n-id', name='net')
        self.network.create_network(id='p-id', name='public')
        self.network.create_subnet(id='s-id', name='sub', network_id='n-id')
        self.network.create_security_group(id='g-id', name='web')
        self.forget_calls()

    def forget_calls(self):
        self.compute.calls.clear()
        self.network.calls.clear()

    def node(self, placed=None, **properties):
        """Return a node that was created."""
        return self.created(
            ServerProfile, {**BASE, **properties}, name='node-1', metadata=placed
        )

    def record(self, run):
        return self.compute.objects['server'][run.physical_id]

    def called(self, name):
        """Return the arguments by name of the calls of a method of nova."""
        return [given for called, _, given in self.compute.calls if called == name]


class TestProperties(ServerProfileCase):
    def test_clients_see_the_properties_of_senlin(self):
        schema = {
            'properties': {n: p.schema for n, p in ServerProfile.properties.items()}
        }
        shown = specs.describe_schema(schema)

        self.assertEqual(
            {
                'admin_pass': 'String',
                'auto_disk_config': 'Boolean',
                'availability_zone': 'String',
                'block_device_mapping_v2': 'List',
                'config_drive': 'Boolean',
                'context': 'Map',
                'flavor': 'String',
                'image': 'String',
                'key_name': 'String',
                'metadata': 'Map',
                'name': 'String',
                'networks': 'List',
                'personality': 'List',
                'scheduler_hints': 'Map',
                'security_groups': 'List',
                'user_data': 'String',
            },
            {name: one['type'] for name, one in shown.items()},
        )
        self.assertEqual(
            [
                'fixed_ip',
                'floating_ip',
                'floating_network',
                'network',
                'port',
                'security_groups',
                'subnet',
                'vnic_type',
            ],
            sorted(shown['networks']['schema']['*']['schema']),
        )

    def test_wrong_properties_are_refused_with_their_place(self):
        run = self.run_of(ServerProfile)
        device = {'source_type': 'image', 'destination_type': 'volume'}
        for properties, text in (
            ({'image': 'i'}, 'properties.flavor'),
            ({'flavor': 'f'}, 'image: is required without block_device_mapping_v2'),
            ({**BASE, 'networks': [{}]}, "networks.0: One of 'port' and 'network'"),
            (
                {**BASE, 'networks': [{'port': 'p', 'fixed_ip': '10.0.0.1'}]},
                "networks.0: The 'port' property and the 'fixed_ip' property cannot be "
                'specified at the same time',
            ),
            (
                {**BASE, 'networks': [{'network': 'n', 'vnic_type': 'odd'}]},
                'networks.0.vnic_type',
            ),
            ({**BASE, 'networks': [{'uuid': 'n'}]}, 'networks.0'),
            (
                {**BASE, 'security_groups': ['g'], 'networks': [{'port': 'p'}]},
                'security_groups: the ports in networks have their own',
            ),
            (
                {**BASE, 'context': {'region_name': 'r', 'password': 'x'}},
                'context.password: is not supported',
            ),
            (
                {**BASE, 'block_device_mapping_v2': [device]},
                'block_device_mapping_v2.0.uuid: is required for a source of type',
            ),
            (
                {**BASE, 'metadata': {'key': 'x' * 256}},
                'metadata.key: a key or value has more than 255 characters',
            ),
            (
                {**BASE, 'personality': [{'path': '/a', 'contents': '?'}]},
                'personality.0.contents: is no valid base64',
            ),
            ({**BASE, 'tags': ['t']}, 'tags'),
        ):
            with (
                self.subTest(properties=properties),
                self.assertRaisesRegex(exceptions.Invalid, text),
            ):
                run.fit(properties)
        run.fit({'flavor': 'f', 'block_device_mapping_v2': [{**device, 'uuid': 'u'}]})

    def test_changes_in_place_and_replacements(self):
        run = self.run_of(ServerProfile)
        for after, expected in (
            ({}, KEEP),
            ({'name': 'n', 'metadata': {'a': 'b'}, 'admin_pass': 'p'}, UPDATE),
            ({'flavor': 'large'}, UPDATE),
            ({'image': 'image-2'}, UPDATE),
            ({'image': None, 'block_device_mapping_v2': [self.device()]}, REPLACE),
            ({'networks': [{'port': 'p'}]}, UPDATE),
            ({'key_name': 'k', 'user_data': 'x'}, UPDATE),
            ({'personality': [{'path': '/a', 'contents': 'eA=='}]}, UPDATE),
            ({'availability_zone': 'z'}, REPLACE),
            ({'security_groups': ['g']}, REPLACE),
            ({'scheduler_hints': {'group': 'g'}}, REPLACE),
            ({'config_drive': True}, REPLACE),
            ({'auto_disk_config': False}, REPLACE),
            ({'context': {'region_name': 'r'}}, REPLACE),
        ):
            with self.subTest(after=after):
                decided = run._instance().decide(
                    run.fit(BASE), run.fit({**BASE, **after}), False
                )
                self.assertEqual(expected, decided)

    def device(self, **values):
        given = {'source_type': 'volume', 'destination_type': 'volume', 'uuid': 'u'}
        return {**given, **values}

    def test_the_properties_of_the_example_of_senlin_become_a_request(self):
        run = self.node(
            admin_pass='secret',
            auto_disk_config=False,
            availability_zone='az',
            config_drive=True,
            key_name='key',
            metadata={'test_key': 'test_value', 'number': 1},
            scheduler_hints={'different_cell': 'c'},
            security_groups=['default'],
            user_data='#!/bin/sh',
            networks=[{'network': 'net'}],
        )

        record = self.record(run)
        sent = {name: v for name, v in record.items() if name not in ('id', 'status')}
        self.assertEqual(
            {
                'OS-DCF:diskConfig': 'MANUAL',
                'adminPass': 'secret',
                'availability_zone': 'az',
                'config_drive': True,
                'flavorRef': '1',
                'imageRef': 'id-of-image-1',
                'key_name': 'key',
                'metadata': {
                    'test_key': 'test_value',
                    'number': '1',
                    'cluster_id': STACK,
                    'cluster_node_id': run.uuid,
                    KEY: run.uuid,
                },
                'name': 'node-1',
                'networks': [{'uuid': 'n-id'}],
                'scheduler_hints': {'different_cell': 'c'},
                'security_groups': [{'name': 'default'}],
                'user_data': base64.b64encode(b'#!/bin/sh').decode(),
            },
            sent,
        )

    def test_the_files_of_the_personality_are_written_by_cloud_init(self):
        content = base64.b64encode(b'hello').decode()
        run = self.node(
            user_data='#!/bin/sh\necho',
            personality=[{'path': '/etc/motd', 'contents': content}],
        )

        sent = base64.b64decode(self.record(run)['user_data']).decode()
        script, config = email.message_from_string(sent).get_payload()
        self.assertEqual('#!/bin/sh\necho', script.get_payload())
        self.assertEqual(
            [{'path': '/etc/motd', 'content': content, 'encoding': 'b64'}],
            yaml.safe_load(config.get_payload())['write_files'],
        )

    def test_block_devices_are_those_of_nova_with_ids(self):
        self.connection.block_storage.create_volume(id='v-id', name='data')
        disk = {'source_type': 'volume', 'destination_type': 'volume', 'uuid': 'data'}
        swap = {
            'source_type': 'blank',
            'destination_type': 'local',
            'guest_format': 'swap',
            'volume_size': 512,
            'boot_index': -1,
        }
        run = self.node(block_device_mapping_v2=[disk, swap])

        self.assertEqual(
            [
                {**disk, 'uuid': 'v-id'},
                swap,
                {
                    'boot_index': 0,
                    'delete_on_termination': True,
                    'destination_type': 'local',
                    'source_type': 'image',
                    'uuid': 'id-of-image-1',
                },
            ],
            self.record(run)['block_device_mapping_v2'],
        )

    def test_a_server_of_a_lost_worker_is_found(self):
        run = self.run_of(ServerProfile, name='node-1')
        self.compute.lost.append('create_server')
        run.create(BASE)
        (first,) = self.compute.objects['server']

        settled = run.create(BASE, attempt=2)

        self.assertEqual(('COMPLETE', first), (settled.status, run.physical_id))
        self.assertEqual([first], list(self.compute.objects['server']))

    def test_details_are_named_as_by_senlin(self):
        self.compute.defaults['server'] = {
            'status': 'ACTIVE',
            'OS-EXT-AZ:availability_zone': 'nova',
            'adminPass': 'secret',
            'flavor': {'original_name': 'small'},
            'image': {'id': 'id-of-image-1'},
            'security_groups': [{'name': 'web'}, {'name': 'web'}],
            'os-extended-volumes:volumes_attached': [{'id': 'v'}],
        }
        run = self.node()

        details = {
            name: run.attributes[name]
            for name in (
                'OS-EXT-AZ:availability_zone',
                'attached_volumes',
                'flavor',
                'image',
                'security_groups',
                'status',
            )
        }
        self.assertEqual(
            {
                'OS-EXT-AZ:availability_zone': 'nova',
                'attached_volumes': ['v'],
                'flavor': 'small',
                'image': 'id-of-image-1',
                'security_groups': ['web'],
                'status': 'ACTIVE',
            },
            details,
        )
        self.assertNotIn('secret', str(run.attributes))

    def test_addresses_are_by_names_of_networks_as_clients_log_in_to_servers(self):
        addresses = {'net': [{'addr': '10.1.0.1', 'OS-EXT-IPS-MAC:mac_addr': 'fa:16'}]}
        self.compute.defaults['server'] = {'status': 'ACTIVE', 'addresses': addresses}
        self.network.create_port(network_id='n-id', mac_address='fa:16')

        run = self.node()

        self.assertEqual(addresses, run.attributes['addresses'])
        self.assertEqual({'net': ['10.1.0.1']}, run.attributes['networks'])


class TestPlacement(ServerProfileCase):
    def test_the_decision_of_policies_precedes_the_properties(self):
        self.compute.create_server_group(id='group-id', name='c-00000000')
        place = {'zone': 'az-2', 'servergroup': 'c-00000000'}
        run = self.node(
            placed={'placement': place, 'cluster_node_index': 3},
            availability_zone='az-1',
            scheduler_hints={'group': 'other', 'query': 'q'},
        )

        record = self.record(run)
        self.assertEqual('az-2', record['availability_zone'])
        self.assertEqual({'group': 'group-id', 'query': 'q'}, record['scheduler_hints'])
        self.assertEqual('3', record['metadata']['cluster_node_index'])

    def test_a_missing_server_group_is_named(self):
        run = self.run_of(
            ServerProfile, metadata={'placement': {'servergroup': 'gone'}}
        )

        settled = run.create(BASE)

        self.assertEqual('FAILED', settled.status)
        self.assertEqual('The server group gone does not exist', settled.reason)

    def test_the_region_of_the_context_is_used(self):
        self.node(context={'region_name': 'RegionTwo'})

        self.assertEqual({'RegionTwo'}, set(self.clouds.regions))


class TestNetworks(ServerProfileCase):
    def interfaces(self, run):
        """Let nova show the ports of a server as its interfaces."""
        for at, item in enumerate(self.record(run)['networks']):
            port = self.network.objects['port'].get(item.get('port')) or {}
            self.compute.create_server_interface(
                id=item.get('port') or f'port-{at}',
                port_id=item.get('port') or f'port-{at}',
                net_id=port.get('network_id') or item.get('uuid'),
                fixed_ips=port.get('fixed_ips') or [],
            )

    def test_ports_are_created_for_subnets_types_and_security_groups(self):
        run = self.node(
            networks=[
                {'subnet': 'sub', 'fixed_ip': '10.0.0.9'},
                {'network': 'net', 'vnic_type': 'direct', 'security_groups': ['web']},
                {'network': 'net', 'fixed_ip': '10.0.0.8'},
            ]
        )

        first, second = self.network.objects['port'].values()
        self.assertEqual(
            [
                {'port': first['id']},
                {'port': second['id']},
                {'uuid': 'n-id', 'fixed_ip': '10.0.0.8'},
            ],
            self.record(run)['networks'],
        )
        self.assertEqual(
            [{'subnet_id': 's-id', 'ip_address': '10.0.0.9'}], first['fixed_ips']
        )
        self.assertEqual(
            ('direct', ['g-id']),
            (second['binding:vnic_type'], second['security_groups']),
        )
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual({}, self.network.objects['port'])

    def test_a_floating_ip_is_created_once_and_deleted_with_the_server(self):
        networks = [{'subnet': 'sub', 'floating_network': 'public'}]
        run = self.run_of(ServerProfile, name='node-1')
        run.create({**BASE, 'networks': networks})
        self.assertEqual({}, self.network.objects['ip'])
        self.interfaces(run)
        run.failed = False

        settled = run.create({**BASE, 'networks': networks}, attempt=2)

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        (floating,) = self.network.objects['ip'].values()
        (port,) = self.network.objects['port']
        self.assertEqual(
            ('p-id', port), (floating['floating_network_id'], floating['port_id'])
        )
        run.create({**BASE, 'networks': networks}, attempt=2)
        self.assertEqual([floating['id']], list(self.network.objects['ip']))
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual({}, self.network.objects['ip'])

    def test_a_floating_ip_in_use_is_not_taken_away(self):
        self.network.create_ip(id='ip-id', name='203.0.113.7', port_id='of-another')
        network = {
            'subnet': 'sub',
            'floating_network': 'public',
            'floating_ip': '203.0.113.7',
        }
        run = self.run_of(ServerProfile, name='node-1')
        run.create({**BASE, 'networks': [network]})
        self.interfaces(run)

        settled = run.create({**BASE, 'networks': [network]}, attempt=2)

        self.assertEqual('FAILED', settled.status)
        self.assertIn('the floating IP 203.0.113.7 has been used', settled.reason)
        run.delete()
        self.assertEqual(['ip-id'], list(self.network.objects['ip']))

    def test_an_update_attaches_and_detaches_and_deletes_what_was_created(self):
        self.network.create_subnet(id='t-id', name='sub-2', network_id='n-id')
        run = self.node(networks=[{'subnet': 'sub'}])
        self.interfaces(run)
        (old,) = self.network.objects['port']

        settled = run.update({**BASE, 'networks': [{'subnet': 'sub-2'}]})

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertEqual('update', settled.change)
        (new,) = self.network.objects['port'].values()
        self.assertEqual(
            ('n-id', [{'subnet_id': 't-id'}]), (new['network_id'], new['fixed_ips'])
        )
        calls = [
            (name, arguments[:1], given.get('port_id'))
            for name, arguments, given in self.compute.calls
            if name.endswith('_server_interface')
        ]
        self.assertIn(('delete_server_interface', (old,), None), calls)
        self.assertIn(('create_server_interface', (run.physical_id,), new['id']), calls)


class TestUpdates(ServerProfileCase):
    def test_metadata_keep_the_node_and_the_cluster(self):
        run = self.node(metadata={'a': '1', 'b': '2'})
        self.forget_calls()

        settled = run.update({**BASE, 'metadata': {'a': '3'}, 'name': 'other'})

        self.assertEqual(('COMPLETE', 'update'), (settled.status, settled.change))
        (given,) = self.called('set_server_metadata')
        self.assertEqual(
            {'a': '3', 'cluster_id': STACK, 'cluster_node_id': run.uuid}, given
        )
        (surplus,) = [
            arguments[1]
            for name, arguments, _ in self.compute.calls
            if name == 'delete_server_metadata'
        ]
        self.assertEqual(['b'], surplus)
        self.assertEqual('other', self.record(run)['name'])

    def test_a_keypair_and_user_data_are_changed_by_a_rebuild(self):
        run = self.node(user_data='old')
        self.record(run)['image'] = {'id': 'id-of-image-1'}
        self.forget_calls()

        settled = run.update({**BASE, 'key_name': 'key', 'admin_pass': 'secret'})

        self.assertEqual(('COMPLETE', 'update'), (settled.status, settled.change))
        self.assertEqual(
            [
                {
                    'admin_password': 'secret',
                    'image': 'id-of-image-1',
                    'key_name': 'key',
                    'name': 'node-1',
                    'user_data': None,
                }
            ],
            self.called('rebuild_server'),
        )

    def test_a_resize_before_a_rebuild_with_the_same_image_does_both(self):
        run = self.node()
        record = self.record(run)
        record['image'] = {'id': 'id-of-image-1'}
        record['flavor'] = {'original_name': 'large'}
        self.forget_calls()

        run.update({**BASE, 'flavor': 'large', 'key_name': 'key'})

        self.assertEqual(1, len(self.called('rebuild_server')))


class TestOperations(ServerProfileCase):
    def operate(self, operation, parameters=None, *, status='ACTIVE', reached):
        """Return the result of an operation on a server, and the requests for it.

        :param status: of the server before
        :param reached: the statuses that are read one after the other
        """
        run = self.node()
        self.forget_calls()
        self.compute.statuses['server'] = [status, *reached]
        settled = run.operate(operation, parameters)
        self.compute.statuses['server'].clear()
        called = [name for name in self.compute.names() if name != 'get_server']
        return run, settled, called

    def test_each_operation_calls_nova_and_waits_for_its_end(self):
        for operation, status, reached, expected in (
            ('pause', 'ACTIVE', ['ACTIVE', 'PAUSED'], ['pause_server']),
            ('unpause', 'PAUSED', ['ACTIVE'], ['unpause_server']),
            ('suspend', 'ACTIVE', ['SUSPENDED'], ['suspend_server']),
            ('resume', 'SUSPENDED', ['ACTIVE'], ['resume_server']),
            ('stop', 'ACTIVE', ['SHUTOFF'], ['stop_server']),
            ('start', 'SHUTOFF', ['ACTIVE'], ['start_server']),
            ('rescue', 'ACTIVE', ['RESCUE'], ['rescue_server']),
            ('unrescue', 'RESCUE', ['ACTIVE'], ['unrescue_server']),
            ('reboot', 'ACTIVE', ['REBOOT', 'ACTIVE'], ['reboot_server']),
            ('rebuild', 'ACTIVE', ['REBUILD', 'ACTIVE'], ['rebuild_server']),
            ('evacuate', 'ACTIVE', ['REBUILD', 'ACTIVE'], ['evacuate_server']),
            ('lock', 'ACTIVE', [], ['lock_server']),
            ('unlock', 'ACTIVE', [], ['unlock_server']),
            (
                'migrate',
                'ACTIVE',
                ['RESIZE', 'VERIFY_RESIZE', 'VERIFY_RESIZE', 'ACTIVE'],
                ['migrate_server', 'confirm_server_resize'],
            ),
        ):
            with self.subTest(operation=operation):
                _, settled, called = self.operate(
                    operation, status=status, reached=reached
                )
                self.assertEqual('COMPLETE', settled.status, settled.reason)
                self.assertEqual(expected, called)
        self.assertEqual(
            {*ServerProfile.operations} - {'change_password'},
            {
                *('pause', 'unpause', 'suspend', 'resume', 'stop', 'start', 'rescue'),
                *('unrescue', 'reboot', 'rebuild', 'evacuate', 'lock', 'unlock'),
                'migrate',
            },
        )

    def test_a_password_is_changed(self):
        run = self.node()
        self.forget_calls()

        settled = run.operate('change_password', {'admin_pass': 'new'})

        self.assertEqual('COMPLETE', settled.status)
        ((_, arguments, _),) = [
            call for call in self.compute.calls if call[0] == 'change_server_password'
        ]
        self.assertEqual('new', arguments[1])

    def test_a_status_that_is_reached_already_is_not_requested_again(self):
        _, settled, called = self.operate('stop', status='SHUTOFF', reached=[])

        self.assertEqual(('COMPLETE', []), (settled.status, called))

    def test_a_server_that_does_not_run_is_rebooted_hard(self):
        self.operate('reboot', {'type': 'SOFT'}, status='ERROR', reached=['ACTIVE'])

        ((_, arguments, _),) = [
            call for call in self.compute.calls if call[0] == 'reboot_server'
        ]
        self.assertEqual('HARD', arguments[1])

    def test_a_missed_goal_is_a_failure(self):
        _, settled, _ = self.operate('pause', reached=['ACTIVE'] * 9)

        self.assertEqual('FAILED', settled.status)
        self.assertIn('has the status ACTIVE; expected was PAUSED', settled.reason)

    def test_a_busy_server_is_waited_for_and_a_refusal_is_a_failure(self):
        run = self.node()
        self.record(run)[TASK] = 'rebuilding'

        settled = run.operate('pause')

        self.assertEqual('FAILED', settled.status)
        self.assertIn('is busy: rebuilding', settled.reason)
        self.record(run)[TASK] = None
        self.compute.failures['pause_server'] = [conflict('it is locked')]
        settled = run.operate('pause')
        self.assertIn('the compute service says: it is locked', settled.reason)

    def test_a_rebuild_from_a_volume_uses_the_image_of_the_volume(self):
        self.connection.block_storage.create_volume(
            id='v-id',
            name='boot',
            is_bootable=True,
            volume_image_metadata={'image_id': 'copied'},
        )
        device = {
            'source_type': 'volume',
            'destination_type': 'volume',
            'uuid': 'v-id',
            'boot_index': 0,
        }
        run = self.node(image=None, block_device_mapping_v2=[device])
        self.record(run)['os-extended-volumes:volumes_attached'] = [{'id': 'v-id'}]

        self.assertEqual('COMPLETE', run.operate('rebuild').status)
        self.assertEqual('copied', self.called('rebuild_server')[0]['image'])
        self.record(run)['os-extended-volumes:volumes_attached'] = []
        self.assertIn('has no image', run.operate('rebuild').reason)


class TestHealth(ServerProfileCase):
    def check(self, run, status):
        """Check the health of a server with a status."""
        self.record(run)['status'] = status
        return run._instance().check_health(run._context(run._action(1)))

    def test_only_a_running_server_is_healthy(self):
        run = self.node()

        self.assertEqual('ACTIVE', self.check(run, 'ACTIVE').attributes['status'])
        for status in ('SHUTOFF', 'PAUSED', 'SUSPENDED', 'RESCUE', 'ERROR'):
            with self.assertRaisesRegex(ResourceFault, f'has the status {status}'):
                self.check(run, status)
        self.compute.objects['server'].clear()
        self.assertIn('no longer exists', run.check().reason)

    def test_a_server_that_an_operation_has_stopped_is_healthy(self):
        run = self.node()
        self.compute.statuses['server'] = ['ACTIVE', 'SHUTOFF']
        run.operate('stop')

        self.check(run, 'SHUTOFF')
        self.assertRaises(ResourceFault, self.check, run, 'PAUSED')
        self.compute.statuses['server'] = ['SHUTOFF', 'ACTIVE']
        run.operate('start')
        self.assertRaises(ResourceFault, self.check, run, 'SHUTOFF')

    def test_a_server_in_transition_is_neither_healthy_nor_unhealthy(self):
        run = self.node()

        for status in ('REBUILD', 'VERIFY_RESIZE', 'UNKNOWN'):
            with self.assertRaisesRegex(exceptions.StateUnknown, status):
                self.check(run, status)

    def test_hypervisors_and_notifications_tell_about_servers_as_in_stacks(self):
        for hook in ('check_host', 'check_health'):
            self.assertTrue(ServerProfile.supports(hook))
        self.assertEqual(Server.failure_events, ServerProfile.failure_events)
        found = ServerProfile.failure_in(
            notification(
                'instance.delete.end', {'instance_id': 's', 'metadata': {KEY: STACK}}
            )
        )
        self.assertEqual((STACK, 's'), (found.resource_uuid, found.physical_id))

    def test_an_adopted_server_gets_the_marks_of_its_node(self):
        self.compute.create_server(id='present', name='old')
        run = self.run_of(ServerProfile, name='node-1')
        run.physical_id = 'present'
        left = self.run_of(ServerProfile)
        left.physical_id, left.properties = 'present', dict(BASE)

        self.assertEqual('COMPLETE', run.adopt(left).status)
        self.assertEqual(
            [{KEY: run.uuid, 'cluster_id': STACK, 'cluster_node_id': run.uuid}],
            self.called('set_server_metadata'),
        )

    def test_a_server_learns_its_cluster_and_that_it_has_left_it(self):
        run = self.node()
        handler, context = run._instance(), run._context(run._action(1))
        self.forget_calls()

        handler.on_cluster_joined(context)
        self.record(run)['metadata'] = {'cluster_id': STACK, 'a': 'b'}
        handler.on_cluster_left(context)

        self.assertEqual(
            [{'cluster_id': STACK, 'cluster_node_id': run.uuid}],
            self.called('set_server_metadata'),
        )
        ((_, arguments, _),) = [
            call for call in self.compute.calls if call[0] == 'delete_server_metadata'
        ]
        self.assertEqual(['cluster_id'], arguments[1])
        self.compute.objects['server'].clear()
        self.assertIsNone(handler.on_cluster_joined(context))
        self.assertIsNone(handler.on_cluster_left(context))
