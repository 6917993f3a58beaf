"""Connections to a broker on which nothing waits for ever.

A `Link` belongs to the thread that opened it. After an error it is collected, not
closed: closing asks the broker, and a broker in trouble does not answer.
"""

import contextlib
import logging
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Any

import kombu
from kombu.transport import pyamqp

from watcherlite import exceptions
from watcherlite.messaging import addresses, bounded, settings

LOG = logging.getLogger(__name__)

#: What a lost, refused or misused connection raises.
ERRORS: tuple[type[BaseException], ...] = (
    *pyamqp.Transport.connection_errors,
    *pyamqp.Transport.channel_errors,
)
#: Seconds for the courtesies of a connection that is closed.
_CLOSE_TIMEOUT = 1.0


class Link:
    """One open connection."""

    def __init__(self, connection: Any, address: addresses.Address) -> None:
        self.address = address
        self.blocked = False
        #: Seconds between two looks at an idle connection, None for no need.
        self.pulse: float | None = (connection.heartbeat or 0) / 4 or None
        self._connection = connection
        self._beat = time.monotonic()
        connection.on_blocked = self._on_blocked
        connection.on_unblocked = self._on_unblocked
        # The broker knows what was agreed; here it only makes the library look for
        # "blocked" before each message that it publishes, which costs as much as the
        # message, and waits without end when half of a frame is there.
        capabilities = connection.client_properties.get('capabilities', {})
        capabilities.pop('connection.blocked', None)

    def channel(self) -> Any:
        """Open a channel; kombu's, which is py-amqp's and can prepare messages."""
        channel = self._connection.channel()
        # Else bodies are decoded with whatever encoding their sender names.
        channel.auto_decode = False
        return channel

    def limit(self, seconds: float) -> None:
        """Bound every single wait for the broker from now on."""
        self._connection.limit(seconds)

    def gathering(self) -> contextlib.AbstractContextManager[None]:
        """Send what is written inside in large pieces; see `bounded.Connection`."""
        gathering: contextlib.AbstractContextManager[None] = (
            self._connection.gathering()
        )
        return gathering

    def drain(self, timeout: float) -> bool:
        """Handle the next thing that arrives; False if nothing did in `timeout`."""
        try:
            self._connection.drain_events(timeout)
        except TimeoutError as error:
            # ETIMEDOUT is a TimeoutError as well, and the end of the connection.
            if error.errno is not None:
                raise
            return False
        return True

    def look(self) -> None:
        """Handle what has arrived already and keep the heartbeat."""
        while self.drain(bounded.MOMENT):
            continue
        self.beat()

    def beat_is_due(self) -> bool:
        """Whether it is time to send a heartbeat, and to miss those of the broker."""
        return self.pulse is not None and time.monotonic() >= self._beat + self.pulse

    def beat(self) -> None:
        """Do so if it is time; raises when the broker is gone."""
        if self.beat_is_due():
            self._beat = time.monotonic()
            self._connection.heartbeat_tick()

    def close(self) -> None:
        """Take leave of the broker, for a short time only, then drop the connection."""
        try:
            if self._connection.connected:
                self.limit(_CLOSE_TIMEOUT)
                self._connection.close()
        except ERRORS as error:
            LOG.debug('The broker at %s did not say goodbye: %s', self.address, error)
        finally:
            self.collect()

    def collect(self) -> None:
        """Drop the connection without a word."""
        try:
            # A connection that is not there any more comes back when it is touched.
            if self._connection.connected:
                # TLS would wait for the other side to agree.
                self.limit(bounded.MOMENT)
            self._connection.collect()
        except Exception as error:
            LOG.debug('A connection to %s broke while dropped: %s', self.address, error)

    def _on_blocked(self, reason: str) -> None:
        if not self.blocked:
            LOG.warning(
                'The broker at %s takes no messages for now (%s): it is short of '
                'memory or disk.',
                self.address,
                reason,
            )
        self.blocked = True

    def _on_unblocked(self) -> None:
        LOG.info('The broker at %s takes messages again.', self.address)
        self.blocked = False


class Connector:
    """Opens connections to the first host of a broker that answers."""

    def __init__(self, messaging: settings.MessagingSettings, name: str) -> None:
        """Prepare to connect.

        :param name: what the broker shows its operator for these connections
        :raises exceptions.ConfigurationError: if the URL cannot be used
        """
        self._settings = messaging
        self._name = name
        self._addresses = addresses.parse(messaging.url)

    def open(self, timeout: float | None = None) -> Link:
        """Return a new connection to the host that answered last, or the next one.

        :param timeout: seconds for all hosts together, None for the settings' alone
        :raises exceptions.BrokerUnavailable: if no host can be used
        """
        deadline = time.monotonic() + timeout if timeout is not None else None
        errors = []
        for address in self._addresses:
            left = self._settings.connect_timeout
            if deadline is not None:
                left = min(left, deadline - time.monotonic())
            if left <= 0:
                errors.append(f'{address}: no time left to try')
                continue
            try:
                link = Link(self._connect(address, left), address)
                link.limit(self._settings.confirm_timeout)
            except ERRORS as error:
                errors.append(f'{address}: {error or type(error).__name__}')
            else:
                self._prefer(address)
                return link
        # Some brokers end their reasons with a full stop.
        why = '; '.join(errors).rstrip('.')
        raise exceptions.BrokerUnavailable(
            f'The message broker cannot be reached. {why}. Check that it runs and lets '
            'watcherlite in; [messaging] url says where it is.'
        )

    @contextlib.contextmanager
    def opened(self, timeout: float | None = None) -> Iterator[Link]:
        """Open a connection, close it at the end, drop it after an error."""
        link = self.open(timeout)
        try:
            yield link
        except BaseException:
            link.collect()
            raise
        link.close()

    def _prefer(self, address: addresses.Address) -> None:
        index = self._addresses.index(address)
        self._addresses = self._addresses[index:] + self._addresses[:index]

    def _connect(self, address: addresses.Address, timeout: float) -> Any:
        # One host for each kombu connection: its own way of going on to the next
        # checks the second host's certificate against the name of the first.
        client = kombu.Connection(
            hostname=address.host,
            port=address.port,
            userid=address.user,
            password=address.password,
            virtual_host=address.vhost,
            transport=bounded.transport(address.tls),
            ssl=self._tls(address) if address.tls else False,
            connect_timeout=timeout,
            heartbeat=self._settings.heartbeat,
            transport_options={
                'client_properties': {'connection_name': self._name},
                # py-amqp gives a connection up after a second without an answer of
                # the other machine, which is less than a hiccup of a network.
                'socket_settings': {
                    socket.TCP_USER_TIMEOUT: int(self._settings.confirm_timeout * 1000)
                },
            },
        )
        return client.transport.establish_connection()

    def _tls(self, address: addresses.Address) -> dict[str, Any]:
        return {
            'cert_reqs': ssl.CERT_REQUIRED,
            'server_hostname': address.host,
            'ca_certs': self._settings.tls_ca_file or None,
            'certfile': self._settings.tls_cert_file or None,
            'keyfile': self._settings.tls_key_file or None,
        }
