"""The directive `resource-type`: what a resource handler declares, as tables.

.. code-block:: rst

   .. resource-type:: watcherlite.plugins.resource_handlers.value:Value
"""

import importlib

# This one stands beside this file; conf.py has put the directory on the path.
import resource_tables
from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList
from sphinx.application import Sphinx


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
        content = StringList(resource_tables.lines(handler), self.arguments[0])
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known to Sphinx."""
    app.add_directive('resource-type', ResourceType)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
