"""Connections to a broker, with bounded waits.

A `BrokerConnection` belongs to the thread that opened it. After an error it is
collected, not closed: closing asks the broker, and a broker in trouble does not answer.
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
from watcherlite.messaging import addresses, amqp_connection, settings

LOG = logging.getLogger(__name__)

#: The errors of a lost, refused or misused connection.
ERRORS: tuple[type[BaseException], ...] = (
    *pyamqp.Transport.connection_errors,
    *pyamqp.Transport.channel_errors,
)
#: Seconds for the handshake of a connection that is closed.
_CLOSE_TIMEOUT = 1.0


class BrokerConnection:
    """One open connection."""

    def __init__(
        self, connection: amqp_connection.Connection, address: addresses.Address
    ) -> None:
        self.address = address
        self.blocked = False
        #: Seconds between two polls of an idle connection, None without heartbeats.
        self.poll_interval: float | None = (connection.heartbeat or 0) / 4 or None
        self._connection = connection
        self._beat = time.monotonic()
        connection.on_blocked = self._on_blocked
        connection.on_unblocked = self._on_unblocked
        # The capability is agreed with the broker. In py-amqp it causes a check for
        # "blocked" before each publish, which costs as much as the publish, and waits
        # without end when half of a frame has arrived.
        capabilities = connection.client_properties.get('capabilities', {})
        capabilities.pop('connection.blocked', None)

    def channel(self) -> Any:
        """Open a channel of kombu, which can prepare messages."""
        channel = self._connection.channel()
        # Otherwise bodies are decoded with the encoding that their publisher names.
        channel.auto_decode = False
        return channel

    def set_timeout(self, seconds: float) -> None:
        """Set the timeout of each read and write from now on."""
        self._connection.set_timeout(seconds)

    def buffered_writes(self) -> contextlib.AbstractContextManager[None]:
        """Buffer the writes of this block; see `amqp_connection.Connection`."""
        return self._connection.buffered_writes()

    def drain_events(self, timeout: float) -> bool:
        """Handle the next frame; return False if none arrives in `timeout` seconds."""
        try:
            self._connection.drain_events(timeout)
        except TimeoutError as error:
            # ETIMEDOUT is a TimeoutError as well, and means a lost connection.
            if error.errno is not None:
                raise
            return False
        return True

    def poll(self) -> None:
        """Handle the frames that have arrived, and send a heartbeat if one is due."""
        while self.drain_events(amqp_connection.MIN_TIMEOUT):
            continue
        self.heartbeat_if_due()

    def is_heartbeat_due(self) -> bool:
        """Return whether a heartbeat is to be sent, and those of the broker checked."""
        return (
            self.poll_interval is not None
            and time.monotonic() >= self._beat + self.poll_interval
        )

    def heartbeat_if_due(self) -> None:
        """Send a heartbeat if one is due; raise if the broker does not answer."""
        if self.is_heartbeat_due():
            self._beat = time.monotonic()
            self._connection.heartbeat_tick()

    def close(self) -> None:
        """Close the connection, with a short timeout for the answer of the broker."""
        try:
            if self._connection.connected:
                self.set_timeout(_CLOSE_TIMEOUT)
                self._connection.close()
        except ERRORS as error:
            LOG.debug('Closing the connection to %s failed: %s', self.address, error)
        finally:
            self.collect()

    def collect(self) -> None:
        """Drop the connection without a closing handshake."""
        try:
            # A closed connection would be opened again by this.
            if self._connection.connected:
                # TLS waits for the closing alert of the broker.
                self.set_timeout(amqp_connection.MIN_TIMEOUT)
            self._connection.collect()
        except Exception as error:
            LOG.debug('Dropping the connection to %s failed: %s', self.address, error)

    def _on_blocked(self, reason: str) -> None:
        if not self.blocked:
            LOG.warning(
                'The message broker at %s blocks publishers (%s): it is short of '
                'memory or disk.',
                self.address,
                reason,
            )
        self.blocked = True

    def _on_unblocked(self) -> None:
        LOG.info('The message broker at %s unblocked publishers.', self.address)
        self.blocked = False


class Connector:
    """Connects to the first host of a broker that answers."""

    def __init__(self, messaging: settings.MessagingSettings, name: str) -> None:
        """Prepare to connect.

        :param name: the connection name that the broker shows to its operator
        :raises exceptions.ConfigurationError: the URL is invalid
        """
        self._settings = messaging
        self._name = name
        self._addresses = addresses.parse(messaging.url, messaging.option)

    def open(self, timeout: float | None = None) -> BrokerConnection:
        """Return a new connection to the host that answered last, or the next one.

        :param timeout: seconds for all hosts together, None for the settings' alone
        :raises exceptions.BrokerUnavailable: no host can be reached
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
                link = BrokerConnection(self._connect(address, left), address)
                link.set_timeout(self._settings.confirm_timeout)
            except ERRORS as error:
                errors.append(f'{address}: {error or type(error).__name__}')
            else:
                self._prefer(address)
                return link
        # Some reasons of brokers end with a full stop.
        why = '; '.join(errors).rstrip('.')
        raise exceptions.BrokerUnavailable(
            f'The message broker cannot be reached. {why}. Check that it runs and '
            f'accepts the credentials of {self._settings.option}.'
        )

    @contextlib.contextmanager
    def session(self, timeout: float | None = None) -> Iterator[BrokerConnection]:
        """Open a connection; close it at the end, and drop it after an error."""
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
        # One host for each kombu connection: the failover of kombu checks the
        # certificate of the second host against the name of the first.
        client = kombu.Connection(
            hostname=address.host,
            port=address.port,
            userid=address.user,
            password=address.password,
            virtual_host=address.vhost,
            transport=amqp_connection.transport(address.tls),
            ssl=self._tls(address) if address.tls else False,
            connect_timeout=timeout,
            heartbeat=self._settings.heartbeat,
            transport_options={
                'client_properties': {'connection_name': self._name},
                # The default of py-amqp is one second, which is less than a short
                # network outage.
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
