"""The strategy that demonstrates how scores determine the proposed actions."""

import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

GIBIBYTE = 2**30
MEBIBYTE = 2**20

#: The kinds of work that the scorer distinguishes.
WORKLOADS = ('idle', 'CPU', 'memory', 'disk', 'network')
#: The share of the capacity from which a value counts as a load.
LOADED = 0.5


def workload(shares: Sequence[float]) -> str:
    """Return the dominant kind of work of a machine.

    :param shares: of CPU, memory, disk and network, each 0 to 1
    """
    highest = max(shares)
    if highest < LOADED:
        return WORKLOADS[0]
    return WORKLOADS[1 + shares.index(highest)]


class DummyWithScorer(base.Strategy):
    """Score synthetic telemetry, and propose messages with the result."""

    goal = 'dummy'
    display_name = 'Dummy Strategy using sample Scoring Engines'
    description = 'Scores synthetic telemetry, and proposes three messages and a sleep.'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'param1': {
                'description': 'number parameter example',
                'type': 'number',
                'default': 3.2,
                'minimum': 1.0,
                'maximum': 10.2,
            },
            'param2': {
                'description': 'string parameter example',
                'type': 'string',
                'default': 'hello',
            },
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return three nop actions and a sleep."""
        # The same audit sees the same telemetry, so that a second run proposes the
        # same; this is not cryptography.
        source = random.Random(context.audit_uuid)  # noqa: S311  # nosec B311  # no secret
        shares = (
            source.randint(0, 100) / 100,
            1 - source.randint(1 * GIBIBYTE, 4 * GIBIBYTE) / (4 * GIBIBYTE),
            source.randint(0, 200 * MEBIBYTE) / (200 * MEBIBYTE),
            source.randint(0, 20 * MEBIBYTE) / (20 * MEBIBYTE),
        )
        average = statistics.fmean(source.sample(range(1000), 20))
        solution = Solution()
        for message in (
            'Hello from Dummy Strategy with Scorer!',
            f'Detected Workload: {workload(shares)}',
            f'AVG Scorer result: {average:g}',
        ):
            solution.add_action('nop', {'message': message})
        solution.add_action('sleep', {'duration': 5.0})
        return solution
