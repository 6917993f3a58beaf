"""The networks of a server: its ports, those created for it, and floating IPs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, ports, references
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.fields import Field
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.openstack.resources.neutron_resource import IP_ADDRESS

SCHEMA = fields.mapping(
    {
        'network': fields.TEXT,
        'uuid': fields.TEXT,
        'allocate_network': fields.one_of('none', 'auto'),
        'fixed_ip': IP_ADDRESS,
        'port': fields.TEXT,
        'port_extra_properties': fields.mapping(
            {name: declared.schema for name, declared in ports.EXTRA.items()}
        ),
        'subnet': fields.TEXT,
        'floating_ip': fields.TEXT,
        'tag': fields.TEXT,
    }
)
#: One of them is needed.
_TARGETS = ('port', 'network', 'uuid', 'subnet', 'allocate_network')


def problems(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of one network."""
    if not any(name in item for name in _TARGETS):
        yield 'one of port, network, subnet and allocate_network is required'
    if 'uuid' in item and 'network' in item:
        yield 'uuid cannot be combined with network'
    if 'port' in item and 'fixed_ip' in item:
        yield 'fixed_ip cannot be combined with port, which has its own addresses'
    if 'allocate_network' in item and len(item) > 1:
        yield 'allocate_network cannot be combined with other keys'


def requested(context: ResourceContext, connection: Any) -> Any:
    """Return the networks for the request that creates a server.

    The ports of subnets, and those with extra properties, are created here.
    """
    desired = _networks(context)
    if not desired:
        return 'auto'
    if desired[0].get('allocate_network'):
        return desired[0]['allocate_network']
    made = []
    for at, item in enumerate(desired):
        one = _request(context, connection, at, item)
        made.append({**one, 'tag': item['tag']} if item.get('tag') else one)
    return made


def associate(context: ResourceContext, connection: Any) -> None:
    """Associate the floating IPs of the networks."""
    for item in _networks(context):
        if not item.get('floating_ip'):
            continue
        for interface in _interfaces(context, connection):
            if _is_interface_of(context, connection, item, interface):
                connection.network.update_ip(
                    item['floating_ip'], port_id=interface['port_id']
                )
                break


def change(
    context: ResourceContext, connection: Any, before: Sequence[Mapping[str, Any]]
) -> None:
    """Detach networks that the server no longer has, and attach new ones."""
    free = _interfaces(context, connection)
    missing = []
    for at, item in enumerate(_networks(context)):
        match = _match(context, connection, item, free)
        if match is None:
            missing.append((at, item))
        else:
            free.remove(match)
    for item in before:
        match = _match(context, connection, item, free)
        if match is not None:
            free.remove(match)
            context.fence()
            connection.compute.delete_server_interface(
                match['port_id'], server=context.physical_id, ignore_missing=True
            )
    for at, item in missing:
        one = _request(context, connection, at, item)
        body = {'port_id': one['port']} if 'port' in one else {'net_id': one['uuid']}
        if one.get('fixed_ip'):
            body['fixed_ips'] = [{'ip_address': one['fixed_ip']}]
        context.fence()
        connection.compute.create_server_interface(context.physical_id, **body)
    associate(context, connection)


