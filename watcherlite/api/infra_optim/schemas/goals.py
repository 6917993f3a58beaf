"""JSON schemas of goals."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'name': fragments.TEXT,
    'display_name': fragments.TEXT,
    'efficacy_specification': {
        'type': 'array',
        'description': 'The indicators of the efficacy of a plan.',
    },
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {**_LISTED, **fragments.TIMESTAMPS}

QUERY = pages.query_schema('goals')
GOAL, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'goals', _LISTED, {(1, 0): _DETAILED}
)
