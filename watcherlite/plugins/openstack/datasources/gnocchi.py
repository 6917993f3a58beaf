"""Measurements of ceilometer in Gnocchi, which the service catalog has as metric.

One request to its aggregates API returns the values of all hosts or servers.
"""

import dataclasses
import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors, metrics
from watcherlite.plugins.openstack.datasources import answers

SERVICE = 'metric'
_NANOSECONDS = 1e9
#: Combine the means of the intervals in a period: ceilometer stores nothing else.
_AGGREGATES: Mapping[str, Callable[[Iterable[float]], float]] = {
    'mean': statistics.fmean,
    'min': min,
    'max': max,
    'count': statistics.fmean,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Series:
    """The measurements of a metric in Gnocchi.

    :param resource_type: of the resources that have it
    :param method: the aggregation method of its archive policy
    :param factor: converts a value to the unit of the metric
    """

    resource_type: str
    name: str
    method: str = 'mean'
    factor: float = 1.0


SERIES: Mapping[str, Series] = {
    metrics.HOST_CPU_USAGE: Series('nova_compute', 'compute.node.cpu.percent'),
    metrics.HOST_OUTLET_TEMP: Series('ipmi', 'hardware.ipmi.node.outlet_temperature'),
    metrics.HOST_INLET_TEMP: Series('ipmi', 'hardware.ipmi.node.temperature'),
    # It has CFM.
    metrics.HOST_AIRFLOW: Series('ipmi', 'hardware.ipmi.node.airflow', factor=10.0),
    metrics.HOST_POWER: Series('ipmi', 'hardware.ipmi.node.power'),
    metrics.INSTANCE_CPU_USAGE: Series('instance', 'cpu', 'rate:mean'),
    metrics.INSTANCE_RAM_USAGE: Series('instance', 'memory.resident'),
    metrics.INSTANCE_L3_CACHE_USAGE: Series('instance', 'cpu_l3_cache'),
}


class Gnocchi(base.CloudClient, base.DataSource):
    """Gnocchi with the measurements of ceilometer."""

    description = 'Reads measurements from Gnocchi.'
    metrics: Sequence[str] = tuple(SERIES)

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.BoolOpt(
                'enabled',
                default=False,
                help='Whether to read measurements from Gnocchi, the service metric of '
                'the cloud in [openstack].',
            ),
            cfg.IntOpt(
                'granularity',
                default=300,
                min=1,
                max=86400,
                help='The seconds between two measurements; the archive policies of '
                'the metrics must have it.',
            ),
        )

    @property
    def is_configured(self) -> bool:
        """Return whether it is enabled."""
        return bool(self.options.enabled)

    def read(
        self,
        metric: str,
        resources: Mapping[str, int],
        period: float,
        aggregate: str = 'mean',
    ) -> Mapping[str, float]:
        """Return the values of the resources, of one request.

        A period shorter than the granularity has the latest measurement.
        """
        if aggregate not in _AGGREGATES:
            raise exceptions.Invalid(
                f'Gnocchi has no aggregate {aggregate}; use one of '
                f'{", ".join(_AGGREGATES)}'
            )
        series, granularity = SERIES[metric], self.options.granularity
        is_host = metric in metrics.HOST_METRICS
        attribute = 'original_resource_id' if is_host else 'id'
        count = max(1, round(period / granularity))
        body = self.send(series, attribute, (count + 1) * granularity)
        values = {
            name: series.factor * _AGGREGATES[aggregate](measures[-count:])
            for name, measures in _measures(body, attribute).items()
        }
        if is_host:
            # The resources of nova_compute have the name of the hypervisor as well.
            hosts = {name.partition('_')[0]: value for name, value in values.items()}
            return answers.values_of_hosts(hosts, resources)
        found = {name: values[name] for name in resources if name in values}
        if metric == metrics.INSTANCE_CPU_USAGE:
            # Of all vCPUs; the rate of a migrated server may be negative.
            return {
                name: _percent(value / granularity / max(1, resources[name]))
                for name, value in found.items()
            }
        return found

    def send(self, series: Series, attribute: str, seconds: float) -> bytes:
        """Return the body of the response with the measurements of all resources.

        :param attribute: of the resources, which distinguishes them
        :param seconds: the age of the first measurement
        """
        session = self.clouds.service_connection().session
        with errors.translated(SERVICE, f'the measurements {series.name}'):
            response = session.post(
                '/v1/aggregates',
                params={
                    'groupby': attribute,
                    'granularity': self.options.granularity,
                    'start': f'-{seconds} seconds',
                    # Without it a resource that has no measurements fails the request.
                    'fill': 'dropna',
                },
                json={
                    'resource_type': series.resource_type,
                    'search': {'=': {'ended_at': None}},
                    'operations': [
                        'aggregate',
                        'mean',
                        ['metric', series.name, series.method],
                    ],
                },
                # Errors are JSON, too.
                headers={'Accept': 'application/json'},
                endpoint_filter={'service_type': SERVICE},
                raise_exc=False,
                stream=True,
            )
            with response:
                body = answers.read_body('gnocchi', response)
        if response.status_code >= 400:
            raise _error_of_answer(series, response.status_code, body)
        return body


def _error_of_answer(
    series: Series, status: int, body: bytes
) -> exceptions.WatcherliteError:
    """Return the error of a request that Gnocchi answers with an error."""
    try:
        detail = json.loads(body)['description']
        # Of the missing metrics it has a text, otherwise an object with the reason.
        reason = detail.get('reason', detail) if isinstance(detail, dict) else detail
    except (ValueError, KeyError, TypeError, RecursionError):
        reason = 'no reason'
    text = (
        f'The datasource gnocchi answers to {series.name} of {series.resource_type} '
        f'with HTTP {status}: {errors.clean(str(reason))}'
    )
    if status >= 500:
        return exceptions.ServiceUnavailable(text)
    return exceptions.ConfigurationError(text)


def _percent(nanoseconds: float) -> float:
    """Return the percentage of a CPU that takes nanoseconds per second."""
    return min(100.0, max(0.0, nanoseconds * 100 / _NANOSECONDS))


def _measures(body: bytes, attribute: str) -> dict[str, list[float]]:
    """Return the measures of an answer, the oldest first, by the value of an attribute.

    Resources without measures are absent.
    """
    found: dict[str, list[float]] = {}
    try:
        for one in json.loads(body):
            rows = sorted(one['measures']['measures']['aggregated'])
            values = [float(value) for _, _, value in rows]
            finite = [value for value in values if math.isfinite(value)]
            if finite:
                found[str(one['group'][attribute])] = finite
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise exceptions.WatcherliteError(
            'The datasource gnocchi does not answer like Gnocchi'
        ) from error
    return found
