"""What the directives of this folder have in common: the code says what they show."""

import abc

from docutils import nodes
from docutils.parsers import rst
from docutils.statemachine import StringList


class Generated(rst.Directive, abc.ABC):
    """Shows lines of RST that are made while the pages are built."""

    @abc.abstractmethod
    def lines(self) -> list[str]:
        """Return the lines."""

    def run(self) -> list[nodes.Node]:
        """Return what the lines say."""
        container = nodes.container()
        content = StringList(self.lines(), ' '.join([self.name, *self.arguments]))
        self.state.nested_parse(content, self.content_offset, container)
        return list(container.children)
