"""amqps: the certificate of a broker is verified, and the traffic is encrypted."""

import ssl

from tests import certificates
from tests.functional.messaging import base, bus_contract, recording
from watcherlite import exceptions
from watcherlite.messaging import connection

RUN = bus_contract.RUN


class TestTls(base.RabbitTestCase):
    def broker(self, name):
        """Return the URL of a broker with a certificate for `name`, and its file."""
        made = self.useFixture(certificates.Certificate(name))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(made.path, made.key)
        _, url = self.proxy(context)
        return url, str(made.path)

    def test_an_untrusted_broker_is_refused(self):
        unknown, _ = self.broker('localhost')
        elsewhere, certificate = self.broker('elsewhere.example')
        without_tls = f'amqps:{self.vhost.url.partition(":")[2]}'
        for message, options in (
            ('CERTIFICATE_VERIFY_FAILED', {'url': unknown}),
            ('Hostname mismatch', {'url': elsewhere, 'tls_ca_file': certificate}),
            ('cannot be reached', {'url': without_tls, 'connect_timeout': 2.0}),
        ):
            connector = connection.Connector(self.messaging(**options), 'tester')
            error = self.assertRaises(exceptions.BrokerUnavailable, connector.open)
            self.assertIn(message, str(error))

    def test_a_trusted_broker_is_accepted(self):
        url, certificate = self.broker('localhost')
        commands = recording.Recorder()
        bus = self.open_bus(url=url, tls_ca_file=certificate)
        bus.start(['applier'], commands.command, print)

        bus.send_command('applier', RUN)
        self.publisher(bus).publish([(f'{self.topic}.info', b'1')], 20)

        self.assertEqual([('applier', RUN)], commands.wait_for(1))
        self.assertEqual(1, bus.counters.connections)
        bus.close(recording.TIMEOUT)

    def test_the_second_host_is_checked_against_its_own_name(self):
        url, certificate = self.broker('localhost')
        begin, _, end = url.partition('localhost:')
        port = end.partition('/')[0]

        connector = connection.Connector(
            self.messaging(
                url=f'{begin}127.0.0.1:{port},localhost:{end}', tls_ca_file=certificate
            ),
            'tester',
        )
        link = connector.open()
        self.addCleanup(link.collect)

        self.assertEqual('localhost', link.address.host)
