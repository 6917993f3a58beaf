"""The performance targets, and whether they are reached."""

import dataclasses
import operator
from collections.abc import Callable, Iterable, Sequence

from tests.bench import documents, query_counters
from tests.bench.cases import CHAIN, PARALLEL, POSTGRESQL, Case
from tests.bench.ceiling import Variant
from tests.bench.measurements import Row, find, growth

#: Smallest sizes with targets for the cost of an action.
_WIDE = 100
_LONG = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """A performance target.

    :param limit: the bound
    :param unit: printed after figures; '' for none
    :param figure: the measurement; None if it was not made
    :param least: whether the limit is a minimum instead of a maximum
    """

    text: str
    limit: float
    unit: str
    figure: float | None
    least: bool = False

    @property
    def reached(self) -> bool | None:
        """Return whether the target is reached; None without a measurement."""
        if self.figure is None:
            return None
        return self.figure >= self.limit if self.least else self.figure <= self.limit


def targets(rows: Sequence[Row]) -> list[Target]:
    """Return all targets in a fixed order."""
    return [
        *_shares(rows),
        *_counts(rows),
        *_growth(rows),
        *_latencies(rows),
        *_resources(rows),
    ]


def _shares(rows: Sequence[Row]) -> list[Target]:
    return [
        Target(
            f'{shape} of {size}, all confirmed: share of the ceiling with a publisher '
            f'thread, documents from {_MADE_FROM[made_from]}',
            limit,
            '%',
            _times(
                100, row.share(Variant(shape, made_from=made_from)) if row else None
            ),
            least=True,
        )
        for shape, size, limit in (
            (PARALLEL, 1000, 60),
            (PARALLEL, 10_000, 60),
            (CHAIN, 1000, 45),
        )
        for row in (find(rows, Case(POSTGRESQL, shape, size)),)
        for made_from in _MADE_FROM
    ]


_MADE_FROM = {documents.DICTIONARIES: 'dictionaries', documents.TEMPLATE: 'a template'}


def _counts(rows: Sequence[Row]) -> list[Target]:
    hundred = [row for row in _of(rows, PARALLEL, _WIDE) if row.case.size < _LONG]
    thousands = _of(rows, PARALLEL, _LONG)
    chain = _of(rows, CHAIN, _LONG)
    return [
        Target(
            f'{what} per action, relay included, {text}',
            limit,
            '',
            _most(of, operator.methodcaller('per_action', name)),
        )
        for of, text, statements, commits in (
            (hundred, f'parallel of {_WIDE}', 0.1, 0.05),
            (thousands, f'parallel of {_LONG} and more', 0.1, 0.05),
            (chain, f'chain of {_LONG} and more', 8, 2),
        )
        for what, name, limit in (
            ('statements', query_counters.STATEMENTS, statements),
            ('writing commits', query_counters.COMMITS, commits),
        )
    ]


def _growth(rows: Sequence[Row]) -> list[Target]:
    smaller = find(rows, Case(POSTGRESQL, PARALLEL, 1000))
    larger = find(rows, Case(POSTGRESQL, PARALLEL, 100_000))

    def compared(figure: Callable[[Row], float]) -> float | None:
        return growth(smaller, larger, figure) if smaller and larger else None

    text = 'per action at 100000 actions, relative to 1000'
    return [
        Target(f'CPU of the daemon {text}', 1.25, '', compared(_daemon_cpu)),
        Target(
            f'time {text}, all confirmed',
            1.25,
            '',
            compared(lambda row: 1 / row.rate('confirmed')),
        ),
    ]


def _latencies(rows: Sequence[Row]) -> list[Target]:
    def done(shape: str, size: int) -> float | None:
        row = find(rows, Case(POSTGRESQL, shape, size))
        return _times(1000, row.seconds('done') if row else None)

    return [
        Target('plan of one action done after', 30, 'ms', done(PARALLEL, 1)),
        Target('plan of ten parallel actions done after', 50, 'ms', done(PARALLEL, 10)),
        Target('chain of ten actions done after', 50, 'ms', done(CHAIN, 10)),
        Target(
            'first action ONGOING after, median of the slowest size',
            20,
            'ms',
            _most(_of(rows, None, 1), lambda row: row.seconds('first') * 1000),
        ),
    ]


def _resources(rows: Sequence[Row]) -> list[Target]:
    servers = _of(rows, None, 1)
    largest = _of(rows, PARALLEL, 100_000)
    running = 'while running 100000 actions'
    return [
        *(
            Target(
                f'CPU of the daemon per action, {shape} of {_LONG} and more',
                1,
                'ms',
                _most(_of(rows, shape, _LONG), _daemon_cpu),
            )
            for shape in (PARALLEL, CHAIN)
        ),
        *(
            Target(
                f'{kind} {when}, sum of all processes',
                limit,
                'MiB',
                _most(of, operator.methodcaller('median', figure)),
            )
            for of, kind, when, limit, figure in (
                (servers, 'RSS', 'idle', 80, lambda m: m.idle.resident),
                (servers, 'PSS', 'idle', 80, lambda m: m.idle.proportional),
                (largest, 'RSS', running, 120, lambda m: m.peak.peak),
                (largest, 'PSS', running, 120, lambda m: m.peak.proportional),
            )
        ),
        Target(
            'consuming after the start of the process, median of the slowest size',
            0.8,
            's',
            _most(servers, lambda row: row.median(lambda m: m.startup)),
        ),
    ]


def _daemon_cpu(row: Row) -> float:
    return row.median(lambda measured: measured.daemon_cpu)


def _of(rows: Iterable[Row], shape: str | None, least: int) -> list[Row]:
    """Return the rows on servers by shape (None: all) and minimum size."""
    return [
        row
        for row in rows
        if row.case.deployment == POSTGRESQL
        and shape in (None, row.case.shape)
        and row.case.size >= least
        and row.rounds
    ]


def _most(rows: Iterable[Row], figure: Callable[[Row], float | None]) -> float | None:
    """Return the maximum of a figure; None if no row has it."""
    return max((f for f in map(figure, rows) if f is not None), default=None)


def _times(factor: float, figure: float | None) -> float | None:
    return None if figure is None else factor * figure
