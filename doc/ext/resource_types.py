"""The directive `resource-type`: what a resource handler declares, as tables.

.. code-block:: rst

   .. resource-type:: watcherlite.plugins.resource_handlers.value:Value
"""

import importlib
import json

# This one stands beside this file; conf.py has put the directory on the path.
import tables
from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from watcherlite.domain.handling import Property
from watcherlite.plugins.base import ResourceHandler

#: What a change of a property means.
_UPDATED, _REPLACED, _REFUSED = 'updated', 'replaced', 'refused'


def lines(handler: type[ResourceHandler]) -> list[str]:
    """Return the tables of the properties and of the attributes of a type."""
    shown = []
    if handler.properties:
        heads = ('Property', 'Type', 'A change', 'Meaning')
        rows = [_row(name, p) for name, p in handler.properties.items()]
        shown += tables.list_table(heads, (20, 16, 12, 52), rows)
    if handler.attributes:
        named = [(f'``{n}``', text) for n, text in handler.attributes.items()]
        shown += tables.list_table(('Attribute', 'Meaning'), (20, 80), named)
    return shown


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
    return label, kind, _REFUSED if declared.immutable else change, meaning


class ResourceType(rst.Directive):
    """Shows a resource type."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the tables."""
        module, _, name = self.arguments[0].partition(':')
        try:
            handler = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise self.error(str(error)) from error
        container = nodes.container()
        content = StringList(lines(handler), self.arguments[0])
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known to Sphinx."""
    app.add_directive('resource-type', ResourceType)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
