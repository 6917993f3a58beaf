"""amqps: a broker has to show who it is, and what is said is not in clear."""

import shutil
import ssl
import subprocess

import fixtures

from tests.functional.messaging import base, proxy
from tests.unit.messaging import bus_contract, recording
from watcherlite import exceptions
from watcherlite.messaging import addresses, connection

RUN = bus_contract.RUN


class TestTls(base.RabbitTestCase):
    def setUp(self):
        super().setUp()
        if shutil.which('openssl') is None:
            self.skipTest('a certificate needs a usable openssl')
        self.directory = self.useFixture(fixtures.TempDir())

    def broker(self, name):
        """Return the port of a broker with a certificate for `name`, and its file."""
        certificate = self.directory.join(f'{name}.pem')
        key = self.directory.join(f'{name}.key')
        subprocess.run(
            [
                *('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes'),
                *('-days', '1', '-subj', f'/CN={name}', '-out', certificate),
                *('-keyout', key, '-addext', f'subjectAltName=DNS:{name}'),
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        (address,) = addresses.parse(self.vhost.url)
        front = self.useFixture(proxy.Proxy(address.host, address.port, context))
        return front.port, certificate

    def url(self, port):
        (address,) = addresses.parse(self.vhost.url)
        return (
            f'amqps://{address.user}:{address.password}@localhost:{port}/'
            f'{address.vhost}'
        )

    def refusal(self, **options):
        connector = connection.Connector(self.messaging(**options), 'tester')
        return str(self.assertRaises(exceptions.BrokerUnavailable, connector.open))

    def test_all_works_with_a_broker_that_can_be_trusted(self):
        port, certificate = self.broker('localhost')
        commands = recording.Recorder()
        bus = self.open_bus(url=self.url(port), tls_ca_file=certificate)
        bus.start(['applier'], commands.command, print)

        bus.send_command('applier', RUN)
        self.publisher(bus).publish([(f'{self.topic}.info', b'1')], 20)

        self.assertEqual([('applier', RUN)], commands.wait_for(1))
        self.assertEqual(1, bus.counters.connections)
        bus.close(recording.TIMEOUT)

    def test_a_certificate_that_nobody_vouches_for_is_refused(self):
        port, _ = self.broker('localhost')

        self.assertIn('CERTIFICATE_VERIFY_FAILED', self.refusal(url=self.url(port)))

    def test_a_certificate_for_another_host_is_refused(self):
        port, certificate = self.broker('elsewhere.example')

        error = self.refusal(url=self.url(port), tls_ca_file=certificate)

        self.assertIn('Hostname mismatch', error)

    def test_a_broker_without_tls_is_refused(self):
        (address,) = addresses.parse(self.vhost.url)

        error = self.refusal(url=self.url(address.port), connect_timeout=2.0)

        self.assertIn('cannot be reached', error)

    def test_the_second_host_is_checked_against_its_own_name(self):
        port, certificate = self.broker('localhost')
        (address,) = addresses.parse(self.vhost.url)
        credentials = f'{address.user}:{address.password}'

        connector = connection.Connector(
            self.messaging(
                url=f'amqps://{credentials}@127.0.0.1:{port},localhost:{port}/'
                f'{address.vhost}',
                tls_ca_file=certificate,
            ),
            'tester',
        )
        link = connector.open()
        self.addCleanup(link.collect)

        self.assertEqual('localhost', link.address.host)
