"""The unmodified OpenStack clients of PyPI."""

import atexit
import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import queue
import subprocess
import threading

import fixtures

from tests.acceptance.clients import environments
from tests.acceptance.clients.plain import plain
from tests.bounded import TIMEOUT

DRIVER = pathlib.Path(__file__).with_name('driver.py')
#: The variables that a client needs in addition to those of the test.
_KEPT = ('PATH', 'LANG', 'LC_ALL', 'TMPDIR')


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """The result of a command."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    def json(self):
        """Return the output as JSON; raise AssertionError if the command failed."""
        if self.code:
            raise AssertionError(f'{self} failed')
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f'{self} printed no JSON') from error

    def plain(self):
        """Return the JSON output without values that vary between runs."""
        return plain(self.json())

    def refusal(self):
        """Return the error message; raise AssertionError if the command succeeded."""
        if not self.code:
            raise AssertionError(f'{self} did not fail')
        return ' '.join(self.err.split())

    def __str__(self):
        return f'{" ".join(self.argv)} ({self.code}):\n{self.out}\n{self.err}'


class Clients(fixtures.Fixture):
    """The programs of a virtual environment; each command has a process of its own."""

    def __init__(self, environment):
        super().__init__()
        self._environment = environment

    def setUp(self):
        # Not in _setUp, which would wrap the exception that signals a skip.
        self.scripts = self._environment.scripts()
        super().setUp()

    def _setUp(self):
        home = self.useFixture(fixtures.TempDir()).path
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        #: Clients read clouds.yaml and write caches in the home directory.
        self.environment = {**kept, 'HOME': home}
        self._errors = self.useFixture(fixtures.TempDir()).join('driver.log')
        with open(self._errors, 'wb') as errors:
            self._start(errors)
        self.addCleanup(self._end)
        self._answers = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _start(self, errors):
        self._driver = subprocess.Popen(
            [str(self.scripts / 'python'), '-I', '-W', 'ignore', str(DRIVER)],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

    def _read(self):
        for line in self._driver.stdout:
            self._answers.put(line)
        self._answers.put('')

    def _end(self):
        with contextlib.suppress(BrokenPipeError):
            self._driver.stdin.close()
        try:
            self._driver.wait(TIMEOUT)
        finally:
            self._driver.kill()
            self._driver.wait()
            self._driver.stdout.close()

    def run(self, program, *argv, **environment):
        """Run a command; return its result."""
        request = {'program': program, 'argv': argv, 'environment': environment}
        # If the driver has ended, its log has the reason; this error has not.
        with contextlib.suppress(BrokenPipeError):
            self._driver.stdin.write(json.dumps(request) + '\n')
            self._driver.stdin.flush()
        line = self._answers.get(timeout=TIMEOUT)
        if not line:
            # Fail later requests as well.
            self._answers.put('')
            written = pathlib.Path(self._errors).read_text(errors='replace')
            raise AssertionError(f'{program} {argv}: the driver has ended:\n{written}')
        return Done((program, *argv), **json.loads(line))

    def run_script(self, program, *argv, **environment):
        """Run a command by its installed script; return its result."""
        done = subprocess.run(
            [str(self.scripts / program), *argv],
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return Done((program, *argv), done.returncode, done.stdout, done.stderr)


@functools.cache
def shared_clients(environment=environments.CLIENTS):
    """Return the programs of a virtual environment, for all tests of a process.

    :param environment: by default that of `watcher` and `openstack optimize`
    """
    clients = Clients(environment)
    clients.setUp()
    atexit.register(clients.cleanUp)
    return clients
