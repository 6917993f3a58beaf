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
        'description': 'The indicators that say how well a plan reaches the goal.',
    },
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {**_LISTED, **fragments.TIMESTAMPS}

QUERY = pages.query_schema('goals')
GOAL, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'goals', _LISTED, {(1, 0): _DETAILED}
)
