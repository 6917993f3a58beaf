"""The measurement of operations of the engine: stacks, clusters.

A worker of the engine lane runs in this process; a database and a broker run on
servers. Each case is measured twice: timed, and then counted, because counting costs
time. The events of an operation are published before the next begins, so that no
operation pays for the preceding one.
"""

import contextlib
import dataclasses
import json
import pathlib
import statistics
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

from tests.bench import deployments, report
from tests.bench.cases import DEPLOYMENTS
from tests.bench.query_counters import COMMITS, STATEMENTS, Counters
from watcherlite import bootstrap, conf
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.events import Event

_QUICK = (1, 10, 100)
_SIZES = (*_QUICK, 1000)
_PATIENCE = 300.0
_STARTING = 30.0
_WIDTH = 34


class OperationFailed(Exception):
    """An operation ended in another state, or not in time."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Objects of one size, in one deployment.

    :param size: number of parts
    :param shape: dependencies of the parts; None without a choice
    """

    deployment: str
    size: int
    shape: str | None = None

    @property
    def name(self) -> str:
        shape = '' if self.shape is None else f'{self.shape}/'
        return f'{self.deployment}/{shape}{self.size}'


def cases(shapes: Sequence[str | None], *, quick: bool) -> list[Case]:
    """Return the cases, ordered by deployment, shape and size."""
    return [
        Case(deployment, size, shape)
        for deployment in DEPLOYMENTS
        for shape in shapes
        for size in (_QUICK if quick else _SIZES)
        # One part is the same in all shapes.
        if size > 1 or shape == shapes[0]
    ]


@dataclasses.dataclass(frozen=True, slots=True)
class New:
    """A new object."""

    name: str
    case: Case


@dataclasses.dataclass(slots=True)
class Row:
    """The measurements of a case, by operation.

    :ivar seconds: of each round
    :ivar statements: a part
    :ivar commits: that write, a part
    """

    case: Case
    seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    statements: dict[str, float] = dataclasses.field(default_factory=dict)
    commits: dict[str, float] = dataclasses.field(default_factory=dict)


class EndRecorder:
    """The ends of operations, recorded from the events that a worker commits.

    :param ending: return the key and the end of what an event ended, or None
    """

    def __init__(self, ending: Callable[[Event], tuple[Hashable, str] | None]) -> None:
        self._ending = ending
        self._condition = threading.Condition()
        self._ended: dict[Hashable, str] = {}

    def on_events(self, stored: list[Event]) -> None:
        """Record committed events."""
        with self._condition:
            self._ended.update(
                found for event in stored if (found := self._ending(event))
            )
            self._condition.notify_all()

    def wait(self, key: Hashable, desired: str) -> None:
        """Wait for the end of an operation; raise OperationFailed for another end."""
        with self._condition:
            self._condition.wait_for(lambda: key in self._ended, _PATIENCE)
            end = self._ended.pop(key, None)
        if end != desired:
            raise OperationFailed(f'{key}: ended as {end} instead of {desired}')


class Subject(Protocol):
    """A kind of object to measure.

    :ivar operations: names, in the order in which an object undergoes them
    :ivar shapes: dependencies to measure
    """

    operations: Sequence[str]
    shapes: Sequence[str | None]

    def ending(self, event: Event) -> tuple[Hashable, str] | None:
        """See `EndRecorder`."""

    def owner(self, runtime: bootstrap.Runtime) -> Any:
        """Return the owner of the objects, or their profile."""

    def request_operation(
        self,
        runtime: bootstrap.Runtime,
        owner: Any,
        new: New,
        operation: str,
        sample: Any,
    ) -> tuple[Any, Hashable, str]:
        """Request an operation.

        :param owner: returned by `owner`
        :param sample: None for the first operation
        :returns: the object, the key of its end, and the expected end
        """


def run(
    subject: Subject, chosen: Sequence[Case], rounds: int, path: pathlib.Path
) -> str:
    """Measure, write the document, and return the table.

    :raises unittest.SkipTest: a server is not there
    """
    rows: list[Row] = []
    with deployments.broker(case.deployment for case in chosen) as broker:
        for case in chosen:
            row = Row(case)
            rows.append(row)
            _measure(subject, row, rounds, broker)
            report.say(f'{case.name}: {_summary_line(row)}')
            found = {'cases': [dataclasses.asdict(row) for row in rows]}
            path.write_text(json.dumps(found, indent=1))
    return text(rows)


def _measure(subject: Subject, row: Row, rounds: int, broker: str) -> None:
    with (
        deployments.opened(row.case.deployment, broker) as deployment,
        _running(deployment, EndRecorder(subject.ending)) as (runtime, recorder),
    ):
        running = _Running(subject, runtime, recorder, subject.owner(runtime))
        small = dataclasses.replace(row.case, size=2)
        # Load modules before the first timed round.
        running.round(New('warm-up', small))
        for number in range(rounds):
            took = running.round(New(f'timed-{number}', row.case))
            for operation, seconds in took.items():
                row.seconds.setdefault(operation, []).append(seconds)
        _count(running, row)


@contextlib.contextmanager
def _running(
    deployment: deployments.Deployment, recorder: EndRecorder
) -> Iterator[tuple[bootstrap.Runtime, EndRecorder]]:
    configuration = conf.new([f'--config-file={deployment.config_file}'])
    runtime = bootstrap.Runtime(configuration, lanes=(ENGINE,))
    runtime.start()
    try:
        if not runtime.bus.wait_until_consuming(_STARTING):
            raise TimeoutError('the process did not consume its own messages in time')
        runtime.add_listener(recorder.on_events)
        yield runtime, recorder
    finally:
        runtime.stop()


@dataclasses.dataclass(frozen=True, slots=True)
class _Running:
    """A subject in a running process."""

    subject: Subject
    runtime: bootstrap.Runtime
    recorder: EndRecorder
    owner: Any

    def round(
        self, new: New, after: Callable[[str], None] = lambda operation: None
    ) -> dict[str, float]:
        """Perform all operations on one object; return the seconds of each.

        :param after: called with the name of each completed operation
        """
        took = {}
        sample = None
        for operation in self.subject.operations:
            began = time.perf_counter()
            sample, key, desired = self.subject.request_operation(
                self.runtime, self.owner, new, operation, sample
            )
            self.recorder.wait(key, desired)
            took[operation] = time.perf_counter() - began
            after(operation)
            self._until_published()
        return took

    def _until_published(self) -> None:
        until = time.monotonic() + _PATIENCE
        while self.runtime.store.oldest_pending_event() is not None:
            if time.monotonic() > until:
                raise OperationFailed('notifications were not published in time')
            time.sleep(0.01)


def _count(running: _Running, row: Row) -> None:
    counters = Counters()

    def record(operation: str) -> None:
        counts = counters.take()['counts']
        row.statements[operation] = counts.get(STATEMENTS, 0) / row.case.size
        row.commits[operation] = counts.get(COMMITS, 0) / row.case.size

    with counters.counted():
        running.round(New('counted', row.case), record)


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
    took = statistics.median_high(row.seconds[operation])
    return (
        f'{took:.3f} / {took / row.case.size:.4f} / '
        f'{row.statements[operation]:.2f} / {row.commits[operation]:.2f}'
    )


def _summary_line(row: Row) -> str:
    return ', '.join(
        f'{operation} {statistics.median_high(seconds):.2f} s'
        for operation, seconds in row.seconds.items()
    )
