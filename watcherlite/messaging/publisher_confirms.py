"""Publisher confirms: many messages are published with one wait for all of them."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from watcherlite import exceptions
from watcherlite.messaging import connection

#: Messages between two polls for frames of the broker.
_POLL = 500
_HEADERS: dict[str, Any] = {}
_PROPERTIES = {False: {'delivery_mode': 1}, True: {'delivery_mode': 2}}


class OutgoingMessage(NamedTuple):
    """A message to publish."""

    exchange: str
    routing_key: str
    body: bytes
    persistent: bool = True


class PublishFailure(NamedTuple):
    """A message that the broker returned or refused."""

    exchange: str
    routing_key: str
    reason: str


class ConfirmChannel:
    """A channel in confirm mode.

    Every message is mandatory: otherwise the broker confirms and drops a message that
    no queue is bound for.
    """

    def __init__(self, link: connection.BrokerConnection) -> None:
        self._link = link
        self.channel = link.channel()
        self.channel.confirm_select()
        self.channel.events['basic_ack'].add(self._on_ack)
        self.channel.events['basic_nack'].add(self._on_nack)
        self.channel.events['basic_return'].add(self._on_return)
        self._next_tag = 1
        self._lowest = 1
        self._waiting: dict[int, OutgoingMessage] = {}
        self._refusals: list[PublishFailure] = []

    def publish(
        self, messages: Sequence[OutgoingMessage], timeout: float
    ) -> list[PublishFailure]:
        """Publish in order, wait for all confirmations, and return the failures.

        :param timeout: seconds for all of it
        :raises exceptions.BrokerUnavailable: the confirmations did not arrive in time
        :raises connection.ERRORS: the connection was lost
        """
        deadline = time.monotonic() + timeout
        self._refusals = []
        self._link.set_timeout(timeout)
        for begin in range(0, len(messages), _POLL):
            if begin:
                self._link.poll()
            if time.monotonic() > deadline:
                raise self._timeout_error(timeout)
            with self._link.buffered_writes():
                self._send(messages[begin : begin + _POLL])
        while self._waiting:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._timeout_error(timeout)
            self._link.drain_events(left)
        return self._refusals

    def _send(self, messages: Sequence[OutgoingMessage]) -> None:
        prepare, send = self.channel.prepare_message, self.channel.basic_publish
        for message in messages:
            self._waiting[self._next_tag] = message
            self._next_tag += 1
            send(
                prepare(
                    message.body,
                    priority=0,
                    content_type='application/json',
                    content_encoding='utf-8',
                    headers=_HEADERS,
                    properties=_PROPERTIES[message.persistent],
                ),
                exchange=message.exchange,
                routing_key=message.routing_key,
                mandatory=True,
            )

    def _timeout_error(self, timeout: float) -> exceptions.BrokerUnavailable:
        blocked = ', it is short of memory or disk' if self._link.blocked else ''
        return exceptions.BrokerUnavailable(
            f'The message broker at {self._link.address} did not confirm '
            f'{len(self._waiting)} messages in {timeout:.3g} s{blocked}.'
        )

    def _confirmed(self, tag: int, multiple: bool) -> list[OutgoingMessage]:
        tags = range(self._lowest, tag + 1) if multiple else (tag,)
        if multiple:
            self._lowest = tag + 1
        return [self._waiting.pop(item) for item in tags if item in self._waiting]

    def _on_ack(self, tag: int, multiple: bool) -> None:
        self._confirmed(tag, multiple)

    def _on_nack(self, tag: int, multiple: bool) -> None:
        for message in self._confirmed(tag, multiple):
            self._refusals.append(
                PublishFailure(
                    message.exchange, message.routing_key, 'the queue is full'
                )
            )

    def _on_return(
        self, error: Exception, exchange: str, routing_key: str, message: Any
    ) -> None:
        self._refusals.append(
            PublishFailure(
                exchange, routing_key, getattr(error, 'reply_text', str(error))
            )
        )
