"""The policy that places the nodes of a cluster together, or apart."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain import placement
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import fragments, sizes

_GROUP = 'servergroup_id'
_INHERITED = 'inherited_group'


class Affinity(Policy):
    """Select the server group and the zone of new nodes.

    It creates no server group: a group named in the policy or in the scheduler hints of
    the profile must exist; otherwise it is a name derived from the cluster, for the
    resource handler of the nodes to create.
    """

    description = 'Server group and zone of new nodes.'
    priority = 300
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

    def attach(self, context: PolicyContext) -> Mapping[str, Any]:
        """Store the group, and whether it existed before."""
        named = context.properties['servergroup'].get('name')
        hints = (context.profile().get('properties') or {}).get('scheduler_hints')
        hinted = hints.get('group') if isinstance(hints, Mapping) else None
        own = f'{context.cluster.name}-{context.cluster.uuid[:8]}'
        return {
            _GROUP: named or hinted or own,
            _INHERITED: bool(named or hinted),
            'policies': context.properties['servergroup']['policies'],
        }

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
