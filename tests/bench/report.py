"""The tables that are printed, and the document that is written."""

import datetime
import os
import platform
from collections.abc import Sequence
from typing import Any

from tests.bench import counting, documents, figures
from tests.bench.ceiling import Way
from tests.bench.figures import Measurement, Row
from tests.bench.targets import Target, targets

_HEADINGS = (
    'place',
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


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under headings; the first columns are words, the rest figures."""
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
    """Return what was measured of the daemon."""
    return table(_HEADINGS, [_cells(row) for row in rows if row.rounds])


def ceilings_table(rows: Sequence[Row]) -> str:
    """Return what was measured of the bare work, and the share that was reached."""
    headings = ('place', 'bare work', 'beside', 'actions/s', 'share %', 'CPU ms')
    lines = []
    for row in rows:
        ways = dict.fromkeys(c.way for item in row.rounds for c in item.ceilings)
        for way in ways:
            share = row.share(way)
            lines.append(
                (
                    row.case.place,
                    way.name,
                    f'{row.case.shape} {row.case.size}',
                    number(row.ceiling(way)),
                    number(None if share is None else 100 * share),
                    number(_client_cpu(row, way)),
                )
            )
    return table(headings, lines) if lines else 'No ceiling was measured.'


def targets_table(found: Sequence[Target]) -> str:
    """Return what is to be reached, and whether it was."""
    headings = ('', 'target', 'wanted', 'measured')
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
        (
            rows_table(rows),
            _LEGEND,
            ceilings_table(rows),
            targets_table(targets(rows)),
        )
    )


_LEGEND = """\
durable, confirmed: actions a second until the plan has ended in the database, and
until the last notification was confirmed. % template, % dict: confirmed, as a share
of the ceiling with a publisher thread, pair by pair; its documents come from a
template or from dictionaries. first, done: after the command was sent. SQL, commits,
AMQP: an action, of the daemon with its relay; notifications only. CPU, pg, mq: an
action, of the daemon, PostgreSQL and RabbitMQ. MiB: RSS, summed over processes."""


def document(rows: Sequence[Row], rounds: int) -> dict[str, Any]:
    """Return everything, for a file."""
    return {
        **circumstances(),
        'rounds': rounds,
        'rows': [{**figures.as_json(row), 'summary': _summary(row)} for row in rows],
        'targets': targets_document(targets(rows)),
    }


def circumstances() -> dict[str, Any]:
    """Return when and where something was measured."""
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
    """Return what is to be reached, for a file."""
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
    """Return a figure with about three digits that mean something; - for none."""
    if value is None:
        return '-'
    if abs(value) >= 100 or value == int(value):
        return f'{value:.0f}'
    return f'{value:.1f}' if abs(value) >= 10 else f'{value:.3g}'


def _cells(row: Row) -> list[str]:
    summary = _summary(row)
    words = [row.case.place, row.case.shape, str(row.case.size)]
    return words + [number(value) for value in summary.values()]


def _summary(row: Row) -> dict[str, float | None]:
    """Return the medians of a row, in the order of the table."""
    if not row.rounds:
        return {}
    shape = row.case.shape
    template = row.share(Way(shape, made_from=documents.TEMPLATE))
    dictionaries = row.share(Way(shape, made_from=documents.DICTIONARIES))
    return {
        'durable': row.rate('done'),
        'confirmed': row.rate('told'),
        'share_template': None if template is None else 100 * template,
        'share_dictionaries': None if dictionaries is None else 100 * dictionaries,
        'first': 1000 * row.seconds('first'),
        'done': 1000 * row.seconds('done'),
        'statements': row.per_action(counting.STATEMENTS),
        'commits': row.per_action(counting.COMMITS),
        'messages': row.median(_messages),
        'daemon_cpu': row.median(lambda measured: measured.daemon_cpu),
        'database_cpu': row.median(lambda measured: measured.database_cpu),
        'broker_cpu': row.median(lambda measured: measured.broker_cpu),
        'idle': row.median(lambda measured: measured.idle.resident),
        'peak': row.median(lambda measured: measured.peak.peak),
        'startup': row.median(lambda measured: measured.startup),
    }


def _messages(measured: Measurement) -> float:
    return measured.messages


def _client_cpu(row: Row, way: Way) -> float:
    used = [c.client_cpu for item in row.rounds for c in item.ceilings if c.way == way]
    return sum(used) / len(used)
