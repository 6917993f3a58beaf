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

# Modules of this directory, which conf.py adds to sys.path.
import drawing
import generated
import stack_tables
import tables
from docutils import nodes
from sphinx.application import Sphinx

from watcherlite.states import stack


class StackActions(generated.Generated):
    """A table of the actions of stacks or resources (watcherlite.states.stack)."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.actions(getattr(stack, self.arguments[0]))


class StackStatuses(generated.Generated):
    """A table of the statuses of stacks and resources."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.statuses()


class StackGuards(generated.Generated):
    """A table of the permitted operations by state; with `locks`, of a locked stack."""

    optional_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.guards(locks=self.arguments == ['locks'])


class LockMachine(generated.Generated):
    """The diagram and the tables of the state machine of locks."""

    def lines(self) -> list[str]:
        """Return the lines of the tables."""
        machine = stack_tables.lock_machine()
        return [*tables.states(machine), *tables.transitions(machine)]

    def run(self) -> list[nodes.Node]:
        """Return the drawing, for HTML only, and the tables."""
        drawn = drawing.svg(stack_tables.lock_machine())
        return [nodes.raw('', drawn, format='html'), *super().run()]


class TemplateVersions(generated.Generated):
    """A table of template versions."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.template_versions()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive('stack-actions', StackActions)
    app.add_directive('stack-statuses', StackStatuses)
    app.add_directive('stack-guards', StackGuards)
    app.add_directive('lock-machine', LockMachine)
    app.add_directive('template-versions', TemplateVersions)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
