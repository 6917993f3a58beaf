"""The policies that spread the nodes of a cluster over regions, or over zones."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import placement
from watcherlite.domain.placement import Place
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import sizes

_WEIGHT: Mapping[str, Any] = {
    'type': 'integer',
    'minimum': 0,
    'default': 100,
    'description': 'How many nodes it gets in proportion to the others; 0: none.',
}


def _places(noun: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a list of places."""
    return {
        'type': 'array',
        'minItems': 1,
        'description': f'The {noun}s that the nodes are spread over.',
        'items': {
            'type': 'object',
            'properties': {
                'name': {
                    'type': 'string',
                    'minLength': 1,
                    'description': f'How the {noun} is called.',
                },
                'weight': _WEIGHT,
                **more,
            },
            'required': ['name'],
            'additionalProperties': False,
        },
    }


class Spreading(Policy):
    """Decides how many nodes come to, or go from, each of some places.

    :cvar places: the property, and the key of the decision
    :cvar key: in the placement of a node
    """

    places: ClassVar[str]
    key: ClassVar[str]
    before = frozenset(
        {sizes.SCALE_IN, sizes.SCALE_OUT, sizes.RESIZE, sizes.NODE_CREATE}
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse a place that is named twice."""
        names = [place['name'] for place in properties[self.places]]
        for name in names:
            if names.count(name) > 1:
                raise exceptions.InvalidSpec(
                    f'properties.{self.places}: {name} is named more than once'
                )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Decide where nodes come or go, if any do."""
        count = sizes.change(context, data)
        key = sizes.CREATION if count > 0 else sizes.DELETION
        decided = data.get(key) or {}
        if not count or self.places in decided:
            return
        wanted = self._wanted(context.properties)
        if context.node is not None:
            self._place(context, context.node.uuid, wanted)
            return
        now = placement.counted(context.nodes, self.key)
        plan = placement.grown if count > 0 else placement.shrunk
        data[key] = {
            **decided,
            'count': abs(count),
            self.places: plan(now, wanted, abs(count)),
        }

    def _place(
        self, context: PolicyContext, node: str, wanted: Sequence[Place]
    ) -> None:
        """Say where a node is made that is made alone."""
        own = context.node
        said = dict(own.data.get(placement.PLACEMENT) or {}) if own is not None else {}
        if self.key in said:
            return
        others = [other for other in context.nodes if other.uuid != node]
        (name,) = placement.grown(placement.counted(others, self.key), wanted, 1)
        said[self.key] = name
        context.save(node_data={node: {placement.PLACEMENT: said}})

    def _wanted(self, properties: Mapping[str, Any]) -> list[Place]:
        return [
            Place(place['name'], place['weight'], place.get('cap', -1))
            for place in properties[self.places]
        ]


class RegionPlacement(Spreading):
    """Spreads nodes over regions, each with a weight and room for so many."""

    description = 'Over which regions the nodes of a cluster are spread.'
    priority = 200
    places = 'regions'
    key = placement.REGION
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'regions': _places(
                'region',
                cap={
                    'type': 'integer',
                    'minimum': -1,
                    'default': -1,
                    'description': 'The most nodes that it takes; -1: any number.',
                },
            )
        },
        'required': ['regions'],
        'additionalProperties': False,
    }
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.10'},
    )


class ZonePlacement(Spreading):
    """Spreads nodes over zones, each with a weight."""

    description = 'Over which zones the nodes of a cluster are spread.'
    priority = 300
    places = 'zones'
    key = placement.ZONE
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'zones': _places('zone')},
        'required': ['zones'],
        'additionalProperties': False,
    }
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
    )
