"""The measurement of a case: start the daemon, execute plans, read its figures."""

import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from tests.bench import plans, processes, subprocesses
from tests.bench.cases import CHAIN, PARALLEL, POSTGRESQL, SQLITE, Case
from tests.bench.ceiling import Ceiling, Request, Variant
from tests.bench.deployments import Deployment
from tests.bench.measurements import Measurement
from tests.bench.plans import Timing
from tests.bench.probes import Broker, Plans
from tests.bench.processes import Memory
from watcherlite import bootstrap, conf
from watcherlite.messaging.bus import Bus

_STARTING = 60.0
#: Executed first, to load modules and open connections.
_WARM_UP = Case(POSTGRESQL, PARALLEL, 2)
#: Minimum and maximum number of actions of a ceiling measurement.
_BARE = {
    (POSTGRESQL, PARALLEL): (2_000, 10_000),
    (POSTGRESQL, CHAIN): (1_000, 5_000),
    (SQLITE, PARALLEL): (20_000, 20_000),
    (SQLITE, CHAIN): (3_000, 5_000),
}


def measure(case: Case, deployment: Deployment) -> Measurement:
    """Measure a case in a new process."""
    if case.deployment == SQLITE:
        found = _execute(case, deployment, case.repetitions, counted=False)
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
    with _stage(deployment, counted=False) as stage:
        return stage.measure(case)


def count(case: Case, deployment: Deployment) -> dict[str, Any]:
    """Execute one plan of a case and return its counts; see `Counters.take`."""
    if case.deployment == SQLITE:
        seen: dict[str, Any] = _execute(case, deployment, 1, counted=True)['seen']
        return seen
    with _stage(deployment, counted=True) as stage:
        return stage.count(case)


def ceiling(case: Case, deployment: Deployment, variant: Variant) -> Ceiling:
    """Measure the ceiling of a variant in a deployment."""
    sqlite = case.deployment == SQLITE
    least, most = _BARE[case.deployment, case.shape]
    actions = min(max(case.size, least), most)
    request = Request(
        deployment=deployment.name,
        database=f'{deployment.directory}/ceiling.sqlite'
        if sqlite
        else deployment.database,
        broker='' if sqlite else deployment.broker,
        variant=variant,
        actions=actions,
    )
    text = json.dumps(dataclasses.asdict(request))
    printed = subprocesses.run('tests.bench.ceiling', (), text, plans.timeout(actions))
    found = json.loads(printed)
    return Ceiling(**{**found, 'variant': Variant(**found['variant'])})


def _execute(
    case: Case, deployment: Deployment, repetitions: int, *, counted: bool
) -> dict[str, Any]:
    report = deployment.directory / 'report'
    arguments = [f'--config-file={deployment.config_file}', f'--report={report}']
    arguments += ['execute', f'--shape={case.shape}', f'--size={case.size}']
    arguments += [f'--repetitions={repetitions}', f'--spawned={time.time()!r}']
    arguments += ['--count'] if counted else []
    subprocesses.run('tests.bench.daemon', arguments, '', 3 * plans.timeout(case.size))
    found: dict[str, Any] = json.loads(pathlib.Path(f'{report}.1').read_text())
    return found


class _RecordingBus:
    """Delegate to a bus, and record when a command was sent."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.sent_at = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        self.sent_at = time.time()
        self._bus.send_command(lane, command)


class _Operator(AbstractContextManager['_Operator']):
    """Store and start plans from this process."""

    def __init__(self, deployment: Deployment) -> None:
        configuration = conf.new([f'--config-file={deployment.config_file}'])
        self._runtime = bootstrap.Runtime(configuration, lanes=())
        self._bus = _RecordingBus(self._runtime.bus)
        self._runtime.bus = cast(Bus, self._bus)

    def __exit__(self, *_error: object) -> None:
        self._runtime.stop(0)

    def create(self, shape: str, size: int) -> tuple[int, str]:
        """Store a plan; return its id and its uuid."""
        plan = self._runtime.plans.create(plans.document(shape, size))
        return plan.id, plan.uuid

    def start(self, uuid: str) -> float:
        """Start a plan; return the wall clock time at which the command was sent."""
        self._runtime.plans.start(uuid)
        return self._bus.sent_at


@dataclasses.dataclass(frozen=True, slots=True)
class _Stage:
    """A running daemon with probes of its database and broker."""

    daemon: subprocesses.Daemon
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

    def count(self, case: Case) -> dict[str, Any]:
        """Execute one plan; return its counts."""
        plan_id, uuid = self._store(case)
        self.daemon.take_report()
        self._follow(plan_id, uuid, case.size)
        return self.daemon.take_report()

    def warm_up(self) -> None:
        """Execute a small plan without measuring it."""
        self._follow(*self._store(_WARM_UP), _WARM_UP.size)

    def _store(self, case: Case) -> tuple[int, str]:
        """Store a plan; wait until its notifications are published."""
        stored = self.operator.create(case.shape, case.size)
        self.plans.wait_until_published(case.size, self.daemon.check)
        self.broker.purge()
        return stored

    def _follow(self, plan_id: int, uuid: str, size: int) -> Timing:
        sent = self.operator.start(uuid)
        try:
            done = self.plans.wait_until_ended(plan_id, size, self.daemon.check)
            self.plans.wait_until_published(size, self.daemon.check)
        except (TimeoutError, plans.PlanNotSucceeded) as error:
            text = (
                f'{error}; the end of the log of the daemon:\n{self.daemon.log_tail()}'
            )
            raise subprocesses.ProcessFailed(text) from error
        first, confirmed = self.plans.moments(plan_id)
        return Timing(first - sent, done - sent, confirmed - sent)


@contextmanager
def _stage(deployment: Deployment, *, counted: bool) -> Iterator[_Stage]:
    with (
        Broker(deployment.broker) as broker,
        Plans(deployment.database) as rows,
        _Operator(deployment) as operator,
    ):
        broker.wait_for_consumers(False, _STARTING, lambda: None)
        with subprocesses.Daemon(
            deployment.config_file, deployment.directory, counted=counted
        ) as daemon:
            there = broker.wait_for_consumers(True, _STARTING, daemon.check)
            stage = _Stage(daemon, broker, rows, operator, there - daemon.spawned)
            stage.warm_up()
            yield stage
