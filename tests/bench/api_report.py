"""What was measured of the API: the targets, the tables, the document."""

import dataclasses
from typing import Any

from tests.bench import lists, report
from tests.bench.reading import LIMIT, Reading
from tests.bench.requests import Requests
from tests.bench.starting import Starts
from tests.bench.targets import Target

#: Times as long as in the small table, at which a list depends on how many rows there
#: are.
FAILS = 4.0
#: Clients of the load that there is a target for.
CLIENTS = 8


@dataclasses.dataclass(slots=True)
class Results:
    """All that was measured so far.

    :param small: rows of the small tables
    :param large: rows of the large ones
    """

    small: int
    large: int
    readings: list[Reading] = dataclasses.field(default_factory=list)
    requests: list[Requests] = dataclasses.field(default_factory=list)
    starts: Starts | None = None


def targets(found: Results) -> list[Target]:
    """Return all targets of what was measured."""
    return [*_lists(found), *_requests(found), *_starts(found)]


def failures(found: Results) -> list[str]:
    """Return the lists that cost more the more rows there are, each with its figures.

    A list beyond `FAILS` reads rows that it does not show; how busy a machine is
    explains less than that.
    """
    return [
        f'{reading.place} {reading.page.name}: {reading.ratio:.1f} times the time of '
        f'{found.small} rows'
        for reading in found.readings
        if reading.ratio > FAILS or not reading.constant
    ]


def _lists(found: Results) -> list[Target]:
    made = []
    for place in dict.fromkeys(reading.place for reading in found.readings):
        for noun in lists.NOUNS:
            measured = _of(found, place, noun)
            if not measured:
                continue
            beside = f'at {found.large} rows, beside {found.small}'
            slowest = max(measured, key=lambda reading: reading.ratio)
            above = sum(one.ratio > LIMIT for one in measured)
            named = slowest.page.name + (f', {above} above' if above else '')
            text = f'{place}, lists of {noun} {beside}'
            different = sum(not reading.constant for reading in measured)
            made += [
                Target(
                    f'{text}: how many of {len(measured)} cost other statements',
                    0,
                    '',
                    different,
                ),
                Target(
                    f'{text}: time of the slowest ({named})',
                    LIMIT,
                    'times',
                    slowest.ratio,
                ),
            ]
    return made


def _of(found: Results, place: str, noun: str) -> list[Reading]:
    return [
        reading
        for reading in found.readings
        if (reading.place, reading.page.noun) == (place, noun)
    ]


def _requests(found: Results) -> list[Target]:
    return [
        Target(
            f'{one.place}, GET of an action of {found.large}, one process, '
            f'{one.clients} clients',
            200,
            '/s',
            one.rate,
            least=True,
        )
        for one in found.requests
        if one.clients == CLIENTS
    ]


def _starts(found: Results) -> list[Target]:
    figure = None if found.starts is None else found.starts.command
    return [Target('watcherlite --help', 0.4, 's', figure)]


def text(found: Results) -> str:
    """Return all tables."""
    parts = [_readings_table(found), _LEGEND, _requests_table(found)]
    if found.starts is not None:
        parts.append(
            f'watcherlite --help: {found.starts.command:.3f} s; '
            f'python -c pass: {found.starts.base:.3f} s'
        )
    return '\n\n'.join([*parts, report.targets_table(targets(found))])


def _readings_table(found: Results) -> str:
    headings = (
        *('place', 'list of 100', 'statements', f'ms of {found.small}'),
        *(f'ms of {found.large}', 'times'),
    )
    return report.table(
        headings,
        [
            (
                reading.place,
                reading.page.name,
                ', '.join(map(str, dict.fromkeys(reading.statements))),
                *(f'{1000 * seconds:.2f}' for seconds in reading.seconds),
                f'{reading.ratio:.2f}',
            )
            for reading in found.readings
        ],
    )


_LEGEND = """\
statements: of one request; two figures where the tables differ. ms: medians of
requests that were sent in turns, the whole application in this process. Of what is
rare there are 200 rows in both tables."""


def _requests_table(found: Results) -> str:
    headings = (
        *('place', 'GET of one action', 'clients', 'requests/s', 'bare falcon/s'),
        *('share %', 'median ms', '99 % ms', 'CPU ms'),
    )
    return report.table(
        headings,
        [
            (
                one.place,
                f'of {found.large}',
                str(one.clients),
                report.number(one.rate),
                report.number(one.ceiling),
                report.number(100 * one.rate / one.ceiling),
                report.number(1000 * one.middle),
                report.number(1000 * one.slow),
                report.number(one.cpu),
            )
            for one in found.requests
        ],
    )


def document(found: Results) -> dict[str, Any]:
    """Return everything, for a file."""
    return {
        **report.circumstances(),
        'rows': [found.small, found.large],
        'lists': [
            {
                'place': reading.place,
                'list': reading.page.name,
                'statements': reading.statements,
                'seconds': reading.seconds,
                'ratio': reading.ratio,
            }
            for reading in found.readings
        ],
        'requests': [
            {**dataclasses.asdict(one), 'rate': one.rate, 'ceiling': one.ceiling}
            for one in found.requests
        ],
        'starts': None if found.starts is None else dataclasses.asdict(found.starts),
        'targets': report.targets_document(targets(found)),
    }
