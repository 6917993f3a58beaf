"""The declaration of a topology at the broker."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from kombu.transport import pyamqp

from watcherlite import exceptions
from watcherlite.messaging import connection, topology

_PRECONDITION_FAILED = 406
_NOT_FOUND = 404


def declare(channel: Any, desired: topology.Topology) -> None:
    """Declare all exchanges and queues, and bind them.

    :raises exceptions.ConfigurationError: one exists with other properties; a retry
        does not help
    """
    for exchange in desired.exchanges:
        with _explain_errors(f'exchange {exchange.name}', desired.remedy):
            channel.exchange_declare(
                exchange=exchange.name,
                type=exchange.type,
                durable=exchange.durable,
                auto_delete=exchange.auto_delete,
            )
    for queue in desired.queues:
        declare_queue(channel, queue, desired.remedy)


def declare_queue(channel: Any, queue: topology.Queue, remedy: str) -> None:
    """Declare one queue and bind it; raises as `declare` does."""
    with _explain_errors(f'queue {queue.name}', remedy):
        channel.queue_declare(
            queue=queue.name,
            durable=queue.durable,
            exclusive=queue.exclusive,
            auto_delete=queue.auto_delete,
            arguments=dict(queue.arguments),
        )
    for exchange, routing_key in queue.bindings:
        channel.queue_bind(queue=queue.name, exchange=exchange, routing_key=routing_key)


def has_exchange(link: connection.BrokerConnection, name: str) -> bool:
    """Return whether an exchange exists."""
    channel = link.channel()
    try:
        channel.exchange_declare(exchange=name, type='topic', passive=True)
    except pyamqp.Transport.channel_errors as error:
        if getattr(error, 'reply_code', None) != _NOT_FOUND:
            raise
        # The broker has closed the channel.
        return False
    channel.close()
    return True


def count_messages(
    link: connection.BrokerConnection, names: Iterable[str]
) -> dict[str, int]:
    """Return the number of ready messages of each queue that exists."""
    counts: dict[str, int] = {}
    channel = None
    for name in names:
        channel = channel or link.channel()
        try:
            counts[name] = channel.queue_declare(queue=name, passive=True).message_count
        except pyamqp.Transport.channel_errors as error:
            if getattr(error, 'reply_code', None) != _NOT_FOUND:
                raise
            # The broker has closed the channel.
            channel = None
    if channel is not None:
        channel.close()
    return counts


@contextlib.contextmanager
def _explain_errors(what: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except pyamqp.Transport.channel_errors as error:
        if getattr(error, 'reply_code', None) != _PRECONDITION_FAILED:
            raise
        raise exceptions.ConfigurationError(
            f'The message broker already has the {what} with other properties '
            f'({getattr(error, "reply_text", error)}). {remedy}.'
        ) from error
