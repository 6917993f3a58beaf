"""How many requests a second one process of `watcherlite-api` answers."""

import contextlib
import dataclasses
import re
import statistics
import time
from collections.abc import Sequence

from tests.bench import filling, lists, loading, processes, spawned
from tests.bench.places import Place

_STARTING = 60.0
_LOOK = 0.01
#: So many different actions are asked for.
_ACTIONS = 1000
_PROGRAM = 'import watcherlite.cmd.api as api; api.main()'
_PORT = re.compile(r'is served on 127\.0\.0\.1, port (\d+)')


@dataclasses.dataclass(frozen=True, slots=True)
class Requests:
    """What was measured of one place with so many clients.

    :param rates: requests a second, one for each round
    :param ceilings: the same of the bare application, around each of the former
    :param middle: seconds, the median of all latencies
    :param slow: seconds, what one request in a hundred exceeds
    :param cpu: ms of the process for a request
    """

    place: str
    clients: int
    rates: Sequence[float]
    ceilings: Sequence[float]
    middle: float
    slow: float
    cpu: float

    @property
    def rate(self) -> float:
        """Return the median requests a second."""
        return statistics.median(self.rates)

    @property
    def ceiling(self) -> float:
        """Return the median requests a second of the bare application."""
        return statistics.median(self.ceilings)


def measure(
    place: Place, count: int, clients: Sequence[int], rounds: int, seconds: float
) -> list[Requests]:
    """Return what a fresh process does, with each number of clients.

    :param place: its tables have `count` rows
    """
    step = filling.step(count)
    usual = (i for i in range(1, count) if i % step > 2)
    numbers = [number for number, _ in zip(usual, range(_ACTIONS), strict=False)]
    paths = [f'/v1/actions/{filling.uuid_of(lists.ACTIONS, n)}' for n in numbers]
    with _api(place) as api:
        port = _port(api)
        with contextlib.closing(loading.Connection(port)) as connection:
            body = connection.get(paths[0])
        with _bare(place, body) as bare:
            ports = port, _port(bare)
            return [
                _measured(place.name, api.pid, ports, paths, n, rounds, seconds)
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
    """Measure in turns: what others do on the machine then weighs on both."""
    port, bare = ports
    loading.put(port, paths, clients, min(1.0, seconds))
    ceilings = [loading.put(bare, paths, clients, seconds)]
    loads = []
    used = 0.0
    for _ in range(rounds):
        before = processes.cpu(pid)
        loads.append(loading.put(port, paths, clients, seconds))
        used += processes.cpu(pid) - before
        ceilings.append(loading.put(bare, paths, clients, seconds))
    latencies = [latency for load in loads for latency in load.latencies]
    together = loading.Load(sum(load.seconds for load in loads), latencies)
    return Requests(
        place=name,
        clients=clients,
        rates=[load.rate for load in loads],
        ceilings=[load.rate for load in ceilings],
        middle=together.percentile(0.5),
        slow=together.percentile(0.99),
        cpu=1000 * used / len(latencies),
    )


def _api(place: Place) -> spawned.Process:
    file = place.directory / 'api.conf'
    file.write_text(f'{place.config_file.read_text()}\n[api]\nport = 0\nworkers = 1\n')
    file.chmod(0o600)
    return spawned.Process(
        ['-c', _PROGRAM, f'--config-file={file}'], place.directory / 'api.log'
    )


def _bare(place: Place, body: bytes) -> spawned.Process:
    file = place.directory / 'answer.json'
    file.write_bytes(body)
    return spawned.Process(
        ['-m', 'tests.bench.constant', str(file)], place.directory / 'constant.log'
    )


def _port(process: spawned.Process) -> int:
    """Return the port that a process has told of in its log."""
    deadline = time.monotonic() + _STARTING
    while True:
        found = _PORT.search(' '.join(process.log_tail().split()))
        if found:
            return int(found[1])
        process.check()
        if time.monotonic() > deadline:
            raise spawned.ProcessFailed(f'nothing is served:\n{process.log_tail()}')
        time.sleep(_LOOK)
