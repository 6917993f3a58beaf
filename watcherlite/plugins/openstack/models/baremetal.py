"""The baremetal model: the nodes of ironic that are compute nodes of nova."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models import scopes
from watcherlite.plugins.openstack.models.lists import ServiceLists

POWER_ON = 'power on'
POWER_OFF = 'power off'
CREATED = 'baremetal.node.create.end'
DELETED = 'baremetal.node.delete.end'
#: The key of `extra` with the hypervisor that runs on a node, as Watcher has it.
COMPUTE_NODE = 'compute_node_id'


@dataclasses.dataclass(frozen=True, slots=True)
class BaremetalNode:
    """A node of ironic.

    :param compute_node: the uuid of the hypervisor on it; None: it is none
    :param excluded: by the scope of the audit
    """

    uuid: str
    name: str = ''
    power_state: str | None = None
    maintenance: bool = False
    compute_node: str | None = None
    excluded: bool = False


class BaremetalModel:
    """The nodes of ironic."""

    def __init__(self, nodes: Iterable[BaremetalNode]) -> None:
        self.nodes: Sequence[BaremetalNode] = sorted(nodes, key=lambda one: one.uuid)


class Baremetal(base.CloudClient, base.DataModel):
    """The nodes of ironic with their power states."""

    description = 'Collects nodes and their power states from ironic.'
    event_types = ('baremetal.node.*.end', 'baremetal.node.*.success')

    def collect(self) -> Sequence[BaremetalNode]:
        """Return the snapshot."""
        connection = self.clouds.service_connection()
        ironic = ServiceLists(connection, 'baremetal')
        fields = 'uuid,name,power_state,maintenance,extra'
        nodes = ironic.get('/nodes', {'fields': fields, 'limit': 0})['nodes']
        return tuple(_node(one) for one in nodes)

    def apply(
        self,
        snapshot: Sequence[BaremetalNode],
        notifications: Sequence[ServiceNotification],
    ) -> Sequence[BaremetalNode] | None:
        """Return the snapshot after versioned notifications of ironic."""
        nodes = {node.uuid: node for node in snapshot}
        for notification in notifications:
            data = notification.payload['ironic_object.data']
            if notification.event_type == DELETED:
                nodes.pop(data['uuid'], None)
            elif notification.event_type == CREATED or data['uuid'] in nodes:
                nodes[data['uuid']] = _node(data)
            else:
                return None
        return tuple(nodes.values())

    def restrict(
        self, snapshot: Sequence[BaremetalNode], scope: Sequence[Any]
    ) -> BaremetalModel:
        """Return the model of the scope."""
        part = scopes.rules(scope, 'baremetal')
        uuids = scopes.named(scopes.excluded(part, 'ironic_nodes'), 'uuid')
        return BaremetalModel(
            dataclasses.replace(node, excluded=node.uuid in uuids) for node in snapshot
        )

    def represent(self, model: BaremetalModel) -> Sequence[Mapping[str, Any]]:
        """Return a row for each node."""
        return [
            {
                'node_uuid': node.uuid,
                'node_name': node.name,
                'node_power_state': node.power_state,
                'node_maintenance': node.maintenance,
                'node_compute_node': node.compute_node,
                'node_watcher_exclude': node.excluded,
            }
            for node in model.nodes
        ]


def _node(given: Mapping[str, Any]) -> BaremetalNode:
    """Return a node of ironic, whose notifications have the names of its API."""
    compute_node = (given.get('extra') or {}).get(COMPUTE_NODE)
    return BaremetalNode(
        given['uuid'],
        given.get('name') or '',
        given.get('power_state'),
        bool(given.get('maintenance')),
        str(compute_node) if compute_node else None,
    )
