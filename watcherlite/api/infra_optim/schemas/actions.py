"""JSON schemas of actions."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import listing, patches
from watcherlite.api.infra_optim.representations.actions import STATUS_MESSAGE
from watcherlite.api.infra_optim.representations.common import DELETED
from watcherlite.api.infra_optim.schemas import shapes
from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.states import action as states

QUERY = listing.query_schema('actions')
PATCH = patches.SCHEMA
#: A signal needs nothing but its address.
SIGNAL = always({'title': 'signal'})

_LISTED: Mapping[str, Schema] = {
    'uuid': shapes.UUID,
    'action_plan_uuid': shapes.UUID_OR_NULL,
    'state': {
        'type': 'string',
        'enum': [*dict.fromkeys(states.INFRA_OPTIM.values()), DELETED],
    },
    'action_type': shapes.TEXT,
    'parents': {'type': 'array', 'items': shapes.UUID},
    'links': shapes.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'description': shapes.TEXT,
    'input_parameters': shapes.OBJECT,
    'name': shapes.TEXT_OR_NULL,
    'target': shapes.TEXT_OR_NULL,
    'suspended': shapes.BOOLEAN,
    'start_time': shapes.NAIVE_TIME,
    'end_time': shapes.NAIVE_TIME,
    **shapes.TIMESTAMPS,
}
_WITH_MESSAGE: Mapping[str, Schema] = {
    **_DETAILED,
    'status_message': shapes.TEXT_OR_NULL,
}

COLLECTION = always(shapes.collection('actions', shapes.whole(_LISTED)))
ACTION: Versioned = {
    (1, 0): shapes.whole(_DETAILED),
    STATUS_MESSAGE: shapes.whole(_WITH_MESSAGE),
}
DETAILED_COLLECTION: Versioned = {
    (1, 0): shapes.collection('actions', shapes.whole(_DETAILED)),
    STATUS_MESSAGE: shapes.collection('actions', shapes.whole(_WITH_MESSAGE)),
}
