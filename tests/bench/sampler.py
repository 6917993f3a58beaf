"""A sampling profiler of the threads of this process.

Each sample finds a thread working or waiting for a socket, another thread or the
disk. The CPU time of a thread, read from the kernel, is divided among the stacks that
it was working in. A thread that waits for the GIL counts as working.
"""

import dataclasses
import functools
import os
import re
import sys
import threading
import time
from types import CodeType, FrameType
from typing import Any

#: Seconds between two samples.
_INTERVAL = 0.002
#: Switch interval of the GIL in seconds. With the default of 5 ms, all samples would
#: fall where threads release the GIL by themselves.
_SWITCH = 0.00002
_DEEPEST = 60
_NUMBER = re.compile(r'[-_ ]?\d+')
#: Functions in which a sleeping thread waits for something other than the GIL.
_WAITING = {
    'amqp.transport:TCPTransport._read',
    'amqp.transport:_AbstractTransport.write',
    'psycopg.connection:Connection.wait',
    'signal:sigwait',
    'threading:Condition.wait',
    'threading:Event.wait',
    'threading:Thread._wait_for_tstate_lock',
}

_Stack = tuple[CodeType, ...]


@dataclasses.dataclass(slots=True)
class _Thread:
    """The open files of a thread in /proc, and its last times.

    :ivar used: ns on a CPU
    :ivar queued: ns in a run queue
    """

    name: str
    state: int
    times: int
    used: int = 0
    queued: int = 0


class Sampler:
    """The sampler of all threads of the process except its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: dict[int, _Thread] = {}
        # (thread, stack, at work) -> looks
        self._looks: dict[tuple[str, _Stack, bool], int] = {}
        self._began = time.perf_counter()

    def start(self) -> None:
        """Start sampling."""
        sys.setswitchinterval(_SWITCH)
        threading.Thread(target=self._run, name='sampler', daemon=True).start()

    def take(self) -> dict[str, Any]:
        """Return the samples since the last call, and reset them.

        :returns: `seconds`; `threads`: name, ms on a CPU, ms in a run queue; `stacks`:
            thread, functions (the innermost first), working, number of samples
        """
        with self._lock:
            looks, self._looks = self._looks, {}
            began, self._began = self._began, time.perf_counter()
            threads = [self._spent(thread) for thread in self._threads.values()]
        return {
            'seconds': self._began - began,
            'threads': threads,
            'stacks': [
                {
                    'thread': thread,
                    'stack': [_label(code) for code in stack],
                    'at_work': at_work,
                    'looks': count,
                }
                for (thread, stack, at_work), count in looks.items()
            ],
        }

    def _run(self) -> None:
        own = threading.get_ident()
        while True:
            time.sleep(_INTERVAL)
            threads = threading.enumerate()
            frames = sys._current_frames()
            with self._lock:
                for thread in threads:
                    frame = frames.get(thread.ident or 0)
                    if thread.ident != own and frame is not None:
                        self._look(thread, _stack(frame))
            del frames

    def _look(self, thread: threading.Thread, stack: _Stack) -> None:
        known = self._known(thread)
        if known is None:
            return
        try:
            state = os.pread(known.state, 512, 0).rpartition(b')')[2].split()[0]
        except ProcessLookupError:
            # The thread has ended.
            return
        waits = state == b'D' or (state == b'S' and _label(stack[0]) in _WAITING)
        key = (known.name, stack, not waits)
        self._looks[key] = self._looks.get(key, 0) + 1

    def _known(self, thread: threading.Thread) -> _Thread | None:
        native_id = thread.native_id or 0
        if native_id not in self._threads:
            directory = f'/proc/self/task/{native_id}'
            try:
                self._threads[native_id] = _Thread(
                    # Group the threads of a pool.
                    _NUMBER.sub('-*', thread.name),
                    os.open(f'{directory}/stat', os.O_RDONLY),
                    os.open(f'{directory}/schedstat', os.O_RDONLY),
                )
            except FileNotFoundError:
                return None
        return self._threads[native_id]

    def _spent(self, thread: _Thread) -> dict[str, Any]:
        """Return the times of a thread since the last call, in ms."""
        used, queued = thread.used, thread.queued
        try:
            spent = os.pread(thread.times, 64, 0).split()
        except ProcessLookupError:
            spent = [b'%d' % used, b'%d' % queued]
        thread.used, thread.queued = int(spent[0]), int(spent[1])
        return {
            'thread': thread.name,
            'cpu': (thread.used - used) / 1e6,
            'queued': (thread.queued - queued) / 1e6,
        }


def _stack(frame: FrameType | None) -> _Stack:
    codes: list[CodeType] = []
    while frame is not None and len(codes) < _DEEPEST:
        codes.append(frame.f_code)
        frame = frame.f_back
    return tuple(codes)


@functools.cache
def _label(code: CodeType) -> str:
    """Return module and function in a short form."""
    path = code.co_filename.removesuffix('.py')
    for directory in sorted(sys.path, key=len, reverse=True):
        if directory and path.startswith(f'{directory}/'):
            path = path[len(directory) + 1 :]
            break
    name = code.co_qualname.replace('.<locals>', '')
    return f'{path.replace("/", ".")}:{name}'
