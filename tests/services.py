"""The databases, the broker and the programs that functional tests use.

An environment variable names each; the default is that of a default installation. If a
service does not respond, its tests are skipped, or fail if
WATCHERLITE_TEST_REQUIRE_SERVICES is set to 1.
"""

import atexit
import functools
import os
import shutil
import subprocess
import unittest
import uuid
from typing import Any
from urllib import parse as urlparse

import fixtures
import kombu
import sqlalchemy
from kombu.transport import pyamqp
from testtools import content

from watcherlite.messaging import addresses, settings, topology

POSTGRESQL = 'postgresql'
MYSQL = 'mysql'
AMQP = 'amqp'
HAPROXY = 'haproxy'
ZSH = 'zsh'
FISH = 'fish'
CHROMIUM = 'chromium'
CHROMEDRIVER = 'chromedriver'
#: The kinds of service that are programs which the tests start.
PROGRAMS = (HAPROXY, ZSH, FISH, CHROMIUM, CHROMEDRIVER)

_HEADLESS_CHROMIUM = '/usr/bin/chromium-headless-shell'
#: The browser without an interface of its own needs half of the time.
_CHROMIUM = shutil.which(_HEADLESS_CHROMIUM) or '/usr/bin/chromium'
_SERVICES = {
    POSTGRESQL: (
        'PostgreSQL',
        'WATCHERLITE_TEST_POSTGRESQL_URL',
        'postgresql+psycopg://postgres@127.0.0.1/postgres',
    ),
    MYSQL: (
        'MariaDB or MySQL',
        'WATCHERLITE_TEST_MYSQL_URL',
        # PyMySQL loads all CA certificates of the machine for every connection, even to
        # a server without TLS.
        'mysql+pymysql://root@127.0.0.1/?ssl_disabled=true',
    ),
    AMQP: (
        'RabbitMQ',
        'WATCHERLITE_TEST_AMQP_URL',
        'amqp://guest:guest@127.0.0.1:5672//',
    ),
    HAPROXY: ('HAProxy', 'WATCHERLITE_TEST_HAPROXY', '/usr/sbin/haproxy'),
    ZSH: ('zsh', 'WATCHERLITE_TEST_ZSH', '/usr/bin/zsh'),
    FISH: ('fish', 'WATCHERLITE_TEST_FISH', '/usr/bin/fish'),
    CHROMIUM: ('Chromium', 'WATCHERLITE_TEST_CHROMIUM', _CHROMIUM),
    CHROMEDRIVER: (
        'ChromeDriver',
        'WATCHERLITE_TEST_CHROMEDRIVER',
        '/usr/bin/chromedriver',
    ),
}
#: Tests have another home directory, in which rabbitmqctl would not find its cookie.
_ENVIRONMENT = dict(os.environ)
_CONNECT_TIMEOUT = 30
_COMMAND_TIMEOUT = 300
_AMQP_ERRORS = (*pyamqp.Transport.connection_errors, *pyamqp.Transport.channel_errors)


def amqp_url() -> str:
    """Return the URL of a RabbitMQ virtual host in which queues may be created."""
    return _url(AMQP)


def program(kind: str) -> str:
    """Return the path of a program.

    :param kind: one of PROGRAMS
    """
    return _url(kind)


