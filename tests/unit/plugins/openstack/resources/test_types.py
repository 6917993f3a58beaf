"""The behaviour of single resource types beside that of their base."""

import json

from tests.unit.plugins.openstack.resources import case
from tests.unit.plugins.openstack.resources.test_services import FakeResponse
from watcherlite import exceptions
from watcherlite.plugins.openstack.resources import (
    floating_ips,
    networks,
    routers,
    security_groups,
    software,
    volumes,
    wait_conditions,
)
from watcherlite.testing.resources import ResourceRun

PROJECT = '11111111-2222-3333-4444-555555555555'


class TestNetworks(case.ResourceCase):
    def test_the_gateway_of_a_subnet_is_left_out_given_or_none(self):
        network = self.connection.network
        for given, expected in (
            ({}, 'absent'),
            ({'gateway_ip': '10.0.0.9'}, '10.0.0.9'),
            ({'gateway_ip': None}, None),
            ({'gateway_ip': ''}, None),
        ):
            with self.subTest(given=given):
                network.create_network(id='n', name='n')
                run = self.created(
                    networks.Subnet, {'network': 'n', 'cidr': '10.0.0.0/24', **given}
                )
                record = network.objects['subnet'][run.physical_id]
                self.assertEqual(expected, record.get('gateway_ip', 'absent'))

    def test_a_subnet_has_addresses_from_one_source(self):
        run = self.run_of(networks.Subnet)
        for given, text in (
            ({}, 'one of cidr and subnetpool is required'),
            ({'cidr': '10.0.0.0/8', 'subnetpool': 'p'}, 'cannot be combined with cidr'),
            ({'cidr': '10.0.0.0/8', 'gateway_ip': 'x'}, 'is not an IP address'),
            ({'cidr': '10.0.0.0/8', 'ipv6_ra_mode': 'slaac'}, 'need ip_version 6'),
        ):
            with self.assertRaisesRegex(exceptions.Invalid, text):
                run.fit({'network': 'n', **given})


class TestRelations(case.ResourceCase):
    def test_an_existing_interface_is_not_added_again(self):
        network = self.connection.network
        network.create_router(id='r-id', name='r')
        network.create_subnet(id='s-id', name='s')
        network.create_port(device_id='r-id', fixed_ips=[{'subnet_id': 's-id'}])
        network.calls.clear()
        run = self.run_of(routers.RouterInterface)

        settled = run.create({'router_id': 'r', 'subnet': 's'}, attempt=2)

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertEqual('r-id:subnet_id=s-id', run.physical_id)
        self.assertNotIn('add_interface_to_router', network.names())

    def test_a_relation_whose_objects_never_existed_can_be_deleted(self):
        run = self.run_of(volumes.VolumeAttachment)

        settled = run.create({'instance_uuid': 'none', 'volume_id': 'none'})

        self.assertIn('The server none does not exist', settled.reason)
        self.assertEqual('COMPLETE', run.delete().status)

    def test_the_floating_ip_of_another_port_is_left_alone(self):
        network = self.connection.network
        network.create_ip(id='f-id', port_id=None)
        network.create_port(id='p-id', name='p')
        run = self.created(
            floating_ips.FloatingIPAssociation,
            {'floatingip_id': 'f-id', 'port_id': 'p'},
        )
        self.assertEqual('p-id', network.objects['ip']['f-id']['port_id'])

        network.objects['ip']['f-id']['port_id'] = 'other'
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual('other', network.objects['ip']['f-id']['port_id'])
        self.assertEqual('FAILED', run.check().status)


class TestSecurityGroups(case.ResourceCase):
    def test_a_change_of_the_rules_adds_and_removes_only_the_difference(self):
        network = self.connection.network
        rules = [
            {'protocol': 'tcp', 'port_range_min': 22, 'port_range_max': 22},
            {'protocol': 'icmp'},
        ]
        run = self.created(security_groups.SecurityGroup, {'rules': rules})
        (name, (sent,), _) = network.calls[-2]
        self.assertEqual('create_security_group_rules', name)
        group = network.objects['security_group'][run.physical_id]
        group['security_group_rules'] = [
            {**rule, 'id': str(at)} for at, rule in enumerate(sent)
        ]
        self.assertEqual(4, len(sent))
        network.calls.clear()

        run.update({'rules': [rules[1], {'remote_mode': 'remote_group_id'}]})

        deleted = [args for n, args, _ in network.calls if n.startswith('delete')]
        added = [args for n, args, _ in network.calls if n.startswith('create')]
        self.assertEqual([('0',)], deleted)
        ((rule,),) = added[0]
        self.assertEqual(run.physical_id, rule['remote_group_id'])


