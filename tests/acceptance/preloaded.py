"""Processes of watcherlite, forked from a process that has imported the modules.

Importing them takes longer than most tests. For its first program, a test process
starts another one, which imports the modules and then forks every program: see `main`.
A forked program differs from one that its installed script starts only
in the imported modules; the examples of the documentation run in a shell, which finds
`Scripts` of the same names; the tests of completion and of keystone start the installed
scripts.

The protocol on the socket is JSON, one line per message: a request with a program and
its three standard files, a response with its pid, and later its exit code.
"""

import atexit
import contextlib
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
import tempfile
import threading
import traceback
from concurrent import futures
from importlib import metadata

import fixtures
import stevedore

from tests.bounded import TIMEOUT
from watcherlite import bootstrap, conf
from watcherlite.cli import command_table

#: Modules that programs import only when they execute a command or create a database,
#: besides those of the table of commands.
LATER = (
    'alembic.command',
    'cotyledon',
    'encodings.utf_8_sig',
    'kombu.transport.memory',
    'kombu.transport.pyamqp',
    'mako.ext.pygmentplugin',
    'multiprocessing.synchronize',
    'psycopg',
    'pymysql',
    'sqlalchemy.dialects.mysql.pymysql',
    'sqlalchemy.dialects.postgresql.psycopg',
    'sqlalchemy.dialects.sqlite.pysqlite',
    'watcherlite.cli.http.server_sent_events',
    'watcherlite.cli.local.execution',
    'watcherlite.dashboard.deploy',
    # The tables of cliff import it for their first cell.
    'wcwidth',
    'watcherlite.objects.registry',
)
ROOT = pathlib.Path(__file__).parents[2]
#: Scanning the modules for garbage takes a fifth of the time of their import.
_START = (
    'import gc; gc.disable(); from tests.acceptance import preloaded; preloaded.main()'
)
_FILES = 3
_LARGEST = 2**20


class Program:
    """A running program with the interface of `subprocess.Popen`.

    :ivar stdout: its standard output as text, if it is a pipe; also `stderr`
    """

    def __init__(self, pid, ended, stdout, stderr):
        self.pid = pid
        self.stdout = stdout
        self.stderr = stderr
        self._ended = ended

    def poll(self):
        """Return its exit code, or None if it is running."""
        return self._ended.result() if self._ended.done() else None

    def wait(self, timeout=None):
        """Wait for its end; return its exit code."""
        try:
            return self._ended.result(timeout)
        except futures.TimeoutError:
            raise subprocess.TimeoutExpired(str(self.pid), timeout) from None

    def send_signal(self, number):
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Forks:
    """The process from which programs are forked."""

    def __init__(self):
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, '-c', _START, str(its.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                # The standard output of the test process is the test report.
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                # Signals to the process group of the tests must not reach it.
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
        return started.result(TIMEOUT), ended

    def _read(self):
        while text := self._socket.recv(_LARGEST):
            message = json.loads(text)
            if 'pid' in message:
                self._started.pop(message['number']).set_result(message['pid'])
            else:
                self._ended.pop(message['number']).set_result(message['code'])

    def close(self):
        """Kill the process."""
        self._process.kill()
        self._process.wait()


@functools.cache
def _forks():
    forks = Forks()
    atexit.register(forks.close)
    return forks


def start(argv, *, env, cwd, stdout=None, stderr=None):
    """Start a program in a session of its own, without standard input.

    :param argv: the name or the path of a script of watcherlite, and its arguments; or
        'python', '-c', the text of a program, and its arguments
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


def complete(argv, *, env, cwd):
    """Run a program to its end.

    :param argv: as of `start`
    :returns: a `subprocess.CompletedProcess` with the outputs as texts
    """
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as err:
        code = start(argv, env=env, cwd=cwd, stdout=out, stderr=err).wait(TIMEOUT)
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(argv, code, out.read(), err.read())


#: A script that requests a program from the test process, and exits with its exit code.
#: Each command of an example starts it, so it imports little.
_SCRIPT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
    connection.connect({address!r})
    asked = json.dumps([sys.argv, dict(os.environ), os.getcwd()])
    socket.send_fds(connection, [asked.encode()], [0, 1, 2])
    sys.exit(int(connection.recv(16)))
"""


class Scripts(fixtures.Fixture):
    """A directory of scripts for the PATH of a shell, whose programs are forked.

    :ivar path: the directory of the scripts
    """

    def _setUp(self):
        self.path = self.useFixture(fixtures.TempDir()).path
        address = os.path.join(self.path, 'socket')
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(address)
        self._listener.listen()
        text = _SCRIPT.format(python=sys.executable, address=address)
        for name in programs():
            script = pathlib.Path(self.path, name)
            script.write_text(text)
            script.chmod(0o700)
        accepting = threading.Thread(target=self._accept)
        accepting.start()
        self.addCleanup(accepting.join)
        # A shutdown wakes the thread; a close does not.
        self.addCleanup(self._listener.shutdown, socket.SHUT_RDWR)

    def _accept(self):
        with self._listener, contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=_serve_script, args=(connection,)).start()


