"""The processes of this machine, from /proc."""

import dataclasses
import os
import signal
from collections.abc import Iterator

#: The variable in the environment of a process that names its resource.
MARKER = 'WATCHERLITE_RESOURCE'
_DEAD = frozenset('ZXx')
# Of what stands behind the name in /proc/PID/stat
_STATE, _SESSION, _START = 0, 3, 19


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """A running process.

    :param start: when it began, in ticks since the machine did: with the number,
        it tells a process from a later one that has the same number
    """

    pid: int
    session: int
    start: int


def look(pid: int) -> Process | None:
    """Return a process; None: it does not exist or has ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            # The name of a process may hold anything, brackets as well.
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return None
    if len(fields) <= _START or fields[_STATE] in _DEAD:
        return None
    return Process(pid, int(fields[_SESSION]), int(fields[_START]))


def boot() -> str:
    """Return the boot id of the machine."""
    try:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return ''


def of_resource(uuid: str) -> list[Process]:
    """Return the processes of a resource, the oldest first.

    One that it started itself is not among them, unless that left its session.
    """
    leaders = [p for p in _all() if p.session == p.pid and is_marked(p.pid, uuid)]
    return sorted(leaders, key=lambda process: process.start)


def is_marked(pid: int, uuid: str) -> bool:
    """Return whether a process has the marker of a resource."""
    try:
        with open(f'/proc/{pid}/environ', 'rb') as file:
            return f'{MARKER}={uuid}'.encode() in file.read().split(b'\0')
    except OSError:
        return False


def in_sessions(sessions: frozenset[int]) -> list[Process]:
    """Return all processes of these sessions."""
    return [process for process in _all() if process.session in sessions]


def tell(process: Process, number: signal.Signals) -> bool:
    """Send a signal to a process; return False if it has ended."""
    if look(process.pid) != process:
        return False
    try:
        os.kill(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def _all() -> Iterator[Process]:
    for name in os.listdir('/proc'):
        if name.isdecimal():
            process = look(int(name))
            if process is not None:
                yield process
