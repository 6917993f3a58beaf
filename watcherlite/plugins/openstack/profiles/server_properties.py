"""The properties of `os.nova.server`, and those of the server that they describe."""

import base64
import binascii
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from watcherlite.domain.placement import REGION
from watcherlite.domain.resource_results import Property
from watcherlite.plugins import properties as fitting
from watcherlite.plugins.openstack.resources import fields, server_metadata
from watcherlite.plugins.openstack.resources.neutron_resource import IP_ADDRESS
from watcherlite.plugins.openstack.resources.servers import Server

# Further properties of the server, which OS::Nova::Server has not.
DEVICES = 'profile_devices'
CONTEXT_REGION = 'profile_region'

#: Changes of these rebuild the server.
REBUILDING = frozenset({'image', 'key_name', 'personality', 'user_data'})
#: The maximum length of a key and a value of metadata, for nova.
MAX_METADATA_LENGTH = 255
#: Property -> that of OS::Nova::Server; the others differ.
_SAME = (
    'admin_pass',
    'availability_zone',
    'config_drive',
    'flavor',
    'image',
    'key_name',
    'metadata',
    'name',
    'scheduler_hints',
    'security_groups',
)
#: What an existing port has of its own.
_OF_PORTS = ('fixed_ip', 'vnic_type', 'security_groups', 'subnet')


def _described(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**schema, 'description': description}


_BLOCK_DEVICE = fields.mapping(
    {
        'uuid': _described(
            fields.TEXT, 'The name or id of the image, snapshot or volume.'
        ),
        'source_type': _described(
            fields.one_of('image', 'snapshot', 'volume', 'blank'),
            'What it is created from.',
        ),
        'destination_type': _described(fields.one_of('volume', 'local'), 'What it is.'),
        'disk_bus': _described(fields.TEXT, 'The bus.'),
        'device_name': _described(fields.TEXT, 'The name of the device: vda.'),
        'volume_size': _described(
            {**fields.INTEGER, 'minimum': 1}, 'The size in GB; of swap, in MB.'
        ),
        'guest_format': _described(
            fields.TEXT, 'The format of a blank device: swap, ext4.'
        ),
        'boot_index': _described(
            fields.INTEGER, 'The place in the order of boot devices; -1: none.'
        ),
        'device_type': _described(fields.TEXT, 'The type: disk, cdrom.'),
        'delete_on_termination': _described(
            fields.FLAG, 'Whether a volume is deleted with the server.'
        ),
        'volume_type': _described(fields.TEXT, 'The name or id of the volume type.'),
    },
    ['source_type', 'destination_type'],
)
_NETWORK = fields.mapping(
    {
        'network': _described(
            fields.TEXT, 'The name or id of the network to create a port on.'
        ),
        'subnet': _described(fields.TEXT, 'The name or id of the subnet of the port.'),
        'port': _described(fields.TEXT, 'The name or id of an existing port.'),
        'vnic_type': _described(
            fields.one_of('normal', 'direct', 'macvtap'),
            'The type of the virtual interface.',
        ),
        'fixed_ip': _described(IP_ADDRESS, 'The address of the port.'),
        'security_groups': _described(
            fields.TEXTS, 'The names or ids of the security groups of the port.'
        ),
        'floating_network': _described(
            fields.TEXT,
            'The name or id of the network on which a floating IP is created.',
        ),
        'floating_ip': _described(
            IP_ADDRESS,
            'The floating IP of the port: an existing one, or, with '
            '`floating_network`, the address of the one that is created.',
        ),
    }
)
_FILE = fields.mapping(
    {
        'path': _described(fields.TEXT, 'The path in the server.'),
        'contents': _described(fields.TEXT, 'The content, encoded with base64.'),
    },
    ['path', 'contents'],
)
#: In alphabetical order.
PROPERTIES: Mapping[str, Property] = {
    'admin_pass': Property(
        fields.TEXT,
        'The password of the administrator. A change sets it in the server.',
        updatable=True,
    ),
    'auto_disk_config': Property(
        {**fields.FLAG, 'default': True},
        'Whether its disk is partitioned automatically.',
    ),
    'availability_zone': Property(
        fields.TEXT, 'The availability zone, unless a policy selects one.'
    ),
    'block_device_mapping_v2': Property(
        fields.items(_BLOCK_DEVICE), 'Its block devices, in the format of nova.'
    ),
    'config_drive': Property(fields.FLAG, 'Whether it has a config drive.'),
    'context': Property(
        fields.MAP,
        'Only `region_name`: the region, unless a policy selects one. The server is '
        'created with the authority of the user who requests its node.',
    ),
    'flavor': Property(
        fields.TEXT,
        'The name or id of the flavor. A change resizes the server.',
        required=True,
        updatable=True,
    ),
    'image': Property(
        fields.TEXT,
        'The name or id of the image. A change rebuilds the server.',
        updatable=True,
    ),
    'key_name': Property(
        fields.TEXT,
        'The name of the keypair. A change rebuilds the server.',
        updatable=True,
    ),
    'metadata': Property(
        fields.MAP,
        'The metadata; keys and values have at most 255 characters. The server has '
        'the ids of its node and cluster as well.',
        updatable=True,
    ),
    'name': Property(
        fields.TEXT, 'The name; the default is that of the node.', updatable=True
    ),
    'networks': Property(
        fields.items(_NETWORK),
        'Its networks, in order. Without any, it has the only network of the project. '
        'A change attaches and detaches ports.',
        updatable=True,
    ),
    'personality': Property(
        fields.items(_FILE),
        'Files, which cloud-init writes. A change rebuilds the server.',
        updatable=True,
    ),
    'scheduler_hints': Property(fields.MAP, 'Hints for the choice of its host.'),
    'security_groups': Property(
        fields.TEXTS,
        'The names or ids of the security groups of the ports that are created for it.',
    ),
    'user_data': Property(
        fields.TEXT, 'The user data. A change rebuilds the server.', updatable=True
    ),
}


