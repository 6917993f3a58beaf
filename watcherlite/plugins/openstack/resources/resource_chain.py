"""A chain: one resource of each of several types, with the same properties."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.resource_results import Batch, Member, Property
from watcherlite.domain.templates.versions import KEY, NEWEST
from watcherlite.plugins.base import NestedContext, NestedHandler
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.resource_handlers import group_batches


class ResourceChain(NestedHandler):
    """Create a resource of each type, one after the other, with the same properties."""

    description = 'A resource of each of several types, with the same properties.'
    idempotent = True
    member_attributes = ('attributes',)
    lists_member_attributes = True
    properties: ClassVar[Mapping[str, Property]] = {
        'resources': Property(
            fields.TEXTS,
            'The types, in order; their resources are named `0`, `1` and so on.',
            required=True,
            updatable=True,
        ),
        'concurrent': Property(
            {**fields.FLAG, 'default': False},
            'Whether they are created at the same time.',
        ),
        'resource_properties': Property(
            fields.MAP, 'The properties of each of them.', updatable=True
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'refs': 'The value of get_resource for each member, in order.',
        'attributes': 'The attributes of the members: attribute, name, value.',
    }

    def expand(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch]:
        desired = context.properties
        resources: dict[str, Any] = {}
        for at, kind in enumerate(desired['resources'] or ()):
            definition: dict[str, Any] = {
                'type': kind,
                'properties': dict(desired.get('resource_properties') or {}),
            }
            if at and not desired['concurrent']:
                definition['depends_on'] = [str(at - 1)]
            resources[str(at)] = definition
        return (Batch({KEY: NEWEST, 'resources': resources}),)

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        known = sorted(members, key=_position)
        attributes = group_batches.attributes(known)
        return {
            **{name: list(values.values()) for name, values in attributes.items()},
            'refs': [member.reference for member in known],
            'attributes': attributes,
        }


def _position(member: Member) -> int:
    return int(member.name)
