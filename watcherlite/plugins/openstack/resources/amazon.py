"""Resource types with the names and properties of AWS, for templates of Heat."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, Ready, Result
from watcherlite.plugins import properties as fitting
from watcherlite.plugins.base import CloudClient, ResourceContext, ResourceHandler
from watcherlite.plugins.openstack.resources import (
    fields,
    security_groups,
    servers,
    wait_conditions,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.renamed_context import RenamedContext

_ANY_PROTOCOL = '-1'
_RULE = fields.mapping(
    {
        'IpProtocol': fields.TEXT,
        'FromPort': fields.TEXT,
        'ToPort': fields.TEXT,
        'CidrIp': fields.TEXT,
        'SourceSecurityGroupId': fields.TEXT,
        'SourceSecurityGroupName': fields.TEXT,
        'SourceSecurityGroupOwnerId': fields.TEXT,
    }
)
_INGRESS, _EGRESS = 'SecurityGroupIngress', 'SecurityGroupEgress'


class CfnWaitConditionHandle(wait_conditions.WaitConditionHandle):
    """A handle whose value of get_resource is its URL, as cfn-signal needs it."""

    description = (
        'A URL for the signals of servers to a wait condition: its value of '
        'get_resource, for cfn-signal.'
    )
    properties: ClassVar[Mapping[str, Property]] = {}

    def reference(self, context: ResourceContext) -> str:
        return str(context.attributes.get('endpoint') or context.resource_name)

    def signal(self, context: ResourceContext, details: Mapping[str, Any]) -> Ready:
        """Store a signal of cfn-signal."""
        names = {'UniqueId': 'id', 'Status': 'status', 'Reason': 'reason'}
        names['Data'] = 'data'
        return super().signal(
            context, {names.get(name, name): value for name, value in details.items()}
        )


class CfnWaitCondition(wait_conditions.WaitCondition):
    """Wait for signals to a handle."""

    properties: ClassVar[Mapping[str, Property]] = {
        'Handle': Property(
            fields.TEXT, 'The handle: its value of get_resource.', required=True
        ),
        'Timeout': Property(
            {**fields.INTEGER, 'minimum': 1, 'maximum': 43200},
            'The maximum duration of the wait in seconds.',
            required=True,
        ),
        'Count': Property(
            {**fields.INTEGER, 'minimum': 1, 'default': 1},
            'The number of signals.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'Data': 'The data of the signals by their ids, as JSON.'
    }

    def limits(self, context: ResourceContext) -> tuple[str, float, int]:
        desired = context.properties
        return desired['Handle'], desired['Timeout'], desired['Count']

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        result = super().poll(context, operation, token)
        if not isinstance(result, Ready):
            return result
        attributes = result.attributes or {}
        return Ready(result.physical_id, {'Data': attributes.get('data')})


class EC2SecurityGroup(security_groups.SecurityGroup):
    """A group of rules that filter the traffic of servers."""

    description = 'A group of rules that filter the traffic of servers.'
    rule_properties = (_INGRESS, _EGRESS)
    properties: ClassVar[Mapping[str, Property]] = {
        'GroupDescription': field(
            fields.TEXT, 'The description.', required=True, sent='description'
        ),
        'VpcId': field(fields.TEXT, 'Accepted and ignored.', sent=OWN),
        _INGRESS: field(
            fields.items(_RULE),
            'The rules for incoming traffic: each an `IpProtocol`, the ports from '
            '`FromPort` to `ToPort`, and a `CidrIp` or a security group.',
            updatable=True,
            sent=OWN,
        ),
        _EGRESS: field(
            fields.items(_RULE),
            'The rules for outgoing traffic; without any, all of it is allowed.',
            updatable=True,
            sent=OWN,
        ),
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {**body, 'name': self.name_of(context)}

    def desired_rules(self, context: ResourceContext) -> Sequence[Mapping[str, Any]]:
        """Return its rules in the form of OS::Neutron::SecurityGroup."""
        return list(_rules(context.properties))


def _rules(properties: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    directions = {_INGRESS: security_groups.INGRESS, _EGRESS: security_groups.EGRESS}
    for name, direction in directions.items():
        for item in properties.get(name) or ():
            yield _rule(item, direction)


def _rule(item: Mapping[str, Any], direction: str) -> dict[str, Any]:
    """Return a rule in the form of OS::Neutron::SecurityGroup."""
    remote = item.get('CidrIp')
    group = item.get('SourceSecurityGroupId') or item.get('SourceSecurityGroupName')
    rule: dict[str, Any] = {
        'direction': direction,
        'ethertype': 'IPv6' if ':' in str(remote or '') else 'IPv4',
    }
    protocol = str(item.get('IpProtocol') or _ANY_PROTOCOL).lower()
    if protocol != _ANY_PROTOCOL:
        rule['protocol'] = protocol
        ports = {'port_range_min': 'FromPort', 'port_range_max': 'ToPort'}
        for name, given in ports.items():
            # For ICMP, -1 is any type.
            if item.get(given) not in (None, '', '-1'):
                rule[name] = int(item[given])
    if group:
        return {**rule, 'remote_mode': 'remote_group_id', 'remote_group_id': group}
    return {**rule, 'remote_ip_prefix': remote} if remote else rule


PAIRS = fields.items(
    fields.mapping({'Key': fields.TEXT, 'Value': fields.TEXT}, ['Key', 'Value'])
)
_BLOCK_DEVICE = fields.mapping(
    {
        'DeviceName': fields.TEXT,
        'Ebs': fields.mapping(
            {
                'DeleteOnTermination': {**fields.FLAG, 'default': True},
                'SnapshotId': fields.TEXT,
                'VolumeSize': fields.INTEGER,
            }
        ),
    },
    ['DeviceName'],
)
_VOLUME = fields.mapping(
    {'Device': fields.TEXT, 'VolumeId': fields.TEXT}, ['Device', 'VolumeId']
)
_IGNORED = 'Accepted and ignored.'
_COMMON: Mapping[str, Property] = {
    'ImageId': Property(fields.TEXT, 'The name or id of the image.', required=True),
    'KeyName': Property(fields.TEXT, 'The name of the keypair.'),
    'SecurityGroups': Property(
        fields.TEXTS, 'The names or ids of the security groups.'
    ),
    'UserData': Property(
        fields.TEXT, 'The user data: a text, or a reference to a software config.'
    ),
    'BlockDeviceMappings': Property(
        fields.items(_BLOCK_DEVICE),
        'Its volumes: each a `DeviceName` with the `SnapshotId` in `Ebs`.',
    ),
    'NovaSchedulerHints': Property(PAIRS, 'Hints for the choice of its host.'),
    'KernelId': Property(fields.TEXT, _IGNORED),
    'RamDiskId': Property(fields.TEXT, _IGNORED),
}
#: Property -> that of OS::Nova::Server.
_NATIVE = {
    'ImageId': 'image',
    'InstanceType': 'flavor',
    'KeyName': 'key_name',
    'AvailabilityZone': 'availability_zone',
    'UserData': 'user_data',
}
#: Attribute -> that of OS::Nova::Server.
_ATTRIBUTES = {
    'PrivateDnsName': 'first_address',
    'PublicDnsName': 'first_address',
    'PrivateIp': 'first_address',
    'PublicIp': 'first_address',
}


class LaunchConfiguration(ResourceHandler):
    """The properties of the instances of a group."""

    description = 'The properties of the instances of a group.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        **_COMMON,
        'InstanceType': Property(
            fields.TEXT, 'The name or id of the flavor.', required=True
        ),
    }

    def create(self, context: ResourceContext) -> Ready:
        values = {k: v for k, v in context.properties.items() if v is not None}
        return Ready(context.physical_name, {'show': values})

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: it is deleted with its row."""


