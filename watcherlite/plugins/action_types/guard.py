"""The program that terminates the commands of a lost worker.

It runs as a separate process, one for each process that runs commands: it reads the
process groups from its standard input, and end of file means that the worker is gone. A
parent death signal of the kernel would not suffice: it is bound to the thread that
forked, does not reach children or processes that changed their user, and stopped
processes do not handle it. Imports nothing but the standard library.

Each line is a JSON object with `run` and: `marks`: a command with these entries in its
environment is about to start; `group`: it has started in this process group; neither:
it has ended, or was terminated by the worker.
"""

import contextlib
import json
import os
import signal
import sys
import time
from typing import Any

#: Seconds between SIGTERM and SIGKILL: another worker may run the command again soon.
GRACE = 1.0
#: Seconds between two checks whether a group has ended.
_INTERVAL = 0.05


def main() -> int:
    """Wait for the end of the worker, and terminate its commands."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # These signals are for the worker, which may take its time to end.
        signal.signal(number, signal.SIG_IGN)
    runs: dict[str, dict[str, Any]] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if 'marks' in message or 'group' in message:
            runs.setdefault(message['run'], {}).update(message)
        else:
            runs.pop(message['run'], None)
    groups = {run['group'] for run in runs.values() if 'group' in run}
    for run in runs.values():
        if 'group' not in run:
            groups |= _find_groups(run['marks'])
    terminate(groups)
    return 0


def terminate(groups: set[int]) -> None:
    """Terminate process groups, including stopped ones: SIGTERM, then SIGKILL after
    GRACE.
    """
    left = {group for group in groups if _signal(group, signal.SIGTERM)}
    for group in left:
        _signal(group, signal.SIGCONT)
    until = time.monotonic() + GRACE
    while left and time.monotonic() < until:
        time.sleep(_INTERVAL)
        left = {group for group in left if _signal(group, 0)}
    for group in left:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; return False if no process can be signalled."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def _find_groups(marks: list[str]) -> set[int]:
    """Return the groups of processes with these entries in their environment."""
    desired = {mark.encode() for mark in marks}
    found: set[int] = set()
    if not desired:
        return found
    for name in os.listdir('/proc') if os.path.isdir('/proc') else ():
        # It may end while it is read, or belong to another user.
        with contextlib.suppress(OSError):
            if name.isdecimal():
                with open(f'/proc/{name}/environ', 'rb') as file:
                    if desired <= set(file.read().split(b'\0')):
                        found.add(os.getpgid(int(name)))
    return found - {os.getpgrp()}


if __name__ == '__main__':
    sys.exit(main())
