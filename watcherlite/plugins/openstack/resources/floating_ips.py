"""Floating IPs, and their association with ports."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, Result
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    CloudResource,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.links import Link, LinkResource
from watcherlite.plugins.openstack.resources.markers import DescriptionMarker, Marker
from watcherlite.plugins.openstack.resources.neutron_resource import (
    IP_ADDRESS,
    VALUE_SPECS,
    NeutronResource,
)
from watcherlite.plugins.openstack.resources.references import missing_as_none
from watcherlite.plugins.resource_handlers.errors import ResourceFault


class FloatingIP(NeutronResource):
    """An address of an external network."""

    description = 'An address of an external network.'
    noun = 'ip'
    label = 'floating IP'
    needs = ('floating_network',)
    aliases: ClassVar[Mapping[str, str]] = {'floating_network_id': 'floating_network'}
    properties: ClassVar[Mapping[str, Property]] = {
        'floating_network': field(
            fields.TEXT,
            'The name or id of the external network; required.',
            sent='floating_network_id',
            reference=references.NETWORK,
        ),
        'floating_network_id': field(
            fields.TEXT, 'The former name of `floating_network`.', sent=OWN
        ),
        'floating_subnet': field(
            fields.TEXT,
            'The name or id of the subnet of the address.',
            sent='subnet_id',
            reference=references.SUBNET,
        ),
        'value_specs': field(fields.MAP, VALUE_SPECS.description, default={}, sent=OWN),
        'port_id': field(
            fields.TEXT,
            'The name or id of the port that it belongs to.',
            updatable=True,
            reference=references.PORT,
        ),
        'fixed_ip_address': field(
            IP_ADDRESS, 'The address of the port, if it has several.', updatable=True
        ),
        'floating_ip_address': field(IP_ADDRESS, 'The address.'),
        'dns_name': field(fields.TEXT, 'The DNS name.', updatable=True),
        'dns_domain': field(fields.TEXT, 'The DNS domain.', updatable=True),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'router_id': 'The id of the router.',
        'tenant_id': 'The id of its project.',
        'floating_network_id': 'The id of the external network.',
        'fixed_ip_address': 'The address of the port.',
        'floating_ip_address': 'The address.',
        'port_id': 'The id of the port.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        if 'fixed_ip_address' in values and 'port_id' not in values:
            return ['properties.fixed_ip_address: requires port_id']
        return ()

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        if {'port_id', 'fixed_ip_address'} & set(names):
            desired = context.properties
            body['port_id'] = references.PORT.ids_of(connection, desired.get('port_id'))
            body['fixed_ip_address'] = desired.get('fixed_ip_address')
        return body


class FloatingIPAssociation(LinkResource):
    """The association of a floating IP with a port."""

    description = 'The association of a floating IP with a port.'
    service = 'network'
    noun = 'ip'
    label = 'association of the floating IP'
    properties: ClassVar[Mapping[str, Property]] = {
        'floatingip_id': field(
            fields.TEXT, 'The id of the floating IP.', required=True, updatable=True
        ),
        'port_id': field(
            fields.TEXT, 'The name or id of the port.', required=True, updatable=True
        ),
        'fixed_ip_address': field(
            IP_ADDRESS, 'The address of the port, if it has several.', updatable=True
        ),
    }

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        desired = context.properties
        port = references.PORT.id_of(connection, desired['port_id'])
        return f'{desired["floatingip_id"]}:{port}'

    def join(self, context: ResourceContext, connection: Any) -> Link:
        made = self.link_id(context, connection)
        floating_ip, _, port = made.partition(':')
        connection.network.update_ip(
            floating_ip,
            port_id=port,
            fixed_ip_address=context.properties.get('fixed_ip_address'),
        )
        return Link(made)

    def get(self, connection: Any, physical_id: str) -> Any:
        floating_ip, _, port = physical_id.partition(':')
        found = missing_as_none(lambda: connection.network.get_ip(floating_ip))
        if found is None or record_of(found).get('port_id') != port:
            return None
        return Link(physical_id)

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        self._part(connection, str(context.physical_id))

    def _update(self, context: ResourceContext, connection: Any) -> Result:
        """Associate the new objects; only the former floating IP is given up."""
        made = self.link_id(context, connection)
        context.fence()
        if made.partition(':')[0] != str(context.physical_id).partition(':')[0]:
            self._part(connection, str(context.physical_id))
        return self._created(context, connection, self.join(context, connection))

    def _part(self, connection: Any, physical_id: str) -> None:
        """End an association, unless the floating IP has another port by now."""
        if self.get(connection, physical_id) is not None:
            connection.network.update_ip(physical_id.partition(':')[0], port_id=None)


class ServerFloatingIP(CloudResource):
    """An address of an external network, as the compute service had them."""

    description = 'An address of an external network, in the form of the compute API.'
    service = 'network'
    noun = 'ip'
    label = 'floating IP'
    marker: ClassVar[Marker] = DescriptionMarker()
    properties: ClassVar[Mapping[str, Property]] = {
        'pool': field(
            fields.TEXT,
            'The name or id of the external network; the default is the only one.',
            sent=OWN,
        )
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'pool': 'The id of the external network.',
        'ip': 'The address.',
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        return {'floating_network_id': _pool_id(context, connection)}

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            'pool': record.get('floating_network_id'),
            'ip': record.get('floating_ip_address'),
        }


def _pool_id(context: ResourceContext, connection: Any) -> str:
    """Return the id of the external network of an address."""
    desired = context.properties.get('pool')
    if desired:
        return references.NETWORK.id_of(connection, desired)
    found = list(connection.network.networks(is_router_external=True))
    if len(found) != 1:
        raise ResourceFault(
            f'{context.resource_name}: there are {len(found)} external networks; set '
            'pool to the name or id of one'
        )
    return str(found[0].id)


class ServerFloatingIPAssociation(FloatingIPAssociation):
    """The association of a floating IP with the first port of a server."""

    description = 'The association of a floating IP with the first port of a server.'
    properties: ClassVar[Mapping[str, Property]] = {
        'server_id': field(
            fields.TEXT, 'The name or id of the server.', required=True, updatable=True
        ),
        'floating_ip': field(
            fields.TEXT, 'The id of the floating IP.', required=True, updatable=True
        ),
    }

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        desired = context.properties
        port = first_port_id(context, connection, desired['server_id'])
        return f'{desired["floating_ip"]}:{port}'


def first_port_id(context: ResourceContext, connection: Any, server: str) -> str:
    """Return the id of the first port of a server.

    :param server: its name or id
    """
    server_id = references.SERVER.id_of(connection, server)
    port = next(iter(connection.network.ports(device_id=server_id)), None)
    if port is None:
        raise ResourceFault(
            f'{context.resource_name}: the server {server_id} has no port'
        )
    return str(port.id)
