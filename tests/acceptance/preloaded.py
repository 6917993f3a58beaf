"""Processes of ours that are forked where their modules have been imported once.

To import them takes a processor longer than most stories take after that. A process of
the tests starts one that imports them, `python -m tests.acceptance.preloaded`, at the
first program that it needs, and has it fork each program. A program differs from one
that its script has started only in what was imported before; the examples of the
documentation and the clients start the scripts.

Over a socket go, as lines of JSON: what to start, with its three standard files, and
its pid; later that pid with its exit code.
"""

import atexit
import functools
import gc
import importlib
import io
import itertools
import json
import os
import pathlib
import selectors
import signal
import socket
import subprocess
import sys
import threading
from concurrent import futures
from importlib import metadata

#: What programs import once they know what to do.
LATER = (
    'cotyledon',
    'kombu.transport.memory',
    'kombu.transport.pyamqp',
    'psycopg',
    'pymysql',
    'sqlalchemy.dialects.mysql.pymysql',
    'sqlalchemy.dialects.postgresql.psycopg',
    'sqlalchemy.dialects.sqlite.pysqlite',
    'watcherlite.cli.local.execution',
)
ROOT = pathlib.Path(__file__).parents[2]
#: Seconds that a fork may take.
PATIENCE = 60
_FILES = 3
_LARGEST = 2**20


class Program:
    """A program that runs, with what `subprocess.Popen` has of one.

    :ivar stdout: text of its standard output, if that is a pipe; stderr likewise
    """

    def __init__(self, pid, ended, stdout, stderr):
        self.pid = pid
        self.stdout = stdout
        self.stderr = stderr
        self._ended = ended

    def poll(self):
        """Return its exit code, None if it has not ended."""
        return self._ended.result() if self._ended.done() else None

    def wait(self, timeout=None):
        """Wait for its end; return its exit code."""
        try:
            return self._ended.result(timeout)
        except futures.TimeoutError:
            raise subprocess.TimeoutExpired(str(self.pid), timeout) from None

    def send_signal(self, number):
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Forks:
    """The process that programs are forked from."""

    def __init__(self):
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, '-m', __name__, str(its.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                # Its own is the report of the tests.
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                # A signal for all programs of a test is none for it.
                start_new_session=True,
            )
        self._socket = own
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._started = {}
        self._ended = {}
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, argv, environment, directory, files):
        """Start a program; return its pid, and the future of its exit code."""
        started, ended = futures.Future(), futures.Future()
        with self._lock:
            number = next(self._numbers)
            self._started[number] = started
            self._ended[number] = ended
        asked = {
            'number': number,
            'argv': argv,
            'environment': environment,
            'directory': str(directory),
        }
        socket.send_fds(self._socket, [json.dumps(asked).encode()], files)
        return started.result(PATIENCE), ended

    def _read(self):
        while text := self._socket.recv(_LARGEST):
            told = json.loads(text)
            if 'pid' in told:
                self._started.pop(told['number']).set_result(told['pid'])
            else:
                self._ended.pop(told['number']).set_result(told['code'])

    def close(self):
        """End it."""
        self._process.kill()
        self._process.wait()


@functools.cache
def _forks():
    forks = Forks()
    atexit.register(forks.close)
    return forks


def start(argv, *, env, cwd, stdout=None, stderr=None):
    """Start a program, in a session of its own, without standard input.

    :param argv: the name of a script of ours, or its path, and arguments
    :param stdout: a file or its number; default: a pipe that `Program.stdout` reads
    :returns: a `Program`
    """
    theirs, ours = [os.open(os.devnull, os.O_RDONLY)], []
    for file in (stdout, stderr):
        if file is None:
            reading, writing = os.pipe()
            ours.append(os.fdopen(reading, encoding='utf-8'))
            theirs.append(writing)
        else:
            ours.append(None)
            theirs.append(os.dup(file if isinstance(file, int) else file.fileno()))
    try:
        pid, ended = _forks().start(argv, env, cwd, theirs)
    finally:
        for file in theirs:
            os.close(file)
    return Program(pid, ended, *ours)


# where programs are forked


def serve(connection):
    """Fork programs until nobody asks any more.

    :returns: in a program, what to call, and None where all have been forked
    """
    running = {}
    hears, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *arguments: None)
    signal.set_wakeup_fd(wakes.fileno())
    with connection, hears, wakes, selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        selector.register(hears, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if hears in ready:
                hears.recv(_LARGEST)
                _tell_ends(connection, running)
            if connection not in ready:
                continue
            text, files, _, _ = socket.recv_fds(connection, _LARGEST, _FILES)
            if not text:
                return None
            asked = json.loads(text)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return become(asked, files)
            for file in files:
                os.close(file)
            running[pid] = asked['number']
            told = {'number': asked['number'], 'pid': pid}
            connection.send(json.dumps(told).encode())


def _tell_ends(connection, running):
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        told = {'number': running.pop(pid), 'code': os.waitstatus_to_exitcode(status)}
        connection.send(json.dumps(told).encode())


def become(asked, files):
    """Be in the new process what its script is; return what that calls."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked['directory'])
    os.environ.clear()
    os.environ.update(asked['environment'])
    sys.argv = asked['argv']
    added = os.environ.get('PYTHONPATH')
    sys.path[:1] = added.split(os.pathsep) if added else []
    importlib.invalidate_caches()
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.FileIO(number, 'w', closefd=False),
            encoding='utf-8',
            errors=errors,
            write_through=True,
        )
        for number, errors in ((1, 'strict'), (2, 'backslashreplace'))
    )
    return programs()[pathlib.Path(sys.argv[0]).name].load()


@functools.cache
def programs():
    """Return the entry points of our programs by their names."""
    found = metadata.distribution('watcherlite').entry_points
    return {point.name: point for point in found.select(group='console_scripts')}


def main():
    """Import what programs need, and serve."""
    for point in programs().values():
        point.load()
    for name in LATER:
        importlib.import_module(name)
    # What is shared is not to be copied.
    gc.collect()
    gc.freeze()
    call = serve(socket.socket(fileno=int(sys.argv[1])))
    gc.unfreeze()
    return call() if call else 0


if __name__ == '__main__':
    sys.exit(main())