class TestVolumes(case.ResourceCase):
    def test_a_volume_grows_and_does_not_shrink(self):
        storage = self.connection.block_storage
        storage.defaults['volume'] = {'status': 'available'}
        run = self.created(volumes.Volume, {'size': 2})
        storage.objects['volume'][run.physical_id]['size'] = 2

        settled = run.update({'size': 1})
        self.assertIn('cannot shrink from 2 to 1 GiB', settled.reason)

    def test_a_volume_type_becomes_private_before_projects_get_access(self):
        storage = self.connection.block_storage
        requests = []

        def put(path, json):
            requests.append((path, json, storage.names().count('add_type_access')))
            return FakeResponse(200)

        storage.put = put
        storage.get_type_access = lambda found: []
        run = self.created(volumes.VolumeType, {'name': 'a'})
        record = storage.objects['type'][run.physical_id]
        self.assertIs(True, record['os-volume-type-access:is_public'])

        run.update({'name': 'a', 'is_public': False, 'projects': [PROJECT]})

        path = f'/types/{run.physical_id}'
        self.assertEqual([(path, {'volume_type': {'is_public': False}}, 0)], requests)
        self.assertEqual(1, storage.names().count('add_type_access'))


class TestSoftware(case.ResourceCase):
    def test_the_parts_of_a_message_are_texts_and_references(self):
        config = {'one': {'config': '#!/bin/sh\nexit 0'}}
        run = ResourceRun(software.MultipartMime, dependencies=config)

        run.create({'parts': [{'config': 'one'}, {'config': '#cloud-config\n{}'}]})

        text = run.attributes['config']
        self.assertIn('#!/bin/sh\nexit 0', text)
        self.assertIn('#cloud-config', text)
        again = ResourceRun(software.MultipartMime)
        again.create({'parts': [{'config': text, 'type': 'multipart'}]})
        self.assertEqual(2, again.attributes['config'].count('text/plain'))


class TestWaitConditions(case.ResourceCase):
    def wait(self, *signals, **properties):
        handle = ResourceRun(wait_conditions.WaitConditionHandle)
        handle.create({})
        refused = [
            s.reason for s in map(handle.signal, signals) if s.status != 'COMPLETE'
        ]
        run = ResourceRun(
            wait_conditions.WaitCondition, dependencies={'h': handle.attributes}
        )
        settled = run.create({'handle': 'h', 'timeout': 60, **properties})
        return settled, run, refused

    def test_it_is_complete_after_the_signals(self):
        settled, run, _ = self.wait({'data': 'a'}, {'id': 'x', 'data': 'b'}, count=2)

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertEqual({'1': 'a', 'x': 'b'}, json.loads(run.attributes['data']))

    def test_it_fails_with_a_failure_and_with_its_timeout(self):
        settled, _, _ = self.wait({'status': 'FAILURE', 'reason': 'broken'})
        self.assertEqual('WaitConditionFailure: broken', settled.reason)
        settled, _, _ = self.wait({'id': 1}, {'id': 1}, count=2)
        self.assertEqual('WaitConditionTimeout: 1 of 2 received', settled.reason)
        self.assertGreaterEqual(settled.seconds, 60)

    def test_other_statuses_and_long_signals_are_refused(self):
        _, _, refused = self.wait({'status': 'DONE'}, {'data': 'x' * 20_000}, {})

        self.assertEqual(2, len(refused))
        self.assertIn('is neither SUCCESS nor FAILURE', refused[0])

    def test_the_handle_must_be_one(self):
        run = ResourceRun(wait_conditions.WaitCondition)

        settled = run.create({'handle': 'other', 'timeout': 1})

        self.assertIn('is not a valid wait condition handle', settled.reason)
