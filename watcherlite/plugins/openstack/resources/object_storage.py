"""Containers of swift."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.cloud_resource import CloudResource
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.links import Link
from watcherlite.plugins.openstack.resources.references import missing_as_none

_HEADERS = ('X-Container-Read', 'X-Container-Write')
_META = 'X-Container-Meta-'
_MARK = 'watcherlite-resource'
#: Objects deleted in one step.
_BATCH = 100


class Container(CloudResource):
    """A container of objects; its id is its name."""

    description = 'A container of objects.'
    service = 'object_store'
    noun = 'container'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(fields.TEXT, 'The name; the default is a unique one.', sent=OWN),
        'X-Container-Read': field(fields.TEXT, 'Who may read objects.', sent=OWN),
        'X-Container-Write': field(fields.TEXT, 'Who may write objects.', sent=OWN),
        'X-Container-Meta': field(
            fields.MAP, 'The metadata of the container.', default={}, sent=OWN
        ),
        'X-Account-Meta': field(
            fields.MAP, 'Metadata that is added to the account.', default={}, sent=OWN
        ),
        'PurgeOnDelete': field(
            fields.FLAG,
            'Whether its objects are deleted with it; else the deletion of a container '
            'with objects fails.',
            default=False,
            sent=OWN,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'DomainName': 'The host of its URL.',
        'WebsiteURL': 'Its URL.',
        'RootURL': 'The URL of the account.',
        'ObjectCount': 'The number of objects.',
        'BytesUsed': 'The size of the objects in bytes.',
        'HeadContainer': 'The headers of the container.',
    }

    def get(self, connection: Any, physical_id: str) -> Any:
        """Return the container with its headers; None: it does not exist."""
        from openstack import exceptions as cloud

        def head() -> Any:
            response = connection.object_store.head(f'/{quote(physical_id)}')
            cloud.raise_from_response(response)
            return Link(
                physical_id,
                {
                    'headers': {k.lower(): v for k, v in response.headers.items()},
                    'url': connection.object_store.get_endpoint(),
                },
            )

        return missing_as_none(head)

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        headers, root = record['headers'], str(record['url'] or '').rstrip('/')
        return {
            'DomainName': urlsplit(root).hostname,
            'WebsiteURL': f'{root}/{quote(record["id"])}',
            'RootURL': root,
            'ObjectCount': headers.get('x-container-object-count'),
            'BytesUsed': headers.get('x-container-bytes-used'),
            'HeadContainer': headers,
        }

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        """Delete the container, and before that some of its objects."""
        name = str(context.physical_id)
        storage = connection.object_store
        if context.properties.get('PurgeOnDelete') and self.get(connection, name):
            for at, item in enumerate(storage.objects(name)):
                if at == _BATCH:
                    raise exceptions.Conflict(f'{name} has further objects')
                storage.delete_object(item.name, container=name, ignore_missing=True)
        storage.delete_container(name, ignore_missing=True)

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        from openstack import exceptions as cloud

        desired, name = context.properties, self.name_of(context)
        headers = {
            _META + str(key): str(value)
            for key, value in (desired.get('X-Container-Meta') or {}).items()
        }
        headers[_META + _MARK] = context.resource_uuid
        headers |= {
            key: desired[key] for key in _HEADERS if desired.get(key) is not None
        }
        context.fence()
        storage = connection.object_store
        cloud.raise_from_response(storage.put(f'/{quote(name)}', headers=headers))
        account = desired.get('X-Account-Meta') or {}
        if account:
            storage.set_account_metadata(**account)
        return ResourceInProgress({'step': 'wait'}, 0.0, name)

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return the container with the mark of the resource in its metadata."""
        name = self.name_of(context)
        found = self.get(connection, name)
        headers = found.record['headers'] if found is not None else {}
        if headers.get((_META + _MARK).lower()) != context.resource_uuid:
            return None
        return ResourceInProgress({'step': 'wait'}, 0.0, name)

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False
