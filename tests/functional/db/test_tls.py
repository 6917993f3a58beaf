"""TLS of databases: URLs that require a valid certificate."""

import contextlib
import socket
import ssl
import struct
import threading

import sqlalchemy as sa

from tests import base
from tests.certificates import Certificate
from watcherlite import exceptions
from watcherlite.db.sqlalchemy import engine

#: The greeting of MariaDB: version 10 with TLS (0x0800 of the lower capabilities),
#: protocol 4.1 and authentication plugins.
_GREETING = (
    b'\x0a8.0.0\0'
    + struct.pack('<I', 1)
    + b'a' * 8
    + b'\0'
    + struct.pack('<H', 0xAA00)
    + b'\x21'
    + struct.pack('<HH', 2, 0x0008)
    + b'\x15'
    + b'\0' * 10
    + b'b' * 12
    + b'\0mysql_native_password\0'
)


def _postgresql(connection: socket.socket) -> None:
    """Read the request for TLS."""
    connection.recv(8)
    connection.sendall(b'S')


def _mysql(connection: socket.socket) -> None:
    connection.sendall(struct.pack('<I', len(_GREETING)) + _GREETING)
    connection.recv(36)


class TestTls(base.TestCase):
    def server(self, negotiate, certificate):
        """Return the port of a server, and the messages received within TLS."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate.path, certificate.key)
        listening = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listening.close)
        listening.settimeout(60)
        received = []

        def serve():
            connection, _ = listening.accept()
            connection.settimeout(60)
            with connection, contextlib.suppress(OSError):
                negotiate(connection)
                with context.wrap_socket(connection, server_side=True) as secured:
                    received.append(secured.recv(1000))

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)
        return listening.getsockname()[1], received, thread

    def attempt(self, url, negotiate, shown):
        """Connect; return the error, and whether the user name was sent within TLS."""
        port, received, thread = self.server(negotiate, shown)
        made = engine.make_engine(engine.DatabaseSettings(url.format(port=port)))
        self.addCleanup(made.dispose)
        error = self.assertRaises(
            (exceptions.WatcherliteError, sa.exc.DBAPIError), made.connect
        )
        thread.join()
        return str(error), any(b'teapot' in text for text in received)

    def attempts(self, url, negotiate):
        trusted = self.useFixture(Certificate('localhost'))
        foreign = self.useFixture(Certificate('localhost'))
        elsewhere = self.useFixture(Certificate('elsewhere.example'))
        url = url.replace('CA', str(trusted.path))
        return [
            self.attempt(url, negotiate, trusted)[1],
            self.attempt(url, negotiate, foreign)[1],
            self.attempt(
                url.replace(str(trusted.path), str(elsewhere.path)),
                negotiate,
                elsewhere,
            )[1],
        ]

    def test_postgresql_receives_credentials_only_with_a_valid_certificate(self):
        url = (
            'postgresql+psycopg://teapot:x@localhost:{port}/x'
            '?sslmode=verify-full&sslrootcert=CA'
        )

        self.assertEqual([True, False, False], self.attempts(url, _postgresql))

    def test_mariadb_receives_credentials_only_with_a_valid_certificate(self):
        url = 'mysql+pymysql://teapot:x@localhost:{port}/x?ssl_ca=CA'

        self.assertEqual([True, False, False], self.attempts(url, _mysql))