class Instance(CloudClient, ResourceHandler):
    """A server, managed as an OS::Nova::Server with other names."""

    description = 'A server, with the properties of AWS.'
    idempotent = True
    modified_by_signals = False
    blocking = True
    service = 'compute'
    properties: ClassVar[Mapping[str, Property]] = {
        **_COMMON,
        'InstanceType': Property(
            fields.TEXT,
            'The name or id of the flavor; a change resizes the server.',
            required=True,
            updatable=True,
        ),
        'AvailabilityZone': Property(fields.TEXT, 'The availability zone.'),
        'SecurityGroupIds': Property(fields.TEXTS, 'The ids of the security groups.'),
        'NetworkInterfaces': Property(fields.TEXTS, 'The ids of its ports.'),
        'SubnetId': Property(
            fields.TEXT, 'The name or id of its subnet, without `NetworkInterfaces`.'
        ),
        'Tags': Property(PAIRS, 'The metadata of the server.', updatable=True),
        'Volumes': Property(
            fields.items(_VOLUME),
            'The volumes that it gets when it is created: each a `VolumeId` and its '
            '`Device`.',
        ),
        'DisableApiTermination': Property(fields.TEXT, _IGNORED),
        'Monitoring': Property(fields.FLAG, _IGNORED),
        'PlacementGroupName': Property(fields.TEXT, _IGNORED),
        'PrivateIpAddress': Property(fields.TEXT, _IGNORED),
        'SourceDestCheck': Property(fields.FLAG, _IGNORED),
        'Tenancy': Property(fields.one_of('dedicated', 'default'), _IGNORED),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'AvailabilityZone': 'The availability zone.',
        'PrivateDnsName': 'Its first address.',
        'PublicDnsName': 'The same.',
        'PrivateIp': 'The same.',
        'PublicIp': 'The same.',
    }

    def create(self, context: ResourceContext) -> Result:
        return self._renamed(self._server().create(RenamedContext(context, _native)))

    def find(self, context: ResourceContext) -> Result:
        return self._renamed(self._server().find(RenamedContext(context, _native)))

    def check(self, context: ResourceContext) -> Result:
        return self._renamed(self._server().check(RenamedContext(context, _native)))

    def update(self, context: ResourceContext) -> Result:
        return self._renamed(self._server().update(RenamedContext(context, _native)))

    def delete(self, context: ResourceContext) -> Result:
        return self._server().delete(RenamedContext(context, _native))

    def suspend(self, context: ResourceContext) -> Result:
        return self._server().suspend(RenamedContext(context, _native))

    def resume(self, context: ResourceContext) -> Result:
        return self._server().resume(RenamedContext(context, _native))

    def lock(self, context: ResourceContext) -> Result:
        return self._server().lock(RenamedContext(context, _native))

    def unlock(self, context: ResourceContext) -> Result:
        return self._server().unlock(RenamedContext(context, _native))

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        result = self._server().poll(RenamedContext(context, _native), operation, token)
        return self._renamed(result)

    def _server(self) -> servers.Server:
        server = servers.Server(self.options)
        server.clouds = self.clouds
        return server

    def _renamed(self, result: Result) -> Result:
        """Return a result with the attributes of this type."""
        if not isinstance(result, Ready) or result.attributes is None:
            return result
        given = result.attributes
        show = given.get('show') or {}
        attributes = {
            **{name: given.get(native) for name, native in _ATTRIBUTES.items()},
            'AvailabilityZone': show.get('OS-EXT-AZ:availability_zone'),
            'show': show,
        }
        return dataclasses.replace(result, attributes=attributes)


