"""JSON schemas of scoring engines."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema

#: Sort keys of Watcher, which clients offer.
SORT_KEYS = (
    'id',
    'uuid',
    'name',
    'description',
    'metainfo',
    'created_at',
    'updated_at',
    'deleted_at',
)

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'name': fragments.TEXT,
    'description': fragments.TEXT,
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'metainfo': fragments.TEXT_OR_NULL,
    **fragments.TIMESTAMPS,
}

QUERY = pages.paging(
    SORT_KEYS, {**fragments.UUID, 'description': 'Ignored: the list is empty.'}
)
ENGINE, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'scoring_engines', _LISTED, {(1, 0): _DETAILED}
)
