"""What the kernel knows of processes: CPU time and memory, read from /proc."""

import dataclasses
import os
import pathlib
from collections.abc import Iterable, Mapping

_PROC = pathlib.Path('/proc')
_TICKS = os.sysconf('SC_CLK_TCK')
#: What the processes of the servers are called.
_POSTGRESQL = 'postgres'
_RABBITMQ = 'beam.smp'


@dataclasses.dataclass(frozen=True, slots=True)
class Stat:
    """One process.

    :param cpu: seconds of its own, user and system
    :param reaped: seconds of the children that it has waited for
    """

    pid: int
    name: str
    parent: int
    cpu: float
    reaped: float


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """Memory of one or more processes, in MiB.

    :param resident: pages that several of them share are counted for each
    :param peak: the most that was resident since each began
    :param proportional: pages that several share are divided among them
    """

    resident: float
    peak: float
    proportional: float


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """The CPU time of both servers up to a moment, for the difference of two."""

    postgresql: float
    rabbitmq: Mapping[int, float]

    def since(self, before: 'Snapshot') -> tuple[float, float]:
        """Return the seconds that PostgreSQL and RabbitMQ have used since then."""
        # A broker lives on; what comes and goes under its name is rabbitmqctl.
        stayed = self.rabbitmq.keys() & before.rabbitmq.keys()
        return (
            self.postgresql - before.postgresql,
            sum(self.rabbitmq[pid] - before.rabbitmq[pid] for pid in stayed),
        )


def parse_stat(text: str) -> Stat:
    """Return what /proc/PID/stat says; its name may hold spaces and parentheses."""
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
    """Return the sizes in kB of /proc/PID/status or smaps_rollup, by their name."""
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
            # It has ended since its directory was listed.
            continue
    return found


def cpu(root: int) -> float:
    """Return the CPU seconds of a process and its descendants, ended ones too."""
    return sum(process.cpu + process.reaped for process in tree(root, running()))


def servers() -> Snapshot:
    """Return the CPU time of all processes of the servers on this machine."""
    processes = running()
    return Snapshot(
        # A backend that ends goes over into what the postmaster has reaped.
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
    """Return the memory of a process and its descendants together."""
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
