"""The directive `resource-type`: the declarations of a resource handler, as tables.

.. code-block:: rst

   .. resource-type:: watcherlite.plugins.resource_handlers.value:Value
"""

import importlib

# Modules of this directory, which conf.py adds to sys.path.
import generated
import resource_tables
from sphinx.application import Sphinx


class ResourceType(generated.Generated):
    """The tables of a resource type."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the tables."""
        module, _, name = self.arguments[0].partition(':')
        try:
            handler = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise self.error(str(error)) from error
        return resource_tables.lines(handler)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive('resource-type', ResourceType)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
