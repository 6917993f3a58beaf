"""What the rest of watcherlite asks of a message bus."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain import actions
from watcherlite.domain.receipts import Receipt

#: (lane, command) and (broadcast): called in a thread of the bus, so they return
#: quickly. `exceptions.Invalid` says that the message makes no sense and never will.
#: A command may be given back by a receipt, which says later that it is looked after.
OnCommand = Callable[[str, Mapping[str, Any]], Receipt | None]
OnControl = Callable[[Mapping[str, Any]], object]
OnFailure = Callable[[exceptions.ConfigurationError], None]


@dataclasses.dataclass(slots=True)
class Counts:
    """What a bus has seen so far.

    :param commands: taken by `on_command`
    :param broadcasts: taken by `on_control`
    :param malformed: rejected for good
    :param failed: calls of handlers that raised
    :param dropped: hints that were not sent
    :param connections: times that a connection to consume from was established
    """

    commands: int = 0
    broadcasts: int = 0
    malformed: int = 0
    failed: int = 0
    dropped: int = 0
    connections: int = 0


class NotificationPublisher(Protocol):
    """Publishes notifications; used by one thread."""

    def publish(self, messages: Sequence[tuple[str, bytes]], timeout: float) -> None:
        """Publish (routing key, body) in order and wait until all are safe.

        :param timeout: seconds for all of it, connecting included
        :raises exceptions.BrokerUnavailable: if one of them may not be safe; all are
            to be published again, so that consumers may see some twice
        :raises exceptions.ConfigurationError: if the broker refuses the queues as
            configured; trying again does not help
        """

    def keep_alive(self) -> None:
        """Show the broker that the publisher lives; cheap, called while idle.

        Without a call at least every half heartbeat the broker gives the connection
        up; nothing but time is lost then: the next `publish` makes a new one.
        """

    def close(self) -> None:
        """Give up the connection; bounded, and never an error."""


class Bus(Protocol):
    """Carries hints between workers. It may lose any of them and says so in a log."""

    counts: Counts

    def start(
        self, lanes: Sequence[str], on_command: OnCommand, on_control: OnControl
    ) -> None:
        """Begin to consume the commands of `lanes`, and all broadcasts.

        A command is given to one worker of its lane. It is acknowledged when
        `on_command` has returned, or when the receipt is settled that this returned:
        what a process leaves behind that dies before goes to another one. When
        `on_command` raises, the command is delivered again, and is dead after
        `topology.DELIVERY_LIMIT` repetitions. May be called for several workers of one
        process.
        """

    def wait_until_consuming(self, timeout: float) -> bool:
        """Wait until all that was started consumes; False if `timeout` came first.

        :raises exceptions.ConfigurationError: if the broker refused the queues
        """

    def send_command(self, lane: str, command: Mapping[str, Any]) -> None:
        """Tell one worker of the lane; returns at once whatever the broker does.

        :raises exceptions.Invalid: if there is no such lane, or `command` is none
        """

    def broadcast(self, message: Mapping[str, Any]) -> None:
        """Tell all workers, this process's included; returns at once.

        :raises exceptions.Invalid: if `message` is none
        """

    def notification_publisher(self) -> NotificationPublisher:
        """Return a publisher with a connection of its own; its user closes it."""

    def close(self, timeout: float) -> None:
        """Send what can be sent, stop consuming; within `timeout` seconds.

        May be called again. Commands that were not acknowledged go to others.
        """


def check_lane(lane: str) -> None:
    """Raise exceptions.Invalid if there is no such lane."""
    if lane not in actions.LANES:
        raise exceptions.Invalid(
            f'There is no lane {lane!r}; lanes are {", ".join(actions.LANES)}.'
        )
