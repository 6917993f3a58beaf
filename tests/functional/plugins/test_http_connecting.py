"""http_request and a server that never lets it in."""

import contextlib
import errno
import socket

from tests import base
from watcherlite import testing
from watcherlite.plugins.action_types.http_request import HttpRequest

#: So many connections fill any queue of a server that accepts none.
MANY = 16


class TestConnecting(base.TestCase):
    def full(self):
        """Return the port of a server whose queue of connections is full."""
        stack = self.enterContext(contextlib.ExitStack())
        server = stack.enter_context(socket.socket())
        server.bind(('127.0.0.1', 0))
        server.listen(0)
        for _ in range(MANY):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            self.assertEqual(
                errno.EINPROGRESS, waiting.connect_ex(server.getsockname())
            )
        return server.getsockname()[1]

    def test_a_connection_that_is_not_made_in_time_is_given_up(self):
        url = f'http://127.0.0.1:{self.full()}/'

        result = testing.run_action(
            HttpRequest,
            {'method': 'GET', 'url': url, 'connect_timeout': 0.2, 'retries': 0},
        )

        self.assertEqual(
            f'Action failed in execute: GET {url}: no connection within 0.2 s',
            result.status_message,
        )
