"""The networks of a server: its ports, those created for it, and floating IPs."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, ports, references
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.fields import Field
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.openstack.resources.neutron_resource import IP_ADDRESS
from watcherlite.plugins.resource_handlers.errors import ResourceFault

#: The mark of what is created for a network, and the network.
Marked = tuple[str, Mapping[str, Any]]
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
    for mark, item in _marked(context, desired):
        one = _request(context, connection, mark, item)
        made.append({**one, 'tag': item['tag']} if item.get('tag') else one)
    return made


def has_floating(context: ResourceContext) -> bool:
    """Return whether a network of the server has a floating IP."""
    return any(_is_floating(item) for item in _networks(context))


def associate(context: ResourceContext, connection: Any) -> None:
    """Associate the floating IPs of the networks; create those of a network."""
    if not has_floating(context):
        return
    free = _interfaces(context, connection)
    desired = list(_marked(context, _networks(context)))
    created = _created_ports(context, connection, desired)
    for mark, item in desired:
        interface = _match(connection, mark, item, free, created)
        if interface is None:
            continue
        free.remove(interface)
        if _is_floating(item):
            _associate(context, connection, mark, item, interface['port_id'])


def change(
    context: ResourceContext,
    connection: Any,
    before: Sequence[Mapping[str, Any]],
    started: bool,
) -> bool:
    """Detach networks that the server no longer has, and attach new ones.

    :param before: its former networks
    :param started: whether the detachments have been requested
    :returns: whether it is done; False: nova is still detaching
    """
    desired = list(_marked(context, _networks(context)))
    former = list(_marked(context, before))
    created = _created_ports(context, connection, [*desired, *former])
    free = _interfaces(context, connection)
    missing = []
    for mark, item in desired:
        match = _match(connection, mark, item, free, created)
        if match is None:
            missing.append((mark, item))
        else:
            free.remove(match)
    leaving = []
    for mark, item in former:
        match = _match(connection, mark, item, free, created)
        if match is not None:
            free.remove(match)
            leaving.append(match)
    for match in () if started else leaving:
        context.fence()
        connection.compute.delete_server_interface(
            match['port_id'], server=context.physical_id, ignore_missing=True
        )
    for mark, item in missing:
        one = _request(context, connection, mark, item)
        body = {'port_id': one['port']} if 'port' in one else {'net_id': one['uuid']}
        if one.get('fixed_ip'):
            body['fixed_ips'] = [{'ip_address': one['fixed_ip']}]
        context.fence()
        connection.compute.create_server_interface(context.physical_id, **body)
    if leaving:
        return False
    associate(context, connection)
    marks = {mark for mark, _ in desired}
    _remove(context, connection, [one for one in former if one[0] not in marks])
    return True


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


def remove_created(context: ResourceContext, connection: Any) -> None:
    """Delete the ports and floating IPs that were created for a server."""
    _remove(context, connection, list(_marked(context, _networks(context))))


def _remove(
    context: ResourceContext, connection: Any, created_for: Iterable[Marked]
) -> None:
    """Delete the ports and floating IPs that were created for some networks."""
    marks = set()
    for mark, item in created_for:
        if item.get('floating_network'):
            for ip in list(connection.network.ips(description=mark)):
                connection.network.delete_ip(ip.id, ignore_missing=True)
        if _needs_port(item):
            marks.add(mark)
    if not marks:
        return
    for port in list(connection.network.ports(name=_port_name(context))):
        if port.description in marks:
            connection.network.delete_port(port.id, ignore_missing=True)


def _networks(context: ResourceContext) -> list[Mapping[str, Any]]:
    return list(context.properties.get('networks') or ())


def _marked(
    context: ResourceContext, networks: Sequence[Mapping[str, Any]]
) -> Iterator[Marked]:
    """Yield the networks, each with the mark of what is created for it.

    The mark depends on the network, not on its place, which an update may change.
    """
    seen: dict[str, int] = {}
    for item in networks:
        text = json.dumps(item, sort_keys=True)
        seen[text] = times = seen.get(text, 0) + 1
        digest = hashlib.sha256(f'{times}:{text}'.encode()).hexdigest()[:16]
        yield f'{KEY}:{context.resource_uuid}:{digest}', item


def _needs_port(item: Mapping[str, Any]) -> bool:
    """Return whether a port is created for a network."""
    names = 'subnet', 'security_groups', 'port_extra_properties'
    return not item.get('port') and any(item.get(name) for name in names)


def _is_floating(item: Mapping[str, Any]) -> bool:
    return bool(item.get('floating_ip') or item.get('floating_network'))


def _associate(
    context: ResourceContext,
    connection: Any,
    mark: str,
    item: Mapping[str, Any],
    port: str,
) -> None:
    """Associate the floating IP of a network with a port."""
    network, address = connection.network, item.get('floating_ip')
    if not item.get('floating_network'):
        network.update_ip(
            references.FLOATING_IP.id_of(connection, address), port_id=port
        )
        return
    present = next(iter(network.ips(description=mark)), None)
    if present is None and address:
        present = network.find_ip(address, ignore_missing=True)
        if present is not None and present.port_id not in (None, port):
            raise ResourceFault(
                f'{context.resource_name}: the floating IP {address} has been used'
            )
    if present is not None:
        if present.port_id != port:
            network.update_ip(present.id, port_id=port)
        return
    target = references.NETWORK.id_of(connection, item['floating_network'])
    body = {'floating_network_id': target, 'port_id': port, 'description': mark}
    if address:
        body['floating_ip_address'] = address
    context.fence()
    network.create_ip(**body)


def _request(
    context: ResourceContext, connection: Any, mark: str, item: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one network of a request."""
    if item.get('port'):
        return {'port': references.PORT.id_of(connection, item['port'])}
    if _needs_port(item):
        return {'port': _port(context, connection, mark, item)}
    made = {'uuid': references.NETWORK.id_of(connection, _network(item))}
    if item.get('fixed_ip'):
        made['fixed_ip'] = item['fixed_ip']
    return made


