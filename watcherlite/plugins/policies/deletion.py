"""The policy that says which nodes go, and how."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import capacity, placement
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import sizes

_PROPERTIES: Mapping[str, Any] = {
    'criteria': {
        'enum': list(capacity.CRITERIA),
        'default': capacity.RANDOM,
        'description': 'Who goes first among the nodes that are well.',
    },
    'destroy_after_deletion': {
        'type': 'boolean',
        'default': True,
        'description': 'Whether a node that left the cluster is deleted.',
    },
    'grace_period': {
        'type': 'integer',
        'minimum': 0,
        'default': 0,
        'description': 'Seconds between the decision and the deletion.',
    },
    'reduce_desired_capacity': {
        'type': 'boolean',
        'default': True,
        'description': 'Whether the cluster is to be smaller from then on.',
    },
}
_HOOKS: Mapping[str, Any] = {
    'type': 'object',
    'description': 'Who is told before a node goes; refused here, see the manual.',
    'properties': {
        'type': {'enum': ['zaqar', 'webhook'], 'default': 'zaqar'},
        'params': {
            'type': 'object',
            'default': {},
            'properties': {
                'queue': {'type': 'string', 'default': ''},
                'url': {'type': 'string', 'default': ''},
            },
            'additionalProperties': False,
        },
        'timeout': {'type': 'integer', 'minimum': 0, 'default': 0},
    },
    'additionalProperties': False,
}


class Deletion(Policy):
    """Chooses the nodes that go.

    Nodes that are not well, or tainted, go first, then those that were never made;
    the criteria decide among the others. How many go of which region and zone is
    heeded, as the policies for these decided it before.
    """

    description = 'Which nodes go, and how.'
    priority = 400
    before = frozenset(
        {sizes.SCALE_IN, sizes.DEL_NODES, sizes.RESIZE, sizes.NODE_DELETE}
    )
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': _PROPERTIES,
        'additionalProperties': False,
    }
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
    )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Decide who goes, if anybody does."""
        count = -sizes.change(context, data)
        if count < 0 or (count == 0 and context.action_type == sizes.RESIZE):
            return
        decided = data.get(sizes.DELETION) or {}
        candidates = decided.get('candidates')
        if candidates is None:
            candidates = self._candidates(context, count, decided)
        said = context.properties
        data[sizes.DELETION] = {
            **decided,
            'count': len(candidates),
            'candidates': candidates,
            'destroy_after_deletion': said['destroy_after_deletion'],
            'grace_period': said['grace_period'],
            'reduce_desired_capacity': said['reduce_desired_capacity'],
        }

    def _candidates(
        self, context: PolicyContext, count: int, decided: Mapping[str, Any]
    ) -> list[str]:
        if context.node is not None:
            return [context.node.uuid]
        asked = context.inputs.get('candidates')
        if asked:
            return list(asked)
        nodes = context.nodes
        ordered = capacity.victims(
            nodes,
            len(nodes),
            context.properties['criteria'],
            seed=context.action_uuid,
            profiles=context.profiles(),
        )
        chosen = placement.victims(
            ordered, count, decided.get('regions'), decided.get('zones')
        )
        return [node.uuid for node in chosen]


class HookedDeletion(Deletion):
    """The same, with the property `hooks`, which nothing here can serve."""

    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {**_PROPERTIES, 'hooks': _HOOKS},
        'additionalProperties': False,
    }
    support_status: ClassVar = (
        {'version': '1.1', 'status': 'SUPPORTED', 'since': '2018.01'},
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse hooks: a node would go without anybody being told."""
        if properties.get('hooks'):
            raise exceptions.InvalidSpec(
                'properties.hooks: nobody can be told by a hook here before a node '
                'goes; leave them out, and use grace_period or a receiver of '
                'notifications'
            )
