"""Who this process is, so that a later one can tell that it is gone."""

import os
import pathlib
import socket
import uuid


def new_uuid() -> str:
    """Return the uuid of a worker: new with each start."""
    return str(uuid.uuid4())


def of_process(pid: int | None = None) -> str:
    """Return a text that names a process and no other one, ever.

    `MACHINE/PID-NAMESPACE/PID/START`: the boot of the machine, the namespace in
    which the pid counts (containers may share a host name), the pid, and the
    start of the process, because pids are used again.
    """
    pid = os.getpid() if pid is None else pid
    return f'{_place()}/{pid}/{_start(pid)}'


def is_gone(identity: str) -> bool:
    """Say whether the process of that identity certainly runs no more.

    False also where this machine cannot tell, such as for other machines.
    """
    place, _, rest = identity.partition('/pid/')
    pid, _, start = rest.partition('/')
    if f'{place}/pid' != _place() or not pid.isdigit() or start == '?':
        return False
    return _start(int(pid)) not in (start, '?')


def _place() -> str:
    try:
        boot = pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()
        namespace = os.readlink('/proc/self/ns/pid')
    except OSError:
        # No such files on this system: nobody else's identity looks like ours.
        boot, namespace = socket.gethostname(), f'unknown-{uuid.uuid4()}'
    return f'{boot}/{namespace}/pid'


def _start(pid: int) -> str:
    """Return when a process was started, in ticks since boot.

    '' if it is gone, '?' if that cannot be told.
    """
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return '?' if _is_hidden(pid) else ''
    except OSError:
        return '?'
    # The second field is the command in parentheses, which may hold anything.
    state, *others = stat.rpartition(')')[2].split()
    # One that its parent has not taken notice of runs no more.
    return '' if state in 'ZX' else others[18]


def _is_hidden(pid: int) -> bool:
    """Say whether a process exists that `/proc` does not show.

    With `hidepid`, which is what `ProtectProc=` of systemd sets, it shows only those
    of the same user; signal 0 tells of all (proc(5)).
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
