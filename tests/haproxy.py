"""HAProxy with the configurations of the documentation."""

import pathlib
import re
import socket
import subprocess
import textwrap

import fixtures

from tests import services
from tests.acceptance.daemons import wait_until
from tests.certificates import Certificate
from tests.ports import reserve_port

_DOCUMENTATION = pathlib.Path(__file__).parents[1] / 'doc' / 'source'
#: The certificate, and the addresses of the API, in the documentation.
_CERTIFICATE, _API = '/etc/haproxy/watcherlite.pem', r'10\.0\.0\.1\d:9322'


def documented(page: str, name: str) -> str:
    """Return the configuration in a block of a page of the documentation.

    :param name: the option `name` of the block
    """
    text = (_DOCUMENTATION / page).read_text()
    (block,) = re.findall(rf'   :name: {name}\n\n((?:   .*\n|\n)+)', text)
    return textwrap.dedent(block)


class Haproxy(fixtures.Fixture):
    """A proxy that terminates TLS for localhost.

    :param settings: its configuration, as `documented` returns it
    :param bound: the address and port that it binds in the configuration
    :param api: the port of the API on this machine
    :ivar port: its port
    :ivar trusted: the path of its certificate
    """

    def __init__(self, settings: str, bound: str, api: int) -> None:
        super().__init__()
        self._settings = settings
        self._bound = bound
        self._api = api

    def setUp(self) -> None:
        # Not in _setUp, which would wrap the exception that signals a skip.
        self._program = services.program(services.HAPROXY)
        super().setUp()

    def _setUp(self) -> None:
        certificate = self.useFixture(Certificate('localhost'))
        self.trusted = str(certificate.path)
        self.port = reserve_port()
        settings = self._settings.replace(
            f'bind {self._bound} ', f'bind 127.0.0.1:{self.port} '
        )
        settings = re.sub(_API, f'127.0.0.1:{self._api}', settings)
        settings = settings.replace(_CERTIFICATE, str(certificate.both))
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (home / 'haproxy.cfg').write_text(settings)
        log = home / 'log'
        with log.open('w') as file:
            process = subprocess.Popen(
                [self._program, '-db', '-f', str(home / 'haproxy.cfg')],
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        wait_until(self._is_open, log.read_text)

    def _is_open(self) -> bool:
        try:
            socket.create_connection(('127.0.0.1', self.port), 5).close()
        except OSError:
            return False
        return True
