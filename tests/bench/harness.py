"""Measures one case: starts the daemon, stores plans, starts them, follows them."""

import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, cast

from tests.bench import plans, processes, spawned
from tests.bench.cases import CHAIN, PARALLEL, POSTGRESQL, SQLITE, Case
from tests.bench.ceiling import Ceiling, Request, Way
from tests.bench.figures import Measurement
from tests.bench.observing import Broker, Plans
from tests.bench.places import Place
from tests.bench.plans import Timing
from tests.bench.processes import Memory
from watcherlite import bootstrap, conf
from watcherlite.messaging.bus import Bus

COUNT = '--count'
SAMPLE = '--sample'
_STARTING = 60.0
#: Executed first, so that everything is loaded and connected.
_WARM_UP = Case(POSTGRESQL, PARALLEL, 2)
#: Actions of the bare work at least, and at most: enough that it takes a moment.
_BARE = {
    (POSTGRESQL, PARALLEL): (2_000, 10_000),
    (POSTGRESQL, CHAIN): (1_000, 5_000),
    (SQLITE, PARALLEL): (20_000, 20_000),
    (SQLITE, CHAIN): (3_000, 5_000),
}


def measure(case: Case, place: Place) -> Measurement:
    """Return what a fresh process makes of a case."""
    if case.place == SQLITE:
        found = _execute(case, place, case.repetitions, ())
        return Measurement(
            timings=[Timing(**timing) for timing in found['timings']],
            daemon_cpu=found['daemon_cpu'],
            database_cpu=0.0,
            broker_cpu=0.0,
            idle=Memory(**found['idle']),
            peak=Memory(**found['peak']),
            startup=found['startup'],
            messages=found['messages'],
        )
    with _stage(place, ()) as stage:
        return stage.measure(case)


def watch(case: Case, place: Place, *watched: str) -> dict[str, Any]:
    """Return what the launcher sees of one plan of a case.

    :param watched: COUNT, SAMPLE
    :returns: see `watching.Watch.take`
    """
    if case.place == SQLITE:
        seen: dict[str, Any] = _execute(case, place, 1, watched)['seen']
        return seen
    with _stage(place, watched) as stage:
        return stage.watch(case)


def ceiling(case: Case, place: Place, way: Way) -> Ceiling:
    """Return what the bare work of a way does in this place."""
    sqlite = case.place == SQLITE
    least, most = _BARE[case.place, case.shape]
    actions = min(max(case.size, least), most)
    request = Request(
        place=place.name,
        database=f'{place.directory}/ceiling.sqlite' if sqlite else place.database,
        broker='' if sqlite else place.broker,
        way=way,
        actions=actions,
    )
    text = json.dumps(dataclasses.asdict(request))
    printed = spawned.run('tests.bench.ceiling', (), text, plans.patience(actions))
    found = json.loads(printed)
    return Ceiling(**{**found, 'way': Way(**found['way'])})


def _execute(
    case: Case, place: Place, repetitions: int, watched: Sequence[str]
) -> dict[str, Any]:
    report = place.directory / 'report'
    arguments = [*watched, f'--config-file={place.config_file}', f'--report={report}']
    arguments += ['execute', f'--shape={case.shape}', f'--size={case.size}']
    arguments += [f'--repetitions={repetitions}', f'--spawned={time.time()!r}']
    spawned.run('tests.bench.daemon', arguments, '', 3 * plans.patience(case.size))
    found: dict[str, Any] = json.loads(pathlib.Path(f'{report}.1').read_text())
    return found


class _NotingBus:
    """Passes everything on to a bus, and notes when a command was sent."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.sent_at = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        self.sent_at = time.time()
        self._bus.send_command(lane, command)


class _Operator:
    """Stores and starts plans, from this process."""

    def __init__(self, place: Place) -> None:
        configuration = conf.new([f'--config-file={place.config_file}'])
        self._runtime = bootstrap.build(configuration, lanes=())
        self._bus = _NotingBus(self._runtime.bus)
        self._runtime.bus = cast(Bus, self._bus)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._runtime.stop(0)

    def create(self, shape: str, size: int) -> tuple[int, str]:
        """Store a plan; return its id and its uuid."""
        plan = self._runtime.plans.create(plans.document(shape, size))
        return plan.id or 0, plan.uuid

    def start(self, uuid: str) -> float:
        """Start a plan; return when the command was sent, by the wall clock."""
        self._runtime.plans.start(uuid)
        return self._bus.sent_at


@dataclasses.dataclass(frozen=True, slots=True)
class _Stage:
    """A daemon that consumes, and everything around it."""

    daemon: spawned.Daemon
    broker: Broker
    plans: Plans
    operator: _Operator
    startup: float

    def measure(self, case: Case) -> Measurement:
        """Execute the plans of a case."""
        idle = processes.memory(self.daemon.pid)
        timings, messages = [], 0
        used = database = broker = 0.0
        for _ in range(case.repetitions):
            plan_id, uuid = self._store(case)
            servers, cpu = processes.servers(), processes.cpu(self.daemon.pid)
            timings.append(self._follow(plan_id, uuid, case.size))
            used += processes.cpu(self.daemon.pid) - cpu
            its_database, its_broker = processes.servers().since(servers)
            database += its_database
            broker += its_broker
            messages += self.broker.messages()
        done = case.size * case.repetitions
        return Measurement(
            timings=timings,
            daemon_cpu=used * 1000 / done,
            database_cpu=database * 1000 / done,
            broker_cpu=broker * 1000 / done,
            idle=idle,
            peak=processes.memory(self.daemon.pid),
            startup=self.startup,
            messages=messages / done,
        )

    def watch(self, case: Case) -> dict[str, Any]:
        """Execute one plan; return what the launcher has seen of it."""
        plan_id, uuid = self._store(case)
        self.daemon.take_report()
        self._follow(plan_id, uuid, case.size)
        return self.daemon.take_report()

    def warm_up(self) -> None:
        """Execute a small plan, which is not measured."""
        self._follow(*self._store(_WARM_UP), _WARM_UP.size)

    def _store(self, case: Case) -> tuple[int, str]:
        """Store a plan; wait until nothing is left to be told of that."""
        stored = self.operator.create(case.shape, case.size)
        self.plans.wait_until_told(case.size, self.daemon.check)
        self.broker.purge()
        return stored

    def _follow(self, plan_id: int, uuid: str, size: int) -> Timing:
        sent = self.operator.start(uuid)
        try:
            done = self.plans.wait_until_ended(plan_id, size, self.daemon.check)
            self.plans.wait_until_told(size, self.daemon.check)
        except (TimeoutError, plans.PlanNotSucceeded) as error:
            text = f'{error}; the end of its log:\n{self.daemon.log_tail()}'
            raise spawned.ProcessFailed(text) from error
        first, told = self.plans.moments(plan_id)
        return Timing(first - sent, done - sent, told - sent)


@contextmanager
def _stage(place: Place, watched: Sequence[str]) -> Iterator[_Stage]:
    with (
        Broker(place.broker) as broker,
        Plans(place.database) as rows,
        _Operator(place) as operator,
    ):
        broker.wait_for_consumers(False, _STARTING, lambda: None)
        with spawned.Daemon(place.config_file, place.directory, watched) as daemon:
            there = broker.wait_for_consumers(True, _STARTING, daemon.check)
            stage = _Stage(daemon, broker, rows, operator, there - daemon.spawned)
            stage.warm_up()
            yield stage
