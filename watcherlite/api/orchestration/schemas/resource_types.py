"""JSON schemas of resource types and template versions."""

from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.api.orchestration.schemas.fragments import closed
from watcherlite.domain.templates import formats

_SUPPORT: Schema = closed(
    {
        'status': fragments.TEXT,
        'message': fragments.TEXT_OR_NULL,
        'version': fragments.TEXT_OR_NULL,
        'previous_status': {'type': 'null'},
    }
)
_DESCRIBED: Schema = closed(
    {'resource_type': fragments.TEXT, 'description': fragments.TEXT_OR_NULL}
)
_PROPERTY: Schema = closed(
    {
        'type': {
            'type': 'string',
            'enum': ['string', 'integer', 'number', 'boolean', 'map', 'list', 'any'],
        },
        'required': fragments.BOOLEAN,
        'update_allowed': fragments.BOOLEAN,
        'immutable': fragments.BOOLEAN,
    },
    {
        'description': fragments.TEXT,
        'default': fragments.ANYTHING,
        'constraints': {'type': 'array', 'items': fragments.OBJECT},
        'schema': fragments.OBJECT,
    },
)
_ATTRIBUTE: Schema = closed({'description': fragments.TEXT})

_FORMATS = [one.type for one in formats.FORMATS]
INDEX: Versioned = fragments.arguments(
    {
        'name': {
            'type': 'string',
            'maxLength': 255,
            'description': 'A regular expression without groups, matched at the start '
            'of names.',
        },
        'version': {'type': 'string', 'description': 'Ignored.'},
        'support_status': {'type': 'string'},
        'with_description': fragments.BOOLEAN,
    }
)
SHOW: Versioned = fragments.arguments({'with_description': fragments.BOOLEAN})
TEMPLATE: Versioned = fragments.arguments(
    {'template_type': {'type': 'string', 'enum': _FORMATS}}
)
COLLECTION: Versioned = fragments.listed(
    'resource_types', {'anyOf': [fragments.TEXT, _DESCRIBED]}
)
TYPE: Versioned = unversioned(
    closed(
        {
            'resource_type': fragments.TEXT,
            'properties': {'type': 'object', 'additionalProperties': _PROPERTY},
            'attributes': {'type': 'object', 'additionalProperties': _ATTRIBUTE},
            'support_status': _SUPPORT,
        },
        {'description': fragments.TEXT_OR_NULL},
    )
)
DOCUMENT: Versioned = unversioned(fragments.OBJECT)

_VERSION: Schema = closed(
    {
        'version': fragments.TEXT,
        'type': {'type': 'string', 'enum': _FORMATS},
        'aliases': fragments.TEXTS,
    }
)
_FUNCTION: Schema = closed({'functions': fragments.TEXT, 'description': fragments.TEXT})
VERSIONS: Versioned = fragments.listed('template_versions', _VERSION)
FUNCTIONS_QUERY: Versioned = fragments.arguments(
    {'with_condition_func': fragments.BOOLEAN}
)
FUNCTIONS: Versioned = fragments.listed('template_functions', _FUNCTION)
