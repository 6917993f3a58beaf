"""The policy that keeps the nodes of a cluster together, or apart."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain import placement
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import sizes

_GROUP = 'servergroup_id'
_INHERITED = 'inherited_group'


class Affinity(Policy):
    """Decides which server group, and which zone, nodes are made in.

    It makes no server group: one that is named, in the policy or among the scheduler
    hints of the profile, has to be there; another gets a name of the cluster's own,
    for the type of the nodes to make it by.
    """

    description = 'Which server group and zone nodes are made in.'
    priority = 300
    before = frozenset({sizes.SCALE_OUT, sizes.RESIZE, sizes.NODE_CREATE})
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'servergroup': {
                'type': 'object',
                'description': 'The server group.',
                'properties': {
                    'name': {'type': 'string', 'description': 'Its name, or id.'},
                    'policies': {
                        'enum': [
                            'affinity',
                            'soft-affinity',
                            'anti-affinity',
                            'soft-anti-affinity',
                        ],
                        'default': 'anti-affinity',
                        'description': 'What it does with its members.',
                    },
                },
                'additionalProperties': False,
                'default': {},
            },
            'availability_zone': {
                'type': 'string',
                'description': 'The zone that nodes are made in.',
            },
            'enable_drs_extension': {
                'type': 'boolean',
                'default': False,
                'description': 'Known to clients; nothing here heeds it.',
            },
        },
        'additionalProperties': False,
    }
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.10'},
    )

    def attach(self, context: PolicyContext) -> Mapping[str, Any]:
        """Keep which group it is, and whether somebody else made it."""
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
        """Say where each of the nodes that come is made."""
        count = sizes.change(context, data)
        if count <= 0 or placement.PLACEMENT in data:
            return
        where = {'servergroup': context.binding_data[_GROUP]}
        zone = context.properties.get('availability_zone')
        if zone is not None:
            where[placement.ZONE] = zone
        if context.node is not None:
            said = context.node.data.get(placement.PLACEMENT) or {}
            kept = {placement.PLACEMENT: {**where, **said}}
            context.save(node_data={context.node.uuid: kept})
            return
        data[placement.PLACEMENT] = {
            'count': count,
            'placements': [dict(where) for _ in range(count)],
        }
