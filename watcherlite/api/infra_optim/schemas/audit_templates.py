"""JSON schemas of audit templates."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments, scopes
from watcherlite.api.infra_optim.versions import DEFAULT_PARAMETERS
from watcherlite.api.operation import Schema, Version, Versioned, unversioned

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'name': fragments.TEXT,
    'goal_uuid': fragments.UUID,
    'goal_name': fragments.TEXT,
    'strategy_uuid': fragments.UUID_OR_NULL,
    'strategy_name': fragments.TEXT_OR_NULL,
    'scope': {'type': 'array'},
    'links': fragments.LINKS,
}


def _detailed(version: Version) -> Mapping[str, Schema]:
    parameters: Mapping[str, Schema] = {}
    if version >= DEFAULT_PARAMETERS:
        parameters = {'default_parameters': fragments.OBJECT}
    return {
        **_LISTED,
        'description': fragments.TEXT_OR_NULL,
        **parameters,
        **fragments.TIMESTAMPS,
    }


_DETAILED = {since: _detailed(since) for since in ((1, 0), DEFAULT_PARAMETERS)}

#: The schemas of the attributes in a POST or a patch.
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

QUERY = pages.query_schema('audit_templates')
#: The handler rejects the parameters before 1.7 with 406.
NEW: Versioned = unversioned(
    {
        'title': 'audit_template',
        'type': 'object',
        'properties': dict(ATTRIBUTES),
        'required': ['name', 'goal'],
        'additionalProperties': False,
    }
)
TEMPLATE, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'audit_templates', _LISTED, _DETAILED
)
