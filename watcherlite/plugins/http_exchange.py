"""One HTTP request and its response, limited in time and size, and interruptible.

Imports `requests`, which is slow: `http_request` imports this module for the first
request.

Error texts never contain the query or the credentials of a URL.
"""

import contextlib
import contextvars
import dataclasses
import errno
import logging
import os
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import requests
import requests.adapters
import requests.utils
import urllib3
import urllib3.connection
import urllib3.connectionpool
import urllib3.exceptions
import urllib3.util
import urllib3.util.connection

from watcherlite.destinations import DestinationRefusedError, Destinations
from watcherlite.plugins import outgoing
from watcherlite.plugins.capture import Capture
from watcherlite.plugins.http_messages import (
    Answer,
    DestinationRefused,
    ExchangeFailed,
    HttpRequestMessage,
    Settings,
)
from watcherlite.plugins.redaction import redact_url
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK = 16384
_READ_TIMEOUTS = (requests.ReadTimeout, urllib3.exceptions.ReadTimeoutError)


class SignalSource(Protocol):
    """The source of interruptions of a request: the context of the caller."""

    def checkpoint(self) -> None:
        """Handle signals."""

    def on_signal(
        self, call: Callable[[str], None]
    ) -> contextlib.AbstractContextManager[None]:
        """Call `call` for arriving signals."""


class _Line:
    """The current connection of a request, which another thread can close.

    :ivar destinations: the allowed ones; None: it connects to a proxy of the operator
    """

    def __init__(self) -> None:
        self.destinations: Destinations | None = None
        self.lookup: outgoing.Lookup = socket.getaddrinfo
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_interrupted = False
        self.time_is_over = False

    def hold(self, connection: socket.socket) -> None:
        """Register a connection; close it at once if the request was interrupted
        before.
        """
        with self._lock:
            self._socket = connection
            if self._is_interrupted:
                _shut_down(connection)

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def shut_down(self) -> None:
        """Interrupt readers and writers of the connection."""
        with self._lock:
            self._is_interrupted = True
            if self._socket is not None:
                _shut_down(self._socket)

    def handle_signal(self, signal_name: str) -> None:
        """Close the connection for a signal that ends the action."""
        # A suspended action finishes the current request.
        if signal_name not in (states.SUSPEND, states.RESUME):
            self.shut_down()

    @contextlib.contextmanager
    def close_after(self, seconds: float) -> Iterator[None]:
        """Close the connection after a number of seconds.

        Socket timeouts restart with each byte, so a server that occasionally sends one
        could block a request indefinitely.
        """

        def over() -> None:
            self.time_is_over = True
            self.shut_down()

        timer = threading.Timer(seconds, over)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


#: Connections are created deep inside urllib3; this is how they find their line.
_LINE: contextvars.ContextVar[_Line] = contextvars.ContextVar('line')


def _is_foreign(record: logging.LogRecord) -> bool:
    return _LINE.get(None) is None


# It logs queries, which may contain credentials. We report errors ourselves.
logging.getLogger('urllib3.connectionpool').addFilter(_is_foreign)


def exchange(
    context: SignalSource,
    request: HttpRequestMessage,
    settings: Settings,
    seconds: float,
) -> Answer:
    """Send a request, follow its redirects, and return the response.

    :param seconds: total limit
    :raises ExchangeFailed: with a reason that can be shown
    :raises Cancelled, TimedOut: from the context
    """
    started = time.monotonic()
    line = _Line()
    token = _LINE.set(line)
    try:
        with context.on_signal(line.handle_signal), line.close_after(seconds):
            answer = _follow(context, request, settings, line, seconds, started)
        return answer
    except (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
        ValueError,
    ) as error:
        # Closing the connection looks like any other failure.
        context.checkpoint()
        LOG.debug('No response from %s: %r', redact_url(request.url), error)
        # The socket timeout may expire together with the timer.
        if line.time_is_over or isinstance(error, _READ_TIMEOUTS):
            raise _too_slow(seconds) from None
        sent = line.connected and not isinstance(error, requests.ConnectTimeout)
        lasting = isinstance(error, ValueError) or any(
            isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)
        )
        raise ExchangeFailed(_reason(error, settings), sent, lasting) from None
    finally:
        _LINE.reset(token)


