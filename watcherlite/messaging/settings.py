"""The settings of the message bus."""

import dataclasses

PRIORITIES = ('info', 'warn', 'error', 'debug', 'critical')


@dataclasses.dataclass(frozen=True, slots=True)
class MessagingSettings:
    """The connection to the broker; times are seconds.

    :param url: see `addresses.parse`; it holds a password, so it is not in the repr
    :param option: the option that has the URL, for messages
    :param heartbeat: the AMQP heartbeat, 0 for none
    :param connect_timeout: for each host
    :param confirm_timeout: for the confirmation of commands and broadcasts, and for
        any other answer of the broker
    :param reconnect_max: the longest wait between two attempts to connect
    :param prefix: the prefix of the names of exchanges and queues; installations that
        share a virtual host each have their own
    :param tls_ca_file: the CA certificates for amqps; empty: those of the system
    :param tls_cert_file: the client certificate, empty for none
    :param tls_key_file: its key, if that is a file of its own
    """

    url: str = dataclasses.field(repr=False)
    heartbeat: int = 15
    connect_timeout: float = 5.0
    confirm_timeout: float = 10.0
    reconnect_max: float = 30.0
    prefix: str = 'watcherlite'
    tls_ca_file: str = ''
    tls_cert_file: str = ''
    tls_key_file: str = ''
    option: str = '[messaging] url'


@dataclasses.dataclass(frozen=True, slots=True)
class NotificationDestination:
    """The exchange and queues of notifications, in the terms of oslo.messaging.

    A consumer that uses oslo.messaging declares the same exchange and queues. The
    broker refuses the second declaration if its properties differ.

    :param exchange: the topic exchange (`control_exchange`)
    :param topics: each has a queue `<topic>.<priority>` for each of `priorities`
    :param durable_queues: `amqp_durable_queues`
    :param quorum_queue: `rabbit_quorum_queue`; such queues are durable as well
    :param auto_delete: `amqp_auto_delete`
    """

    exchange: str = 'watcher'
    topics: tuple[str, ...] = ('versioned_notifications',)
    durable_queues: bool = False
    quorum_queue: bool = False
    auto_delete: bool = False
    priorities: tuple[str, ...] = PRIORITIES


@dataclasses.dataclass(frozen=True, slots=True)
class NotificationSource:
    """A topic of notifications of another service, and the exchange that has it."""

    exchange: str
    topic: str
