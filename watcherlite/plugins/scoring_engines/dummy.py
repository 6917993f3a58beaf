"""The scoring engines for trials: fixed rules instead of a trained model."""

import json
import statistics
from collections.abc import Sequence

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


class _Aggregate(base.ScoringEngine):
    """A function of the features."""

    def aggregate(self, numbers: Sequence[float]) -> float:
        """Return the value of the function."""
        raise NotImplementedError

    def calculate_score(self, features: str) -> str:
        """Return a list with the value of the function."""
        numbers = parse_numbers(features)
        if not numbers:
            raise exceptions.Invalid('There are no features; at least 1 is needed')
        return json.dumps([self.aggregate(numbers)])


class DummyMin(_Aggregate):
    """Return the minimum of the features."""

    description = 'Dummy Scorer calculating the minimum value'

    def aggregate(self, numbers: Sequence[float]) -> float:
        return min(numbers)


class DummyMax(_Aggregate):
    """Return the maximum of the features."""

    description = 'Dummy Scorer calculating the maximum value'

    def aggregate(self, numbers: Sequence[float]) -> float:
        return max(numbers)


class DummyAverage(_Aggregate):
    """Return the average of the features."""

    description = 'Dummy Scorer calculating the average value'

    def aggregate(self, numbers: Sequence[float]) -> float:
        return statistics.fmean(numbers)
