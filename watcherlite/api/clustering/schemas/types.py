"""JSON schemas of the types of profiles and policies."""

from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.operation import Schema, Version, Versioned
from watcherlite.api.shapes import whole

#: The version that tells of support.
SUPPORT: Version = (1, 5)

_SUPPORT: Schema = {
    'type': 'object',
    'additionalProperties': {
        'type': 'array',
        'items': {'type': 'object', 'additionalProperties': shapes.TEXT},
    },
    'description': 'Version to what became of it, and since when.',
}
_NAMED: Schema = whole({'name': shapes.TEXT})
_SUPPORTED: Schema = whole(
    {'name': shapes.TEXT, 'version': shapes.TEXT, 'support_status': _SUPPORT}
)
_TYPE: Schema = whole({'name': shapes.TEXT, 'schema': shapes.OBJECT})
_SUPPORTED_TYPE: Schema = whole(
    {'name': shapes.TEXT, 'schema': shapes.OBJECT, 'support_status': _SUPPORT}
)


def listed(noun: str) -> Versioned:
    """Return the schema of a list of types."""
    return {
        (1, 0): whole({noun: {'type': 'array', 'items': _NAMED}}),
        SUPPORT: whole({noun: {'type': 'array', 'items': _SUPPORTED}}),
    }


def one(noun: str) -> Versioned:
    """Return the schema of a type with the schema of its properties."""
    return {(1, 0): whole({noun: _TYPE}), SUPPORT: whole({noun: _SUPPORTED_TYPE})}


OPERATIONS: Versioned = shapes.under(
    'operations',
    {
        'type': 'object',
        'additionalProperties': whole(
            {'description': shapes.TEXT, 'parameters': shapes.OBJECT}
        ),
    },
)
