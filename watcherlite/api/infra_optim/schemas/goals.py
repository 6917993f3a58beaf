"""JSON schemas of goals."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, always

_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'name': shapes.TEXT,
    'display_name': shapes.TEXT,
    'efficacy_specification': {
        'type': 'array',
        'description': 'The indicators that say how well a plan reaches the goal.',
    },
    'links': shapes.LINKS,
}
_DETAILED: Mapping[str, Schema] = {**_LISTED, **shapes.TIMESTAMPS}

QUERY = listing.query_schema('goals')
GOAL = always(shapes.whole(_DETAILED))
COLLECTION = always(shapes.collection('goals', shapes.whole(_LISTED)))
DETAILED_COLLECTION = always(shapes.collection('goals', shapes.whole(_DETAILED)))
