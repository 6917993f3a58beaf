"""The unmodified Horizon and watcher-dashboard of PyPI, started for a test class."""

import os
import pathlib
import secrets

import fixtures
from testtools import content

from tests.acceptance.clients import environments
from tests.acceptance.clients.serving import LOOPBACK
from tests.acceptance.daemons import Daemon
from tests.ports import reserve_port

ROOT = pathlib.Path(__file__).parents[3]
SERVER = pathlib.Path(__file__).with_name('horizon_server.py')

#: The settings that the documentation recommends.
EXAMPLE = ROOT / 'etc/watcherlite/examples/horizon_settings.py'

_SETTINGS = """\
import pathlib

import openstack_dashboard.local.enabled
import watcher_dashboard

ALLOWED_HOSTS = ['127.0.0.1']
CACHES = {{'default': {{'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}}}
DEBUG = False
OPENSTACK_KEYSTONE_URL = {keystone!r}
SECRET_KEY = {secret!r}
SESSION_ENGINE = 'django.contrib.sessions.backends.signed_cookies'

# Pages are requested without scripts and styles: do not compile them.
COMPRESS_ENABLED = False
COMPRESS_PRECOMPILERS = ()

# A deployer copies these files into the directory of Horizon.
openstack_dashboard.local.enabled.__path__.append(
    str(pathlib.Path(watcher_dashboard.__file__).with_name('local') / 'enabled')
)

{example}
"""


class Horizon(fixtures.Fixture):
    """Horizon with the panels of watcher-dashboard, without scripts and styles.

    :ivar url: its address

    :param keystone: the URL of the identity service, whose catalog it uses
    """

    def __init__(self, keystone):
        super().__init__()
        self._keystone = keystone
        self._port = reserve_port()
        self.url = f'http://{LOOPBACK}:{self._port}'

    def setUp(self):
        # Not in _setUp, which would wrap the exception that signals a skip.
        self._scripts = environments.HORIZON.scripts()
        super().setUp()

    def _setUp(self):
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        local = home / 'local'
        local.mkdir()
        (local / '__init__.py').touch()
        settings = _SETTINGS.format(
            keystone=self._keystone,
            secret=secrets.token_urlsafe(),
            example=EXAMPLE.read_text(),
        )
        (local / 'local_settings.py').write_text(settings)
        python = str(self._scripts / 'python')
        self._server = Daemon(
            [python, '-I', '-W', 'ignore', str(SERVER), str(self._port), str(home)],
            {'PATH': os.environ['PATH'], 'HOME': str(home)},
            home,
            home / 'horizon.log',
        )
        self.addCleanup(self._server.kill)
        self._server.wait_for_text('Horizon answers on')

    def log(self):
        """Return its log, for the report of a failure."""
        return content.text_content(self._server.text())
