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
                    'region_name': {'type': 'string', 'minLength': 1, 'maxLength': 255},
                    'credential_secret_id': {
                        'type': 'string',
                        'pattern': '^[0-9a-fA-F-]{32,36}$',
                    },
                },
                'minProperties': 1,
                'additionalProperties': False,
            },
            'The region of OpenStack in which the resources of the stack are, and '
            'those of the stacks in it: `{region_name: RegionTwo}`; and the secret of '
            'barbican with the credential of another cloud in which they are: '
            '`{credential_secret_id: UUID}`.',
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
        region = (remote or {}).get('region_name')
        secret = (remote or {}).get('credential_secret_id')
        # A validation has no action, and does not wait for services.
        if remote is not None and not members and context.uuid:
            self._check_place(context, region, secret)
        return (
            Batch(
                _parse(context.properties['template']),
                dict(context.properties['parameters']),
                timeout=None if timeout is None else timeout * 60,
                region=region,
                cloud_secret=secret,
            ),
        )

    def _check_place(
        self, context: NestedContext, region: str | None, secret: str | None
    ) -> None:
        """Check that there is a usable credential for the cloud, and the region.

        :raises Forbidden: there is none
        :raises Invalid: the region is not in the service catalog
        """
        if secret is not None and context.cloud_secret is not None:
            raise Invalid(
                f'{context.resource_name}: credential_secret_id cannot be used in a '
                'stack that is in another cloud itself'
            )
        secret = secret or context.cloud_secret
        clouds = self.clouds
        try:
            with translated('identity', f'region {region}' if region else 'the cloud'):
                known = region_names(
                    clouds.connection_for(context.credential, region)
                    if secret is None
                    else clouds.remote_connection(context.credential, secret, region)
                )
        except ServiceUnavailable:
            # Its resources wait for their services.
            return
        if region is not None and region not in known:
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
