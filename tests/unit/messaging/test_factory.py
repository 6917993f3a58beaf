"""The bus of each URL."""

import subprocess
import sys

from tests import base
from watcherlite import exceptions
from watcherlite.messaging import amqp_bus, factory, in_process, settings


def open_bus(url):
    return factory.open_bus(settings.MessagingSettings(url), host='h')


class TestOpenBus(base.TestCase):
    def test_the_scheme_selects_the_bus(self):
        for url, expected in {
            'memory://': in_process.InProcessBus,
            'amqp://127.0.0.1': amqp_bus.AmqpBus,
            'amqps://127.0.0.1': amqp_bus.AmqpBus,
            'rabbit://127.0.0.1,127.0.0.2/v': amqp_bus.AmqpBus,
        }.items():
            bus = open_bus(url)
            self.addCleanup(bus.close, 1)
            self.assertIs(expected, type(bus))

    def test_an_unknown_scheme_is_refused_with_the_known_ones(self):
        error = self.assertRaises(
            exceptions.ConfigurationError, open_bus, 'redis://:secret@host/0'
        )

        self.assertIn("'redis'", str(error))
        self.assertIn('amqp://USER:PASSWORD@HOST:5672/VHOST', str(error))
        self.assertNotIn('secret', str(error))

    def test_an_invalid_url_is_not_quoted(self):
        for url in ('', 'user:secret@host'):
            error = self.assertRaises(exceptions.ConfigurationError, open_bus, url)
            self.assertIn('begin with memory://', str(error))
            self.assertNotIn('secret', str(error))

    def test_a_process_without_a_broker_does_not_load_kombu(self):
        program = (
            'import sys\n'
            'from watcherlite.messaging import factory, settings\n'
            "memory = settings.MessagingSettings('memory://')\n"
            "bus = factory.open_bus(memory, host='h')\n"
            "bus.broadcast({'type': 'x'})\n"
            'bus.close(1)\n'
            "print([name for name in ('kombu', 'amqp') if name in sys.modules])\n"
        )

        done = subprocess.run(
            [sys.executable, '-c', program],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )

        self.assertEqual('[]', done.stdout.strip())
