"""The health checks of Local::Process."""

import socket

from tests.functional.plugins.http_server import Server
from tests.functional.plugins.test_local_process import QUICK, ProcessCase


class TestPlaces(ProcessCase):
    def test_a_port_is_looked_for_at_the_host_that_is_named(self):
        with socket.create_server(('127.0.0.2', 0)) as server:
            port = server.getsockname()[1]
            run = self.made(
                health={'type': 'port', 'host': '127.0.0.2', 'port': port, **QUICK}
            )
            open_port = run.check()
        closed = run.check()

        self.assertEqual('COMPLETE', open_port.status)
        self.assertIn(f'port {port} of 127.0.0.2: Connection refused', closed.reason)

    def test_a_url_is_to_answer_with_one_of_the_statuses_that_are_expected(self):
        statuses = [204, 401, 200]
        server = self.useFixture(
            Server(lambda exchange, received: exchange.answer(statuses.pop(0)))
        )
        run = self.made(
            health={
                'type': 'url',
                'url': server.url,
                'expected_statuses': [204, 401],
                **QUICK,
            }
        )

        checked = [run.check() for _ in range(2)]

        self.assertEqual('COMPLETE', checked[0].status)
        self.assertIn(
            f'is unhealthy: {server.url} answered 200, not 204, 401', checked[1].reason
        )
        self.assertEqual(['GET'] * 3, [request.method for request in server.received])
