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


def query(
    metric: str, host_label: str, server_label: str, aggregate: str, period: float
) -> str:
    """Return the query for a metric of all hosts or servers; raise Invalid."""
    if aggregate not in _AGGREGATES:
        raise exceptions.Invalid(
            f'Prometheus has no aggregate {aggregate}; use one of '
            f'{", ".join(_AGGREGATES)}'
        )
    label = host_label if metric in metrics.HOST_METRICS else server_label
    seconds = f'{max(1, round(period))}s'
    return _QUERIES[metric](label, _AGGREGATES[aggregate], seconds)


class _PromQL(base.DataSource):
    """The queries and answers of Prometheus, whatever the transport."""

    name: ClassVar[str]
    metrics: ClassVar[Sequence[str]] = tuple(_QUERIES)

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
                'instance_uuid_label',
                default='resource',
                regex='^[a-zA-Z_][a-zA-Z0-9_]*$',
                help='The label with the uuid of a server, in the measurements of '
                'ceilometer.',
            ),
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
        options = self.options
        is_host = metric in metrics.HOST_METRICS
        label = options.fqdn_label if is_host else options.instance_uuid_label
        promql = query(
            metric, options.fqdn_label, options.instance_uuid_label, aggregate, period
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
