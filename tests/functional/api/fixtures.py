"""The fixtures of the suites in `gabbits/`, named there under `fixtures:`.

A suite uses one application, and all its requests share one database. Add a class here
for a suite with other initial data.
"""

import pathlib
import tempfile
from typing import Any, ClassVar, Self

import bcrypt
from gabbi import fixture
from oslo_middleware import cors, http_proxy_to_wsgi

from tests import base
from tests.factories import make_worker
from tests.functional.api import audits, plans
from watcherlite import bootstrap, conf
from watcherlite.api import deploy
from watcherlite.cmd.application import application_of
from watcherlite.domain.actions import LANES
from watcherlite.testing.memory_store import MemoryStore

#: The applications of the fixtures in use; the last one responds.
_RUNNING: list[Any] = []


def application() -> Any:
    """Return the application of the next suite.

    The steps are built before their fixture starts.
    """
    return lambda environ, start_response: _RUNNING[-1](environ, start_response)


class ApiFixture(fixture.GabbiFixture):
    """The application with a store in memory of its own, without authentication.

    The store has the installed goals, strategies and scoring engines. Nothing is
    executed: plans and actions stay as requests leave them.

    :cvar options: (group, option) -> value, in addition to those of the fixture
    """

    options: ClassVar[dict[tuple[str, str], Any]] = {}
    #: The lanes that a worker serves.
    lanes: ClassVar[tuple[str, ...]] = ()

    def start_fixture(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self._directory.name)
        ini = self.directory / 'watcherlite.conf'
        ini.write_text(self.ini())
        configuration = conf.new([], [str(ini)])
        configuration.set_override('state_path', self._directory.name)
        self.configure(configuration)
        for (group, option), value in self.options.items():
            configuration.set_override(option, value, group)
        self.runtime = self.make_runtime(configuration, MemoryStore())
        self.runtime.sync()
        self.prepare()
        if self.lanes:
            self.runtime.start()
        self.services = deploy.services_of(self.runtime)
        self.application = application_of(self.runtime, self.services)
        _RUNNING.append(self.application)

    def ini(self) -> str:
        """Return the ini file, for options that libraries register late."""
        return ''

    def configure(self, configuration: conf.Configuration) -> None:
        """Set options that depend on `self.directory`."""

    def make_runtime(
        self, configuration: conf.Configuration, store: MemoryStore
    ) -> bootstrap.Runtime:
        """Return the process that serves the API."""
        return bootstrap.Runtime(configuration, lanes=self.lanes, store=store)

    def prepare(self) -> None:
        """Store the initial data in `self.runtime`."""

    def stop_fixture(self) -> None:
        _RUNNING.pop()
        self.runtime.stop(0)
        self._directory.cleanup()

    @classmethod
    def of(cls, test: base.TestCase) -> Self:
        """Return a started fixture, which is stopped at the end of the test."""
        running = cls()
        running.start_fixture()
        test.addCleanup(running.stop_fixture)
        return running


class WorkingApiFixture(ApiFixture):
    """The application with workers that execute plans and audits."""

    lanes = LANES


class PlansFixture(ApiFixture):
    """Plans and actions in every state; see `plans`."""

    def prepare(self) -> None:
        plans.store_all(self.runtime.store)


class AuditsFixture(ApiFixture):
    """Audits in every state; see `audits`."""

    def prepare(self) -> None:
        audits.store_all(self.runtime.store)


class ServicesFixture(ApiFixture):
    """Three workers, the second of which has stopped."""

    def prepare(self) -> None:
        store = self.runtime.store
        served = {'alpha': LANES[:1], 'beta': LANES[1:], 'gamma': LANES}
        for host, lanes in served.items():
            store.register_worker(make_worker(uuid=host, host=host, lanes=lanes), 3600)
        store.end_lease('beta')


class ReaderApiFixture(ApiFixture):
    """With authentication: the user reader, password secret, has the role reader.

    The user new, with the same password, has no role. A dashboard and a proxy are
    trusted, and there are metrics.
    """

    options: ClassVar[dict[tuple[str, str], Any]] = {
        ('api', 'auth_strategy'): 'http_basic',
        ('api', 'http_basic_user_roles'): {'reader': 'reader'},
        ('api', 'metrics'): True,
        ('cors', 'allowed_origin'): ['https://dashboard.example.org'],
        ('oslo_middleware', 'enable_proxy_headers_parsing'): True,
    }

    def configure(self, configuration: conf.Configuration) -> None:
        users = self.directory / 'htpasswd'
        hashed = bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()
        users.write_text(f'reader:{hashed}\nnew:{hashed}\n')
        configuration.set_override('http_basic_auth_user_file', str(users), 'api')
        configuration.register_opts(cors.CORS_OPTS, 'cors')
        configuration.register_opts(http_proxy_to_wsgi.OPTS, 'oslo_middleware')


class OpenWebhooksFixture(AuditsFixture):
    """Audits in every state; only webhooks need no authentication."""

    options: ClassVar[dict[tuple[str, str], Any]] = {
        ('api', 'auth_strategy'): 'http_basic',
        ('api', 'enable_webhooks_auth'): False,
    }

    def configure(self, configuration: conf.Configuration) -> None:
        users = self.directory / 'htpasswd'
        users.write_text('')
        configuration.set_override('http_basic_auth_user_file', str(users), 'api')


class ProjectFixture(ApiFixture):
    """With authentication: reader, member and boss (admin), each with password secret.

    Nothing is executed.
    """

    options: ClassVar[dict[tuple[str, str], Any]] = {
        ('api', 'auth_strategy'): 'http_basic',
        ('api', 'http_basic_user_roles'): {
            'reader': 'reader',
            'member': 'member',
            'boss': 'admin',
        },
    }

    def configure(self, configuration: conf.Configuration) -> None:
        users = self.directory / 'htpasswd'
        hashed = bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()
        names = ('reader', 'member', 'boss')
        users.write_text(''.join(f'{name}:{hashed}\n' for name in names))
        configuration.set_override('http_basic_auth_user_file', str(users), 'api')
