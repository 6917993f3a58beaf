"""Where resource handlers come from."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.handling import Batch, Member
from watcherlite.domain.templates import document
from watcherlite.plugins.base import NestedHandler, ResourceContext, ResourceHandler

#: How the name of a type ends that is a template among the files of the stack.
TEMPLATE_ENDINGS = ('.yaml', '.yml', '.json', '.template')
#: Bytes of a template among the files: it was within the limit of this installation
#: when it was asked for, and that is at most this.
LARGEST = 2**30


class Handlers(Protocol):
    """Makes resource handlers, and knows what they declare."""

    def make_resource_handler(self, name: str) -> ResourceHandler:
        """Return an instance; raises PluginNotFound or PluginError."""

    def fit_properties(
        self, handler: ResourceHandler, values: Mapping[str, Any], *, known: bool = True
    ) -> dict[str, Any]:
        """Return properties with their defaults, converted as the schemas say.

        :param known: all that they depend on has been made; else None stands for
            what is not known yet, and is accepted everywhere
        :raises Invalid: naming every property that is wrong, and what would be right
        """

    def resource_types(self) -> Mapping[str, type[ResourceHandler]]:
        """Return the types that are installed, by name."""


class TemplateResource(NestedHandler):
    """A resource whose type is a template: its properties are its parameters.

    :param name: of the file
    """

    description = 'A stack of a template that comes with that of the stack around it.'
    accepts_any = True
    idempotent = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def expand(
        self, context: ResourceContext, members: Sequence[Member]
    ) -> Sequence[Batch]:
        """Return the template."""
        text = context.files.get(self._name)
        if text is None:
            raise exceptions.Invalid(
                f'The template {self._name} is not among the files of the stack'
            )
        parsed = document.parse(text, self._name, LARGEST)
        return (Batch(parsed, dict(context.properties)),)


def is_template(name: str) -> bool:
    """Say whether the name of a type means a template."""
    return name.endswith(TEMPLATE_ENDINGS)


def make(handlers: Handlers, name: str) -> ResourceHandler:
    """Return a handler by its name, or for a template."""
    if is_template(name):
        return TemplateResource(name)
    return handlers.make_resource_handler(name)
