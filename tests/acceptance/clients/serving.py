"""All of watcherlite in one process, with its API on a port of its own."""

import os
import pathlib
import socket

import fixtures
import requests
from testtools import content

from tests.acceptance.daemons import SCRIPTS, STANDALONE, Daemon, wait_until

LOOPBACK = '127.0.0.1'
#: Seconds that a request may take.
PATIENCE = 30
#: What the process needs of the surroundings of the tests.
_KEPT = ('PATH', 'LANG', 'LC_ALL', 'TMPDIR')


def free_port():
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


class Standalone(fixtures.Fixture):
    """`watcherlite standalone` on a new SQLite file.

    :ivar url: where its API answers

    :param settings: called with the directory of the process, in which it may write
        files; returns group -> {option: value}, beside those that all have
    """

    def __init__(self, settings):
        super().__init__()
        self._settings = settings
        self.port = free_port()
        self.url = f'http://{LOOPBACK}:{self.port}'

    def _setUp(self):
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        ini = home / 'watcherlite.conf'
        groups = self._settings(home)
        settings = {
            'DEFAULT': {'host': 'here', 'state_path': home},
            'database': {'connection': f'sqlite:///{home}/watcherlite.sqlite'},
            **groups,
            'api': {'port': self.port, **groups.get('api', {})},
        }
        ini.write_text(
            ''.join(
                f'[{group}]\n'
                + ''.join(f'{option} = {value}\n' for option, value in options.items())
                for group, options in settings.items()
            )
        )
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self.daemon = Daemon(
            [str(SCRIPTS / STANDALONE[0]), *STANDALONE[1:], f'--config-file={ini}'],
            {**kept, 'HOME': str(home), 'PYTHONUNBUFFERED': '1'},
            home,
            home / 'standalone.log',
        )
        self.addCleanup(self.daemon.kill)
        self.daemon.wait_for_text(' serves ')
        wait_until(self._answers, lambda: f'an answer:\n{self.daemon.text()}')

    def _answers(self):
        try:
            return self.request('GET', '/').ok
        except requests.ConnectionError:
            return False

    def request(self, method, path, **options):
        """Send a request, without a client; return the answer."""
        return requests.request(method, self.url + path, timeout=PATIENCE, **options)

    def log(self):
        """Return what it has logged, for the report of a failure."""
        return content.text_content(self.daemon.text())
