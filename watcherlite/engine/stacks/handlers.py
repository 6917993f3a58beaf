"""Resource handlers by the name of a type, and templates as types."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch, Member
from watcherlite.domain.templates import document
from watcherlite.plugins.base import NestedHandler, ResourceContext, ResourceHandler

#: Suffixes of the names of types that are templates among the files of the stack.
TEMPLATE_ENDINGS = ('.yaml', '.yml', '.json', '.template')
#: The output of a template that is the value of get_resource for its stack.
REFERENCE = 'OS::stack_id'
#: The maximum size of a template in bytes: the request was within the configured
#: limit, which is lower.
LARGEST = 2**30


class ResourceHandlers(Protocol):
    """Creates resource handlers, and validates properties by their schemas."""

    def make_resource_handler(self, name: str) -> ResourceHandler:
        """Return an instance; raises PluginNotFound or PluginError."""

    def fit_properties(
        self, handler: ResourceHandler, values: Mapping[str, Any], *, known: bool = True
    ) -> dict[str, Any]:
        """Return properties with their defaults, converted to the types of the schemas.

        :param known: False: unknown values are None, which is accepted everywhere
        :raises Invalid: with all invalid properties
        """

    def resource_types(self) -> Mapping[str, type[ResourceHandler]]:
        """Return the installed types by name."""


#: The key in the data of a template resource: the name of an output -> its error.
OUTPUT_ERRORS = 'output_errors'


class TemplateResource(NestedHandler):
    """A resource whose type is a template: its properties are its parameters.

    :param name: of the file
    """

    description = 'A stack from a template among the files of its parent.'
    allows_undeclared = True
    idempotent = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def reference(self, context: ResourceContext) -> str:
        """Return the output for the reference, or the id of its stack."""
        given = context.attributes.get(REFERENCE)
        return str(given) if given not in (None, '') else super().reference(context)

    def expand(
        self, context: ResourceContext, members: Sequence[Member]
    ) -> Sequence[Batch]:
        text = context.files.get(self._name)
        if text is None:
            raise exceptions.Invalid(
                f'The template {self._name} is not among the files of the stack'
            )
        parsed = document.parse(text, self._name, LARGEST)
        return (Batch(parsed, dict(context.properties)),)


def is_template(name: str) -> bool:
    """Return whether a type is a template."""
    return name.endswith(TEMPLATE_ENDINGS)


def make_handler(handlers: ResourceHandlers, name: str) -> ResourceHandler:
    """Return the handler of a type.

    :raises PluginNotFound: it does not exist, or is only a type of profile
    :raises PluginError: it cannot be loaded
    """
    if is_template(name):
        return TemplateResource(name)
    made = handlers.make_resource_handler(name)
    if not made.in_templates:
        raise exceptions.PluginNotFound(
            f'{name} is no type of resources, but of profiles.'
        )
    return made
