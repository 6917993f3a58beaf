"""How fast clusters are created, checked and deleted: nodes that do nothing.

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
from tests.bench.cases import PLACES, POSTGRESQL
from tests.bench.counting import COMMITS, STATEMENTS, Counters
from watcherlite import bootstrap, conf
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.clusters import Cluster, Owner
from watcherlite.domain.events import CLUSTER, Event
from watcherlite.engine.clusters.asking import Asker, NewCluster

SIZES = (1, 10, 100, 1000)
QUICK = (1, 10, 100)
CREATE, CHECK, DELETE = 'create', 'check', 'delete'
OPERATIONS = (CREATE, CHECK, DELETE)
#: Of a type that does nothing.
SPEC = {'type': 'os.heat.test_resource', 'version': '1.0', 'properties': {}}
BY = Asker(Owner('bench'))
_PATIENCE = 300.0
_STARTING = 30.0


class ClusterNotDoneError(Exception):
    """What was to be done with a cluster was not."""


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Clusters of one size, in one place."""

    place: str
    size: int

    @property
    def name(self) -> str:
        return f'{self.place}/{self.size}'


@dataclasses.dataclass(slots=True)
class Row:
    """What was measured of a case, by operation.

    :ivar seconds: of each round
    :ivar statements: a node
    :ivar commits: that write, a node
    """

    case: Case
    seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    statements: dict[str, float] = dataclasses.field(default_factory=dict)
    commits: dict[str, float] = dataclasses.field(default_factory=dict)


class _Witness:
    """Waits for the end of operations; hears what the worker has stored."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._ended: dict[str, str] = {}

    def hear(self, stored: list[Event]) -> None:
        """Take events that are durable now."""
        with self._condition:
            for event in stored:
                detail = event.detail or {}
                if event.subject == CLUSTER and detail.get('phase') != 'start':
                    self._ended[detail['action']['uuid']] = detail['phase']
            self._condition.notify_all()

    def wait(self, action: str) -> None:
        """Wait until an action has ended; raise unless it ended well."""
        with self._condition:
            self._condition.wait_for(lambda: action in self._ended, _PATIENCE)
            phase = self._ended.pop(action, None)
        if phase != 'end':
            raise ClusterNotDoneError(f'the action {action} came to {phase}')


def cases(quick: bool = False) -> list[Case]:
    """Return what is measured, the small ones of each place first."""
    sizes = QUICK if quick else SIZES
    return [Case(place, size) for place in PLACES for size in sizes]


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


def _measure(row: Row, rounds: int, broker: str) -> None:
    with (
        places.opened(row.case.place, broker) as place,
        _running(place) as (runtime, witness),
    ):
        profile = runtime.clusters.profiles.create('bench', SPEC, BY).uuid
        # Everything is loaded before the first that counts.
        _round(runtime, witness, NewCluster('warm-up', profile, 2))
        for number in range(rounds):
            new = NewCluster(f'timed-{number}', profile, row.case.size)
            for operation, seconds in _round(runtime, witness, new).items():
                row.seconds.setdefault(operation, []).append(seconds)
        _count(runtime, witness, row, profile)


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
    new: NewCluster,
    after: Callable[[str], None] = lambda operation: None,
) -> dict[str, float]:
    """Create, check and delete a cluster; return the seconds of each.

    :param after: called with the name of each operation at its end
    """
    took = {}
    cluster: Cluster | None = None
    for operation in OPERATIONS:
        began = time.perf_counter()
        cluster, action = _begin(runtime, new, operation, cluster)
        witness.wait(action)
        took[operation] = time.perf_counter() - began
        after(operation)
    return took


def _begin(
    runtime: bootstrap.Runtime,
    new: NewCluster,
    operation: str,
    cluster: Cluster | None,
) -> tuple[Cluster, str]:
    operations = runtime.clusters
    if cluster is None:
        begun = operations.create(new, BY)
    elif operation == CHECK:
        begun = operations.check(cluster.uuid, BY, {})
    else:
        begun = operations.delete(cluster.uuid, BY)
    return begun.row, begun.action


def _count(
    runtime: bootstrap.Runtime, witness: _Witness, row: Row, profile: str
) -> None:
    counters = Counters()

    def note(operation: str) -> None:
        counts = counters.take()['counts']
        row.statements[operation] = counts.get(STATEMENTS, 0) / row.case.size
        row.commits[operation] = counts.get(COMMITS, 0) / row.case.size

    with counters.counted():
        _round(runtime, witness, NewCluster('counted', profile, row.case.size), note)


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
    head = f'{"case":24}' + ''.join(f'{op:>34}' for op in OPERATIONS)
    unit = f'{"":24}' + f'{"s / s a node / stmts / commits":>34}' * len(OPERATIONS)
    lines = [head, unit]
    for row in rows:
        cells = [_cell(row, operation) for operation in OPERATIONS]
        lines.append(f'{row.case.name:24}' + ''.join(f'{cell:>34}' for cell in cells))
    return '\n'.join(lines)


def _cell(row: Row, operation: str) -> str:
    seconds: Mapping[str, list[float]] = row.seconds
    took = _median(seconds[operation])
    return (
        f'{took:.3f} / {took / row.case.size:.4f} / '
        f'{row.statements[operation]:.2f} / {row.commits[operation]:.2f}'
    )
