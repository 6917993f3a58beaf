"""Resource types of services that few clouds have, with fakes of them."""

import json

from keystoneauth1 import exceptions as keystone

from tests.unit.plugins.openstack.resources import case
from watcherlite import exceptions
from watcherlite.plugins.openstack.resources import (
    alarms,
    dns,
    key_manager,
    load_balancing,
    object_storage,
)


class FakeResponse:
    """A response of a service."""

    def __init__(self, status, body=None, headers=None):
        self.status_code = status
        self.content = b'' if body is None else json.dumps(body).encode()
        self.headers = {'content-type': 'application/json', **(headers or {})}
        self.url, self.reason, self.text = '', '', self.content.decode()
        self.request = None

    def json(self):
        return json.loads(self.content)


class FakeRest:
    """A service without methods in openstacksdk: objects by path.

    :ivar requests: (method, path, body) of each
    """

    def __init__(self, key):
        self._key = key
        self.objects = {}
        self.requests = []

    def get_endpoint(self, skip_discovery):
        return 'http://service/'

    def request(self, path, method, endpoint_override, json=None):
        self.requests.append((method, path, json))
        if method == 'POST':
            known = {self._key: str(len(self.objects) + 1), **json}
            self.objects[f'{path}/{known[self._key]}'] = known
            return FakeResponse(201, known)
        if path not in self.objects:
            listed = [o for p, o in self.objects.items() if p.startswith(f'{path}/')]
            is_list = method == 'GET' and path.count('/') == 2
            return FakeResponse(200, listed) if is_list else FakeResponse(404)
        if method == 'DELETE':
            del self.objects[path]
            return FakeResponse(204)
        if method == 'PUT':
            self.objects[path] = {**self.objects[path], **json}
        return FakeResponse(200, self.objects[path])


