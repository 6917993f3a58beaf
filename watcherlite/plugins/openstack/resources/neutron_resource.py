"""The common part of the resource types of the network service."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import ResourceInProgress
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.cloud_resource import CloudResource
from watcherlite.plugins.openstack.resources.fields import OWN, Field, field
from watcherlite.plugins.openstack.resources.markers import DescriptionMarker, Marker

NAME = field(
    fields.TEXT, 'The name; the default is a unique one.', updatable=True, sent=OWN
)
VALUE_SPECS = field(
    fields.MAP,
    'Further attributes of the request, for extensions of the service.',
    default={},
    updatable=True,
    sent=OWN,
)
ADMIN_STATE_UP = field(
    fields.FLAG, 'Whether it is enabled.', default=True, updatable=True
)
TENANT_ID = field(
    fields.TEXT, 'The id of the project that owns it; for administrators.'
)
TAGS = field(fields.TEXTS, 'The tags.', updatable=True, sent=OWN)
ZONE_HINTS = field(fields.TEXTS, 'The preferred availability zones.')

IP_ADDRESS: Mapping[str, Any] = {
    'type': 'string',
    'pattern': r'^[0-9A-Fa-f:.]+$',
    'description': 'an IP address',
}
CIDR: Mapping[str, Any] = {
    'type': 'string',
    'pattern': r'^[0-9A-Fa-f:.]+/[0-9]{1,3}$',
    'description': 'a network in CIDR notation',
}
IP_OR_CIDR: Mapping[str, Any] = {
    'type': 'string',
    'pattern': r'^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$',
    'description': 'an IP address, or a network in CIDR notation',
}
MAC_ADDRESS: Mapping[str, Any] = {
    'type': 'string',
    'pattern': r'^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$',
    'description': 'a MAC address',
}
#: Attributes under another name in requests and responses.
_RENAMED = {'tenant_id': 'project_id'}
_ID = re.compile(fields.ID_PATTERN)


class NeutronResource(CloudResource):
    """An object of the network service: it has tags and a description."""

    service = 'network'
    marker: ClassVar[Marker] = DescriptionMarker()

    def finish(self, context: ResourceContext, connection: Any, found: Any) -> None:
        if context.properties.get('tags'):
            self._set_tags(context, connection)

    def apply(
        self, context: ResourceContext, connection: Any, names: Any
    ) -> ResourceInProgress | None:
        if 'tags' in names:
            self._set_tags(context, connection)
        return None

    def is_finished(self, context: ResourceContext, record: Mapping[str, Any]) -> bool:
        return not context.properties.get('tags')

    def attributes_of(
        self, connection: Any, record: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            name: record.get(_RENAMED.get(name, name), record.get(name))
            for name in self.attributes
        }

    def _set_tags(self, context: ResourceContext, connection: Any) -> None:
        tags = list(context.properties.get('tags') or ())
        found = self.existing(context, connection)
        self.proxy(connection).set_tags(found, tags)


def allowed_address_pairs() -> Field:
    """Return the property `allowed_address_pairs`."""
    return field(
        fields.items(
            fields.mapping(
                {'mac_address': MAC_ADDRESS, 'ip_address': IP_OR_CIDR}, ['ip_address']
            )
        ),
        'Further addresses that may send and receive through the port.',
        updatable=True,
    )
