"""Resource types of services through openstacksdk, against a local HTTP server."""

from tests import base
from tests.functional.plugins.fake_cloud import FakeCloud, connect
from watcherlite.plugins.openstack.resources import (
    alarms,
    dns,
    key_manager,
    load_balancing,
    object_storage,
    reservations,
)
from watcherlite.testing.resources import ResourceRun

UUID = '11111111-2222-3333-4444-555555555555'


class TestServices(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = FakeCloud()
        self.clouds = connect(self, self.cloud)

    def answer(self, method, path, body=None, status=200, **headers):
        self.cloud.answers[method, path] = (status, body, headers)

    def created(self, handler, properties):
        run = ResourceRun(handler, clouds=self.clouds)
        settled = run.create(properties)
        self.assertEqual('COMPLETE', settled.status, settled.reason)
        return run

    def requests(self):
        """Return the methods and paths of the requests since the last call."""
        found = [f'{method} {path}' for method, path, _ in self.cloud.requests]
        self.cloud.requests.clear()
        return found

    def test_alarms(self):
        path = '/alarming/v2/alarms'
        self.answer('POST', path, {'alarm_id': 'a', 'name': 'n'}, 201)
        self.answer('GET', f'{path}/a', {'alarm_id': 'a', 'name': 'n'})
        self.answer('PUT', f'{path}/a', {'alarm_id': 'a', 'name': 'n'})
        self.answer('DELETE', f'{path}/a', None, 204)
        rule = {'query': 'up', 'comparison_operator': 'lt'}

        run = self.created(alarms.PrometheusAlarm, {**rule, 'threshold': 1})
        body = self.cloud.requests[0][2]
        self.assertEqual({**rule, 'threshold': 1}, body['prometheus_rule'])
        self.assertEqual('COMPLETE', run.update({**rule, 'threshold': 2}).status)
        self.assertEqual('COMPLETE', run.delete().status)

        self.assertEqual(
            [f'POST {path}', f'PUT {path}/a', f'GET {path}/a', f'DELETE {path}/a'],
            self.requests(),
        )

    def test_load_balancers(self):
        path = '/load-balancer/v2.0/lbaas/loadbalancers'
        record = {'id': 'l', 'provisioning_status': 'PENDING_CREATE', 'name': 'x'}
        self.answer('POST', path, {'loadbalancer': record}, 201)
        active = {**record, 'provisioning_status': 'ACTIVE', 'vip_address': '10.0.0.9'}
        self.answer('GET', f'{path}/l', {'loadbalancer': active})
        self.answer('PUT', f'{path}/l', {'loadbalancer': active})
        self.answer('DELETE', f'{path}/l', None, 204)

        run = self.created(load_balancing.LoadBalancer, {'vip_subnet': UUID})
        body = self.cloud.requests[0][2]['loadbalancer']
        self.assertEqual(UUID, body['vip_subnet_id'])
        self.assertEqual('10.0.0.9', run.attributes['vip_address'])
        self.assertEqual('COMPLETE', run.delete().status)

        self.assertIn(f'DELETE {path}/l', self.requests())

    def test_members_of_pools(self):
        path = f'/load-balancer/v2.0/lbaas/pools/{UUID}/members'
        record = {'id': 'm', 'provisioning_status': 'ACTIVE', 'address': '10.0.0.2'}
        self.answer('POST', path, {'member': record}, 201)
        self.answer('GET', f'{path}/m', {'member': record})
        self.answer('PUT', f'{path}/m', {'member': record})
        self.answer('DELETE', f'{path}/m', None, 204)
        member = {'pool': UUID, 'address': '10.0.0.2', 'protocol_port': 80}

        run = self.created(load_balancing.PoolMember, member)
        self.assertEqual('COMPLETE', run.update({**member, 'weight': 5}).status)
        weights = [
            body['member'].get('weight')
            for method, _, body in self.cloud.requests
            if method == 'PUT' and 'weight' in body['member']
        ]
        self.assertEqual([5], weights)
        self.assertEqual('COMPLETE', run.delete().status)

        self.assertIn(f'DELETE {path}/m', self.requests())

    def test_zones_and_record_sets(self):
        zones = '/dns/v2/zones'
        zone = {'id': UUID, 'name': 'a.', 'status': 'ACTIVE', 'serial': 7}
        self.answer('POST', zones, zone, 202)
        self.answer('GET', f'{zones}/{UUID}', zone)
        sets = f'{zones}/{UUID}/recordsets'
        record = {'id': 'r', 'zone_id': UUID, 'name': 'b.a.', 'status': 'ACTIVE'}
        self.answer('POST', sets, record, 202)
        self.answer('GET', f'{sets}/r', record)
        self.answer('PUT', f'{sets}/r', record)
        self.answer('DELETE', f'{sets}/r', record, 202)
        properties = {'name': 'b.a.', 'type': 'A', 'zone': UUID}

        run = self.created(dns.Zone, {'name': 'a.', 'email': 'x@a'})
        self.assertEqual(7, run.attributes['serial'])
        run = self.created(dns.RecordSet, {**properties, 'records': ['10.0.0.1']})
        settled = run.update({**properties, 'records': ['10.0.0.2']})
        self.assertEqual('COMPLETE', settled.status, settled.reason)
        self.assertEqual('COMPLETE', run.delete().status)

        sent = {f'{method} {path}': body for method, path, body in self.cloud.requests}
        self.assertEqual(['10.0.0.1'], sent[f'POST {sets}']['records'])
        self.assertEqual(['10.0.0.2'], sent[f'PUT {sets}/r']['records'])
        self.assertIn(f'DELETE {sets}/r', sent)

    def test_secrets_orders_and_containers(self):
        for handler, kind, properties, expected in (
            (
                key_manager.Secret,
                'secret',
                {'payload': 'x', 'payload_content_type': 'text/plain'},
                {'payload': 'x', 'secret_type': 'opaque'},
            ),
            (
                key_manager.Order,
                'order',
                {'type': 'key', 'algorithm': 'aes', 'bit_length': 256},
                {'type': 'key'},
            ),
            (
                key_manager.GenericContainer,
                'container',
                {'secrets': [{'name': 'a', 'ref': 'http://s'}]},
                {'secret_refs': [{'name': 'a', 'secret_ref': 'http://s'}]},
            ),
        ):
            with self.subTest(kind=kind):
                path = f'/key-manager/v1/{kind}s'
                url = f'{self.cloud.url}{path}/{UUID}'
                record = {f'{kind}_ref': url, 'status': 'ACTIVE'}
                self.answer('POST', path, {f'{kind}_ref': url}, 201)
                self.answer('GET', f'{path}/{UUID}', record)
                self.answer('DELETE', f'{path}/{UUID}', None, 204)

                run = self.created(handler, properties)

                body = self.cloud.requests[0][2]
                self.assertEqual(expected, {name: body[name] for name in expected})
                self.assertEqual((UUID, url), (run.physical_id, run.reference))
                self.requests()
                self.assertEqual('COMPLETE', run.delete().status)
                self.assertEqual([f'DELETE {path}/{UUID}'], self.requests())

    def test_containers_of_objects(self):
        path = '/swift/v1/AUTH_p/c'
        self.answer('PUT', path, None, 201)
        self.answer('HEAD', path, None, 204, x_container_object_count='0')
        self.answer('DELETE', path, None, 204)

        run = self.created(object_storage.Container, {'name': 'c'})
        self.assertEqual(self.cloud.url + path, run.attributes['WebsiteURL'])
        self.assertEqual('0', run.attributes['ObjectCount'])
        self.assertEqual('COMPLETE', run.delete().status)

        self.assertEqual(
            [f'PUT {path}', f'HEAD {path}', f'DELETE {path}'], self.requests()
        )

    def test_leases_and_hosts(self):
        path = '/reservation/v1/leases'
        self.answer('POST', path, {'lease': {'id': '1', 'name': 'x'}}, 201)
        lease = {'id': '1', 'name': 'n', 'status': 'PENDING'}
        self.answer('GET', f'{path}/1', {'lease': {**lease, 'name': 'x'}})
        self.answer('PUT', f'{path}/1', {'lease': lease})
        self.answer('DELETE', f'{path}/1', None, 204)
        hosts = '/reservation/v1/os-hosts'
        self.answer('POST', hosts, {'host': {'id': '2', 'vcpus': 4}}, 201)
        self.answer('DELETE', f'{hosts}/2', None, 204)

        host = self.created(
            reservations.Host, {'name': 'h', 'extra_capability': {'gpu': True}}
        )
        run = self.created(
            reservations.Lease,
            {
                'name': 'n',
                'start_date': '2030-01-01 10:00',
                'end_date': '2030-01-02 10:00',
                'reservations': [
                    {'resource_type': 'physical:host', 'min': 1, 'max': 2, 'vcpus': 3}
                ],
            },
        )

        self.assertEqual(
            (4, 'PENDING'), (host.attributes['vcpus'], run.attributes['status'])
        )
        sent = [body for method, _, body in self.cloud.requests if method == 'POST']
        self.assertEqual({'name': 'h', 'gpu': True}, sent[0])
        self.assertEqual(
            {
                'name': run.physical_name,
                'start': '2030-01-01 10:00',
                'end': '2030-01-02 10:00',
                'events': [],
                'reservations': [
                    {
                        'resource_type': 'physical:host',
                        'min': 1,
                        'max': 2,
                        'before_end': 'default',
                    }
                ],
            },
            sent[1],
        )
        self.assertEqual(('PUT', f'{path}/1', {'name': 'n'}), self.cloud.requests[-1])
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual('COMPLETE', host.delete().status)

    def test_without_the_service_the_creation_fails_and_the_deletion_succeeds(self):
        self.cloud.catalog.clear()
        for handler, properties, service in (
            (alarms.EventAlarm, {}, 'alarming'),
            (load_balancing.LoadBalancer, {'vip_subnet': UUID}, 'load-balancer'),
            (dns.Zone, {'name': 'a.', 'email': 'x@a'}, 'dns'),
            (key_manager.Secret, {}, 'key-manager'),
            (object_storage.Container, {}, 'object-store'),
            (reservations.Host, {'name': 'h'}, 'reservation'),
        ):
            with self.subTest(service=service):
                run = ResourceRun(handler, clouds=self.clouds)

                settled = run.create(properties)

                self.assertIn(
                    f'the service catalog has no endpoint of the {service} service',
                    settled.reason,
                )
                self.assertEqual('COMPLETE', run.delete().status)
