"""JSON schemas of strategies."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, always

_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'name': shapes.TEXT,
    'display_name': shapes.TEXT,
    'goal_uuid': shapes.UUID_OR_NULL,
    'goal_name': shapes.TEXT_OR_NULL,
    'links': shapes.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'parameters_spec': {
        'type': 'object',
        'description': 'The JSON schema of the parameters of its audits.',
    },
    **shapes.TIMESTAMPS,
}

QUERY = listing.query_schema('strategies')
STRATEGY = always(shapes.whole(_DETAILED))
COLLECTION = always(shapes.collection('strategies', shapes.whole(_LISTED)))
DETAILED_COLLECTION = always(shapes.collection('strategies', shapes.whole(_DETAILED)))
STATE = always(
    {
        'type': 'array',
        'description': 'What the strategy needs, and whether it is there.',
        'items': shapes.whole(
            {
                'type': {
                    'type': 'string',
                    'enum': ['Datasource', 'Metrics', 'CDM', 'Name'],
                },
                'state': {
                    'type': ['string', 'array'],
                    'items': {
                        'type': 'object',
                        'additionalProperties': {'type': 'string'},
                    },
                },
                'mandatory': {'type': ['boolean', 'string']},
                'comment': shapes.TEXT,
            }
        ),
    }
)
