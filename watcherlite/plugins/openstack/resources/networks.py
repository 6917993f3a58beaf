"""Networks and subnets."""

import ipaddress
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.neutron_resource import (
    ADMIN_STATE_UP,
    CIDR,
    IP_ADDRESS,
    NAME,
    TAGS,
    TENANT_ID,
    VALUE_SPECS,
    ZONE_HINTS,
    NeutronResource,
)
from watcherlite.plugins.resource_handlers.errors import ResourceFault

_IPV6_MODE = fields.one_of('dhcpv6-stateful', 'dhcpv6-stateless', 'slaac')


class Net(NeutronResource):
    """A network."""

    description = 'A network.'
    noun = 'network'
    settled = frozenset({'ACTIVE', 'DOWN'})
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'value_specs': VALUE_SPECS,
        'admin_state_up': ADMIN_STATE_UP,
        'tenant_id': TENANT_ID,
        'shared': field(
            fields.FLAG,
            'Whether all projects may use it; for administrators.',
            default=False,
            updatable=True,
        ),
        'dhcp_agent_ids': field(
            fields.TEXTS,
            'The ids of the DHCP agents that serve it; for administrators.',
            updatable=True,
            sent=OWN,
        ),
        'port_security_enabled': field(
            fields.FLAG, 'The default for its ports.', updatable=True
        ),
        'qos_policy': field(
            fields.TEXT,
            'The name or id of its QoS policy.',
            updatable=True,
            sent='qos_policy_id',
            reference=references.QOS_POLICY,
        ),
        'dns_domain': field(fields.TEXT, 'The DNS domain.', updatable=True),
        'availability_zone_hints': ZONE_HINTS,
        'tags': TAGS,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'status': 'The status.',
        'name': 'The name.',
        'subnets': 'The ids of its subnets.',
        'admin_state_up': 'Whether it is enabled.',
        'tenant_id': 'The id of its project.',
        'port_security_enabled': 'The default for its ports.',
        'mtu': 'The maximum transmission unit in bytes.',
        'qos_policy_id': 'The id of its QoS policy.',
        'l2_adjacency': 'Whether its ports share one segment.',
        'segments': 'Its segments.',
    }

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        agents = context.properties.get('dhcp_agent_ids')
        return not agents and super().is_finished(context, record)

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        if context.properties.get('dhcp_agent_ids'):
            self._schedule(context, connection)
        super().finish(context, connection, found)

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        if 'dhcp_agent_ids' in names:
            self._schedule(context, connection)
        return super().apply(context, connection, names)

    def _schedule(self, context: ResourceContext, connection: Any) -> None:
        """Let exactly the given DHCP agents serve the network."""
        network = connection.network
        desired = set(context.properties.get('dhcp_agent_ids') or ())
        hosting = network.network_hosting_dhcp_agents(context.physical_id)
        present = {agent.id for agent in hosting}
        for agent in sorted(present - desired):
            network.remove_dhcp_agent_from_network(agent, context.physical_id)
        for agent in sorted(desired - present):
            network.add_dhcp_agent_to_network(agent, context.physical_id)


class Subnet(NeutronResource):
    """A subnet of a network."""

    description = 'A subnet of a network.'
    noun = 'subnet'
    needs = ('network',)
    aliases: ClassVar[Mapping[str, str]] = {'network_id': 'network'}
    properties: ClassVar[Mapping[str, Property]] = {
        'network': field(
            fields.TEXT,
            'The name or id of its network; required.',
            sent='network_id',
            reference=references.NETWORK,
        ),
        'network_id': field(fields.TEXT, 'The former name of `network`.', sent=OWN),
        'subnetpool': field(
            fields.TEXT,
            'The name or id of the pool from which its addresses are taken. Required '
            'without `cidr`.',
            sent='subnetpool_id',
            reference=references.SUBNET_POOL,
        ),
        'prefixlen': field(
            {**fields.INTEGER, 'minimum': 0},
            'The length of the prefix taken from the pool.',
        ),
        'cidr': field(CIDR, 'The addresses. Required without `subnetpool`.'),
        'value_specs': VALUE_SPECS,
        'name': NAME,
        'ip_version': field(
            {'type': 'integer', 'enum': [4, 6]}, 'The version of IP.', default=4
        ),
        'dns_nameservers': field(
            fields.TEXTS,
            'The addresses of its DNS servers.',
            default=[],
            updatable=True,
        ),
        'gateway_ip': field(
            {'type': ['string', 'null']},
            'The address of its gateway; null or empty: none. The default is the first '
            'address.',
            updatable=True,
            sent=OWN,
        ),
        'enable_dhcp': field(
            fields.FLAG, 'Whether it has DHCP.', default=True, updatable=True
        ),
        'allocation_pools': field(
            fields.items(
                fields.mapping(
                    {'start': IP_ADDRESS, 'end': IP_ADDRESS}, ['start', 'end']
                )
            ),
            'The ranges of the addresses for ports.',
            updatable=True,
        ),
        'tenant_id': TENANT_ID,
        'host_routes': field(
            fields.items(
                fields.mapping(
                    {'destination': CIDR, 'nexthop': IP_ADDRESS},
                    ['destination', 'nexthop'],
                )
            ),
            'The routes for hosts.',
            updatable=True,
        ),
        'ipv6_ra_mode': field(_IPV6_MODE, 'The mode of router advertisements.'),
        'ipv6_address_mode': field(_IPV6_MODE, 'The mode of addresses.'),
        'segment': field(
            fields.TEXT,
            'The name or id of the segment of the network; it can be set once.',
            updatable=True,
            sent='segment_id',
            reference=references.SEGMENT,
        ),
        'tags': TAGS,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'network_id': 'The id of its network.',
        'tenant_id': 'The id of its project.',
        'allocation_pools': 'The ranges of the addresses for ports.',
        'gateway_ip': 'The address of its gateway.',
        'host_routes': 'The routes for hosts.',
        'ip_version': 'The version of IP.',
        'cidr': 'The addresses.',
        'dns_nameservers': 'The addresses of its DNS servers.',
        'enable_dhcp': 'Whether it has DHCP.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return list(_subnet_problems(values))

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        values = self.values(context.properties)
        if 'gateway_ip' in values and values['gateway_ip'] != 'auto':
            body['gateway_ip'] = values['gateway_ip'] or None
        return body

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        if 'gateway_ip' in names:
            desired = context.properties.get('gateway_ip')
            if desired == 'auto':
                raise ResourceFault(
                    f'{context.resource_name}: gateway_ip can be auto only when the '
                    'subnet is created; give an address'
                )
            body['gateway_ip'] = desired or None
        return body


def _subnet_problems(values: Mapping[str, Any]) -> Iterator[str]:
    pool, cidr = 'subnetpool' in values, 'cidr' in values
    if pool and cidr:
        yield 'properties.subnetpool: cannot be combined with cidr'
    if not pool and not cidr:
        yield 'properties.cidr: one of cidr and subnetpool is required'
    if cidr and values.get('prefixlen'):
        yield 'properties.prefixlen: cannot be combined with cidr'
    modes = {values.get('ipv6_ra_mode'), values.get('ipv6_address_mode')} - {None}
    if modes and values.get('ip_version') == 4:
        yield 'properties.ipv6_ra_mode: the modes of IPv6 need ip_version 6'
    if len(modes) > 1:
        yield 'properties.ipv6_ra_mode: must equal ipv6_address_mode'
    gateway = values.get('gateway_ip')
    if gateway and gateway != 'auto' and not _is_address(gateway):
        yield f'properties.gateway_ip: "{gateway}" is not an IP address'


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
