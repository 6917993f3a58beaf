"""The targets, tables and JSON document of the API benchmark."""

import dataclasses
from typing import Any

from tests.bench import report
from tests.bench.page_timings import LIMIT, PageTiming
from tests.bench.requests import Requests
from tests.bench.startup import Starts
from tests.bench.targets import Target

#: Ratio of the large to the small table from which a list depends on the table size.
FAILS = 4.0
#: Number of clients of the load that has a target.
CLIENTS = 8


@dataclasses.dataclass(slots=True)
class Results:
    """All measurements so far.

    :param small: number of rows of the small tables
    :param large: number of rows of the large tables
    """

    small: int
    large: int
    timings: list[PageTiming] = dataclasses.field(default_factory=list)
    requests: list[Requests] = dataclasses.field(default_factory=list)
    starts: Starts | None = None


def targets(found: Results) -> list[Target]:
    """Return the targets of the measurements."""
    return [*_lists(found), *_requests(found), *_starts(found)]


def failures(found: Results) -> list[str]:
    """Return the lists whose cost depends on the table size, with their figures.

    A list beyond `FAILS` reads rows that it does not return; the load of the machine
    alone cannot explain that.
    """
    return [
        f'{timing.deployment} {timing.page.name}: {timing.ratio:.1f} times the time of '
        f'{found.small} rows'
        for timing in found.timings
        if timing.ratio > FAILS or not timing.constant
    ]


def _lists(found: Results) -> list[Target]:
    grouped: dict[tuple[str, str], list[PageTiming]] = {}
    for timing in found.timings:
        key = timing.deployment, timing.page.noun
        grouped.setdefault(key, []).append(timing)
    made = []
    for (deployment, noun), measured in grouped.items():
        text = (
            f'{deployment}, lists of {noun} at {found.large} rows, beside {found.small}'
        )
        slowest = max(measured, key=lambda timing: timing.ratio)
        above = sum(one.ratio > LIMIT for one in measured)
        named = slowest.page.name + (f', {above} above' if above else '')
        different = sum(not timing.constant for timing in measured)
        other = f'how many of {len(measured)} cost other statements'
        made += [
            Target(f'{text}: {other}', 0, '', different),
            Target(
                f'{text}: time of the slowest ({named})', LIMIT, 'times', slowest.ratio
            ),
        ]
    return made


def _requests(found: Results) -> list[Target]:
    return [
        Target(
            f'{one.deployment}, GET of an action of {found.large}, one process, '
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
        *('deployment', 'list of 100', 'statements', f'ms of {found.small}'),
        *(f'ms of {found.large}', 'times'),
    )
    return report.table(
        headings,
        [
            (
                timing.deployment,
                timing.page.name,
                ', '.join(map(str, dict.fromkeys(timing.statements))),
                *(f'{1000 * seconds:.2f}' for seconds in timing.seconds),
                f'{timing.ratio:.2f}',
            )
            for timing in found.timings
        ],
    )


_LEGEND = """\
statements: per request; two figures where the tables differ. ms: medians of
alternating requests to the application in this process. There are 200 rare rows of
each kind in both tables."""


def _requests_table(found: Results) -> str:
    headings = (
        *('deployment', 'GET of one action', 'clients', 'requests/s', 'bare falcon/s'),
        *('share %', 'median ms', '99 % ms', 'CPU ms'),
    )
    return report.table(
        headings,
        [
            (
                one.deployment,
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
    """Return all measurements as a JSON document."""
    return {
        **report.describe_environment(),
        'rows': [found.small, found.large],
        'lists': [
            {
                'deployment': timing.deployment,
                'list': timing.page.name,
                'statements': timing.statements,
                'seconds': timing.seconds,
                'ratio': timing.ratio,
            }
            for timing in found.timings
        ],
        'requests': [
            {**dataclasses.asdict(one), 'rate': one.rate, 'ceiling': one.ceiling}
            for one in found.requests
        ],
        'starts': None if found.starts is None else dataclasses.asdict(found.starts),
        'targets': report.targets_document(targets(found)),
    }
