"""Leases and hosts of blazar."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.rest_resource import RestResource

_TIME: Mapping[str, Any] = {
    'type': 'string',
    'pattern': r'^\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}$',
    'description': 'a time like 2030-01-31 10:00',
}
_AMOUNT: Mapping[str, Any] = {'type': 'integer', 'minimum': 0, 'maximum': 2**31 - 1}
_HOSTS: Mapping[str, Any] = {'type': 'integer', 'minimum': 1}
_HOST, _SERVER = 'physical:host', 'virtual:instance'
#: The type of a reservation -> the keys that are sent for it.
_KEYS = {
    _HOST: ('min', 'max', 'hypervisor_properties', 'resource_properties', 'before_end'),
    _SERVER: (
        'amount',
        'vcpus',
        'memory_mb',
        'disk_gb',
        'affinity',
        'resource_properties',
    ),
}


class BlazarResource(RestResource):
    """An object of blazar: requests have its attributes, responses the object."""

    service = 'reservation'
    version = 'v1'

    def wrapped(self, body: Mapping[str, Any]) -> Any:
        return dict(body)


class Lease(BlazarResource):
    """A lease of hosts or servers."""

    description = 'A lease of hosts or servers.'
    noun = 'lease'
    path = '/leases'
    wrapper = 'lease'
    listing = 'leases'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(fields.TEXT, 'The name.', required=True, sent=OWN),
        'start_date': field(_TIME, 'The start, in UTC.', required=True, sent='start'),
        'end_date': field(_TIME, 'The end, in UTC.', required=True, sent='end'),
        'before_end_date': field(_TIME, 'The time of the actions before the end.'),
        'reservations': field(
            fields.items(
                fields.mapping(
                    {
                        'resource_type': fields.one_of(_SERVER, _HOST),
                        'min': _HOSTS,
                        'max': _HOSTS,
                        'hypervisor_properties': fields.TEXT,
                        'resource_properties': fields.TEXT,
                        'before_end': {
                            **fields.one_of('default', 'snapshot'),
                            'default': 'default',
                        },
                        'amount': _AMOUNT,
                        'vcpus': _AMOUNT,
                        'memory_mb': _AMOUNT,
                        'disk_gb': _AMOUNT,
                        'affinity': {**fields.FLAG, 'default': False},
                    },
                    ['resource_type'],
                )
            ),
            'The reservations: `min` to `max` hosts, or an `amount` of servers of a '
            'size.',
            required=True,
            sent=OWN,
        ),
        'events': field(
            fields.items(
                fields.mapping(
                    {'event_type': fields.TEXT, 'time': _TIME}, ['event_type', 'time']
                )
            ),
            'The events: each an `event_type` and a `time`.',
            default=[],
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'start_date': 'The start.',
        'end_date': 'The end.',
        'created_at': 'The time of its creation.',
        'updated_at': 'The time of its last change.',
        'status': 'The status.',
        'degraded': 'Whether less is reserved than was requested.',
        'user_id': 'The id of its user.',
        'project_id': 'The id of its project.',
        'trust_id': 'The id of its trust.',
        'reservations': 'The reservations.',
        'events': 'The events.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return list(_lease_problems(values))

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        reservations = [
            {
                'resource_type': item['resource_type'],
                **{
                    key: item[key]
                    for key in _KEYS[item['resource_type']]
                    if item.get(key) is not None
                },
            }
            for item in context.properties['reservations']
        ]
        given = {name: value for name, value in body.items() if value is not None}
        return {**given, 'reservations': reservations}


def _lease_problems(values: Mapping[str, Any]) -> Iterator[str]:
    start, end = values.get('start_date'), values.get('end_date')
    if start is not None and end is not None and start >= end:
        yield f'properties.end_date: {end} is not after start_date, {start}'
    for at, item in enumerate(values.get('reservations') or ()):
        least, most = (item or {}).get('min'), (item or {}).get('max')
        if least is not None and most is not None and least > most:
            yield f'properties.reservations.{at}.min: {least} is more than max, {most}'


class Host(BlazarResource):
    """A compute host that can be reserved."""

    description = 'A compute host that can be reserved; for administrators.'
    noun = 'host'
    path = '/os-hosts'
    wrapper = 'host'
    listing = 'hosts'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(fields.TEXT, 'The name of the host.', required=True, sent=OWN),
        'extra_capability': field(
            fields.MAP, 'Further properties of the host, for reservations.', sent=OWN
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'hypervisor_hostname': 'The name of the hypervisor.',
        'hypervisor_type': 'The type of the hypervisor.',
        'hypervisor_version': 'The version of the hypervisor.',
        'vcpus': 'The number of virtual CPUs.',
        'cpu_info': 'The properties of the CPU.',
        'memory_mb': 'The memory in MiB.',
        'local_gb': 'The size of the disk in GiB.',
        'service_name': 'The name of the compute service.',
        'reservable': 'Whether it can be reserved.',
        'status': 'The status.',
        'trust_id': 'The id of its trust.',
        'extra_capability': 'Its further properties.',
        'created_at': 'The time of its creation.',
        'updated_at': 'The time of its last change.',
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        extra = dict(context.properties.get('extra_capability') or {})
        return {**extra, 'name': self.name_of(context)}

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        body = self.body(context, connection)
        context.fence()
        return self._created(context, connection, self.make(connection, body))

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return the host of this name, of which there is one."""
        for found in self.search(connection, {}):
            if found.record.get('hypervisor_hostname') == self.name_of(context):
                return ResourceInProgress({'step': 'wait'}, 0.0, found.id)
        return None

    def _delete(self, context: ResourceContext, connection: Any, tries: int) -> Result:
        if context.physical_id is None:
            # A host of this name may belong to others.
            return None
        return super()._delete(context, connection, tries)

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False
