"""Virtual environments for third-party software that the tests use.

An environment variable names the directory of each; a missing directory is created. If
the variable is not set, the test is skipped, or fails if
WATCHERLITE_TEST_REQUIRE_SERVICES is set to 1. To create the environments in advance::

    python -m tests.acceptance.clients.environments

The watcherlite processes neither import their packages nor provide any to them.
"""

import dataclasses
import fcntl
import os
import pathlib
import subprocess
import sys
import unittest
from concurrent import futures

_REQUIRE = 'WATCHERLITE_TEST_REQUIRE_SERVICES'
#: Seconds after which an installation is considered stuck.
_PATIENCE = 600
#: The file that marks a directory with a complete installation.
_COMPLETE = '.complete'


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """Packages in a virtual environment of their own.

    :param variable: the environment variable with its directory
    :param packages: the requirements for pip, with the oldest version that is known to
        work
    """

    name: str
    variable: str
    packages: tuple[str, ...]

    def path(self) -> pathlib.Path | None:
        """Return the directory, or None if the variable is not set."""
        named = os.environ.get(self.variable)
        return pathlib.Path(named).absolute() if named else None

    def scripts(self) -> pathlib.Path:
        """Return the directory of the programs; create the environment if necessary.

        :raises unittest.SkipTest: the variable is not set
        :raises AssertionError: the variable is not set but required, or the creation
            fails
        """
        path = self.path()
        if path is None:
            text = (
                f'An environment with {self.name} is not there ({self.variable} is '
                'not set); set it to a directory in which it can be made'
            )
            if os.environ.get(_REQUIRE) == '1':
                raise AssertionError(text)
            raise unittest.SkipTest(text)
        self.make(path)
        return path / 'bin'

    def make(self, path: pathlib.Path) -> None:
        """Create the environment if it is missing; other processes wait for it."""
        if (path / _COMPLETE).exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_name(f'{path.name}.lock').open('w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (path / _COMPLETE).exists():
                return
            self._run(sys.executable, '-m', 'venv', str(path))
            self._run(str(path / 'bin' / 'pip'), 'install', '--quiet', *self.packages)
            (path / _COMPLETE).touch()

    def _run(self, *argv: str) -> None:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        if done.returncode:
            raise AssertionError(
                f'The environment with {self.name} cannot be made: {" ".join(argv)} '
                f'ended with {done.returncode}:\n{done.stdout}{done.stderr}'
            )


#: The clients of OpenStack Watcher.
CLIENTS = Environment(
    'python-watcherclient',
    'WATCHERLITE_TEST_CLIENTS',
    ('python-watcherclient>=4.11.0', 'python-openstackclient>=8.0.0'),
)
#: The client of OpenStack Heat.
HEAT = Environment(
    'python-heatclient',
    'WATCHERLITE_TEST_HEAT_CLIENT',
    ('python-heatclient>=5.3.0', 'python-openstackclient>=8.0.0'),
)
#: The client of OpenStack Senlin. It does not work with later versions of osc-lib.
SENLIN = Environment(
    'python-senlinclient',
    'WATCHERLITE_TEST_SENLIN_CLIENT',
    (
        'python-senlinclient==3.1.0',
        'osc-lib<4.0',
        'python-openstackclient==6.6.0',
        'openstacksdk==4.22.0',
    ),
)
#: OpenStack's identity service, and a server to run it.
KEYSTONE = Environment(
    'keystone', 'WATCHERLITE_TEST_KEYSTONE', ('keystone>=27.0.0', 'cheroot>=10.0.0')
)
#: OpenStack's dashboard, with the panels of OpenStack Watcher. One of its dependencies
#: imports distutils, which Python 3.12 and later have only with setuptools.
HORIZON = Environment(
    'Horizon',
    'WATCHERLITE_TEST_HORIZON',
    ('horizon>=27.0.0', 'watcher-dashboard>=16.0.0', 'setuptools'),
)


def main() -> int:
    """Create all environments whose variables are set; return the exit code."""
    known = (CLIENTS, HEAT, SENLIN, KEYSTONE, HORIZON)
    named = [(e, path) for e in known if (path := e.path()) is not None]
    with futures.ThreadPoolExecutor() as pool:
        # Raise the first error.
        list(pool.map(lambda pair: pair[0].make(pair[1]), named))
    for environment, path in named:
        print(f'{environment.name}: {path}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
