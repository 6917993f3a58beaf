"""Routers and their interfaces."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.links import Link, LinkResource
from watcherlite.plugins.openstack.resources.neutron_resource import (
    ADMIN_STATE_UP,
    IP_ADDRESS,
    NAME,
    TAGS,
    TENANT_ID,
    VALUE_SPECS,
    ZONE_HINTS,
    NeutronResource,
)
from watcherlite.plugins.openstack.resources.references import missing_as_none
from watcherlite.plugins.resource_handlers.errors import ResourceFault


class Router(NeutronResource):
    """A router."""

    description = 'A router.'
    noun = 'router'
    settled = frozenset({'ACTIVE', 'DOWN'})
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'external_gateway_info': field(
            fields.mapping(
                {
                    'network': fields.TEXT,
                    'enable_snat': fields.FLAG,
                    'external_fixed_ips': fields.items(
                        fields.mapping(
                            {'ip_address': IP_ADDRESS, 'subnet': fields.TEXT}
                        )
                    ),
                },
                ['network'],
            ),
            'Its gateway: a `network` by name or id, and optionally `enable_snat` and '
            '`external_fixed_ips`, each with an `ip_address` or a `subnet`.',
            updatable=True,
            sent=OWN,
        ),
        'value_specs': VALUE_SPECS,
        'admin_state_up': ADMIN_STATE_UP,
        'l3_agent_id': field(
            fields.TEXT, 'The id of its L3 agent.', updatable=True, sent=OWN
        ),
        'l3_agent_ids': field(
            fields.TEXTS,
            'The ids of its L3 agents; for administrators.',
            updatable=True,
            sent=OWN,
        ),
        'distributed': field(fields.FLAG, 'Whether it is distributed.'),
        'ha': field(fields.FLAG, 'Whether it is highly available.'),
        'availability_zone_hints': ZONE_HINTS,
        'tags': TAGS,
        'tenant_id': TENANT_ID,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'status': 'The status.',
        'external_gateway_info': 'Its gateway.',
        'name': 'The name.',
        'admin_state_up': 'Whether it is enabled.',
        'tenant_id': 'The id of its project.',
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return list(_router_problems(values))

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        if context.properties.get('external_gateway_info'):
            body['external_gateway_info'] = _gateway(context, connection)
        return body

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        if 'external_gateway_info' in names:
            body['external_gateway_info'] = _gateway(context, connection)
        return body

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return not _agents(context) and super().is_finished(context, record)

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        if _agents(context):
            _schedule(context, connection)
        super().finish(context, connection, found)

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        if {'l3_agent_id', 'l3_agent_ids'} & set(names):
            _schedule(context, connection)
        return super().apply(context, connection, names)


def _router_problems(values: Mapping[str, Any]) -> Iterator[str]:
    one, several = values.get('l3_agent_id'), values.get('l3_agent_ids')
    if one and several:
        yield 'properties.l3_agent_id: cannot be combined with l3_agent_ids'
    if values.get('distributed') and (one or several):
        yield 'properties.distributed: a distributed router has no given L3 agents'
    if values.get('distributed') and values.get('ha'):
        yield 'properties.distributed: cannot be combined with ha'
    if several and len(several) > 1 and not values.get('ha'):
        yield 'properties.l3_agent_ids: only a router with ha can have several'


def _gateway(context: ResourceContext, connection: Any) -> dict[str, Any] | None:
    """Return the gateway for a request; None: it has none."""
    desired = context.properties.get('external_gateway_info')
    if not desired:
        return None
    made: dict[str, Any] = {
        'network_id': references.NETWORK.id_of(connection, desired['network'])
    }
    if desired.get('enable_snat') is not None:
        made['enable_snat'] = desired['enable_snat']
    if desired.get('external_fixed_ips'):
        made['external_fixed_ips'] = [
            _fixed_ip(item, connection) for item in desired['external_fixed_ips']
        ]
    return made


def _fixed_ip(item: Mapping[str, Any], connection: Any) -> dict[str, Any]:
    made = {}
    if item.get('ip_address'):
        made['ip_address'] = item['ip_address']
    if item.get('subnet'):
        made['subnet_id'] = references.SUBNET.id_of(connection, item['subnet'])
    return made


def _agents(context: ResourceContext) -> list[str]:
    """Return the ids of the L3 agents that are to serve a router."""
    one = context.properties.get('l3_agent_id')
    return [one] if one else list(context.properties.get('l3_agent_ids') or ())


def _schedule(context: ResourceContext, connection: Any) -> None:
    """Let exactly the given L3 agents serve a router."""
    network, router = connection.network, context.physical_id
    desired = set(_agents(context))
    present = {agent.id for agent in network.routers_hosting_l3_agents(router)}
    for agent in sorted(present - desired):
        network.remove_router_from_agent(agent, router)
    for agent in sorted(desired - present):
        network.add_router_to_agent(agent, router)


class RouterInterface(LinkResource):
    """An interface of a router to a subnet, or to a port."""

    description = 'An interface of a router to a subnet or a port.'
    service = 'network'
    noun = 'router_interface'
    needs = ('router',)
    aliases: ClassVar[Mapping[str, str]] = {
        'router_id': 'router',
        'subnet_id': 'subnet',
        'port_id': 'port',
    }
    properties: ClassVar[Mapping[str, Property]] = {
        'router': field(fields.TEXT, 'The name or id of the router; required.'),
        'router_id': field(fields.TEXT, 'The former name of `router`.'),
        'subnet': field(fields.TEXT, 'The name or id of the subnet, or'),
        'subnet_id': field(fields.TEXT, 'The former name of `subnet`.'),
        'port': field(fields.TEXT, 'the name or id of the port.'),
        'port_id': field(fields.TEXT, 'The former name of `port`.'),
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        if 'subnet' in values and 'port' in values:
            return ['properties.subnet: cannot be combined with port']
        if 'subnet' not in values and 'port' not in values:
            return ['properties.subnet: one of subnet and port is required']
        return ()

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        values = self.values(context.properties)
        router = references.ROUTER.id_of(connection, values['router'])
        if values.get('subnet'):
            subnet = references.SUBNET.id_of(connection, values['subnet'])
            return f'{router}:subnet_id={subnet}'
        port = references.PORT.id_of(connection, values['port'])
        return f'{router}:port_id={port}'

    def join(self, context: ResourceContext, connection: Any) -> Link:
        made = self.link_id(context, connection)
        connection.network.add_interface_to_router(*_ends(made))
        return Link(made)

    def get(self, connection: Any, physical_id: str) -> Any:
        router, subnet, port = _ends(physical_id)
        ports = connection.network.ports(device_id=router)
        for found in ports:
            subnets = {item.get('subnet_id') for item in found.fixed_ips or ()}
            if found.id == port or (subnet is not None and subnet in subnets):
                return Link(physical_id)
        return None

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        ends = _ends(str(context.physical_id))
        if self.get(connection, str(context.physical_id)) is not None:
            connection.network.remove_interface_from_router(*ends)


def _ends(physical_id: str) -> tuple[str, str | None, str | None]:
    """Return the ids of the router, and of the subnet or the port."""
    router, _, other = physical_id.partition(':')
    kind, _, value = other.partition('=')
    if not value or kind not in ('subnet_id', 'port_id'):
        raise ResourceFault(
            f'{physical_id} is not of the form router:subnet_id=subnet or '
            'router:port_id=port'
        )
    return (
        router,
        value if kind == 'subnet_id' else None,
        (value if kind == 'port_id' else None),
    )


class RouterGateway(LinkResource):
    """The gateway of a router to an external network."""

    description = 'The gateway of a router to an external network.'
    service = 'network'
    noun = 'router_gateway'
    needs = ('router', 'network')
    aliases: ClassVar[Mapping[str, str]] = {
        'router_id': 'router',
        'network_id': 'network',
    }
    properties: ClassVar[Mapping[str, Property]] = {
        'router': field(fields.TEXT, 'The name or id of the router; required.'),
        'router_id': field(fields.TEXT, 'The former name of `router`.'),
        'network': field(fields.TEXT, 'The name or id of the network; required.'),
        'network_id': field(fields.TEXT, 'The former name of `network`.'),
    }

    def link_id(self, context: ResourceContext, connection: Any) -> str:
        values = self.values(context.properties)
        router = references.ROUTER.id_of(connection, values['router'])
        network = references.NETWORK.id_of(connection, values['network'])
        return f'{router}:{network}'

    def join(self, context: ResourceContext, connection: Any) -> Link:
        made = self.link_id(context, connection)
        router, _, network = made.partition(':')
        connection.network.update_router(
            router, external_gateway_info={'network_id': network}
        )
        return Link(made)

    def get(self, connection: Any, physical_id: str) -> Any:
        router, _, network = physical_id.partition(':')
        found = missing_as_none(lambda: connection.network.get_router(router))
        gateway = record_of(found).get('external_gateway_info') if found else None
        if (gateway or {}).get('network_id') != network:
            return None
        return Link(physical_id, {'external_gateway_info': gateway})

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        physical_id = str(context.physical_id)
        if self.get(connection, physical_id) is not None:
            router = physical_id.partition(':')[0]
            connection.network.update_router(router, external_gateway_info={})
