"""JSON schemas of installed plugins."""

from collections.abc import Mapping

from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema, unversioned
from watcherlite.plugins import base

QUERY = unversioned(
    {
        'type': 'object',
        'properties': {'namespace': {'type': 'string', 'enum': list(base.NAMESPACES)}},
        'additionalProperties': False,
    }
)

_SHOWN: Mapping[str, Schema] = {
    'namespace': {'type': 'string', 'enum': list(base.NAMESPACES)},
    'name': fragments.TEXT,
    'distribution': fragments.TEXT,
    'version': fragments.TEXT,
    'target': {'type': 'string', 'description': 'module:Class'},
    'description': fragments.TEXT,
    'error': {
        'type': ['string', 'null'],
        'description': 'The reason for which it cannot be used; null if it can.',
    },
}

COLLECTION = unversioned(fragments.collection('plugins', fragments.closed(_SHOWN)))
