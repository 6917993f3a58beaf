"""JSON schemas of audits."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.representations.audits import (
    FORCE,
    START_AND_END,
    STATUS_MESSAGE,
)
from watcherlite.api.infra_optim.schemas import scopes, shapes
from watcherlite.api.operation import Schema, Version, Versioned, always
from watcherlite.domain.audits import AUDIT_TYPES
from watcherlite.states.audit import STATES

_TYPE: Schema = {
    'type': 'string',
    'enum': list(AUDIT_TYPES),
    'description': '; '.join(f'{name}: {what}' for name, what in AUDIT_TYPES.items()),
}
_STATE: Schema = {'type': 'string', 'enum': list(STATES)}

_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'name': shapes.TEXT,
    'audit_type': _TYPE,
    'state': _STATE,
    'goal_uuid': shapes.UUID,
    'goal_name': shapes.TEXT,
    'strategy_uuid': shapes.UUID_OR_NULL,
    'strategy_name': shapes.TEXT_OR_NULL,
    'interval': shapes.TEXT_OR_NULL,
    'scope': {'type': 'array'},
    'auto_trigger': shapes.BOOLEAN,
    'next_run_time': shapes.NAIVE_TIME,
    'links': shapes.LINKS,
}


def _detailed(version: Version) -> Mapping[str, Schema]:
    properties = {
        **_LISTED,
        'parameters': shapes.OBJECT,
        'hostname': shapes.TEXT_OR_NULL,
    }
    if version >= START_AND_END:
        properties['start_time'] = shapes.NAIVE_TIME
        properties['end_time'] = shapes.NAIVE_TIME
    if version >= FORCE:
        properties['force'] = {'type': 'boolean'}
    if version >= STATUS_MESSAGE:
        properties['status_message'] = shapes.TEXT_OR_NULL
    return {**properties, **shapes.TIMESTAMPS}


_DETAILED = {
    since: _detailed(since) for since in ((1, 0), START_AND_END, FORCE, STATUS_MESSAGE)
}

_MOMENT: Schema = {
    'type': ['string', 'null'],
    'description': (
        'A time by ISO 8601, in UTC unless it has an offset; from 1.1 on, and of '
        'CONTINUOUS audits.'
    ),
}
_COMMON: Mapping[str, Schema] = {
    'audit_type': _TYPE,
    'parameters': {
        'type': ['object', 'null'],
        'description': 'As the parameters_spec of the strategy says.',
    },
    'interval': {
        'type': ['string', 'integer', 'null'],
        'minLength': 1,
        'maxLength': 255,
        'minimum': 1,
        'description': (
            'Of CONTINUOUS audits: seconds, or a cron line of five to seven columns.'
        ),
    },
    'start_time': _MOMENT,
    'end_time': _MOMENT,
}
_NAME: Schema = {'type': 'string', 'minLength': 1, 'maxLength': 63}
_STRATEGY: Schema = {
    'type': ['string', 'null'],
    'description': 'Uuid or name of a strategy that reaches the goal.',
}

#: What can be given for each attribute in a patch.
ATTRIBUTES: Mapping[str, Schema] = {
    **_COMMON,
    'name': _NAME,
    'state': _STATE,
    'goal': {'type': 'string', 'minLength': 1},
    'strategy': _STRATEGY,
    'scope': scopes.SCOPE,
    'auto_trigger': shapes.BOOLEAN,
    'force': shapes.BOOLEAN,
}

QUERY = listing.query_schema('audits')
#: The times are told apart by the handler: too early, they are a 406.
NEW: Versioned = always(
    {
        'title': 'audit',
        'type': 'object',
        'properties': {
            **_COMMON,
            'name': {**_NAME, 'type': ['string', 'null']},
            'audit_template_uuid': shapes.UUID_OR_NULL,
            'goal': {
                'type': ['string', 'null'],
                'description': 'Uuid or name of a goal.',
            },
            'strategy': _STRATEGY,
            'auto_trigger': {'type': ['boolean', 'null']},
            'force': {'type': ['boolean', 'null']},
        },
        'required': ['audit_type'],
        'additionalProperties': False,
    }
)
AUDIT: Versioned = {
    since: shapes.whole(properties) for since, properties in _DETAILED.items()
}
COLLECTION = always(shapes.collection('audits', shapes.whole(_LISTED)))
DETAILED_COLLECTION: Versioned = {
    since: shapes.collection('audits', shapes.whole(properties))
    for since, properties in _DETAILED.items()
}
