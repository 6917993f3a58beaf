"""The directives `rest-operations`, `rest-versions`, `rest-policies` and the like.

They show the operations of the API, its microversions, and its policy rules, as the
code has them. Each microversion links to its OpenAPI document, which an HTML build
has as openapi/infra-optim-1.7.json and so on; that of stacks is
openapi/orchestration.json.
"""

import abc
import pathlib

# It stands beside this file; conf.py has put the directory on the path.
import rest_tables
from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList
from sphinx.application import Sphinx


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


class Operations(_Table):
    """Shows all operations."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.operations()


class StackOperations(_Table):
    """Shows all operations on stacks."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.stack_operations()


class Microversions(_Table):
    """Shows all microversions."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.versions()


class Policies(_Table):
    """Shows all policy rules."""

    def lines(self) -> list[str]:
        """Return the lines of the table."""
        return rest_tables.rules()


def write_documents(app: Sphinx, error: Exception | None) -> None:
    """Write the OpenAPI documents beside the pages."""
    if error is None and app.builder.format == 'html':
        rest_tables.write_documents(pathlib.Path(app.outdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known to Sphinx."""
    app.add_directive('rest-operations', Operations)
    app.add_directive('rest-stack-operations', StackOperations)
    app.add_directive('rest-versions', Microversions)
    app.add_directive('rest-policies', Policies)
    app.connect('build-finished', write_documents)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
