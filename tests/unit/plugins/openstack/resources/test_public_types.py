"""Resource types that public templates use beside the usual ones."""

from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from tests.unit.plugins.openstack.resources import case
from watcherlite import exceptions
from watcherlite.plugins.openstack.resources import (
    amazon,
    compute,
    floating_ips,
    identity,
    ports,
    routers,
    servers,
    volumes,
)
from watcherlite.plugins.resource_handlers.instance_group import InstanceGroup
from watcherlite.testing.resources import ResourceRun

UUID = '11111111-2222-3333-4444-555555555555'


class TestIdentity(case.ResourceCase):
    def test_an_endpoint_is_found_by_its_unique_name_and_then_named(self):
        service = self.connection.identity
        service.create_service(id='s', name='nova')
        run = self.run_of(identity.Endpoint)
        service.create_endpoint(id='e', name=run.physical_name)
        properties = {'name': 'n', 'service': 'nova', 'interface': 'public'}

        run.create({**properties, 'url': 'http://a'}, attempt=2)

        self.assertEqual('e', run.physical_id)
        self.assertEqual('n', service.objects['endpoint']['e']['name'])

    def test_a_region_has_the_given_id_or_a_unique_one(self):
        regions = self.connection.identity.objects['region']

        given = self.created(identity.Region, {'id': 'North', 'description': 'd'})
        own = self.created(identity.Region, {'parent_region': 'North'})

        self.assertEqual('North', given.physical_id)
        self.assertEqual(own.uuid.replace('-', ''), own.physical_id)
        self.assertEqual('North', regions[own.physical_id]['parent_region_id'])
        again = self.run_of(identity.Region)
        again.create({'id': 'North', 'description': 'd'}, attempt=2)
        self.assertEqual('North', again.physical_id)

    def test_a_lock_makes_projects_roles_and_domains_immutable(self):
        self.connection.identity.create_domain(id='default')
        for kind in (identity.Project, identity.Role, identity.Domain):
            run = self.created(kind, {})
            records = self.connection.identity.objects[kind.noun]
            found = []
            for operation in (run.lock, run.unlock):
                self.assertEqual('COMPLETE', operation().status)
                found.append(records[run.physical_id]['options'])
            self.assertEqual([{'immutable': True}, {'immutable': False}], found)

            records.clear()
            self.assertIn('no longer exists', run.lock().reason)
            self.assertEqual('COMPLETE', run.unlock().status)


class TestLiveAttributes(case.ResourceCase):
    def test_a_port_has_its_network_and_subnets(self):
        network = self.connection.network
        network.create_network(id=UUID, name='net')
        subnets = [network.create_subnet(name=name).id for name in 'ab']
        network.defaults['port'] = {
            'status': 'DOWN',
            'network_id': UUID,
            'fixed_ips': [{'subnet_id': one} for one in [*subnets, subnets[0]]],
        }
        run = self.created(ports.Port, {'network': UUID})
        network.calls.clear()

        self.assertEqual('net', run.read_attribute('network')['name'])
        self.assertEqual(
            ['a', 'b'], [one['name'] for one in run.read_attribute('subnets')]
        )
        self.assertEqual(['get_network', *['get_subnet'] * 2], network.names())

    def test_a_server_has_the_urls_of_its_consoles_or_the_reason(self):
        def create_console(server, kind, console_protocol):
            if kind != 'novnc':
                error = sdk.BadRequestException(f'Unavailable console type {kind}.')
                error.status_code, error.details = 400, str(error)
                raise error
            return {'url': f'http://console/{server}', 'protocol': console_protocol}

        self.connection.compute.create_console = create_console
        run = self.run_of(servers.Server)
        run.physical_id = UUID

        found = run.read_attribute('console_urls')

        self.assertEqual(
            ['novnc', 'spice-html5', 'rdp-html5', 'serial', 'webmks'], list(found)
        )
        self.assertEqual(f'http://console/{UUID}', found['novnc'])
        self.assertEqual(
            'Cannot get console url: Unavailable console type serial.', found['serial']
        )


