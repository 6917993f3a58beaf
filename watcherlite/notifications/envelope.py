"""The envelope of oslo.messaging 2.0, as its driver messagingv2 writes it.

It has two layers of JSON: the outer one holds the inner one as text. Keys that begin
with `_context_` are optional for a listener of oslo.messaging; it recognises a repeated
message by `_unique_id`.
"""

import datetime
from json.encoder import encode_basestring_ascii


class Envelope:
    """The envelope of the documents that one host publishes.

    :param publisher: the part of `publisher_id` before the colon: 'infra-optim'
    :param host: the part after it
    """

    def __init__(self, publisher: str, host: str) -> None:
        self._publisher = encode_basestring_ascii(f'{publisher}:{host}')

    def body(
        self,
        event_type: str,
        priority: str,
        message_id: str,
        occurred_at: datetime.datetime,
        payload: str,
    ) -> bytes:
        """Return the body of a message.

        :param message_id: a uuid; repeats of the notification have the same
        :param occurred_at: aware, in UTC
        :param payload: JSON text
        """
        # Consumers of oslo.messaging parse a space and no zone; the digits of the
        # fraction are written even when all are zero.
        timestamp = occurred_at.isoformat(' ', 'microseconds')[:26]
        message = (
            f'{{"message_id":"{message_id}","publisher_id":{self._publisher},'
            f'"event_type":"{event_type}","priority":"{priority}",'
            f'"payload":{payload},"timestamp":"{timestamp}",'
            f'"_unique_id":"{message_id.replace("-", "")}"}}'
        )
        text = encode_basestring_ascii(message)
        return f'{{"oslo.version":"2.0","oslo.message":{text}}}'.encode('ascii')


def routing_keys(topics: tuple[str, ...], priority: str) -> tuple[str, ...]:
    """Return the routing keys, and so the queues, of a priority: one a topic."""
    return tuple(f'{topic}.{priority.lower()}' for topic in topics)
