"""How fast stacks are created, updated and deleted: resources that do nothing.

In this one process, with a worker of the engine lane; on servers the database and the
broker are others. Each size is measured twice: timed, and then counted, because
counting costs time.
"""

import contextlib
import dataclasses
import json
import pathlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.bench import places
from tests.bench.cases import CHAIN, PARALLEL, PLACES, POSTGRESQL
from tests.bench.counting import COMMITS, STATEMENTS, Counters
from watcherlite import bootstrap, conf
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.events import STACK, Event
from watcherlite.domain.stacks import NewStack, Stack

SIZES = (1, 10, 100, 1000)
QUICK = (1, 10, 100)
CREATE, UPDATE, DELETE = 'create', 'update', 'delete'
OPERATIONS = (CREATE, UPDATE, DELETE)
TENANT = 'bench'
#: Of a type that does nothing, and whose `value` is updated in place.
_TYPE = 'OS::Heat::TestResource'
_PATIENCE = 300.0
_STARTING = 30.0


class StackNotCompleteError(Exception):
    """A stack has not become what it should."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Stacks of one shape and size, in one place."""

    place: str
    shape: str
    size: int

    @property
    def name(self) -> str:
        return f'{self.place}/{self.shape}/{self.size}'


@dataclasses.dataclass(slots=True)
class Row:
    """What was measured of a case, by operation.

    :ivar seconds: of each round
    :ivar statements: a resource
    :ivar commits: that write, a resource
    """

    case: Case
    seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    statements: dict[str, float] = dataclasses.field(default_factory=dict)
    commits: dict[str, float] = dataclasses.field(default_factory=dict)


class _Witness:
    """Waits for the end of operations; hears what the worker has stored."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._states: dict[int, str] = {}

    def hear(self, stored: list[Event]) -> None:
        """Take events that are durable now."""
        with self._condition:
            for event in stored:
                if event.subject == STACK and event.subject_id is not None:
                    self._states[event.subject_id] = event.new_status or ''
            self._condition.notify_all()

    def wait(self, stack: Stack, operation: str) -> None:
        """Wait until an operation has ended; raise unless it ended well."""
        action = operation.upper()
        ends = (f'{action}_COMPLETE', f'{action}_FAILED')
        with self._condition:
            self._condition.wait_for(
                lambda: self._states.get(stack.id or 0) in ends, _PATIENCE
            )
            state = self._states.get(stack.id or 0)
        if state != ends[0]:
            raise StackNotCompleteError(f'{stack.name} is {state}, not {ends[0]}')


def cases(quick: bool = False) -> list[Case]:
    """Return what is measured, the small ones of each place and shape first."""
    return [
        Case(place, shape, size)
        for place in PLACES
        for shape in (PARALLEL, CHAIN)
        for size in (QUICK if quick else SIZES)
        # One resource is the same stack in both shapes.
        if size > 1 or shape == PARALLEL
    ]


def run(
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
            _measure(row, rounds, broker)
            say(f'{case.name}: {_told(row)}')
            path.write_text(json.dumps(document(rows), indent=1))
    return text(rows)


def template(shape: str, size: int, value: str) -> dict[str, Any]:
    """Return a template of so many resources that do nothing."""
    resources: dict[str, Any] = {}
    for at in range(size):
        resources[f'r{at}'] = {'type': _TYPE, 'properties': {'value': value}}
        if shape == CHAIN and at:
            resources[f'r{at}']['depends_on'] = f'r{at - 1}'
    return {'heat_template_version': '2018-08-31', 'resources': resources}


def _measure(row: Row, rounds: int, broker: str) -> None:
    with (
        places.opened(row.case.place, broker) as place,
        _running(place) as (runtime, witness),
    ):
        # Everything is loaded before the first that counts.
        _round(runtime, witness, Case(place.name, PARALLEL, 2), 'warm-up')
        for number in range(rounds):
            took = _round(runtime, witness, row.case, f'timed-{number}')
            for operation, seconds in took.items():
                row.seconds.setdefault(operation, []).append(seconds)
        _count(runtime, witness, row)


@contextlib.contextmanager
def _running(place: places.Place) -> Iterator[tuple[bootstrap.Runtime, _Witness]]:
    configuration = conf.new([f'--config-file={place.config_file}'])
    runtime = bootstrap.build(configuration, lanes=(ENGINE,))
    witness = _Witness()
    runtime.start()
    try:
        if not runtime.bus.wait_until_consuming(_STARTING):
            raise TimeoutError('the process does not consume its own messages')
        runtime.add_listener(witness.hear)
        yield runtime, witness
    finally:
        runtime.stop()


def _round(
    runtime: bootstrap.Runtime,
    witness: _Witness,
    case: Case,
    name: str,
    after: Callable[[str], None] = lambda operation: None,
) -> dict[str, float]:
    """Create, update and delete a stack; return the seconds of each.

    :param after: called with the name of each operation at its end
    """
    took = {}
    stack: Stack | None = None
    for operation in OPERATIONS:
        began = time.perf_counter()
        stack = _begin(runtime, case, name, operation, stack)
        witness.wait(stack, operation)
        took[operation] = time.perf_counter() - began
        after(operation)
    return took


def _begin(
    runtime: bootstrap.Runtime,
    case: Case,
    name: str,
    operation: str,
    stack: Stack | None,
) -> Stack:
    operations = runtime.stacks
    if operation == DELETE and stack is not None:
        return operations.delete(stack.uuid, TENANT)
    new = NewStack(f'stack-{name}', template(case.shape, case.size, operation))
    if stack is None:
        return operations.create(new, TENANT, 'bench')
    return operations.update(stack.uuid, TENANT, new)


def _count(runtime: bootstrap.Runtime, witness: _Witness, row: Row) -> None:
    counters = Counters()

    def note(operation: str) -> None:
        counts = counters.take()['counts']
        row.statements[operation] = counts.get(STATEMENTS, 0) / row.case.size
        row.commits[operation] = counts.get(COMMITS, 0) / row.case.size

    with counters.counted():
        _round(runtime, witness, row.case, 'counted', note)


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _told(row: Row) -> str:
    return ', '.join(
        f'{operation} {_median(row.seconds[operation]):.2f} s'
        for operation in OPERATIONS
    )


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Return all figures, as JSON."""
    return {'cases': [dataclasses.asdict(row) for row in rows]}


def text(rows: Sequence[Row]) -> str:
    """Return the table."""
    head = f'{"case":28}' + ''.join(f'{op:>28}' for op in OPERATIONS)
    unit = f'{"":28}' + f'{"s / stmts / commits a res.":>28}' * len(OPERATIONS)
    lines = [head, unit]
    for row in rows:
        cells = [_cell(row, operation) for operation in OPERATIONS]
        lines.append(f'{row.case.name:28}' + ''.join(f'{cell:>28}' for cell in cells))
    return '\n'.join(lines)


def _cell(row: Row, operation: str) -> str:
    seconds: Mapping[str, list[float]] = row.seconds
    return (
        f'{_median(seconds[operation]):.3f} / {row.statements[operation]:.2f} / '
        f'{row.commits[operation]:.2f}'
    )