def _network(item: Mapping[str, Any]) -> Any:
    return item.get('network') or item.get('uuid')


def _port_name(context: ResourceContext) -> str:
    return f'{context.physical_name}-port'


def _port(
    context: ResourceContext, connection: Any, mark: str, item: Mapping[str, Any]
) -> str:
    """Return the id of the port for a network; create it if it does not exist."""
    found = _existing_port(context, connection, mark)
    if found is not None:
        return found
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
    groups = item.get('security_groups') or context.properties.get('security_groups')
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


def _existing_port(context: ResourceContext, connection: Any, mark: str) -> str | None:
    """Return the id of the port that was created for a network."""
    for found in connection.network.ports(name=_port_name(context), description=mark):
        return str(found.id)
    return None


def _interfaces(context: ResourceContext, connection: Any) -> list[dict[str, Any]]:
    interfaces = connection.compute.server_interfaces(context.physical_id)
    return [record_of(interface) for interface in interfaces]


def _created_ports(
    context: ResourceContext, connection: Any, networks: Sequence[Marked]
) -> dict[str, str]:
    """Return the marks of the ports that were created for networks, by their ids."""
    if not any(_needs_port(item) for _, item in networks):
        return {}
    ports_of_server = connection.network.ports(name=_port_name(context))
    return {str(port.id): str(port.description) for port in ports_of_server}


def _match(
    connection: Any,
    mark: str,
    item: Mapping[str, Any],
    interfaces: Sequence[dict[str, Any]],
    created: Mapping[str, str],
) -> dict[str, Any] | None:
    """Return the interface of a network; None: it has none.

    A port that was created for a network is that of no other one.

    :param created: see `_created_ports`
    """
    for interface in interfaces:
        owner = created.get(str(interface.get('port_id')))
        if owner == mark:
            return interface
        if owner is None and _is_interface_of(connection, item, interface):
            return interface
    return None


def _is_interface_of(
    connection: Any, item: Mapping[str, Any], interface: Mapping[str, Any]
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
