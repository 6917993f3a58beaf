"""A group whose members keep their names when others come and go."""

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


class InstanceGroup(NestedHandler):
    """Makes as many resources of one definition as are asked for.

    A member that is FAILED is the first one to be replaced, under its name, and the
    first one to go when there are to be fewer; then the oldest ones go.
    """

    description = 'A number of resources that are all alike, each with its own name.'
    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        'size': Property(
            group_batches.COUNT, 'How many members there are.', updatable=True
        ),
        'Size': Property(
            group_batches.COUNT, 'Another name of `size`.', updatable=True
        ),
        'resource': group_batches.definition_property('What every member is.'),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'refs': 'What get_resource gives for the members that are well, the oldest '
        'first.',
        'refs_map': 'Likewise, by their names.',
        'outputs': 'The attributes of these members: attribute, name, value.',
        'outputs_list': 'The attributes of these members: attribute, values.',
        'current_size': 'How many members there are, those that are FAILED left out.',
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that the group has exactly one size."""
        if ('size' in properties) == ('Size' in properties):
            raise exceptions.StackValidationFailed(
                'properties.size: must be given, and not Size besides'
            )

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
        """Return the batches that converge the group to its target size."""
        return self.resized(context, members, self.size(context, members))

    def adopted(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        """Return the batch of all members, by their names."""
        return self.taken_over(context, members, self.size(context, members))

    def taken_over(
        self,
        context: NestedContext,
        members: Sequence[Member],
        least: int,
        data: Mapping[str, Any] | None = None,
    ) -> Expansion:
        """Return the batch of the existing members.

        :param least: so many there should be; those that are missing are told
        :param data: what is kept besides the size
        """
        definition: Mapping[str, Any] = context.properties['resource']
        size = max(least, len(members))
        names = groups.resized(members, size, _fresh(context, members))
        batches = group_batches.left(context, members, names, lambda name: definition)
        return Expansion(batches, {**(data or {}), SIZE: size})

    def resized(
        self,
        context: NestedContext,
        members: Sequence[Member],
        size: int,
        data: Mapping[str, Any] | None = None,
    ) -> Expansion:
        """Return the batches that converge the group to a size.

        :param data: what is kept besides the size
        """
        definition: Mapping[str, Any] = context.properties['resource']
        fresh = _fresh(context, members)
        target = groups.resized(members, size, fresh, definition)
        batches = group_batches.batches(
            context, members, target, lambda name: definition, self.pace(context), fresh
        )
        return Expansion(batches, {**(data or {}), SIZE: size})

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """Return the references and attributes of its members."""
        well = groups.by_age(member for member in members if member.serving)
        told = group_batches.attributes(well)
        return {
            **group_batches.references(well),
            'outputs': told,
            'outputs_list': {n: list(values.values()) for n, values in told.items()},
            'current_size': len(well),
        }


def _fresh(context: NestedContext, members: Sequence[Member]) -> Iterator[str]:
    """Return names for new members."""
    seed = f'{context.resource_uuid}:{context.uuid}'
    return groups.fresh_names(seed, [member.name for member in members])
