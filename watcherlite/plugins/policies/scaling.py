"""The policy that says by how many nodes a cluster grows or shrinks."""

import datetime
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import capacity
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import sizes

#: In what it keeps: the action that it was last heeded for.
HEEDED = 'heeded'

_ADJUSTMENT: Mapping[str, Any] = {
    'type': 'object',
    'description': 'By how many nodes.',
    'properties': {
        'type': {
            'enum': list(capacity.ADJUSTMENTS),
            'default': capacity.CHANGE_IN_CAPACITY,
            'description': 'What `number` is: the size that is reached, how many '
            'nodes come or go, or how many percent of those that there are.',
        },
        'number': {
            'type': 'number',
            'exclusiveMinimum': 0,
            'maximum': 10**9,
            'default': 1,
            'description': 'How many; a whole number unless it is a percentage.',
        },
        'min_step': {
            'type': 'integer',
            'minimum': 0,
            'default': 1,
            'description': 'The least that a percentage comes to.',
        },
        'best_effort': {
            'type': 'boolean',
            'default': False,
            'description': 'Do as much as the size of the cluster allows, where '
            'otherwise the action would fail.',
        },
        'cooldown': {
            'type': 'integer',
            'minimum': 0,
            'maximum': sizes.LONGEST,
            'default': 0,
            'description': 'Seconds after an action by this policy in which '
            'another one is refused.',
        },
    },
    'additionalProperties': False,
    'default': {},
}


class Scaling(Policy):
    """Decides how many nodes come or go.

    A `count` in the request is used instead of the adjustment. With several policies
    for one event the first decides, and the cooldown of each counts.
    """

    description = 'By how many nodes a cluster grows or shrinks.'
    priority = 100
    singleton = False
    before = after = frozenset({sizes.SCALE_IN, sizes.SCALE_OUT})
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'event': {
                'enum': [sizes.SCALE_IN, sizes.SCALE_OUT],
                'description': 'The action that this is about.',
            },
            'adjustment': _ADJUSTMENT,
        },
        'required': ['event'],
        'additionalProperties': False,
    }
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse parts of nodes."""
        adjustment = properties['adjustment']
        percentage = adjustment['type'] == capacity.CHANGE_IN_PERCENTAGE
        if not percentage and adjustment['number'] != int(adjustment['number']):
            raise exceptions.InvalidSpec(
                f'properties.adjustment.number: {adjustment["number"]} is not a whole '
                f'number, as {adjustment["type"]} needs it'
            )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Decide the count, unless it is too early."""
        if context.action_type != context.properties['event']:
            return
        left = cooling(
            context.properties,
            context.last_op,
            context.now(),
            own=context.binding_data.get(HEEDED) == context.action_uuid,
        )
        if left:
            raise exceptions.ActionCooldown(
                f'Policy {context.policy_uuid} cooldown is still in progress.'
            )
        shrinks = context.action_type == sizes.SCALE_IN
        key = sizes.DELETION if shrinks else sizes.CREATION
        # Decided by another policy, or when this one was asked the first time.
        if key not in data:
            data[key] = {'count': self._count(context, shrinks)}

    def post_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Begin the cooldown."""
        # Asked again, by a worker that took over, it must not stand in its own way.
        context.save({**context.binding_data, HEEDED: context.action_uuid})
        context.mark_applied()

    def _count(self, context: PolicyContext, shrinks: bool) -> int:
        adjustment, cluster = context.properties['adjustment'], context.cluster
        current = len(context.nodes)
        asked = context.inputs.get('count')
        if asked is None:
            asked = capacity.scaling_count(
                current,
                shrinks,
                adjustment['type'],
                adjustment['number'],
                adjustment['min_step'],
            )
        # An exact capacity may be reached already.
        count = max(0, int(asked))
        wanted = current - count if shrinks else current + count
        if adjustment['best_effort']:
            within = capacity.within(wanted, cluster.min_size, cluster.max_size)
            wanted = min(within, current) if shrinks else max(within, current)
        elif count:
            capacity.check_sizes(cluster, wanted, strict=True)
        return abs(wanted - current)


def cooling(
    properties: Mapping[str, Any],
    last_op: datetime.datetime | None,
    now: datetime.datetime,
    *,
    own: bool = False,
) -> bool:
    """Say whether a policy refuses its event now, because of the last one.

    :param own: the last one was for the action that is asked about
    """
    if last_op is None or own:
        return False
    wait = datetime.timedelta(seconds=properties['adjustment']['cooldown'])
    return now < last_op + wait
