"""JSON schemas of audit templates."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.representations.audit_templates import (
    DEFAULT_PARAMETERS,
)
from watcherlite.api.infra_optim.schemas import scopes, shapes
from watcherlite.api.operation import Schema, Version, Versioned, always

_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'name': shapes.TEXT,
    'goal_uuid': shapes.UUID,
    'goal_name': shapes.TEXT,
    'strategy_uuid': shapes.UUID_OR_NULL,
    'strategy_name': shapes.TEXT_OR_NULL,
    'scope': {'type': 'array'},
    'links': shapes.LINKS,
}


def _detailed(version: Version) -> Mapping[str, Schema]:
    parameters: Mapping[str, Schema] = {}
    if version >= DEFAULT_PARAMETERS:
        parameters = {'default_parameters': shapes.OBJECT}
    return {
        **_LISTED,
        'description': shapes.TEXT_OR_NULL,
        **parameters,
        **shapes.TIMESTAMPS,
    }


_DETAILED = {since: _detailed(since) for since in ((1, 0), DEFAULT_PARAMETERS)}

#: What can be given for each attribute, in the body of a POST and in a patch.
ATTRIBUTES: Mapping[str, Schema] = {
    'name': {'type': 'string', 'minLength': 1, 'maxLength': 63},
    'description': {'type': ['string', 'null'], 'maxLength': 255},
    'goal': {
        'type': 'string',
        'minLength': 1,
        'description': 'Uuid or name of a goal.',
    },
    'strategy': {
        'type': ['string', 'null'],
        'description': 'Uuid or name of a strategy that reaches the goal.',
    },
    'scope': scopes.SCOPE,
    'default_parameters': {
        'type': ['object', 'null'],
        'description': 'Of the strategy, for audits that name none; from 1.7 on.',
    },
}

QUERY = listing.query_schema('audit_templates')
#: The parameters are told apart by the handler: too early, they are a 406.
NEW: Versioned = always(
    {
        'title': 'audit_template',
        'type': 'object',
        'properties': dict(ATTRIBUTES),
        'required': ['name', 'goal'],
        'additionalProperties': False,
    }
)
TEMPLATE: Versioned = {
    since: shapes.whole(properties) for since, properties in _DETAILED.items()
}
COLLECTION = always(shapes.collection('audit_templates', shapes.whole(_LISTED)))
DETAILED_COLLECTION: Versioned = {
    since: shapes.collection('audit_templates', shapes.whole(properties))
    for since, properties in _DETAILED.items()
}
