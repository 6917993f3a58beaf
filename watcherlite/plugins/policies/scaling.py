"""The policy that decides by how many nodes a cluster grows or shrinks."""

import datetime
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import capacity
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import fragments, sizes

#: In the data of its binding: the action for which it last took effect.
HEEDED = 'heeded'

_ADJUSTMENT = fragments.closed(
    {
        'type': fragments.choice(
            list(capacity.ADJUSTMENTS),
            'The meaning of `number`: the new size, the number of nodes to add or '
            'remove, or a percentage of the current nodes.',
            default=capacity.CHANGE_IN_CAPACITY,
        ),
        'number': {
            'type': 'number',
            'exclusiveMinimum': 0,
            'maximum': 10**9,
            'default': 1,
            'description': 'The amount; a whole number unless it is a percentage.',
        },
        'min_step': fragments.integer(1, 'The minimum result of a percentage.'),
        'best_effort': fragments.flag(
            False,
            'Adjust the change to the limits of the cluster; otherwise the action '
            'fails.',
        ),
        'cooldown': fragments.seconds(
            0,
            'Seconds after an action by this policy during which another one is '
            'refused.',
        ),
    },
    description='The adjustment.',
    default={},
)


class Scaling(Policy):
    """Decide the number of nodes to add or remove.

    A `count` in the request takes precedence. With several policies for one event the
    first decides, and the cooldown of each applies.
    """

    description = 'The number of nodes by which a cluster grows or shrinks.'
    priority = 100
    singleton = False
    before = after = frozenset({sizes.SCALE_IN, sizes.SCALE_OUT})
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {
            'event': fragments.choice(
                [sizes.SCALE_IN, sizes.SCALE_OUT], 'The action to which it applies.'
            ),
            'adjustment': _ADJUSTMENT,
        },
        'event',
    )
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse fractional numbers of nodes."""
        adjustment = properties['adjustment']
        percentage = adjustment['type'] == capacity.CHANGE_IN_PERCENTAGE
        if not percentage and adjustment['number'] != int(adjustment['number']):
            raise exceptions.InvalidSpec(
                f'properties.adjustment.number: {adjustment["number"]} is not a whole '
                f'number, as {adjustment["type"]} needs it'
            )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Decide the count, unless the cooldown is in progress."""
        if context.action_type != context.properties['event']:
            return
        cooldown = context.properties['adjustment']['cooldown']
        is_own = context.binding_data.get(HEEDED) == context.action_uuid
        if (
            context.last_op is not None
            and not is_own
            and context.now() < context.last_op + datetime.timedelta(seconds=cooldown)
        ):
            raise exceptions.ActionCooldown(
                f'Policy {context.policy_uuid} cooldown is still in progress.'
            )
        shrinks = context.action_type == sizes.SCALE_IN
        key = sizes.DELETION if shrinks else sizes.CREATION
        # Decided by another policy, or by an earlier call.
        if key not in data:
            data[key] = {'count': self._count(context, shrinks)}

    def post_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Start the cooldown."""
        # When called again by another worker, it must not refuse its own action.
        context.save({**context.binding_data, HEEDED: context.action_uuid})
        context.mark_applied()

    def _count(self, context: PolicyContext, shrinks: bool) -> int:
        adjustment, cluster = context.properties['adjustment'], context.cluster
        current = len(context.nodes)
        requested = context.inputs.get('count')
        if requested is None:
            requested = capacity.scaling_count(
                current,
                shrinks,
                adjustment['type'],
                adjustment['number'],
                adjustment['min_step'],
            )
        # An exact capacity may have been reached already.
        count = max(0, int(requested))
        desired = current - count if shrinks else current + count
        if adjustment['best_effort']:
            within = capacity.clamp(desired, cluster.min_size, cluster.max_size)
            desired = min(within, current) if shrinks else max(within, current)
        elif count:
            capacity.check_sizes(cluster, desired, strict=True)
        return abs(desired - current)
