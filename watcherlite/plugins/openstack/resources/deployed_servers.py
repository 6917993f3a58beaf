"""Servers that others have created, for software deployments."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.openstack.resources import fields, server_metadata
from watcherlite.plugins.resource_handlers import scaling_policy


class DeployedServer(ResourceHandler):
    """A server that exists already, for software deployments."""

    description = 'A server that exists already, for software deployments.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'name': Property(fields.TEXT, 'The name.', updatable=True),
        'metadata': Property(fields.MAP, 'Accepted and ignored.', updatable=True),
        'software_config_transport': Property(
            {
                **fields.one_of(
                    'POLL_SERVER_CFN',
                    'POLL_SERVER_HEAT',
                    'POLL_TEMP_URL',
                    'ZAQAR_MESSAGE',
                ),
                'default': 'POLL_SERVER_CFN',
            },
            'Accepted for templates of other services: the metadata is always polled '
            'by HTTP from a URL with a token.',
            updatable=True,
        ),
        'deployment_swift_data': Property(
            {**fields.MAP, 'default': {}}, 'Accepted and ignored.', updatable=True
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'name': 'The name.',
        'os_collect_config': 'The configuration of os-collect-config, with the URL of '
        'the metadata.',
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return scaling_policy.OPTIONS

    def create(self, context: ResourceContext) -> Ready:
        data = server_metadata.published(context, self.options.endpoint)
        attributes = self._attributes(context, data)
        return Ready(context.resource_uuid, attributes, data)

    def update(self, context: ResourceContext) -> Ready:
        return Ready(attributes=self._attributes(context, context.data))

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: the server belongs to others."""

    def _attributes(
        self, context: ResourceContext, data: Mapping[str, Any]
    ) -> dict[str, Any]:
        name = context.properties.get('name') or context.physical_name
        config = server_metadata.collect_config(context, data)
        return {'name': name, 'os_collect_config': config}
