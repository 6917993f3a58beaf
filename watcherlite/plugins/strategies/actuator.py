"""The strategy that proposes the actions in its parameters."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base


class Actuator(base.Strategy):
    """Propose the actions in the parameters.

    If any has `parents`, the planner graph keeps their order; otherwise the planner
    weight orders them, as in Watcher.
    """

    goal = 'unclassified'
    display_name = 'Actuator'
    description = 'Proposes the actions in its parameters.'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'actions': {
                'type': 'array',
                'items': {
                    'type': 'object',
                    'properties': {
                        'action_type': {'type': 'string', 'minLength': 1},
                        'resource_id': {'type': 'string'},
                        'input_parameters': {'type': 'object'},
                        'name': {'type': 'string', 'minLength': 1},
                        'parents': {
                            'type': 'array',
                            'items': {'type': 'string'},
                            'uniqueItems': True,
                        },
                    },
                    'required': ['action_type', 'input_parameters'],
                    'additionalProperties': False,
                },
            }
        },
        'required': ['actions'],
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the actions, in their order."""
        given = context.parameters['actions']
        ordered = any('parents' in action for action in given)
        solution = Solution(planner='graph' if ordered else None)
        for action in given:
            solution.add_action(
                action['action_type'],
                action['input_parameters'],
                action.get('resource_id'),
                name=action.get('name'),
                parents=action.get('parents', ()),
            )
        return solution
