"""QoS policies of the network service."""

from collections.abc import Mapping
from typing import ClassVar

from watcherlite.domain.resource_results import Property
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.openstack.resources.fields import field
from watcherlite.plugins.openstack.resources.markers import Marker, NameMarker
from watcherlite.plugins.openstack.resources.neutron_resource import (
    NAME,
    TENANT_ID,
    NeutronResource,
)


class QoSPolicy(NeutronResource):
    """A policy for the quality of service of ports and networks."""

    description = 'A policy for the quality of service of ports and networks.'
    noun = 'qos_policy'
    plural = 'qos_policies'
    label = 'QoS policy'
    marker: ClassVar[Marker] = NameMarker()
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'shared': field(
            fields.FLAG,
            'Whether all projects may use it.',
            default=False,
            updatable=True,
        ),
        'tenant_id': TENANT_ID,
    }
    attributes: ClassVar[Mapping[str, str]] = {'rules': 'Its rules.'}
