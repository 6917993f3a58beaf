"""CPU time and memory of processes, read from /proc."""

import dataclasses
import os
import pathlib
from collections.abc import Iterable, Mapping

_PROC = pathlib.Path('/proc')
_TICKS = os.sysconf('SC_CLK_TCK')
#: Names of the processes of the servers.
_POSTGRESQL = 'postgres'
_RABBITMQ = 'beam.smp'


@dataclasses.dataclass(frozen=True, slots=True)
class Stat:
    """A process.

    :param cpu: user and system time in seconds
    :param reaped: the same of the children that it has waited for
    """

    pid: int
    name: str
    parent: int
    cpu: float
    reaped: float


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """Memory of one or more processes, in MiB.

    :param resident: sum of RSS; shared pages count for each process
    :param peak: sum of the peaks of RSS
    :param proportional: sum of PSS; shared pages are divided among processes
    """

    resident: float
    peak: float
    proportional: float


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """The CPU times of both servers at one moment."""

    postgresql: float
    rabbitmq: Mapping[int, float]

    def since(self, before: 'Snapshot') -> tuple[float, float]:
        """Return the CPU seconds of PostgreSQL and RabbitMQ since another snapshot."""
        # Short-lived processes with the name of the broker are rabbitmqctl.
        stayed = self.rabbitmq.keys() & before.rabbitmq.keys()
        return (
            self.postgresql - before.postgresql,
            sum(self.rabbitmq[pid] - before.rabbitmq[pid] for pid in stayed),
        )


def parse_stat(text: str) -> Stat:
    """Parse /proc/PID/stat; the name may contain spaces and parentheses."""
    before, _, after = text.rpartition(')')
    pid, _, name = before.partition(' (')
    fields = after.split()
    user, system, reaped_user, reaped_system = (int(text) for text in fields[11:15])
    return Stat(
        pid=int(pid),
        name=name,
        parent=int(fields[1]),
        cpu=(user + system) / _TICKS,
        reaped=(reaped_user + reaped_system) / _TICKS,
    )


def parse_sizes(text: str) -> dict[str, int]:
    """Return the sizes in /proc/PID/status or smaps_rollup, in kB by name."""
    sizes = {}
    for line in text.splitlines():
        name, _, value = line.partition(':')
        words = value.split()
        if len(words) == 2 and words[1] == 'kB':
            sizes[name] = int(words[0])
    return sizes


def tree(root: int, processes: Iterable[Stat]) -> list[Stat]:
    """Return a process and all its descendants."""
    children: dict[int, list[Stat]] = {}
    found = []
    for process in processes:
        children.setdefault(process.parent, []).append(process)
        if process.pid == root:
            found.append(process)
    for process in found:
        found.extend(children.get(process.pid, ()))
    return found


def running() -> list[Stat]:
    """Return all processes of this machine."""
    found = []
    for path in _PROC.glob('[0-9]*/stat'):
        try:
            found.append(parse_stat(path.read_text()))
        except (FileNotFoundError, ProcessLookupError):
            # The process has ended since the directory was listed.
            continue
    return found


def cpu(root: int) -> float:
    """Return the CPU seconds of a process and its descendants, including ended ones."""
    return sum(process.cpu + process.reaped for process in tree(root, running()))


def servers() -> Snapshot:
    """Return the CPU times of the servers on this machine."""
    processes = running()
    return Snapshot(
        # The time of an ended backend is in the reaped time of the postmaster.
        postgresql=sum(
            process.cpu + process.reaped
            for process in processes
            if process.name == _POSTGRESQL
        ),
        rabbitmq={
            process.pid: process.cpu
            for process in processes
            if process.name == _RABBITMQ
        },
    )


def memory(root: int) -> Memory:
    """Return the memory of a process with its descendants."""
    resident = peak = proportional = 0
    for process in tree(root, running()):
        try:
            status = parse_sizes((_PROC / f'{process.pid}/status').read_text())
            rollup = parse_sizes((_PROC / f'{process.pid}/smaps_rollup').read_text())
        except (FileNotFoundError, ProcessLookupError):
            continue
        resident += status['VmRSS']
        peak += status['VmHWM']
        proportional += rollup['Pss']
    return Memory(resident / 1024, peak / 1024, proportional / 1024)
