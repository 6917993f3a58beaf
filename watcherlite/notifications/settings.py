"""The settings of notifications and of the relay."""

import dataclasses

from watcherlite import exceptions
from watcherlite.notifications.rules import notification

LATEST = 'latest'
SPEC_VERSION = '1.0'


@dataclasses.dataclass(frozen=True, slots=True)
class NotificationSettings:
    """The options of [notifications] that decide which messages are built.

    :param host: the part of `publisher_id` after the colon
    :param topics: the topics of every notification; at least one, if any are sent
    :param level: the lowest priority that is sent, a value of the option `level` in any
        case; '': none is sent
    :param event_prefix: the prefix of the event types of plans
    :param payload_version: LATEST or '1.0'
    :raises ConfigurationError: a value is none of those
    """

    host: str
    topics: tuple[str, ...] = ('versioned_notifications',)
    level: str = 'info'
    event_prefix: str = 'actionplan'
    payload_version: str = LATEST

    def __post_init__(self) -> None:
        for option, value, allowed in (
            ('level', self.level.lower(), ('', *notification.LEVELS)),
            (
                'action_plan_event_prefix',
                self.event_prefix,
                ('actionplan', 'action_plan'),
            ),
            ('payload_version', self.payload_version, (LATEST, SPEC_VERSION)),
        ):
            if value not in allowed:
                words = ', '.join(repr(word) for word in allowed)
                raise exceptions.ConfigurationError(
                    f'[notifications] {option} is {value!r}; it can be {words}'
                )
        if self.level and not self.topics:
            raise exceptions.ConfigurationError(
                '[notifications] topics is empty; name a topic, or leave level empty '
                'to send no notifications'
            )

    def is_enabled(self, priority: str) -> bool:
        """Return whether notifications of a priority are sent at this level."""
        if not self.level:
            return False
        return (
            notification.PRIORITIES[priority] >= notification.LEVELS[self.level.lower()]
        )


@dataclasses.dataclass(frozen=True, slots=True)
class RelaySettings:
    """The settings of the relay; times are seconds.

    :param batch_size: the largest number of events that are published before the relay
        waits for confirmations
    :param publish_timeout: the time limit of one batch
    :param lease_margin: the time that a lease is longer than `publish_timeout`, so that
        a relay never publishes beyond its lease
    :param sweep_interval: the interval at which an idle relay reads events without a
        hint, and every other worker tries to take the role
    :param linger: the time for which events are collected, after a batch, for the next
    :param min_backoff: the shortest time between two attempts while the broker or the
        database is unavailable
    :param max_backoff: the longest one
    :param redelivery_window: the age up to which messages are published again when
        their queue is lost; 0: none are
    """

    batch_size: int = 500
    publish_timeout: float = 30.0
    lease_margin: float = 10.0
    sweep_interval: float = 5.0
    linger: float = 0.03
    min_backoff: float = 1.0
    max_backoff: float = 30.0
    redelivery_window: float = 0.0

    @property
    def lease(self) -> float:
        """Return the time of a lease.

        Another worker takes the role this long after a relay has died.
        """
        return self.publish_timeout + self.lease_margin
