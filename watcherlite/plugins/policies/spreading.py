"""The policies that distribute the nodes of a cluster over regions, or over zones."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import placement
from watcherlite.domain.placement import Place
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import fragments, sizes


def _place_list_schema(noun: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a list of places."""
    return {
        'type': 'array',
        'minItems': 1,
        'description': f'The {noun}s over which nodes are distributed.',
        'items': fragments.closed(
            {
                'name': fragments.text(f'The name of the {noun}.', minLength=1),
                'weight': fragments.integer(
                    100, 'The number of its nodes relative to the others; 0: none.'
                ),
                **more,
            },
            'name',
        ),
    }


class Spreading(Policy):
    """Decide the number of nodes added to, or removed from, each place.

    :cvar places: the property, and the key of the decision
    :cvar key: in the placement of a node
    """

    places: ClassVar[str]
    key: ClassVar[str]
    before = frozenset(
        {sizes.SCALE_IN, sizes.SCALE_OUT, sizes.RESIZE, sizes.NODE_CREATE}
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse duplicate places."""
        names = [place['name'] for place in properties[self.places]]
        for name in names:
            if names.count(name) > 1:
                raise exceptions.InvalidSpec(
                    f'properties.{self.places}: {name} is named more than once'
                )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        count = sizes.change(context, data)
        key = sizes.CREATION if count > 0 else sizes.DELETION
        decided = data.get(key) or {}
        if not count or self.places in decided:
            return
        desired = [
            Place(place['name'], place['weight'], place.get('cap', -1))
            for place in context.properties[self.places]
        ]
        if context.node is not None:
            self._assign_place(context, context.node.uuid, desired)
            return
        now = placement.count_by_place(context.nodes, self.key)
        plan = placement.distribute_new if count > 0 else placement.distribute_removals
        data[key] = {
            **decided,
            'count': abs(count),
            self.places: plan(now, desired, abs(count)),
        }

    def _assign_place(
        self, context: PolicyContext, node: str, desired: Sequence[Place]
    ) -> None:
        """Decide the place of a single new node."""
        own = context.node
        placed = (
            dict(own.data.get(placement.PLACEMENT) or {}) if own is not None else {}
        )
        if self.key in placed:
            return
        others = [other for other in context.nodes if other.uuid != node]
        (name,) = placement.distribute_new(
            placement.count_by_place(others, self.key), desired, 1
        )
        placed[self.key] = name
        context.save(node_data={node: {placement.PLACEMENT: placed}})


class RegionPlacement(Spreading):
    """Distribute nodes over regions, each with a weight and a cap."""

    description = 'The distribution of the nodes of a cluster over regions.'
    priority = 200
    places = 'regions'
    key = placement.REGION
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {
            'regions': _place_list_schema(
                'region',
                cap=fragments.integer(
                    -1, 'Maximum number of its nodes; -1: unlimited.', minimum=-1
                ),
            )
        },
        'regions',
    )
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.10'},
    )


class ZonePlacement(Spreading):
    """Distribute nodes over zones, each with a weight."""

    description = 'The distribution of the nodes of a cluster over zones.'
    priority = 300
    places = 'zones'
    key = placement.ZONE
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {'zones': _place_list_schema('zone')}, 'zones'
    )
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
    )
