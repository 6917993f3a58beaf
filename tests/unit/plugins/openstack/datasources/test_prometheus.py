"""The queries and answers of Prometheus."""

import json

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import options
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.datasources.prometheus import Aetos, Prometheus


class TestPrometheus(base.TestCase):
    def source(self, answer, **values):
        source = Prometheus(options.standalone_group(Prometheus, values))
        self.queries = []

        def send(promql):
            self.queries.append(promql)
            return answer if isinstance(answer, bytes) else json.dumps(answer).encode()

        source.send = send
        return source

    def answer(self, label, **values):
        return {
            'status': 'success',
            'data': {
                'result': [
                    {'metric': {label: name}, 'value': [0, value]}
                    for name, value in values.items()
                ]
            },
        }

    def test_it_is_configured_by_its_url(self):
        self.assertFalse(Prometheus(options.standalone_group(Prometheus)).is_configured)
        self.assertTrue(self.source({}, url='http://p.example.org').is_configured)
        self.assertFalse(Aetos(options.standalone_group(Aetos)).is_configured)
        self.assertTrue(
            Aetos(options.standalone_group(Aetos, {'enabled': True})).is_configured
        )

    def test_one_query_reads_all_hosts(self):
        values = self.source(
            self.answer('fqdn', **{'c1.example.org': '40', 'c2': '5', 'c3': 'NaN'})
        ).read('host_cpu_usage', {'c1': 8, 'c2.example.org': 8, 'c3': 8}, 300)

        self.assertEqual({'c1': 40.0, 'c2.example.org': 5.0}, values)
        self.assertEqual(
            [
                'avg by (fqdn) (100 - 100 * '
                'rate(node_cpu_seconds_total{mode="idle"}[300s]))'
            ],
            self.queries,
        )

    def test_memory_of_hosts_is_in_mebibytes(self):
        self.source(self.answer('fqdn')).read('host_ram_usage', {'c1': 8}, 60, 'max')

        self.assertIn('max_over_time(node_memory_MemAvailable', self.queries[0])
        self.assertIn('/ 1048576', self.queries[0])

    def test_cpu_of_servers_is_in_percent_of_their_vcpus(self):
        answer = self.answer('resource', one='100', two='900', other='1')

        values = self.source(answer).read(
            'instance_cpu_usage', {'one': 2, 'two': 4, 'three': 1}, 300
        )

        self.assertEqual({'one': 50.0, 'two': 100.0}, values)
        self.assertEqual(
            ['avg by (resource) (rate(ceilometer_cpu[300s])) / 10000000'], self.queries
        )

    def test_labels_are_options(self):
        source = self.source(
            self.answer('uuid', one='10'), instance_uuid_label='uuid', fqdn_label='h'
        )

        self.assertEqual(
            {'one': 10.0}, source.read('instance_ram_usage', {'one': 2}, 300)
        )
        self.assertIn('max by (uuid)', self.queries[0])

    def test_sensors_of_hosts_are_read_by_their_own_label(self):
        for metric, expression in (
            ('host_outlet_temp', 'ceilometer_hardware_ipmi_node_outlet_temperature'),
            ('host_inlet_temp', 'ceilometer_hardware_ipmi_node_temperature'),
            ('host_airflow', '10 * ceilometer_hardware_ipmi_node_airflow'),
            ('host_power', 'ceilometer_hardware_ipmi_node_power'),
        ):
            source = self.source(self.answer('resource', **{'c1.example.org': '38.5'}))

            self.assertEqual({'c1': 38.5}, source.read(metric, {'c1': 8, 'c2': 8}, 300))
            self.assertEqual(
                [
                    f'max by (resource) (avg_over_time(({expression})[300s:30s]) '
                    f'or ({expression}))'
                ],
                self.queries,
            )

    def test_the_expressions_of_other_exporters_are_options(self):
        power = 'ipmi_dcmi_power_consumption_watts{job="ipmi"}'
        cache = 'sum by (uuid) (llc_occupancy_bytes)'
        source = self.source(
            self.answer('nodename', c1='200'),
            sensor_host_label='nodename',
            host_power_expression=power,
        )

        self.assertEqual({'c1': 200.0}, source.read('host_power', {'c1': 8}, 5, 'max'))
        self.assertEqual(
            [f'max by (nodename) (max_over_time(({power})[5s:1s]) or ({power}))'],
            self.queries,
        )
        source = self.source(
            self.answer('uuid', one='4096'),
            instance_uuid_label='uuid',
            instance_l3_cache_usage_expression=cache,
        )

        self.assertEqual(
            {'one': 4096.0}, source.read('instance_l3_cache_usage', {'one': 2}, 100)
        )
        self.assertEqual(
            [f'max by (uuid) (avg_over_time(({cache})[100s:10s]) or ({cache}))'],
            self.queries,
        )

    def test_a_metric_without_an_expression_is_left_to_other_datasources(self):
        self.assertEqual(set(metrics.UNITS), set(self.source({}).metrics))
        self.assertEqual(
            {'host_airflow', 'host_power'},
            set(metrics.UNITS)
            - set(
                self.source(
                    {}, host_airflow_expression='', host_power_expression=' '
                ).metrics
            ),
        )

    def test_refusals_and_foreign_answers_are_named(self):
        for answer, reason in (
            ({'status': 'error', 'error': 'bad'}, 'prometheus refuses a query: bad'),
            (b'<html>', 'prometheus does not answer like Prometheus'),
            ({'status': 'success'}, 'does not answer like Prometheus'),
        ):
            with self.assertRaisesRegex(exceptions.WatcherliteError, reason):
                self.source(answer).read('host_cpu_usage', {'a': 1}, 1)

    def test_an_unknown_aggregate_is_refused(self):
        with self.assertRaisesRegex(exceptions.Invalid, 'no aggregate median'):
            self.source({}).read('host_cpu_usage', {'a': 1}, 1, 'median')
