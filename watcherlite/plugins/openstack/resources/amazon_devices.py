"""Volumes and addresses of instances, with the names and properties of AWS."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import (
    fields,
    floating_ips,
    references,
    volumes,
)
from watcherlite.plugins.openstack.resources.amazon import PAIRS, mapping_of
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.links import Link
from watcherlite.plugins.openstack.resources.renamed_context import (
    RenamedContext,
    renaming,
)
from watcherlite.plugins.resource_handlers.errors import ResourceFault


class EC2Volume(volumes.Volume):
    """A volume, managed as an OS::Cinder::Volume; every change replaces it."""

    aliases: ClassVar[Mapping[str, str]] = {}
    properties: ClassVar[Mapping[str, Property]] = {
        'AvailabilityZone': field(
            fields.TEXT,
            'The availability zone.',
            required=True,
            sent='availability_zone',
        ),
        'Size': field(
            {**fields.INTEGER, 'minimum': 1},
            'The size in GiB; required without a `SnapshotId`.',
            sent=OWN,
        ),
        'SnapshotId': field(
            fields.TEXT,
            'The name or id of the backup that it is created from.',
            sent='backup_id',
            reference=references.BACKUP,
        ),
        'Tags': field(PAIRS, 'The metadata.', sent=OWN),
    }
    attributes: ClassVar[Mapping[str, str]] = {}

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        if 'Size' in values or 'SnapshotId' in values:
            return ()
        return ['properties.Size: is required without a SnapshotId']

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        desired = context.properties
        body = self.sent(context, connection, desired, desired)
        body['metadata'] = mapping_of(desired.get('Tags'))
        if desired.get('Size'):
            body['size'] = desired['Size']
        return body

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {}


_ATTACHMENT = renaming(
    {'InstanceId': 'instance_uuid', 'VolumeId': 'volume_id', 'Device': 'mountpoint'}
)


class EC2VolumeAttachment(volumes.VolumeAttachment):
    """The attachment of a volume; every change replaces it."""

    properties: ClassVar[Mapping[str, Property]] = {
        'InstanceId': field(
            fields.TEXT, 'The name or id of the instance.', required=True
        ),
        'VolumeId': field(fields.TEXT, 'The name or id of the volume.', required=True),
        'Device': field(
            fields.TEXT, 'The device, for example /dev/vdb.', required=True
        ),
    }

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        return super().link_id(RenamedContext(context, _ATTACHMENT), connection)

    def join(self, context: ResourceContext, connection: Any) -> Link:
        return super().join(RenamedContext(context, _ATTACHMENT), connection)


class ElasticIP(floating_ips.ServerFloatingIP):
    """An address of the external network, and optionally its instance."""

    description = 'An address of the external network, for an instance.'
    properties: ClassVar[Mapping[str, Property]] = {
        'Domain': field(fields.one_of('vpc'), 'Accepted and ignored.', sent=OWN),
        'InstanceId': field(
            fields.TEXT,
            'The name or id of the instance; the address belongs to its first port.',
            updatable=True,
            sent=OWN,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'AllocationId': 'The id of the floating IP.'
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        if context.properties.get('InstanceId'):
            body['port_id'] = self._port_id(context, connection)
        return body

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        if 'InstanceId' not in names:
            return {}
        if not context.properties.get('InstanceId'):
            return {'port_id': None}
        return {'port_id': self._port_id(context, connection)}

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {'AllocationId': record.get('id')}

    def reference(self, context: ResourceContext) -> str:
        """Return the address."""
        shown = context.attributes.get('show') or {}
        return str(shown.get('floating_ip_address') or context.resource_name)

    def _port_id(self, context: ResourceContext, connection: Any) -> str:
        instance = context.properties['InstanceId']
        return floating_ips.first_port_id(context, connection, instance)


_ADDRESSES = ('EIP', 'AllocationId')
_PORTS = ('InstanceId', 'NetworkInterfaceId')


class ElasticIPAssociation(floating_ips.FloatingIPAssociation):
    """The association of an address with an instance or a port."""

    description = 'The association of an address with an instance or a port.'
    properties: ClassVar[Mapping[str, Property]] = {
        'EIP': field(fields.TEXT, 'The address, or', updatable=True),
        'AllocationId': field(
            fields.TEXT, 'the id of the floating IP.', updatable=True
        ),
        'InstanceId': field(
            fields.TEXT, 'The name or id of the instance, or', updatable=True
        ),
        'NetworkInterfaceId': field(
            fields.TEXT, 'the name or id of the port.', updatable=True
        ),
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        problems = []
        if sum(name in values for name in _ADDRESSES) != 1:
            problems.append('properties.EIP: must be given, without AllocationId')
        if not any(name in values for name in _PORTS):
            problems.append('properties.InstanceId: is required')
        return problems

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        desired = context.properties
        if desired.get('NetworkInterfaceId'):
            port = references.PORT.id_of(connection, desired['NetworkInterfaceId'])
        else:
            instance = desired['InstanceId']
            port = floating_ips.first_port_id(context, connection, instance)
        if desired.get('AllocationId'):
            return f'{desired["AllocationId"]}:{port}'
        address = desired['EIP']
        known = connection.network.ips(floating_ip_address=address)
        found = next(iter(known), None)
        if found is None:
            raise ResourceFault(
                f'{context.resource_name}: there is no floating IP {address}'
            )
        return f'{found.id}:{port}'
