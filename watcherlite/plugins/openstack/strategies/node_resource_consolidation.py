"""The strategy that empties compute nodes by the sizes of their servers."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models.compute import UP, ComputeModel, ComputeNode
from watcherlite.plugins.openstack.strategies import proposals

AUTO = 'auto'
SPECIFY = 'specify'
REASON = 'Watcher node resource consolidation strategy'


class NodeResourceConsolidation(base.Strategy):
    """Migrate the servers of compute nodes with few vCPUs in use to others.

    It needs no measurements. With `host_choice` auto, the nodes that get empty are
    disabled while their servers are migrated, and enabled afterwards.
    """

    goal = 'server_consolidation'
    display_name = 'Node Resource Consolidation strategy'
    description = 'Empties compute nodes whose servers have room on others.'
    planner = 'node_resource_consolidation'
    data_models = ('compute',)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'host_choice': {
                'description': 'auto: the scheduler of nova selects the destination of '
                'each server; specify: the strategy does.',
                'type': 'string',
                'enum': [AUTO, SPECIFY],
                'default': AUTO,
            }
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the migrations, and the changes of services."""
        return propose(context.model('compute'), context.parameters['host_choice'])


def propose(model: ComputeModel, host_choice: str = AUTO) -> Solution:
    """Return the actions that empty compute nodes, which the planner orders."""
    nodes = [node for node in model.nodes if node.state == UP]
    nodes.sort(key=lambda node: model.used(node).vcpus)
    free = [node for node in nodes if not model.servers_of(node)]
    occupied = [node for node in nodes if model.servers_of(node)]
    sources: list[ComputeNode] = []
    while len(occupied) > 1:
        node = occupied.pop(0)
        if _empty(model, node, list(reversed(occupied))):
            sources.append(node)
    solution = Solution()
    moved = model.moved()
    closed: list[ComputeNode] = []
    if host_choice == AUTO and moved:
        closed = [node for node in (*free, *sources) if node.is_enabled]
    for node in closed:
        proposals.disable(solution, node, REASON)
    for server, source, destination in moved:
        place = None if host_choice == AUTO else destination
        proposals.migrate(solution, server, source, place)
    for node in closed:
        proposals.enable(solution, node)
    solution.set_efficacy_indicators(
        compute_nodes_count=len(model.nodes),
        released_compute_nodes_count=len(sources),
        instance_migrations_count=len(moved),
    )
    return solution


def _empty(
    model: ComputeModel, node: ComputeNode, destinations: Sequence[ComputeNode]
) -> bool:
    """Move all servers to the fullest destinations with room, or none of them."""
    servers = sorted(model.servers_of(node), key=lambda one: -one.vcpus)
    if not all(map(proposals.may_migrate, servers)):
        return False
    return proposals.move_all(model, node, servers, destinations)
