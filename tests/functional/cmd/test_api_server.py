"""The server of the API in a daemon."""

import json
import signal
import threading
import urllib.error
import urllib.request

from tests import base
from tests.bounded import TIMEOUT
from watcherlite import bootstrap, conf, exceptions
from watcherlite.cmd import api_server
from watcherlite.cmd.daemon import DaemonService
from watcherlite.plugins import loader


class TestStart(base.TestCase):
    """The start of the API server."""

    def setUp(self):
        super().setUp()
        configuration = conf.new([], [])
        configuration.set_override('port', 0, 'api')
        listening = api_server.Api().listen(configuration)
        self.addCleanup(listening.close)
        self.runtime = bootstrap.Runtime(configuration, lanes=())
        self.addCleanup(self.runtime.stop, 0)
        self.server = api_server.ApiServer(listening, self.runtime)

    def test_start_of_a_failing_server_is_bounded(self):
        def prepare():
            raise RuntimeError("can't start new thread")

        self.server._server.prepare = prepare
        found = []

        def start():
            try:
                self.server.start()
            except exceptions.WatcherliteError as error:
                found.append(str(error))

        starting = threading.Thread(target=start, daemon=True)
        starting.start()
        starting.join(TIMEOUT)

        self.assertEqual(["The API cannot be served: can't start new thread"], found)


class TestUnavailableDatabase(base.TestCase):
    """The database is not available, for example because its disk is full."""

    def setUp(self):
        super().setUp()
        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        self.conf = conf.new([], [])
        self.conf.set_override('port', 0, 'api')
        away = f'sqlite:///{self.home}/away/x.sqlite'
        self.conf.set_override('connection', away, 'database')
        api = api_server.Api()
        self.listening = api.listen(self.conf)
        self.addCleanup(self.listening.close)
        self.service = DaemonService(
            0, self.conf, loader.load(options=self.conf), (), (api, self.listening)
        )
        self.addCleanup(self.service.terminate)

    def ask(self):
        """Return the status, the header Retry-After and the text of a response."""
        url = f'http://127.0.0.1:{self.listening.getsockname()[1]}/v1/goals'
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
                return answer.status, None, ''
        except urllib.error.HTTPError as error:
            message = json.loads(json.load(error)['error_message'])['faultstring']
            return error.code, error.headers['Retry-After'], message

    def test_requests_are_refused_until_the_database_is_available(self):
        self.assertFalse(self.service._start())
        refused = [self.ask(), self.ask()]
        self.assertFalse(self.service._start())
        self.conf.set_override(
            'connection', f'sqlite:///{self.home}/x.sqlite', 'database'
        )
        self.assertTrue(self.service._start())

        for status, retry_after, message in refused:
            self.assertEqual(503, status)
            self.assertIsNotNone(retry_after)
            self.assertNotEqual('', message)
        self.assertEqual((200, None, ''), self.ask())
