"""The request rate of one process of `watcherlite-api`."""

import contextlib
import dataclasses
import re
import statistics
import time
from collections.abc import Sequence

from tests.bench import lists, load_generator, processes, sample_rows, subprocesses
from tests.bench.deployments import Deployment

_STARTING = 60.0
_LOOK = 0.01
#: Number of different actions that are requested.
_ACTIONS = 1000
_PROGRAM = 'import watcherlite.cmd.api as api; api.main()'
_PORT = re.compile(r'is served on 127\.0\.0\.1, port (\d+)')


@dataclasses.dataclass(frozen=True, slots=True)
class Requests:
    """The measurements of one deployment with a number of clients.

    :param rates: requests per second, by round
    :param ceilings: the same of the minimal application, before and after each round
    :param middle: seconds, the median of all latencies
    :param slow: seconds, the 99th percentile of all latencies
    :param cpu: CPU ms of the process per request
    """

    deployment: str
    clients: int
    rates: Sequence[float]
    ceilings: Sequence[float]
    middle: float
    slow: float
    cpu: float

    @property
    def rate(self) -> float:
        """Return the median of requests per second."""
        return statistics.median(self.rates)

    @property
    def ceiling(self) -> float:
        """Return the median of requests per second of the minimal application."""
        return statistics.median(self.ceilings)


def measure(
    deployment: Deployment,
    count: int,
    clients: Sequence[int],
    rounds: int,
    seconds: float,
) -> list[Requests]:
    """Measure a new process with each number of clients.

    :param deployment: its tables have `count` rows
    """
    step = sample_rows.step(count)
    usual = (i for i in range(1, count) if i % step > 2)
    numbers = [number for number, _ in zip(usual, range(_ACTIONS), strict=False)]
    paths = [f'/v1/actions/{sample_rows.uuid_of(lists.ACTIONS, n)}' for n in numbers]
    with _api(deployment) as api:
        port = _port(api)
        with contextlib.closing(load_generator.Connection(port)) as connection:
            body = connection.get(paths[0])
        with _bare(deployment, body) as bare:
            ports = port, _port(bare)
            return [
                _measured(deployment.name, api.pid, ports, paths, n, rounds, seconds)
                for n in clients
            ]


def _measured(
    name: str,
    pid: int,
    ports: tuple[int, int],
    paths: Sequence[str],
    clients: int,
    rounds: int,
    seconds: float,
) -> Requests:
    """Measure both alternately, so that other load affects both."""
    port, bare = ports
    load_generator.put(port, paths, clients, min(1.0, seconds))
    ceilings = [load_generator.put(bare, paths, clients, seconds)]
    loads = []
    used = 0.0
    for _ in range(rounds):
        before = processes.cpu(pid)
        loads.append(load_generator.put(port, paths, clients, seconds))
        used += processes.cpu(pid) - before
        ceilings.append(load_generator.put(bare, paths, clients, seconds))
    latencies = [latency for load in loads for latency in load.latencies]
    together = load_generator.Load(sum(load.seconds for load in loads), latencies)
    return Requests(
        deployment=name,
        clients=clients,
        rates=[load.rate for load in loads],
        ceilings=[load.rate for load in ceilings],
        middle=together.percentile(0.5),
        slow=together.percentile(0.99),
        cpu=1000 * used / len(latencies),
    )


def _api(deployment: Deployment) -> subprocesses.Process:
    file = deployment.directory / 'api.conf'
    file.write_text(
        f'{deployment.config_file.read_text()}\n[api]\nport = 0\nworkers = 1\n'
    )
    file.chmod(0o600)
    return subprocesses.Process(
        ['-c', _PROGRAM, f'--config-file={file}'], deployment.directory / 'api.log'
    )


def _bare(deployment: Deployment, body: bytes) -> subprocesses.Process:
    file = deployment.directory / 'answer.json'
    file.write_bytes(body)
    return subprocesses.Process(
        ['-m', 'tests.bench.static_server', str(file)],
        deployment.directory / 'constant.log',
    )


def _port(process: subprocesses.Process) -> int:
    """Return the port that a process has logged."""
    deadline = time.monotonic() + _STARTING
    while True:
        found = _PORT.search(' '.join(process.log_tail().split()))
        if found:
            return int(found[1])
        process.check()
        if time.monotonic() > deadline:
            raise subprocesses.ProcessFailed(
                f'the process did not log its port in time:\n{process.log_tail()}'
            )
        time.sleep(_LOOK)
