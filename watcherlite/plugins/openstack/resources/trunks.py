"""Trunks."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Property, ResourceInProgress
from watcherlite.plugins.base import ResourceContext
from watcherlite.plugins.openstack.resources import fields, references
from watcherlite.plugins.openstack.resources.cloud_resource import record_of
from watcherlite.plugins.openstack.resources.fields import OWN, field
from watcherlite.plugins.openstack.resources.markers import Marker, NameMarker
from watcherlite.plugins.openstack.resources.neutron_resource import (
    NAME,
    NeutronResource,
)


class Trunk(NeutronResource):
    """A trunk: a port that carries the traffic of several others."""

    description = 'A port that carries the traffic of several others.'
    noun = 'trunk'
    marker: ClassVar[Marker] = NameMarker()
    settled = frozenset({'ACTIVE', 'DOWN'})
    failed = frozenset({'ERROR', 'DEGRADED'})
    properties: ClassVar[Mapping[str, Property]] = {
        'name': NAME,
        'port': field(
            fields.TEXT,
            'The name or id of the port that carries the traffic.',
            required=True,
            immutable=True,
            sent='port_id',
            reference=references.PORT,
        ),
        'sub_ports': field(
            fields.items(
                fields.mapping(
                    {
                        'port': fields.TEXT,
                        'segmentation_type': fields.one_of('vlan'),
                        'segmentation_id': {
                            **fields.INTEGER,
                            'minimum': 1,
                            'maximum': 4094,
                        },
                    },
                    ['port', 'segmentation_type', 'segmentation_id'],
                )
            ),
            'The other ports, by name or id, each with its segment.',
            updatable=True,
            sent=OWN,
        ),
        'description': field(fields.TEXT, 'The description.', updatable=True),
        'admin_state_up': field(fields.FLAG, 'Whether it is enabled.', updatable=True),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'port_id': 'The id of the port that carries the traffic.'
    }

    def body(self, context: ResourceContext, connection: Any) -> dict[str, Any]:
        body = super().body(context, connection)
        return {**body, 'sub_ports': _sub_ports(context, connection)}

    def apply(
        self, context: ResourceContext, connection: Any, names: Collection[str]
    ) -> ResourceInProgress | None:
        if 'sub_ports' in names:
            self._set_sub_ports(context, connection)
        return None

    def _set_sub_ports(self, context: ResourceContext, connection: Any) -> None:
        """Let the trunk have exactly the given ports; a port has one segment only."""
        trunk = self.existing(context, connection)
        desired = {_segment(item): item for item in _sub_ports(context, connection)}
        present = {
            _segment(item): item for item in record_of(trunk).get('sub_ports') or ()
        }
        surplus = [present[key] for key in sorted(present.keys() - desired.keys())]
        if surplus:
            connection.network.delete_trunk_subports(
                trunk, [{'port_id': item['port_id']} for item in surplus]
            )
        missing = [desired[key] for key in sorted(desired.keys() - present.keys())]
        if missing:
            connection.network.add_trunk_subports(trunk, missing)


def _sub_ports(context: ResourceContext, connection: Any) -> list[dict[str, Any]]:
    return [
        {
            'port_id': references.PORT.id_of(connection, item['port']),
            'segmentation_type': item['segmentation_type'],
            'segmentation_id': item['segmentation_id'],
        }
        for item in context.properties.get('sub_ports') or ()
    ]


def _segment(item: Mapping[str, Any]) -> tuple[str, str, int]:
    return item['port_id'], item['segmentation_type'], item['segmentation_id']
