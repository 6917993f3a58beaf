"""Volumes, their attachments and their types."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.links import Link, LinkResource
from watcherlite.plugins.openstack.resources.markers import KEY, Marker, MetadataMarker
from watcherlite.plugins.openstack.resources.references import missing_as_none
from watcherlite.plugins.resource_handlers.errors import ResourceFault

_SOURCES = ('snapshot_id', 'backup_id', 'image', 'source_volid')
_METADATA: Mapping[str, Any] = {'type': 'object', 'additionalProperties': fields.TEXT}

#: In the request that creates a volume type.
_IS_PUBLIC = 'os-volume-type-access:is_public'


class Volume(CloudResource):
    """A volume."""

    description = 'A volume.'
    service = 'block_storage'
    noun = 'volume'
    aliases: ClassVar[Mapping[str, str]] = {'imageRef': 'image'}
    marker: ClassVar[Marker] = MetadataMarker()
    settled = frozenset({'AVAILABLE', 'IN-USE'})
    failed = frozenset(
        {'ERROR', 'ERROR_DELETING', 'ERROR_EXTENDING', 'ERROR_RESTORING'}
    )
    waits_for_deletion = True
    properties: ClassVar[Mapping[str, Property]] = {
        'availability_zone': field(fields.TEXT, 'The availability zone.'),
        'size': field(
            {**fields.INTEGER, 'minimum': 1},
            'The size in GiB; it can grow. Required without a source.',
            updatable=True,
            sent=OWN,
        ),
        'snapshot_id': field(
            fields.TEXT,
            'The name or id of the snapshot that it is created from.',
            reference=references.SNAPSHOT,
        ),
        'backup_id': field(
            fields.TEXT,
            'The name or id of the backup that is restored to it.',
            updatable=True,
            reference=references.BACKUP,
        ),
        'name': field(
            fields.TEXT,
            'The name; the default is a unique one.',
            updatable=True,
            sent=OWN,
        ),
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'volume_type': field(
            fields.TEXT, 'The name or id of its type.', updatable=True, sent=OWN
        ),
        'metadata': field(
            _METADATA, 'The metadata.', default={}, updatable=True, sent=OWN
        ),
        'imageRef': field(fields.TEXT, 'The former name of `image`.', sent=OWN),
        'image': field(
            fields.TEXT,
            'The name or id of the image that it is created from.',
            sent='imageRef',
            reference=references.IMAGE,
        ),
        'source_volid': field(
            fields.TEXT,
            'The name or id of the volume that it is a copy of.',
            reference=references.VOLUME,
        ),
        'scheduler_hints': field(
            fields.MAP, 'Hints for the choice of its host.', sent=OWN
        ),
        'read_only': field(
            fields.FLAG, 'Whether it is read-only.', updatable=True, sent=OWN
        ),
        'multiattach': field(
            fields.FLAG,
            'Accepted and ignored: the type decides.',
            default=False,
            sent=OWN,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'availability_zone': 'The availability zone.',
        'size': 'The size in GiB.',
        'snapshot_id': 'The id of the snapshot that it was created from.',
        'display_name': 'The name.',
        'display_description': 'The description.',
        'volume_type': 'The name of its type.',
        'metadata': 'The metadata, as a string of JSON.',
        'metadata_values': 'The metadata.',
        'source_volid': 'The id of the volume that it is a copy of.',
        'status': 'The status.',
        'created_at': 'The time of its creation.',
        'bootable': 'Whether servers can boot from it.',
        'encrypted': 'Whether it is encrypted.',
        'attachments': 'Its attachments, as a string.',
        'attachments_list': 'Its attachments.',
        'multiattach': 'Whether several servers can use it at a time.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return list(_source_problems(values))

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        desired = context.properties
        body = super().body(context, connection)
        body['metadata'] = dict(desired['metadata'])
        for name in ('size', 'volume_type', 'scheduler_hints'):
            if desired.get(name):
                body[name] = desired[name]
        return body

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        body.pop('backup_id', None)
        return body

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return context.properties.get('read_only') is None

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        read_only = context.properties.get('read_only')
        if read_only is not None:
            connection.block_storage.set_volume_readonly(found, read_only)

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        storage, desired = connection.block_storage, context.properties
        found = self.existing(context, connection)
        record = record_of(found)
        if 'metadata' in names:
            self._set_metadata(context, connection, found, record)
        if 'read_only' in names:
            storage.set_volume_readonly(found, bool(desired.get('read_only')))
        if 'backup_id' in names and desired.get('backup_id'):
            backup = references.BACKUP.id_of(connection, desired['backup_id'])
            storage.restore_backup(backup, volume_id=context.physical_id)
        elif 'volume_type' in names and desired.get('volume_type'):
            if desired['volume_type'] != record.get('volume_type'):
                storage.retype_volume(found, desired['volume_type'], 'on-demand')
        elif 'size' in names and desired.get('size'):
            self._extend(context, connection, record)
            return None
        else:
            return None
        # Other changes follow one at a time: the volume is busy.
        left = [name for name in names if name == 'size']
        return ResourceInProgress({'step': 'next', 'left': left}, self.interval)

    def step(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Continue an update once the volume is no longer busy."""
        found = self.existing(context, connection)
        self._refuse_failed(context, record_of(found))
        if self.status_of(record_of(found)) not in self.settled:
            return self.later(token)
        waiting = self.apply(context, connection, token['left'])
        return waiting or self._wait(context, connection, operation, {'step': 'wait'})

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        found = self.get(connection, str(context.physical_id))
        if found is not None and self.status_of(record_of(found)) != 'DELETING':
            super().destroy(connection, context)

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        metadata = dict(record.get('metadata') or {})
        metadata.pop(KEY, None)
        shown = {name: record.get(name) for name in self.attributes}
        return {
            **shown,
            'display_name': record.get('name'),
            'display_description': record.get('description'),
            'metadata': json.dumps(metadata),
            'metadata_values': metadata,
            'attachments': str(record.get('attachments') or []),
            'attachments_list': record.get('attachments') or [],
        }

    def _set_metadata(
        self,
        context: ResourceContext,
        connection: Any,
        found: Any,
        record: Mapping[str, Any],
    ) -> None:
        desired = dict(context.properties['metadata'])
        present = record.get('metadata') or {}
        surplus = present.keys() - desired.keys() - {KEY, 'readonly', 'attached_mode'}
        if surplus:
            connection.block_storage.delete_volume_metadata(found, sorted(surplus))
        if desired:
            connection.block_storage.set_volume_metadata(found, **desired)

    def _extend(
        self, context: ResourceContext, connection: Any, record: Mapping[str, Any]
    ) -> None:
        size, present = context.properties['size'], record.get('size') or 0
        if size < present:
            raise ResourceFault(
                f'{context.resource_name}: the size cannot shrink from {present} to '
                f'{size} GiB'
            )
        if size > present:
            connection.block_storage.extend_volume(context.physical_id, size)


