"""The strategy that shows how figures can decide what is proposed."""

import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

GIBIBYTE = 2**30
MEBIBYTE = 2**20

#: The kinds of work that the scorer tells apart.
WORKLOADS = ('idle', 'CPU', 'memory', 'disk', 'network')
#: A figure is a load when it reaches this share of what there can be.
LOADED = 0.5


def workload(shares: Sequence[float]) -> str:
    """Return what a machine mostly does.

    :param shares: of CPU, memory, disk and network, each 0 to 1
    """
    highest = max(shares)
    if highest < LOADED:
        return WORKLOADS[0]
    return WORKLOADS[1 + shares.index(highest)]


class DummyWithScorer(base.Strategy):
    """Scores made up telemetry and proposes messages with what that came to."""

    goal = 'dummy'
    display_name = 'Dummy Strategy using sample Scoring Engines'
    description = 'Scores made up telemetry, and proposes three messages and a sleep.'
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
        """Return three times nop, and sleep."""
        # The same audit sees the same telemetry, so that a second try proposes the
        # same; this is no cryptography.
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
