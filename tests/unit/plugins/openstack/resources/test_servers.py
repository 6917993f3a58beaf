"""Servers: requests, changes in place, locks and software configs."""

import base64

from openstack import exceptions as sdk_exceptions

from tests.unit.plugins.openstack.resources import case
from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.openstack.resources.servers import Server

UUID = '11111111-2222-3333-4444-555555555555'
BASE = {'image': 'image-1', 'flavor': 'small'}


class ServerCase(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.compute = self.connection.compute
        self.compute.defaults['server'] = {'status': 'ACTIVE'}
        self.connection.image.create_image(id='image-id', name='image-1')
        self.connection.image.create_image(id='other-id', name='image-2')
        self.compute.create_flavor(id='1', name='small')
        self.compute.create_flavor(id='2', name='large')
        self.compute.calls.clear()

    def server(self, **properties):
        return self.created(Server, {**BASE, **properties})

    def record(self, run):
        return self.compute.objects['server'][run.physical_id]


class TestDecisions(ServerCase):
    def test_policies_decide_between_a_change_in_place_and_a_replacement(self):
        run = self.run_of(Server)
        for after, expected in (
            ({}, KEEP),
            ({'flavor': 'large'}, UPDATE),
            ({'flavor': 'large', 'flavor_update_policy': 'REPLACE'}, REPLACE),
            ({'image': 'image-2'}, UPDATE),
            ({'image': 'image-2', 'image_update_policy': 'REPLACE'}, REPLACE),
            ({'user_data': 'x'}, REPLACE),
            ({'user_data': 'x', 'user_data_update_policy': 'IGNORE'}, UPDATE),
            ({'metadata': {'a': 'b'}, 'name': 'n', 'tags': ['t']}, UPDATE),
            ({'networks': [{'port': 'p'}]}, UPDATE),
            ({'key_name': 'k'}, REPLACE),
            ({'availability_zone': 'z'}, REPLACE),
        ):
            with self.subTest(after=after):
                decided = run._instance().decide(
                    run.fit(BASE), run.fit({**BASE, **after}), False
                )
                self.assertEqual(expected, decided)


class TestValidation(ServerCase):
    def test_conflicting_properties_are_refused(self):
        run = self.run_of(Server)
        for properties, text in (
            ({'image': 'i'}, 'flavor: is required'),
            ({'flavor': 'f'}, 'image: is required without a block device'),
            ({**BASE, 'networks': [{}]}, 'networks.0: one of port, network'),
            (
                {**BASE, 'networks': [{'network': 'n', 'uuid': 'n'}]},
                'uuid cannot be combined with network',
            ),
            ({**BASE, 'personality': {'/a': 'b'}}, 'no longer supported'),
            (
                {**BASE, 'security_groups': ['g'], 'networks': [{'port': 'p'}]},
                'the ports in networks have their own',
            ),
        ):
            with (
                self.subTest(properties=properties),
                self.assertRaisesRegex(exceptions.Invalid, text),
            ):
                run.fit(properties)
        run.fit({'flavor': 'f', 'block_device_mapping_v2': [{'volume_id': 'v'}]})


class TestServers(ServerCase):
    def test_the_request_has_ids_and_texts(self):
        port = self.connection.network.create_port(name='p')
        run = self.server(
            metadata={'number': 1, 'text': 'a'},
            user_data='#!/bin/sh',
            networks=[{'port': 'p', 'tag': 'nic'}],
            scheduler_hints={'group': 'g'},
            security_groups=[],
        )

        record = self.record(run)
        self.assertEqual(('image-id', '1'), (record['imageRef'], record['flavorRef']))
        self.assertEqual(
            {'number': '1', 'text': 'a', KEY: run.uuid}, record['metadata']
        )
        self.assertEqual('#!/bin/sh', base64.b64decode(record['user_data']).decode())
        self.assertEqual([{'port': port.id, 'tag': 'nic'}], record['networks'])
        self.assertEqual({'group': 'g'}, record['scheduler_hints'])

    def test_a_resize_that_is_being_confirmed_is_waited_for(self):
        run = self.server()
        self.record(run)['flavor'] = {'original_name': 'large'}
        self.compute.statuses['server'] = ['VERIFY_RESIZE'] * 4 + ['ACTIVE']
        refused = sdk_exceptions.BadRequestException('Instance has not been resized')
        self.compute.failures['confirm_server_resize'] = [refused]

        settled = run.update({**BASE, 'flavor': 'large'})

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertLess(1, self.compute.names().count('confirm_server_resize'))

    def test_without_networks_nova_chooses(self):
        self.assertEqual('auto', self.record(self.server())['networks'])

    def test_the_user_data_may_be_a_software_config(self):
        run = self.created(
            Server,
            {**BASE, 'user_data': 'config-1'},
            dependencies={'config-1': {'config': '#cloud-config'}},
        )

        sent = base64.b64decode(self.record(run)['user_data']).decode()
        self.assertEqual('#cloud-config', sent)

    def test_the_port_of_a_subnet_is_created_once_and_deleted_with_the_server(self):
        network = self.connection.network
        network.create_subnet(id='s-id', name='s', network_id='n-id')
        run = self.run_of(Server)
        properties = {**BASE, 'networks': [{'subnet': 's', 'fixed_ip': '10.0.0.9'}]}
        self.compute.failures['create_server'] = [RuntimeError('lost')]
        run.create(properties)

        settled = run.create(properties, attempt=2)

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        (port,) = network.objects['port'].values()
        self.assertEqual(
            ('n-id', [{'subnet_id': 's-id', 'ip_address': '10.0.0.9'}]),
            (port['network_id'], port['fixed_ips']),
        )
        self.assertEqual([{'port': port['id']}], self.record(run)['networks'])
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual({}, network.objects['port'])

    def test_the_fault_of_nova_is_the_reason(self):
        self.compute.defaults['server'] = {
            'status': 'ERROR',
            'fault': {'message': 'No valid host was found'},
        }

        settled = self.run_of(Server).create(BASE)

        self.assertEqual('FAILED', settled.status)
        self.assertIn('ERROR: No valid host was found', settled.reason)

    def test_a_lock_locks_it_in_nova(self):
        run = self.server()

        self.assertEqual('COMPLETE', run.lock().status)
        self.assertEqual('COMPLETE', run.unlock().status)

        self.assertIn('lock_server', self.compute.names())
        self.assertIn('unlock_server', self.compute.names())
        self.compute.objects['server'].clear()
        self.assertEqual('FAILED', run.lock().status)
        self.assertEqual('COMPLETE', run.unlock().status)


class TestAddresses(case.ResourceCase):
    def test_addresses_have_ports_and_are_read_again_only_after_a_change(self):
        compute, network = self.connection.compute, self.connection.network
        compute.create_flavor(id='1', name='small')
        address = {'addr': '10.0.0.2', 'OS-EXT-IPS-MAC:mac_addr': 'fa:16'}
        compute.defaults['server'] = {
            'status': 'ACTIVE',
            'addresses': {'net': [address]},
        }
        network.create_port(id='p', network_id='n', mac_address='fa:16')
        network.objects['port']['p']['device_id'] = None
        run = self.run_of(Server)
        properties = {'image': UUID, 'flavor': '1', 'networks': [{'port': UUID}]}
        run.create(properties)
        self.assertEqual(
            [{**address, 'port': None}], run.attributes['addresses']['net']
        )
        network.objects['port']['p']['device_id'] = run.physical_id
        record = compute.objects['server'][run.physical_id]
        record['addresses'] = {'net': [{**address, 'addr': '10.0.0.3'}]}

        run.check()

        self.assertEqual(
            {'net': ['10.0.0.3'], 'n': ['10.0.0.3']}, run.attributes['networks']
        )
        self.assertEqual('p', run.attributes['addresses']['n'][0]['port'])
        network.calls.clear()
        run.check()
        self.assertEqual([], network.calls)
        self.assertEqual('p', run.attributes['addresses']['net'][0]['port'])

        record['addresses'] = {'other': [address]}
        run.check()
        self.assertEqual({'other', 'n'}, run.attributes['addresses'].keys())
