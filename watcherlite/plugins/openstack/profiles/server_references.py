"""The objects of `os.nova.server`: what properties refer to, and what a server has."""

from collections.abc import Iterator, Mapping
from typing import Any

from watcherlite.plugins.openstack.resources import references
from watcherlite.plugins.openstack.resources.markers import KEY
from watcherlite.plugins.openstack.resources.references import (
    MissingReference,
    Reference,
)
from watcherlite.plugins.resource_handlers.errors import ResourceFault

_SINGLE: Mapping[str, Reference] = {
    'flavor': references.FLAVOR,
    'image': references.IMAGE,
    'key_name': references.KEYPAIR,
}
_OF_NETWORKS: Mapping[str, Reference] = {
    'network': references.NETWORK,
    'subnet': references.SUBNET,
    'port': references.PORT,
    'floating_network': references.NETWORK,
    'floating_ip': references.FLOATING_IP,
    'security_groups': references.SECURITY_GROUP,
}
_SOURCES: Mapping[str, Reference] = {
    'image': references.IMAGE,
    'snapshot': references.SNAPSHOT,
    'volume': references.VOLUME,
}


def problems(connection: Any, properties: Mapping[str, Any]) -> Iterator[str]:
    """Yield what does not exist, or cannot be used, in the words of Senlin.

    :param properties: validated
    """
    zone = properties.get('availability_zone')
    if zone is not None:
        known = {one.name for one in connection.compute.availability_zones()}
        # An administrator may name the host as well.
        if zone.partition(':')[0] not in known:
            yield _missing('availability_zone', zone)
    for name, reference in _SINGLE.items():
        yield from _problem(connection, reference, name, properties.get(name))
    hints = properties.get('scheduler_hints') or {}
    group = hints.get('group')
    yield from _problem(connection, references.SERVER_GROUP, 'group', group)
    for name in properties.get('security_groups') or ():
        reference = references.SECURITY_GROUP
        yield from _problem(connection, reference, 'security_groups', name)
    for device in properties.get('block_device_mapping_v2') or ():
        source = _SOURCES.get(device['source_type'])
        if source is not None:
            yield from _problem(connection, source, 'uuid', device.get('uuid'))
    for item in properties.get('networks') or ():
        yield from _network_problems(connection, item)


def image_of(connection: Any, record: Mapping[str, Any]) -> str | None:
    """Return the id of the image of a server, or of its bootable volume."""
    image = record.get('image')
    if isinstance(image, Mapping) and image.get('id'):
        return str(image['id'])
    for attached in record.get('os-extended-volumes:volumes_attached') or ():
        volume = connection.block_storage.get_volume(attached['id'])
        copied = volume.volume_image_metadata or {}
        if volume.is_bootable and copied.get('image_id'):
            return str(copied['image_id'])
    return None


def read(connection: Any, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties with which a server could have been created.

    Its password, user data and personality are not known.
    """
    flavor = record.get('flavor') or {}
    groups = {group['name'] for group in record.get('security_groups') or ()}
    fixed = [
        name
        for name, items in (record.get('addresses') or {}).items()
        if any(one.get('OS-EXT-IPS:type', 'fixed') == 'fixed' for one in items)
    ]
    own = {
        name: value
        for name, value in (record.get('metadata') or {}).items()
        if name != KEY and not name.startswith('cluster_')
    }
    properties = {
        'auto_disk_config': record.get('OS-DCF:diskConfig') == 'AUTO',
        'availability_zone': record.get('OS-EXT-AZ:availability_zone'),
        'config_drive': bool(record.get('config_drive')),
        'flavor': flavor.get('original_name') or flavor.get('id'),
        'image': image_of(connection, record),
        'key_name': record.get('key_name'),
        'metadata': own,
        'name': record.get('name'),
        'networks': [{'network': name} for name in fixed],
        'security_groups': sorted(groups),
    }
    return {name: value for name, value in properties.items() if value is not None}


def _network_problems(connection: Any, item: Mapping[str, Any]) -> Iterator[str]:
    for name, reference in _OF_NETWORKS.items():
        if name == 'floating_ip' and item.get('floating_network'):
            yield from _address_problem(connection, item.get(name))
            continue
        values = item.get(name) or ()
        for value in [values] if isinstance(values, str) else values:
            yield from _problem(connection, reference, name, value)


def _address_problem(connection: Any, address: str | None) -> Iterator[str]:
    """Yield the problem of the address of a floating IP that may be created."""
    if address is None:
        return
    found = connection.network.find_ip(address, ignore_missing=True)
    if found is not None and found.port_id is not None:
        yield f'the floating IP {address} has been used.'


def _problem(
    connection: Any, reference: Reference, key: str, value: Any
) -> Iterator[str]:
    if value is None:
        return
    try:
        found = reference.find(connection, str(value))
    except MissingReference:
        yield _missing(key, value)
    except ResourceFault as error:
        yield str(error)
    else:
        yield from _usage_problem(key, value, found)


def _usage_problem(key: str, value: Any, found: Any) -> Iterator[str]:
    """Yield why an object that exists cannot be used."""
    if key == 'flavor' and found.is_disabled:
        yield f"The specified flavor '{value}' is disabled"
    if key == 'port' and found.status != 'DOWN':
        yield f'The status of the port {value} must be DOWN'
    if key == 'floating_ip' and found.port_id is not None:
        yield f'the floating IP {value} has been used.'


def _missing(key: str, value: Any) -> str:
    return f"The specified {key} '{value}' could not be found."
