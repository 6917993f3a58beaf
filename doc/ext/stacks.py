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

import abc

# These three stand beside this file; conf.py has put the directory on the path.
import drawing
import stack_tables
import tables
from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList
from sphinx.application import Sphinx

from watcherlite.states import stack


class _Table(rst.Directive, abc.ABC):
    @abc.abstractmethod
    def lines(self) -> list[str]:
        """Return the lines of the table."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        container = nodes.container()
        content = StringList(self.lines(), self.name)
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)


class StackActions(_Table):
    """Shows a table of watcherlite.states.stack: what stacks or resources may do."""

    required_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.actions(getattr(stack, self.arguments[0]))


class StackStatuses(_Table):
    """Shows how that may be."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.statuses()


class StackGuards(_Table):
    """Shows what may begin in which state; with `locks`, in those of a lock."""

    optional_arguments = 1

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return stack_tables.guards(locks=self.arguments == ['locks'])


class LockMachine(_Table):
    """Draws what locks do to the state of a stack, and shows its tables."""

    def lines(self) -> list[str]:
        """Return the lines of the tables."""
        machine = stack_tables.lock_machine()
        return [*tables.states(machine), *tables.transitions(machine)]

    def run(self) -> list[nodes.Node]:
        """Return the drawing, for HTML only, and the tables."""
        drawn = drawing.svg(stack_tables.lock_machine())
        return [nodes.raw('', drawn, format='html'), *super().run()]


class TemplateVersions(_Table):
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
