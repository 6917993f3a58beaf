"""JSON schemas of actions."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages, patches
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.infra_optim.versions import DELETED, OUTPUTS, STATUS_MESSAGE
from watcherlite.api.operation import Schema, unversioned
from watcherlite.states import action as states

QUERY = pages.query_schema('actions')
PATCH = patches.SCHEMA
#: A signal has no body.
SIGNAL = unversioned({'title': 'signal'})

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'action_plan_uuid': fragments.UUID_OR_NULL,
    'state': {
        'type': 'string',
        'enum': [*dict.fromkeys(states.INFRA_OPTIM.values()), DELETED],
    },
    'action_type': fragments.TEXT,
    'parents': {'type': 'array', 'items': fragments.UUID},
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'description': fragments.TEXT,
    'input_parameters': fragments.OBJECT,
    'name': fragments.TEXT_OR_NULL,
    'target': fragments.TEXT_OR_NULL,
    'suspended': fragments.BOOLEAN,
    'start_time': fragments.NAIVE_TIME,
    'end_time': fragments.NAIVE_TIME,
    **fragments.TIMESTAMPS,
}
_WITH_MESSAGE: Mapping[str, Schema] = {
    **_DETAILED,
    'status_message': fragments.TEXT_OR_NULL,
}

_ACTION, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'actions', _LISTED, {(1, 0): _DETAILED, STATUS_MESSAGE: _WITH_MESSAGE}
)
#: Only a single action has outputs, which may be large.
ACTION = {
    **_ACTION,
    OUTPUTS: fragments.closed(
        {
            **_WITH_MESSAGE,
            'outputs': {
                'type': ['object', 'null'],
                'description': 'What its action type returned, such as exit_code, '
                'stdout and stderr; null before its end, and without outputs.',
            },
        }
    ),
}
