"""The strategy that demonstrates how scores determine the proposed actions."""

import json
import random
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

GIBIBYTE = 2**30
MEBIBYTE = 2**20


def synthetic_telemetry(source: random.Random) -> list[int]:
    """Return the features of `dummy_scorer`."""
    return [
        source.randint(0, 100),
        4 * GIBIBYTE,
        source.randint(1 * GIBIBYTE, 4 * GIBIBYTE),
        source.randint(0, 2000),
        source.randint(0, 2000),
        source.randint(0, 200 * MEBIBYTE),
        source.randint(0, 200 * MEBIBYTE),
        source.randint(0, 20 * MEBIBYTE),
        source.randint(0, 10 * MEBIBYTE),
    ]


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
        classifier = context.scoring_engine('dummy_scorer')
        average = context.scoring_engine('dummy_avg_scorer')
        workloads = json.loads(classifier.metainfo)['workloads']
        telemetry = json.dumps(synthetic_telemetry(source))
        workload, *_ = json.loads(classifier.calculate_score(telemetry))
        sample = json.dumps(source.sample(range(1000), 20))
        (mean,) = json.loads(average.calculate_score(sample))
        solution = Solution()
        for message in (
            'Hello from Dummy Strategy with Scorer!',
            f'Detected Workload: {workloads[workload]}',
            f'AVG Scorer result: {mean:g}',
        ):
            solution.add_action('nop', {'message': message})
        solution.add_action('sleep', {'duration': 5.0})
        return solution
