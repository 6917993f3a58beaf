"""The strategy that empties the least used compute nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import (
    ACTIVE,
    UP,
    ComputeModel,
    ComputeNode,
    Server,
)
from watcherlite.plugins.openstack.strategies import measurements, proposals
from watcherlite.plugins.openstack.strategies.measurements import Measurements

#: The usage that is assumed for what has no measurement.
_UNKNOWN = 100.0


class Basic(base.Strategy):
    """Migrate the servers of the least used compute nodes to more used ones.

    A compute node is released only if all of its servers have a place elsewhere.
    """

    goal = 'server_consolidation'
    display_name = 'Basic offline consolidation'
    description = 'Releases the least used compute nodes by live migration.'
    data_models = ('compute',)
    metrics = (metrics.HOST_CPU_USAGE, metrics.INSTANCE_CPU_USAGE)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'migration_attempts': {
                'description': 'The number of compute nodes that may be tried in vain; '
                '0: all.',
                'type': 'number',
                'minimum': 0,
                'default': 0,
            },
            'period': measurements.period(7200),
            'granularity': measurements.GRANULARITY,
            'aggregation_method': measurements.AGGREGATION_METHOD,
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the migrations, and the services to be disabled."""
        given = context.parameters
        model: ComputeModel = context.model('compute')
        source = Measurements(context, self.metrics)
        nodes = source.of_nodes(
            metrics.HOST_CPU_USAGE,
            [node for node in model.nodes if node.state == UP],
            given['period'],
            measurements.aggregate(given, 'compute_node'),
        )
        servers = source.of_servers(
            metrics.INSTANCE_CPU_USAGE,
            [server for server in model.servers if server.state == ACTIVE],
            given['period'],
            measurements.aggregate(given, 'instance'),
        )
        return propose(model, nodes, servers, given['migration_attempts'])


def propose(
    model: ComputeModel,
    node_usage: Mapping[str, float],
    server_usage: Mapping[str, float],
    attempts: float = 0,
) -> Solution:
    """Return the actions that release compute nodes.

    :param node_usage: uuid -> percentage
    :param server_usage: uuid -> percentage
    :param attempts: 0: not limited
    """
    occupied = sorted(
        (node for node in model.nodes if node.state == UP and model.servers_of(node)),
        key=lambda node: -node_usage.get(node.uuid, _UNKNOWN),
    )
    released: list[ComputeNode] = []
    failed = 0
    while len(occupied) > 1 and not (attempts and failed > attempts):
        node = occupied.pop()
        servers = sorted(
            model.servers_of(node),
            key=lambda server: -server_usage.get(server.uuid, _UNKNOWN),
        )
        if _empty(model, node, servers, occupied):
            released.append(node)
            failed = 0
        else:
            failed += 1
    solution = Solution()
    migrations = proposals.migrate_moved(solution, model)
    for node in released:
        if node.is_enabled:
            proposals.disable(solution, node, proposals.RELEASED_REASON)
    solution.set_efficacy_indicators(
        compute_nodes_count=sum(node.is_enabled for node in model.nodes),
        released_compute_nodes_count=sum(node.is_enabled for node in released),
        instance_migrations_count=migrations,
    )
    return solution


def _empty(
    model: ComputeModel,
    node: ComputeNode,
    servers: Sequence[Server],
    destinations: Sequence[ComputeNode],
) -> bool:
    """Move all servers to the first destinations with room, or none of them."""
    if any(server.excluded or server.state != ACTIVE for server in servers):
        return False
    return proposals.move_all(model, node, servers, destinations)