class TestHostAggregates(case.ResourceCase):
    def test_hosts_and_metadata_become_what_is_wanted(self):
        service = self.connection.compute
        run = self.created(
            compute.HostAggregate,
            {'name': 'a', 'hosts': ['one'], 'metadata': {'ssd': True}},
        )
        self.assertIn('add_host_to_aggregate', service.names())
        (sent,) = [a for n, a, _ in service.calls if n == 'set_aggregate_metadata']
        self.assertEqual({'ssd': 'true'}, sent[1])
        record = service.objects['aggregate'][run.physical_id]
        record |= {
            'hosts': ['one', 'two'],
            'metadata': {'ssd': 'true', 'old': '1', 'availability_zone': 'z'},
        }
        service.calls.clear()

        run.update({'name': 'a', 'hosts': ['two'], 'metadata': {'new': 'x'}})

        calls = [(name, args[1]) for name, args, _ in service.calls if len(args) > 1]
        self.assertEqual(
            [
                ('remove_host_from_aggregate', 'one'),
                ('set_aggregate_metadata', {'ssd': None, 'old': None, 'new': 'x'}),
            ],
            calls,
        )
        service.calls.clear()
        self.assertEqual('COMPLETE', run.delete().status)
        names = [n for n in service.names() if n.startswith(('remove', 'delete'))]
        self.assertEqual(
            ['remove_host_from_aggregate'] * 2 + ['delete_aggregate'], names
        )


class TestRelations(case.ResourceCase):
    def test_the_gateway_of_a_router_is_set_and_removed(self):
        network = self.connection.network
        network.create_router(id='r', name='router')
        network.create_network(id='n', name='public')

        run = self.created(
            routers.RouterGateway, {'router': 'router', 'network_id': 'public'}
        )

        self.assertEqual('r:n', run.physical_id)
        router = network.objects['router']['r']
        self.assertEqual({'network_id': 'n'}, router['external_gateway_info'])
        self.assertEqual('COMPLETE', run.check().status)
        run.delete()
        self.assertEqual({}, router['external_gateway_info'])
        self.assertEqual('FAILED', run.check().status)

    def test_a_floating_ip_of_a_server_belongs_to_its_first_port(self):
        network = self.connection.network
        network.create_network(id='n', name='public', is_router_external=True)
        network.create_port(id='p', device_id=UUID)
        network.defaults['ip'] = {'floating_ip_address': '203.0.113.5'}

        address = self.created(floating_ips.ServerFloatingIP, {})
        link = self.created(
            floating_ips.ServerFloatingIPAssociation,
            {'server_id': UUID, 'floating_ip': address.physical_id},
        )

        self.assertEqual('203.0.113.5', address.attributes['ip'])
        self.assertEqual(f'{address.physical_id}:p', link.physical_id)
        record = network.objects['ip'][address.physical_id]
        self.assertEqual(('n', 'p'), (record['floating_network_id'], record['port_id']))

    def test_several_external_networks_need_a_choice(self):
        for name in 'ab':
            self.connection.network.create_network(name=name, is_router_external=True)

        settled = self.run_of(floating_ips.ServerFloatingIP).create({})

        self.assertIn('there are 2 external networks; set pool', settled.reason)

    def test_an_encryption_has_the_id_of_its_volume_type(self):
        storage = self.connection.block_storage
        storage.create_type(id=UUID, name='safe')
        found = {'encryption_id': 'e', 'cipher': 'aes-xts-plain64'}
        storage.objects['type_encryption'][UUID] = {'id': UUID, **found}
        storage.failures['create_type_encryption'] = [keystone.ConnectFailure('lost')]

        run = self.created(
            volumes.EncryptedVolumeType, {'provider': 'luks', 'volume_type': 'safe'}
        )

        self.assertEqual(UUID, run.physical_id)
        storage.objects['type_encryption'][UUID] = {'id': UUID}
        self.assertEqual('FAILED', run.check().status)


