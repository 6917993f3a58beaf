"""The server of a node: an OS::Nova::Server with what Senlin adds."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import placement
from watcherlite.domain.resource_results import Ready, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.profiles import server_operations, server_references
from watcherlite.plugins.openstack.profiles.server_operations import (
    ACTIVE,
    OPERATIONS,
    ServerOperation,
)
from watcherlite.plugins.openstack.profiles.server_properties import (
    CONTEXT_REGION,
    DEVICES,
)
from watcherlite.plugins.openstack.resources import references, servers
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.resource_handlers.errors import ResourceFault

#: In the placement of a node: the server group.
SERVER_GROUP = 'servergroup'
#: In the metadata that a handler receives: the index of the node in its cluster.
INDEX = 'cluster_node_index'
#: The details of a node that nova has under the same names.
SHOWN = (
    'OS-DCF:diskConfig',
    'OS-EXT-AZ:availability_zone',
    'OS-EXT-STS:power_state',
    'OS-EXT-STS:task_state',
    'OS-EXT-STS:vm_state',
    'OS-SRV-USG:launched_at',
    'OS-SRV-USG:terminated_at',
    'config_drive',
    'created',
    'hostId',
    'id',
    'key_name',
    'locked',
    'metadata',
    'progress',
    'status',
    'updated',
)

# The steps of an operation
_OPERATE, _OPERATED = 'operate', 'operated'
#: In the data of a node: the status of its server after the last operation, if it is
#: not ACTIVE.
_STATUS = 'status'
_TASK = 'OS-EXT-STS:task_state'
_VERIFY_RESIZE = 'VERIFY_RESIZE'
#: Statuses that say nothing about the health of a server: it is being changed, or its
#: host does not report.
_INCONCLUSIVE = frozenset(
    {
        'BUILD',
        'HARD_REBOOT',
        'MIGRATING',
        'PASSWORD',
        'REBOOT',
        'REBUILD',
        'RESIZE',
        'REVERT_RESIZE',
        'UNKNOWN',
        _VERIFY_RESIZE,
    }
)
#: The number of times that an operation on a busy server is tried again.
_MOST_CONFLICTS = 30
#: The polls after which a server without a task has missed the goal of an operation.
_SETTLING_POLLS = 2
_SOURCES = {
    'image': references.IMAGE,
    'snapshot': references.SNAPSHOT,
    'volume': references.VOLUME,
}


class NodeServer(servers.Server):
    """A server whose properties are those of `server_properties.native`."""

    # creation

    def region_of(self, context: ResourceContext) -> str | None:
        return context.region or context.properties.get(CONTEXT_REGION)

    def name_of(self, context: ResourceContext) -> str:
        return str(context.properties.get('name') or context.resource_name)

    def metadata_of(self, context: ResourceContext) -> dict[str, str]:
        return {**super().metadata_of(context), **membership(context)}

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        place = context.metadata.get(placement.PLACEMENT) or {}
        if place.get(placement.ZONE):
            body['availability_zone'] = place[placement.ZONE]
        hints = dict(context.properties.get('scheduler_hints') or {})
        group = place.get(SERVER_GROUP) or hints.get('group')
        if group:
            hints['group'] = references.SERVER_GROUP.id_of(connection, group)
        if hints:
            body['scheduler_hints'] = hints
        devices = list(_block_devices(context, connection))
        if devices:
            body['block_device_mapping_v2'] = devices
        return body

    # changes

    def needs_rebuild(self, desired: Mapping[str, Any], names: Collection[str]) -> bool:
        return not {'key_name', 'user_data'}.isdisjoint(names)

    def rebuild_body(self, context: ResourceContext) -> dict[str, Any]:
        # Null removes what the server had.
        fixed = {
            'key_name': context.properties.get('key_name'),
            'name': self.name_of(context),
            'user_data': None,
        }
        return {**fixed, **super().rebuild_body(context)}

    def adopt(self, context: ResourceContext) -> Result:
        """Mark an existing server as that of the node."""

        def adopt(connection: Any) -> Result:
            found = self.existing(context, connection)
            self._refuse_failed(context, record_of(found))
            context.fence()
            marks = {KEY: context.resource_uuid, **membership(context)}
            connection.compute.set_server_metadata(found, **marks)
            return self._ready(connection, self.existing(context, connection))

        return self._run(context, 'adopt', adopt)

    def on_cluster_joined(self, context: ResourceContext) -> Result:
        """Set the cluster in the metadata of the server."""
        return self._run(
            context, 'on_cluster_joined', lambda c: self._set_membership(context, c)
        )

    def on_cluster_left(self, context: ResourceContext) -> Result:
        """Delete the cluster from the metadata of the server."""

        def leave(connection: Any) -> Result:
            found = self.get(connection, str(context.physical_id))
            if found is not None:
                context.fence()
                present = record_of(found).get('metadata') or {}
                keys = [name for name in ('cluster_id', INDEX) if name in present]
                if keys:
                    connection.compute.delete_server_metadata(found, keys)
            return None

        return self._run(context, 'on_cluster_left', leave)

    def _set_membership(self, context: ResourceContext, connection: Any) -> Result:
        found = self.get(connection, str(context.physical_id))
        if found is not None:
            context.fence()
            connection.compute.set_server_metadata(found, **membership(context))
        return None

    # health

    def check_health(self, context: ResourceContext) -> Result:
        """Check that the server runs, or is as the last operation left it."""

        def check(connection: Any) -> Result:
            found = self.existing(context, connection)
            record = record_of(found)
            self._refuse_failed(context, record)
            status = self.status_of(record)
            if status in _INCONCLUSIVE:
                raise exceptions.StateUnknown(
                    f'{self._label(context)} {found.id} has the status {status}'
                )
            if status not in (ACTIVE, context.data.get(_STATUS)):
                raise ResourceFault(
                    f'{self._label(context)} {found.id} has the status {status}'
                )
            return self._ready(connection, found)

        return self._run(context, 'check', check)

    # operations

    def operate(
        self, context: ResourceContext, operation: str, parameters: Mapping[str, Any]
    ) -> Result:
        # The parameters are durable before the service is called.
        return ResourceInProgress(
            {'step': _OPERATE, 'parameters': dict(parameters)}, 0.0
        )

    def step(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        if token['step'] == _OPERATE:
            return self._start(context, connection, operation, token)
        if token['step'] == _OPERATED:
            return self._await(context, connection, OPERATIONS[operation], token)
        return super().step(context, connection, operation, token)

    def _start(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Request an operation, once the server is not busy."""
        found = self.existing(context, connection)
        record = record_of(found)
        asked = OPERATIONS[operation]
        if self._is_busy(record):
            if token.get('polls', 0) >= _MOST_CONFLICTS:
                raise exceptions.Conflict(
                    f'{self._label(context)} {found.id} is busy: {record.get(_TASK)}'
                )
            return self.later(token)
        if self.status_of(record) in asked.reached and not asked.repeats:
            return self._operated(connection, found, record)
        given = dict(token['parameters'])
        if operation == server_operations.REBUILD:
            image = self._image_of(context, connection, record)
            given = {'image': image, **self.rebuild_body(context)}
        context.fence()
        asked.request(connection, found, record, given)
        if not asked.reached:
            return self._ready(connection, self.existing(context, connection))
        return ResourceInProgress({'step': _OPERATED}, self.interval)

    def _await(
        self,
        context: ResourceContext,
        connection: Any,
        asked: ServerOperation,
        token: Any,
    ) -> Result:
        """Return Ready once the server has reached the goal of an operation."""
        found = self.existing(context, connection)
        record = record_of(found)
        status = self.status_of(record)
        if self._is_busy(record):
            return self.later(token)
        if asked.confirms and status == _VERIFY_RESIZE:
            if not token.get('confirmed'):
                context.fence()
                servers.confirm_resize(connection, found)
            return self.later({**token, 'confirmed': True})
        if status in asked.reached:
            return self._operated(connection, found, record)
        self._refuse_failed(context, record)
        if token.get('polls', 0) >= _SETTLING_POLLS:
            raise ResourceFault(
                f'{self._label(context)} {found.id} has the status {status}; expected '
                f'was {" or ".join(asked.reached)}'
            )
        return self.later(token)

    def _operated(
        self, connection: Any, found: Any, record: Mapping[str, Any]
    ) -> Ready:
        """Return the result of an operation, with the status that checks expect."""
        status, ready = self.status_of(record), self._ready(connection, found)
        data = {} if status == ACTIVE else {_STATUS: status}
        return Ready(ready.physical_id, ready.attributes, data)

    def _is_busy(self, record: Mapping[str, Any]) -> bool:
        return record.get(_TASK) is not None

    def _image_of(
        self, context: ResourceContext, connection: Any, record: Mapping[str, Any]
    ) -> str:
        """Return the id of the image with which a server is rebuilt."""
        named = context.properties.get('image')
        if named:
            return references.IMAGE.id_of(connection, named)
        image = server_references.image_of(connection, record)
        if image is not None:
            return image
        raise ResourceFault(
            f'{self._label(context)} {record.get("id")} has no image, and no bootable '
            'volume from one'
        )

    # details

    def _ready(self, connection: Any, found: Any) -> Ready:
        ready = super()._ready(connection, found)
        attributes = {**(ready.attributes or {}), **_details(record_of(found))}
        attributes.pop('show', None)
        return Ready(ready.physical_id, attributes)

    def _addresses(
        self, context: ResourceContext, server: str, addresses: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return no other addresses: those of a node are by names of networks only.

        `openstack cluster run` asks which network it shall use if there are several.
        """
        return {}

    def _completed(self, context: ResourceContext, result: Result) -> Result:
        completed = super()._completed(context, result)
        if isinstance(completed, Ready) and completed.attributes is not None:
            attributes = dict(completed.attributes)
            attributes.pop('os_collect_config', None)
            return Ready(
                completed.physical_id, attributes, completed.data, completed.reason
            )
        return completed


def membership(context: ResourceContext) -> dict[str, str]:
    """Return the metadata that tells a server its node and cluster."""
    found = {'cluster_node_id': context.resource_uuid}
    if context.stack_uuid != context.resource_uuid:
        found['cluster_id'] = context.stack_uuid
        index = context.metadata.get(INDEX)
        if index is not None:
            found[INDEX] = str(index)
    return found


def _block_devices(
    context: ResourceContext, connection: Any
) -> Iterator[dict[str, Any]]:
    """Yield the block devices of a request."""
    desired = context.properties
    devices = desired.get(DEVICES) or ()
    for device in devices:
        reference = _SOURCES.get(device['source_type'])
        if reference is None or not device.get('uuid'):
            yield dict(device)
            continue
        yield {**device, 'uuid': reference.id_of(connection, device['uuid'])}
    boots = any(device.get('boot_index') == 0 for device in devices)
    if devices and not boots and desired.get('image'):
        yield {
            'source_type': 'image',
            'destination_type': 'local',
            'boot_index': 0,
            'delete_on_termination': True,
            'uuid': references.IMAGE.id_of(connection, desired['image']),
        }


def _details(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a node from the record of its server."""
    flavor, image = record.get('flavor') or {}, record.get('image') or {}
    groups = {group.get('name') for group in record.get('security_groups') or ()}
    volumes = record.get('os-extended-volumes:volumes_attached') or ()
    return {
        **{name: record[name] for name in SHOWN if name in record},
        'flavor': flavor.get('id') or flavor.get('original_name'),
        'image': image.get('id') if isinstance(image, Mapping) else None,
        'attached_volumes': [volume.get('id') for volume in volumes],
        'security_groups': sorted(filter(None, groups)),
    }
