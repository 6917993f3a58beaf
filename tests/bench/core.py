"""The core benchmark: the daemon and its ceiling, measured alternately."""

import json
import pathlib
import time
from collections.abc import Sequence

from tests.bench import ceiling, deployments, harness, report
from tests.bench.cases import SQLITE, Case
from tests.bench.ceiling import Ceiling, Variant
from tests.bench.measurements import Round, Row

#: Smallest plan that is compared with the ceiling; smaller ones end too soon.
_COMPARED = 1000
#: Number of variants, from the first, that have targets.
_JUDGED = 2


def run(cases: Sequence[Case], rounds: int, path: pathlib.Path) -> str:
    """Measure, write the document, and return the tables.

    :param path: written after every case, so that an aborted run keeps its results
    :raises unittest.SkipTest: a server is not available
    """
    rows: list[Row] = []
    with deployments.broker(case.deployment for case in cases) as broker:
        for case in cases:
            row = Row(case)
            rows.append(row)
            _measure(row, rounds, broker)
            path.write_text(json.dumps(report.document(rows, rounds), indent=1))
    return report.text(rows)


def _measure(row: Row, rounds: int, broker: str) -> None:
    case = row.case
    for number in range(case.rounds(rounds)):
        began = time.monotonic()
        with deployments.opened(case.deployment, broker) as deployment:
            row.rounds.append(_round(case, deployment))
        summary = _summary_line(case, row.rounds[-1])
        took = time.monotonic() - began
        report.say(f'{case.name}, round {number + 1}: {summary} ({took:.0f} s)')
    with deployments.opened(case.deployment, broker) as deployment:
        seen = harness.count(case, deployment)
    row.counts, row.texts = seen['counts'], seen['texts']


def _summary_line(case: Case, measured: Round) -> str:
    """Return a summary of one round."""
    alone = Row(case, [measured])
    text = f'{report.number(alone.rate("confirmed"))} actions/s confirmed'
    share = alone.share(Variant(case.shape))
    return text if share is None else f'{text}, {100 * share:.0f} % of the ceiling'


def _round(case: Case, deployment: deployments.Deployment) -> Round:
    """Measure the daemon between two measurements of the ceiling.

    Other load on the machine then affects both sides of a ratio.
    """
    if case.size < _COMPARED:
        return Round(harness.measure(case, deployment), ())

    def bare(variants: Sequence[Variant]) -> list[Ceiling]:
        return [harness.ceiling(case, deployment, variant) for variant in variants]

    variants = ceiling.variants(case.shape, case.deployment != SQLITE)
    judged, others = variants[:_JUDGED], variants[_JUDGED:]
    before = bare(judged)
    measured = harness.measure(case, deployment)
    after = bare(list(reversed(judged)))
    return Round(measured, [*before, *after, *bare(others)])
