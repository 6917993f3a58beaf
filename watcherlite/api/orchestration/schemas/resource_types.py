"""JSON schemas of what stacks can be made of."""

from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.api.orchestration.schemas.shapes import whole

_SUPPORT: Schema = whole(
    {
        'status': shapes.TEXT,
        'message': shapes.TEXT_OR_NULL,
        'version': shapes.TEXT_OR_NULL,
        'previous_status': {'type': 'null'},
    }
)
_DESCRIBED: Schema = whole(
    {'resource_type': shapes.TEXT, 'description': shapes.TEXT_OR_NULL}
)
_PROPERTY: Schema = whole(
    {
        'type': {
            'type': 'string',
            'enum': ['string', 'integer', 'number', 'boolean', 'map', 'list', 'any'],
        },
        'required': shapes.BOOLEAN,
        'update_allowed': shapes.BOOLEAN,
        'immutable': shapes.BOOLEAN,
    },
    {
        'description': shapes.TEXT,
        'default': shapes.ANYTHING,
        'constraints': {'type': 'array', 'items': shapes.OBJECT},
        'schema': shapes.OBJECT,
    },
)
_ATTRIBUTE: Schema = whole({'description': shapes.TEXT})

INDEX: Versioned = shapes.arguments(
    {
        'name': {
            'type': 'string',
            'maxLength': 255,
            'description': 'What names begin with, as a regular expression without '
            'groups.',
        },
        'version': {'type': 'string', 'description': 'Passed over.'},
        'support_status': {'type': 'string'},
        'with_description': shapes.BOOLEAN,
    }
)
SHOW: Versioned = shapes.arguments({'with_description': shapes.BOOLEAN})
TEMPLATE: Versioned = shapes.arguments(
    {'template_type': {'type': 'string', 'enum': ['hot']}}
)
COLLECTION: Versioned = shapes.listed(
    'resource_types', {'anyOf': [shapes.TEXT, _DESCRIBED]}
)
TYPE: Versioned = always(
    whole(
        {
            'resource_type': shapes.TEXT,
            'properties': {'type': 'object', 'additionalProperties': _PROPERTY},
            'attributes': {'type': 'object', 'additionalProperties': _ATTRIBUTE},
            'support_status': _SUPPORT,
        },
        {'description': shapes.TEXT_OR_NULL},
    )
)
DOCUMENT: Versioned = always(shapes.OBJECT)

_VERSION: Schema = whole(
    {
        'version': shapes.TEXT,
        'type': {'type': 'string', 'enum': ['hot']},
        'aliases': shapes.TEXTS,
    }
)
_FUNCTION: Schema = whole({'functions': shapes.TEXT, 'description': shapes.TEXT})
VERSIONS: Versioned = shapes.listed('template_versions', _VERSION)
FUNCTIONS_QUERY: Versioned = shapes.arguments({'with_condition_func': shapes.BOOLEAN})
FUNCTIONS: Versioned = shapes.listed('template_functions', _FUNCTION)