def _source_problems(values: Mapping[str, Any]) -> Iterator[str]:
    sources = [name for name in _SOURCES if name in values]
    if len(sources) > 1 and 'backup_id' not in sources:
        yield f'properties.{sources[0]}: cannot be combined with {sources[1]}'
    if not sources and 'size' not in values:
        yield 'properties.size: is required without a source'


class VolumeAttachment(LinkResource):
    """The attachment of a volume to a server."""

    description = 'The attachment of a volume to a server.'
    service = 'compute'
    noun = 'volume_attachment'
    settled = frozenset({'IN-USE'})
    failed = frozenset({'ERROR', 'ERROR_ATTACHING'})
    properties: ClassVar[Mapping[str, Property]] = {
        'instance_uuid': field(
            fields.TEXT, 'The name or id of the server.', required=True, updatable=True
        ),
        'volume_id': field(
            fields.TEXT, 'The name or id of the volume.', required=True, updatable=True
        ),
        'mountpoint': field(
            fields.TEXT, 'The device, for example /dev/vdb.', updatable=True
        ),
    }

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        desired = context.properties
        server = references.SERVER.id_of(connection, desired['instance_uuid'])
        volume = references.VOLUME.id_of(connection, desired['volume_id'])
        return f'{server}:{volume}'

    def join(self, context: ResourceContext, connection: Any) -> Link:
        made = self.link_id(context, connection)
        server, _, volume = made.partition(':')
        body = {'volume_id': volume}
        if context.properties.get('mountpoint'):
            body['device'] = context.properties['mountpoint']
        connection.compute.create_volume_attachment(server, **body)
        return Link(made, {'status': 'attaching'})

    def get(self, connection: Any, physical_id: str) -> Any:
        server, _, volume = physical_id.partition(':')
        storage = connection.block_storage
        found = missing_as_none(lambda: storage.get_volume(volume))
        if found is None:
            return None
        record = record_of(found)
        status = str(record.get('status'))
        if status.upper() in ('ATTACHING', 'RESERVED', 'DETACHING'):
            return Link(physical_id, {'status': status})
        servers = {item.get('server_id') for item in record.get('attachments') or ()}
        return Link(physical_id, {'status': status}) if server in servers else None

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        self._detach(connection, str(context.physical_id))

    def _detach(self, connection: Any, physical_id: str) -> None:
        server, _, volume = physical_id.partition(':')
        found = self.get(connection, physical_id)
        if found is not None and self.status_of(found.record) != 'DETACHING':
            connection.compute.delete_volume_attachment(
                server, volume, ignore_missing=True
            )

    waits_for_deletion = True

    def _update(self, context: ResourceContext, connection: Any) -> Result:
        """Detach the volume, then attach the new one."""
        context.fence()
        self._detach(connection, str(context.physical_id))
        return ResourceInProgress(
            {'step': 'detached', 'old': context.physical_id}, self.interval
        )

    def step(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Attach the volume once it is detached."""
        if self.get(connection, token['old']) is not None:
            return self.later(token)
        context.fence()
        return self._created(context, connection, self.join(context, connection))


class VolumeType(CloudResource):
    """A type of volumes."""

    description = 'A type of volumes; for administrators.'
    service = 'block_storage'
    noun = 'type'
    label = 'volume type'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            fields.TEXT, 'The name.', required=True, updatable=True, sent=OWN
        ),
        'metadata': field(
            _METADATA,
            'The extra specs, which select the backend.',
            updatable=True,
            sent=OWN,
        ),
        'is_public': field(
            fields.FLAG,
            'Whether all projects may use it.',
            default=True,
            updatable=True,
            sent=OWN,
        ),
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'projects': field(
            fields.TEXTS,
            'The names or ids of the projects that may use it, if it is not public.',
            default=[],
            updatable=True,
            sent=OWN,
        ),
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        if values.get('projects') and values.get('is_public'):
            return ['properties.projects: requires is_public to be false']
        return ()

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        public = context.properties['is_public']
        return {**super().body(context, connection), _IS_PUBLIC: public}

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        desired = context.properties
        return not desired.get('metadata') and not desired.get('projects')

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        self.apply(context, connection, ['metadata', 'projects'])

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        storage = connection.block_storage
        found = self.existing(context, connection)
        if 'is_public' in names:
            # Cinder names it differently in the request for the creation.
            body = {'volume_type': {'is_public': context.properties['is_public']}}
            response = storage.put(f'/types/{found.id}', json=body)
            cloud.raise_from_response(response)
        if 'metadata' in names:
            desired = dict(context.properties.get('metadata') or {})
            present = record_of(found).get('extra_specs') or {}
            surplus = sorted(present.keys() - desired.keys())
            if surplus:
                storage.delete_type_extra_specs(found, surplus)
            if desired:
                storage.update_type_extra_specs(found, **desired)
        if 'projects' in names and not context.properties['is_public']:
            projects = context.properties.get('projects')
            allowed = set(references.PROJECT.ids_of(connection, projects) or ())
            present = {item['project_id'] for item in storage.get_type_access(found)}
            for project in sorted(allowed - present):
                storage.add_type_access(found, project)
            for project in sorted(present - allowed):
                storage.remove_type_access(found, project)
        return None


class EncryptedVolumeType(LinkResource):
    """The encryption of the volumes of a type; its id is that of the type."""

    description = 'The encryption of the volumes of a type; for administrators.'
    service = 'block_storage'
    noun = 'type_encryption'
    label = 'encryption of the volume type'
    properties: ClassVar[Mapping[str, Property]] = {
        'provider': field(
            fields.TEXT,
            'The class that encrypts, for example `luks`.',
            required=True,
            updatable=True,
        ),
        'control_location': field(
            fields.one_of('front-end', 'back-end'),
            'Where volumes are encrypted: by the compute or the storage service.',
            default='front-end',
            updatable=True,
        ),
        'cipher': field(
            fields.one_of('aes-xts-plain64', 'aes-cbc-essiv'),
            'The algorithm and mode.',
            updatable=True,
        ),
        'key_size': field(fields.INTEGER, 'The size of keys in bits.', updatable=True),
        'volume_type': field(
            fields.TEXT, 'The name or id of the volume type.', required=True, sent=OWN
        ),
    }

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        desired = context.properties['volume_type']
        return references.VOLUME_TYPE.id_of(connection, desired)

    def join(self, context: ResourceContext, connection: Any) -> Link:
        made = self.link_id(context, connection)
        body = self.body(context, connection)
        connection.block_storage.create_type_encryption(made, **body)
        return Link(made)

    def get(self, connection: Any, physical_id: str) -> Any:
        storage = connection.block_storage
        found = missing_as_none(lambda: storage.get_type_encryption(physical_id))
        record = record_of(found) if found is not None else {}
        # Cinder answers with an empty object for a type without encryption.
        return Link(physical_id, record) if record.get('encryption_id') else None

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        update = connection.block_storage.update_type_encryption
        return update(volume_type=physical_id, **body)

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        physical_id = str(context.physical_id)
        if self.get(connection, physical_id) is not None:
            storage = connection.block_storage
            storage.delete_type_encryption(volume_type=physical_id, ignore_missing=True)
