"""All of watcherlite in one process, with its API on a port."""

import os
import pathlib

import fixtures
import requests
from testtools import content

from tests import base, schemas, services
from tests.acceptance import preloaded
from tests.acceptance.daemons import (
    API,
    ENGINE,
    SCRIPTS,
    STANDALONE,
    Daemon,
    wait_until,
)
from tests.bounded import TIMEOUT
from tests.ports import reserve_port

LOOPBACK = '127.0.0.1'
#: The variables of the test's environment that the process needs.
_KEPT = ('PATH', 'LANG', 'LC_ALL', 'TMPDIR')


class Standalone(fixtures.Fixture):
    """`watcherlite standalone` with a new SQLite file.

    :ivar url: the URL of its API

    :param settings: called with the directory of the process, in which it may write
        files; returns group -> {option: value}, in addition to the common options
    """

    def __init__(self, settings):
        super().__init__()
        self._settings = settings
        self.port = reserve_port()
        self.url = f'http://{LOOPBACK}:{self.port}'

    def _setUp(self):
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        ini = home / 'watcherlite.conf'
        groups = self._settings(home)
        settings = {
            'DEFAULT': {'host': 'host-1', 'state_path': home},
            'database': {
                'connection': schemas.copy_sqlite(home / 'watcherlite.sqlite')
            },
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
            preloaded.start,
        )
        self.addCleanup(self.daemon.kill)
        self.daemon.wait_for_text(' serves ')
        wait_until(self._is_serving, lambda: f'an answer:\n{self.daemon.text()}')

    def _is_serving(self):
        try:
            return self.request('GET', '/').ok
        except requests.ConnectionError:
            return False

    def request(self, method, path, **options):
        """Send a request without a client; return the response."""
        return requests.request(method, self.url + path, timeout=TIMEOUT, **options)

    def log(self):
        """Return its log, for the report of a failure."""
        return content.text_content(self.daemon.text())


class ServedCase(base.TestCase):
    """Shares fixtures between the tests of a class, and reports the process log."""

    standalone = None

    @classmethod
    def use(cls, fixture):
        """Use a fixture until the last test of the class has ended; return it."""
        fixture.setUp()
        cls.addClassCleanup(fixture.cleanUp)
        return fixture

    def setUp(self):
        super().setUp()
        if self.standalone is not None:
            self.addOnException(
                lambda _: self.addDetail('standalone.log', self.standalone.log())
            )


def start_servers(case):
    """Start an API and two engines, with PostgreSQL and RabbitMQ.

    :param case: the class of tests at whose end they are stopped
    :returns: the URL of the API
    """
    database_url = schemas.server(services.POSTGRESQL)
    schemas.empty_at(database_url)
    vhost = services.vhost()
    port = reserve_port()
    directory = pathlib.Path(case.use(fixtures.TempDir()).path)
    ini = directory / 'watcherlite.conf'
    ini.write_text(
        f'[DEFAULT]\nstate_path = {directory}\n'
        f'[database]\nconnection = {database_url}\n'
        f'[messaging]\nurl = {vhost.url}\n'
        f'[api]\nport = {port}\n'
    )
    daemons = [
        _start_daemon(case, what[0], number, ini)
        for number, what in enumerate((ENGINE, ENGINE, API))
    ]
    for daemon in daemons[:2]:
        daemon.wait_for_text(' serves ')
        daemon.wait_for_text('Consuming messages from')
    daemons[2].wait_for_text('The API is served on')
    return f'http://{LOOPBACK}:{port}'


def _start_daemon(case, program, number, ini):
    home = ini.parent
    daemon = Daemon(
        [str(SCRIPTS / program), f'--config-file={ini}'],
        {**os.environ, 'HOME': str(home), 'PYTHONUNBUFFERED': '1'},
        home,
        home / f'{program}-{number}.log',
        preloaded.start,
    )
    case.addClassCleanup(daemon.kill)
    return daemon
