"""The cost of list requests with small and large tables, measured alternately.

The application is called in this process, so that only it and the database are
measured.
"""

import contextlib
import dataclasses
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

from falcon import testing

from tests.bench import lists, query_counters, report
from tests.bench.deployments import Deployment
from watcherlite import bootstrap, conf
from watcherlite.api import deploy
from watcherlite.api.errors import Wsgi

#: Limit of the ratio of the times of a page in the large and the small table.
LIMIT = 1.5
#: Requests of the warm-up: psycopg prepares a statement after five executions.
_WARM_UP = 7
#: Seconds for the measurement of one page; at least three requests are made.
_PATIENCE = 2.0
_LEAST = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """An application on tables of a size."""

    count: int
    application: Wsgi

    def ask(self, page: lists.Page) -> dict[str, Any]:
        """Return the body of a page; raise AssertionError unless it has 100 rows."""
        path, query = page.address(self.count)
        found = call(self.application, path, query, deleted=page.deleted)
        body: dict[str, Any] = json.loads(found)
        rows = len(body[page.noun])
        if rows != lists.LIMIT:
            raise AssertionError(f'{page.name} of {self.count} has {rows} rows')
        return body

    def statements(self, page: lists.Page) -> int:
        """Return the number of statements of a page."""
        counters = query_counters.Counters()
        with counters.counted():
            self.ask(page)
        counts: dict[str, int] = counters.take()['counts']
        return counts.get(query_counters.STATEMENTS, 0)

    def seconds(self, page: lists.Page) -> float:
        """Return the seconds that a page takes."""
        path, query = page.address(self.count)
        begun = time.perf_counter()
        call(self.application, path, query, deleted=page.deleted)
        return time.perf_counter() - begun


@dataclasses.dataclass(frozen=True, slots=True)
class PageTiming:
    """The measurement of a page in one deployment.

    :param statements: in the small and in the large table
    :param seconds: likewise, medians of alternating measurements
    """

    deployment: str
    page: lists.Page
    statements: tuple[int, int]
    seconds: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Return the ratio of the times of the large and the small table."""
        return self.seconds[1] / self.seconds[0]

    @property
    def constant(self) -> bool:
        """Return whether both tables take the same number of statements."""
        return self.statements[0] == self.statements[1]


def call(application: Wsgi, path: str, query: str, *, deleted: bool = False) -> bytes:
    """Return the body of a response; raise AssertionError unless it is 200."""
    headers = {'OpenStack-API-Version': 'infra-optim 1.7'}
    if deleted:
        headers['X-Show-Deleted'] = 'true'
    environ = testing.create_environ(
        path, query_string=query, headers=headers, host='127.0.0.1'
    )
    statuses: list[str] = []

    def start(status: str, headers: Any, *rest: Any) -> None:
        statuses.append(status)

    body = b''.join(application(environ, start))
    if not statuses[0].startswith('200 '):
        raise AssertionError(
            f'{path}?{query}: unexpected status {statuses[0]}: {body!r}'
        )
    return body


@contextlib.contextmanager
def application(deployment: Deployment) -> Iterator[Wsgi]:
    """Yield the application on the database of a deployment."""
    configuration = conf.new([f'--config-file={deployment.config_file}'])
    runtime = bootstrap.Runtime(configuration, lanes=())
    try:
        yield deploy.application_of(runtime, deploy.services_of(runtime))
    finally:
        runtime.stop(0)


def measure(
    name: str, small: Table, large: Table, pages: Sequence[lists.Page], rounds: int
) -> list[PageTiming]:
    """Measure each page.

    :param name: of the deployment
    :param rounds: maximum for one page; a page that seems slow gets more
    """
    found = []
    for page in pages:
        measured = _measured(name, small, large, page, rounds)
        if measured.ratio > LIMIT:
            # Repeat a slow page: other load on the machine may have caused it.
            measured = _measured(name, small, large, page, 3 * rounds)
        found.append(measured)
        report.say(
            f'{name}, {page.name}: {1000 * found[-1].seconds[0]:.2f} ms of '
            f'{small.count} rows, {found[-1].ratio:.2f} times as long of {large.count}'
        )
    return found


def _measured(
    name: str, small: Table, large: Table, page: lists.Page, rounds: int
) -> PageTiming:
    tables = (small, large)
    statements = [table.statements(page) for table in tables]
    begun = time.perf_counter()
    for _ in range(_WARM_UP):
        for table in tables:
            table.seconds(page)
        if time.perf_counter() - begun > _PATIENCE:
            break
    taken: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(taken) < rounds:
        if len(taken) >= _LEAST and time.perf_counter() - begun > _PATIENCE:
            break
        if len(taken) % 2:
            # Alternate the order: the second request finds warmer caches.
            second = large.seconds(page)
            taken.append((small.seconds(page), second))
        else:
            taken.append((small.seconds(page), large.seconds(page)))
    medians = [statistics.median(column) for column in zip(*taken, strict=True)]
    return PageTiming(
        name, page, (statements[0], statements[1]), (medians[0], medians[1])
    )