class TestAlarms(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.service = self.connection.alarming = FakeRest('alarm_id')

    def test_an_alarm_is_created_replaced_as_a_whole_and_deleted(self):
        rule = {
            'metric': 'cpu',
            'query': '{}',
            'resource_type': 'instance',
            'threshold': 80,
            'granularity': 300,
        }
        run = self.created(
            alarms.GnocchiAggregationByResourcesAlarm,
            {**rule, 'alarm_actions': ['http://a'], 'alarm_queues': ['q']},
        )

        (method, path, body), *_ = self.service.requests
        self.assertEqual(('POST', '/v2/alarms'), (method, path))
        expected = {
            'enabled': True,
            'repeat_actions': True,
            'severity': 'low',
            'time_constraints': [],
            'alarm_actions': ['http://a', 'trust+zaqar://?queue_name=q'],
            'ok_actions': [],
            'insufficient_data_actions': [],
            'name': run.physical_name,
            'type': 'gnocchi_aggregation_by_resources_threshold',
            'gnocchi_aggregation_by_resources_threshold_rule': rule,
        }
        self.assertEqual(expected, body)
        run.update({**rule, 'threshold': 90})
        put = [body for method, _, body in self.service.requests if method == 'PUT']
        changed = {
            **expected,
            'alarm_actions': [],
            'gnocchi_aggregation_by_resources_threshold_rule': {
                **rule,
                'threshold': 90,
            },
        }
        self.assertEqual([changed], put)
        self.assertEqual('COMPLETE', run.check().status)
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual({}, self.service.objects)
        self.assertEqual('FAILED', run.check().status)

    def test_an_interrupted_creation_finds_the_alarm(self):
        run = self.run_of(alarms.EventAlarm)
        self.service.objects['/v2/alarms/7'] = {
            'alarm_id': '7',
            'name': run.physical_name,
        }

        run.create({}, attempt=2)

        self.assertEqual('7', run.physical_id)
        self.assertNotIn('POST', [method for method, _, _ in self.service.requests])

    def test_the_rules_of_the_types(self):
        for handler, properties, name, expected in (
            (
                alarms.Alarm,
                {
                    'meter_name': 'cpu_util',
                    'threshold': 5,
                    'matching_metadata': {'metadata.user_metadata.a': 1},
                },
                'threshold_rule',
                {
                    'meter_name': 'cpu_util',
                    'threshold': 5,
                    'query': [
                        {'field': 'metadata.user_metadata.a', 'op': 'eq', 'value': '1'}
                    ],
                },
            ),
            (
                alarms.CompositeAlarm,
                {
                    'composite_rule': {
                        'operator': 'or',
                        'rules': [
                            {'type': 'a'},
                            {'operator': 'and', 'rules': [{'type': 'b'}]},
                        ],
                    }
                },
                'composite_rule',
                {'or': [{'type': 'a'}, {'and': [{'type': 'b'}]}]},
            ),
            (
                alarms.EventAlarm,
                {'query': [{'field': 'f', 'op': 'eq', 'value': 'v'}]},
                'event_rule',
                {
                    'event_type': '*',
                    'query': [
                        {'field': 'f', 'op': 'eq', 'value': 'v', 'type': 'string'}
                    ],
                },
            ),
        ):
            with self.subTest(handler=handler):
                self.created(handler, properties)
                self.assertEqual(expected, self.service.requests[-1][2][name])


class Service:
    """A fake whose methods are recorded; `answers` has their results by name."""

    def __init__(self, **answers):
        self.answers = answers
        self.calls = []

    def __getattr__(self, name):
        def call(*args, **kwargs):
            self.calls.append((name, args, kwargs))
            answer = self.answers.get(name)
            if isinstance(answer, list):
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    def of(self, name):
        """Return the arguments of the calls of a method."""
        return [(args, kw) for called, args, kw in self.calls if called == name]


def an(**record):
    """Return an object of a service."""

    class Found:
        def to_dict(self, **options):
            return dict(record)

        def __getattr__(self, name):
            return record.get(name)

    return Found()


def missing():
    from openstack import exceptions as cloud

    return cloud.NotFoundException('not found')


class TestLoadBalancing(case.ResourceCase):
    def test_a_refused_request_is_repeated_until_the_load_balancer_is_free(self):
        from openstack import exceptions as cloud

        conflict = cloud.ConflictException('immutable')
        service = self.connection.load_balancer = Service(
            create_listener=[conflict, an(id='l', provisioning_status='ACTIVE')],
            listeners=[()],
            get_listener=an(id='l', provisioning_status='ACTIVE'),
            update_listener=an(id='l', provisioning_status='ACTIVE'),
        )
        lb = '11111111-2222-3333-4444-555555555555'

        run = self.created(
            load_balancing.Listener,
            {'loadbalancer': lb, 'protocol': 'HTTP', 'protocol_port': 80},
        )

        self.assertEqual('l', run.physical_id)
        ((_, first), (_, second)) = service.of('create_listener')
        self.assertEqual(first, second)
        self.assertEqual(
            (lb, 80, -1),
            tuple(
                first[name]
                for name in ('loadbalancer_id', 'protocol_port', 'connection_limit')
            ),
        )

    def test_a_member_has_the_id_of_its_pool_in_its_physical_id(self):
        pool = '11111111-2222-3333-4444-555555555555'
        member = an(id='m', provisioning_status='ACTIVE', name='x')
        service = self.connection.load_balancer = Service(
            create_member=member, get_member=[member, missing()], update_member=member
        )

        run = self.created(
            load_balancing.PoolMember,
            {'pool': pool, 'address': '10.0.0.2', 'protocol_port': 80},
        )

        self.assertEqual((f'{pool}:m', 'm'), (run.physical_id, run.reference))
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual(
            [(('m', pool), {'ignore_missing': True})], service.of('delete_member')
        )

    def test_properties_that_exclude_each_other_are_refused(self):
        pool = {'lb_algorithm': 'ROUND_ROBIN', 'protocol': 'HTTP'}
        for handler, given, text in (
            (load_balancing.MemberPool, pool, 'one of listener and loadbalancer'),
            (
                load_balancing.MemberPool,
                {
                    **pool,
                    'listener': 'l',
                    'session_persistence': {'type': 'APP_COOKIE'},
                },
                'is required for APP_COOKIE',
            ),
            (
                load_balancing.Listener,
                {
                    'loadbalancer': 'l',
                    'protocol': 'TERMINATED_HTTPS',
                    'protocol_port': 1,
                },
                'is required for TERMINATED_HTTPS',
            ),
        ):
            with self.assertRaisesRegex(exceptions.Invalid, text):
                self.run_of(handler).fit(given)


class TestMissingServices(case.ResourceCase):
    def test_the_creation_fails_with_the_reason_and_the_deletion_succeeds(self):
        error = keystone.EndpointNotFound('load-balancer')
        self.connection.load_balancer = Service(
            create_load_balancer=error, load_balancers=error
        )
        subnet = '11111111-2222-3333-4444-555555555555'
        run = self.run_of(load_balancing.LoadBalancer)

        settled = run.create({'vip_subnet': subnet})

        self.assertIn(
            'the service catalog has no endpoint of the load-balancer service',
            settled.reason,
        )
        self.assertEqual('COMPLETE', run.delete().status)


class TestNames(case.ResourceCase):
    def test_a_record_is_a_record_set_with_one_record(self):
        zone = '11111111-2222-3333-4444-555555555555'
        record = an(id='r', status='ACTIVE', name='a.b.', type='MX')
        service = self.connection.dns = Service(
            create_recordset=record, get_recordset=record, update_recordset=record
        )
        properties = {'name': 'a.b.', 'type': 'MX', 'data': 'm.b.', 'domain': zone}

        run = self.created(dns.Record, {**properties, 'priority': 10})
        run.update({**properties, 'priority': 20})

        self.assertEqual((f'{zone}:r', 'r'), (run.physical_id, run.reference))
        self.assertEqual(
            [((zone,), {'name': 'a.b.', 'type': 'MX', 'records': ['10 m.b.']})],
            service.of('create_recordset'),
        )
        ((_, changed),) = service.of('update_recordset')
        self.assertEqual({'records': ['20 m.b.']}, changed)

    def test_a_zone_needs_what_its_type_requires(self):
        run = self.run_of(dns.Zone)
        for given, text in (
            ({'name': 'a.'}, 'email: is required for the type PRIMARY'),
            ({'name': 'a.', 'type': 'SECONDARY'}, 'primaries: is required'),
        ):
            with self.assertRaisesRegex(exceptions.Invalid, text):
                run.fit(given)


class TestSecrets(case.ResourceCase):
    URL = 'http://k/v1/secrets/1'

    def test_a_secret_is_its_url_and_its_payload_stays_private(self):
        made = an(id='1', secret_ref=self.URL)
        found = an(
            id='1', name='n', status='ACTIVE', secret_ref=self.URL, payload='hidden'
        )
        service = self.connection.key_manager = Service(
            create_secret=made, get_secret=found
        )

        run = self.created(
            key_manager.Secret,
            {'name': 'n', 'payload': 'hidden', 'payload_content_type': 'text/plain'},
        )

        self.assertEqual((self.URL, '1'), (run.reference, run.physical_id))
        self.assertNotIn('hidden', json.dumps(run.attributes))
        self.assertEqual('hidden', run.read_attribute('decrypted_payload'))
        binary = an(id='1', status='ACTIVE', payload=b'\xff')
        service.answers['get_secret'] = binary
        self.assertEqual('/w==', run.read_attribute('decrypted_payload'))
        ((_, sent),) = service.of('create_secret')
        self.assertEqual(
            {
                'name': 'n',
                'payload': 'hidden',
                'payload_content_type': 'text/plain',
                'secret_type': 'opaque',
            },
            sent,
        )

    def test_an_interrupted_creation_is_recognised_by_a_unique_name_only(self):
        run = self.run_of(key_manager.GenericContainer)
        own = an(id='2', name=run.physical_name, status='ACTIVE')
        self.connection.key_manager = Service(containers=[own], get_container=own)
        self.connection.key_manager.answers['containers'] = [[own]]
        self.assertEqual('COMPLETE', run.create({}, attempt=2).status)
        self.assertEqual('2', run.physical_id)

        other = self.run_of(key_manager.GenericContainer)
        given = an(id='3', name='n', status='ACTIVE')
        self.connection.key_manager = Service(containers=[[given]])
        settled = other.create({'name': 'n'}, attempt=2)
        self.assertIn('it is unknown whether it is the result', settled.reason)

    def test_the_keys_of_an_order_are_read_from_its_container(self):
        order = an(
            id='o',
            status='ACTIVE',
            order_ref='http://k/v1/orders/o',
            container_ref='http://k/v1/containers/c',
        )
        secrets = [{'name': 'public_key', 'secret_ref': 'http://k/v1/secrets/p'}]
        service = self.connection.key_manager = Service(
            create_order=order,
            get_order=order,
            get_container=an(id='c', secret_refs=secrets),
            get_secret=an(id='p', payload='text'),
        )
        properties = {'type': 'asymmetric', 'algorithm': 'rsa', 'bit_length': 2048}

        run = self.created(key_manager.Order, properties)

        self.assertNotIn('text', json.dumps(run.attributes))
        self.assertEqual('text', run.read_attribute('public_key'))
        self.assertIsNone(run.read_attribute('certificate'))
        self.assertEqual(
            [[(('c',), {})] * 2, [(('p',), {})]],
            [service.of('get_container'), service.of('get_secret')],
        )
        service.answers['get_order'] = an(id='o', status='ACTIVE')
        self.assertIsNone(run.read_attribute('public_key'))

    def test_an_order_has_the_properties_of_its_type_only(self):
        run = self.run_of(key_manager.Order)
        with self.assertRaises(exceptions.StackValidationFailed) as caught:
            run.fit({'type': 'key', 'algorithm': 'aes', 'ca_id': '1'})
        self.assertEqual(
            [
                'properties.ca_id: is not for the type key',
                'properties.bit_length: is required for the type key',
            ],
            caught.exception.problems,
        )


class TestContainers(case.ResourceCase):
    def test_a_container_has_its_metadata_and_a_mark(self):
        headers = {'X-Container-Object-Count': '0', 'X-Container-Bytes-Used': '0'}
        service = self.connection.object_store = Service(
            put=FakeResponse(201),
            head=FakeResponse(204, headers=headers),
            get_endpoint='http://swift.example/v1/AUTH_a',
        )
        properties = {
            'X-Container-Read': '.r:*',
            'X-Container-Meta': {'web-index': 'i'},
        }

        run = self.created(object_storage.Container, properties)

        ((path,), sent) = service.of('put')[0]
        self.assertEqual(f'/{run.physical_name}', path)
        self.assertEqual(
            {
                'X-Container-Meta-web-index': 'i',
                'X-Container-Meta-watcherlite-resource': run.uuid,
                'X-Container-Read': '.r:*',
            },
            sent['headers'],
        )
        self.assertEqual(
            (
                'swift.example',
                f'http://swift.example/v1/AUTH_a/{run.physical_name}',
                '0',
            ),
            tuple(
                run.attributes[name]
                for name in ('DomainName', 'WebsiteURL', 'ObjectCount')
            ),
        )
