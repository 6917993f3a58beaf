"""The exchanges and queues, as tables; `declaration.declare` declares them.

A broker refuses the declaration of an existing exchange or queue with other properties:
if a property changes here, the name has to change as well.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import actions
from watcherlite.messaging import settings as messaging_settings

DELIVERY_LIMIT = 5
#: The length limit of a lane queue; more commands are refused, and the sweep finds
#: their work.
LANE_LENGTH = 10_000
#: The number of dead letters that are kept, the newest.
DEAD_LETTERS_LENGTH = 10_000
#: The milliseconds and the number of notifications of services that are kept for a
#: consumer that is busy.
SERVICE_NOTIFICATION_TTL = 300_000
SERVICE_NOTIFICATIONS_LENGTH = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange to declare."""

    name: str
    type: str
    durable: bool = True
    auto_delete: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Queue:
    """A queue to declare, and its bindings: (exchange, routing key)."""

    name: str
    bindings: tuple[tuple[str, str], ...]
    durable: bool = True
    exclusive: bool = False
    auto_delete: bool = False
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Topology:
    """The exchanges and queues to declare before anything is published.

    :param remedy: the advice to an operator when the broker has one of these with
        other properties
    """

    exchanges: tuple[Exchange, ...]
    queues: tuple[Queue, ...]
    remedy: str


def commands(prefix: str) -> str:
    """Return the name of the exchange for commands; the routing key is the lane."""
    return f'{prefix}.commands'


def control(prefix: str) -> str:
    """Return the name of the exchange for broadcasts to all workers."""
    return f'{prefix}.control'


def dead_letters(prefix: str) -> str:
    """Return the name of the exchange and the queue of dead letters."""
    return f'{prefix}.dead_letters'


def lane_queue(prefix: str, lane: str) -> str:
    """Return the name of the queue of a lane, which its workers share."""
    return f'{prefix}.{lane}'


def work(prefix: str) -> Topology:
    """Return the topology of commands and broadcasts."""
    dead = dead_letters(prefix)
    lanes = {
        'x-queue-type': 'quorum',
        'x-delivery-limit': DELIVERY_LIMIT,
        'x-dead-letter-exchange': dead,
        # Dead-lettering at least once requires that a full queue refuses messages;
        # with the default, dropping the oldest, it is at most once.
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
        'x-max-length': LANE_LENGTH,
    }
    return Topology(
        exchanges=(
            Exchange(dead, 'fanout'),
            Exchange(commands(prefix), 'topic'),
            Exchange(control(prefix), 'fanout'),
        ),
        queues=(
            # First, so that a quorum queue never dead-letters a message before its
            # dead-letter queue exists.
            Queue(dead, ((dead, ''),), arguments={'x-max-length': DEAD_LETTERS_LENGTH}),
            *(
                Queue(
                    lane_queue(prefix, lane),
                    ((commands(prefix), lane),),
                    arguments=lanes,
                )
                for lane in actions.LANES
            ),
        ),
        remedy='Delete it on the broker, its messages are hints only, or choose '
        'another prefix',
    )


def control_queue(prefix: str, name: str) -> Queue:
    """Return the queue of one worker, which is deleted with its connection."""
    return Queue(
        f'{control(prefix)}.{name}',
        ((control(prefix), ''),),
        durable=False,
        exclusive=True,
        auto_delete=True,
    )


def service_notification_queue(prefix: str, name: str) -> Queue:
    """Return the queue of one consumer of notifications of services.

    It is deleted with the connection of its consumer, and bounded: if the consumer
    does not keep up, the oldest messages are dropped.
    """
    return Queue(
        f'{prefix}.service_notifications.{name}',
        (),
        durable=False,
        exclusive=True,
        auto_delete=True,
        arguments={
            'x-message-ttl': SERVICE_NOTIFICATION_TTL,
            'x-max-length': SERVICE_NOTIFICATIONS_LENGTH,
        },
    )


def sentinel(
    prefix: str, settings: messaging_settings.NotificationDestination
) -> Queue:
    """Return the sentinel: an empty queue that the broker loses with the others.

    A consumer may declare its queue again before the publisher inspects it; only the
    publisher declares this one. Its name contains whether it is durable, because the
    broker refuses to change that.
    """
    durable = settings.durable_queues or settings.quorum_queue
    kind = 'durable' if durable else 'transient'
    return Queue(f'{prefix}.sentinel.{settings.exchange}.{kind}', (), durable=durable)


def notifications(settings: messaging_settings.NotificationDestination) -> Topology:
    """Return the topology that oslo.messaging declares for these settings.

    The publisher declares the queues as well, so that no notification is lost before
    the first consumer starts.
    """
    durable = settings.durable_queues or settings.quorum_queue
    arguments = {'x-queue-type': 'quorum'} if settings.quorum_queue else {}
    return Topology(
        exchanges=(
            Exchange(settings.exchange, 'topic', durable, settings.auto_delete),
        ),
        queues=tuple(
            Queue(
                key,
                ((settings.exchange, key),),
                durable=durable,
                auto_delete=settings.auto_delete,
                arguments=arguments,
            )
            for key in (
                f'{topic}.{priority}'
                for topic in settings.topics
                for priority in settings.priorities
            )
        ),
        remedy='Set amqp_durable_queues, rabbit_quorum_queue and amqp_auto_delete of '
        '[notifications] as its other users have them, or delete it on the broker',
    )