class Database(fixtures.Fixture):
    """An empty database, dropped at the end.

    :ivar url: its URL, including the password

    :param kind: POSTGRESQL or MYSQL
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self.name = f'wl_test_{uuid.uuid4().hex}'
        self.url = ''

    def setUp(self) -> None:
        # Not in _setUp, which would wrap the exception that signals a skip.
        self._server = sqlalchemy.make_url(_url(self._kind))
        super().setUp()

    def _setUp(self) -> None:
        mysql = self._kind == MYSQL
        self._execute(
            f'CREATE DATABASE {self.name}{" CHARACTER SET utf8mb4" if mysql else ""}'
        )
        if not mysql:
            # No test crashes the machine. Without this, each commit waits for the disk.
            self._execute(f'ALTER DATABASE {self.name} SET synchronous_commit TO off')
        self.addCleanup(
            self._execute,
            f'DROP DATABASE {self.name}{"" if mysql else " WITH (FORCE)"}',
        )
        url = self._server.set(database=self.name)
        self.url = url.render_as_string(hide_password=False)

    def _execute(self, statement: str) -> None:
        engine = _engine(self._server).execution_options(isolation_level='AUTOCOMMIT')
        try:
            with engine.connect() as connection:
                connection.execute(sqlalchemy.text(statement))
        finally:
            engine.dispose()


class RabbitVhost(fixtures.Fixture):
    """A virtual host for one test, deleted at the end.

    Without a usable rabbitmqctl it is the configured virtual host, in which `prefix`
    and `notifications` isolate the tests, and each name is cleaned up separately.

    :ivar url: the URL of the virtual host, including the password
    :ivar name: its name, if it was created for the test
    :ivar isolated: whether it was created for the test; `close_connections` needs that
    """

    def __init__(self) -> None:
        super().__init__()
        self.url = ''
        self.isolated = False
        self.name = f'wl_test_{uuid.uuid4().hex}'

    def setUp(self) -> None:
        # Not in _setUp, which would wrap the exception that signals a skip.
        self.url = amqp_url()
        super().setUp()

    def _setUp(self) -> None:
        server = addresses.parse(self.url)[0]
        user, password = (
            urlparse.quote(text, safe='') for text in (server.user, server.password)
        )
        url = (
            f'{addresses.scheme(self.url)}://{user}:{password}@{server.host}:'
            f'{server.port}/{self.name}'
        )
        try:
            rabbitmqctl('add_vhost', self.name)
            self.addCleanup(rabbitmqctl, 'delete_vhost', self.name)
            rabbitmqctl(
                'set_permissions', '-p', self.name, server.user, '.*', '.*', '.*'
            )
            # rabbitmqctl may have managed another broker than that of the URL.
            _check_amqp(url)
        except (*_AMQP_ERRORS, subprocess.SubprocessError) as error:
            self.addDetail('rabbitmqctl', content.text_content(f'not usable: {error}'))
        else:
            self.isolated = True
            self.url = url

    def prefix(self) -> str:
        """Return a unique `MessagingSettings.prefix`."""
        prefix = f'wl_test_{uuid.uuid4().hex}'
        self._clean_up(topology.work(prefix))
        return prefix

    def notifications(self, **options: Any) -> settings.NotificationDestination:
        """Return settings with a unique exchange and topic."""
        name = uuid.uuid4().hex
        notifications = settings.NotificationDestination(
            exchange=f'watcher_{name}', topics=(f'notifications_{name}',), **options
        )
        self._clean_up(topology.notifications(notifications))
        return notifications

    def close_connections(self) -> None:
        """Close all connections to this virtual host at the broker."""
        if not self.isolated:
            raise unittest.SkipTest('closing connections needs a usable rabbitmqctl')
        rabbitmqctl('close_all_connections', '--vhost', self.name, 'closed by a test')

    def _clean_up(self, used: topology.Topology) -> None:
        if not self.isolated:
            self.addCleanup(self._delete, used)

    def _delete(self, used: topology.Topology) -> None:
        with kombu.Connection(self.url, connect_timeout=_CONNECT_TIMEOUT) as connection:
            channel = connection.channel()
            for queue in used.queues:
                channel.queue_delete(queue=queue.name)
            for exchange in used.exchanges:
                channel.exchange_delete(exchange=exchange.name)


@functools.cache
def vhost() -> RabbitVhost:
    """Return a virtual host that the tests of a process share sequentially.

    For tests that use unique names, or that ignore what others have left, because
    creating and deleting one takes seconds.
    """
    shared = RabbitVhost()
    shared.setUp()
    atexit.register(shared.cleanUp)
    return shared


def rabbitmqctl(*arguments: str) -> str:
    """Run rabbitmqctl and return its output; raise as subprocess does."""
    done = subprocess.run(
        ['rabbitmqctl', *arguments],
        check=True,
        capture_output=True,
        timeout=_COMMAND_TIMEOUT,
        text=True,
        env=_ENVIRONMENT,
    )
    return done.stdout


def _url(kind: str) -> str:
    name, variable, default = _SERVICES[kind]
    url = os.environ.get(variable) or default
    problem = _problem(kind, url)
    if problem is None:
        return url
    text = f'{name} is not there ({problem}); {variable} says where it is'
    if os.environ.get('WATCHERLITE_TEST_REQUIRE_SERVICES') == '1':
        raise AssertionError(text)
    raise unittest.SkipTest(text)


@functools.cache
def _problem(kind: str, url: str) -> str | None:
    """Return why the service is not usable, or None; checked once per process."""
    try:
        if kind == AMQP:
            _check_amqp(url)
        elif kind in PROGRAMS:
            _check_program(url)
        else:
            _check_database(url)
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    return None


def _check_amqp(url: str) -> None:
    connection = kombu.Connection(url, connect_timeout=_CONNECT_TIMEOUT)
    connection.transport.establish_connection().close()


def _check_program(path: str) -> None:
    if shutil.which(path) is None:
        raise FileNotFoundError(f'{path} cannot be run')


def _check_database(url: str) -> None:
    engine = _engine(sqlalchemy.make_url(url))
    try:
        engine.connect().close()
    finally:
        engine.dispose()


def _engine(url: sqlalchemy.URL) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(
        url, connect_args={'connect_timeout': _CONNECT_TIMEOUT}
    )
