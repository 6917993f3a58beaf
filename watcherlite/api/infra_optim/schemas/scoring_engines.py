"""JSON schemas of scoring engines."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, always

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

QUERY = listing.paging(
    SORT_KEYS, {**shapes.UUID, 'description': 'There is none to be named.'}
)
ENGINE = always(shapes.whole(_DETAILED))
COLLECTION = always(shapes.collection('scoring_engines', shapes.whole(_LISTED)))
DETAILED_COLLECTION = always(
    shapes.collection('scoring_engines', shapes.whole(_DETAILED))
)
