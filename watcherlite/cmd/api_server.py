"""The REST API in a daemon: a socket that is made early, a server that stops gently."""

import errno
import logging
import socket
import threading
from collections.abc import Iterable
from typing import Any

from oslo_config import cfg

from watcherlite import bootstrap, exceptions
from watcherlite.api import authentication, deploy
from watcherlite.api.basic_auth import PasswordFile
from watcherlite.api.errors import Environ, fault_of, respond
from watcherlite.api.policy import AccessPolicy
from watcherlite.api.settings import HTTP_BASIC, KEYSTONE, is_loopback
from watcherlite.cmd.http_server import BACKLOG, HttpServer

LOG = logging.getLogger(__name__)


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

    def refuse(
        self,
        listening: socket.socket,
        conf: cfg.ConfigOpts,
        error: exceptions.WatcherliteError,
    ) -> 'RefusingServer':
        """Answer every request with an error, and return what stops that.

        Else clients would wait as long as the API cannot be served.
        """
        refusal = RefusingServer(listening, conf, error)
        refusal.start()
        return refusal


def _check(conf: cfg.ConfigOpts) -> None:
    """Raise ConfigurationError for what would keep the API from being served.

    The processes that serve it would only find it when they have been started.
    """
    settings = deploy.settings_of(conf)
    if settings.auth_strategy == HTTP_BASIC:
        PasswordFile(settings.password_file)
    if settings.auth_strategy == KEYSTONE:
        authentication.checker(conf)
    AccessPolicy(conf)


def _listen(conf: cfg.ConfigOpts) -> socket.socket:
    group = conf.api
    if deploy.settings_of(conf).only_from_here and not is_loopback(group.host):
        raise exceptions.ConfigurationError(
            f'[api] host is {group.host} and auth_strategy is noauth: anybody who '
            'can connect has full access. Set auth_strategy to keystone or '
            'http_basic, or host to 127.0.0.1; if access is restricted in another '
            'way, set noauth_on_any_address to true'
        )
    family = socket.AF_INET6 if ':' in group.host else socket.AF_INET
    try:
        listening = socket.create_server(
            (group.host, group.port), family=family, backlog=BACKLOG
        )
    except OSError as error:
        place = f'[api] host {group.host}, port {group.port}'
        if error.errno == errno.EADDRINUSE:
            raise exceptions.ConfigurationError(f'{place} is already in use') from None
        raise exceptions.ConfigurationError(
            f'cannot listen on {place}: {error.strerror or error}'
        ) from None
    # Connections inherit it. Else the body of an answer waits for the client to
    # acknowledge its headers, which takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


class RefusingServer:
    """Answers every request with the same error, in a thread of its own.

    :param listening: from `Api.listen`; it stays open when this stops
    """

    def __init__(
        self,
        listening: socket.socket,
        conf: cfg.ConfigOpts,
        error: exceptions.WatcherliteError,
    ) -> None:
        def application(environ: Environ, start_response: Any) -> Iterable[bytes]:
            return respond(environ, start_response, fault_of(error, ''))

        group = conf.api
        self._server = HttpServer(
            listening,
            application,
            1,
            max_connections=group.max_connections,
            max_header_size=group.max_header_size,
            max_body_size=group.max_body_size,
            timeout=group.client_timeout,
        )
        self._thread = threading.Thread(target=self._run, name='refusal', daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Answer no more; return whether all were answered in time."""
        return self._server.stop(timeout)

    def _run(self) -> None:
        try:
            self._server.prepare()
            self._server.serve()
        except Exception:
            # The next try to serve the API says what is wrong.
            LOG.exception('Cannot respond to requests while the API cannot be served')


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
            max_connections=runtime.conf.api.max_connections,
            max_header_size=runtime.conf.api.max_header_size,
            max_body_size=runtime.conf.api.max_body_size,
            timeout=runtime.conf.api.client_timeout,
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
        ended = self._server.stop(timeout)
        if not ended:
            LOG.warning('Some requests were not completed within %g s', timeout)
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
