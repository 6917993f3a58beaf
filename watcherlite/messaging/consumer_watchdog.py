"""The watchdog of a consumer whose deliveries have stopped.

When a quorum queue is deleted and declared again at once by another client, RabbitMQ
3.10 does not cancel its consumers, and delivers nothing to them any more.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions


class ConsumerWatchdog:
    """Compares the ready messages of queues with their deliveries."""

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
        self._delivered: set[str] = set()
        self._next = monotonic() + interval

    def record(self, queue: str) -> None:
        """Record a delivery."""
        self._delivered.add(queue)

    def check(self) -> None:
        """Count the ready messages of the queues, once every `interval` seconds.

        :raises exceptions.BrokerUnavailable: a queue had messages for an interval and
            none of them was delivered
        """
        now = self._monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        for queue, waited in self._waiting.items():
            ready = self._channel.queue_declare(queue=queue, passive=True).message_count
            if ready and waited and queue not in self._delivered:
                raise exceptions.BrokerUnavailable(
                    f'The message broker has {ready} messages in queue {queue} and '
                    'delivers none of them.'
                )
            self._waiting[queue] = ready > 0
        self._delivered.clear()
