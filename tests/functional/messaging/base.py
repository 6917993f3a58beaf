"""The base case of the tests with a real RabbitMQ."""

import time

import kombu

from tests import base, services
from tests.functional.messaging import proxy, recording
from watcherlite.messaging import addresses, factory, settings, topology


class RabbitTestCase(base.TestCase):
    """Provides a virtual host, and unique names in it for each test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.vhost = services.vhost()

    def setUp(self):
        super().setUp()
        self.prefix = self.vhost.prefix()
        self.notifications = self.vhost.notifications()
        (self.topic,) = self.notifications.topics

    def messaging(self, **options):
        values = {'url': self.vhost.url, 'prefix': self.prefix, 'reconnect_max': 1.0}
        return settings.MessagingSettings(**{**values, **options})

    def open_bus(self, *, on_failure=None, **options):
        """Return a bus, closed at the end of the test."""
        bus = factory.open_bus(
            self.messaging(**options),
            host='tester',
            notifications=self.notifications,
            on_failure=on_failure,
        )
        self.addCleanup(bus.close, recording.TIMEOUT)
        return bus

    def worker(self, **options):
        """Return a bus that consumes, and recorders of its commands and broadcasts."""
        commands, controls = recording.Recorder(), recording.Recorder()
        bus = self.open_bus(**options)
        bus.start(['applier'], commands.command, controls.control)
        self.assertTrue(bus.wait_until_consuming(recording.TIMEOUT))
        return bus, commands, controls

    def publisher(self, bus=None):
        """Return a notification publisher, closed at the end of the test."""
        publisher = (bus or self.open_bus()).notification_publisher()
        self.addCleanup(publisher.close)
        return publisher

    def proxy(self, context=None):
        """Return a proxy in front of the broker, and its URL.

        :param context: an SSLContext, with which the proxy uses TLS
        """
        (address,) = addresses.parse(self.vhost.url)
        between = self.useFixture(proxy.Proxy(address.host, address.port, context))
        scheme, host = ('amqps', 'localhost') if context else ('amqp', '127.0.0.1')
        credentials = f'{address.user}:{address.password}'
        return (
            between,
            f'{scheme}://{credentials}@{host}:{between.port}/{address.vhost}',
        )

    def channel(self):
        """Return a channel to the broker, independent of the product."""
        connection = kombu.Connection(self.vhost.url, connect_timeout=5)
        self.addCleanup(connection.collect)
        channel = connection.channel()
        channel.auto_decode = False
        return channel

    def consume(self, queue, count):
        """Return the first `count` messages of a queue, or fewer after a timeout."""
        channel = self.channel()
        messages = []
        channel.basic_consume(queue=queue, no_ack=True, callback=messages.append)
        deadline = time.monotonic() + recording.TIMEOUT
        while len(messages) < count and time.monotonic() < deadline:
            try:
                channel.connection.drain_events(timeout=deadline - time.monotonic())
            except TimeoutError:
                break
        return messages

    def dead_letters(self, count):
        queue = topology.dead_letters(self.prefix)
        return [message.body for message in self.consume(queue, count)]

    def send_raw(self, exchange, routing_key, body, **properties):
        """Publish any bytes to an exchange."""
        channel = self.channel()
        channel.basic_publish(
            channel.prepare_message(body, **properties),
            exchange=exchange,
            routing_key=routing_key,
        )
        # Any response shows that the broker has processed the preceding frames.
        channel.basic_qos(0, 1, False)
