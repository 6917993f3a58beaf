"""The processes of this machine, from /proc, and the options of those started."""

import dataclasses
import os
import signal
from collections.abc import Iterator

from oslo_config import cfg

from watcherlite.plugins import paths
from watcherlite.plugins.action_types import allow_list, http_parts

OPTIONS: tuple[cfg.Opt, ...] = (
    allow_list.option(
        'An executable that stacks may start.',
        'Users who may create stacks can run these commands as the user that runs '
        'the engine',
        '/usr/bin/redis-server --bind 127.0.0.1 --port {~[0-9]{4}}',
    ),
    cfg.DictOpt(
        'environment',
        default={'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'},
        mutable=True,
        help='The environment of every process, for example '
        '`PATH:/usr/bin:/bin,LANG:C.UTF-8`. Processes do not inherit the '
        'environment of the engine. Variables of the template are added, and '
        'WATCHERLITE_RESOURCE, which identifies the process.',
    ),
    cfg.ListOpt(
        'variables',
        default=[],
        mutable=True,
        help='The names of the environment variables that templates may set, for '
        'example `PORT,APP_*`; none by default. Do not allow variables that '
        'make a program run other code, such as LD_PRELOAD or PYTHONPATH.',
    ),
    cfg.MultiOpt(
        'directories',
        item_type=paths.Directory(),
        sample_default='/srv/stacks',
        mutable=True,
        help='A directory in which, and below which, templates may start processes; '
        '`/` itself is always allowed. Repeat the option to allow several. '
        'Programs that read code from their working directory, as `python -m` '
        'does, must not start where stacks may create files.',
    ),
    cfg.StrOpt(
        'log_directory',
        mutable=True,
        help='The directory for the standard output and error of processes, a file '
        'for each resource, which is kept when the resource is deleted. Without '
        'it the output is discarded.',
    ),
    *http_parts.OPTIONS,
)


#: The variable in the environment of a process that names its resource.
MARKER = 'WATCHERLITE_RESOURCE'
_DEAD = frozenset('ZXx')
# Offsets of the fields after the name in /proc/PID/stat
_STATE, _SESSION, _START = 0, 3, 19


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """A running process.

    :param start: its start, in ticks since boot_id: together with the pid it identifies
        the process, because pids are reused
    """

    pid: int
    session: int
    start: int


def read_process(pid: int) -> Process | None:
    """Return a process; None: it does not exist or has ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
            # The name of a process may contain anything, including brackets.
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return None
    if len(fields) <= _START or fields[_STATE] in _DEAD:
        return None
    return Process(pid, int(fields[_SESSION]), int(fields[_START]))


def boot_id() -> str:
    """Return the boot id of the machine."""
    try:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return ''


def of_resource(uuid: str) -> list[Process]:
    """Return the processes of a resource, the oldest first.

    Children are not included, unless they have left the session.
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


def send_signal(process: Process, number: signal.Signals) -> bool:
    """Send a signal to a process; return False if it has ended."""
    if read_process(process.pid) != process:
        return False
    try:
        os.kill(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def _all() -> Iterator[Process]:
    for name in os.listdir('/proc'):
        if name.isdecimal():
            process = read_process(int(name))
            if process is not None:
                yield process
