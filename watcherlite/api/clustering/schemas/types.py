"""JSON schemas of the types of profiles and policies."""

from watcherlite.api.clustering.schemas import fragments
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema, Version, Versioned

#: The version that introduced the support status.
SUPPORT: Version = (1, 5)

_SUPPORT: Schema = {
    'type': 'object',
    'additionalProperties': {
        'type': 'array',
        'items': {'type': 'object', 'additionalProperties': fragments.TEXT},
    },
    'description': 'The changes of its support status by version, each with its date.',
}
_NAMED: Schema = closed({'name': fragments.TEXT})
_SUPPORTED: Schema = closed(
    {'name': fragments.TEXT, 'version': fragments.TEXT, 'support_status': _SUPPORT}
)
_TYPE: Schema = closed({'name': fragments.TEXT, 'schema': fragments.OBJECT})
_SUPPORTED_TYPE: Schema = closed(
    {'name': fragments.TEXT, 'schema': fragments.OBJECT, 'support_status': _SUPPORT}
)


def listed(noun: str) -> Versioned:
    """Return the schema of a list of types."""
    return {
        (1, 0): closed({noun: {'type': 'array', 'items': _NAMED}}),
        SUPPORT: closed({noun: {'type': 'array', 'items': _SUPPORTED}}),
    }


def one(noun: str) -> Versioned:
    """Return the schema of a type with the schema of its properties."""
    return {(1, 0): closed({noun: _TYPE}), SUPPORT: closed({noun: _SUPPORTED_TYPE})}


OPERATIONS: Versioned = fragments.under(
    'operations',
    {
        'type': 'object',
        'additionalProperties': closed(
            {'description': fragments.TEXT, 'parameters': fragments.OBJECT}
        ),
    },
)
