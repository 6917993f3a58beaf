"""Keypairs, flavors, server groups and host aggregates."""

import json
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import (
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.markers import DescriptionMarker, Marker

_POLICY = fields.one_of(
    'anti-affinity', 'affinity', 'soft-anti-affinity', 'soft-affinity'
)


class KeyPair(CloudResource):
    """A public key for servers; its name is its id."""

    description = 'A public key for servers.'
    service = 'compute'
    noun = 'keypair'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            {**fields.TEXT, 'minLength': 1, 'maxLength': 255},
            'The name, unique for the user.',
            required=True,
        ),
        'save_private_key': field(
            fields.FLAG,
            'Whether the attribute `private_key` has the private key of a generated '
            'pair.',
            default=False,
            sent=OWN,
        ),
        'public_key': field(
            fields.TEXT, 'The public key; without it, a pair is generated.'
        ),
        'type': field(fields.one_of('ssh', 'x509'), 'The type.'),
        'user': field(
            fields.TEXT,
            'The name or id of its user; for administrators.',
            sent='user_id',
            reference=references.USER,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'public_key': 'The public key.',
        'private_key': 'The private key, if `save_private_key` is set.',
    }

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        body = self.body(context, connection)
        context.fence()
        made = self.make(connection, body)
        attributes = dict(self._ready(connection, made).attributes or {})
        kept = context.properties['save_private_key']
        attributes['private_key'] = made.private_key if kept else ''
        return Ready(made.name, attributes)

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return the keypair of this name, if it has the given public key.

        A generated one is not recognised: its private key is lost.
        """
        desired = _key(context.properties.get('public_key'))
        found = self.get(connection, context.properties['name'])
        if found is None or not desired or _key(found.public_key) != desired:
            return None
        return ResourceInProgress({'step': 'wait'}, 0.0, found.name)

    def _ready(self, connection: Any, found: Any) -> Ready:
        record = record_of(found)
        attributes = self.attributes_of(connection, record)
        del attributes['private_key']
        return Ready(found.name, {**attributes, 'show': {'name': found.name}})

    def check(self, context: ResourceContext) -> Result:
        """Check that it exists; its private key is known from its creation."""
        result = super().check(context)
        if isinstance(result, Ready):
            attributes = {**context.attributes, **(result.attributes or {})}
            return Ready(result.physical_id, attributes)
        return result


def _key(text: Any) -> list[str]:
    """Return a public key without its comment."""
    return str(text or '').split()[:2]


class Flavor(CloudResource):
    """A flavor of servers."""

    description = 'A flavor of servers; for administrators.'
    service = 'compute'
    noun = 'flavor'
    marker: ClassVar[Marker] = DescriptionMarker()
    properties: ClassVar[Mapping[str, Property]] = {
        'tenants': field(
            fields.TEXTS,
            'The names or ids of the projects that may use it, if it is not public.',
            default=[],
            updatable=True,
            sent=OWN,
        ),
        'flavorid': field(
            fields.TEXT, 'The id; the default is a generated one.', sent='id'
        ),
        'name': field(fields.TEXT, 'The name; the default is a unique one.', sent=OWN),
        'ram': field(fields.INTEGER, 'The memory in MiB.', required=True),
        'vcpus': field(fields.INTEGER, 'The number of virtual CPUs.', required=True),
        'disk': field(fields.INTEGER, 'The size of the root disk in GiB.', default=0),
        'swap': field(fields.INTEGER, 'The size of the swap in MiB.', default=0),
        'ephemeral': field(
            fields.INTEGER,
            'The size of the ephemeral disk in GiB.',
            default=0,
            sent='OS-FLV-EXT-DATA:ephemeral',
        ),
        'rxtx_factor': field(
            fields.NUMBER, 'The factor of the bandwidth.', default=1.0
        ),
        'extra_specs': field(fields.MAP, 'The extra specs.', updatable=True, sent=OWN),
        'is_public': field(
            fields.FLAG,
            'Whether all projects may use it.',
            default=True,
            sent='os-flavor-access:is_public',
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'is_public': 'Whether all projects may use it.',
        'extra_specs': 'The extra specs.',
    }

    def search(self, connection: Any, filters: Mapping[str, Any]) -> Any:
        return connection.compute.flavors(details=True, is_public=None)

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        desired = context.properties
        return not desired.get('extra_specs') and not desired.get('tenants')

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        self.apply(context, connection, ['extra_specs', 'tenants'])

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        return {}

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        flavor = self.existing(context, connection)
        compute = connection.compute
        if 'extra_specs' in names:
            desired = {
                name: str(value)
                for name, value in (context.properties.get('extra_specs') or {}).items()
            }
            present = record_of(flavor).get('extra_specs') or {}
            for name in present.keys() - desired.keys():
                compute.delete_flavor_extra_specs_property(flavor, name)
            if desired and desired != present:
                compute.create_flavor_extra_specs(flavor, desired)
        if 'tenants' in names and not context.properties['is_public']:
            self._grant(context, connection, flavor)
        return None

    def _grant(self, context: ResourceContext, connection: Any, flavor: Any) -> None:
        compute = connection.compute
        desired = set(
            references.PROJECT.ids_of(connection, context.properties['tenants'])
        )
        present = {item['tenant_id'] for item in compute.get_flavor_access(flavor)}
        for project in sorted(desired - present):
            compute.flavor_add_tenant_access(flavor, project)
        for project in sorted(present - desired):
            compute.flavor_remove_tenant_access(flavor, project)

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            'is_public': record.get('os-flavor-access:is_public'),
            'extra_specs': record.get('extra_specs') or {},
        }


class ServerGroup(CloudResource):
    """A group of servers with a policy for their hosts."""

    description = 'A group of servers with a policy for their hosts.'
    service = 'compute'
    noun = 'server_group'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(fields.TEXT, 'The name; the default is a unique one.', sent=OWN),
        'policies': field(
            {**fields.items(_POLICY), 'minItems': 1, 'maxItems': 1},
            'The policy, as a list of one.',
            default=['anti-affinity'],
            sent=OWN,
        ),
        'rules': field(
            fields.mapping({'max_server_per_host': fields.NUMBER}),
            'The rules of the policy: `max_server_per_host`, for anti-affinity.',
        ),
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {**body, 'policy': context.properties['policies'][0]}

    def _create(self, context: ResourceContext, connection: Any) -> Result:
        """Create it; its name is final, since it cannot be changed."""
        body = self.body(context, connection)
        context.fence()
        return self._ready(connection, self.make(connection, body))

    def _find(self, context: ResourceContext, connection: Any) -> Result:
        """Return an empty group with the name and the policy."""
        body = self.body(context, connection)
        for found in connection.compute.server_groups():
            same = (found.name, found.policy) == (body['name'], body['policy'])
            if same and not found.member_ids:
                return ResourceInProgress({'step': 'wait'}, 0.0, found.id)
        return None

    def _is_to_be_named(
        self, context: ResourceContext, record: Mapping[str, Any]
    ) -> bool:
        return False


class HostAggregate(CloudResource):
    """A group of compute hosts with metadata for the scheduler."""

    description = 'A group of compute hosts; for administrators.'
    service = 'compute'
    noun = 'aggregate'
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            fields.TEXT, 'The name.', required=True, updatable=True, sent=OWN
        ),
        'availability_zone': field(
            fields.TEXT, 'The availability zone of its hosts.', updatable=True
        ),
        'hosts': field(
            fields.TEXTS, 'The names of its hosts.', updatable=True, sent=OWN
        ),
        'metadata': field(
            fields.MAP, 'The metadata.', default={}, updatable=True, sent=OWN
        ),
    }

    def search(self, connection: Any, filters: Mapping[str, Any]) -> Any:
        return connection.compute.aggregates()

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        desired = context.properties
        return not desired.get('hosts') and not desired.get('metadata')

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        self.apply(context, connection, ['hosts', 'metadata'])

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        compute, found = connection.compute, self.existing(context, connection)
        record = record_of(found)
        if 'hosts' in names:
            desired = set(context.properties.get('hosts') or ())
            present = set(record.get('hosts') or ())
            for host in sorted(present - desired):
                compute.remove_host_from_aggregate(found, host)
            for host in sorted(desired - present):
                compute.add_host_to_aggregate(found, host)
        if 'metadata' in names:
            self._set_metadata(context, connection, found)
        return None

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        """Remove its hosts, and delete it."""
        found = self.get(connection, str(context.physical_id))
        if found is None:
            return
        for host in record_of(found).get('hosts') or ():
            connection.compute.remove_host_from_aggregate(found, host)
        super().destroy(connection, context)

    def _set_metadata(
        self, context: ResourceContext, connection: Any, found: Any
    ) -> None:
        desired = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in (context.properties.get('metadata') or {}).items()
        }
        # Nova stores the availability zone in the metadata.
        present = dict(record_of(found).get('metadata') or {})
        present.pop('availability_zone', None)
        removed = dict.fromkeys(present.keys() - desired.keys())
        if removed or desired != present:
            connection.compute.set_aggregate_metadata(found, {**removed, **desired})