def _serve_script(connection):
    """Start the program of a script, and send its exit code."""
    with connection:
        text, files, _, _ = socket.recv_fds(connection, _LARGEST, _FILES)
        try:
            _, ended = _forks().start(*json.loads(text), files)
        finally:
            for file in files:
                os.close(file)
        connection.send(str(ended.result()).encode())


# The process that forks programs


def serve(connection):
    """Fork programs until the connection is closed.

    :returns: in a program, its entry point; otherwise None
    """
    running = {}
    wakeup_reader, wakeup_writer = socket.socketpair()
    wakeup_writer.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *arguments: None)
    signal.set_wakeup_fd(wakeup_writer.fileno())
    with (
        connection,
        wakeup_reader,
        wakeup_writer,
        selectors.DefaultSelector() as selector,
    ):
        selector.register(connection, selectors.EVENT_READ)
        selector.register(wakeup_reader, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wakeup_reader in ready:
                wakeup_reader.recv(_LARGEST)
                _report_ends(connection, running)
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
                return run_program(asked, files)
            for file in files:
                os.close(file)
            running[pid] = asked['number']
            message = {'number': asked['number'], 'pid': pid}
            connection.send(json.dumps(message).encode())


def _report_ends(connection, running):
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        message = {
            'number': running.pop(pid),
            'code': os.waitstatus_to_exitcode(status),
        }
        connection.send(json.dumps(message).encode())


def run_program(asked, files):
    """Turn the new process into that of a program; return its entry point."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked['directory'])
    os.environ.clear()
    os.environ.update(asked['environment'])
    sys.argv = asked['argv']
    added = os.environ.get('PYTHONPATH')
    if added:
        sys.path[:0] = added.split(os.pathsep)
        # Its path has other distributions.
        stevedore.ExtensionManager.ENTRY_POINT_CACHE.clear()
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
    name, *arguments = sys.argv
    if name == 'python':
        option, text, *arguments = arguments
        sys.argv = [option, *arguments]
        return functools.partial(exec, text, {'__name__': '__main__'})
    return programs()[pathlib.Path(name).name].load()


@functools.cache
def programs():
    """Return the entry points of the programs of watcherlite, by name."""
    found = metadata.distribution('watcherlite').entry_points
    return {point.name: point for point in found.select(group='console_scripts')}


def main():
    """Import the modules of the programs, and serve."""
    # Scanning the modules for garbage takes a fifth of the time of their import.
    gc.disable()
    # As in an installed script. The entry points that are read here are valid for all
    # programs with this path; reading them takes longer than most commands.
    del sys.path[0]
    for point in programs().values():
        point.load()
    for name in LATER:
        importlib.import_module(name)
    for path, _ in command_table.COMMANDS.values():
        importlib.import_module(path.partition(':')[0])
    for kind in ('list', 'show'):
        stevedore.ExtensionManager(f'cliff.formatter.{kind}')
    # Import the plugins as well, all of which a daemon imports at its start.
    bootstrap.load_plugins(conf.new([], [], []))
    # Keep the shared pages from being copied.
    gc.collect()
    gc.freeze()
    gc.enable()
    call = serve(socket.socket(fileno=int(sys.argv[1])))
    if call is None:
        return
    code = run(call)
    # End as the interpreter does, but without its last garbage collection, which would
    # copy all shared memory.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(call):
    """Run a program; return its exit code."""
    try:
        code = call()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        return 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
        return 1
    return code or 0
