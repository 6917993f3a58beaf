"""The strategy that moves one server from an overloaded compute node."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import (
    ACTIVE,
    ComputeModel,
    ComputeNode,
    Server,
)
from watcherlite.plugins.openstack.strategies import measurements, proposals
from watcherlite.plugins.openstack.strategies.measurements import Measurements


class WorkloadBalance(base.Strategy):
    """Migrate one server from a compute node above the threshold to one below it.

    The effect of more migrations at once cannot be predicted: run it as a CONTINUOUS
    audit.
    """

    goal = 'workload_balancing'
    display_name = 'Workload Balance Migration Strategy'
    description = 'Moves one server from an overloaded compute node.'
    data_models = ('compute',)
    metrics = (metrics.INSTANCE_CPU_USAGE, metrics.INSTANCE_RAM_USAGE)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'metrics': {
                'description': 'The metric of the workload.',
                'type': 'string',
                'enum': ['instance_cpu_usage', 'instance_ram_usage'],
                'default': 'instance_cpu_usage',
            },
            'threshold': {
                'description': 'The percentage of a compute node from which it is '
                'overloaded, and that no destination may reach.',
                'type': 'number',
                'minimum': 0,
                'default': 25.0,
            },
            'period': measurements.period(300),
            'granularity': measurements.GRANULARITY,
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return one migration, or none."""
        given = context.parameters
        model: ComputeModel = context.model('compute')
        metric = given['metrics']
        usage = Measurements(context, (metric,)).of_servers(
            metric, model.servers, given['period']
        )
        return propose(model, usage, metric, given['threshold'])


def propose(
    model: ComputeModel, usage: Mapping[str, float], metric: str, threshold: float
) -> Solution:
    """Return the migration that brings an overloaded compute node near the average.

    :param usage: uuid of a server -> percentage of its vCPUs, or MiB
    """
    balance = _Balance(model, usage, metric)
    solution = Solution()
    before = balance.deviation()
    nodes = balance.nodes
    limit = threshold / 100
    overloaded = [node for node in nodes if balance.share(node) >= limit]
    others = [node for node in nodes if balance.share(node) < limit]
    found = balance.choose(overloaded)
    if found is not None:
        server, source = found
        fitting = [
            node
            for node in others
            if model.can_move(server, node) and balance.share(node, server) < limit
        ]
        if fitting:
            destination = min(fitting, key=balance.share)
            model.move(server, destination)
            proposals.migrate(solution, server, source, destination)
    solution.set_efficacy_indicators(
        instance_migrations_count=len(solution.actions),
        instances_count=len(model.servers),
        standard_deviation_before_audit=before,
        standard_deviation_after_audit=balance.deviation(),
    )
    return solution


class _Balance:
    """The workloads of compute nodes, as their servers are placed."""

    def __init__(
        self, model: ComputeModel, usage: Mapping[str, float], metric: str
    ) -> None:
        self._model = model
        self._is_cpu = metric == metrics.INSTANCE_CPU_USAGE
        self._loads = {
            server.uuid: usage[server.uuid] * server.vcpus / 100
            if self._is_cpu
            else usage[server.uuid]
            for server in model.servers
            if server.uuid in usage
        }
        self.nodes = [
            node for node in model.nodes if node.is_enabled and self._size(node) > 0
        ]

    def share(self, node: ComputeNode, added: Server | None = None) -> float:
        """Return the workload of a compute node as a part of its size.

        :param added: a server that is counted as well
        """
        load = self._load(node) + (self._loads[added.uuid] if added else 0.0)
        return load / self._size(node)

    def deviation(self) -> float:
        """Return the standard deviation of the shares."""
        return statistics.pstdev(map(self.share, self.nodes)) if self.nodes else 0.0

    def choose(
        self, overloaded: Sequence[ComputeNode]
    ) -> tuple[Server, ComputeNode] | None:
        """Return the server whose migration brings its node closest to the average.

        The compute node stays at the average or above it.
        """
        if not self.nodes:
            return None
        average = sum(map(self._load, self.nodes)) / len(self.nodes)
        for node in sorted(overloaded, key=lambda one: -self.share(one)):
            excess = self._load(node) - average
            candidates = [
                server
                for server in self._model.servers_of(node)
                if server.state == ACTIVE
                and not server.excluded
                and server.uuid in self._loads
                and self._loads[server.uuid] <= excess
            ]
            if candidates:
                return max(candidates, key=lambda one: self._loads[one.uuid]), node
        return None

    def _load(self, node: ComputeNode) -> float:
        return sum(
            self._loads.get(server.uuid, 0.0) for server in self._model.servers_of(node)
        )

    def _size(self, node: ComputeNode) -> int:
        return node.vcpus if self._is_cpu else node.memory
