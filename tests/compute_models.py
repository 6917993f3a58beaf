"""Compute models built by hand and by hypothesis, and the effects of solutions."""

from hypothesis import strategies as st

from watcherlite.plugins.openstack.models import compute
from watcherlite.plugins.openstack.models.compute import (
    ComputeModel,
    ComputeNode,
    Server,
)


def make_node(number: int, **values) -> ComputeNode:
    """Return the compute node `compute-<number>` with 16 vCPUs."""
    given = {'vcpus': 16, 'memory': 32768, 'disk': 500, **values}
    return ComputeNode(f'node-{number}', f'compute-{number}', **given)


def make_server(number: int, node: int, **values) -> Server:
    """Return the server `server-<number>` on a compute node."""
    given = {'vcpus': 1, 'memory': 1024, 'disk': 10, **values}
    return Server(f'uuid-{number:03}', f'server-{number}', f'node-{node}', **given)


@st.composite
def snapshots(draw, nodes: int = 5, servers: int = 20):
    """Return compute nodes and servers; no compute node is too full."""
    made = [
        make_node(
            number,
            vcpus=draw(st.integers(1, 16)),
            memory=draw(st.integers(1, 16)) * 1024,
            disk=draw(st.integers(0, 100)),
            status=draw(st.sampled_from([compute.ENABLED] * 3 + [compute.DISABLED])),
            state=draw(st.sampled_from([compute.UP] * 4 + [compute.DOWN])),
        )
        for number in range(draw(st.integers(1, nodes)))
    ]
    placed: list[Server] = []
    for number in range(draw(st.integers(0, servers))):
        server = make_server(
            number,
            draw(st.integers(0, len(made) - 1)),
            vcpus=draw(st.integers(1, 8)),
            memory=draw(st.integers(1, 8)) * 512,
            disk=draw(st.integers(0, 20)),
            state=draw(
                st.sampled_from(
                    [compute.ACTIVE] * 4 + [compute.STOPPED, compute.PAUSED, 'error']
                )
            ),
            excluded=draw(st.sampled_from([False] * 5 + [True])),
        )
        if not overcommitted_hosts(ComputeModel(made, [*placed, server])):
            placed.append(server)
    return made, placed


def overcommitted_hosts(model: ComputeModel) -> list[str]:
    """Return the hosts of the compute nodes whose servers exceed their capacity."""
    return [
        node.hostname
        for node in model.nodes
        if not model.used(node).fits_in(node.capacity)
    ]


def migrations(solution) -> list[tuple[str, str, str | None]]:
    """Return server, source and destination of each migration."""
    return [
        (
            action.input_parameters['resource_id'],
            action.input_parameters['source_node'],
            action.input_parameters.get('destination_node'),
        )
        for action in solution.actions
        if action.action_type == 'migrate'
    ]


def services(solution) -> dict[str, str]:
    """Return the last state of each changed service, by host."""
    return {
        action.input_parameters['resource_name']: action.input_parameters['state']
        for action in solution.actions
        if action.action_type == 'change_nova_service_state'
    }


def applied(nodes, servers, solution) -> ComputeModel:
    """Return the model after all migrations with a destination.

    Fails for a migration that nova would refuse: from another source, to a compute
    node that is down or disabled, or of a server that was excluded.
    """
    model = ComputeModel(nodes, servers)
    states = services(solution)
    for uuid, source, destination in migrations(solution):
        server = model.find_server(uuid)
        assert server is not None and not server.excluded, uuid
        assert model.node_of(server).hostname == source, (uuid, source)
        if destination is not None:
            node = model.find_node(destination)
            assert node.state == compute.UP, destination
            assert states.get(destination, node.status) == compute.ENABLED, destination
            model.move(server, node)
    return model
