"""An HTTP action with a server of the test."""

import threading

from tests import base
from tests.bounded import TIMEOUT
from tests.functional.plugins.http_server import Server
from watcherlite import testing
from watcherlite.plugins.action_types.http_request import HttpRequest


class HttpTestCase(base.TestCase):
    def serve(self, behaviour, **settings):
        return self.useFixture(Server(behaviour, **settings))

    def run_get(self, url, *, options=None, context=None, deadline=None, **inputs):
        return testing.run_action(
            HttpRequest,
            {'method': 'GET', 'url': url, **inputs},
            options=options,
            context=context,
            timeout=deadline,
        )

    def answering(self, status=200, body=b'', **headers):
        return self.serve(lambda exchange, _: exchange.answer(status, body, **headers))

    def interrupted(self, behaviour, signal='CANCEL', **settings):
        """Send a signal while the server handles the request; return the result."""
        server = self.serve(behaviour, **settings)
        context = testing.FakeContext()
        results = []
        thread = threading.Thread(
            target=lambda: results.append(
                self.run_get(server.url, context=context, options={'verify_tls': False})
            ),
            daemon=True,
        )

        thread.start()
        server.wait_until_received()
        context.send(signal)
        thread.join(TIMEOUT)

        self.assertFalse(thread.is_alive(), 'the signal did not wake the action')
        return results[0]
