"""The frame of what measures operations of the engine: stacks, clusters.

In this one process, with a worker of the engine lane; on servers the database and the
broker are others. Each case is measured twice: timed, and then counted, because
counting costs time. What one operation leaves to publish is published before the next
begins, so that no operation pays for the one before it.
"""

import contextlib
import dataclasses
import json
import pathlib
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

from tests.bench import places
from tests.bench.cases import POSTGRESQL
from tests.bench.counting import COMMITS, STATEMENTS, Counters
from watcherlite import bootstrap, conf
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.events import Event

SIZES = (1, 10, 100, 1000)
QUICK = (1, 10, 100)
_PATIENCE = 300.0
_STARTING = 30.0
_WIDTH = 34


class NotDoneError(Exception):
    """What was to be done was not, or not in time."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Things of one size, in one place.

    :param size: of how many parts
    :param shape: how these depend on each other, where that differs
    """

    place: str
    size: int
    shape: str | None = None

    @property
    def name(self) -> str:
        shape = '' if self.shape is None else f'{self.shape}/'
        return f'{self.place}/{shape}{self.size}'


@dataclasses.dataclass(frozen=True, slots=True)
class New:
    """A thing that is to be made."""

    name: str
    case: Case


@dataclasses.dataclass(slots=True)
class Row:
    """What was measured of a case, by operation.

    :ivar seconds: of each round
    :ivar statements: a part
    :ivar commits: that write, a part
    """

    case: Case
    seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    statements: dict[str, float] = dataclasses.field(default_factory=dict)
    commits: dict[str, float] = dataclasses.field(default_factory=dict)


class Witness:
    """Waits for the end of operations; hears what the worker has stored.

    :param ending: of an event: what has ended, and how; None if nothing has
    """

    def __init__(self, ending: Callable[[Event], tuple[Hashable, str] | None]) -> None:
        self._ending = ending
        self._condition = threading.Condition()
        self._ended: dict[Hashable, str] = {}

    def hear(self, stored: list[Event]) -> None:
        """Take events that are durable now."""
        with self._condition:
            self._ended.update(
                found for event in stored if (found := self._ending(event))
            )
            self._condition.notify_all()

    def wait(self, key: Hashable, wanted: str) -> None:
        """Wait until something has ended; raise NotDoneError unless it did so well."""
        with self._condition:
            self._condition.wait_for(lambda: key in self._ended, _PATIENCE)
            end = self._ended.pop(key, None)
        if end != wanted:
            raise NotDoneError(f'{key} came to {end}, not to {wanted}')


class Subject(Protocol):
    """What is measured.

    :ivar operations: names, in the order in which they are done to one thing
    """

    operations: Sequence[str]

    def ending(self, event: Event) -> tuple[Hashable, str] | None:
        """See `Witness`."""

    def owner(self, runtime: bootstrap.Runtime) -> Any:
        """Return whose the things are to be, or what they are made from."""

    def begin(
        self,
        runtime: bootstrap.Runtime,
        owner: Any,
        new: New,
        operation: str,
        thing: Any,
    ) -> tuple[Any, Hashable, str]:
        """Ask for an operation.

        :param owner: see there
        :param thing: None for the first one
        :returns: the thing, what ends with the operation, and how it should
        """


def run(
    subject: Subject,
    chosen: Sequence[Case],
    rounds: int,
    path: pathlib.Path,
    say: Callable[[str], None],
) -> str:
    """Measure, write the document, and return the table.

    :raises unittest.SkipTest: a server is not there
    """
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        broker = ''
        if any(case.place == POSTGRESQL for case in chosen):
            broker = stack.enter_context(places.vhost())
        for case in chosen:
            row = Row(case)
            rows.append(row)
            _measure(subject, row, rounds, broker)
            say(f'{case.name}: {_told(row)}')
            path.write_text(json.dumps(document(rows), indent=1))
    return text(rows)


def _measure(subject: Subject, row: Row, rounds: int, broker: str) -> None:
    with (
        places.opened(row.case.place, broker) as place,
        _running(place, Witness(subject.ending)) as (runtime, witness),
    ):
        running = _Running(subject, runtime, witness, subject.owner(runtime))
        small = dataclasses.replace(row.case, size=2)
        # Everything is loaded before the first that counts.
        running.round(New('warm-up', small))
        for number in range(rounds):
            took = running.round(New(f'timed-{number}', row.case))
            for operation, seconds in took.items():
                row.seconds.setdefault(operation, []).append(seconds)
        _count(running, row)


@contextlib.contextmanager
def _running(
    place: places.Place, witness: Witness
) -> Iterator[tuple[bootstrap.Runtime, Witness]]:
    configuration = conf.new([f'--config-file={place.config_file}'])
    runtime = bootstrap.build(configuration, lanes=(ENGINE,))
    runtime.start()
    try:
        if not runtime.bus.wait_until_consuming(_STARTING):
            raise TimeoutError('the process does not consume its own messages')
        runtime.add_listener(witness.hear)
        yield runtime, witness
    finally:
        runtime.stop()


@dataclasses.dataclass(frozen=True, slots=True)
class _Running:
    """A subject in a process that runs."""

    subject: Subject
    runtime: bootstrap.Runtime
    witness: Witness
    owner: Any

    def round(
        self, new: New, after: Callable[[str], None] = lambda operation: None
    ) -> dict[str, float]:
        """Do all operations to one thing; return the seconds of each.

        :param after: called with the name of each operation at its end
        """
        took = {}
        thing = None
        for operation in self.subject.operations:
            began = time.perf_counter()
            thing, key, wanted = self.subject.begin(
                self.runtime, self.owner, new, operation, thing
            )
            self.witness.wait(key, wanted)
            took[operation] = time.perf_counter() - began
            after(operation)
            self._until_published()
        return took

    def _until_published(self) -> None:
        until = time.monotonic() + _PATIENCE
        while self.runtime.store.oldest_pending_event() is not None:
            if time.monotonic() > until:
                raise NotDoneError('notifications have not been published')
            time.sleep(0.01)


def _count(running: _Running, row: Row) -> None:
    counters = Counters()

    def note(operation: str) -> None:
        counts = counters.take()['counts']
        row.statements[operation] = counts.get(STATEMENTS, 0) / row.case.size
        row.commits[operation] = counts.get(COMMITS, 0) / row.case.size

    with counters.counted():
        running.round(New('counted', row.case), note)


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Return all figures, as JSON."""
    return {'cases': [dataclasses.asdict(row) for row in rows]}


def text(rows: Sequence[Row]) -> str:
    """Return the table."""
    operations = list(rows[0].seconds) if rows else []
    head = f'{"case":28}' + ''.join(f'{op:>{_WIDTH}}' for op in operations)
    unit = f'{"":28}' + f'{"s / s each / stmts / commits":>{_WIDTH}}' * len(operations)
    lines = [head, unit]
    for row in rows:
        cells = [_cell(row, operation) for operation in operations]
        lines.append(
            f'{row.case.name:28}' + ''.join(f'{cell:>{_WIDTH}}' for cell in cells)
        )
    return '\n'.join(lines)


def _cell(row: Row, operation: str) -> str:
    took = _median(row.seconds[operation])
    return (
        f'{took:.3f} / {took / row.case.size:.4f} / '
        f'{row.statements[operation]:.2f} / {row.commits[operation]:.2f}'
    )


def _told(row: Row) -> str:
    return ', '.join(
        f'{operation} {_median(seconds):.2f} s'
        for operation, seconds in row.seconds.items()
    )


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
