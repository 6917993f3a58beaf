"""The REST API on cheroot: a socket that is made early, a server that stops gently."""

import errno
import logging
import os
import re
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from cheroot import server as cheroot
from cheroot import wsgi
from oslo_config import cfg

from watcherlite import bootstrap, exceptions
from watcherlite.api import deploy, keystone
from watcherlite.api.passwords import PasswordFile
from watcherlite.api.policy import Policy
from watcherlite.api.settings import HTTP_BASIC, KEYSTONE, is_loopback

LOG = logging.getLogger(__name__)

#: Connections that wait for a thread while all are busy.
BACKLOG = 128
#: Seconds that a connection may be silent: between two requests, or within one.
SILENCE = 30
#: Bytes of a body that are read only so that its connection can be used again.
UNREAD = 65536
#: What the header Server says.
SOFTWARE = 'watcherlite'

_LEADING_SLASHES = re.compile(rb'^([A-Z]+ )/{2,}')


class Api:
    """What a daemon has to know in order to serve the API."""

    def listen(self, conf: cfg.ConfigOpts) -> socket.socket:
        """Return the socket of [api] host and port; the processes share it.

        :raises ConfigurationError: it cannot be had, everybody could reach an API
            without authentication, or another option cannot work
        """
        _check(conf)
        return _listen(conf)

    def serve(
        self, listening: socket.socket, runtime: bootstrap.Runtime
    ) -> 'ApiServer':
        """Serve, and return what stops it; raises StoreUnavailable."""
        if runtime.worker is None:
            # Else clients would see no goals before an engine has begun.
            runtime.sync()
        server = ApiServer(listening, runtime)
        server.start()
        return server


def _check(conf: cfg.ConfigOpts) -> None:
    """Raise ConfigurationError for what would keep the API from being served.

    The processes that serve it would only find it when they have been started.
    """
    settings = deploy.settings_of(conf)
    if settings.auth_strategy == HTTP_BASIC:
        PasswordFile(settings.password_file)
    if settings.auth_strategy == KEYSTONE:
        keystone.checker(conf)
    Policy(conf)


def _listen(conf: cfg.ConfigOpts) -> socket.socket:
    group = conf.api
    if deploy.settings_of(conf).only_from_here and not is_loopback(group.host):
        raise exceptions.ConfigurationError(
            f'[api] host is {group.host} and auth_strategy is noauth: everybody who '
            'reaches the machine could do everything. Set auth_strategy to keystone '
            'or http_basic, host to 127.0.0.1, or, when something else keeps '
            'strangers out, noauth_on_any_address to true'
        )
    family = socket.AF_INET6 if ':' in group.host else socket.AF_INET
    try:
        listening = socket.create_server(
            (group.host, group.port), family=family, backlog=BACKLOG
        )
    except OSError as error:
        place = f'[api] host {group.host}, port {group.port}'
        if error.errno == errno.EADDRINUSE:
            raise exceptions.ConfigurationError(
                f'{place} is in use by another program'
            ) from None
        raise exceptions.ConfigurationError(
            f'{place} cannot be listened on: {error.strerror or error}'
        ) from None
    # Connections inherit it. Else the body of an answer waits for the client to
    # acknowledge its headers, which takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


class ApiServer:
    """Serves the API in threads of this process.

    :param listening: from `Api.listen`; it stays open when this server stops
    :param runtime: built; its worker, if it has one, has begun to work
    """

    def __init__(self, listening: socket.socket, runtime: bootstrap.Runtime) -> None:
        self._runtime = runtime
        self._services = deploy.services_of(runtime)
        self._server = HttpServer(
            listening,
            deploy.application_of(runtime, self._services),
            runtime.conf.api.threads,
        )
        self._ready = threading.Event()
        self._failure: Exception | None = None
        # What a daemon thread starts is one too: no request keeps a process alive.
        self._thread = threading.Thread(target=self._run, name='api', daemon=True)

    def start(self) -> None:
        """Begin to serve, and to hear of events that other processes store.

        :raises WatcherliteError: that is not possible, for want of threads perhaps
        """
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise exceptions.WatcherliteError(
                f'The API cannot be served: {self._failure}'
            ) from self._failure
        deploy.wake_streams(self._runtime, self._services.streams)
        host, port = self._server.listening.getsockname()[:2]
        LOG.info('The API is served on %s, port %d', host, port)

    def stop(self, timeout: float) -> bool:
        """Take no more requests, and let those that run be answered.

        :param timeout: seconds
        :returns: whether all were answered in time
        """
        self._services.streams.end()
        self._server.shutdown_timeout = timeout
        # It waits for ever for a thread that does not end, so it is not waited for.
        stopping = threading.Thread(
            target=self._server.stop, name='api stop', daemon=True
        )
        stopping.start()
        stopping.join(timeout)
        ended = not stopping.is_alive()
        if not ended:
            LOG.warning('Some requests were not answered within %g s', timeout)
        return ended

    def _run(self) -> None:
        try:
            self._server.prepare()
        except Exception as error:
            # Whoever has started it waits for that.
            self._failure = error
            return
        finally:
            self._ready.set()
        self._server.serve()


class _FirstLine:
    """Reads the line that a request begins with, as `_Request` wants it."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readline(self, size: int | None = None) -> bytes:
        """Return a line with one slash at the beginning of its path."""
        line: bytes = self._reader.readline(size)
        return _LEADING_SLASHES.sub(rb'\1/', line)


class _Request(cheroot.HTTPRequest):
    """A request of a client that may be careless, or mean no good."""

    rfile: Any

    def read_request_line(self) -> bool:
        """Take `//v1/goals` for a path; to cheroot it begins with a host."""
        reader, self.rfile = self.rfile, _FirstLine(self.rfile)
        try:
            return bool(super().read_request_line())
        finally:
            self.rfile = reader

    def send_headers(self) -> None:
        """Answer; the connection ends with a body that was not read.

        Of a refused request cheroot reads the rest into memory, however long it is,
        and takes what is left of chunks for the next request.
        """
        if self.chunked_read:
            unread = not self.rfile.closed
        else:
            unread = self.rfile.remaining > UNREAD
        if unread:
            self.close_connection = True
        super().send_headers()


class _Connection(cheroot.HTTPConnection):
    """A connection with such requests."""

    RequestHandlerClass = _Request


class HttpServer(wsgi.Server):
    """cheroot on a socket that exists, and whose errors go to our log.

    :param threads: that answer requests
    """

    ConnectionClass = _Connection

    def __init__(
        self,
        listening: socket.socket,
        application: Callable[..., Iterable[bytes]],
        threads: int,
    ) -> None:
        self.listening = listening
        super().__init__(
            listening.getsockname()[:2],
            application,
            numthreads=threads,
            max=threads,
            server_name=SOFTWARE,
            request_queue_size=BACKLOG,
            timeout=SILENCE,
        )
        self.software = SOFTWARE

    def bind(self, family: int, type: int, proto: int = 0) -> socket.socket:  # noqa: A002
        """Take the socket that the processes share."""
        self.socket = self.listening.dup()
        return self.socket

    def prepare(self) -> None:
        """Get ready; systemd hands no socket to this process."""
        os.environ.pop('LISTEN_PID', None)
        super().prepare()
        # Another process may have taken the connection that this one was told of.
        self.socket.settimeout(0)

    def error_log(
        self, msg: str = '', level: int = 20, traceback: bool = False
    ) -> None:
        """Log what went wrong with a connection."""
        LOG.log(level, '%s', msg, exc_info=traceback)
