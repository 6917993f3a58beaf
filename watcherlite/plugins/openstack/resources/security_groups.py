"""Security groups and their rules."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.markers import Marker, NameMarker
from watcherlite.plugins.openstack.resources.neutron_resource import (
    CIDR,
    NAME,
    NeutronResource,
)

INGRESS, EGRESS = 'ingress', 'egress'
_GROUP_MODE = 'remote_group_id'
_PROTOCOL: Mapping[str, Any] = {
    'type': 'string',
    'pattern': '^([a-z][a-z0-9-]*|[0-9]{1,3})$',
    'description': 'the name or number of a protocol',
}
_NUMBER: Mapping[str, Any] = {'type': 'integer', 'minimum': 0, 'maximum': 65535}
_ICMP = frozenset({'icmp', 'icmpv6', 'ipv6-icmp', '1', '58'})
_DIRECTION = {**fields.one_of(INGRESS, EGRESS), 'default': INGRESS}
_VERSION = {**fields.one_of('IPv4', 'IPv6'), 'default': 'IPv4'}
#: What makes two rules the same.
_KEY = (
    'direction',
    'ethertype',
    'protocol',
    'port_range_min',
    'port_range_max',
    'remote_ip_prefix',
    'remote_group_id',
    'description',
)


class SecurityGroup(NeutronResource):
    """A group of rules that filter the traffic of ports."""

    description = 'A group of rules that filter the traffic of ports.'
    noun = 'security_group'
    marker: ClassVar[Marker] = NameMarker()
    #: The properties that its rules depend on.
    rule_properties: ClassVar[Collection[str]] = ('rules',)
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'rules': field(
            fields.items(
                fields.mapping(
                    {
                        'direction': _DIRECTION,
                        'ethertype': _VERSION,
                        'port_range_min': _NUMBER,
                        'port_range_max': _NUMBER,
                        'protocol': _PROTOCOL,
                        'remote_mode': {
                            **fields.one_of('remote_ip_prefix', _GROUP_MODE),
                            'default': 'remote_ip_prefix',
                        },
                        'remote_group_id': fields.TEXT,
                        'remote_ip_prefix': CIDR,
                        'description': fields.TEXT,
                    }
                )
            ),
            'The rules. With the `remote_mode` `remote_group_id` a rule applies to the '
            'members of the group `remote_group_id`, by default of this group. All '
            'outgoing traffic is allowed unless there is a rule for `egress`.',
            default=[],
            updatable=True,
            sent=OWN,
        ),
        'stateful': field(
            fields.FLAG, 'Whether it tracks connections.', updatable=True
        ),
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        problems = []
        if values.get('name') == 'default':
            problems.append(
                'properties.name: "default" is the name of the built-in group'
            )
        for at, rule in enumerate(values.get('rules') or ()):
            problems += range_problems(f'properties.rules.{at}.', rule or {})
        return problems

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return not self.desired_rules(context)

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        if self.desired_rules(context):
            self._reconcile(context, connection, record_of(found))

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        if set(self.rule_properties) & set(names):
            found = self.existing(context, connection)
            self._reconcile(context, connection, record_of(found))
        return None

    def desired_rules(self, context: ResourceContext) -> Sequence[Mapping[str, Any]]:
        """Return its rules, as in the property `rules`."""
        rules: Sequence[Mapping[str, Any]] = context.properties.get('rules') or ()
        return rules

    def _reconcile(
        self, context: ResourceContext, connection: Any, group: Mapping[str, Any]
    ) -> None:
        _reconcile(connection, group, self.desired_rules(context))


def range_problems(place: str, rule: Mapping[str, Any]) -> list[str]:
    """Return the problem of the range of ports of a rule, if there is one."""
    least, most = rule.get('port_range_min'), rule.get('port_range_max')
    if least is None or most is None or rule.get('protocol') in _ICMP:
        return []
    if least <= most:
        return []
    return [f'{place}port_range_min: {least} is greater than port_range_max, {most}']


def _reconcile(
    connection: Any, group: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]
) -> None:
    """Add missing rules to a group, and delete those that it no longer has."""
    network = connection.network
    desired = {
        _key(rule): rule for rule in _requested_rules(rules, connection, group['id'])
    }
    present = {}
    for rule in group.get('security_group_rules') or ():
        if _key(rule) in desired:
            present[_key(rule)] = rule
        else:
            network.delete_security_group_rule(rule['id'], ignore_missing=True)
    missing = [rule for key, rule in desired.items() if key not in present]
    if missing:
        list(network.create_security_group_rules(missing))


def _requested_rules(
    rules: Sequence[Mapping[str, Any]], connection: Any, group_id: str
) -> Iterable[dict[str, Any]]:
    """Yield the rules that a group is to have, as they are requested."""
    for rule in rules:
        made = {
            name: value
            for name, value in rule.items()
            if name != 'remote_mode' and value is not None
        }
        remote = made.pop('remote_group_id', None)
        if rule.get('remote_mode') == _GROUP_MODE:
            made.pop('remote_ip_prefix', None)
            made['remote_group_id'] = (
                references.SECURITY_GROUP.id_of(connection, remote)
                if remote
                else group_id
            )
        yield {**made, 'security_group_id': group_id}
    if not any(rule['direction'] == EGRESS for rule in rules):
        for version in ('IPv4', 'IPv6'):
            yield {
                'direction': EGRESS,
                'ethertype': version,
                'security_group_id': group_id,
            }


def _key(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(str(rule.get(name) or '') for name in _KEY)


class SecurityGroupRule(NeutronResource):
    """A rule of a security group."""

    description = 'A rule of a security group.'
    noun = 'security_group_rule'
    needs = ('security_group',)
    properties: ClassVar[Mapping[str, Property]] = {
        'security_group': field(
            fields.TEXT,
            'The name or id of the group; required.',
            sent='security_group_id',
            reference=references.SECURITY_GROUP,
        ),
        'description': field(fields.TEXT, 'The description.'),
        'direction': field(
            fields.one_of(INGRESS, EGRESS), 'The direction.', default=INGRESS
        ),
        'ethertype': field(
            fields.one_of('IPv4', 'IPv6'), 'The version of IP.', default='IPv4'
        ),
        'port_range_min': field(_NUMBER, 'The first port.'),
        'port_range_max': field(_NUMBER, 'The last port.'),
        'protocol': field(_PROTOCOL, 'The protocol.', default='tcp'),
        'remote_group': field(
            fields.TEXT,
            'The name or id of the group at the other end.',
            sent='remote_group_id',
            reference=references.SECURITY_GROUP,
        ),
        'remote_ip_prefix': field(CIDR, 'The addresses at the other end.'),
    }

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        problems = range_problems('properties.', values)
        if values.get('remote_group') and values.get('remote_ip_prefix'):
            problems.append(
                'properties.remote_group: cannot be combined with remote_ip_prefix'
            )
        return problems
