"""Stacks as resources, with the names and properties of AWS."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Batch, Member, Property
from watcherlite.domain.templates import document
from watcherlite.exceptions import Invalid
from watcherlite.plugins.base import NestedContext, NestedHandler
from watcherlite.plugins.openstack.resources import fields

_URL = 'TemplateURL'


class Stack(NestedHandler):
    """Create a stack from a template among the files of the enclosing stack."""

    description = 'A stack with a template of its own, in either format.'
    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        _URL: Property(
            {'type': 'string', 'minLength': 1},
            'The name or URL of the template among the submitted files.',
            required=True,
            updatable=True,
        ),
        'Parameters': Property(
            {'type': 'object', 'default': {}},
            'The parameters of the template.',
            updatable=True,
        ),
        'TimeoutInMinutes': Property(
            {**fields.INTEGER, 'minimum': 1},
            'Timeout of an operation in minutes, limited by that of the enclosing '
            'stack.',
            updatable=True,
        ),
    }

    def attribute_names(self, properties: Mapping[str, Any]) -> Collection[str] | None:
        """Return None: each output is an attribute `Outputs.NAME`."""
        return None

    def expand(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch]:
        url = context.properties[_URL]
        text = context.files.get(url)
        if text is None:
            raise Invalid(
                f'{context.resource_name}: {_URL}: {url} is not among the files of the '
                'stack; the service downloads nothing, so submit its text'
            )
        timeout = context.properties.get('TimeoutInMinutes')
        return (
            Batch(
                document.parse(text, url),
                dict(context.properties['Parameters']),
                timeout=None if timeout is None else timeout * 60,
            ),
        )

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        return {f'Outputs.{name}': value for name, value in outputs.items()}
