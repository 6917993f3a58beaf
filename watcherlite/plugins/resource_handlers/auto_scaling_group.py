"""A group that scaling policies resize."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import groups
from watcherlite.domain.groups import Pace
from watcherlite.domain.resource_results import Expansion, Member, Property
from watcherlite.plugins.base import NestedContext
from watcherlite.plugins.resource_handlers import group_batches
from watcherlite.plugins.resource_handlers.instance_group import SIZE, InstanceGroup

#: In its data: the current scaling action, and the policy.
SCALING = 'scaling'
#: In its data: the time of the last scaling, in total and by policy.
SCALED = 'scaled'


class AutoScalingGroup(InstanceGroup):
    """Create between `min_size` and `max_size` resources of one definition.

    The size is `desired_capacity` or, without it, the result of scaling policies.
    FAILED members count: an update replaces them.
    """

    description = 'A number of identical resources, changed by alarms.'
    #: The properties with the minimum, the maximum and the desired size.
    sizes: ClassVar[tuple[str, str, str]] = ('min_size', 'max_size', 'desired_capacity')
    properties: ClassVar[Mapping[str, Property]] = {
        'resource': group_batches.definition_property(
            'The definition of every member.'
        ),
        'min_size': Property(
            group_batches.COUNT, 'The minimum number of members.', True, updatable=True
        ),
        'max_size': Property(
            group_batches.COUNT, 'The maximum number of members.', True, updatable=True
        ),
        'desired_capacity': Property(
            group_batches.COUNT,
            'The number of members after every update.',
            updatable=True,
        ),
        'cooldown': Property(
            {'type': 'number', 'minimum': 0},
            'Seconds after a scaling during which it is not scaled again.',
            updatable=True,
        ),
        'rolling_updates': Property(
            {**group_batches.ROLLING, 'default': {}},
            'The pace at which members are changed when their definition changes.',
            updatable=True,
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that the sizes are consistent."""
        low, high, capacity = self.sizes
        smallest, largest = properties.get(low), properties.get(high)
        desired = properties.get(capacity)
        problems = []
        if smallest is not None and largest is not None and smallest > largest:
            problems.append(
                f'properties.{low}: {smallest} is more than {high}, {largest}'
            )
        elif desired is not None and (
            (smallest is not None and desired < smallest)
            or (largest is not None and desired > largest)
        ):
            problems.append(
                f'properties.{capacity}: {desired} is not between {low}, {smallest}, '
                f'and {high}, {largest}'
            )
        if problems:
            raise exceptions.StackValidationFailed(problems)

    def size(self, context: NestedContext, members: Sequence[Member]) -> int:
        desired: int | None = context.properties.get('desired_capacity')
        return _bounded(
            context, _current_size(context, members) if desired is None else desired
        )

    def pace(self, context: NestedContext) -> Pace | None:
        group_batches.policies(context, ())
        return group_batches.pace(
            context.properties['rolling_updates'], 'rolling_updates'
        )

    def expand(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        return self.resize_batches(
            context, members, self.size(context, members), _preserved_data(context)
        )

    def adopted(self, context: NestedContext, members: Sequence[Member]) -> Expansion:
        """Return the batch of all members, whatever size scaling has left."""
        properties = context.properties
        desired: int | None = properties.get('desired_capacity')
        least = properties['min_size'] if desired is None else desired
        return self.adoption_batch(context, members, least, _preserved_data(context))

    def adjust(
        self,
        context: NestedContext,
        members: Sequence[Member],
        details: Mapping[str, Any],
    ) -> Expansion:
        """Return the batches for a signal of a scaling policy.

        :param details: `adjustment_type`, `scaling_adjustment`, and optionally
            `min_adjustment_step`, `cooldown`, and `policy`, the sender
        """
        present = _current_size(context, members)
        under_way = context.data.get(SCALING) or {}
        if under_way.get('action') == context.uuid:
            # Decided before the loss of a worker: do not scale twice.
            return self.resize_batches(context, members, present, context.data)
        policy = str(details.get('policy') or '')
        resting = _cooldown_end(context, policy, _parse_number(details, 'cooldown'))
        if resting is not None:
            return Expansion(
                reason='Ignored: the cooldown of the last scaling lasts until '
                f'{resting:%Y-%m-%dT%H:%M:%SZ}'
            )
        size = _bounded(context, _adjusted(context, present, details))
        if size == present:
            return Expansion(reason=f'Ignored: it already has {size} members')
        scaling = {'action': context.uuid, 'policy': policy}
        return self.resize_batches(
            context, members, size, {**context.data, SCALING: scaling}
        )

    def remember(self, context: NestedContext) -> Mapping[str, Any] | None:
        """Return the times of scaling; a cooldown starts now."""
        scaling = context.data.get(SCALING)
        if scaling is None:
            return None
        now = context.now().isoformat()
        by = {**_scaled(context).get('by', {}), scaling['policy']: now}
        kept = {key: value for key, value in context.data.items() if key != SCALING}
        return {**kept, SCALED: {'at': now, 'by': by}}


def _preserved_data(context: NestedContext) -> dict[str, Any]:
    """Return the part of its data that every operation preserves."""
    return {key: context.data[key] for key in (SCALED,) if key in context.data}


def _current_size(context: NestedContext, members: Sequence[Member]) -> int:
    """Return the current target size."""
    size: int = context.data.get(SIZE, len(members))
    return size


def _bounded(context: NestedContext, size: int) -> int:
    properties = context.properties
    return groups.clamp(size, properties['min_size'], properties['max_size'])


def _adjusted(context: NestedContext, size: int, details: Mapping[str, Any]) -> int:
    adjustment = _parse_number(details, 'scaling_adjustment')
    if adjustment is None:
        raise exceptions.Invalid(
            f'A signal for {context.resource_name} needs scaling_adjustment, a number, '
            f'and adjustment_type, one of {", ".join(groups.ADJUSTMENTS)}; an '
            'OS::Heat::ScalingPolicy sends both'
        )
    least = _parse_number(details, 'min_adjustment_step')
    return groups.adjusted(
        size,
        str(details.get('adjustment_type')),
        adjustment,
        min_step=None if least is None else int(least),
    )


def _parse_number(details: Mapping[str, Any], name: str) -> float | None:
    """Return a number in a signal; raises for other values."""
    value = details.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise exceptions.Invalid(f'{name} of a signal must be a number, not {value!r}')
    return value


def _scaled(context: NestedContext) -> Mapping[str, Any]:
    scaled: Mapping[str, Any] = context.data.get(SCALED) or {}
    return scaled


def _cooldown_end(
    context: NestedContext, policy: str, cooldown: float | None
) -> datetime.datetime | None:
    """Return the end of the cooldown; None: it may be scaled."""
    scaled, now = _scaled(context), context.now()
    ends = [
        groups.cooldown_end(
            _time(scaled.get('at')), context.properties.get('cooldown'), now
        ),
        groups.cooldown_end(_time(scaled.get('by', {}).get(policy)), cooldown, now),
    ]
    return max((end for end in ends if end is not None), default=None)


def _time(text: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(text) if text is not None else None
