"""JSON schemas of services."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, always

SORT_KEYS = ('id', 'name', 'host', 'status', 'last_seen_up', 'created_at', 'updated_at')

_LISTED: Mapping[str, Schema] = {
    'id': {'type': 'integer'},
    'name': shapes.TEXT,
    'host': shapes.TEXT,
    'status': {
        'type': 'string',
        'enum': ['ACTIVE', 'FAILED'],
        'description': 'FAILED: its lease has ended.',
    },
    'links': shapes.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'last_seen_up': shapes.NAIVE_TIME,
    **shapes.TIMESTAMPS,
}

QUERY = listing.paging(
    SORT_KEYS,
    {
        'type': 'integer',
        'description': 'The page begins after the service of this id.',
    },
)
SERVICE = always(shapes.whole(_DETAILED))
COLLECTION = always(shapes.collection('services', shapes.whole(_LISTED)))
DETAILED_COLLECTION = always(shapes.collection('services', shapes.whole(_DETAILED)))
