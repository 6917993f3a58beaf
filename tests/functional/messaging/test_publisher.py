"""The publisher of commands without a broker."""

import contextlib
from collections.abc import Iterator
from typing import Any

from tests import base
from tests.bounded import TIMEOUT
from watcherlite.messaging import bus
from watcherlite.messaging.publisher import Publisher
from watcherlite.messaging.publisher_confirms import OutgoingMessage
from watcherlite.messaging.settings import MessagingSettings

MESSAGE = OutgoingMessage('exchange', 'key', b'{}')
URL = 'amqp://127.0.0.1/'


class RefusingConnector:
    """A connector that fails twice, each time after further messages were sent.

    :param further: the number of messages that are sent the second time, while a batch
        of 100 is being published
    """

    def __init__(self, further: int) -> None:
        self._further = [99, further]
        self.publisher: Publisher

    @contextlib.contextmanager
    def session(self) -> Iterator[Any]:
        for _ in range(self._further.pop(0)):
            self.publisher.send(MESSAGE)
        if not self._further:
            self.publisher.stop()
        raise ConnectionRefusedError
        yield


class TestPendingMessages(base.TestCase):
    def test_every_message_that_is_not_published_counts_as_dropped(self) -> None:
        # When the batch is requeued, there is room for all, some or none of it.
        for further in (880, 950, 1000):
            with self.subTest(further):
                connector = RefusingConnector(further)
                counters = bus.BusCounters()
                publisher = Publisher(
                    connector, MessagingSettings(URL), counters, self.fail
                )
                connector.publisher = publisher
                publisher.send(MESSAGE)

                self.assertTrue(publisher.join(TIMEOUT))

                self.assertEqual(100 + further, counters.dropped)
