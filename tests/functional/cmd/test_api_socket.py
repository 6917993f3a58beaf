import socket

from tests import base
from watcherlite import conf, exceptions
from watcherlite.api.settings import is_loopback
from watcherlite.cmd.api_server import Api


class TestListening(base.TestCase):
    """The socket that the processes of an API share."""

    def listen(self, **options):
        configuration = conf.new([], [])
        for name, value in {'port': 0, **options}.items():
            configuration.set_override(name, value, 'api')
        listening = Api().listen(configuration)
        self.addCleanup(listening.close)
        return listening

    def test_it_listens_at_the_configured_address_without_delayed_acknowledgements(
        self,
    ):
        listening = self.listen()
        self.assertEqual('127.0.0.1', listening.getsockname()[0])
        option = listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        self.assertNotEqual(0, option)
        self.assertEqual('127.0.0.1', self.listen(host='localhost').getsockname()[0])

    def test_foreign_address_is_reported(self):
        error = self.assertRaises(
            exceptions.ConfigurationError,
            self.listen,
            host='192.0.2.1',
            noauth_on_any_address=True,
        )

        self.assertIn('cannot listen on [api] host 192.0.2.1, port 0', str(error))

    def test_loopback_addresses_are_detected(self):
        hosts = ('127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost', 'LOCALHOST')
        others = ('0.0.0.0', '::', '192.0.2.1', 'example.org', '')

        self.assertEqual(set(), {host for host in hosts if not is_loopback(host)})
        self.assertEqual(set(), {host for host in others if is_loopback(host)})
