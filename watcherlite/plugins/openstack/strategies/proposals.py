"""The actions that the strategies propose, with the inputs of Watcher's actions."""

from collections.abc import Iterable, Sequence

from watcherlite.domain.solutions import Solution
from watcherlite.plugins.openstack.models.compute import (
    DISABLED,
    ENABLED,
    STOPPED,
    ComputeModel,
    ComputeNode,
    Server,
)
from watcherlite.plugins.openstack.models.storage import Volume

#: The reasons of disabled services, by which Watcher recognises its own.
MAINTENANCE_REASON = 'watcher_maintaining'
RELEASED_REASON = 'watcher_disabled'

LIVE = 'live'
COLD = 'cold'


def may_migrate(server: Server) -> bool:
    """Return whether a strategy may propose to migrate a server."""
    return not server.excluded and (server.is_live or server.state == STOPPED)


def migrate(
    solution: Solution,
    server: Server,
    source: ComputeNode,
    destination: ComputeNode | None = None,
    *,
    kind: str | None = None,
    parents: Iterable[str] = (),
) -> str:
    """Propose to migrate a server; return the name of the action.

    :param destination: None: the scheduler of nova selects it
    :param kind: LIVE or COLD; None: LIVE if the state of the server permits it
    """
    inputs = {
        'migration_type': kind or (LIVE if server.is_live else COLD),
        'source_node': source.hostname,
        'resource_name': server.name,
    }
    if destination is not None:
        inputs['destination_node'] = destination.hostname
    return solution.add_action('migrate', inputs, server.uuid, parents=parents)


def migrate_moved(solution: Solution, model: ComputeModel) -> int:
    """Propose to migrate each moved server once; return their number."""
    moved = model.moved()
    for server, source, destination in moved:
        migrate(solution, server, source, destination)
    return len(moved)


def stop(solution: Solution, server: Server) -> str:
    """Propose to stop a server; return the name of the action."""
    return solution.add_action('stop', {}, server.uuid)


def disable(
    solution: Solution, node: ComputeNode, reason: str, parents: Iterable[str] = ()
) -> str:
    """Propose to disable the service of a compute node; return the action's name."""
    inputs = {
        'state': DISABLED,
        'disabled_reason': reason,
        'resource_name': node.hostname,
    }
    return solution.add_action(
        'change_nova_service_state', inputs, node.uuid, parents=parents
    )


def enable(solution: Solution, node: ComputeNode, parents: Iterable[str] = ()) -> str:
    """Propose to enable the service of a compute node; return the action's name."""
    return solution.add_action(
        'change_nova_service_state',
        {'state': ENABLED, 'resource_name': node.hostname},
        node.uuid,
        parents=parents,
    )


def migrate_volume(solution: Solution, volume: Volume, pool: str) -> str:
    """Propose to migrate a volume to a pool; return the name of the action."""
    inputs = {
        'migration_type': 'migrate',
        'destination_node': pool,
        'resource_name': volume.name or volume.uuid,
    }
    return solution.add_action('volume_migrate', inputs, volume.uuid)


def retype_volume(solution: Solution, volume: Volume, volume_type: str) -> str:
    """Propose to retype a volume; return the name of the action."""
    inputs = {
        'migration_type': 'retype',
        'destination_type': volume_type,
        'resource_name': volume.name or volume.uuid,
    }
    return solution.add_action('volume_migrate', inputs, volume.uuid)


def move_all(
    model: ComputeModel,
    node: ComputeNode,
    servers: Sequence[Server],
    destinations: Sequence[ComputeNode],
) -> bool:
    """Move servers of a node to the first destinations with room, or none of them."""
    done: list[Server] = []
    for server in servers:
        place = next(
            (
                one
                for one in destinations
                if one.is_enabled and model.can_move(server, one)
            ),
            None,
        )
        if place is None:
            for one in done:
                model.move(one, node)
            return False
        model.move(server, place)
        done.append(server)
    return True