def with_ports(
    addresses: Mapping[str, Any], ports: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the attributes with the addresses, by names and ids of networks.

    :param addresses: of nova, by names of networks
    :param ports: of neutron, by MAC addresses
    """
    found: dict[str, Any] = {}
    for name, items in addresses.items():
        shown = []
        for item in items:
            port = ports.get(item.get('OS-EXT-IPS-MAC:mac_addr'))
            shown.append({**item, 'port': getattr(port, 'id', None)})
            if port is not None:
                found[str(port.network_id)] = shown
        found[name] = shown
    networks = {
        name: [item.get('addr') for item in items] for name, items in found.items()
    }
    return {'addresses': found, 'networks': networks}


def remove_ports(context: ResourceContext, connection: Any) -> None:
    """Delete the ports that were created for a server."""
    if not any(_needs_port(item) for item in _networks(context)):
        return
    for port in connection.network.ports(name=_port_name(context)):
        connection.network.delete_port(port.id, ignore_missing=True)


def _networks(context: ResourceContext) -> list[Mapping[str, Any]]:
    return list(context.properties.get('networks') or ())


def _needs_port(item: Mapping[str, Any]) -> bool:
    """Return whether a port is created for a network."""
    extra = item.get('subnet') or item.get('port_extra_properties')
    return not item.get('port') and bool(extra)


def _request(
    context: ResourceContext, connection: Any, at: int, item: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one network of a request."""
    if item.get('port'):
        return {'port': references.PORT.id_of(connection, item['port'])}
    if _needs_port(item):
        return {'port': _port(context, connection, at, item)}
    made = {'uuid': references.NETWORK.id_of(connection, _network(item))}
    if item.get('fixed_ip'):
        made['fixed_ip'] = item['fixed_ip']
    return made


def _network(item: Mapping[str, Any]) -> Any:
    return item.get('network') or item.get('uuid')


def _port_name(context: ResourceContext) -> str:
    return f'{context.physical_name}-port'


def _port(
    context: ResourceContext, connection: Any, at: int, item: Mapping[str, Any]
) -> str:
    """Return the id of the port for a network; create it if it does not exist."""
    mark = f'{KEY}:{context.resource_uuid}:{at}'
    for found in connection.network.ports(name=_port_name(context), description=mark):
        return str(found.id)
    body: dict[str, Any] = {'name': _port_name(context), 'description': mark}
    fixed = {}
    if item.get('subnet'):
        subnet = references.SUBNET.find(connection, item['subnet'])
        fixed['subnet_id'], body['network_id'] = subnet.id, subnet.network_id
    if _network(item):
        body['network_id'] = references.NETWORK.id_of(connection, _network(item))
    if item.get('fixed_ip'):
        fixed['ip_address'] = item['fixed_ip']
    if fixed:
        body['fixed_ips'] = [fixed]
    groups = context.properties.get('security_groups')
    if groups:
        body['security_groups'] = references.SECURITY_GROUP.ids_of(connection, groups)
    extra = dict(item.get('port_extra_properties') or {})
    for name, value in extra.items():
        declared = ports.EXTRA.get(name)
        if name == 'no_fixed_ips':
            if value:
                body['fixed_ips'] = []
        elif name == 'value_specs':
            body |= value
        elif isinstance(declared, Field):
            if declared.reference is not None:
                value = declared.reference.ids_of(connection, value)
            body[declared.sent or name] = value
    context.fence()
    return str(connection.network.create_port(**body).id)


def _interfaces(context: ResourceContext, connection: Any) -> list[dict[str, Any]]:
    interfaces = connection.compute.server_interfaces(context.physical_id)
    return [record_of(interface) for interface in interfaces]


def _match(
    context: ResourceContext,
    connection: Any,
    item: Mapping[str, Any],
    interfaces: Sequence[dict[str, Any]],
) -> dict[str, Any] | None:
    for interface in interfaces:
        if _is_interface_of(context, connection, item, interface):
            return interface
    return None


def _is_interface_of(
    context: ResourceContext,
    connection: Any,
    item: Mapping[str, Any],
    interface: Mapping[str, Any],
) -> bool:
    """Return whether an interface is that of a network."""
    fixed = interface.get('fixed_ips') or ()
    if item.get('port'):
        port = references.PORT.id_of(connection, item['port'])
        return bool(interface.get('port_id') == port)
    if item.get('fixed_ip'):
        return any(one.get('ip_address') == item['fixed_ip'] for one in fixed)
    if item.get('subnet'):
        subnet = references.SUBNET.id_of(connection, item['subnet'])
        return any(one.get('subnet_id') == subnet for one in fixed)
    if _network(item):
        network = references.NETWORK.id_of(connection, _network(item))
        return bool(interface.get('net_id') == network)
    return False
