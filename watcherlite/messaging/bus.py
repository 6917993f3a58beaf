"""The protocols of a message bus, and the log of rejected messages."""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain import actions
from watcherlite.domain.commands import Receipt

LOG = logging.getLogger(__name__)

#: Seconds between two warnings.
INTERVAL = 60.0


class RejectionLog:
    """Logs rejected messages, at most one every INTERVAL seconds; thread-safe.

    Otherwise a client of the broker could fill the disk with warnings. All are
    counted, see `bus.BusCounters`.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._next = monotonic()
        self._omitted = 0

    def report(self, what: str, error: exceptions.Invalid) -> None:
        """Log a rejected message, unless another was logged within INTERVAL.

        :param what: the start of the line: 'A broadcast'
        """
        with self._lock:
            now = self._monotonic()
            if now < self._next:
                self._omitted += 1
                return
            self._next = now + INTERVAL
            omitted, self._omitted = self._omitted, 0
        more = f' ({omitted} more were rejected since the last warning)'
        LOG.warning('%s was rejected: %s%s', what, error, more if omitted else '')


#: Handlers of (lane, command) and of (broadcast). They are called in a thread of the
#: bus, so they return quickly. They raise `exceptions.Invalid` for a malformed message.
#: A handler may return a receipt, and settle it when the command can be acknowledged.
OnCommand = Callable[[str, Mapping[str, Any]], Receipt | None]
OnControl = Callable[[Mapping[str, Any]], object]
OnFailure = Callable[[exceptions.ConfigurationError], None]


@dataclasses.dataclass(slots=True)
class BusCounters:
    """The counters of a bus.

    :param commands: commands that `on_command` accepted
    :param broadcasts: broadcasts that `on_control` accepted
    :param malformed: messages that were rejected and not requeued
    :param failed: calls of handlers that raised
    :param dropped: messages that were not published
    :param connections: connections that were established by consumers
    """

    commands: int = 0
    broadcasts: int = 0
    malformed: int = 0
    failed: int = 0
    dropped: int = 0
    connections: int = 0


class NotificationPublisher(Protocol):
    """A publisher of notifications; used by one thread."""

    def publish(self, messages: Sequence[tuple[str, bytes]], timeout: float) -> None:
        """Publish (routing key, body) in order and wait for all confirmations.

        :param timeout: seconds for all of it, connecting included
        :raises exceptions.BrokerUnavailable: one of them is not confirmed. All are to
            be published again, and consumers may receive some twice.
        :raises exceptions.ConfigurationError: if the broker refuses the queues as
            configured; a retry does not help
        """

    def inspect_queues(self, timeout: float) -> tuple[frozenset[str], frozenset[str]]:
        """Return the routing keys of lost queues, and of those without a message.

        A lost queue is declared again, and returned until `confirm_restored` is called,
        by every publisher of this installation. All queues of which nothing is recorded
        count as lost. It connects if there is no connection.

        :raises exceptions.BrokerUnavailable: the broker cannot be asked
        :raises exceptions.ConfigurationError: as `publish`
        """

    def confirm_restored(self, timeout: float) -> None:
        """Record at the broker that no queue misses a message.

        :raises exceptions.BrokerUnavailable: it is not recorded
        """

    def has_subscribers(self) -> bool:
        """Return whether a notification can reach a consumer, now or later.

        A broker keeps notifications for later consumers.
        """

    def keep_alive(self) -> None:
        """Send a heartbeat if one is due; cheap, called while idle.

        Without a call at least every half heartbeat interval the broker closes the
        connection, and the next `publish` opens a new one.
        """

    def close(self) -> None:
        """Close the connection in a bounded time; it raises nothing."""


class Bus(Protocol):
    """A bus of commands and broadcasts. It may lose any of them, and logs the loss."""

    counters: BusCounters

    def start(
        self, lanes: Sequence[str], on_command: OnCommand, on_control: OnControl
    ) -> None:
        """Consume the commands of `lanes`, and all broadcasts.

        A command is delivered to one worker of its lane. It is acknowledged when
        `on_command` has returned, or when the receipt that it returned is settled.
        Commands that a process leaves unacknowledged go to another one. When
        `on_command` raises, the command is delivered again, and is dead-lettered after
        `topology.DELIVERY_LIMIT` repetitions. May be called for several workers of one
        process.
        """

    def wait_until_consuming(self, timeout: float) -> bool:
        """Wait until all consumers are ready; return False after `timeout` seconds.

        :raises exceptions.ConfigurationError: the broker refused the queues
        """

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        """Send a command to one worker of a lane, without waiting for the broker.

        :raises exceptions.Invalid: the lane or the command is invalid
        """

    def broadcast(self, message: Mapping[str, Any]) -> None:
        """Send a message to all workers, also of this process, without waiting.

        :raises exceptions.Invalid: the message is invalid
        """

    def notification_publisher(self) -> NotificationPublisher:
        """Return a publisher with a connection of its own; its user closes it."""

    def close(self, timeout: float) -> None:
        """Send pending messages and stop consuming, within `timeout` seconds.

        May be called again. Unacknowledged commands go to other workers.
        """


def check_lane(lane: str) -> None:
    """Raise exceptions.Invalid if a lane does not exist."""
    if lane not in actions.LANES:
        raise exceptions.Invalid(
            f'Unknown lane {lane!r}; the lanes are {", ".join(actions.LANES)}.'
        )
