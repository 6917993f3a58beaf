"""Daemons start and work while the cloud does not answer."""

import socket

from tests.acceptance.daemons import STANDALONE
from tests.acceptance.test_api import ApiCase


class TestUnavailableCloud(ApiCase):
    def test_all_daemons_start_and_execute_what_needs_no_cloud(self):
        # It accepts connections, and never answers.
        silent = self.enterContext(socket.create_server(('127.0.0.1', 0)))
        address = f'127.0.0.1:{silent.getsockname()[1]}'

        _, port = self.serve(
            STANDALONE,
            openstack={
                'auth_url': f'http://{address}/v3',
                'username': 'watcherlite',
                'password': 'p',
            },
            data_models={'notification_transport_url': f'amqp://{address}/cloud'},
        )

        self.execute(port)
        self.assertEqual(200, self.ask(port, 'GET', '/v1/strategies')[0])
