"""Publishers that wait once for the confirms of a batch."""

from collections.abc import Sequence
from typing import Any, Protocol

from tests.bench import connections
from tests.bench.documents import Message
from watcherlite.messaging import declaration, topology
from watcherlite.messaging.settings import NotificationDestination


class Publisher(Protocol):
    """A destination of messages; used by one thread."""

    def publish(self, messages: Sequence[Message]) -> None:
        """Publish messages; return when all are confirmed."""

    def close(self) -> None:
        """Close the connection."""


class ConfirmedPublisher:
    """A publisher to a queue of RabbitMQ without consumers.

    :param durable: whether queues and messages survive a restart of the broker
    """

    def __init__(self, url: str, durable: bool) -> None:
        settings = NotificationDestination(exchange='ceiling', durable_queues=durable)
        self._topology = topology.notifications(settings)
        self._exchange = settings.exchange
        self._link = connections.broker(url)
        # The library would poll for "blocked" before each message, which costs as much
        # as the message.
        capabilities = self._link.client_properties.get('capabilities', {})
        capabilities.pop('connection.blocked', None)
        self._channel = self._link.channel()
        self._channel.confirm_select()
        self._channel.events['basic_ack'].add(self._on_ack)
        self._channel.events['basic_nack'].add(self._refuse)
        self._channel.events['basic_return'].add(self._refuse)
        self._sent = 0
        self._confirmed = 0
        self._single: set[int] = set()
        self._delete()
        declaration.declare(self._channel, self._topology)

    def publish(self, messages: Sequence[Message]) -> None:
        prepare, send = self._channel.prepare_message, self._channel.basic_publish
        for routing_key, body in messages:
            message = prepare(
                body,
                priority=0,
                content_type='application/json',
                content_encoding='utf-8',
                headers={},
                properties={'delivery_mode': 2},
            )
            send(
                message,
                exchange=self._exchange,
                routing_key=routing_key,
                mandatory=True,
            )
        self._sent += len(messages)
        while self._confirmed < self._sent:
            self._link.drain_events(timeout=60)

    def close(self) -> None:
        self._delete()
        self._link.close()

    def _delete(self) -> None:
        channel = self._link.channel()
        for queue in self._topology.queues:
            channel.queue_delete(queue.name)
        for exchange in self._topology.exchanges:
            channel.exchange_delete(exchange.name)
        channel.close()

    def _on_ack(self, tag: int, multiple: bool) -> None:
        # Tags arrive in any order; all tags up to `_confirmed` are confirmed.
        if multiple:
            self._confirmed = max(self._confirmed, tag)
        else:
            self._single.add(tag)
        while self._confirmed + 1 in self._single:
            self._confirmed += 1
            self._single.remove(self._confirmed)

    def _refuse(self, *arguments: Any) -> None:
        raise AssertionError(f'the broker refused a message: {arguments}')


class Consumer:
    """A publisher to a function in this process that counts messages."""

    def __init__(self) -> None:
        self.consumed = 0

    def publish(self, messages: Sequence[Message]) -> None:
        for routing_key, body in messages:
            self._consume(routing_key, body)

    def close(self) -> None:
        """Do nothing; there is no connection."""

    def _consume(self, routing_key: str, body: bytes) -> None:
        self.consumed += 1
