"""Child processes of the benchmark."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Self

#: The directory of the packages `tests` and `watcherlite`.
_ROOT = pathlib.Path(__file__).parents[2]
_APPLIER = 'import watcherlite.cmd.applier as applier; applier.main()'
_STOPPING = 30.0
_REPORTING = 30.0
_LOOK = 0.002
#: Variables of Python that an installed daemon does not have, such as the one that
#: compiles every module at every start.
_REMOVED = ('PYTHONDONTWRITEBYTECODE', 'PYTHONUNBUFFERED', 'PYTHONDEVMODE')
#: Number of log lines shown of a process that failed.
_LINES = 30


class ProcessFailed(AssertionError):
    """A child process failed."""


def run(module: str, arguments: Sequence[str], text: str, timeout: float) -> str:
    """Run a module and return its standard output.

    :param text: its standard input
    """
    done = subprocess.run(
        [sys.executable, '-m', module, *arguments],
        cwd=_ROOT,
        env=_environment(),
        input=text,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        # Logs may go to either.
        tail = '\n'.join((done.stdout + done.stderr).splitlines()[-_LINES:])
        raise ProcessFailed(f'{module} ended with {done.returncode}:\n{tail}')
    return done.stdout


class Process:
    """A Python process whose log is kept in a file.

    :param arguments: of the interpreter
    :param log: the file; its stem names the process in errors
    """

    def __init__(self, arguments: Sequence[str], log: pathlib.Path) -> None:
        self._log = log
        with log.open('wb') as stream:
            self.spawned = time.time()
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=_ROOT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                # Ctrl-C is for the benchmark, which then stops its children.
                start_new_session=True,
            )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def check(self) -> None:
        """Raise ProcessFailed with the end of the log if the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise ProcessFailed(
                f'the {self._log.stem} ended with {code}:\n{self.log_tail()}'
            )

    def log_tail(self) -> str:
        """Return the last lines of the log."""
        lines = self._log.read_text(errors='replace').splitlines()
        return '\n'.join(lines[-_LINES:])

    def stop(self) -> None:
        """Terminate the process; kill it if it does not end in time."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOPPING)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self._process.wait(_STOPPING)


class Daemon(Process):
    """An applier with its worker processes.

    :param config_file: the ini file
    :param directory: for the log and the reports
    :param counted: start it by the launcher, which counts its statements
    """

    def __init__(
        self,
        config_file: pathlib.Path,
        directory: pathlib.Path,
        *,
        counted: bool = False,
    ) -> None:
        self._report = directory / 'report'
        self._reports = 0
        option = f'--config-file={config_file}'
        command = ['-c', _APPLIER, option]
        if counted:
            report = f'--report={self._report}'
            command = ['-m', 'tests.bench.daemon', option, report, 'serve']
        super().__init__(command, directory / 'daemon.log')

    def take_report(self) -> dict[str, Any]:
        """Return what the launcher counted since the last report."""
        self._reports += 1
        path = pathlib.Path(f'{self._report}.{self._reports}')
        os.kill(self.pid, signal.SIGUSR1)
        deadline = time.monotonic() + _REPORTING
        while not path.exists():
            self.check()
            if time.monotonic() > deadline:
                raise ProcessFailed(
                    f'the daemon did not write its report in time:\n{self.log_tail()}'
                )
            time.sleep(_LOOK)
        seen: dict[str, Any] = json.loads(path.read_text())
        return seen


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in os.environ if name not in _REMOVED}
