"""How fast the API is: lists of small and large tables, requests, the command."""

import contextlib
import dataclasses
import json
import pathlib
import time
import unittest
from collections.abc import Callable, Sequence

from tests.bench import (
    api_report,
    counting,
    filling,
    lists,
    places,
    reading,
    requests,
    starting,
)
from tests.bench.cases import POSTGRESQL, SQLITE

#: Where lists are measured; requests in all but the last.
PLACES = (POSTGRESQL, SQLITE, places.MYSQL)


@dataclasses.dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured.

    :param rounds: most of them for one list
    :param clients: of each load
    :param loads: rounds of each
    :param seconds: of each round of a load
    :param starts: of the command
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
    extent: Extent,
    chosen: Sequence[str],
    pages: Sequence[lists.Page],
    path: pathlib.Path,
    say: Callable[[str], None],
) -> api_report.Results:
    """Measure, write the document, and return what was measured.

    :param chosen: of `PLACES`
    :param path: written after every place, so that what was measured is kept
    :raises unittest.SkipTest: a server is not there; MariaDB need not be
    """
    found = api_report.Results(extent.small, extent.large)
    found.starts = starting.measure(extent.starts)
    for place in chosen:
        try:
            _measure(place, extent, pages, found, say)
        except unittest.SkipTest as error:
            if place != places.MYSQL:
                raise
            say(f'not measured: {error}')
        path.write_text(json.dumps(api_report.document(found), indent=1))
    return found


def _measure(
    name: str,
    extent: Extent,
    pages: Sequence[lists.Page],
    found: api_report.Results,
    say: Callable[[str], None],
) -> None:
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(places.vhost()) if name != SQLITE else ''
        tables = []
        for count in (extent.small, extent.large):
            begun = time.monotonic()
            place = stack.enter_context(places.opened(name, broker, f'_{count}'))
            filling.fill(place.database, count)
            say(f'{name}, {count} rows: filled in {time.monotonic() - begun:.0f} s')
            application = stack.enter_context(reading.application(place))
            tables.append(reading.Table(count, application, counting.Counters()))
        small, large = tables
        found.readings += reading.measure(name, small, large, pages, extent.rounds, say)
        if name != places.MYSQL:
            found.requests += requests.measure(
                place, extent.large, extent.clients, extent.loads, extent.seconds
            )
