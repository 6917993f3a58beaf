"""The REST API in a daemon: its listening socket and its server."""

import errno
import logging
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from oslo_config import cfg

from watcherlite import bootstrap, exceptions
from watcherlite.api import authentication, deploy
from watcherlite.api.basic_auth import PasswordFile
from watcherlite.api.errors import Environ, fault_of, respond
from watcherlite.api.policy import AccessPolicy
from watcherlite.api.settings import HTTP_BASIC, KEYSTONE, is_loopback
from watcherlite.cmd.application import application_of
from watcherlite.cmd.http_server import BACKLOG, HttpServer

LOG = logging.getLogger(__name__)


class Api:
    """The API as a daemon serves it: the socket, and the servers on it."""

    def listen(self, conf: cfg.ConfigOpts) -> socket.socket:
        """Return the socket of [api] host and port; the processes share it.

        :raises ConfigurationError: the address cannot be bound, an API without
            authentication would be reachable from other hosts, or another option is
            invalid
        """
        # Otherwise the processes that serve it fail after their start.
        settings = deploy.settings_of(conf)
        if settings.auth_strategy == HTTP_BASIC:
            PasswordFile(settings.password_file)
        if settings.auth_strategy == KEYSTONE:
            authentication.checker(conf)
        AccessPolicy(conf)
        return _listen(conf)

    def serve(
        self, listening: socket.socket, runtime: bootstrap.Runtime
    ) -> 'ApiServer':
        """Serve, and return the server; raises StoreUnavailable."""
        if runtime.worker is None:
            # Clients see the goals before an engine has started.
            runtime.sync()
        server = ApiServer(listening, runtime)
        server.start()
        return server

    def serve_error(
        self,
        listening: socket.socket,
        conf: cfg.ConfigOpts,
        error: exceptions.WatcherliteError,
    ) -> 'ErrorServer':
        """Answer all requests with an error; return the server.

        Otherwise clients wait for as long as the API cannot be served.
        """
        refusal = ErrorServer(listening, conf, error)
        refusal.start()
        return refusal


def _listen(conf: cfg.ConfigOpts) -> socket.socket:
    group = conf.api
    if deploy.settings_of(conf).is_local_only and not is_loopback(group.host):
        raise exceptions.ConfigurationError(
            f'[api] host is {group.host} and auth_strategy is noauth: every '
            'client that can connect has full access. Set auth_strategy to keystone or '
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
    # Connections inherit the option. Without it the body of a response waits 40 ms for
    # the acknowledgement of its headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _server(
    listening: socket.socket,
    application: Callable[..., Iterable[bytes]],
    threads: int,
    conf: cfg.ConfigOpts,
) -> HttpServer:
    group = conf.api
    return HttpServer(
        listening,
        application,
        threads,
        max_connections=group.max_connections,
        max_header_size=group.max_header_size,
        max_body_size=group.max_body_size,
        timeout=group.client_timeout,
    )


class ErrorServer:
    """Answers all requests with the same error, in its own thread.

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

        self._server = _server(listening, application, 1, conf)
        self._thread = threading.Thread(target=self._run, name='refusal', daemon=True)

    def start(self) -> None:
        """Start to respond to requests."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Stop; return whether all requests were answered in time."""
        return self._server.stop(timeout)

    def _run(self) -> None:
        try:
            self._server.prepare()
            self._server.serve()
        except Exception:
            # The next attempt to serve the API reports the error.
            LOG.exception('Cannot respond to requests while the API cannot be served')


class ApiServer:
    """Serves the API in threads of this process.

    :param listening: from `Api.listen`; it stays open when this server stops
    :param runtime: built; its worker, if it has one, is started
    """

    def __init__(self, listening: socket.socket, runtime: bootstrap.Runtime) -> None:
        self._runtime = runtime
        self._services = deploy.services_of(runtime)
        application = application_of(runtime, self._services)
        threads = runtime.conf.api.threads
        self._server = _server(listening, application, threads, runtime.conf)
        self._ready = threading.Event()
        self._failure: Exception | None = None
        # Threads of a daemon thread are daemons: no request keeps the process alive.
        self._thread = threading.Thread(target=self._run, name='api', daemon=True)

    def start(self) -> None:
        """Start to serve, and to receive notice of events of other processes.

        :raises WatcherliteError: the server cannot start, for example without threads
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
        """Accept no more requests; finish those in progress.

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
            # The caller of `start` waits for this.
            self._failure = error
            return
        finally:
            self._ready.set()
        self._server.serve()
