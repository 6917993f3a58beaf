"""The compute model: compute nodes, and the servers on them."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions

# statuses and states of compute nodes
ENABLED = 'enabled'
DISABLED = 'disabled'
UP = 'up'
DOWN = 'down'

# states of servers, `vm_state` of nova
ACTIVE = 'active'
PAUSED = 'paused'
STOPPED = 'stopped'
#: States of servers without a place or an existence.
ABSENT = frozenset({'deleted', 'soft-delete', 'shelved_offloaded'})


@dataclasses.dataclass(frozen=True, slots=True)
class Resources:
    """Amounts of vCPUs, memory in MiB, and disk in GiB."""

    vcpus: float = 0
    memory: float = 0
    disk: float = 0

    def __add__(self, other: 'Resources') -> 'Resources':
        return Resources(
            self.vcpus + other.vcpus, self.memory + other.memory, self.disk + other.disk
        )

    def __sub__(self, other: 'Resources') -> 'Resources':
        return Resources(
            self.vcpus - other.vcpus, self.memory - other.memory, self.disk - other.disk
        )

    def fits_in(self, other: 'Resources') -> bool:
        """Return whether none of the amounts is greater than the other's."""
        return (
            self.vcpus <= other.vcpus
            and self.memory <= other.memory
            and self.disk <= other.disk
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Aggregate:
    """A host aggregate of nova."""

    id: int
    name: str
    hosts: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True)