def _follow(
    context: SignalSource,
    request: HttpRequestMessage,
    settings: Settings,
    line: _Line,
    seconds: float,
    started: float,
) -> Answer:
    for _ in range(MAX_REDIRECTS + 1):
        context.checkpoint()
        left = max(0.001, seconds - (time.monotonic() - started))
        with contextlib.closing(_send(request, settings, line, left)) as response:
            following = _redirected(request, response)
            if following is None:
                answer = _read(context, response, settings, started)
                if line.time_is_over:
                    raise _too_slow(seconds)
                return answer
        request = following
    raise ExchangeFailed(
        f'more than {MAX_REDIRECTS} redirects', sent=True, lasting=True
    )


def _send(
    request: HttpRequestMessage, settings: Settings, line: _Line, seconds: float
) -> requests.Response:
    headers = {
        # The body is stored as sent: it is not decompressed.
        'Accept-Encoding': 'identity',
        'User-Agent': 'watcherlite',
        **request.headers,
    }
    prepared = requests.Request(
        request.method, request.url, headers=headers, data=request.body
    ).prepare()
    proxies = (
        requests.utils.get_environ_proxies(request.url)
        if settings.proxies_from_environment
        else {}
    )
    line.destinations, line.lookup = settings.destinations, settings.lookup
    if requests.utils.select_proxy(prepared.url or '', proxies):
        _check_behind_proxy(settings.destinations, prepared.url)
        line.destinations = None
    # Without a session, which would read ~/.netrc, store cookies, and read the body of
    # a redirect, however long it is.
    adapter = _Adapter()
    return adapter.send(
        prepared,
        stream=True,
        timeout=(min(settings.connect_timeout, seconds), seconds),
        verify=settings.verify,
        proxies=proxies,
    )


def _read(
    context: SignalSource,
    response: requests.Response,
    settings: Settings,
    started: float,
) -> Answer:
    body = Capture(settings.max_response_size)
    while not body.truncated:
        context.checkpoint()
        data = response.raw.read1(_CHUNK, decode_content=False)
        if not data:
            break
        body.add(data)
    context.checkpoint()
    return Answer(
        response.status_code,
        {name.lower(): value for name, value in response.headers.items()},
        body,
        requests.utils.get_encoding_from_headers(response.headers) or 'utf-8',
        time.monotonic() - started,
    )


def _redirected(
    request: HttpRequestMessage, response: requests.Response
) -> HttpRequestMessage | None:
    """Return the request for a redirect; None: the response is final."""
    location = response.headers.get('Location')
    if (
        not request.follow_redirects
        or location is None
        or response.status_code not in _REDIRECTS
    ):
        return None
    url = urllib.parse.urljoin(request.url, location)
    # Parse as the client does: other parsers see another host in http://a\@b/.
    old, new = urllib3.util.parse_url(request.url), urllib3.util.parse_url(url)
    if new.scheme not in ('http', 'https') or not new.host:
        raise ExchangeFailed(
            f'redirected to {redact_url(url)}, which is not HTTP', True, True
        )
    if old.scheme == 'https' and new.scheme == 'http':
        raise ExchangeFailed(
            f'redirected to {redact_url(url)}, away from HTTPS', True, True
        )
    headers = dict(request.headers)
    method, body = request.method, request.body
    if response.status_code in (301, 302, 303) and method not in ('GET', 'HEAD'):
        method, body = 'GET', None
        headers = {n: v for n, v in headers.items() if n.lower() != 'content-type'}
    if _origin(old) != _origin(new):
        # Data of a user is meant for the original server only: it is unknown which
        # headers, or parts of a body, are credentials.
        if body:
            raise ExchangeFailed(
                f'redirected to {redact_url(url)}, another server, to which the body '
                'is not sent',
                True,
                True,
            )
        headers = {}
    return dataclasses.replace(
        request, method=method, url=url, headers=headers, body=body
    )


