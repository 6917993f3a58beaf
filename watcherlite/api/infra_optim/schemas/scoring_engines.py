"""JSON schemas of scoring engines."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'name': fragments.TEXT,
    'description': fragments.TEXT,
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'metainfo': {
        **fragments.TEXT,
        'description': 'The features and scores of the engine, usually as JSON.',
    },
    **fragments.TIMESTAMPS,
}

QUERY = pages.query_schema('scoring_engines')
ENGINE, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'scoring_engines', _LISTED, {(1, 0): _DETAILED}
)
