"""The directives `state-machine` and `state-views`.

.. code-block:: rst

   .. state-machine:: watcherlite.states.action
   .. state-views:: watcherlite.states.action INFRA_OPTIM CLUSTERING

The first draws the MACHINE of a module and shows its tables; the second shows what
tables of the module, each from a state to a name, make of the states.
"""

import importlib
from typing import Any

# These two stand beside this file; conf.py has put the directory on the path.
import drawing
import tables
from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList
from sphinx.application import Sphinx


class _OfModule(rst.Directive):
    required_arguments = 1

    def module(self) -> Any:
        try:
            return importlib.import_module(self.arguments[0])
        except ImportError as error:
            raise self.error(str(error)) from error

    def attribute(self, name: str) -> Any:
        try:
            return getattr(self.module(), name)
        except AttributeError as error:
            raise self.error(str(error)) from error

    def parsed(self, lines: list[str]) -> list[nodes.Node]:
        container = nodes.container()
        content = StringList(lines, self.arguments[0])
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)


class StateMachine(_OfModule):
    """Shows a machine."""

    def run(self) -> list[nodes.Node]:
        """Return the drawing, for HTML only, and the tables."""
        machine = self.attribute('MACHINE')
        drawn = nodes.raw('', drawing.svg(machine), format='html')
        lines = [*tables.states(machine), *tables.transitions(machine)]
        return [drawn, *self.parsed(lines)]


class StateViews(_OfModule):
    """Shows what a state is called elsewhere."""

    optional_arguments = 9

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        shown = {
            name.lower().replace('_', '-'): self.attribute(name)
            for name in self.arguments[1:]
        }
        return self.parsed(tables.views(self.attribute('MACHINE'), shown))


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known to Sphinx."""
    app.add_directive('state-machine', StateMachine)
    app.add_directive('state-views', StateViews)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
