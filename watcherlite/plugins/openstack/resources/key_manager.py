"""Secrets, orders and containers of barbican."""

import base64
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import (
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.resource_handlers.errors import ResourceFault

_NAME = field(fields.TEXT, 'The name; the default is a unique one.', sent=OWN)
_OF_TYPE = {
    'key': (
        'name',
        'algorithm',
        'bit_length',
        'mode',
        'payload_content_type',
        'expiration',
    ),
    'asymmetric': (
        'name',
        'algorithm',
        'bit_length',
        'mode',
        'pass_phrase',
        'payload_content_type',
        'expiration',
    ),
    'certificate': (
        'name',
        'request_type',
        'subject_dn',
        'source_container_ref',
        'ca_id',
        'profile',
        'request_data',
    ),
}


class BarbicanResource(CloudResource):
    """An object of barbican: nothing can change it, not even its name."""

    service = 'key_manager'
    settled = frozenset({'ACTIVE'})
    #: The attribute that is its URL.
    url: ClassVar[str]

    def given_name(self, record: Mapping[str, Any]) -> Any:
        """Return the name of an object."""
        return record.get('name')

    def reference(self, context: ResourceContext) -> str:
        """Return the URL."""
        show = context.attributes.get('show') or {}
        return str(show.get(self.url) or context.physical_id or context.resource_name)

    def get(self, connection: Any, physical_id: str) -> Any:
        return super().get(connection, _uuid(physical_id))

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        delete = getattr(self.proxy(connection), f'delete_{self.noun}')
        delete(_uuid(str(context.physical_id)), ignore_missing=True)

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {name: value for name, value in body.items() if value is not None}

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        body = self.body(context, connection)
        context.fence()
        made = self.make(connection, body)
        # The response is only the URL.
        return ResourceInProgress({'step': 'wait'}, 0.0, _uuid(str(made.id)))

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return the object with the unique name of the resource.

        :raises ResourceFault: the name is that of the template, and not unique
        """
        name = self.name_of(context)
        for found in self.search(connection, {}):
            if self.given_name(record_of(found)) != name:
                continue
            if context.properties.get('name'):
                raise ResourceFault(
                    f'{self._label(context)}: the creation was interrupted, and '
                    f'{name} exists; it is unknown whether it is the result. '
                    'Delete it if it belongs to nothing else, and update the stack'
                )
            return ResourceInProgress({'step': 'wait'}, 0.0, _uuid(str(found.id)))
        return None

    def _ready(self, connection: Any, found: Any) -> Ready:
        ready = super()._ready(connection, found)
        return Ready(_uuid(str(found.id)), ready.attributes)

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False

    def _delete(self, context: ResourceContext, connection: Any, tries: int) -> Result:
        if context.physical_id is None and context.properties.get('name'):
            # It is not known whether an object of this name is that of the resource.
            return None
        return super()._delete(context, connection, tries)


def _uuid(physical_id: str) -> str:
    """Return the UUID in a URL, which openstacksdk has as the id of an object."""
    return physical_id.rstrip('/').rpartition('/')[2]


class Secret(BarbicanResource):
    """A secret."""

    description = 'A secret.'
    noun = 'secret'
    url = 'secret_ref'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'payload': field(fields.TEXT, 'The secret.'),
        'secret_type': field(
            fields.one_of(
                'symmetric', 'public', 'private', 'certificate', 'passphrase', 'opaque'
            ),
            'The type.',
            default='opaque',
        ),
        'payload_content_type': field(
            fields.one_of('text/plain', 'application/octet-stream'),
            'The media type of the payload, which requires it.',
        ),
        'payload_content_encoding': field(
            fields.one_of('base64'), 'The encoding of binary payload.'
        ),
        'expiration': field(fields.TEXT, 'The time at which it expires.'),
        'algorithm': field(fields.TEXT, 'The algorithm that it is for.'),
        'bit_length': field({**fields.INTEGER, 'minimum': 0}, 'The number of bits.'),
        'mode': field(fields.TEXT, 'The mode of the algorithm.'),
    }
    attributes: ClassVar[Mapping[str, str]] = {'status': 'The status.'}
    live_attributes: ClassVar[Mapping[str, str]] = {
        'decrypted_payload': 'The secret; binary data is encoded in base64.'
    }

    def live_value(self, context: ResourceContext, connection: Any, name: str) -> Any:
        return _payload_of(self.existing(context, connection))

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return list(_secret_problems(values))

    def _ready(self, connection: Any, found: Any) -> Ready:
        ready = super()._ready(connection, found)
        attributes = dict(ready.attributes or {})
        show = {k: v for k, v in attributes['show'].items() if k != 'payload'}
        return Ready(ready.physical_id, {**attributes, 'show': show})


def _payload_of(secret: Any) -> Any:
    """Return the payload of a secret; binary data is encoded in base64."""
    payload = secret.payload
    if isinstance(payload, bytes):
        return base64.b64encode(payload).decode()
    return payload


def _secret_problems(values: Mapping[str, Any]) -> Iterator[str]:
    kind = values.get('payload_content_type')
    binary, encoded = kind == 'application/octet-stream', 'payload_content_encoding'
    if 'payload' in values and kind is None:
        yield 'properties.payload_content_type: is required with payload'
    if kind is not None and 'payload' not in values:
        yield 'properties.payload: is required with payload_content_type'
    if binary and encoded not in values:
        yield f'properties.{encoded}: is required for application/octet-stream'
    if encoded in values and not binary:
        yield f'properties.{encoded}: is only for application/octet-stream'
    payload = values.get('payload')
    if binary and payload is not None:
        try:
            base64.b64decode(payload, validate=True)
        except ValueError:
            yield 'properties.payload: is not base64'


class Order(BarbicanResource):
    """An order of a new secret."""

    description = 'An order of a generated key or a certificate.'
    noun = 'order'
    url = 'order_ref'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'payload_content_type': field(fields.TEXT, 'The media type.', sent=OWN),
        'expiration': field(fields.TEXT, 'The time at which it expires.', sent=OWN),
        'algorithm': field(fields.TEXT, 'The algorithm; required for keys.', sent=OWN),
        'bit_length': field(
            fields.INTEGER, 'The number of bits; required for keys.', sent=OWN
        ),
        'mode': field(fields.TEXT, 'The mode of the algorithm.', sent=OWN),
        'type': field(fields.one_of(*_OF_TYPE), 'What is ordered.', required=True),
        'request_type': field(
            fields.one_of('stored-key', 'simple-cmc', 'custom'),
            'The kind of the request for a certificate.',
            sent=OWN,
        ),
        'subject_dn': field(fields.TEXT, 'The subject of a certificate.', sent=OWN),
        'source_container_ref': field(
            fields.TEXT, 'The URL of the container with the key.', sent=OWN
        ),
        'ca_id': field(fields.TEXT, 'The id of the authority.', sent=OWN),
        'profile': field(fields.TEXT, 'The profile of the authority.', sent=OWN),
        'request_data': field(fields.TEXT, 'The signing request, in base64.', sent=OWN),
        'pass_phrase': field(
            fields.TEXT, 'The passphrase of an asymmetric key.', sent=OWN
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'status': 'The status.',
        'order_ref': 'The URL of the order.',
        'secret_ref': 'The URL of the secret.',  # nosec B105
        'container_ref': 'The URL of the container of a key pair or certificate.',
    }
    live_attributes: ClassVar[Mapping[str, str]] = {
        'public_key': 'The public key of an ordered key pair.',
        'private_key': 'The private key of an ordered key pair or certificate.',
        'certificate': 'The ordered certificate.',
        'intermediates': 'The intermediate certificates of an ordered certificate.',
    }

    def live_value(self, context: ResourceContext, connection: Any, name: str) -> Any:
        order = record_of(self.existing(context, connection))
        container = order.get('container_ref')
        if not container:
            return None
        manager = self.proxy(connection)
        found = record_of(manager.get_container(_uuid(str(container))))
        for item in found.get('secret_refs') or ():
            if item['name'] == name:
                return _payload_of(manager.get_secret(_uuid(item['secret_ref'])))
        return None

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        kind = values.get('type')
        if kind is None:
            return ()
        known = {'type', *_OF_TYPE[kind]}
        problems = [
            f'properties.{name}: is not for the type {kind}'
            for name in values
            if name not in known
        ]
        if kind != 'certificate':
            problems += [
                f'properties.{name}: is required for the type {kind}'
                for name in ('algorithm', 'bit_length')
                if name not in values
            ]
        return problems

    def given_name(self, record: Mapping[str, Any]) -> Any:
        return (record.get('meta') or {}).get('name')

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        desired = context.properties
        meta = {
            name: desired[name]
            for name in _OF_TYPE[desired['type']]
            if desired.get(name) is not None
        }
        meta['name'] = self.name_of(context)
        return {'type': desired['type'], 'meta': meta}

    def problem_of(self, record: Mapping[str, Any]) -> str:
        return str(record.get('error_reason') or record.get('sub_status_message') or '')


class GenericContainer(BarbicanResource):
    """A container of secrets."""

    description = 'A container of secrets.'
    noun = 'container'
    url = 'container_ref'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': _NAME,
        'secrets': field(
            fields.items(
                fields.mapping(
                    {'name': fields.TEXT, 'ref': fields.TEXT}, ['name', 'ref']
                )
            ),
            'The secrets: each a `name` and the URL as `ref`.',
            sent=OWN,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'status': 'The status.',
        'container_ref': 'The URL.',
        'secret_refs': 'The URLs of the secrets, by their names.',  # nosec B105
        'consumers': 'The URLs of its users.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        given = [item.get('ref') for item in values.get('secrets') or () if item]
        known = [ref for ref in given if ref is not None]
        if len(known) != len(set(known)):
            return ['properties.secrets: two of them have the same ref']
        return ()

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        secrets = context.properties.get('secrets') or ()
        return {
            'name': self.name_of(context),
            'type': 'generic',
            'secret_refs': [
                {'name': item['name'], 'secret_ref': item['ref']} for item in secrets
            ],
        }

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        refs = {
            item.get('name'): item.get('secret_ref')
            for item in record.get('secret_refs') or ()
        }
        return {
            'status': record.get('status'),
            'container_ref': record.get('container_ref'),
            'secret_refs': refs,
            'consumers': record.get('consumers') or [],
        }
