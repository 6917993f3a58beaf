"""The directives for stacks and templates.

.. code-block:: rst

   .. stack-actions:: STACK_ACTIONS
   .. stack-statuses::
   .. stack-guards::
   .. stack-guards:: locks
   .. lock-machine::
   .. template-versions::

They show what watcherlite.states.stack and watcherlite.domain.templates have.
"""

# These four stand beside this file; conf.py has put the directory on the path.
import drawing
import generated
import stack_tables
import tables
from docutils import nodes
from sphinx.application import Sphinx

from watcherlite.states import stack


class StackActions(generated.Generated):
    """Shows a table of watcherlite.states.stack: what stacks or resources may do."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.actions(getattr(stack, self.arguments[0]))


class StackStatuses(generated.Generated):
    """Shows how that may be."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.statuses()


class StackGuards(generated.Generated):
    """Shows what may begin in which state; with `locks`, in those of a lock."""

    optional_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.guards(locks=self.arguments == ['locks'])


class LockMachine(generated.Generated):
    """Draws what locks do to the state of a stack, and shows its tables."""

    def lines(self) -> list[str]:
        """Return the lines of the tables."""
        machine = stack_tables.lock_machine()
        return [*tables.states(machine), *tables.transitions(machine)]

    def run(self) -> list[nodes.Node]:
        """Return the drawing, for HTML only, and the tables."""
        drawn = drawing.svg(stack_tables.lock_machine())
        return [nodes.raw('', drawn, format='html'), *super().run()]


class TemplateVersions(generated.Generated):
    """Shows the versions of templates."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.template_versions()


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known to Sphinx."""
    app.add_directive('stack-actions', StackActions)
    app.add_directive('stack-statuses', StackStatuses)
    app.add_directive('stack-guards', StackGuards)
    app.add_directive('lock-machine', LockMachine)
    app.add_directive('template-versions', TemplateVersions)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