def _native(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an OS::Nova::Server, with defaults."""
    values: dict[str, Any] = {
        native: properties[name]
        for name, native in _NATIVE.items()
        if properties.get(name) is not None
    }
    values['metadata'] = mapping_of(properties.get('Tags'))
    values['scheduler_hints'] = mapping_of(properties.get('NovaSchedulerHints'))
    values['security_groups'] = [
        *(properties.get('SecurityGroups') or ()),
        *(properties.get('SecurityGroupIds') or ()),
    ]
    ports = properties.get('NetworkInterfaces')
    if ports:
        values['networks'] = [{'port': port} for port in ports]
    elif properties.get('SubnetId'):
        values['networks'] = [{'subnet': properties['SubnetId']}]
    devices = list(_devices(properties))
    if devices:
        values['block_device_mapping_v2'] = devices
    return fitting.fit(servers.Server, values)


def _devices(properties: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the block devices of an OS::Nova::Server."""
    for item in properties.get('BlockDeviceMappings') or ():
        disk = item.get('Ebs') or {}
        if disk.get('SnapshotId'):
            device: dict[str, Any] = {
                'device_name': item['DeviceName'],
                'snapshot_id': disk['SnapshotId'],
                'delete_on_termination': disk.get('DeleteOnTermination', True),
                'boot_index': -1,
            }
            if disk.get('VolumeSize'):
                device['volume_size'] = disk['VolumeSize']
            yield device
    for item in properties.get('Volumes') or ():
        yield {
            'device_name': item['Device'],
            'volume_id': item['VolumeId'],
            'boot_index': -1,
        }


def mapping_of(items: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return the mapping of a list of `Key` and `Value`."""
    return {item['Key']: item['Value'] for item in items or ()}
