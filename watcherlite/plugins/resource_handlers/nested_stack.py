"""A stack with a template of its own, as a resource."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Batch, Member, Property
from watcherlite.domain.templates import document
from watcherlite.plugins.base import NestedContext, NestedHandler

PLACE = 'properties.template'


class NestedStack(NestedHandler):
    """Create a stack from a template given as a property.

    It is replaced as a whole only if it is marked as unhealthy itself. Files referenced
    by the template are those of the enclosing stack.
    """

    description = 'A stack with a template given as a property.'
    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        'template': Property(
            {'type': ['string', 'object'], 'minLength': 1},
            'The template: its text, as returned by get_file, or the document itself.',
            required=True,
            updatable=True,
        ),
        'parameters': Property(
            {'type': 'object', 'default': {}},
            'The parameters of the template.',
            updatable=True,
        ),
        'timeout': Property(
            {'type': 'integer', 'minimum': 1},
            'Timeout of an operation in minutes, limited by that of the enclosing '
            'stack.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'stack_name': 'The name of the stack.',
        'outputs': 'The outputs of the stack by name.',
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that the template is a document."""
        template = properties.get('template')
        if template is not None:
            _parse(template)

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str]:
        return self.attributes

    def expand(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch]:
        timeout = context.properties.get('timeout')
        return (
            Batch(
                _parse(context.properties['template']),
                dict(context.properties['parameters']),
                timeout=None if timeout is None else timeout * 60,
            ),
        )

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        return {'stack_name': context.physical_name, 'outputs': dict(outputs)}


def _parse(template: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a template as a document; raises with the position."""
    text = template if isinstance(template, str) else json.dumps(template)
    return document.parse(text, PLACE)
