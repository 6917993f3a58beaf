"""The WSGI application that other servers load."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from tests.unit.api.requests import ask
from watcherlite import bootstrap, conf, exceptions, wsgi
from watcherlite.domain import commands


class WsgiCase(base.TestCase):
    def setUp(self):
        super().setUp()
        # It would replace the log of the test.
        self.patch(conf, 'setup_logging', lambda *arguments: None)

    def build(self, *lines):
        path = self.home / 'watcherlite.conf'
        path.write_text('\n'.join(lines) + '\n')
        return wsgi.build({wsgi.FILES: str(path)})

    def runtimes(self):
        """Return a list to which each built runtime is appended."""
        found = []
        build = bootstrap.Runtime

        def keep(*arguments, **keys):
            found.append(build(*arguments, **keys))
            return found[-1]

        self.patch(bootstrap, 'Runtime', keep)
        return found


class TestBuild(WsgiCase):
    """The application is composed once, and cleans up after a failed composition."""

    def test_failed_build_closes_store(self):
        bad = self.home / 'policy.yaml'
        bad.write_text('[no mapping')
        runtimes, closed = self.runtimes(), []

        def build():
            store = bootstrap.open_store

            def opened(conf):
                found = store(conf)
                close = found.close
                found.close = lambda: closed.append(close())
                return found

            self.patch(bootstrap, 'open_store', opened)
            return self.build('[oslo_policy]', f'policy_file = {bad}')

        self.assertRaises(exceptions.ConfigurationError, build)

        self.assertEqual((1, 1), (len(runtimes), len(closed)))

    def test_build_error_is_logged_and_refers_to_log_without_request_id(self):
        def build():
            raise exceptions.ConfigurationError('[api] is wrong')

        answer = ask(wsgi.LazyApplication(build), 'GET', '/v1')

        self.assertEqual(500, answer.status)
        self.assertEqual('Internal server error. See the log of the API.', answer.fault)
        self.assertIn('[api] is wrong', self.log.output)

    def test_messages_of_other_processes_wake_streams(self):
        runtimes, services = self.runtimes(), []
        services_of = wsgi.deploy.services_of

        def keep(runtime):
            services.append(services_of(runtime))
            return services[-1]

        self.patch(wsgi.deploy, 'services_of', keep)
        self.build('[api]', 'auth_strategy = noauth')
        (runtime,), (service,) = runtimes, services
        self.addCleanup(runtime.stop, 0)
        woken = threading.Event()
        wake = service.streams.wake
        service.streams.wake = lambda: (wake(), woken.set())

        runtime.bus.wait_until_consuming(TIMEOUT)
        runtime.bus.broadcast(commands.to_message(commands.EventsStored()))

        self.assertTrue(woken.wait(TIMEOUT))
