"""JSON schemas of scoring engines."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, always
from watcherlite.db.listing import ASCENDING, DESCENDING

#: Those of a Watcher, as clients offer them.
SORT_KEYS = (
    *('id', 'uuid', 'name', 'description', 'metainfo'),
    *('created_at', 'updated_at', 'deleted_at'),
)

_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'name': shapes.TEXT,
    'description': shapes.TEXT,
    'links': shapes.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'metainfo': shapes.TEXT_OR_NULL,
    **shapes.TIMESTAMPS,
}

QUERY = always(
    {
        'type': 'object',
        'properties': {
            'limit': {'type': 'integer', 'minimum': 1},
            'marker': {**shapes.UUID, 'description': 'There is none to be named.'},
            'sort_key': {
                'type': 'string',
                'description': f'One of {", ".join(SORT_KEYS)}.',
            },
            'sort_dir': {'type': 'string', 'enum': [ASCENDING, DESCENDING]},
        },
        'additionalProperties': False,
    }
)
ENGINE = always(shapes.whole(_DETAILED))
COLLECTION = always(shapes.collection('scoring_engines', shapes.whole(_LISTED)))
DETAILED_COLLECTION = always(
    shapes.collection('scoring_engines', shapes.whole(_DETAILED))
)
