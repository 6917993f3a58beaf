"""The strategy that lowers the standard deviation of the loads of compute nodes."""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import (
    ComputeModel,
    ComputeNode,
    Server,
)
from watcherlite.plugins.openstack.strategies import measurements, proposals
from watcherlite.plugins.openstack.strategies.measurements import Measurements

CPU = metrics.INSTANCE_CPU_USAGE
RAM = metrics.INSTANCE_RAM_USAGE
#: Metric of servers -> that of compute nodes.
_OF_NODES: Mapping[str, str] = {
    CPU: metrics.HOST_CPU_USAGE,
    RAM: metrics.HOST_RAM_USAGE,
}

#: Loads by metric, each 0 to 1 of a compute node.
Load = Mapping[str, float]


def _shares(suffix: str, default: float) -> Mapping[str, Any]:
    """Return the schema of an object with a number from 0 to 1 for each metric."""
    number = {'type': 'number', 'minimum': 0, 'maximum': 1}
    names = [f'{metric}{suffix}' for metric in (CPU, RAM)]
    return {
        'type': 'object',
        'properties': {name: {**number, 'default': default} for name in names},
        'default': dict.fromkeys(names, default),
    }


def _period(seconds: int) -> Mapping[str, Any]:
    return {'type': 'integer', 'minimum': 0, 'default': seconds}


