"""The scoring engines for trials: fixed rules instead of a trained model."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence

from watcherlite import exceptions
from watcherlite.plugins import base

MEBIBYTE = 2**20

FEATURES = (
    'proc-processor-time-%',
    'mem-total-bytes',
    'mem-avail-bytes',
    'mem-page-reads/sec',
    'mem-page-writes/sec',
    'disk-read-bytes/sec',
    'disk-write-bytes/sec',
    'net-bytes-received/sec',
    'net-bytes-sent/sec',
)
IDLE, CPU, MEMORY, DISK = range(4)
WORKLOADS = ('idle', 'cpu-intensive', 'memory-intensive', 'disk-intensive')
#: The probability of a detected workload, and of one that is half as high.
CERTAIN, POSSIBLE = 100.0, 50.0
BUSY_PERCENT = 80
BUSY_PAGES = 1000
BUSY_DISK = 50 * MEBIBYTE


def parse_numbers(features: str) -> list[float]:
    """Return the features, a JSON list of numbers; raise Invalid."""
    try:
        numbers = json.loads(features)
    except (ValueError, RecursionError) as error:
        raise exceptions.Invalid('The features are not JSON') from error
    if not isinstance(numbers, list):
        raise exceptions.Invalid('The features are not a JSON list')
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise exceptions.Invalid(f'The feature {number!r} is not a number')
    return numbers


class DummyScorer(base.ScoringEngine):
    """Classify the workload of a machine by fixed thresholds."""

    description = 'Dummy workload classifier'
    metainfo = json.dumps(
        {
            'feature_columns': FEATURES,
            'result_columns': [
                'workload',
                'idle-probability',
                'cpu-probability',
                'memory-probability',
                'disk-probability',
            ],
            'workloads': WORKLOADS,
        }
    )

    def calculate_score(self, features: str) -> str:
        """Return the number of the workload, and the probability of each."""
        numbers = parse_numbers(features)
        if len(numbers) != len(FEATURES):
            raise exceptions.Invalid(
                f'dummy_scorer needs {len(FEATURES)} features, not {len(numbers)}'
            )
        processor, _, _, reads, writes, disk_reads, disk_writes, _, _ = numbers
        probabilities = [0.0] * len(WORKLOADS)
        if processor >= BUSY_PERCENT:
            workload = CPU
        elif min(reads, writes) >= BUSY_PAGES:
            workload = MEMORY
        elif min(disk_reads, disk_writes) >= BUSY_DISK:
            workload = DISK
        else:
            workload = IDLE
            if processor >= BUSY_PERCENT / 2:
                probabilities[CPU] = POSSIBLE
            if max(reads, writes) >= BUSY_PAGES / 2:
                probabilities[MEMORY] = POSSIBLE
        probabilities[workload] = CERTAIN
        return json.dumps([workload, *probabilities])


class Aggregate(base.ScoringEngine):
    """A function of the features.

    :param description: shown to users
    """

    def __init__(
        self, description: str, aggregate: Callable[[Sequence[float]], float]
    ) -> None:
        super().__init__()
        self.description = description
        self._aggregate = aggregate

    def calculate_score(self, features: str) -> str:
        """Return a list with the value of the function."""
        numbers = parse_numbers(features)
        if not numbers:
            raise exceptions.Invalid('There are no features; at least 1 is needed')
        return json.dumps([self._aggregate(numbers)])


class DummyScoringContainer(base.ScoringEngineContainer):
    """Return the scoring engines that aggregate their features."""

    description = 'Scoring engines that aggregate their features, for trials.'

    def scoring_engines(self) -> Mapping[str, base.ScoringEngine]:
        """Return those of the minimum, the maximum and the average."""
        return {
            'dummy_min_scorer': Aggregate(
                'Dummy Scorer calculating the minimum value', min
            ),
            'dummy_max_scorer': Aggregate(
                'Dummy Scorer calculating the maximum value', max
            ),
            'dummy_avg_scorer': Aggregate(
                'Dummy Scorer calculating the average value', statistics.fmean
            ),
        }
