"""JSON schemas of the engines that work on stacks."""

from watcherlite.api.operation import Schema, Versioned
from watcherlite.api.orchestration.schemas import shapes

_SERVICE: Schema = shapes.whole(
    {
        'id': shapes.TEXT,
        'engine_id': shapes.TEXT,
        'binary': shapes.TEXT,
        'topic': shapes.TEXT,
        'host': shapes.TEXT,
        'hostname': shapes.TEXT,
        'status': {'type': 'string', 'enum': ['up', 'down']},
        'created_at': shapes.TIME,
        'updated_at': shapes.TIME,
        'deleted_at': shapes.TIME,
    }
)
SERVICES: Versioned = shapes.listed('services', _SERVICE)
