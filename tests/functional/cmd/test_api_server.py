"""The server of the API in a daemon."""

import threading

from tests import base
from watcherlite import bootstrap, conf, exceptions
from watcherlite.cmd import serving


class TestStart(base.TestCase):
    """How it begins to serve."""

    def setUp(self):
        super().setUp()
        configuration = conf.new([], [])
        configuration.set_override('port', 0, 'api')
        listening = serving.Api().listen(configuration)
        self.addCleanup(listening.close)
        self.runtime = bootstrap.build(configuration, lanes=())
        self.addCleanup(self.runtime.stop, 0)
        self.server = serving.ApiServer(listening, self.runtime)

    def test_who_starts_it_does_not_wait_for_ever_for_one_that_cannot(self):
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
        starting.join(60)

        self.assertEqual(["The API cannot be served: can't start new thread"], found)
