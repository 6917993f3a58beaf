"""The counts of messages on a bus."""

from tests import base
from tests.bench.query_counters import Counters, CountingBus
from watcherlite.messaging.in_process import InProcessBus


class TestCountingBus(base.TestCase):
    """The counts of messages."""

    def test_messages_are_counted_and_arrive(self) -> None:
        counters, real = Counters(), InProcessBus()
        arrived: list[tuple[str, bytes]] = []
        real.subscribe_notifications(lambda key, body: arrived.append((key, body)))
        bus = CountingBus(real, counters)
        self.addCleanup(bus.close, 5)
        messages = [('a', b'1'), ('b', b'2')]

        bus.notification_publisher().publish(messages, 5)
        bus.broadcast({'type': 'events_stored'})

        self.assertEqual(messages, arrived)
        self.assertEqual(
            {'notifications': 2, 'confirm_waits': 1, 'hints': 1},
            counters.take()['counts'],
        )
