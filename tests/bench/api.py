"""The API benchmark: lists of small and large tables, requests, the command."""

import contextlib
import dataclasses
import json
import pathlib
import time
import unittest
from collections.abc import Sequence

from tests.bench import (
    api_report,
    deployments,
    lists,
    page_timings,
    report,
    requests,
    sample_rows,
    startup,
)
from tests.bench.cases import POSTGRESQL, SQLITE

#: Deployments of the lists; requests are measured in all but the last.
DEPLOYMENTS = (POSTGRESQL, SQLITE, deployments.MYSQL)


@dataclasses.dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a run.

    :param rounds: maximum for one list
    :param clients: number of clients of each load
    :param loads: rounds of each load
    :param seconds: duration of each round of a load
    :param starts: number of starts of the command
    """

    small: int = 1000
    large: int = 1_000_000
    rounds: int = 25
    clients: Sequence[int] = (1, api_report.CLIENTS)
    loads: int = 3
    seconds: float = 4.0
    starts: int = 11


QUICK = Extent(
    large=100_000,
    rounds=15,
    clients=(api_report.CLIENTS,),
    loads=1,
    seconds=2.0,
    starts=5,
)


def run(
    extent: Extent, chosen: Sequence[str], path: pathlib.Path
) -> api_report.Results:
    """Measure, write the document, and return the results.

    :param chosen: of `DEPLOYMENTS`
    :param path: written after every deployment, so an aborted run keeps its results
    :raises unittest.SkipTest: a server other than MariaDB is not available
    """
    found = api_report.Results(extent.small, extent.large)
    found.starts = startup.measure(extent.starts)
    for deployment in chosen:
        try:
            _measure(deployment, extent, found)
        except unittest.SkipTest as error:
            if deployment != deployments.MYSQL:
                raise
            report.say(f'not measured: {error}')
        path.write_text(json.dumps(api_report.document(found), indent=1))
    return found


def _measure(name: str, extent: Extent, found: api_report.Results) -> None:
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(deployments.broker([name]))
        tables = []
        for count in (extent.small, extent.large):
            begun = time.monotonic()
            deployment = stack.enter_context(
                deployments.opened(name, broker, f'_{count}')
            )
            sample_rows.fill(deployment.database, count)
            took = time.monotonic() - begun
            report.say(f'{name}, {count} rows: filled in {took:.0f} s')
            application = stack.enter_context(page_timings.application(deployment))
            tables.append(page_timings.Table(count, application))
        small, large = tables
        found.timings += page_timings.measure(
            name, small, large, lists.pages(), extent.rounds
        )
        if name != deployments.MYSQL:
            found.requests += requests.measure(
                deployment, extent.large, extent.clients, extent.loads, extent.seconds
            )
