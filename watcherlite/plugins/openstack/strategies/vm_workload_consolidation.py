"""The strategy that relieves overloaded compute nodes and empties others."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import (
    UP,
    ComputeModel,
    ComputeNode,
    Resources,
    Server,
)
from watcherlite.plugins.openstack.strategies import measurements, proposals
from watcherlite.plugins.openstack.strategies.measurements import Measurements


class VMWorkloadConsolidation(base.Strategy):
    """Relieve overloaded compute nodes, then empty the least used ones.

    Usage is measured; what has no measurement counts with its full size. A destination
    needs room for the flavor as well.
    """

    goal = 'server_consolidation'
    display_name = 'VM Workload Consolidation Strategy'
    description = 'Consolidates servers by their measured usage.'
    data_models = ('compute',)
    metrics = (
        metrics.INSTANCE_CPU_USAGE,
        metrics.INSTANCE_RAM_USAGE,
        metrics.HOST_CPU_USAGE,
        metrics.HOST_RAM_USAGE,
    )
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'period': measurements.period(3600),
            'granularity': measurements.GRANULARITY,
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the migrations, and the services to be enabled and disabled."""
        model: ComputeModel = context.model('compute')
        source = Measurements(context, self.metrics)
        period = context.parameters['period']
        nodes = [node for node in model.nodes if node.state == UP]
        servers = [one for node in nodes for one in model.servers_of(node)]
        return propose(
            model,
            source.of_servers(metrics.INSTANCE_CPU_USAGE, servers, period),
            source.of_servers(metrics.INSTANCE_RAM_USAGE, servers, period),
            source.of_nodes(metrics.HOST_CPU_USAGE, nodes, period),
            source.of_nodes(metrics.HOST_RAM_USAGE, nodes, period),
        )


def propose(
    model: ComputeModel,
    server_cpu: Mapping[str, float],
    server_ram: Mapping[str, float],
    node_cpu: Mapping[str, float],
    node_ram: Mapping[str, float],
) -> Solution:
    """Return the consolidation.

    :param server_cpu, node_cpu: uuid -> percentage
    :param server_ram, node_ram: uuid -> MiB
    """
    usage = _Usage(model, server_cpu, server_ram, node_cpu, node_ram)
    usage.relieve()
    usage.consolidate()
    solution = Solution()
    migrations = proposals.migrate_moved(solution, model)
    destinations = {node.uuid for _, _, node in model.moved()}
    released = 0
    for node in usage.nodes:
        if not node.is_enabled and node.uuid in destinations:
            proposals.enable(solution, node)
        elif node.is_enabled and not model.servers_of(node):
            proposals.disable(solution, node, proposals.RELEASED_REASON)
            released += 1
    solution.set_efficacy_indicators(
        compute_nodes_count=len(usage.nodes),
        released_compute_nodes_count=released,
        instance_migrations_count=migrations,
    )
    return solution


class _Usage:
    """The measured usage of compute nodes, as their servers are placed."""

    def __init__(
        self,
        model: ComputeModel,
        server_cpu: Mapping[str, float],
        server_ram: Mapping[str, float],
        node_cpu: Mapping[str, float],
        node_ram: Mapping[str, float],
    ) -> None:
        self._model = model
        self.nodes = [node for node in model.nodes if node.state == UP]
        self._servers = {
            server.uuid: Resources(
                server.vcpus * server_cpu.get(server.uuid, 100.0) / 100,
                server_ram.get(server.uuid, server.memory),
                server.disk,
            )
            for server in model.servers
        }
        #: What the servers of a node use, or the whole node if that is more.
        self._nodes: dict[str, Resources] = {}
        for node in self.nodes:
            sums = sum(
                (self._servers[one.uuid] for one in model.servers_of(node)), Resources()
            )
            cpu = node.vcpus * node_cpu.get(node.uuid, 0.0) / 100
            self._nodes[node.uuid] = Resources(
                max(sums.vcpus, cpu),
                max(sums.memory, node_ram.get(node.uuid, 0.0)),
                sums.disk,
            )

    def relieve(self) -> None:
        """Move the least used servers away from overloaded nodes.

        Disabled nodes are destinations as well; they are enabled then.
        """
        ordered = self._ordered()
        most_used = list(reversed(ordered))
        # A stable sort: disabled nodes are the last resort.
        destinations = sorted(most_used, key=lambda node: not node.is_enabled)
        for node in most_used:
            for server in self._movable(node):
                if not self._is_overloaded(node):
                    break
                self._place(server, destinations)

    def consolidate(self) -> None:
        """Move the servers of less used nodes to more used ones.

        Nodes without servers are no destinations, because they may be released.
        """
        opened = {node.uuid for _, _, node in self._model.moved()}
        ordered = [node for node in self._ordered() if self._model.servers_of(node)]
        for position, node in enumerate(ordered):
            destinations = [
                one
                for one in reversed(ordered[position + 1 :])
                if one.is_enabled or one.uuid in opened
            ]
            for server in reversed(self._movable(node)):
                self._place(server, destinations)

    def _ordered(self) -> list[ComputeNode]:
        return sorted(self.nodes, key=lambda node: self._nodes[node.uuid].vcpus)

    def _movable(self, node: ComputeNode) -> Sequence[Server]:
        """Return the servers that may be moved, the least used first."""
        return sorted(
            filter(proposals.may_migrate, self._model.servers_of(node)),
            key=lambda server: self._servers[server.uuid].vcpus,
        )

    def _is_overloaded(self, node: ComputeNode) -> bool:
        return self._nodes[node.uuid].vcpus > node.capacity.vcpus

    def _place(self, server: Server, destinations: Sequence[ComputeNode]) -> None:
        """Move a server to the first destination with room, if there is one."""
        used = self._servers[server.uuid]
        for node in destinations:
            total = self._nodes[node.uuid] + used
            if self._model.can_move(server, node) and total.fits_in(node.capacity):
                source = self._model.node_of(server)
                self._nodes[source.uuid] = self._nodes[source.uuid] - used
                self._nodes[node.uuid] = total
                self._model.move(server, node)
                return
