"""The requests to Gnocchi and its answers."""

import contextlib
import json
import types

from keystoneauth1 import exceptions as keystone

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import options
from watcherlite.plugins.openstack.datasources.gnocchi import Gnocchi


class Response(contextlib.nullcontext):
    """The response of a session."""

    def __init__(self, status, body):
        super().__init__()
        self.status_code = status
        self.body = body

    def iter_content(self, size):
        return [self.body]


class TestGnocchi(base.TestCase):
    def source(self, answer, status=200, **values):
        source = Gnocchi(options.standalone_group(Gnocchi, values))
        self.requests = []

        def post(path, **request):
            self.requests.append((path, request))
            if isinstance(answer, Exception):
                raise answer
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            return Response(status, body)

        connection = types.SimpleNamespace(session=types.SimpleNamespace(post=post))
        source.clouds = types.SimpleNamespace(service_connection=lambda: connection)
        return source

    def answer(self, attribute, **measures):
        """Return an answer with measures of every five minutes."""
        return [
            {
                'group': {attribute: name},
                'measures': {
                    'measures': {
                        'aggregated': [
                            [f'2030-01-01T00:{5 * n:02}:00+00:00', 300.0, value]
                            for n, value in enumerate(values)
                        ]
                    }
                },
            }
            for name, values in measures.items()
        ]

    def test_it_is_configured_by_an_option(self):
        for enabled in (False, True):
            self.assertIs(enabled, self.source([], enabled=enabled).is_configured)

    def test_one_request_reads_all_hosts(self):
        answer = self.answer(
            'original_resource_id', **{'c1_c1.example.org': [1, 40], 'c2_c2': []}
        )

        values = self.source(answer).read(
            'host_cpu_usage', {'c1.example.org': 8, 'c2': 8, 'c3': 8}, 30
        )

        self.assertEqual({'c1.example.org': 40.0}, values)
        self.assertEqual(
            [
                (
                    '/v1/aggregates',
                    {
                        'params': {
                            'groupby': 'original_resource_id',
                            'granularity': 300,
                            'start': '-600 seconds',
                            'fill': 'dropna',
                        },
                        'json': {
                            'resource_type': 'nova_compute',
                            'search': {'=': {'ended_at': None}},
                            'operations': [
                                'aggregate',
                                'mean',
                                ['metric', 'compute.node.cpu.percent', 'mean'],
                            ],
                        },
                        'headers': {'Accept': 'application/json'},
                        'endpoint_filter': {'service_type': 'metric'},
                        'raise_exc': False,
                        'stream': True,
                    },
                )
            ],
            self.requests,
        )

    def test_the_measures_of_the_period_are_combined(self):
        source = self.source(self.answer('original_resource_id', c1=[99, 30, 40, 20]))

        self.assertEqual(
            [{'c1': 30.0}, {'c1': 20.0}, {'c1': 40.0}],
            [
                source.read('host_outlet_temp', {'c1': 8}, 900, aggregate)
                for aggregate in ('mean', 'min', 'max')
            ],
        )
        self.assertEqual('-1200 seconds', self.requests[0][1]['params']['start'])

    def test_airflow_is_in_tenths_of_cfm(self):
        answer = self.answer('original_resource_id', c1=[40])

        self.assertEqual(
            {'c1': 400.0}, self.source(answer).read('host_airflow', {'c1': 8}, 300)
        )

    def test_cpu_of_servers_is_in_percent_of_their_vcpus(self):
        answer = self.answer('id', one=[300e9], two=[900e9], moved=[-5e9], other=[1])

        values = self.source(answer).read(
            'instance_cpu_usage', {'one': 2, 'two': 1, 'moved': 1, 'three': 1}, 300
        )

        self.assertEqual({'one': 50.0, 'two': 100.0, 'moved': 0.0}, values)
        self.assertEqual(
            ['metric', 'cpu', 'rate:mean'], self.requests[0][1]['json']['operations'][2]
        )

    def test_the_granularity_is_an_option(self):
        answer = self.answer('id', one=[1, 2, 3])

        found = self.source(answer, granularity=60).read(
            'instance_ram_usage', {'one': 2}, 120
        )

        self.assertEqual({'one': 2.5}, found)
        parameters = self.requests[0][1]['params']
        self.assertEqual(
            (60, '-180 seconds'), (parameters['granularity'], parameters['start'])
        )

    def test_failures_and_foreign_answers_are_named(self):
        for answer, kind, reason in (
            (b'<html>', exceptions.WatcherliteError, 'not answer like Gnocchi'),
            ({'a': 1}, exceptions.WatcherliteError, 'not answer like Gnocchi'),
            ([{'group': {}}], exceptions.WatcherliteError, 'not answer like Gnocchi'),
            (
                keystone.EndpointNotFound('metric'),
                exceptions.Invalid,
                'the measurements hardware.ipmi.node.power: the service catalog has '
                'no endpoint of the metric service',
            ),
        ):
            with self.assertRaisesRegex(kind, reason):
                self.source(answer).read('host_power', {'a': 1}, 1)

    def test_a_refusal_has_its_reason(self):
        missing = {'description': "Metric ['hardware.ipmi.node.power'] does not exist"}
        other = {'description': {'cause': 'x', 'reason': 'Granularities are missing'}}
        for answer, status, kind, reason in (
            (missing, 404, exceptions.ConfigurationError, missing['description']),
            (other, 400, exceptions.ConfigurationError, 'Granularities are missing'),
            (b'<html>', 403, exceptions.ConfigurationError, 'no reason'),
            ([], 503, exceptions.ServiceUnavailable, 'no reason'),
        ):
            error = self.assertRaises(
                kind, self.source(answer, status).read, 'host_power', {'a': 1}, 1
            )
            self.assertEqual(
                'The datasource gnocchi answers to hardware.ipmi.node.power of ipmi '
                f'with HTTP {status}: {reason}',
                str(error),
            )

    def test_an_unknown_aggregate_is_refused(self):
        with self.assertRaisesRegex(exceptions.Invalid, 'no aggregate median'):
            self.source([]).read('host_power', {'a': 1}, 1, 'median')
