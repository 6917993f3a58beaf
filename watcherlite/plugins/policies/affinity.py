"""The policy that places the nodes of a cluster together, or apart."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import placement
from watcherlite.domain.outcomes import Retry
from watcherlite.plugins.base import CloudClient, Policy, PolicyContext
from watcherlite.plugins.openstack import delays, server_groups
from watcherlite.plugins.policies import fragments, sizes

_GROUP = 'servergroup_id'
_INHERITED = 'inherited_group'
#: The type of profile whose nodes are servers of nova.
_SERVERS = 'os.nova.server'


class Affinity(CloudClient, Policy):
    """Select the server group and the zone of new nodes.

    A group named in the policy, or in the scheduler hints of the profile, must exist.
    Otherwise the cluster has one of its own, which is created in nova if the nodes are
    servers. For nodes of another type the group is only a name for their handler.
    """

    description = 'Server group and zone of new nodes.'
    priority = 300
    blocking = True
    service = 'compute'
    before = frozenset({sizes.SCALE_OUT, sizes.RESIZE, sizes.NODE_CREATE})
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {
            'servergroup': fragments.closed(
                {
                    'name': fragments.text('Its name or ID.'),
                    'policies': fragments.choice(
                        [
                            'affinity',
                            'soft-affinity',
                            'anti-affinity',
                            'soft-anti-affinity',
                        ],
                        'The affinity of its members.',
                        default='anti-affinity',
                    ),
                },
                description='The server group.',
                default={},
            ),
            'availability_zone': fragments.text('The zone of new nodes.'),
            'enable_drs_extension': fragments.flag(
                False, 'Accepted for compatibility with clients, and ignored.'
            ),
        }
    )
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.10'},
    )

    def attach(self, context: PolicyContext) -> Mapping[str, Any] | Retry:
        """Store the group, and whether it existed before."""
        identity, is_inherited = _group_of(context)
        policy = context.properties['servergroup']['policies']
        if _has_servers(context):
            find = server_groups.find if is_inherited else server_groups.ensure
            try:
                identity = find(self._connect(context), identity, policy)
            except exceptions.ServiceUnavailable as error:
                return delays.retry(error)
        return {_GROUP: identity, _INHERITED: is_inherited, 'policies': policy}

    def detach(self, context: PolicyContext) -> Retry | None:
        """Delete the group that was created for the cluster."""
        identity, is_inherited = _group_of(context)
        kept = context.binding_data
        if _has_servers(context) and not kept.get(_INHERITED, is_inherited):
            identity = kept.get(_GROUP, identity)
            try:
                server_groups.delete(self._connect(context), identity)
            except exceptions.ServiceUnavailable as error:
                return delays.retry(error)
        return None

    def _connect(self, context: PolicyContext) -> Any:
        given = (context.profile().get('properties') or {}).get('context')
        region = given.get(placement.REGION) if isinstance(given, Mapping) else None
        return self.clouds.connection_for(context.credential, region)

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Decide the placement of each new node."""
        count = sizes.change(context, data)
        if count <= 0 or placement.PLACEMENT in data:
            return
        where = {'servergroup': context.binding_data[_GROUP]}
        zone = context.properties.get('availability_zone')
        if zone is not None:
            where[placement.ZONE] = zone
        if context.node is not None:
            present = context.node.data.get(placement.PLACEMENT) or {}
            kept = {placement.PLACEMENT: {**where, **present}}
            context.save(node_data={context.node.uuid: kept})
            return
        data[placement.PLACEMENT] = {
            'count': count,
            'placements': [dict(where) for _ in range(count)],
        }


def _group_of(context: PolicyContext) -> tuple[str, bool]:
    """Return the name or id of the group, and whether it is not that of the cluster."""
    named = context.properties['servergroup'].get('name')
    hints = (context.profile().get('properties') or {}).get('scheduler_hints')
    hinted = hints.get('group') if isinstance(hints, Mapping) else None
    own = f'{context.cluster.name}-{context.cluster.uuid[:8]}'
    return str(named or hinted or own), bool(named or hinted)


def _has_servers(context: PolicyContext) -> bool:
    """Return whether the nodes of the cluster are servers of nova."""
    return str(context.profile().get('type')).partition('-')[0] == _SERVERS