def problems(properties: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the schemas cannot express."""
    unknown = sorted(set(properties.get('context') or ()) - {REGION})
    for name in unknown:
        yield (
            f'properties.context.{name}: is not supported; the server is created with '
            'the authority of the user who requests its node'
        )
    devices = properties.get('block_device_mapping_v2') or ()
    if not properties.get('image') and not devices:
        yield 'properties.image: is required without block_device_mapping_v2'
    for at, device in enumerate(devices):
        if device['source_type'] != 'blank' and not device.get('uuid'):
            place = f'properties.block_device_mapping_v2.{at}.uuid'
            yield f'{place}: is required for a source of type {device["source_type"]}'
    for key, value in (properties.get('metadata') or {}).items():
        if max(len(key), len(str(value))) > MAX_METADATA_LENGTH:
            yield (
                f'properties.metadata.{key[:MAX_METADATA_LENGTH]}: a key or value has '
                f'more than {MAX_METADATA_LENGTH} characters'
            )
    networks = properties.get('networks') or ()
    for at, item in enumerate(networks):
        for text in _network_problems(item):
            yield f'properties.networks.{at}: {text}'
    every = bool(networks) and all(item.get('port') for item in networks)
    if every and properties.get('security_groups'):
        yield (
            'properties.security_groups: the ports in networks have their own security '
            'groups'
        )
    for at, file in enumerate(properties.get('personality') or ()):
        if not _is_base64(file['contents']):
            yield f'properties.personality.{at}.contents: is no valid base64'


def _network_problems(item: Mapping[str, Any]) -> Iterator[str]:
    if not any(item.get(name) for name in ('port', 'network', 'subnet')):
        yield "One of 'port' and 'network' must be provided"
    if item.get('port'):
        for name in _OF_PORTS:
            if item.get(name):
                yield (
                    f"The 'port' property and the '{name}' property cannot be "
                    'specified at the same time'
                )


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def native(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an OS::Nova::Server, with defaults.

    Its networks have keys that are not properties of OS::Nova::Server.
    """
    given = {name: v for name, v in properties.items() if v is not None}
    values: dict[str, Any] = {name: given[name] for name in _SAME if name in given}
    automatic = given.get('auto_disk_config', True)
    values['diskConfig'] = 'AUTO' if automatic else 'MANUAL'
    values['user_data_format'] = 'RAW'
    values['user_data_update_policy'] = 'REBUILD'
    values['user_data'] = _user_data(given)
    fitted = {**_defaults(), **values}
    fitted['networks'] = [_native_network(item) for item in given.get('networks') or ()]
    fitted[DEVICES] = [
        {name: value for name, value in device.items() if value is not None}
        for device in given.get('block_device_mapping_v2') or ()
    ]
    fitted[CONTEXT_REGION] = (given.get('context') or {}).get(REGION)
    return fitted


@functools.cache
def _defaults() -> Mapping[str, Any]:
    """Return the default values of OS::Nova::Server."""
    return fitting.fit(Server, {})


def _native_network(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a network in the form of `server_networks`."""
    made = {name: value for name, value in item.items() if value}
    kind = made.pop('vnic_type', None)
    if kind is not None:
        made['port_extra_properties'] = {'binding:vnic_type': kind}
    return made


def _user_data(given: Mapping[str, Any]) -> str:
    """Return the user data, with the files of the personality."""
    text, personality = given.get('user_data') or '', given.get('personality')
    if not personality:
        return str(text)
    return server_metadata.with_files(text, _files(personality), 'personality')


def _files(personality: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the files in the format of cloud-init."""
    return [
        {'path': item['path'], 'encoding': 'b64', 'content': item['contents']}
        for item in personality
    ]
