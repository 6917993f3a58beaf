"""JSON schemas of audits and of the webhooks that trigger them."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments, scopes
from watcherlite.api.infra_optim.versions import FORCE, START_AND_END, STATUS_MESSAGE
from watcherlite.api.operation import Schema, Version, Versioned, unversioned
from watcherlite.domain.audits import AUDIT_TYPES
from watcherlite.states.audit import STATES

_TYPE: Schema = {
    'type': 'string',
    'enum': list(AUDIT_TYPES),
    'description': '; '.join(f'{name}: {what}' for name, what in AUDIT_TYPES.items()),
}
_STATE: Schema = {'type': 'string', 'enum': list(STATES)}

_LISTED: Mapping[str, Schema] = {
    'uuid': fragments.UUID,
    'name': fragments.TEXT,
    'audit_type': _TYPE,
    'state': _STATE,
    'goal_uuid': fragments.UUID,
    'goal_name': fragments.TEXT,
    'strategy_uuid': fragments.UUID_OR_NULL,
    'strategy_name': fragments.TEXT_OR_NULL,
    'interval': fragments.TEXT_OR_NULL,
    'scope': {'type': 'array'},
    'auto_trigger': fragments.BOOLEAN,
    'next_run_time': fragments.NAIVE_TIME,
    'links': fragments.LINKS,
}


def _detailed(version: Version) -> Mapping[str, Schema]:
    properties = {
        **_LISTED,
        'parameters': fragments.OBJECT,
        'hostname': fragments.TEXT_OR_NULL,
    }
    if version >= START_AND_END:
        properties['start_time'] = fragments.NAIVE_TIME
        properties['end_time'] = fragments.NAIVE_TIME
    if version >= FORCE:
        properties['force'] = {'type': 'boolean'}
    if version >= STATUS_MESSAGE:
        properties['status_message'] = fragments.TEXT_OR_NULL
    return {**properties, **fragments.TIMESTAMPS}


_DETAILED = {
    since: _detailed(since) for since in ((1, 0), START_AND_END, FORCE, STATUS_MESSAGE)
}

_MOMENT: Schema = {
    'type': ['string', 'null'],
    'description': (
        'A time in ISO 8601, in UTC unless it has an offset; from 1.1 on, and of '
        'CONTINUOUS audits.'
    ),
}
_COMMON: Mapping[str, Schema] = {
    'audit_type': _TYPE,
    'parameters': {
        'type': ['object', 'null'],
        'description': 'Described by the parameters_spec of the strategy.',
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

#: The schemas of the attributes in a patch.
ATTRIBUTES: Mapping[str, Schema] = {
    **_COMMON,
    'name': _NAME,
    'state': _STATE,
    'goal': {'type': 'string', 'minLength': 1},
    'strategy': _STRATEGY,
    'scope': scopes.SCOPE,
    'auto_trigger': fragments.BOOLEAN,
    'force': fragments.BOOLEAN,
}

QUERY = pages.query_schema('audits')
#: The handler rejects the times before 1.1 with 406.
NEW: Versioned = unversioned(
    {
        'title': 'audit',
        'type': 'object',
        'properties': {
            **_COMMON,
            'name': {**_NAME, 'type': ['string', 'null']},
            'audit_template_uuid': fragments.UUID_OR_NULL,
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
AUDIT, COLLECTION, DETAILED_COLLECTION = fragments.views('audits', _LISTED, _DETAILED)


#: Any JSON value, but not an empty body.
EVENT = unversioned(
    {
        'title': 'body',
        'description': 'The data of the event: any JSON value. A body is required.',
    }
)
