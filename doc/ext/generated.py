"""The base of the directives, which generate lines of RST from the code."""

import abc

from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList


class Generated(rst.Directive, abc.ABC):
    """A directive that generates lines of RST."""

    @abc.abstractmethod
    def lines(self) -> list[str]:
        """Return the lines."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the lines."""
        container = nodes.container()
        content = StringList(self.lines(), ' '.join([self.name, *self.arguments]))
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)
