"""JSON schemas of what a template asks for."""

from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.api.orchestration.schemas.stacks import BROUGHT

_PARAMETERS: Schema = {
    'type': 'object',
    'description': 'By name: Type, Description, NoEcho (is it hidden?), Label, and '
    'where there are such Default, Value, MinLength and so on.',
    'additionalProperties': shapes.OBJECT,
}

QUERY: Versioned = shapes.arguments(
    {
        'show_nested': {
            'type': 'boolean',
            'description': 'Whether the templates of resources are told of as well.',
        },
        'ignore_errors': {'type': 'string', 'description': 'Passed over.'},
    }
)
BODY: Versioned = always(
    {'title': 'template', 'type': 'object', 'properties': dict(BROUGHT)}
)
ANSWER: Versioned = always(
    shapes.whole(
        {
            'Description': shapes.TEXT,
            'Parameters': _PARAMETERS,
            'Environment': shapes.OBJECT,
        },
        {
            'ParameterGroups': {'type': 'array', 'items': shapes.OBJECT},
            'NestedParameters': shapes.OBJECT,
        },
    )
)
