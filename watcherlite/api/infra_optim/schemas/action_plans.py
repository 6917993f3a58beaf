"""JSON schemas of action plans, and of the documents that they come from."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing, patches
from watcherlite.api.infra_optim.representations.action_plans import STATUS_MESSAGE
from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.states import action_plan as states

QUERY = listing.query_schema('action_plans')
PATCH = patches.SCHEMA

#: Of a plan document only that it is an object is checked here. Reading it finds
#: all that is wrong with it at once, each with its place, and a schema would stop at
#: what comes first.
DOCUMENT = always(
    {
        'title': 'action_plan',
        'type': 'object',
        'description': 'A plan document, as `watcherlite run` takes it, in JSON.',
        'properties': {
            'name': {'description': 'Text; optional.'},
            'on_failure': {
                'description': f'One of {", ".join(states.ON_FAILURE)}; optional.'
            },
            'max_parallel': {'description': 'A whole number above 0; optional.'},
            'actions': {
                'description': 'A list of actions, each with a name, unique in the '
                'document, and an action_type; optional are input_parameters, '
                'parents (names), timeout (seconds), target and not_before.'
            },
        },
        'examples': [
            {
                'name': 'nightly',
                'actions': [
                    {
                        'name': 'drain',
                        'action_type': 'nop',
                        'input_parameters': {'message': 'it begins'},
                    },
                    {
                        'name': 'rest',
                        'action_type': 'sleep',
                        'input_parameters': {'duration': 1.5},
                        'parents': ['drain'],
                    },
                ],
            }
        ],
    }
)
#: Clients send {} or nothing to start a plan, and nothing of it is read.
START = always({'title': 'start'})

_INDICATORS: Schema = {
    'type': 'array',
    'items': {'type': 'object'},
    'description': 'Objects with name, description, unit and value.',
}
_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'state': {'type': 'string', 'enum': list(states.STATES)},
    'audit_uuid': shapes.UUID_OR_NULL,
    'strategy_uuid': shapes.UUID_OR_NULL,
    'strategy_name': shapes.TEXT_OR_NULL,
    'efficacy_indicators': _INDICATORS,
    'global_efficacy': _INDICATORS,
    'updated_at': shapes.TIME,
    'links': shapes.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'hostname': {'type': 'null'},
    'name': shapes.TEXT_OR_NULL,
    **shapes.TIMESTAMPS,
}
_WITH_MESSAGE: Mapping[str, Schema] = {
    **_DETAILED,
    'status_message': shapes.TEXT_OR_NULL,
}

COLLECTION = always(shapes.collection('action_plans', shapes.whole(_LISTED)))
ACTION_PLAN: Versioned = {
    (1, 0): shapes.whole(_DETAILED),
    STATUS_MESSAGE: shapes.whole(_WITH_MESSAGE),
}
DETAILED_COLLECTION: Versioned = {
    (1, 0): shapes.collection('action_plans', shapes.whole(_DETAILED)),
    STATUS_MESSAGE: shapes.collection('action_plans', shapes.whole(_WITH_MESSAGE)),
}
