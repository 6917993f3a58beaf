"""A group whose members keep their names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import groups
from watcherlite.domain.groups import Pace
from watcherlite.domain.resource_results import Expansion, Member, Property
from watcherlite.plugins.base import NestedContext, NestedHandler
from watcherlite.plugins.resource_handlers import group_batches

#: In its data: the target size.
SIZE = 'size'
_LAUNCH = 'LaunchConfigurationName'


class InstanceGroup(NestedHandler):
    """Create a number of resources of one definition.

    FAILED members are the first to be replaced, under their names, and the first to be
    removed when the group shrinks; then the oldest ones.
    """

    description = 'A number of identical resources, each with its own name.'
    idempotent = True
    member_attributes = ('outputs', 'outputs_list')
    properties: ClassVar[Mapping[str, Property]] = {
        'size': Property(group_batches.COUNT, 'The number of members.', updatable=True),
        'Size': Property(group_batches.COUNT, 'An alias of `size`.', updatable=True),
        'resource': Property(
            group_batches.DEFINITION, 'The definition of every member, or', False, True
        ),
        'LaunchConfigurationName': Property(
            {'type': 'string'},
            'the value of get_resource of an AWS::AutoScaling::LaunchConfiguration '
            'with the properties of the members, which are AWS::EC2::Instance.',
            updatable=True,
        ),
        'AvailabilityZones': Property({'type': 'array'}, 'Accepted and ignored.'),
        'Tags': Property(
            {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'Key': {'type': 'string'},
                        'Value': {'type': 'string'},
                    },
                    'required': ['Key', 'Value'],
                },
            },
            'The metadata of the members of a launch configuration.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'refs': 'The value of get_resource for each healthy member, the oldest first.',
        'refs_map': 'The same by name.',
        'outputs': 'The attributes of these members: attribute, name, value.',
        'outputs_list': 'The attributes of these members: attribute, values.',
        'current_size': 'The number of members, without FAILED ones.',
        'InstanceList': 'The addresses of the instances of a launch configuration, '
        'separated by commas.',
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that the group has exactly one size and one definition."""
        problems = []
        if ('size' in properties) == ('Size' in properties):
            problems.append('properties.size: must be given, without Size')
        if ('resource' in properties) == (_LAUNCH in properties):
            text = f'must be given, without {_LAUNCH}'
            problems.append(f'properties.resource: {text}')
        if problems:
            raise exceptions.StackValidationFailed(problems)

    def definition(self, context: NestedContext) -> Mapping[str, Any]:
        """Return the definition of every member."""
        desired = context.properties
        if desired.get('resource') is not None:
            definition: Mapping[str, Any] = desired['resource']
            return definition
        known = context.dependencies.get(str(desired.get(_LAUNCH)))
        if known is None or 'show' not in known:
            raise exceptions.Invalid(
                f'{context.resource_name}: {desired.get(_LAUNCH)} is not the value of '
                'get_resource of a launch configuration'
            )
        properties = dict(known['show'])
        if desired.get('Tags'):
            properties['Tags'] = list(desired['Tags'])
        return {'type': 'AWS::EC2::Instance', 'properties': properties}

    def size(self, context: NestedContext, members: Sequence[Member]) -> int:
        """Return the target size."""
        size: int = context.properties.get('size', context.properties.get('Size'))
        return size

    def pace(self, context: NestedContext) -> Pace | None:
        """Return the pace of a rolling update; None: all at once."""
        known = (group_batches.ROLLING_UPDATE, group_batches.AWS_ROLLING_UPDATE)
        for key, given in group_batches.policies(context, known).items():
            if given is not None:
                return group_batches.pace(given, key)
        return None

    def expand(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        return self.resize_batches(context, members, self.size(context, members))

    def adopted(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        """Return the batch of all members, by their names."""
        return self.adoption_batch(context, members, self.size(context, members))

    def adoption_batch(
        self,
        context: NestedContext,
        members: Sequence[Member],
        least: int,
        data: Mapping[str, Any] | None = None,
    ) -> Expansion:
        """Return the batch of the existing members.

        :param least: the minimum number; missing members are reported
        :param data: to store in addition to the size
        """
        definition = self.definition(context)
        size = max(least, len(members))
        names = groups.resized(members, size, _new_names(context, members))
        batches = group_batches.existing_batch(
            context, members, names, lambda name: definition
        )
        return Expansion(batches, {**(data or {}), SIZE: size})

    def resize_batches(
        self,
        context: NestedContext,
        members: Sequence[Member],
        size: int,
        data: Mapping[str, Any] | None = None,
    ) -> Expansion:
        """Return the batches that converge the group to a size.

        :param data: to store in addition to the size
        """
        definition = self.definition(context)
        fresh = _new_names(context, members)
        target = groups.resized(members, size, fresh, definition)
        batches = group_batches.convergence_batches(
            context, members, target, lambda name: definition, self.pace(context), fresh
        )
        return Expansion(batches, {**(data or {}), SIZE: size})

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        well = groups.sort_by_age(member for member in members if member.serving)
        attributes = group_batches.attributes(well)
        found = {
            **group_batches.references(well),
            'outputs': attributes,
            'outputs_list': {
                n: list(values.values()) for n, values in attributes.items()
            },
            'current_size': len(well),
        }
        if context.properties.get(_LAUNCH) is not None:
            addresses = (member.attributes.get('PublicIp') for member in well)
            found['InstanceList'] = ','.join(str(one) for one in addresses if one)
        return found


def _new_names(context: NestedContext, members: Sequence[Member]) -> Iterator[str]:
    """Return names for new members."""
    seed = f'{context.resource_uuid}:{context.uuid}'
    return groups.unused_names(seed, [member.name for member in members])
