"""Ports."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import REPLACE, Property
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import (
    public_record,
    record_of,
)
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.neutron_resource import (
    ADMIN_STATE_UP,
    IP_ADDRESS,
    MAC_ADDRESS,
    NAME,
    TAGS,
    VALUE_SPECS,
    NeutronResource,
    allowed_address_pairs,
)

VNIC_TYPE = fields.one_of(
    'normal',
    'direct',
    'macvtap',
    'direct-physical',
    'baremetal',
    'virtio-forwarder',
    'smart-nic',
)
#: The properties that a port of a server can have as well.
EXTRA: Mapping[str, Property] = {
    'value_specs': VALUE_SPECS,
    'admin_state_up': ADMIN_STATE_UP,
    'mac_address': field(MAC_ADDRESS, 'The MAC address.'),
    'allowed_address_pairs': allowed_address_pairs(),
    'binding:vnic_type': field(
        VNIC_TYPE,
        'The type of the virtual interface.',
        default='normal',
        updatable=True,
    ),
    'port_security_enabled': field(
        fields.FLAG, 'Whether security groups filter its traffic.', updatable=True
    ),
    'qos_policy': field(
        fields.TEXT,
        'The name or id of its QoS policy.',
        updatable=True,
        sent='qos_policy_id',
        reference=references.QOS_POLICY,
    ),
    'propagate_uplink_status': field(
        fields.FLAG, 'Whether it follows the status of its uplink.', updatable=True
    ),
    'no_fixed_ips': field(
        fields.FLAG,
        'Whether it has no address at all.',
        default=False,
        updatable=True,
        sent=OWN,
    ),
}


class Port(NeutronResource):
    """A port of a network."""

    description = 'A port of a network.'
    noun = 'port'
    needs = ('network',)
    aliases: ClassVar[Mapping[str, str]] = {'network_id': 'network'}
    settled = frozenset({'ACTIVE', 'DOWN'})
    failed = frozenset({'ERROR', 'DEGRADED'})
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'network': field(
            fields.TEXT,
            'The name or id of its network; required.',
            sent='network_id',
            reference=references.NETWORK,
        ),
        'network_id': field(fields.TEXT, 'The former name of `network`.', sent=OWN),
        'device_id': field(
            fields.TEXT,
            'The id of the device that uses it.',
            default='',
            updatable=True,
        ),
        'device_owner': field(
            fields.TEXT, 'The kind of that device.', default='', updatable=True
        ),
        'fixed_ips': field(
            fields.items(
                fields.mapping(
                    {
                        'subnet': fields.TEXT,
                        'subnet_id': fields.TEXT,
                        'ip_address': IP_ADDRESS,
                    }
                )
            ),
            'Its addresses: each with a `subnet`, by name or id, an `ip_address`, or '
            'both. The default is one address of the network.',
            updatable=True,
            sent=OWN,
        ),
        'security_groups': field(
            fields.TEXTS,
            'The names or ids of its security groups. The default is the group '
            '`default`; an empty list is none.',
            updatable=True,
            reference=references.SECURITY_GROUP,
        ),
        'replacement_policy': field(
            fields.one_of('AUTO', 'REPLACE_ALWAYS'),
            'REPLACE_ALWAYS replaces it with every update.',
            default='AUTO',
            updatable=True,
            sent=OWN,
        ),
        'dns_name': field(fields.TEXT, 'The DNS name.', updatable=True),
        'tags': TAGS,
        **EXTRA,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'admin_state_up': 'Whether it is enabled.',
        'device_id': 'The id of the device that uses it.',
        'device_owner': 'The kind of that device.',
        'fixed_ips': 'Its addresses, with their subnets.',
        'mac_address': 'The MAC address.',
        'name': 'The name.',
        'network_id': 'The id of its network.',
        'security_groups': 'The ids of its security groups.',
        'status': 'The status.',
        'tenant_id': 'The id of its project.',
        'allowed_address_pairs': 'Further addresses that it may use.',
        'port_security_enabled': 'Whether security groups filter its traffic.',
        'qos_policy_id': 'The id of its QoS policy.',
        'dns_assignment': 'Its names in the DNS.',
        'propagate_uplink_status': 'Whether it follows the status of its uplink.',
    }

    live_attributes: ClassVar[Mapping[str, str]] = {
        'network': 'Its network.',
        'subnets': 'The subnets of its addresses.',
    }

    def live_value(self, context: ResourceContext, connection: Any, name: str) -> Any:
        network, known = connection.network, context.attributes
        if name == 'network':
            return public_record(record_of(network.get_network(known['network_id'])))
        ids = dict.fromkeys(one['subnet_id'] for one in known.get('fixed_ips') or ())
        return [public_record(record_of(network.get_subnet(each))) for each in ids]

    def problems(self, values: Mapping[str, Any]) -> Collection[str]:
        if values.get('fixed_ips') and values.get('no_fixed_ips'):
            return ['properties.fixed_ips: cannot be combined with no_fixed_ips']
        return ()

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace it if its policy requires that."""
        decided = super().decide(before, after, failed)
        always = after.get('replacement_policy') == 'REPLACE_ALWAYS'
        return REPLACE if always else decided

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return body | addresses(context.properties, connection)

    def changes(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> dict[str, Any]:
        body = super().changes(context, connection, names)
        if 'security_groups' in names and 'security_groups' not in context.properties:
            body['security_groups'] = references.SECURITY_GROUP.ids_of(
                connection, ['default']
            )
        if {'fixed_ips', 'no_fixed_ips'} & set(names):
            body |= addresses(context.properties, connection)
        return body


def addresses(values: Mapping[str, Any], connection: Any) -> dict[str, Any]:
    """Return the addresses of a port for a request; the service chooses the others."""
    if values.get('no_fixed_ips'):
        return {'fixed_ips': []}
    desired = values.get('fixed_ips')
    if not desired:
        return {}
    fixed_ips = []
    for item in desired:
        subnet = item.get('subnet') or item.get('subnet_id')
        made = (
            {'subnet_id': references.SUBNET.id_of(connection, subnet)} if subnet else {}
        )
        if item.get('ip_address'):
            made['ip_address'] = item['ip_address']
        fixed_ips.append(made)
    return {'fixed_ips': fixed_ips}
