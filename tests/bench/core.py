"""How fast the core is: all cases, beside the ceiling, in turns."""

import contextlib
import json
import pathlib
import time
from collections.abc import Callable, Sequence

from tests.bench import ceiling, harness, places, report
from tests.bench.cases import POSTGRESQL, SQLITE, Case
from tests.bench.ceiling import Ceiling, Way
from tests.bench.figures import Round, Row

#: Below that a plan is over before the bare work has got going.
_COMPARED = 1000
#: The first of the ways are those that there are targets for.
_JUDGED = 2


def run(
    cases: Sequence[Case],
    rounds: int,
    path: pathlib.Path,
    say: Callable[[str], None],
) -> str:
    """Measure, write the document, and return the tables.

    :param path: written after every case, so that what was measured is kept
    :raises unittest.SkipTest: a server is not there
    """
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        broker = ''
        if any(case.place == POSTGRESQL for case in cases):
            broker = stack.enter_context(places.vhost())
        for case in cases:
            row = Row(case)
            rows.append(row)
            _measure(row, rounds, broker, say)
            path.write_text(json.dumps(report.document(rows, rounds), indent=1))
    return report.text(rows)


def profile(case: Case) -> dict[str, object]:
    """Return what a sampler sees of one plan; see `Sampler.take`."""
    with contextlib.ExitStack() as stack:
        broker = ''
        if case.place == POSTGRESQL:
            broker = stack.enter_context(places.vhost())
        place = stack.enter_context(places.opened(case.place, broker))
        seen: dict[str, object] = harness.watch(case, place, harness.SAMPLE)['profile']
    return seen


def _measure(row: Row, rounds: int, broker: str, say: Callable[[str], None]) -> None:
    case = row.case
    for number in range(case.rounds(rounds)):
        began = time.monotonic()
        with places.opened(case.place, broker) as place:
            row.rounds.append(_round(case, place))
        told = _told(case, row.rounds[-1])
        took = time.monotonic() - began
        say(f'{case.name}, round {number + 1}: {told} ({took:.0f} s)')
    with places.opened(case.place, broker) as place:
        seen = harness.watch(case, place, harness.COUNT)
    row.counts, row.texts = seen['counts'], seen['texts']


def _told(case: Case, measured: Round) -> str:
    """Return one round in a few words."""
    alone = Row(case, [measured])
    text = f'{report.number(alone.rate("told"))} actions/s confirmed'
    share = alone.share(Way(case.shape))
    return text if share is None else f'{text}, {100 * share:.0f} % of the ceiling'


def _round(case: Case, place: places.Place) -> Round:
    """Measure the daemon between two measurements of what it is compared with.

    What others do on the machine then weighs on both sides of a ratio.
    """
    if case.size < _COMPARED:
        return Round(harness.measure(case, place), ())

    def bare(ways: Sequence[Way]) -> list[Ceiling]:
        return [harness.ceiling(case, place, way) for way in ways]

    ways = ceiling.ways(case.shape, case.place != SQLITE)
    judged, others = ways[:_JUDGED], ways[_JUDGED:]
    before = bare(judged)
    measured = harness.measure(case, place)
    after = bare(list(reversed(judged)))
    return Round(measured, [*before, *after, *bare(others)])
