"""What was measured, and what follows from it."""

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.bench.cases import Case
from tests.bench.ceiling import Ceiling, Way
from tests.bench.plans import Timing
from tests.bench.processes import Memory


@dataclasses.dataclass(frozen=True, slots=True)
class Measurement:
    """One process that has executed one or more plans of a case.

    :param daemon_cpu: ms an action, of all processes of the daemon
    :param database_cpu: ms an action, of PostgreSQL; 0 in one process
    :param broker_cpu: ms an action, of RabbitMQ; 0 in one process
    :param idle: MiB, before the first plan
    :param peak: MiB, after the last one
    :param startup: seconds from the start of the process until it consumes
    :param messages: notifications an action that have arrived
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
    """What was measured in turns, within a short time; a way perhaps twice."""

    measurement: Measurement
    ceilings: Sequence[Ceiling]


@dataclasses.dataclass(slots=True)
class Row:
    """One case.

    :param counts: name in `counting` -> how many in a plan; None: not counted
    """

    case: Case
    rounds: list[Round] = dataclasses.field(default_factory=list)
    counts: dict[str, int] | None = None
    texts: dict[str, int] | None = None

    def median(self, figure: Callable[[Measurement], float]) -> float:
        """Return the median over the rounds of a figure of a measurement."""
        return statistics.median(figure(item.measurement) for item in self.rounds)

    def seconds(self, moment: str) -> float:
        """Return the median over all plans of all rounds until a moment."""
        return statistics.median(
            getattr(timing, moment)
            for item in self.rounds
            for timing in item.measurement.timings
        )

    def rate(self, moment: str) -> float:
        """Return the median actions a second until a moment."""
        return self.median(lambda measured: rate(self.case.size, measured, moment))

    def ceiling(self, way: Way) -> float | None:
        """Return the median actions a second of a way; None: not measured."""
        rates = [c.rate for item in self.rounds for c in item.ceilings if c.way == way]
        return statistics.median(rates) if rates else None

    def share(self, way: Way) -> float | None:
        """Return the median share of a ceiling, confirmed, pair by pair."""
        shares = [
            rate(self.case.size, item.measurement, 'told') / ceiling.rate
            for item in self.rounds
            for ceiling in item.ceilings
            if ceiling.way == way
        ]
        return statistics.median(shares) if shares else None

    def per_action(self, name: str) -> float | None:
        """Return a count an action; None: not counted."""
        if self.counts is None:
            return None
        return self.counts.get(name, 0) / self.case.size


def rate(size: int, measured: Measurement, moment: str) -> float:
    """Return the actions a second until a moment, of the median plan."""
    return size / statistics.median(getattr(t, moment) for t in measured.timings)


def growth(
    smaller: Row, larger: Row, figure: Callable[[Row], float | None]
) -> float | None:
    """Return how many times as much an action costs in the larger plan."""
    small, large = figure(smaller), figure(larger)
    return large / small if small and large is not None else None


def find(rows: Iterable[Row], case: Case) -> Row | None:
    """Return the row of a case, None if it was not measured."""
    return next((row for row in rows if row.case == case and row.rounds), None)


def as_json(row: Row) -> dict[str, Any]:
    """Return everything that is known of a row, for a file."""
    return {'name': row.case.name, **dataclasses.asdict(row)}
