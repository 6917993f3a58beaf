"""The declarations of a resource handler as lines of tables, without Sphinx."""

import json

# A module of this directory, which conf.py adds to sys.path.
import tables

from watcherlite.domain.resource_results import Operation, Property
from watcherlite.plugins.base import ResourceHandler

#: The effect of a change of a property.
_UPDATED, _REPLACED, _REJECTED = 'updated', 'replaced', 'rejected'
_LIVE = 'Read from the service whenever it is referred to.'


def lines(handler: type[ResourceHandler]) -> list[str]:
    """Return the tables of the properties, attributes and operations of a type."""
    shown = []
    if handler.properties:
        heads = ('Property', 'Type', 'Change', 'Meaning')
        rows = [_row(name, p) for name, p in handler.properties.items()]
        shown += tables.list_table(heads, (20, 16, 12, 52), rows)
    attributes = {
        **handler.attributes,
        **{name: f'{text} {_LIVE}' for name, text in handler.live_attributes.items()},
    }
    if attributes:
        named = [(f'``{n}``', text) for n, text in attributes.items()]
        shown += tables.list_table(('Attribute', 'Meaning'), (20, 80), named)
    if handler.operations:
        heads = ('Operation', 'Parameters', 'Meaning')
        done = [_operation(name, o) for name, o in handler.operations.items()]
        shown += tables.list_table(heads, (20, 20, 60), done)
    return shown


def _operation(name: str, declared: Operation) -> tuple[str, str, str]:
    parameters = declared.schema.get('properties') or {}
    named = ', '.join(f'``{parameter}``' for parameter in parameters) or 'none'
    return f'``{name}``', named, declared.description.replace('`', '``')


def _row(name: str, declared: Property) -> tuple[str, str, str, str]:
    schema = declared.schema
    label = f'``{name}``' + (' (required)' if declared.required else '')
    meaning = declared.description.replace('`', '``')
    if schema.get('default') not in (None, '', {}, []):
        meaning += f' Default: ``{json.dumps(schema["default"])}``.'
    if 'enum' in schema:
        values = ', '.join(f'``{value}``' for value in schema['enum'])
        meaning += f' One of {values}.'
    change = _UPDATED if declared.updatable else _REPLACED
    kinds = schema.get('type', 'string' if 'enum' in schema else 'anything')
    kind = kinds if isinstance(kinds, str) else ' or '.join(kinds)
    return label, kind, _REJECTED if declared.immutable else change, meaning
