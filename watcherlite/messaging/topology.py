"""Exchanges and queues, as tables; `declaring.declare` makes them exist.

A broker refuses to declare again what exists with other properties: whoever changes
a line here gives the exchange or queue a new name as well.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import actions
from watcherlite.messaging import settings as messaging_settings

DELIVERY_LIMIT = 5
#: How many hints may wait; more are refused, and the sweep finds their work.
LANE_LENGTH = 10_000
#: How many dead letters are kept for whoever looks into them, the newest.
DEAD_LETTERS_LENGTH = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange as it has to be."""

    name: str
    type: str
    durable: bool = True
    auto_delete: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Queue:
    """A queue as it has to be, and what it is bound to: (exchange, routing key)."""

    name: str
    bindings: tuple[tuple[str, str], ...]
    durable: bool = True
    exclusive: bool = False
    auto_delete: bool = False
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Topology:
    """What has to exist before anything is sent.

    :param remedy: what an operator can do when the broker has one of these with
        other properties
    """

    exchanges: tuple[Exchange, ...]
    queues: tuple[Queue, ...]
    remedy: str


def commands(prefix: str) -> str:
    """Return the name of the exchange for commands; the routing key is the lane."""
    return f'{prefix}.commands'


def control(prefix: str) -> str:
    """Return the name of the exchange that reaches every worker."""
    return f'{prefix}.control'


def dead_letters(prefix: str) -> str:
    """Return the name of the exchange and of the queue for what was rejected."""
    return f'{prefix}.dead_letters'


def lane_queue(prefix: str, lane: str) -> str:
    """Return the name of the queue that the workers of a lane share."""
    return f'{prefix}.{lane}'


def work(prefix: str) -> Topology:
    """Return what carries commands and broadcasts."""
    dead = dead_letters(prefix)
    lanes = {
        'x-queue-type': 'quorum',
        'x-delivery-limit': DELIVERY_LIMIT,
        'x-dead-letter-exchange': dead,
        # Dead letters are moved at least once only from queues that refuse what is
        # too much; the default, dropping the oldest, makes it at most once.
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
            # A quorum queue may not lose a message whose dead-letter queue is not
            # there yet: that one comes first.
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
    """Return the queue of one worker, which goes when its connection goes."""
    return Queue(
        f'{control(prefix)}.{name}',
        ((control(prefix), ''),),
        durable=False,
        exclusive=True,
        auto_delete=True,
    )


def notifications(settings: messaging_settings.NotificationDestination) -> Topology:
    """Return what oslo.messaging declares for these settings, on both of its sides.

    The publisher declares the queues too, so that nothing is lost that was sent
    before the first consumer came.
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
