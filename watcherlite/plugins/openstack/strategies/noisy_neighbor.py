"""The strategy that moves a server which takes the cache of a more important one."""

from collections.abc import Mapping
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

#: The metadata with the priority of a server; the lowest number is most important.
PRIORITY = 'watcher-priority'
DEFAULT_PRIORITY = 5


class NoisyNeighbor(base.Strategy):
    """Migrate one server that gained cache where a more important one lost it.

    Few datasources have the metric: hosts need a CPU that reports it.
    """

    goal = 'noisy_neighbor'
    display_name = 'Noisy Neighbor'
    description = 'Moves a server that takes the cache of a more important one.'
    data_models = ('compute',)
    metrics = (metrics.INSTANCE_L3_CACHE_USAGE,)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'cache_threshold': {
                'description': 'The change in percent that counts.',
                'type': 'number',
                'minimum': 0,
                'default': 35.0,
            },
            'period': measurements.period(100.0),
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return one migration, or none."""
        given = context.parameters
        model: ComputeModel = context.model('compute')
        source = Measurements(context, self.metrics)
        metric, period = self.metrics[0], given['period']
        now = source.of_servers(metric, model.servers, period)
        both = source.of_servers(metric, model.servers, 2 * period)
        # The mean of two periods is the mean of their means.
        before = {
            uuid: 2 * both[uuid] - value for uuid, value in now.items() if uuid in both
        }
        return propose(model, before, now, given['cache_threshold'] / 100)


def propose(
    model: ComputeModel,
    before: Mapping[str, float],
    now: Mapping[str, float],
    threshold: float,
) -> Solution:
    """Return the migration of a noisy server to the first node with room.

    :param before, now: uuid of a server -> its cache in the last two periods
    :param threshold: the change that counts, as a part of the value before
    """
    noisy: list[tuple[int, Server, ComputeNode]] = []
    quiet = []
    for node in model.nodes:
        found = _noisy_server(model, node, before, now, threshold)
        if found is None:
            quiet.append(node)
        else:
            noisy.append((*found, node))
    solution = Solution()
    # The node whose server with a loss is the most important one.
    for _, server, source in sorted(noisy, key=lambda one: one[0]):
        for node in quiet:
            if node.is_enabled and model.can_move(server, node):
                model.move(server, node)
                proposals.migrate(solution, server, source, node)
                return solution
    return solution


def _noisy_server(
    model: ComputeModel,
    node: ComputeNode,
    before: Mapping[str, float],
    now: Mapping[str, float],
    threshold: float,
) -> tuple[int, Server] | None:
    """Return the priority of a server that lost cache, and the one that gained it."""
    servers = sorted(model.servers_of(node), key=_priority)
    for position, victim in enumerate(servers):
        if victim.uuid not in before:
            continue
        if now[victim.uuid] >= (1 - threshold) * before[victim.uuid]:
            continue
        for server in reversed(servers[position + 1 :]):
            if (
                server.uuid in before
                and server.state == ACTIVE
                and not server.excluded
                and now[server.uuid] > (1 + threshold) * before[server.uuid]
            ):
                return _priority(victim), server
    return None


def _priority(server: Server) -> int:
    try:
        return int(server.metadata.get(PRIORITY, DEFAULT_PRIORITY))
    except ValueError:
        return DEFAULT_PRIORITY
