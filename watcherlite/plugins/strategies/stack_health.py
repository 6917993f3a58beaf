"""The strategy that checks and updates unhealthy stacks."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

# The values of the parameter `check`
UNHEALTHY = 'unhealthy'
ALL = 'all'
NONE = 'none'

_NAMES: Mapping[str, Any] = {
    'type': 'array',
    'items': {'type': 'string', 'minLength': 1},
    'uniqueItems': True,
    'default': [],
}


class StackHealth(base.Strategy):
    """Propose to check and then update each unhealthy stack.

    The check updates the statuses of all resources, except marks of users; the update
    repairs or replaces the unhealthy ones. Stacks that are locked, suspended or being
    changed are left alone.
    """

    goal = 'stack_health'
    display_name = 'Stack health'
    description = 'Checks and updates unhealthy stacks.'
    planner = 'graph'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'stacks': {**_NAMES, 'description': 'names or uuids; none: all stacks'},
            'tags': {**_NAMES, 'description': 'only stacks that have all of these'},
            'tenant': {
                'type': ['string', 'null'],
                'default': None,
                'description': 'the project; null: all of them',
            },
            'check': {
                'type': 'string',
                'enum': [UNHEALTHY, ALL, NONE],
                'default': UNHEALTHY,
                'description': 'the stacks to check: only unhealthy ones, before '
                'their update; all; or none',
            },
        },
        'additionalProperties': False,
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return a check and an update of each stack that needs them."""
        wanted = context.parameters
        found = context.model('stacks').stacks(
            names=wanted['stacks'], tags=wanted['tags'], tenant=wanted['tenant']
        )
        solution = Solution()
        unhealthy = repaired = 0
        for stack in found:
            context.checkpoint()
            unhealthy += len(stack.unhealthy)
            if stack.hindrance is not None:
                LOG.info(
                    'Audit %s leaves stack %s alone: %s',
                    context.audit_uuid,
                    stack.uuid,
                    stack.hindrance,
                )
                continue
            if not stack.healthy:
                repaired += len(stack.unhealthy)
            self._propose(solution, stack, wanted['check'])
        solution.indicators = {
            'resources_count': sum(stack.resources for stack in found),
            'unhealthy_resources_count': unhealthy,
            'repaired_resources_count': repaired,
        }
        return solution

    def _propose(self, solution: Solution, stack: Any, check: str) -> None:
        """Add the actions for one stack."""
        parents = []
        label = f'{stack.name}-{stack.uuid}'
        target = f'stack:{stack.uuid}'
        if check == ALL or (check == UNHEALTHY and not stack.healthy):
            checked = solution.add_action(
                'stack_check',
                {'stack': stack.uuid},
                name=f'check-{label}',
                target=target,
            )
            parents = [checked]
        if not stack.healthy:
            solution.add_action(
                'stack_update',
                {'stack': stack.uuid},
                name=f'update-{label}',
                parents=parents,
                target=target,
            )
