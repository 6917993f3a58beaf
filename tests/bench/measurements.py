"""Measurements and the figures derived from them."""

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.bench.cases import Case
from tests.bench.ceiling import Ceiling, Variant
from tests.bench.plans import Timing
from tests.bench.processes import Memory


@dataclasses.dataclass(frozen=True, slots=True)
class Measurement:
    """The measurement of one process that executed plans of a case.

    :param daemon_cpu: ms per action, of all processes of the daemon
    :param database_cpu: ms per action, of PostgreSQL; 0 in one process
    :param broker_cpu: ms per action, of RabbitMQ; 0 in one process
    :param idle: MiB, before the first plan
    :param peak: MiB, after the last one
    :param startup: seconds from the start of the process until it consumes
    :param messages: number of notifications per action
    """

    timings: Sequence[Timing]
    daemon_cpu: float
    database_cpu: float
    broker_cpu: float
    idle: Memory
    peak: Memory
    startup: float
    messages: float


@dataclasses.dataclass(frozen=True, slots=True)
class Round:
    """One round: the daemon, and the ceilings before and after it."""

    measurement: Measurement
    ceilings: Sequence[Ceiling]


@dataclasses.dataclass(slots=True)
class Row:
    """The measurements of a case.

    :param counts: name in `query_counters` -> count in a plan; None: not counted
    """

    case: Case
    rounds: list[Round] = dataclasses.field(default_factory=list)
    counts: dict[str, int] | None = None
    texts: dict[str, int] | None = None

    def median(self, figure: Callable[[Measurement], float]) -> float:
        """Return the median of a figure over all rounds."""
        return statistics.median(figure(item.measurement) for item in self.rounds)

    def seconds(self, moment: str) -> float:
        """Return the median of the seconds until a moment over all plans."""
        return statistics.median(
            getattr(timing, moment)
            for item in self.rounds
            for timing in item.measurement.timings
        )

    def rate(self, moment: str) -> float:
        """Return the median of actions per second until a moment."""
        return self.median(lambda measured: rate(self.case.size, measured, moment))

    def ceilings(self, variant: Variant | None = None) -> list[Ceiling]:
        """Return the ceilings of all rounds, or those of one variant."""
        return [
            ceiling
            for item in self.rounds
            for ceiling in item.ceilings
            if variant in (None, ceiling.variant)
        ]

    def ceiling(self, variant: Variant) -> float | None:
        """Return the median of actions per second of a variant, or None."""
        rates = [ceiling.rate for ceiling in self.ceilings(variant)]
        return statistics.median(rates) if rates else None

    def share(self, variant: Variant) -> float | None:
        """Return the median of the shares of a ceiling, round by round."""
        shares = [
            rate(self.case.size, item.measurement, 'confirmed') / ceiling.rate
            for item in self.rounds
            for ceiling in item.ceilings
            if ceiling.variant == variant
        ]
        return statistics.median(shares) if shares else None

    def per_action(self, name: str) -> float | None:
        """Return a count per action, or None."""
        if self.counts is None:
            return None
        return self.counts.get(name, 0) / self.case.size


def rate(size: int, measured: Measurement, moment: str) -> float:
    """Return the actions per second of the median plan until a moment."""
    return size / statistics.median(getattr(t, moment) for t in measured.timings)


def growth(
    smaller: Row, larger: Row, figure: Callable[[Row], float | None]
) -> float | None:
    """Return the ratio of the costs per action of the larger and the smaller plan."""
    small, large = figure(smaller), figure(larger)
    return large / small if small and large is not None else None


def find(rows: Iterable[Row], case: Case) -> Row | None:
    """Return the row of a case, or None."""
    return next((row for row in rows if row.case == case and row.rounds), None)


def as_json(row: Row) -> dict[str, Any]:
    """Return a row as JSON values."""
    return {'name': row.case.name, **dataclasses.asdict(row)}
