"""The directives `state-machine` and `state-views`.

.. code-block:: rst

   .. state-machine:: watcherlite.states.action
   .. state-views:: watcherlite.states.action INFRA_OPTIM CLUSTERING

The first draws the MACHINE of a module and shows its tables; the second shows what
tables of the module, each from a state to a name, make of the states.
"""

import importlib
from typing import Any

# Modules of this directory, which conf.py adds to sys.path.
import drawing
import generated
import tables
from docutils import nodes
from sphinx.application import Sphinx


class _OfModule(generated.Generated):
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


class StateMachine(_OfModule):
    """The diagram and the tables of a state machine."""

    def lines(self) -> list[str]:
        """Return the lines of the tables."""
        machine = self.attribute('MACHINE')
        return [*tables.states(machine), *tables.transitions(machine)]

    def run(self) -> list[nodes.Node]:
        """Return the drawing, for HTML only, and the tables."""
        drawn = drawing.svg(self.attribute('MACHINE'))
        return [nodes.raw('', drawn, format='html'), *super().run()]


class StateViews(_OfModule):
    """A table of the names of a state in the APIs."""

    optional_arguments = 9

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        shown = {
            name.lower().replace('_', '-'): self.attribute(name)
            for name in self.arguments[1:]
        }
        return tables.views(self.attribute('MACHINE'), shown)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive('state-machine', StateMachine)
    app.add_directive('state-views', StateViews)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
