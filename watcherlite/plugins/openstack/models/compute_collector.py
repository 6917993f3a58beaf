"""The collector of the compute model, from nova and placement.

The number of requests depends on the number of compute nodes and of pages of servers,
not on the number of servers.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models import (
    compute,
    compute_notifications,
    compute_scope,
)
from watcherlite.plugins.openstack.models.compute import (
    Aggregate,
    ComputeModel,
    ComputeNode,
    ComputeSnapshot,
    Server,
)
from watcherlite.plugins.openstack.models.lists import ServiceLists, read_all

#: Hypervisors with uuids, and the services of their hosts.
_HYPERVISORS = '2.53'
#: The flavors in servers instead of links (2.47), and pinned zones (2.96).
_SERVERS = '2.96'
#: Compute nodes of ironic are no place for servers of others.
_BAREMETAL = 'ironic'


class Compute(base.CloudClient, base.DataModel):
    """The compute nodes of nova with their capacity in placement, and all servers."""

    description = 'Collects compute nodes and servers from nova and placement.'
    event_types = compute_notifications.EVENT_TYPES

    def collect(self) -> ComputeSnapshot:
        """Return the snapshot."""
        connection = self.clouds.service_connection()
        nova = ServiceLists(connection, 'compute')
        placement = ServiceLists(connection, 'placement')
        version = nova.latest(_SERVERS)
        services, hypervisors, aggregates, servers = read_all(
            lambda: nova.get('/os-services', {'binary': 'nova-compute'}),
            lambda: nova.pages(
                '/os-hypervisors/detail', 'hypervisors', microversion=_HYPERVISORS
            ),
            lambda: nova.get('/os-aggregates'),
            lambda: nova.pages(
                '/servers/detail', 'servers', {'all_tenants': 'true'}, version
            ),
        )
        left_out = frozenset(
            one['hypervisor_hostname']
            for one in hypervisors
            if one.get('hypervisor_type') == _BAREMETAL
        )
        hypervisors = [
            one for one in hypervisors if one['hypervisor_hostname'] not in left_out
        ]
        inventories = read_all(
            *(
                functools.partial(_inventories, placement, one['id'])
                for one in hypervisors
            )
        )
        zones = {one['host']: one.get('zone') for one in services['services']}
        nodes = [
            _node(one, inventory, zones)
            for one, inventory in zip(hypervisors, inventories, strict=True)
        ]
        return ComputeSnapshot(
            tuple(nodes),
            tuple(_servers(servers, nodes)),
            tuple(
                Aggregate(one['id'], one['name'], frozenset(one.get('hosts', ())))
                for one in aggregates['aggregates']
            ),
            left_out,
        )

    def apply(
        self, snapshot: ComputeSnapshot, notifications: Sequence[ServiceNotification]
    ) -> ComputeSnapshot | None:
        """Return the snapshot after notifications of nova."""
        return compute_notifications.apply(snapshot, notifications)

    def restrict(self, snapshot: ComputeSnapshot, scope: Sequence[Any]) -> ComputeModel:
        """Return the model of the scope."""
        return compute_scope.restrict(snapshot, scope)

    def represent(self, model: ComputeModel) -> Sequence[Mapping[str, Any]]:
        """Return the rows of upstream's data model."""
        return compute.represent(model)


def _inventories(placement: ServiceLists, uuid: str) -> Mapping[str, Any]:
    """Return the inventories of a compute node, by resource class."""
    try:
        answer = placement.get(f'/resource_providers/{uuid}/inventories')
    except exceptions.NotFound:
        # The compute service has not registered it yet.
        return {}
    found: Mapping[str, Any] = answer['inventories']
    return found


def _node(
    hypervisor: Mapping[str, Any],
    inventories: Mapping[str, Any],
    zones: Mapping[str, str | None],
) -> ComputeNode:
    """Return a compute node.

    What placement does not have for it, because it is shared for example, is taken from
    nova, without reservation and overcommitment.
    """
    service = hypervisor.get('service') or {}
    host = service.get('host') or hypervisor['hypervisor_hostname']
    vcpus = inventories.get('VCPU') or inventories.get('PCPU') or {}
    memory = inventories.get('MEMORY_MB') or {}
    disk = inventories.get('DISK_GB') or {}
    return ComputeNode(
        uuid=str(hypervisor['id']),
        hostname=host,
        status=hypervisor['status'],
        state=hypervisor['state'],
        disabled_reason=service.get('disabled_reason'),
        vcpus=vcpus.get('total', hypervisor.get('vcpus') or 0),
        vcpu_reserved=vcpus.get('reserved', 0),
        vcpu_ratio=vcpus.get('allocation_ratio', 1.0),
        memory=memory.get('total', hypervisor.get('memory_mb') or 0),
        memory_mb_reserved=memory.get('reserved', 0),
        memory_ratio=memory.get('allocation_ratio', 1.0),
        disk=disk.get('total', hypervisor.get('local_gb') or 0),
        disk_gb_reserved=disk.get('reserved', 0),
        disk_ratio=disk.get('allocation_ratio', 1.0),
        zone=zones.get(host),
        hypervisor_hostname=hypervisor['hypervisor_hostname'],
    )


def _servers(
    servers: Sequence[Mapping[str, Any]], nodes: Sequence[ComputeNode]
) -> list[Server]:
    """Return the servers that are on one of the compute nodes."""
    by_name = {node.hypervisor_hostname: node.uuid for node in nodes}
    found = []
    for one in servers:
        name = one.get('OS-EXT-SRV-ATTR:hypervisor_hostname')
        if name in by_name and one.get('OS-EXT-STS:vm_state') not in compute.ABSENT:
            found.append(_server(one, by_name[name]))
    return found


def _server(given: Mapping[str, Any], node: str) -> Server:
    flavor = given['flavor']
    return Server(
        uuid=given['id'],
        name=given['name'],
        node=node,
        state=given['OS-EXT-STS:vm_state'],
        vcpus=flavor['vcpus'],
        memory=flavor['ram'],
        disk=compute.local_disk(
            bool(given.get('image')),
            flavor['disk'],
            flavor.get('ephemeral') or 0,
            int(flavor.get('swap') or 0),
        ),
        metadata=given.get('metadata') or {},
        project_id=given['tenant_id'],
        locked=bool(given.get('locked')),
        pinned_az=given.get('pinned_availability_zone') or '',
        flavor_extra_specs=flavor.get('extra_specs') or {},
        created=given.get('created') or '',
    )