class TestTypesOfAWS(case.ResourceCase):
    def test_the_rules_of_a_security_group(self):
        network = self.connection.network

        self.created(
            amazon.EC2SecurityGroup,
            {
                'GroupDescription': 'd',
                'SecurityGroupIngress': [
                    {
                        'IpProtocol': 'tcp',
                        'FromPort': '22',
                        'ToPort': '22',
                        'CidrIp': '0.0.0.0/0',
                    },
                    {'IpProtocol': 'icmp', 'FromPort': '-1', 'ToPort': '-1'},
                    {'IpProtocol': '-1', 'SourceSecurityGroupId': UUID},
                ],
                'SecurityGroupEgress': [{'CidrIp': '::/0'}],
            },
        )

        (group,) = network.objects['security_group'].values()
        self.assertEqual('d', group['description'])
        ((sent,),) = [a for n, a, _ in network.calls if n.endswith('_rules')]
        rules = [{k: v for k, v in r.items() if k != 'security_group_id'} for r in sent]
        ingress = {'direction': 'ingress', 'ethertype': 'IPv4'}
        ports = {'port_range_min': 22, 'port_range_max': 22}
        self.assertEqual(
            [
                {
                    **ingress,
                    'protocol': 'tcp',
                    **ports,
                    'remote_ip_prefix': '0.0.0.0/0',
                },
                {**ingress, 'protocol': 'icmp'},
                {**ingress, 'remote_group_id': UUID},
                {
                    'direction': 'egress',
                    'ethertype': 'IPv6',
                    'remote_ip_prefix': '::/0',
                },
            ],
            rules,
        )

    def test_a_wait_condition_receives_the_signals_of_cfn_signal(self):
        handle = ResourceRun(amazon.CfnWaitConditionHandle)
        handle.create({})
        self.assertEqual(handle.attributes['endpoint'], handle.reference)
        handle.signal({'UniqueId': 'a', 'Status': 'SUCCESS', 'Data': 'x'})
        run = ResourceRun(
            amazon.CfnWaitCondition, dependencies={'h': handle.attributes}
        )

        settled = run.create({'Handle': 'h', 'Timeout': 60})

        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertEqual({'Data': '{"a": "x"}'}, run.attributes)

    def test_an_instance_is_a_server(self):
        service = self.connection.compute
        service.create_flavor(id='1', name='small')
        service.defaults['server'] = {
            'status': 'ACTIVE',
            'OS-EXT-AZ:availability_zone': 'nova',
        }

        run = self.created(
            amazon.Instance,
            {
                'ImageId': UUID,
                'InstanceType': 'small',
                'NetworkInterfaces': [UUID],
                'Tags': [{'Key': 'a', 'Value': 'b'}],
                'Volumes': [{'VolumeId': UUID, 'Device': '/dev/vdb'}],
            },
        )

        (sent,) = [kw for n, _, kw in service.calls if n == 'create_server']
        self.assertEqual(
            (UUID, '1', [{'port': UUID}], 'b', ['/dev/vdb', None]),
            (
                sent['imageRef'],
                sent['flavorRef'],
                sent['networks'],
                sent['metadata']['a'],
                [d.get('device_name') for d in sent['block_device_mapping_v2']],
            ),
        )
        self.assertEqual('nova', run.attributes['AvailabilityZone'])
        self.assertEqual('COMPLETE', run.delete().status)

    def test_a_launch_configuration_defines_the_members_of_a_group(self):
        launch = ResourceRun(amazon.LaunchConfiguration)
        launch.create({'ImageId': 'i', 'InstanceType': 'small'})
        dependencies = {launch.physical_id: launch.attributes}
        group = ResourceRun(InstanceGroup, dependencies=dependencies)
        given = {'Size': 1, 'LaunchConfigurationName': launch.physical_id}
        group.properties = group.fit(given)

        expansion = group._instance().expand(group._context(group._action(1)), ())

        (member,) = expansion.batches[0].template['resources'].values()
        self.assertEqual(
            {
                'type': 'AWS::EC2::Instance',
                'properties': {'ImageId': 'i', 'InstanceType': 'small'},
            },
            member,
        )
        with self.assertRaisesRegex(exceptions.Invalid, 'without LaunchConfig'):
            group.fit({**given, 'resource': {'type': 'a'}})
