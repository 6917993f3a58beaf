"""The strategy that checks and updates unhealthy stacks."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.strategies import health


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
            'stacks': {
                **health.NAMES,
                'description': 'names or uuids; none: all stacks',
            },
            'tags': {
                **health.NAMES,
                'description': 'only stacks that have all of these',
            },
            'tenant': health.TENANT,
            'check': health.check_parameter('stacks', 'update'),
        },
        'additionalProperties': False,
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return a check and an update of each stack that needs them."""
        desired = context.parameters
        found = context.model('stacks').stacks(
            names=desired['stacks'], tags=desired['tags'], tenant=desired['tenant']
        )
        solution = Solution()
        repaired = 0
        for stack in health.without_blockers(context, 'stack', found):
            if not stack.healthy:
                repaired += len(stack.unhealthy)
            self._propose(solution, stack, desired['check'])
        solution.indicators = {
            'resources_count': sum(stack.resources for stack in found),
            'unhealthy_resources_count': sum(len(stack.unhealthy) for stack in found),
            'repaired_resources_count': repaired,
        }
        return solution

    def _propose(self, solution: Solution, stack: Any, check: str) -> None:
        """Add the actions for one stack."""
        target = f'stack:{stack.uuid}'
        inputs = {'stack': stack.uuid}
        parents = health.add_check(
            solution, check, stack, 'stack_check', inputs, target
        )
        if not stack.healthy:
            solution.add_action(
                'stack_update',
                inputs,
                name=f'update-{stack.name}-{stack.uuid}',
                parents=parents,
                target=target,
            )