class WorkloadStabilization(base.Strategy):
    """Migrate servers until the loads of compute nodes are similar enough."""

    goal = 'workload_balancing'
    display_name = 'Workload stabilization'
    description = 'Lowers the standard deviation of the loads of compute nodes.'
    data_models = ('compute',)
    metrics = (CPU, RAM, metrics.HOST_CPU_USAGE, metrics.HOST_RAM_USAGE)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'metrics': {
                'description': 'The metrics of the load.',
                'type': 'array',
                'items': {'type': 'string', 'enum': [CPU, RAM]},
                'minItems': 1,
                'uniqueItems': True,
                'default': [CPU],
            },
            'thresholds': {
                **_shares('', 0.1),
                'description': 'The standard deviation of each metric that is '
                'accepted.',
            },
            'weights': {
                **_shares('_weight', 1.0),
                'description': 'The weight of each metric in the sum of deviations.',
            },
            'instance_metrics': {
                'description': 'The metrics of compute nodes for those of servers.',
                'type': 'object',
                'properties': {
                    CPU: {'enum': [_OF_NODES[CPU]]},
                    RAM: {'enum': [_OF_NODES[RAM]]},
                },
                'additionalProperties': False,
                'default': dict(_OF_NODES),
            },
            'host_choice': {
                'description': 'The destinations that are compared for a server: cycle '
                '(the next one), retry (retry_count random ones), fullsearch (all).',
                'type': 'string',
                'enum': ['cycle', 'retry', 'fullsearch'],
                'default': 'retry',
            },
            'retry_count': {
                'description': 'The number of random destinations.',
                'type': 'number',
                'minimum': 1,
                'default': 1,
            },
            'periods': {
                'description': 'The seconds over which measurements are combined.',
                'type': 'object',
                'properties': {
                    'instance': _period(720),
                    'compute_node': _period(600),
                    'node': _period(0),
                },
                'default': {'instance': 720, 'compute_node': 600, 'node': 0},
            },
            'aggregation_method': measurements.AGGREGATION_METHOD,
            'granularity': measurements.GRANULARITY,
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the migrations."""
        given = context.parameters
        model: ComputeModel = context.model('compute')
        desired: Sequence[str] = given['metrics']
        source = Measurements(context, [*desired, *(_OF_NODES[one] for one in desired)])
        nodes = [node for node in model.nodes if node.is_enabled]
        servers = [one for node in nodes for one in model.servers_of(node)]
        periods = given['periods']
        node_period = periods['node'] or periods['compute_node']
        of_nodes = {
            metric: source.of_nodes(
                _OF_NODES[metric],
                nodes,
                node_period,
                measurements.aggregate(given, 'compute_node'),
            )
            for metric in desired
        }
        of_servers = {
            metric: source.of_servers(
                metric,
                servers,
                periods['instance'],
                measurements.aggregate(given, 'instance'),
            )
            for metric in desired
        }
        # The same audit compares the same destinations; this is not cryptography.
        chance = random.Random(context.audit_uuid)  # noqa: S311  # nosec B311
        return propose(
            model, of_nodes, of_servers, given, chance, checkpoint=context.checkpoint
        )


def propose(
    model: ComputeModel,
    of_nodes: Mapping[str, Mapping[str, float]],
    of_servers: Mapping[str, Mapping[str, float]],
    parameters: Mapping[str, Any],
    chance: random.Random,
    checkpoint: Callable[[], None] = lambda: None,
) -> Solution:
    """Return the migrations that lower the weighted deviation the most.

    :param of_nodes, of_servers: metric of servers -> uuid -> percentage, or MiB
    :param checkpoint: called before each server
    """
    desired: Sequence[str] = parameters['metrics']
    loads = _Loads(model, desired, of_nodes, of_servers)
    solution = Solution()
    before = loads.weighted(parameters['weights'])
    after = before
    if not _is_stable(loads, parameters):
        found = _candidates(loads, model, parameters, chance, checkpoint)
        moved: set[str] = set()
        for _, server, node in sorted(found, key=lambda one: one[0]):
            if server.uuid in moved or not model.can_move(server, node):
                continue
            deviation = loads.weighted_if(server, node, parameters['weights'])
            if deviation >= after:
                continue
            loads.move(server, node)
            moved.add(server.uuid)
            after = deviation
            if _is_stable(loads, parameters):
                break
    migrations = proposals.migrate_moved(solution, model)
    solution.set_efficacy_indicators(
        instance_migrations_count=migrations,
        instances_count=len(model.servers),
        standard_deviation_before_audit=before,
        standard_deviation_after_audit=after,
    )
    return solution


def _is_stable(loads: '_Loads', parameters: Mapping[str, Any]) -> bool:
    return all(
        loads.deviation(metric) <= parameters['thresholds'][metric]
        for metric in parameters['metrics']
    )


def _candidates(
    loads: '_Loads',
    model: ComputeModel,
    parameters: Mapping[str, Any],
    chance: random.Random,
    checkpoint: Callable[[], None],
) -> Iterator[tuple[float, Server, ComputeNode]]:
    """Yield single migrations that lower the deviation, with the deviation."""
    weights = parameters['weights']
    before = loads.weighted(weights)
    cycle = itertools.cycle(loads.nodes)
    for source in loads.nodes:
        others = [node for node in loads.nodes if node.uuid != source.uuid]
        for server in model.servers_of(source):
            checkpoint()
            if server.excluded or not server.is_live or not loads.is_known(server):
                continue
            for node in _destinations(source, others, cycle, parameters, chance):
                deviation = loads.weighted_if(server, node, weights)
                if deviation < before:
                    yield deviation, server, node


def _destinations(
    source: ComputeNode,
    others: Sequence[ComputeNode],
    cycle: Iterator[ComputeNode],
    parameters: Mapping[str, Any],
    chance: random.Random,
) -> Sequence[ComputeNode]:
    """Return the destinations to be compared for a server."""
    choice = parameters['host_choice']
    if not others or choice == 'fullsearch':
        return others
    if choice == 'cycle':
        return [next(node for node in cycle if node.uuid != source.uuid)]
    return chance.sample(others, min(len(others), int(parameters['retry_count'])))


class _Loads:
    """The loads of compute nodes, with sums that make a deviation cheap."""

    def __init__(
        self,
        model: ComputeModel,
        desired: Sequence[str],
        of_nodes: Mapping[str, Mapping[str, float]],
        of_servers: Mapping[str, Mapping[str, float]],
    ) -> None:
        self._model = model
        self._desired = desired
        self._of_servers = of_servers
        self.nodes = [
            node
            for node in model.nodes
            if node.is_enabled
            and node.vcpus
            and node.memory
            and all(node.uuid in of_nodes[metric] for metric in desired)
        ]
        self._loads = {
            metric: {
                node.uuid: of_nodes[metric][node.uuid] / self._whole(metric, node)
                for node in self.nodes
            }
            for metric in desired
        }
        self._sums = {
            metric: (sum(loads.values()), sum(one * one for one in loads.values()))
            for metric, loads in self._loads.items()
        }

    def is_known(self, server: Server) -> bool:
        """Return whether all metrics of a server were measured."""
        return all(server.uuid in self._of_servers[metric] for metric in self._desired)

    def deviation(self, metric: str) -> float:
        """Return the standard deviation of a metric."""
        return self._deviation(*self._sums[metric])

    def weighted(self, weights: Load) -> float:
        """Return the weighted sum of the deviations."""
        return sum(
            self.deviation(metric) * weights[f'{metric}_weight']
            for metric in self._desired
        )

    def weighted_if(self, server: Server, node: ComputeNode, weights: Load) -> float:
        """Return the weighted sum of the deviations after a migration."""
        total = 0.0
        for metric in self._desired:
            added, squares = self._sums[metric]
            for old, new in self._changes(metric, server, node).values():
                added += new - old
                squares += new * new - old * old
            total += self._deviation(added, squares) * weights[f'{metric}_weight']
        return total

    def move(self, server: Server, node: ComputeNode) -> None:
        """Place a server on another compute node."""
        for metric in self._desired:
            added, squares = self._sums[metric]
            for uuid, (old, new) in self._changes(metric, server, node).items():
                self._loads[metric][uuid] = new
                added += new - old
                squares += new * new - old * old
            self._sums[metric] = added, squares
        self._model.move(server, node)

    def _changes(
        self, metric: str, server: Server, node: ComputeNode
    ) -> dict[str, tuple[float, float]]:
        """Return the old and the new loads of the two nodes of a migration."""
        source = self._model.node_of(server)
        loads = self._loads[metric]
        less = self._share(metric, server, source)
        more = self._share(metric, server, node)
        return {
            source.uuid: (loads[source.uuid], loads[source.uuid] - less),
            node.uuid: (loads[node.uuid], loads[node.uuid] + more),
        }

    def _share(self, metric: str, server: Server, node: ComputeNode) -> float:
        """Return the load that a server is on a compute node."""
        value = self._of_servers[metric][server.uuid]
        if metric == CPU:
            return value / 100 * server.vcpus / node.vcpus
        return value / node.memory

    def _whole(self, metric: str, node: ComputeNode) -> float:
        return 100.0 if metric == CPU else float(node.memory)

    def _deviation(self, total: float, squares: float) -> float:
        count = len(self.nodes)
        if not count:
            return 0.0
        mean = total / count
        # Rounding may leave less than nothing.
        return math.sqrt(max(0.0, squares / count - mean * mean))
