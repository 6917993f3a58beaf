"""Notices that a broker has forgotten a consumer.

It happens: when a quorum queue is deleted and declared again at once by somebody
else, RabbitMQ 3.10 cancels no consumer and delivers nothing to it any more.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions


class Hearing:
    """Compares what waits in queues with what comes out of them."""

    def __init__(
        self,
        channel: Any,
        queues: Sequence[str],
        interval: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channel = channel
        self._monotonic = monotonic
        self._interval = interval
        self._waiting = dict.fromkeys(queues, False)
        self._heard: set[str] = set()
        self._next = monotonic() + interval

    def note(self, queue: str) -> None:
        """Take note of a delivery."""
        self._heard.add(queue)

    def check(self) -> None:
        """Ask the broker every `interval` seconds how much waits.

        :raises exceptions.BrokerUnavailable: if something has waited in a queue for
            an interval and nothing came out of it
        """
        now = self._monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        for queue, waited in self._waiting.items():
            ready = self._channel.queue_declare(queue=queue, passive=True).message_count
            if ready and waited and queue not in self._heard:
                raise exceptions.BrokerUnavailable(
                    f'The message broker has {ready} messages in queue {queue} and '
                    'delivers none of them.'
                )
            self._waiting[queue] = ready > 0
        self._heard.clear()
