"""The printed tables and the JSON document of the core benchmark."""

import datetime
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from tests.bench import documents, measurements, query_counters
from tests.bench.ceiling import Variant
from tests.bench.measurements import Row
from tests.bench.targets import Target, targets

_HEADINGS = (
    'deployment',
    'shape',
    'actions',
    'durable/s',
    'confirmed/s',
    '% template',
    '% dict',
    'first ms',
    'done ms',
    'SQL',
    'commits',
    'AMQP',
    'CPU ms',
    'pg ms',
    'mq ms',
    'idle MiB',
    'peak MiB',
    'start s',
)
_LEFT = 2
_VERDICTS = {True: 'reached', False: 'NOT REACHED', None: 'not measured'}


def say(text: str) -> None:
    """Print the progress of a run."""
    print(text, file=sys.stderr, flush=True)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; columns of words first, then columns of figures."""
    columns = zip(headings, *rows, strict=True)
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = []
    for cells in (headings, ['-' * width for width in widths], *rows):
        aligned = [
            cell.ljust(width) if index < _LEFT else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append('  '.join(aligned).rstrip())
    return '\n'.join(lines)


def rows_table(rows: Sequence[Row]) -> str:
    """Return the table of the daemon."""
    return table(_HEADINGS, [_cells(row) for row in rows if row.rounds])


def ceilings_table(rows: Sequence[Row]) -> str:
    """Return the table of ceilings with the share that the daemon reaches."""
    headings = ('deployment', 'ceiling', 'beside', 'actions/s', 'share %', 'CPU ms')
    lines = []
    for row in rows:
        for variant in dict.fromkeys(bare.variant for bare in row.ceilings()):
            share = row.share(variant)
            lines.append(
                (
                    row.case.deployment,
                    variant.name,
                    f'{row.case.shape} {row.case.size}',
                    number(row.ceiling(variant)),
                    number(None if share is None else 100 * share),
                    number(
                        statistics.mean(c.client_cpu for c in row.ceilings(variant))
                    ),
                )
            )
    return table(headings, lines) if lines else 'No ceiling was measured.'


def targets_table(found: Sequence[Target]) -> str:
    """Return the table of targets."""
    headings = ('', 'target', 'desired', 'measured')
    return table(
        headings,
        [
            (
                _VERDICTS[target.reached],
                target.text,
                f'{">=" if target.least else "<="} {target.limit:g} {target.unit}',
                f'{number(target.figure)} {target.unit}',
            )
            for target in found
        ],
    )


def text(rows: Sequence[Row]) -> str:
    """Return all tables."""
    return '\n\n'.join(
        (rows_table(rows), _LEGEND, ceilings_table(rows), targets_table(targets(rows)))
    )


_LEGEND = """\
durable, confirmed: actions per second until the end of the plan is committed, and until
the last notification is confirmed. % template, % dict: confirmed, as a share of the
ceiling with a publisher thread and documents from a template or from dictionaries, by
round. first, done: seconds since the start command. SQL, commits, AMQP: per action,
of the daemon with its relay; notifications only. CPU, pg, mq: ms per action of the
daemon, PostgreSQL and RabbitMQ. MiB: sum of RSS."""


def document(rows: Sequence[Row], rounds: int) -> dict[str, Any]:
    """Return all measurements as a JSON document."""
    return {
        **describe_environment(),
        'rounds': rounds,
        'rows': [
            {**measurements.as_json(row), 'summary': _summary(row)} for row in rows
        ],
        'targets': targets_document(targets(rows)),
    }


def describe_environment() -> dict[str, Any]:
    """Return the time, the machine and the versions of a measurement."""
    return {
        'measured_at': datetime.datetime.now(datetime.UTC).isoformat(),
        'machine': {
            'cpus': os.cpu_count(),
            'load': os.getloadavg(),
            'system': platform.release(),
            'python': platform.python_version(),
        },
    }


def targets_document(found: Sequence[Target]) -> list[dict[str, Any]]:
    """Return the targets as JSON values."""
    return [
        {
            'target': target.text,
            'limit': target.limit,
            'unit': target.unit,
            'measured': target.figure,
            'reached': target.reached,
        }
        for target in found
    ]


def number(value: float | None) -> str:
    """Return a figure with about three significant digits; - for None."""
    if value is None:
        return '-'
    if abs(value) >= 100 or value == int(value):
        return f'{value:.0f}'
    return f'{value:.1f}' if abs(value) >= 10 else f'{value:.3g}'


def _cells(row: Row) -> list[str]:
    summary = _summary(row)
    words = [row.case.deployment, row.case.shape, str(row.case.size)]
    return words + [number(value) for value in summary.values()]


def _summary(row: Row) -> dict[str, float | None]:
    """Return the medians of a row in the order of the table."""
    if not row.rounds:
        return {}
    shape = row.case.shape
    template = row.share(Variant(shape, made_from=documents.TEMPLATE))
    dictionaries = row.share(Variant(shape, made_from=documents.DICTIONARIES))
    return {
        'durable': row.rate('done'),
        'confirmed': row.rate('confirmed'),
        'share_template': None if template is None else 100 * template,
        'share_dictionaries': None if dictionaries is None else 100 * dictionaries,
        'first': 1000 * row.seconds('first'),
        'done': 1000 * row.seconds('done'),
        'statements': row.per_action(query_counters.STATEMENTS),
        'commits': row.per_action(query_counters.COMMITS),
        'messages': row.median(lambda measured: measured.messages),
        'daemon_cpu': row.median(lambda measured: measured.daemon_cpu),
        'database_cpu': row.median(lambda measured: measured.database_cpu),
        'broker_cpu': row.median(lambda measured: measured.broker_cpu),
        'idle': row.median(lambda measured: measured.idle.resident),
        'peak': row.median(lambda measured: measured.peak.peak),
        'startup': row.median(lambda measured: measured.startup),
    }
