"""The changes of the compute model by versioned notifications of nova.

A notification about a server has all of its attributes, except its pinned zone. It is
emitted by the host that changes the server: after a live migration the source host
still has the former place, with the task state `migrating`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins.openstack.models import compute
from watcherlite.plugins.openstack.models.compute import (
    ComputeNode,
    ComputeSnapshot,
    Server,
)

_CREATED = 'instance.create.end'
_UPDATED = 'instance.update'
_REMOVED = frozenset({'instance.delete.end', 'instance.soft_delete.end'})
_SERVICE_DELETED = 'service.delete'
#: After these the compute nodes are read again: a notification of an aggregate does
#: not have the zones of its hosts, one of a service not the capacity of its node.
_COLLECTED_AGAIN = (
    'aggregate.create.end',
    'aggregate.delete.end',
    'aggregate.add_host.end',
    'aggregate.remove_host.end',
    'aggregate.update_prop.end',
    'aggregate.update_metadata.end',
)
EVENT_TYPES = (
    'instance.*.end',
    'instance.*.error',
    _UPDATED,
    'instance.lock',
    'instance.unlock',
    'service.*',
    *_COLLECTED_AGAIN,
)
_COMPUTE = 'nova-compute'
_BUILDING = 'building'
_MIGRATING = 'migrating'
_DATA = 'nova_object.data'


def apply(
    snapshot: ComputeSnapshot, notifications: Sequence[ServiceNotification]
) -> ComputeSnapshot | None:
    """Return the snapshot after notifications; None if one cannot be applied."""
    changes = _Changes(snapshot)
    for notification in notifications:
        if not changes.apply(notification.event_type, notification.payload[_DATA]):
            return None
    return changes.snapshot()


class _Changes:
    """The compute nodes and servers of a snapshot, which notifications change.

    Its methods return False if a notification cannot be applied.
    """

    def __init__(self, snapshot: ComputeSnapshot) -> None:
        self._before = snapshot
        self._nodes = {node.uuid: node for node in snapshot.nodes}
        self._by_hypervisor = {
            node.hypervisor_hostname: node.uuid for node in snapshot.nodes
        }
        self._servers = {server.uuid: server for server in snapshot.servers}

    def snapshot(self) -> ComputeSnapshot:
        return dataclasses.replace(
            self._before,
            nodes=tuple(self._nodes.values()),
            servers=tuple(self._servers.values()),
        )

    def apply(self, event_type: str, data: Mapping[str, Any]) -> bool:
        if event_type in _COLLECTED_AGAIN:
            return False
        if event_type.startswith('service.'):
            return self._apply_to_service(event_type, data)
        return self._apply_to_server(event_type, data)

    def _apply_to_service(self, event_type: str, data: Mapping[str, Any]) -> bool:
        if data['binary'] != _COMPUTE:
            return True
        host = data['host']
        found = [node for node in self._nodes.values() if node.hostname == host]
        if event_type == _SERVICE_DELETED:
            for node in found:
                del self._nodes[node.uuid]
                del self._by_hypervisor[node.hypervisor_hostname]
            return True
        for node in found:
            if node.state == compute.DOWN and not data['forced_down']:
                # Whether it reports to nova again is not in the notification.
                return False
            self._nodes[node.uuid] = _updated(node, data)
        return bool(found)

    def _apply_to_server(self, event_type: str, data: Mapping[str, Any]) -> bool:
        uuid, hypervisor = str(data['uuid']), data.get('node')
        known = self._servers.get(uuid)
        if (
            event_type in _REMOVED
            or data['state'] in compute.ABSENT
            or hypervisor is None
            or hypervisor in self._before.left_out
        ):
            self._servers.pop(uuid, None)
            return True
        if known is None and not _is_created(event_type, data):
            # The end of its creation follows; otherwise it is unknown why.
            return data['state'] == _BUILDING
        if known is not None and data.get('task_state') == _MIGRATING:
            place: str | None = known.node
        else:
            place = self._by_hypervisor.get(hypervisor)
        if place is None:
            return False
        self._servers[uuid] = _server(data, place, known)
        return True


def _is_created(event_type: str, data: Mapping[str, Any]) -> bool:
    """Return whether a notification is about the end of the creation of a server.

    Its state changes before the notification of the end is emitted.
    """
    if event_type != _UPDATED:
        return event_type == _CREATED
    change = data.get('state_update')
    return (
        change is not None
        and change[_DATA]['old_state'] == _BUILDING
        and data['state'] != _BUILDING
    )


def _updated(node: ComputeNode, data: Mapping[str, Any]) -> ComputeNode:
    """Return a compute node after a change of its service."""
    return dataclasses.replace(
        node,
        status=compute.DISABLED if data['disabled'] else compute.ENABLED,
        state=compute.DOWN if data['forced_down'] else node.state,
        disabled_reason=data.get('disabled_reason') if data['disabled'] else None,
    )


def _server(data: Mapping[str, Any], node: str, known: Server | None) -> Server:
    flavor = data['flavor'][_DATA]
    extra_specs = flavor.get('extra_specs')
    if extra_specs is None:
        extra_specs = known.flavor_extra_specs if known is not None else {}
    return Server(
        uuid=str(data['uuid']),
        name=str(data['display_name'] or ''),
        node=node,
        state=str(data['state']),
        vcpus=int(flavor['vcpus']),
        memory=int(flavor['memory_mb']),
        disk=compute.local_disk(
            bool(data.get('image_uuid')),
            int(flavor['root_gb']),
            int(flavor['ephemeral_gb']),
            int(flavor['swap'] or 0),
        ),
        metadata=dict(data['metadata']),
        project_id=str(data['tenant_id']),
        locked=bool(data.get('locked')),
        pinned_az=known.pinned_az if known is not None else '',
        flavor_extra_specs=dict(extra_specs),
        created=str(data.get('created_at') or ''),
    )
