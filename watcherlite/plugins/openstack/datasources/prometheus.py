"""Measurements in Prometheus, queried directly or with a token through Aetos.

One query returns the values of all hosts or servers.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors, metrics
from watcherlite.plugins.openstack.datasources import answers

#: Maximum length of an expression of an option.
LONGEST_EXPRESSION = 1000
_AGGREGATES = {'mean': 'avg', 'min': 'min', 'max': 'max', 'count': 'avg'}
_MEBIBYTE = 1024 * 1024
#: Nanoseconds of CPU time per second, to percent.
_NANOSECONDS_TO_PERCENT = 1e7

#: Sends a query, and returns the body of the response.
Send = Callable[[str], bytes]


def _cpu_of_hosts(label: str, aggregate: str, period: str) -> str:
    return (
        f'{aggregate} by ({label}) '
        f'(100 - 100 * rate(node_cpu_seconds_total{{mode="idle"}}[{period}]))'
    )


def _memory_of_hosts(label: str, aggregate: str, period: str) -> str:
    return (
        f'max by ({label}) ((node_memory_MemTotal_bytes - '
        f'{aggregate}_over_time(node_memory_MemAvailable_bytes[{period}])) '
        f'/ {_MEBIBYTE})'
    )


def _cpu_of_servers(label: str, aggregate: str, period: str) -> str:
    """Return the query for the percentage of one vCPU."""
    return (
        f'{aggregate} by ({label}) (rate(ceilometer_cpu[{period}])) '
        f'/ {_NANOSECONDS_TO_PERCENT:.0f}'
    )


def _memory_of_servers(label: str, aggregate: str, period: str) -> str:
    return (
        f'max by ({label}) ({aggregate}_over_time(ceilometer_memory_usage[{period}]))'
    )


_QUERIES: Mapping[str, Callable[[str, str, str], str]] = {
    metrics.HOST_CPU_USAGE: _cpu_of_hosts,
    metrics.HOST_RAM_USAGE: _memory_of_hosts,
    metrics.INSTANCE_CPU_USAGE: _cpu_of_servers,
    metrics.INSTANCE_RAM_USAGE: _memory_of_servers,
}
#: Metrics whose name depends on the exporter -> the default of their option: what
#: ceilometer reads from the sensors of hosts, and from libvirt.
_EXPRESSIONS: Mapping[str, str] = {
    metrics.HOST_OUTLET_TEMP: 'ceilometer_hardware_ipmi_node_outlet_temperature',
    metrics.HOST_INLET_TEMP: 'ceilometer_hardware_ipmi_node_temperature',
    # It has CFM.
    metrics.HOST_AIRFLOW: '10 * ceilometer_hardware_ipmi_node_airflow',
    metrics.HOST_POWER: 'ceilometer_hardware_ipmi_node_power',
    metrics.INSTANCE_L3_CACHE_USAGE: 'ceilometer_cpu_l3_cache',
}
#: The number of values of an expression that are combined in a period.
_STEPS = 10


def query(metric: str, label: str, aggregate: str, period: float) -> str:
    """Return the query for a metric of all hosts or servers; raise Invalid.

    :param label: with the host or the uuid of the server
    """
    function, seconds = _function(aggregate), f'{max(1, round(period))}s'
    return _QUERIES[metric](label, function, seconds)


def query_of_expression(
    expression: str, label: str, aggregate: str, period: float
) -> str:
    """Return the query for an expression of an option; raise Invalid.

    A measurement counts until the next one, so that periods may be shorter than the
    interval of the measurements. One that is newer than the last step is used if it is
    the only one.
    """
    seconds = max(1, round(period))
    step = max(1, seconds // _STEPS)
    return (
        f'max by ({label}) '
        f'({_function(aggregate)}_over_time(({expression})[{seconds}s:{step}s]) '
        f'or ({expression}))'
    )


def _function(aggregate: str) -> str:
    if aggregate not in _AGGREGATES:
        raise exceptions.Invalid(
            f'Prometheus has no aggregate {aggregate}; use one of '
            f'{", ".join(_AGGREGATES)}'
        )
    return _AGGREGATES[aggregate]


def _expression_option(metric: str) -> cfg.Opt:
    """Return the option for the expression of a metric."""
    return cfg.StrOpt(
        f'{metric}_expression',
        default=_EXPRESSIONS[metric],
        max_length=LONGEST_EXPRESSION,
        help=f'The expression of PromQL for {metric}, in {metrics.UNITS[metric]}: the '
        'name of a metric, usually. Set it if the measurements come from '
        'another exporter. Empty: this datasource does not have the metric, so that '
        'the next one of [data_models] datasources is used.',
    )


class _PromQL(base.DataSource):
    """The queries and answers of Prometheus, whatever the transport."""

    name: ClassVar[str]

    @property
    def metrics(self) -> Sequence[str]:
        """Return the metrics, without those whose expression is empty."""
        return (*_QUERIES, *filter(self._expression, _EXPRESSIONS))

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.StrOpt(
                'fqdn_label',
                default='fqdn',
                regex='^[a-zA-Z_][a-zA-Z0-9_]*$',
                help='The label with the host name of a compute node, in the '
                'measurements of node-exporter. It is the name that nova has, '
                'or begins with it and a dot.',
            ),
            cfg.StrOpt(
                'sensor_host_label',
                default='resource',
                regex='^[a-zA-Z_][a-zA-Z0-9_]*$',
                help='The label with the host name of a compute node, in the '
                'measurements of its sensors: host_outlet_temp, host_inlet_temp, '
                'host_airflow and host_power.',
            ),
            cfg.StrOpt(
                'instance_uuid_label',
                default='resource',
                regex='^[a-zA-Z_][a-zA-Z0-9_]*$',
                help='The label with the uuid of a server, in the measurements of '
                'ceilometer.',
            ),
            *map(_expression_option, _EXPRESSIONS),
        )

    def send(self, promql: str) -> bytes:
        """Return the body of the response to a query."""
        raise NotImplementedError

    def read(
        self,
        metric: str,
        resources: Mapping[str, int],
        period: float,
        aggregate: str = 'mean',
    ) -> Mapping[str, float]:
        """Return the values of the resources, of one query."""
        is_host = metric in metrics.HOST_METRICS
        label = self._label(metric)
        if metric in _QUERIES:
            promql = query(metric, label, aggregate, period)
        else:
            promql = query_of_expression(
                self._expression(metric), label, aggregate, period
            )
        values = _values(self.name, self.send(promql), label)
        if is_host:
            return answers.values_of_hosts(values, resources)
        found = {name: values[name] for name in resources if name in values}
        if metric == metrics.INSTANCE_CPU_USAGE:
            # Of all vCPUs; a rate may exceed what is possible.
            return {
                name: min(100.0, value / max(1, resources[name]))
                for name, value in found.items()
            }
        return found

    def _expression(self, metric: str) -> str:
        expression: str = self.options[f'{metric}_expression'].strip()
        return expression

    def _label(self, metric: str) -> str:
        """Return the label with the host or the uuid of the server."""
        if metric not in metrics.HOST_METRICS:
            name = 'instance_uuid_label'
        elif metric in _EXPRESSIONS:
            name = 'sensor_host_label'
        else:
            name = 'fqdn_label'
        label: str = self.options[name]
        return label


def _values(source: str, body: bytes, label: str) -> dict[str, float]:
    """Return the values of an answer, by the value of a label."""
    try:
        answer = json.loads(body)
        if answer['status'] != 'success':
            raise exceptions.WatcherliteError(
                f'The datasource {source} refuses a query: {answer.get("error")}'
            )
        found = {}
        for one in answer['data']['result']:
            value = float(one['value'][1])
            if label in one['metric'] and math.isfinite(value):
                found[one['metric'][label]] = value
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise exceptions.WatcherliteError(
            f'The datasource {source} does not answer like Prometheus'
        ) from error
    return found


class Prometheus(_PromQL):
    """Prometheus with the measurements of node-exporter and ceilometer."""

    description = 'Reads measurements from Prometheus.'
    name = 'prometheus'

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.URIOpt(
                'url',
                schemes=['http', 'https'],
                sample_default='http://prometheus.example.org:9090',
                help='The URL of Prometheus. Without it this datasource is not used.',
            ),
            *super().get_config_opts(),
            cfg.StrOpt('username', help='The user, if Prometheus requires one.'),
            cfg.StrOpt(
                'password',
                secret=True,
                help='The password of the user. Make this file readable for this '
                'service only.',
            ),
            cfg.StrOpt(
                'cafile',
                help='A file with the certificates of the authorities that are '
                'trusted, instead of those of the system.',
            ),
            cfg.FloatOpt(
                'timeout',
                default=30,
                min=0.1,
                max=3600,
                help='The seconds to connect, and between two parts of an answer.',
            ),
        )

    @property
    def is_configured(self) -> bool:
        """Return whether there is a URL."""
        return bool(self.options.url)

    def send(self, promql: str) -> bytes:
        """Return the body of the response to a query."""
        # Strategies without metrics need no requests.
        import requests

        options = self.options
        try:
            with requests.post(
                f'{options.url.rstrip("/")}/api/v1/query',
                data={'query': promql},
                auth=(
                    (options.username, options.password or '')
                    if options.username
                    else None
                ),
                verify=options.cafile or True,
                timeout=options.timeout,
                allow_redirects=False,
                stream=True,
            ) as response:
                if response.status_code in (401, 403, 404):
                    raise exceptions.ConfigurationError(
                        'The datasource prometheus answers with HTTP '
                        f'{response.status_code}; check the options of '
                        '[watcherlite.datasources.prometheus]'
                    )
                return answers.read_body(self.name, response)
        except requests.RequestException as error:
            raise exceptions.ServiceUnavailable(
                f'The datasource prometheus cannot be read: {type(error).__name__}'
            ) from error


class Aetos(base.CloudClient, _PromQL):
    """Prometheus behind Aetos, which the service catalog has as metric-storage."""

    description = 'Reads measurements from Prometheus through Aetos.'
    name = 'aetos'

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.BoolOpt(
                'enabled',
                default=False,
                help='Whether to read measurements through Aetos, the service '
                'metric-storage of the cloud in [openstack].',
            ),
            *super().get_config_opts(),
        )

    @property
    def is_configured(self) -> bool:
        """Return whether it is enabled."""
        return bool(self.options.enabled)

    def send(self, promql: str) -> bytes:
        """Return the body of the response to a query."""
        session = self.clouds.service_connection().session
        with errors.translated('metric-storage', 'the measurements'):
            response = session.get(
                '/api/v1/query',
                params={'query': promql},
                endpoint_filter={'service_type': 'metric-storage'},
                raise_exc=True,
                stream=True,
            )
            with response:
                return answers.read_body(self.name, response)
