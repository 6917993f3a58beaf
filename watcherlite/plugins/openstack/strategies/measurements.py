"""Measurements of compute nodes and servers, as strategies read them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import ComputeNode, Server

GRANULARITY: Mapping[str, Any] = {
    'description': 'The time between two measurements. Without effect: the datasource '
    'has its own.',
    'type': 'number',
    'default': 300,
}
_AGGREGATE: Mapping[str, Any] = {
    'type': 'string',
    'enum': ['mean', 'min', 'max', 'count'],
    'default': 'mean',
}
AGGREGATION_METHOD: Mapping[str, Any] = {
    'description': 'The aggregation of the measurements of a period: mean, min or max.',
    'type': 'object',
    'properties': {
        'instance': _AGGREGATE,
        'compute_node': _AGGREGATE,
        'node': {
            'description': 'The former name of compute_node.',
            'type': 'string',
            'enum': ['', 'mean', 'min', 'max', 'count'],
            'default': '',
        },
    },
    'default': {'instance': 'mean', 'compute_node': 'mean', 'node': ''},
}


def period(seconds: float) -> Mapping[str, Any]:
    """Return the schema of a period.

    :param seconds: the default
    """
    return {
        'description': 'The seconds over which measurements are combined.',
        'type': 'number',
        'minimum': 1,
        'default': seconds,
    }


def aggregate(parameters: Mapping[str, Any], kind: str) -> str:
    """Return the aggregate for a kind of resources.

    :param kind: instance or compute_node
    """
    method = parameters['aggregation_method']
    former = method.get('node') if kind == 'compute_node' else ''
    return str(former or method.get(kind, 'mean'))


def split_nodes(
    nodes: Iterable[ComputeNode], values: Mapping[str, float], threshold: float
) -> tuple[Sequence[ComputeNode], Sequence[ComputeNode]]:
    """Return the compute nodes at a threshold or above it, and those below it.

    The former from the highest to the lowest value, the latter from the lowest to the
    highest. Compute nodes without a value are in neither.
    """
    measured = [node for node in nodes if node.uuid in values]
    above = [node for node in measured if values[node.uuid] >= threshold]
    below = [node for node in measured if values[node.uuid] < threshold]
    return (
        sorted(above, key=lambda node: -values[node.uuid]),
        sorted(below, key=lambda node: values[node.uuid]),
    )


class Measurements:
    """Reads metrics from the datasource that has all of them.

    :raises ConfigurationError: there is none
    """

    def __init__(self, context: base.StrategyContext, desired: Collection[str]) -> None:
        self._context = context
        self._source = context.datasource(desired)

    def of_nodes(
        self,
        metric: str,
        nodes: Iterable[ComputeNode],
        period: float,
        aggregate: str = 'mean',
    ) -> dict[str, float]:
        """Return the values of compute nodes, by uuid."""
        uuids = {node.hostname: node.uuid for node in nodes}
        vcpus = {node.hostname: node.vcpus for node in nodes}
        found = self._read(metric, 'compute nodes', vcpus, period, aggregate)
        return {uuids[host]: value for host, value in found.items()}

    def of_servers(
        self,
        metric: str,
        servers: Iterable[Server],
        period: float,
        aggregate: str = 'mean',
    ) -> dict[str, float]:
        """Return the values of servers, by uuid."""
        vcpus = {server.uuid: server.vcpus for server in servers}
        return self._read(metric, 'servers', vcpus, period, aggregate)

    def _read(
        self,
        metric: str,
        noun: str,
        vcpus: Mapping[str, int],
        period: float,
        aggregate: str,
    ) -> dict[str, float]:
        """Return the values; raise NotFound if there are none at all."""
        self._context.checkpoint()
        if not vcpus:
            return {}
        found = dict(self._source.read(metric, vcpus, period, aggregate))
        if not found:
            raise exceptions.NotFound(
                f'The datasource has no {metric} ({metrics.UNITS[metric]}) of any of '
                f'the {len(vcpus)} {noun} in the last {period:g} s; check that it '
                'receives measurements, and its labels'
            )
        return found
