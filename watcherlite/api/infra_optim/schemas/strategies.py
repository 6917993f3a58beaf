"""JSON schemas of strategies."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, unversioned

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'name': fragments.TEXT,
    'display_name': fragments.TEXT,
    'goal_uuid': fragments.UUID_OR_NULL,
    'goal_name': fragments.TEXT_OR_NULL,
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'parameters_spec': {
        'type': 'object',
        'description': 'The JSON schema of the parameters of its audits.',
    },
    **fragments.TIMESTAMPS,
}

QUERY = pages.query_schema('strategies')
STRATEGY, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'strategies', _LISTED, {(1, 0): _DETAILED}
)
STATE = unversioned(
    {
        'type': 'array',
        'description': 'The requirements of the strategy, and whether they are met.',
        'items': fragments.closed(
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
                'comment': fragments.TEXT,
            }
        ),
    }
)
