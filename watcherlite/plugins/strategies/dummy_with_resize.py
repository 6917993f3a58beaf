"""The strategy for trials of actions on servers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.strategies.dummy import Dummy

#: Servers that exist in no cloud.
MIGRATED = '4b7c2f0e-6d51-4d8b-9a3e-0c58f1e72a01'
RESIZED = '4b7c2f0e-6d51-4d8b-9a3e-0c58f1e72a02'
_MIGRATION: Mapping[str, str] = {
    'migration_type': 'live',
    'source_node': 'compute2',
    'destination_node': 'compute3',
}


class DummyWithResize(base.Strategy):
    """Propose messages, a sleep, and actions on servers that do not exist.

    Those actions are skipped when the plan runs.
    """

    goal = 'dummy'
    display_name = 'Dummy strategy with resize'
    description = 'Proposes messages, a sleep, and actions on unknown servers.'
    #: Accepted, and without effect.
    schema: ClassVar[Mapping[str, Any]] = Dummy.schema

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return two nop, a sleep, two migrations and a resize."""
        solution = Solution()
        for message in ('hello World', 'Welcome'):
            solution.add_action('nop', {'message': message})
        solution.add_action('sleep', {'duration': 5.0})
        for server in (MIGRATED, RESIZED):
            solution.add_action('migrate', _MIGRATION, server)
        solution.add_action('resize', {'flavor': 'x2'}, RESIZED)
        return solution
