"""JSON schemas of action plans and of plan documents."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages, patches
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.infra_optim.versions import PROGRESS, STATUS_MESSAGE
from watcherlite.api.operation import Schema, unversioned
from watcherlite.states import action_plan as states

QUERY = pages.query_schema('action_plans')
PATCH = patches.SCHEMA

#: Validates only that a plan document is an object: its parser reports all problems
#: with their positions, a schema only the first one.
DOCUMENT = unversioned(
    {
        'title': 'action_plan',
        'type': 'object',
        'description': 'A plan document, as for `watcherlite run`, in JSON.',
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
#: Clients send {} or nothing to start a plan; the body is ignored.
START = unversioned({'title': 'start'})
RETRY = unversioned({'title': 'retry', 'type': 'object', 'additionalProperties': False})

_INDICATORS: Schema = {
    'type': 'array',
    'items': {'type': 'object'},
    'description': 'Objects with name, description, unit and value.',
}
_COUNT: Schema = {'type': 'integer', 'minimum': 0}
_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'state': {'type': 'string', 'enum': list(states.STATES)},
    'audit_uuid': fragments.UUID_OR_NULL,
    'strategy_uuid': fragments.UUID_OR_NULL,
    'strategy_name': fragments.TEXT_OR_NULL,
    'efficacy_indicators': _INDICATORS,
    'global_efficacy': _INDICATORS,
    'updated_at': fragments.TIME,
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'hostname': {'type': 'null'},
    'name': fragments.TEXT_OR_NULL,
    **fragments.TIMESTAMPS,
}
_WITH_MESSAGE: Mapping[str, Schema] = {
    **_DETAILED,
    'status_message': fragments.TEXT_OR_NULL,
}
_WITH_PROGRESS: Mapping[str, Schema] = {
    **_WITH_MESSAGE,
    'progress': {
        'type': 'object',
        'description': 'The number of its actions, of those that have ended, and among '
        'these of those that have failed or were skipped; whether the plan is, or was, '
        'rolled back, by further actions.',
        'properties': {
            **dict.fromkeys(('total', 'ended', 'failed', 'skipped'), _COUNT),
            'rolled_back': {'type': 'boolean'},
        },
        'required': ['total', 'ended', 'failed', 'skipped', 'rolled_back'],
        'additionalProperties': False,
    },
}

ACTION_PLAN, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'action_plans',
    _LISTED,
    {(1, 0): _DETAILED, STATUS_MESSAGE: _WITH_MESSAGE, PROGRESS: _WITH_PROGRESS},
)
