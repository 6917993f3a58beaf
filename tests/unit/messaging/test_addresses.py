"""Parsing of broker URLs, and errors without a password."""

from tests import base
from watcherlite import exceptions
from watcherlite.messaging import addresses, settings

CANARY = 'canary'


def address(host, port=5672, vhost='/', tls=False, user='u', password='p'):
    return addresses.Address(host, port, vhost, tls, user, password)


class TestParse(base.TestCase):
    def test_valid_urls_are_parsed(self):
        one, two = address('h1', vhost='v'), address('h2', 5673, vhost='v')
        expected = {
            'amqp://u:p@h1/v': (one,),
            'AMQP://u:p@h1/v': (one,),
            ' rabbit://u:p@h1:5672/v ': (one,),
            'rabbit://u:p@h1:5672,u:p@h2:5673/v': (one, two),
            'amqp://u:p@h1;u:p@h2:5673/v': (one, two),
            'amqp://u:p@h1,h2:5673/v': (one, two),
            'amqp://u:p@h1/v;amqp://u:p@h2:5673/v': (one, two),
            'amqp://u:p@h1/v,rabbit://u:p@h2:5673/v': (one, two),
            'amqps://u:p@h1/v': (address('h1', 5671, 'v', tls=True),),
            'amqp://u:p@h1': (address('h1'),),
            'amqp://u:p@h1/': (address('h1'),),
            'amqp://u:p@h1//': (address('h1'),),
            'amqp://u:p@h1/%2Fv': (address('h1', vhost='/v'),),
            'amqp://u:p@[::1]:5673': (address('::1', 5673),),
            'amqp://h1': (address('h1', user='guest', password='guest'),),
            'amqp://': (address('127.0.0.1', user='guest', password='guest'),),
            'amqp://a%40b:%2F%2C%3B%3A@h1': (
                address('h1', user='a@b', password='/,;:'),
            ),
            'amqp://u:p#?@h1': (address('h1', password='p#?'),),
        }

        self.assertEqual(expected, {url: addresses.parse(url) for url in expected})

    def test_an_unusable_url_is_refused_with_an_example(self):
        for url in (
            f'amqp://u:{CANARY}/x@h1/v',
            f'amqp://u:12/{CANARY}@h1/v',
            f'amqp://u:{CANARY}@h1:port/v',
            f'amqp://u:{CANARY}@h1:99999/v',
            f'amqp://u:{CANARY}@h1:0/v',
            f'amqp://u:{CANARY}@h1/v?heartbeat=3',
            f'amqp://u:1,{CANARY}@h1/v',
            f'amqp://h1,u:{CANARY}@h2/v',
            f'amqp://u:{CANARY}@h1/v;memory://',
            f'amqp://u:{CANARY}@h1/v;amqp://h2/other',
            f'amqp://u:{CANARY}@h1/v;amqps://h2/v',
            f'amqp://u:{CANARY}@h 1/v',
        ):
            error = self.assertRaises(
                exceptions.ConfigurationError, addresses.parse, url
            )
            self.assertIn('amqp://USER:PASSWORD@HOST:5672/VHOST', str(error))
            self.assertNotIn(CANARY, str(error))

    def test_no_text_of_an_address_or_of_settings_has_credentials(self):
        url = f'amqp://{CANARY}:{CANARY}@h1/v'
        (parsed,) = addresses.parse(url)

        self.assertEqual('h1:5672 (virtual host v)', str(parsed))
        self.assertNotIn(CANARY, repr(parsed))
        self.assertNotIn(CANARY, repr(settings.MessagingSettings(url)))