class ComputeNode:
    """A compute node: a hypervisor with the service that manages it.

    :param uuid: of the hypervisor
    :param hostname: the host of its service
    :param status: ENABLED or DISABLED
    :param state: UP or DOWN
    :param vcpus: the total; so are `memory` in MiB and `disk` in GiB
    :param zone: its availability zone
    :param hypervisor_hostname: the name by which nova places servers
    """

    uuid: str
    hostname: str
    status: str = ENABLED
    state: str = UP
    disabled_reason: str | None = None
    vcpus: int = 0
    vcpu_reserved: int = 0
    vcpu_ratio: float = 1.0
    memory: int = 0
    memory_mb_reserved: int = 0
    memory_ratio: float = 1.0
    disk: int = 0
    disk_gb_reserved: int = 0
    disk_ratio: float = 1.0
    zone: str | None = None
    hypervisor_hostname: str = ''

    @property
    def capacity(self) -> Resources:
        """Return what its servers can have in total."""
        return Resources(
            (self.vcpus - self.vcpu_reserved) * self.vcpu_ratio,
            (self.memory - self.memory_mb_reserved) * self.memory_ratio,
            (self.disk - self.disk_gb_reserved) * self.disk_ratio,
        )

    @property
    def is_enabled(self) -> bool:
        """Return whether nova creates and moves servers to it."""
        return self.status == ENABLED and self.state == UP


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server of nova.

    :param node: the uuid of its compute node in the snapshot
    :param state: ACTIVE, STOPPED, ...
    :param disk: root disk without a volume, ephemeral disk and swap, in GiB
    :param created: ISO 8601
    :param excluded: by the scope of the audit: strategies leave it where it is
    """

    uuid: str
    name: str
    node: str
    state: str = ACTIVE
    vcpus: int = 0
    memory: int = 0
    disk: int = 0
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    project_id: str = ''
    locked: bool = False
    pinned_az: str = ''
    flavor_extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    created: str = ''
    excluded: bool = False

    @property
    def resources(self) -> Resources:
        """Return what its flavor takes from the compute node."""
        return Resources(self.vcpus, self.memory, self.disk)

    @property
    def is_live(self) -> bool:
        """Return whether it can be live migrated in its state."""
        return self.state in (ACTIVE, PAUSED)


@dataclasses.dataclass(frozen=True, slots=True)
class ComputeSnapshot:
    """The compute nodes and servers at one time; nothing changes it.

    :param left_out: the hypervisor hostnames of compute nodes that are not in it
    """

    nodes: Sequence[ComputeNode] = ()
    servers: Sequence[Server] = ()
    aggregates: Sequence[Aggregate] = ()
    left_out: frozenset[str] = frozenset()


def local_disk(has_image: bool, root: int, ephemeral: int, swap: int) -> int:
    """Return the disk in GiB that a flavor takes from a compute node.

    Servers of a volume have no image, and no root disk on the compute node.

    :param swap: in MiB; takes whole GiB as placement counts it
    """
    return (root if has_image else 0) + ephemeral - (-swap // 1024)


class ComputeModel:
    """Compute nodes, and a placement of servers on them that a strategy changes."""

    def __init__(self, nodes: Iterable[ComputeNode], servers: Iterable[Server]) -> None:
        self._nodes = {node.uuid: node for node in nodes}
        self._by_host = {node.hostname: node for node in self._nodes.values()}
        self._servers = {
            server.uuid: server for server in servers if server.node in self._nodes
        }
        self._placed = {server.uuid: server.node for server in self._servers.values()}
        #: node -> the uuids of its servers, in order
        self._on: dict[str, dict[str, None]] = {uuid: {} for uuid in self._nodes}
        self._used = dict.fromkeys(self._nodes, Resources())
        for server in self._servers.values():
            self._put(server, server.node)

    @property
    def nodes(self) -> Sequence[ComputeNode]:
        """Return the compute nodes, by hostname."""
        return sorted(self._nodes.values(), key=lambda node: node.hostname)

    @property
    def servers(self) -> Sequence[Server]:
        """Return the servers of all compute nodes, by uuid."""
        return sorted(self._servers.values(), key=lambda server: server.uuid)

    def find_node(self, hostname: str) -> ComputeNode:
        """Return a compute node; raise NotFound."""
        node = self._by_host.get(hostname)
        if node is None:
            raise exceptions.NotFound(
                f'There is no compute node {hostname} in the compute model; check the '
                'name, and the scope of the audit'
            )
        return node

    def find_server(self, uuid: str) -> Server | None:
        """Return a server, or None."""
        return self._servers.get(uuid)

    def servers_of(self, node: ComputeNode) -> Sequence[Server]:
        """Return the servers placed on a compute node, by uuid."""
        return [self._servers[uuid] for uuid in sorted(self._on[node.uuid])]

    def node_of(self, server: Server) -> ComputeNode:
        """Return the compute node on which a server is placed."""
        return self._nodes[self._placed[server.uuid]]

    def used(self, node: ComputeNode) -> Resources:
        """Return what the servers placed on a compute node take."""
        return self._used[node.uuid]

    def free(self, node: ComputeNode) -> Resources:
        """Return what is left of the capacity of a compute node."""
        return node.capacity - self._used[node.uuid]

    def can_move(self, server: Server, node: ComputeNode) -> bool:
        """Return whether a compute node has room for a server from another one."""
        return self._placed[server.uuid] != node.uuid and server.resources.fits_in(
            self.free(node)
        )

    def move(self, server: Server, node: ComputeNode) -> None:
        """Place a server on another compute node."""
        before = self._placed[server.uuid]
        del self._on[before][server.uuid]
        self._used[before] = self._used[before] - server.resources
        self._put(server, node.uuid)

    def moved(self) -> Sequence[tuple[Server, ComputeNode, ComputeNode]]:
        """Return the servers that are placed elsewhere than in the snapshot.

        Each with its compute node in the snapshot and its new one.
        """
        return [
            (server, self._nodes[server.node], self._nodes[self._placed[server.uuid]])
            for server in self.servers
            if self._placed[server.uuid] != server.node
        ]

    def _put(self, server: Server, node_uuid: str) -> None:
        self._placed[server.uuid] = node_uuid
        self._on[node_uuid][server.uuid] = None
        self._used[node_uuid] = self._used[node_uuid] + server.resources


#: Fields of compute nodes and servers in the API, without their prefix.
_NODE_FIELDS = (
    'uuid',
    'hostname',
    'status',
    'disabled_reason',
    'state',
    'memory',
    'memory_mb_reserved',
    'disk',
    'disk_gb_reserved',
    'vcpus',
    'vcpu_reserved',
    'memory_ratio',
    'vcpu_ratio',
    'disk_ratio',
)
_SERVER_FIELDS = (
    'uuid',
    'name',
    'state',
    'memory',
    'disk',
    'vcpus',
    'metadata',
    'project_id',
    'locked',
    'pinned_az',
    'flavor_extra_specs',
)


def represent(model: ComputeModel) -> list[dict[str, Any]]:
    """Return one object for each server with its node, and each node without one."""
    rows = []
    for node in sorted(model.nodes, key=lambda node: node.uuid):
        shown = {f'node_{name}': getattr(node, name) for name in _NODE_FIELDS}
        servers = model.servers_of(node)
        if not servers:
            rows.append(shown)
        for server in servers:
            fields = {
                f'server_{name}': getattr(server, name) for name in _SERVER_FIELDS
            }
            rows.append({**shown, 'server_watcher_exclude': server.excluded, **fields})
    return rows
