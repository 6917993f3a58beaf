"""JSON schemas of events."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, unversioned
from watcherlite.domain import events

_SHOWN: Mapping[str, Schema] = {
    'sequence': {'type': 'integer', 'description': 'Increases from event to event.'},
    'uuid': {**fragments.UUID, 'description': 'Also the id of its notification.'},
    'occurred_at': fragments.TIME,
    'subject': {
        'type': 'string',
        'enum': [events.ACTION, events.ACTION_PLAN, events.AUDIT],
    },
    'kind': {'type': 'string', 'enum': list(events.KINDS)},
    'action_uuid': fragments.UUID_OR_NULL,
    'action_name': fragments.TEXT_OR_NULL,
    'action_type': fragments.TEXT_OR_NULL,
    'old_state': fragments.TEXT_OR_NULL,
    'new_state': fragments.TEXT_OR_NULL,
    'suspended': {
        **fragments.BOOLEAN,
        'description': 'Of an action: after the change.',
    },
    'message': fragments.TEXT_OR_NULL,
    'detail': {'type': ['object', 'null']},
}

COLLECTION = unversioned(fragments.collection('events', fragments.closed(_SHOWN)))
