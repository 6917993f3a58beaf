"""The strategy that moves all servers away from one compute node."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models.compute import (
    ACTIVE,
    DISABLED,
    UP,
    ComputeModel,
    ComputeNode,
    Server,
)
from watcherlite.plugins.openstack.strategies import proposals


class HostMaintenance(base.Strategy):
    """Disable a compute node, and migrate all of its servers.

    They go to the backup node if all of them fit there, else to where the scheduler of
    nova places each.
    """

    goal = 'cluster_maintaining'
    display_name = 'Host Maintenance Strategy'
    description = 'Moves all servers away from a compute node, for maintenance.'
    data_models = ('compute',)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'maintenance_node': {
                'description': 'The host name of the compute node to be maintained.',
                'type': 'string',
                'minLength': 1,
            },
            'backup_node': {
                'description': 'The host name of the compute node to which the servers '
                'are migrated; without it the scheduler of nova selects one for each.',
                'type': 'string',
                'minLength': 1,
            },
            'disable_live_migration': {
                'description': 'Migrate active servers cold; or stop them, if cold '
                'migration is disabled as well.',
                'type': 'boolean',
                'default': False,
            },
            'disable_cold_migration': {
                'description': 'Leave servers that are not active where they are.',
                'type': 'boolean',
                'default': False,
            },
        },
        'required': ['maintenance_node'],
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the maintenance of the compute node."""
        return propose(context.model('compute'), context.parameters)


def propose(model: ComputeModel, parameters: Mapping[str, Any]) -> Solution:
    """Return the actions that empty the compute node `maintenance_node`."""
    node = model.find_node(parameters['maintenance_node'])
    servers = [server for server in model.servers_of(node) if not server.excluded]
    if servers and node.state != UP:
        raise exceptions.Conflict(
            f'The compute node {node.hostname} is {node.state}: its {len(servers)} '
            'servers cannot be migrated; start its service, or evacuate them'
        )
    solution = Solution()
    backup = _backup(model, node, parameters.get('backup_node'))
    if backup is not None and not backup.is_enabled:
        proposals.enable(solution, backup)
    if (node.status, node.disabled_reason) != (DISABLED, proposals.MAINTENANCE_REASON):
        proposals.disable(solution, node, proposals.MAINTENANCE_REASON)
    for server in servers:
        _move(
            solution,
            server,
            node,
            backup,
            live=not parameters['disable_live_migration'],
            cold=not parameters['disable_cold_migration'],
        )
    return solution


def _backup(
    model: ComputeModel, node: ComputeNode, hostname: str | None
) -> ComputeNode | None:
    """Return the backup node if it has room for all servers of the node."""
    if hostname is None:
        return None
    backup = model.find_node(hostname)
    if backup.uuid == node.uuid:
        raise exceptions.Invalid(
            f'backup_node and maintenance_node are both {hostname}; name another '
            'compute node, or none'
        )
    if backup.state != UP:
        raise exceptions.Conflict(
            f'The compute node {hostname} is {backup.state} and cannot be the '
            'backup_node; start its service, or name another one'
        )
    return backup if model.used(node).fits_in(model.free(backup)) else None


def _move(
    solution: Solution,
    server: Server,
    node: ComputeNode,
    backup: ComputeNode | None,
    *,
    live: bool,
    cold: bool,
) -> None:
    """Propose to migrate a server, or to stop it; or neither."""
    if server.is_live and live:
        proposals.migrate(solution, server, node, backup, kind=proposals.LIVE)
    elif cold:
        proposals.migrate(solution, server, node, backup, kind=proposals.COLD)
    elif server.state == ACTIVE and not live:
        proposals.stop(solution, server)
