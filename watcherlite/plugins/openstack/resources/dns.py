"""Zones and record sets of designate."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.links import Link

_NAME: Mapping[str, Any] = {**fields.TEXT, 'maxLength': 255}
_TTL = field(
    {'type': 'integer', 'minimum': 1, 'maximum': 2**31 - 1},
    'The time to live in seconds.',
    updatable=True,
)
_DESCRIPTION = field(
    {**fields.TEXT, 'maxLength': 160}, 'The description.', updatable=True
)
_TYPES = (
    'A',
    'AAAA',
    'CAA',
    'CERT',
    'CNAME',
    'MX',
    'NAPTR',
    'NS',
    'PTR',
    'SOA',
    'SPF',
    'SRV',
    'SSHFP',
    'TXT',
)


class DesignateResource(CloudResource):
    """An object of designate: its name is unique, and marks it."""

    service = 'dns'
    settled = frozenset({'ACTIVE'})
    waits_for_deletion = True

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        body = self.body(context, connection)
        context.fence()
        return self._created(context, connection, self.make(connection, body))


class Zone(DesignateResource):
    """A zone."""

    description = 'A zone of the DNS.'
    noun = 'zone'
    aliases: ClassVar[Mapping[str, str]] = {'primaries': 'masters'}
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            _NAME, 'The name, with a dot at the end.', required=True, sent=OWN
        ),
        'ttl': _TTL,
        'description': _DESCRIPTION,
        'email': field(
            fields.TEXT, 'The address for mail; required for PRIMARY.', updatable=True
        ),
        'type': field(
            fields.one_of('PRIMARY', 'SECONDARY'),
            'PRIMARY, or SECONDARY for a copy of a zone of other servers.',
            default='PRIMARY',
        ),
        'primaries': field(
            fields.TEXTS, 'The servers of a SECONDARY zone.', updatable=True, sent=OWN
        ),
        'masters': field(
            fields.TEXTS, 'The former name of `primaries`.', updatable=True
        ),
        'attributes': field(fields.MAP, 'Attributes for the choice of its servers.'),
    }
    attributes: ClassVar[Mapping[str, str]] = {'serial': 'The serial number.'}

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        kind = values.get('type', 'PRIMARY')
        if kind == 'PRIMARY' and 'email' not in values:
            return ['properties.email: is required for the type PRIMARY']
        if kind == 'SECONDARY' and 'masters' not in values:
            return ['properties.primaries: is required for the type SECONDARY']
        return ()

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return the zone of this name, which only one project can have."""
        name = self.name_of(context)
        for found in connection.dns.zones(name=name):
            record, desired = record_of(found), context.properties
            if record.get('email') == desired.get('email', record.get('email')):
                return ResourceInProgress({'step': 'wait'}, 0.0, str(found.id))
        return None


class ZoneDomain(Zone):
    """A zone, under its former name."""

    description = 'A zone of the DNS, under its former name.'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': Zone.properties['name'],
        'ttl': _TTL,
        'description': _DESCRIPTION,
        'email': field(
            fields.TEXT, 'The address for mail.', required=True, updatable=True
        ),
    }


class RecordSet(DesignateResource):
    """The records of one name and type; its physical id has that of the zone, too."""

    description = 'The records of one name and type in a zone.'
    noun = 'recordset'
    label = 'record set'
    zone: ClassVar[str] = 'zone'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            _NAME, 'The name, with a dot at the end; the default is unique.', sent=OWN
        ),
        'ttl': _TTL,
        'description': _DESCRIPTION,
        'type': field(fields.one_of(*_TYPES), 'The type.', required=True),
        'records': field(
            fields.TEXTS, 'The data of the records.', required=True, updatable=True
        ),
        'zone': field(
            fields.TEXT, 'The name or id of the zone.', required=True, sent=OWN
        ),
    }

    def reference(self, context: ResourceContext) -> str:
        """Return the id of the record set."""
        physical_id = context.physical_id or ''
        return physical_id.partition(':')[2] or context.resource_name

    def get(self, connection: Any, physical_id: str) -> Any:
        zone, _, recordset = physical_id.partition(':')
        found = references.missing_as_none(
            lambda: connection.dns.get_recordset(recordset, zone)
        )
        return None if found is None else Link(physical_id, record_of(found))

    def change(self, connection: Any, physical_id: str, body: dict[str, Any]) -> Any:
        zone, _, recordset = physical_id.partition(':')
        found = connection.dns.get_recordset(recordset, zone)
        return connection.dns.update_recordset(found, **body)

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        zone, _, recordset = str(context.physical_id).partition(':')
        # It reads the record set first.
        references.missing_as_none(
            lambda: connection.dns.delete_recordset(recordset, zone)
        )

    def _zone_id(self, context: ResourceContext, connection: Any) -> str:
        return references.ZONE.id_of(connection, context.properties[self.zone])

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        zone = self._zone_id(context, connection)
        body = self.body(context, connection)
        context.fence()
        made = connection.dns.create_recordset(zone, **body)
        link = Link(f'{zone}:{made.id}', record_of(made))
        return self._created(context, connection, link)

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        zone, body = self._zone_id(context, connection), self.body(context, connection)
        for found in connection.dns.recordsets(zone, name=body['name']):
            if (found.name, found.type) == (body['name'], body['type']):
                return ResourceInProgress({'step': 'wait'}, 0.0, f'{zone}:{found.id}')
        return None


class Record(RecordSet):
    """A record, under its former name."""

    description = 'A record in a zone, under its former name.'
    zone = 'domain'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            _NAME, 'The name, with a dot at the end.', required=True, sent=OWN
        ),
        'ttl': _TTL,
        'description': _DESCRIPTION,
        'type': field(fields.one_of(*_TYPES), 'The type.', required=True),
        'data': field(
            fields.TEXT, 'The data.', required=True, updatable=True, sent=OWN
        ),
        'priority': field(
            {'type': 'integer', 'minimum': 0, 'maximum': 65535},
            'The priority of MX and SRV records.',
            updatable=True,
            sent=OWN,
        ),
        'domain': field(
            fields.TEXT, 'The name or id of the zone.', required=True, sent=OWN
        ),
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {**body, 'records': [_data(context.properties)]}

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        if {'data', 'priority'} & set(names):
            body['records'] = [_data(context.properties)]
        return body


def _data(properties: Mapping[str, Any]) -> str:
    """Return the data of a record, with its priority."""
    data, priority = properties['data'], properties.get('priority')
    if properties['type'] in ('MX', 'SRV') and priority is not None:
        return f'{priority} {data}'
    return str(data)
