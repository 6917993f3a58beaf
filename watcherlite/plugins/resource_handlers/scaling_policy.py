"""What an alarm calls to change the size of a group."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from watcherlite import exceptions
from watcherlite.domain import groups
from watcherlite.domain.handling import PassOn, Property, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler

#: The state of an alarm that means something to a policy.
ALARM = 'alarm'
#: Where signals are taken, below the root of the API.
PATH = '/orchestration/v1/{}/stacks/{}/{}/resources/{}/signal'


class ScalingPolicy(ResourceHandler):
    """Changes the size of an OS::Heat::AutoScalingGroup whenever it is signalled.

    A signal that says in which state an alarm is, as `current` or `state`, means
    nothing unless that is `alarm`.
    """

    description = 'How a signal changes the size of a group.'
    idempotent = True
    properties: ClassVar[Mapping[str, Property]] = {
        'auto_scaling_group_id': Property(
            {'type': 'string', 'minLength': 1},
            'The group: what get_resource gives for it.',
            required=True,
        ),
        'adjustment_type': Property(
            {'enum': list(groups.ADJUSTMENTS)},
            'What `scaling_adjustment` is: members more or less, how many there are '
            'to be, or a percentage.',
            required=True,
            updatable=True,
        ),
        'scaling_adjustment': Property(
            {'type': 'number'},
            'By how much the size changes.',
            required=True,
            updatable=True,
        ),
        'min_adjustment_step': Property(
            {'type': 'integer', 'minimum': 0},
            'The fewest members by which a percentage changes the size.',
            updatable=True,
        ),
        'cooldown': Property(
            {'type': 'number', 'minimum': 0},
            'Seconds after it has scaled the group in which it does not again.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'signal_url': 'Where it is signalled: a path of the API.',
        'alarm_url': 'Likewise, for alarms.',
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse a least step of what is no percentage."""
        kind = properties.get('adjustment_type')
        step = properties.get('min_adjustment_step')
        if step is not None and kind not in (None, groups.PERCENT):
            raise exceptions.StackValidationFailed(
                'properties.min_adjustment_step: only goes with the adjustment_type '
                f'{groups.PERCENT}, not with {kind}'
            )

    def create(self, context: ResourceContext) -> Ready:
        """Say where it is signalled."""
        parts = (context.tenant, context.stack_name, context.stack_uuid)
        path = PATH.format(
            *(quote(part, safe='') for part in (*parts, context.resource_name))
        )
        return Ready(
            physical_id=context.physical_name,
            attributes={'signal_url': path, 'alarm_url': path},
        )

    def check(self, context: ResourceContext) -> Ready:
        """Find it as it is."""
        return Ready()

    def update(self, context: ResourceContext) -> Ready:
        """Take note: the next signal goes by what it is then."""
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Forget it."""

    def signal(
        self, context: ResourceContext, details: Mapping[str, Any]
    ) -> Ready | PassOn:
        """Tell the group what is to change."""
        state = str(details.get('current', details.get('state', ALARM))).lower()
        if state != ALARM:
            return Ready(reason=f'Ignored: the alarm is in the state {state}')
        names = (
            *('adjustment_type', 'scaling_adjustment', 'min_adjustment_step'),
            'cooldown',
        )
        wanted = context.properties
        told = {name: wanted[name] for name in names if wanted.get(name) is not None}
        return PassOn(
            wanted['auto_scaling_group_id'], {**told, 'policy': context.resource_name}
        )
