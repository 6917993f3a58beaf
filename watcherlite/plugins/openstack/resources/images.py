"""Images."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.markers import Marker, MetadataMarker
from watcherlite.plugins.resource_handlers.errors import ResourceFault

_ID: Mapping[str, Any] = {
    'type': 'string',
    'pattern': fields.ID_PATTERN,
    'description': 'a UUID',
}
_METHOD = 'web-download'
#: The stores into which glance could not import an image.
_FAILED_STORES = 'os_glance_failed_import'


class PropertyMarker(MetadataMarker):
    """A property of an image."""

    def __init__(self) -> None:
        super().__init__(None)

    def matches(self, record: Mapping[str, Any], context: ResourceContext) -> bool:
        return super().matches(_properties(record), context)


def _properties(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of an image that openstacksdk does not know."""
    return record.get('properties') or {}


class _FailedImport(ResourceFault):
    """The image service could not download an image."""


class WebImage(CloudResource):
    """An image that the image service downloads."""

    description = 'An image that the image service downloads.'
    service = 'image'
    noun = 'image'
    marker: ClassVar[Marker] = PropertyMarker()
    settled = frozenset({'ACTIVE', 'DEACTIVATED'})
    failed = frozenset({'KILLED', 'DELETED'})
    interval = 2.0
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(fields.TEXT, 'The name; the default is a unique one.', sent=OWN),
        'id': field(fields.TEXT, 'The id; the default is a generated one.'),
        'min_disk': field(
            {**fields.INTEGER, 'minimum': 0}, 'The required disk in GiB.', default=0
        ),
        'min_ram': field(
            {**fields.INTEGER, 'minimum': 0}, 'The required memory in MiB.', default=0
        ),
        'protected': field(
            fields.FLAG, 'Whether it cannot be deleted.', default=False, updatable=True
        ),
        'disk_format': field(
            fields.one_of(
                *('ami', 'ari', 'aki', 'vhd', 'vhdx', 'vmdk', 'raw', 'qcow2', 'vdi'),
                *('iso', 'ploop'),
            ),
            'The format of the disk.',
            required=True,
        ),
        'container_format': field(
            fields.one_of('ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker'),
            'The format of the container.',
            required=True,
        ),
        'location': field(
            fields.TEXT,
            'The URL that the image service downloads: with its import method '
            'web-download.',
            required=True,
            sent=OWN,
        ),
        'tags': field(fields.TEXTS, 'The tags.', updatable=True, sent=OWN),
        'architecture': field(fields.TEXT, 'The architecture.', updatable=True),
        'kernel_id': field(_ID, 'The id of the image of its kernel.', updatable=True),
        'os_distro': field(fields.TEXT, 'The operating system.', updatable=True),
        'os_version': field(
            fields.TEXT, 'The version of the operating system.', updatable=True
        ),
        'owner': field(fields.TEXT, 'The id of its project.', updatable=True),
        'extra_properties': field(
            fields.MAP, 'Further properties.', default={}, updatable=True, sent=OWN
        ),
        'visibility': field(
            fields.one_of('public', 'private', 'community', 'shared'),
            'The visibility.',
            default='private',
            updatable=True,
        ),
        'ramdisk_id': field(_ID, 'The id of the image of its ramdisk.', updatable=True),
        'active': field(
            fields.FLAG,
            'Whether it can be downloaded.',
            default=True,
            updatable=True,
            sent=OWN,
        ),
        'members': field(
            fields.TEXTS,
            'The ids of the projects that it is shared with.',
            updatable=True,
            sent=OWN,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {}

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        desired = context.properties
        body = super().body(context, connection)
        if desired.get('tags'):
            body['tags'] = list(desired['tags'])
        # A protected image could not be deleted if its import failed.
        return {**body, **desired['extra_properties'], 'protected': False}

    def make(self, connection: Any, body: Mapping[str, Any]) -> Any:
        return connection.image.create_image(allow_duplicates=True, **body)

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        methods = connection.image.get_import_info().import_methods or {}
        if _METHOD not in (methods.get('value') or ()):
            raise ResourceFault(
                f'{context.resource_name}: the image service does not offer the import '
                f'method {_METHOD}, with which it downloads images'
            )
        return super()._create(context, connection)

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        desired = context.properties
        left = desired['protected'], not desired['active'], desired.get('members')
        return not any(left)

    def _wait(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        if operation != 'create':
            return super()._wait(context, connection, operation, token)
        if not token.get('imported'):
            found = self.existing(context, connection)
            if self.status_of(record_of(found)) == 'QUEUED':
                context.fence()
                self._import(context, connection, found)
            token = {**token, 'imported': True}
        try:
            return super()._wait(context, connection, operation, token)
        except _FailedImport as error:
            reasons = _import_problems(connection, str(context.physical_id))
            raise ResourceFault(': '.join([str(error), *reasons])) from None

    def _refuse_failed(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> None:
        super()._refuse_failed(context, record)
        # The image is queued again.
        failed = _properties(record).get(_FAILED_STORES)
        if self.status_of(record) == 'QUEUED' and failed:
            raise _FailedImport(
                f'{self._label(context)} {record.get("id")}: the import of '
                f'{context.properties["location"]} has failed'
            )

    def _import(self, context: ResourceContext, connection: Any, found: Any) -> None:
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        response = connection.image.import_image(
            found, method=_METHOD, uri=context.properties['location']
        )
        # openstacksdk returns the response, whatever its status is.
        cloud.raise_from_response(response)

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        desired = context.properties
        if desired['protected']:
            connection.image.update_image(found, is_protected=True)
        self.apply(context, connection, ['members', 'active'])

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        if 'extra_properties' in names:
            removed = dict.fromkeys(context.before.get('extra_properties') or ())
            body['properties'] = {**removed, **context.properties['extra_properties']}
        return body

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        # The request has the differences to the image.
        found = connection.image.get_image(physical_id)
        if 'properties' in body:
            # Those that are missing would be removed, those of the service as well.
            known = {**(found.properties or {}), **body['properties']}
            kept = {name: value for name, value in known.items() if value is not None}
            body = {**body, 'properties': kept}
        return connection.image.update_image(found, **body)

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        image, desired = connection.image, context.properties
        found = self.existing(context, connection)
        if 'tags' in names:
            # Glance changes no tag by a patch of the image.
            tags, old = set(desired.get('tags') or ()), set(found.tags or ())
            for tag in sorted(old - tags):
                image.remove_tag(found, tag)
            for tag in sorted(tags - old):
                image.add_tag(found, tag)
        if 'members' in names:
            allowed = set(desired.get('members') or ())
            present: set[str] = set()
            if allowed or context.before.get('members'):
                present = {member.member_id for member in image.members(found)}
            for member in sorted(allowed - present):
                image.add_member(found, member_id=member)
            for member in sorted(present - allowed):
                image.remove_member(member, found, ignore_missing=True)
        if 'active' in names:
            status = self.status_of(record_of(found))
            if not desired['active'] and status == 'ACTIVE':
                image.deactivate_image(found)
            elif desired['active'] and status == 'DEACTIVATED':
                image.reactivate_image(found)
        return None

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        found = self.get(connection, str(context.physical_id))
        if found is None:
            return
        if record_of(found).get('protected') and context.properties.get('protected'):
            connection.image.update_image(found, is_protected=False)
        connection.image.delete_image(found.id, ignore_missing=True)

    def lock(self, context: ResourceContext) -> Result:
        """Protect the image against its deletion."""
        return self._run(context, 'lock', lambda c: self._protect(context, c, True))

    def unlock(self, context: ResourceContext) -> Result:
        """Remove the protection, unless the property `protected` is set."""
        kept = bool(context.properties.get('protected'))
        return self._run(context, 'unlock', lambda c: self._protect(context, c, kept))

    def _protect(
        self, context: ResourceContext, connection: Any, protected: bool
    ) -> Result:
        found = self.get(connection, str(context.physical_id))
        if found is None:
            if protected:
                self.existing(context, connection)
            return None
        context.fence()
        connection.image.update_image(found, is_protected=protected)
        return None


def _import_problems(connection: Any, image: str) -> list[str]:
    """Return the messages of the failed imports of an image."""
    tasks = connection.image.image_tasks(image)
    failed = (task for task in tasks if str(task.status).lower() == 'failure')
    return [str(task.message) for task in failed if task.message]