def _origin(url: urllib3.util.Url) -> tuple[str | None, str | None, int | None]:
    port = url.port or {'http': 80, 'https': 443}.get(url.scheme or '')
    return url.scheme, url.host, port


def _check_behind_proxy(destinations: Destinations, url: str | None) -> None:
    host = urllib3.util.parse_url(url or '').host or ''
    try:
        outgoing.check_behind_proxy(host, destinations)
    except DestinationRefusedError as refused:
        raise DestinationRefused(refused) from None


def _too_slow(seconds: float) -> ExchangeFailed:
    return ExchangeFailed(
        f'no complete response within {round(seconds, 1):g} s', sent=True
    )


def _reason(error: Exception, settings: Settings) -> str:
    """Return the reportable part of an error: libraries include URLs in their texts."""
    if isinstance(error, requests.ConnectTimeout):
        return f'no connection within {settings.connect_timeout:.3g} s'
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f'its certificate is not trusted: {cause.verify_message}'
        if isinstance(cause, ssl.SSLError):
            return f'TLS failed: {cause.reason or type(cause).__name__}'
        if isinstance(cause, socket.gaierror):
            return f'its name cannot be resolved: {cause.strerror}'
        if isinstance(cause, OSError) and cause.errno in errno.errorcode:
            return str(cause.strerror)
    if isinstance(error, requests.ConnectionError | urllib3.exceptions.HTTPError):
        return 'the connection was closed before the response was complete'
    return f'the request cannot be made ({type(error).__name__})'


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes; libraries store them in several places."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        cause = waiting.pop(0)
        if not isinstance(cause, BaseException) or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [*cause.args, cause.__cause__, cause.__context__]
        waiting.append(getattr(cause, 'reason', None))


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        # The plain method: that of a TLS socket would reset the state used by the
        # reading thread.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _connect(
    connection: urllib3.connection.HTTPConnection, connect: Callable[[], socket.socket]
) -> socket.socket:
    """Connect to the first allowed address of a host that responds.

    The name is resolved once, so that the checked address is the one connected to.

    :param connect: connects to the current value of `connection.host`
    :raises DestinationRefused: no address is allowed
    """
    line = _LINE.get()
    if line.destinations is None:
        return connect()
    # Including the trailing dot, which `host` omits
    name = connection._dns_host
    failure: Exception | None = None
    try:
        for address in _addresses(connection, name, line.destinations, line.lookup):
            connection.host = address
            try:
                return connect()
            except urllib3.exceptions.HTTPError as error:
                failure = failure or error
    finally:
        connection.host = name
    raise failure or OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH))


def _addresses(
    connection: urllib3.connection.HTTPConnection,
    name: str,
    destinations: Destinations,
    lookup: outgoing.Lookup,
) -> list[str]:
    """Return the allowed addresses of a host, at least one."""
    family = urllib3.util.connection.allowed_gai_family()
    try:
        return outgoing.resolve(
            name.strip('[]'), connection.port, destinations, family, lookup
        )
    except DestinationRefusedError as refused:
        raise DestinationRefused(refused) from None
    except socket.gaierror as error:
        raise urllib3.exceptions.NameResolutionError(name, connection, error) from error


class _HTTPConnection(urllib3.connection.HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _connect(self, super()._new_conn)

    def connect(self) -> None:
        super().connect()
        _LINE.get().hold(self.sock)


class _HTTPSConnection(urllib3.connection.HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _connect(self, super()._new_conn)

    def connect(self) -> None:
        super().connect()
        _LINE.get().hold(self.sock)


class _HTTPPool(urllib3.connectionpool.HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class _HTTPSPool(urllib3.connectionpool.HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection


class _Adapter(requests.adapters.HTTPAdapter):
    """A transport adapter whose connections register with their line."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> urllib3.ProxyManager:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOLS
        return manager


_POOLS = {'http': _HTTPPool, 'https': _HTTPSPool}
