"""The strategy for trials: the same three actions every time."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)


class Dummy(base.Strategy):
    """Propose two messages and a sleep, regardless of the infrastructure."""

    goal = 'dummy'
    display_name = 'Dummy strategy'
    description = 'Proposes two messages and a sleep.'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'para1': {
                'description': 'number parameter example',
                'type': 'number',
                'default': 3.2,
                'minimum': 1.0,
                'maximum': 10.2,
            },
            'para2': {
                'description': 'string parameter example',
                'type': 'string',
                'default': 'hello',
            },
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return nop, nop and sleep."""
        seconds, text = context.parameters['para1'], context.parameters['para2']
        LOG.debug('Audit %s: para1 is %s', context.audit_uuid, seconds)
        solution = Solution()
        solution.add_action('nop', {'message': 'hello World'})
        solution.add_action('nop', {'message': text})
        solution.add_action('sleep', {'duration': seconds})
        return solution
