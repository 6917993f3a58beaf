"""A stack with a template of its own, as a resource."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Batch, Member, Property
from watcherlite.domain.templates import document
from watcherlite.exceptions import Invalid, ServiceUnavailable
from watcherlite.plugins.base import CloudClient, NestedContext, NestedHandler
from watcherlite.plugins.openstack.connections import region_names
from watcherlite.plugins.openstack.errors import translated

PLACE = 'properties.template'


class NestedStack(CloudClient, NestedHandler):
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
        'context': Property(
            {
                'type': 'object',
                'properties': {
                    'region_name': {'type': 'string', 'minLength': 1, 'maxLength': 255}
                },
                'required': ['region_name'],
                'additionalProperties': False,
            },
            'The region of OpenStack in which the resources of the stack are, and '
            'those of the stacks in it: `{region_name: RegionTwo}`.',
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
        remote = context.properties.get('context')
        region = None if remote is None else str(remote['region_name'])
        # A validation has no action, and does not wait for services.
        if region is not None and not members and context.uuid:
            self._check_region(context, region)
        return (
            Batch(
                _parse(context.properties['template']),
                dict(context.properties['parameters']),
                timeout=None if timeout is None else timeout * 60,
                region=region,
            ),
        )

    def _check_region(self, context: NestedContext, region: str) -> None:
        """Raise Invalid for a region that is not in the service catalog."""
        connection = self.clouds.connection_for(context.credential, region)
        try:
            with translated('identity', f'region {region}'):
                known = region_names(connection)
        except ServiceUnavailable:
            # Its resources wait for their services.
            return
        if region not in known:
            names = ', '.join(sorted(known))
            raise Invalid(
                f'Cannot establish connection to Heat endpoint at region "{region}" '
                f'due to "The service catalog has no such region; it has {names}"'
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
