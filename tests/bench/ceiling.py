"""The ceiling: the minimal durable work of an action, without watcherlite.

Two durable transitions in grouped updates and four confirmed publishes for each action;
no claims, no threads for plugins, no rules, no plan, no outbox. A `Variant` defines the
order of these steps. A separate process measures one of them:

    python -m tests.bench.ceiling < request.json
"""

import dataclasses
import gc
import itertools
import json
import pathlib
import queue
import sys
import threading
import time
from collections.abc import Iterator, Sequence

from tests.bench import documents, processes
from tests.bench.cases import CHAIN, PARALLEL, POSTGRESQL
from tests.bench.publishers import ConfirmedPublisher, Consumer, Publisher
from tests.bench.transitions import (
    PostgresqlTransitions,
    SqliteTransitions,
    Transitions,
)

#: Actions in one update.
GROUP = 100
#: Largest batch of the publisher: the batch size of the relay.
_AT_ONCE = 500
#: The builder of messages, and the actions that started or ended.
_Change = tuple[documents.Make, Sequence[int]]


@dataclasses.dataclass(frozen=True, slots=True)
class Variant:
    """A variant of the minimal work.

    :param shape: groups of 100, or one after the other: SUCCEEDED of one and RUNNING of
        the next in one commit
    :param thread: whether a thread of its own publishes while the next group is
        written; otherwise both alternate
    :param made_from: DICTIONARIES or TEMPLATE, see `documents`
    :param durable: whether the queue is durable, which is not the default of
        watcherlite
    """

    shape: str
    thread: bool = True
    made_from: str = documents.TEMPLATE
    durable: bool = False

    @property
    def name(self) -> str:
        """Return the name used in tables."""
        parts = [
            'chain' if self.shape == CHAIN else f'groups of {GROUP}',
            'publisher thread' if self.thread else 'in turn',
            self.made_from,
        ]
        return ', '.join([*parts, 'durable queue'] if self.durable else parts)


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A request for a measurement in a new process.

    :param database: an SQLAlchemy URL (PostgreSQL), or the path of a file (SQLite)
    :param broker: an AMQP URL; '' for a consumer in the process
    """

    deployment: str
    database: str
    broker: str
    variant: Variant
    actions: int


@dataclasses.dataclass(frozen=True, slots=True)
class Ceiling:
    """The measurement of a variant.

    :param rate: actions per second, durable and confirmed
    :param client_cpu: ms per action, of this process
    :param database_cpu: ms per action, of PostgreSQL
    :param broker_cpu: ms per action, of RabbitMQ
    """

    variant: Variant
    actions: int
    rate: float
    client_cpu: float
    database_cpu: float
    broker_cpu: float


def variants(shape: str, with_broker: bool) -> list[Variant]:
    """Return the variants of a shape; those with targets first."""
    judged = Variant(shape)
    found = [judged, dataclasses.replace(judged, made_from=documents.DICTIONARIES)]
    if shape == PARALLEL:
        found.append(dataclasses.replace(judged, thread=False))
    if with_broker:
        found.append(dataclasses.replace(judged, durable=True))
    return found


def measure(request: Request) -> Ceiling:
    """Do the minimal work of the requested actions and return its cost."""
    transitions = _transitions(request)
    publisher = _publisher(request)
    try:
        work = _Work(request, transitions, publisher)
        before, started = processes.servers(), time.perf_counter()
        used = time.process_time()
        work.run()
        seconds, used = time.perf_counter() - started, time.process_time() - used
        database, broker = processes.servers().since(before)
    finally:
        publisher.close()
        transitions.close()
    to_ms = 1000 / request.actions
    return Ceiling(
        request.variant,
        request.actions,
        request.actions / seconds,
        used * to_ms,
        database * to_ms,
        broker * to_ms,
    )


class _Work:
    """The actions of one measurement, after a warm-up."""

    def __init__(
        self, request: Request, transitions: Transitions, publisher: Publisher
    ) -> None:
        self._way = request.variant
        self._transitions = transitions
        self._publisher = publisher
        self._began = documents.started(request.variant.made_from)
        self._ended = documents.ended(request.variant.made_from)
        self._changes: queue.SimpleQueue[_Change | None] = queue.SimpleQueue()
        self._failure: BaseException | None = None
        warm = 2 * GROUP
        self._uuids = transitions.fill(warm + request.actions)
        self._do(range(warm))
        self._ids = range(warm, warm + request.actions)
        gc.collect()
        gc.freeze()

    def run(self) -> None:
        """Process all actions; return when all are durable and confirmed."""
        self._do(self._ids)

    def _do(self, ids: Sequence[int]) -> None:
        write = self._chain if self._way.shape == CHAIN else self._groups
        if not self._way.thread:
            for change in write(ids):
                self._publisher.publish(self._documents(change))
            return
        thread = threading.Thread(target=self._publish_all, daemon=True)
        thread.start()
        for change in write(ids):
            self._changes.put(change)
        self._changes.put(None)
        thread.join()
        if self._failure is not None:
            raise self._failure

    def _groups(self, ids: Sequence[int]) -> Iterator[_Change]:
        for first in range(0, len(ids), GROUP):
            group = ids[first : first + GROUP]
            self._transitions.start(group)
            yield self._began, group
            self._transitions.end(group)
            yield self._ended, group

    def _chain(self, ids: Sequence[int]) -> Iterator[_Change]:
        self._transitions.start(ids[:1])
        yield self._began, ids[:1]
        for this, following in itertools.pairwise(ids):
            self._transitions.pass_on(this, following)
            yield self._ended, [this]
            yield self._began, [following]
        self._transitions.end(ids[-1:])
        yield self._ended, ids[-1:]

    def _publish_all(self) -> None:
        """Publish the written changes in batches until the end."""
        messages: list[documents.Message] = []
        count = 0
        try:
            for change in iter(self._changes.get, None):
                messages += self._documents(change)
                count += len(change[1])
                if count >= _AT_ONCE or self._changes.empty():
                    self._publisher.publish(messages)
                    messages, count = [], 0
            self._publisher.publish(messages)
        except BaseException as error:
            self._failure = error

    def _documents(self, change: _Change) -> list[documents.Message]:
        make, ids = change
        return make([self._uuids[number] for number in ids])


def _transitions(request: Request) -> Transitions:
    if request.deployment == POSTGRESQL:
        return PostgresqlTransitions(request.database)
    return SqliteTransitions(pathlib.Path(request.database))


def _publisher(request: Request) -> Publisher:
    if request.broker:
        return ConfirmedPublisher(request.broker, request.variant.durable)
    return Consumer()


def main() -> None:
    """Perform the request on standard input; print the measurement."""
    asked = json.load(sys.stdin)
    request = Request(**{**asked, 'variant': Variant(**asked['variant'])})
    print(json.dumps(dataclasses.asdict(measure(request))))


if __name__ == '__main__':
    main()
