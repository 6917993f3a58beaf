"""Servers."""

import base64
import dataclasses
import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain import resource_results
from watcherlite.domain.resource_results import (
    REPLACE,
    UPDATE,
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.resources import (
    fields,
    references,
    server_metadata,
    server_networks,
    software,
)
from watcherlite.plugins.openstack.resources.cloud_resource import Call, record_of
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.markers import KEY, Marker, MetadataMarker
from watcherlite.plugins.openstack.resources.server_health import ServerHealth
from watcherlite.plugins.resource_handlers import scaling_policy
from watcherlite.plugins.resource_handlers.errors import ResourceFault

LOG = logging.getLogger(__name__)

_METADATA: Mapping[str, Any] = {
    'type': 'object',
    'additionalProperties': {
        'type': ['string', 'number', 'boolean', 'object', 'array']
    },
}
_BLOCK_DEVICE = fields.mapping(
    {
        'device_name': fields.TEXT,
        'volume_id': fields.TEXT,
        'snapshot_id': fields.TEXT,
        'volume_size': fields.INTEGER,
        'delete_on_termination': fields.FLAG,
    },
    ['device_name'],
)
_BLOCK_DEVICE_2 = fields.mapping(
    {
        'device_name': fields.TEXT,
        'volume_id': fields.TEXT,
        'image_id': fields.TEXT,
        'image': fields.TEXT,
        'snapshot_id': fields.TEXT,
        'swap_size': fields.INTEGER,
        'ephemeral_size': {**fields.INTEGER, 'minimum': 1},
        'ephemeral_format': fields.one_of('ext2', 'ext3', 'ext4', 'xfs', 'ntfs'),
        'device_type': fields.one_of('cdrom', 'disk'),
        'disk_bus': fields.one_of('ide', 'lame_bus', 'sata', 'scsi', 'usb', 'virtio'),
        'boot_index': fields.INTEGER,
        'volume_size': fields.INTEGER,
        'delete_on_termination': fields.FLAG,
        'volume_type': fields.TEXT,
    }
)
#: Changes that are made one after the other, since the server is busy meanwhile.
_STEPS = ('networks', 'flavor', 'image')
_SOFTWARE_CONFIG = 'SOFTWARE_CONFIG'
#: Type of a console -> its protocol.
_CONSOLES = {
    'novnc': 'vnc',
    'spice-html5': 'spice',
    'rdp-html5': 'rdp',
    'serial': 'serial',
    'webmks': 'mks',
}
#: The statuses of responses for consoles that a server does not have.
_NO_CONSOLE = frozenset({400, 404, 409, 501})
#: The number of times that a change of a busy server is repeated.
_MOST_CONFLICTS = 30


class Server(ServerHealth):
    """A server."""

    description = 'A server.'
    service = 'compute'
    noun = 'server'
    needs = ('flavor',)
    marker: ClassVar[Marker] = MetadataMarker()
    settled = frozenset(
        {'ACTIVE', 'SHUTOFF', 'PAUSED', 'SUSPENDED', 'RESCUE', 'SHELVED'}
        | {'SHELVED_OFFLOADED', 'PASSWORD'}
    )
    waits_for_deletion = True
    properties: ClassVar[Mapping[str, Property]] = {
        'name': field(
            fields.TEXT,
            'The name; the default is a unique one.',
            updatable=True,
            sent=OWN,
        ),
        'image': field(
            fields.TEXT,
            'The name or id of the image. A change rebuilds the server, see '
            '`image_update_policy`.',
            updatable=True,
            sent=OWN,
        ),
        'block_device_mapping': field(
            fields.items(_BLOCK_DEVICE), 'Its volumes, in the former format.', sent=OWN
        ),
        'block_device_mapping_v2': field(
            fields.items(_BLOCK_DEVICE_2),
            'Its block devices: each from a `volume_id`, a `snapshot_id` or an '
            '`image`, or an ephemeral or swap disk.',
            sent=OWN,
        ),
        'flavor': field(
            fields.TEXT,
            'The name or id of the flavor; required. A change resizes the server, see '
            '`flavor_update_policy`.',
            updatable=True,
            sent=OWN,
        ),
        'flavor_update_policy': field(
            fields.one_of('RESIZE', 'REPLACE'),
            'The effect of a change of the flavor.',
            default='RESIZE',
            updatable=True,
            sent=OWN,
        ),
        'image_update_policy': field(
            fields.one_of('REBUILD', 'REPLACE', 'REBUILD_PRESERVE_EPHEMERAL'),
            'The effect of a change of the image.',
            default='REBUILD',
            updatable=True,
            sent=OWN,
        ),
        'key_name': field(fields.TEXT, 'The name of the keypair.'),
        'admin_user': field(fields.TEXT, 'Accepted and ignored.', sent=OWN),
        'availability_zone': field(fields.TEXT, 'The availability zone.'),
        'security_groups': field(
            fields.TEXTS,
            'The names or ids of the security groups of the ports that are created for '
            'it.',
            default=[],
            sent=OWN,
        ),
        'networks': field(
            fields.items(server_networks.SCHEMA),
            'Its networks, in order: each a `port`, a `network`, or a `subnet`. The '
            'default is the only network of the project.',
            updatable=True,
            sent=OWN,
        ),
        'scheduler_hints': field(
            fields.MAP, 'Hints for the choice of its host.', sent=OWN
        ),
        'metadata': field(
            _METADATA, 'The metadata.', default={}, updatable=True, sent=OWN
        ),
        'user_data_format': field(
            fields.one_of('HEAT_CFNTOOLS', 'RAW', 'SOFTWARE_CONFIG'),
            'With SOFTWARE_CONFIG, the server has metadata with its deployments, and '
            'the user data has their URL for os-collect-config. Else the user data is '
            'passed as it is.',
            default='HEAT_CFNTOOLS',
            sent=OWN,
        ),
        'software_config_transport': field(
            fields.one_of(
                'POLL_SERVER_CFN', 'POLL_SERVER_HEAT', 'POLL_TEMP_URL', 'ZAQAR_MESSAGE'
            ),
            'Accepted for templates of other services: the metadata is always polled '
            'by HTTP from a URL with a token.',
            default='POLL_SERVER_CFN',
            updatable=True,
            sent=OWN,
        ),
        'user_data_update_policy': field(
            fields.one_of('REPLACE', 'IGNORE', 'REBUILD'),
            'The effect of a change of the user data.',
            default='REPLACE',
            updatable=True,
            sent=OWN,
        ),
        'user_data': field(
            fields.TEXT,
            'The user data: a text, or the id of a software config of the template, of '
            'another stack of the project, or of the API.',
            default='',
            updatable=True,
            sent=OWN,
        ),
        'reservation_id': field(fields.TEXT, 'The reservation id.', sent=OWN),
        'config_drive': field(fields.FLAG, 'Whether it has a config drive.'),
        'diskConfig': field(
            fields.one_of('AUTO', 'MANUAL'),
            'The partitioning of its disk.',
            sent='OS-DCF:diskConfig',
        ),
        'personality': field(
            fields.MAP,
            'Files are no longer supported; use the user data.',
            default={},
            sent=OWN,
        ),
        'admin_pass': field(
            fields.TEXT, 'The password of the administrator.', updatable=True, sent=OWN
        ),
        'tags': field(fields.TEXTS, 'The tags.', updatable=True, sent=OWN),
        'deployment_swift_data': field(
            fields.MAP, 'Accepted and ignored.', default={}, updatable=True, sent=OWN
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'addresses': 'Its addresses by network, with their ports.',
        'networks': 'Its addresses by the name and the id of the network.',
        'first_address': 'Its first fixed address.',
        'instance_name': 'The name at the hypervisor.',
        'accessIPv4': 'The IPv4 address for access.',
        'accessIPv6': 'The IPv6 address for access.',
        'tags': 'The tags.',
        'os_collect_config': 'The configuration of os-collect-config, with the URL of '
        'the metadata; empty without the `user_data_format` SOFTWARE_CONFIG.',
    }

    live_attributes: ClassVar[Mapping[str, str]] = {
        'console_urls': 'The URLs of its consoles by their types: novnc, spice-html5, '
        'rdp-html5, serial and webmks; for others than those that nova offers, its '
        'message.'
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return scaling_policy.OPTIONS

    def live_value(self, context: ResourceContext, connection: Any, name: str) -> Any:
        # Slow to import, and not needed without a cloud.
        from openstack import exceptions as cloud

        found = {}
        for kind, protocol in _CONSOLES.items():
            try:
                console = connection.compute.create_console(
                    context.physical_id, kind, console_protocol=protocol
                )
                found[kind] = console['url']
            except cloud.HttpException as error:
                if error.status_code not in _NO_CONSOLE:
                    raise
                found[kind] = f'Cannot get console url: {error.details or error}'
        return found

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        return list(_server_problems(values))

    def software_configs(self, properties: Mapping[str, Any]) -> Collection[str]:
        """Return the user data, which may be the id of a config."""
        return [properties.get('user_data') or '']

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace it if the policy for a change requires that."""
        decided = super().decide(before, after, failed)
        if decided != UPDATE:
            return decided
        names = set(resource_results.changed(before, after))
        for name in ('flavor', 'image', 'user_data'):
            if name in names and after[f'{name}_update_policy'] == 'REPLACE':
                return REPLACE
        # Between an image and a volume there is no rebuild.
        if 'image' in names and ('image' not in before or 'image' not in after):
            return REPLACE
        return UPDATE

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        desired = context.properties
        body = super().body(context, connection)
        body |= {
            'flavorRef': references.FLAVOR.id_of(connection, desired['flavor']),
            'metadata': self.metadata_of(context),
            'networks': server_networks.requested(context, connection),
        }
        if desired.get('image'):
            body['imageRef'] = references.IMAGE.id_of(connection, desired['image'])
        if desired.get('security_groups'):
            body['security_groups'] = [
                {'name': group} for group in desired['security_groups']
            ]
        if desired.get('user_data') or server_metadata.is_published(context):
            body['user_data'] = _user_data(context)
        if desired.get('scheduler_hints'):
            body['scheduler_hints'] = dict(desired['scheduler_hints'])
        if desired.get('admin_pass'):
            body['adminPass'] = desired['admin_pass']
        devices = list(_block_devices(context, connection))
        if devices:
            body['block_device_mapping_v2'] = devices
        return body

    def create(self, context: ResourceContext) -> Result:
        if context.properties['user_data_format'] != _SOFTWARE_CONFIG:
            return super().create(context)
        # The URL must be durable before the server knows it.
        data = server_metadata.published(context, self.options.endpoint)
        return ResourceInProgress({'step': 'publish'}, 0.0, data=data)

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        return self._completed(context, super().poll(context, operation, token))

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        has_tags = bool(context.properties.get('tags'))
        return not has_tags and not server_networks.has_floating(context)

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        desired = context.properties
        if desired.get('tags'):
            self._set_tags(context, connection, found)
        server_networks.associate(context, connection)

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        return {'name': self.name_of(context)} if 'name' in names else {}

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        desired = context.properties
        found = self.existing(context, connection)
        if 'metadata' in names:
            self._set_metadata(context, connection, found)
        if 'tags' in names:
            self._set_tags(context, connection, found)
        if 'admin_pass' in names and desired.get('admin_pass'):
            connection.compute.change_server_password(found, desired['admin_pass'])
        todo = [name for name in _STEPS if name in names]
        if self.needs_rebuild(desired, names) and 'image' not in todo:
            todo.append('image')
        if not todo:
            return None
        # The networks as they were: an interrupted update has lost them.
        before = list(context.before.get('networks') or ())
        return ResourceInProgress(
            {'step': 'change', 'todo': todo, 'before': before}, 0.0
        )

    def step(
        self, context: ResourceContext, connection: Any, operation: str, token: Any
    ) -> Result:
        """Make the next change of a server."""
        if token['step'] == 'publish':
            found = self._find(context, connection)
            return found or self._create(context, connection)
        if token['step'] == 'reach':
            return self._reach(context, connection, token)
        if not token['todo']:
            return self._wait(context, connection, operation, {'step': 'wait'})
        name, *left = token['todo']
        found = self.existing(context, connection)
        self._refuse_failed(context, record_of(found))
        change = {
            'networks': self._change_networks,
            'flavor': self._resize,
            'image': self._rebuild,
        }[name]
        try:
            with self._translated(context):
                changed = change(context, connection, found, token)
        except exceptions.Conflict:
            # Nova is not done with an earlier request yet.
            if token.get('conflicts', 0) >= _MOST_CONFLICTS:
                raise
            return self.later({**token, 'conflicts': token.get('conflicts', 0) + 1})
        if changed:
            rest = {**token, 'todo': left, 'polls': 0, 'started': False}
            return ResourceInProgress(rest, 0.0)
        return self.later({**token, 'started': True})

    def needs_rebuild(self, desired: Mapping[str, Any], names: Collection[str]) -> bool:
        """Return whether changes other than that of the image rebuild the server.

        :param desired: the properties
        :param names: of the changed properties
        """
        rebuilds = desired['user_data_update_policy'] == 'REBUILD'
        return 'user_data' in names and rebuilds

    def rebuild_body(self, context: ResourceContext) -> dict[str, Any]:
        """Return the attributes of the request that rebuilds it, but the image."""
        desired = context.properties
        body: dict[str, Any] = {}
        if desired['image_update_policy'] == 'REBUILD_PRESERVE_EPHEMERAL':
            body['preserve_ephemeral'] = True
        if desired.get('admin_pass'):
            body['admin_password'] = desired['admin_pass']
        if desired['user_data_update_policy'] == 'REBUILD' and desired.get('user_data'):
            body['user_data'] = _user_data(context)
        return body

    def metadata_of(self, context: ResourceContext) -> dict[str, str]:
        """Return the metadata as texts, without the mark."""
        return {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in (context.properties.get('metadata') or {}).items()
        }

    def suspend(self, context: ResourceContext) -> Result:
        """Suspend the server."""
        return self._run(
            context,
            'suspend',
            lambda c: self._suspend_or_resume(context, c, 'suspend', 'SUSPENDED'),
        )

    def resume(self, context: ResourceContext) -> Result:
        """Resume the server."""
        return self._run(
            context,
            'resume',
            lambda c: self._suspend_or_resume(context, c, 'resume', 'ACTIVE'),
        )

    def lock(self, context: ResourceContext) -> Result:
        """Lock the server, so that its users cannot change or delete it."""

        def lock(connection: Any) -> Result:
            found = self.existing(context, connection)
            context.fence()
            connection.compute.lock_server(
                found, locked_reason=f'Stack {context.stack_name} is locked'
            )
            return None

        return self._run(context, 'lock', lock)

    def unlock(self, context: ResourceContext) -> Result:
        """Unlock the server."""

        def unlock(connection: Any) -> Result:
            found = self.get(connection, str(context.physical_id))
            context.fence()
            if found is not None:
                connection.compute.unlock_server(found)
            return None

        return self._run(context, 'unlock', unlock)

    def problem_of(self, record: Mapping[str, Any]) -> str:
        return str((record.get('fault') or {}).get('message') or '')

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        addresses = record.get('addresses') or {}
        by_name = {
            name: [item.get('addr') for item in items]
            for name, items in addresses.items()
        }
        fixed = [
            item.get('addr')
            for items in addresses.values()
            for item in items
            if item.get('OS-EXT-IPS:type', 'fixed') == 'fixed'
        ]
        return {
            'name': record.get('name'),
            'addresses': addresses,
            'networks': by_name,
            'first_address': fixed[0] if fixed else '',
            'instance_name': record.get('OS-EXT-SRV-ATTR:instance_name'),
            'accessIPv4': record.get('accessIPv4'),
            'accessIPv6': record.get('accessIPv6'),
            'tags': record.get('tags') or [],
        }

    def _run(self, context: ResourceContext, operation: str, call: Call) -> Result:
        return self._completed(context, super()._run(context, operation, call))

    def _completed(self, context: ResourceContext, result: Result) -> Result:
        """Return a result with the attributes that depend on other objects."""
        if not isinstance(result, Ready) or result.attributes is None:
            return result
        given = dict(result.attributes)
        given['os_collect_config'] = server_metadata.collect_config(context)
        if given.get('addresses'):
            with self._translated(context):
                server = result.physical_id or str(context.physical_id)
                given |= self._addresses(context, server, given['addresses'])
        return dataclasses.replace(result, attributes=given)

    def _addresses(
        self, context: ResourceContext, server: str, addresses: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the addresses with their ports, by names and ids of networks."""
        known = context.attributes.get('addresses') or {}
        seen = {
            name: [
                {key: value for key, value in item.items() if key != 'port'}
                for item in known.get(name) or ()
            ]
            for name in addresses
        }
        if seen == addresses and known.keys() > addresses.keys():
            networks = context.attributes.get('networks') or {}
            return {'addresses': known, 'networks': networks}
        ports = {
            port.mac_address: port
            for port in self.connect(context).network.ports(device_id=server)
        }
        return server_networks.with_ports(addresses, ports)

    def _wait_for_deletion(
        self, context: ResourceContext, connection: Any, token: Any
    ) -> Result:
        waiting = super()._wait_for_deletion(context, connection, token)
        if waiting is None:
            server_networks.remove_created(context, connection)
        return waiting

    def _delete(self, context: ResourceContext, connection: Any, tries: int) -> Result:
        result = super()._delete(context, connection, tries)
        if result is None:
            server_networks.remove_created(context, connection)
        return result

    def destroy(self, connection: Any, context: ResourceContext) -> None:
        found = self.get(connection, str(context.physical_id))
        if found is None or self.is_deleted(record_of(found)):
            return
        if context.is_fenced:
            # Otherwise nova may only mark it as deleted, so that it can be restored.
            connection.compute.delete_server(found, force=True, ignore_missing=True)
            return
        super().destroy(connection, context)

    def _set_metadata(
        self, context: ResourceContext, connection: Any, found: Any
    ) -> None:
        desired = self.metadata_of(context)
        present = record_of(found).get('metadata') or {}
        surplus = sorted(present.keys() - desired.keys() - {KEY})
        if surplus:
            connection.compute.delete_server_metadata(found, surplus)
        if desired:
            connection.compute.set_server_metadata(found, **desired)

    def _set_tags(self, context: ResourceContext, connection: Any, found: Any) -> None:
        desired = set(context.properties.get('tags') or ())
        present = set(record_of(found).get('tags') or ())
        for tag in sorted(present - desired):
            connection.compute.remove_tag_from_server(found, tag)
        for tag in sorted(desired - present):
            connection.compute.add_tag_to_server(found, tag)

    def _change_networks(
        self, context: ResourceContext, connection: Any, found: Any, token: Any
    ) -> bool:
        return server_networks.change(
            context, connection, token['before'], bool(token.get('started'))
        )

    def _resize(
        self, context: ResourceContext, connection: Any, found: Any, token: Any
    ) -> bool:
        """Resize the server and confirm that; return whether it is done."""
        record = record_of(found)
        status = self.status_of(record)
        desired = references.FLAVOR.find(connection, context.properties['flavor'])
        present = record.get('flavor') or {}
        same = desired.name == present.get('original_name') or (
            present.get('id') == desired.id
        )
        if status == 'VERIFY_RESIZE':
            context.fence()
            confirm_resize(connection, found)
            return False
        if status not in self.settled:
            return False
        if same:
            return True
        if token.get('started') and token.get('polls', 0) > 1:
            # It is back to what it was.
            raise ResourceFault(
                f'{context.resource_name}: server {found.id} was not resized to '
                f'{desired.name}: {self.problem_of(record) or "no reason is known"}'
            )
        context.fence()
        connection.compute.resize_server(found, desired.id)
        return False

    def _rebuild(
        self, context: ResourceContext, connection: Any, found: Any, token: Any
    ) -> bool:
        """Rebuild the server; return whether it is done."""
        record, desired = record_of(found), context.properties
        if self.status_of(record) not in self.settled:
            return False
        image = references.IMAGE.id_of(connection, desired['image'])
        if token.get('started') and (record.get('image') or {}).get('id') == image:
            return True
        context.fence()
        connection.compute.rebuild_server(
            found, image=image, **self.rebuild_body(context)
        )
        return False

    def _suspend_or_resume(
        self, context: ResourceContext, connection: Any, action: str, status: str
    ) -> Result:
        """Suspend or resume the server, unless it has the status."""
        found = self.existing(context, connection)
        record = record_of(found)
        if self.status_of(record) == status:
            return None
        context.fence()
        getattr(connection.compute, f'{action}_server')(found)
        return ResourceInProgress({'step': 'reach', 'status': status}, self.interval)

    def _reach(self, context: ResourceContext, connection: Any, token: Any) -> Result:
        found = self.existing(context, connection)
        self._refuse_failed(context, record_of(found))
        if self.status_of(record_of(found)) == token['status']:
            return None
        return self.later(token)


def confirm_resize(connection: Any, found: Any) -> None:
    """Confirm a resize, unless an earlier request confirms it.

    nova shows the server as before until it has ended, and refuses another request.
    """
    from openstack import exceptions as cloud

    try:
        connection.compute.confirm_server_resize(found)
    except (cloud.BadRequestException, cloud.ConflictException) as error:
        LOG.info('The server %s is read again: %s', found.id, errors.clean(str(error)))


def _user_data(context: ResourceContext) -> str:
    """Return the user data as it is sent."""
    text = software.config_text(context, context.properties['user_data'])
    if server_metadata.is_published(context):
        text = server_metadata.user_data(context, text)
    return base64.b64encode(text.encode()).decode()


def _server_problems(values: Mapping[str, Any]) -> Iterator[str]:
    devices = 'block_device_mapping', 'block_device_mapping_v2'
    if all(name in values for name in devices):
        yield f'properties.{devices[0]}: cannot be combined with {devices[1]}'
    if 'image' not in values and not any(
        values.get(n, True) for n in devices if n in values
    ):
        yield 'properties.image: is required without a block device'
    if values.get('personality'):
        yield 'properties.personality: is no longer supported; use user_data'
    for at, item in enumerate(values.get('networks') or ()):
        for text in server_networks.problems(item or {}):
            yield f'properties.networks.{at}: {text}'
    by_network = any((item or {}).get('port') for item in values.get('networks') or ())
    if (
        by_network
        and values.get('security_groups')
        and all((item or {}).get('port') for item in values['networks'])
    ):
        yield (
            'properties.security_groups: the ports in networks have their own security '
            'groups'
        )


def _block_devices(
    context: ResourceContext, connection: Any
) -> Iterator[dict[str, Any]]:
    """Yield the block devices of the request."""
    desired = context.properties
    for item in desired.get('block_device_mapping') or ():
        yield _block_device(connection, {**item, 'boot_index': None}, first=False)
    second = list(desired.get('block_device_mapping_v2') or ())
    for item in second:
        yield _block_device(connection, item, first=item is second[0])
    if (desired.get('block_device_mapping') or second) and desired.get('image'):
        yield {
            'source_type': 'image',
            'destination_type': 'local',
            'boot_index': 0,
            'delete_on_termination': True,
            'uuid': references.IMAGE.id_of(connection, desired['image']),
        }


def _block_device(
    connection: Any, item: Mapping[str, Any], first: bool
) -> dict[str, Any]:
    """Return one block device of the request."""
    made: dict[str, Any] = {}
    if item.get('volume_id'):
        made['uuid'] = references.VOLUME.id_of(connection, item['volume_id'])
        made |= {'source_type': 'volume', 'destination_type': 'volume'}
    elif item.get('snapshot_id'):
        made['uuid'] = references.SNAPSHOT.id_of(connection, item['snapshot_id'])
        made |= {'source_type': 'snapshot', 'destination_type': 'volume'}
    elif item.get('image') or item.get('image_id'):
        image = item.get('image') or item.get('image_id')
        made['uuid'] = references.IMAGE.id_of(connection, image)
        made |= {'source_type': 'image', 'destination_type': 'volume'}
    else:
        made |= {'source_type': 'blank', 'destination_type': 'local'}
        if item.get('swap_size'):
            made |= {'guest_format': 'swap', 'volume_size': item['swap_size']}
        elif item.get('ephemeral_size'):
            made['volume_size'] = item['ephemeral_size']
            if item.get('ephemeral_format'):
                made['guest_format'] = item['ephemeral_format']
    for name in (
        'device_name',
        'device_type',
        'disk_bus',
        'volume_size',
        'delete_on_termination',
        'volume_type',
    ):
        if item.get(name) is not None:
            made[name] = item[name]
    index = item.get('boot_index')
    if index is None:
        boots = first and made['source_type'] in ('volume', 'snapshot', 'image')
        index = 0 if boots else -1
    return {**made, 'boot_index': index}
