"""What the notifications are told by the configuration."""

import dataclasses

from watcherlite import exceptions
from watcherlite.notifications import rules

LATEST = 'latest'
SPEC_VERSION = '1.0'


@dataclasses.dataclass(frozen=True, slots=True)
class NotificationSettings:
    """What is told, to whom, and how; the options of [notifications] explain it.

    :param host: the part of `publisher_id` after the colon
    :param topics: where each goes to; at least one, if anything is sent
    :param level: the least priority that is sent, in the words of the option
        `level`, in any case; '': nothing is
    :param event_prefix: how the event types of plans begin
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
            ('level', self.level.lower(), ('', *rules.LEVELS)),
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
                '[notifications] topics is empty, and what is sent has to go '
                'somewhere; name a topic, or leave level empty to send nothing'
            )

    def sends(self, priority: str) -> bool:
        """Say whether notifications of a priority are sent at this level."""
        if not self.level:
            return False
        return rules.PRIORITIES[priority] >= rules.LEVELS[self.level.lower()]


@dataclasses.dataclass(frozen=True, slots=True)
class RelaySettings:
    """How the relay goes about it. All times in seconds.

    :param batch_size: most events that are published before the confirmations
        are waited for
    :param publish_timeout: how long one batch may take
    :param lease_margin: how much longer than `publish_timeout` the role of the
        relay is taken for, so that a relay never publishes beyond its lease
    :param sweep_interval: how often an idle relay looks for events that nobody
        told it of, and every other worker for the role
    :param linger: how long events may gather, after a batch, for the next one
    :param min_backoff: the shortest time between two tries while the broker or
        the database is away
    :param max_backoff: the longest one
    """

    batch_size: int = 500
    publish_timeout: float = 30.0
    lease_margin: float = 10.0
    sweep_interval: float = 5.0
    linger: float = 0.03
    min_backoff: float = 1.0
    max_backoff: float = 30.0

    @property
    def lease(self) -> float:
        """Return how long the role is taken for.

        Another worker takes over this long after a relay has died.
        """
        return self.publish_timeout + self.lease_margin
