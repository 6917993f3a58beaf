"""HTTP requests of coroutines, limited in time and size, over kept connections.

Imports aiohttp, which is slow: plugins import this module for the first request.

Connections are kept for the life of the event loop, and shared by requests with equal
settings. A request that must not be sent twice gets a connection of its own: when a
kept one turns out to be closed, it is unknown whether the server has read the request.
"""

import asyncio
import dataclasses
import errno
import functools
import os
import socket
import ssl
import time
import types
import urllib.parse
import urllib.request
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

import aiohttp
import certifi
import yarl
from aiohttp import abc

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

MAX_REDIRECTS = 5
#: Seconds for which an unused connection is kept; servers close theirs soon after.
KEEP_ALIVE = 15.0
#: Seconds for which the addresses of a name are kept.
DNS_LIFETIME = 10
#: Bytes of one header or of the status line of a response.
MAX_LINE = 65536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_IDEMPOTENT = frozenset({'GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'})
_CHUNK = 65536
#: Headers that only the author of a request sets.
_SKIPPED = ('Accept', 'Accept-Encoding', 'Content-Type', 'User-Agent')

Kept = TypeVar('Kept')


class ExchangeContext(Protocol):
    """The part of the context of a coroutine that requests use."""

    async def checkpoint(self) -> None:
        """Handle signals."""

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return the shared object of this key."""

    def service(self, name: str) -> AbstractAsyncContextManager[None]:
        """Hold one of the slots of a service."""


class _Progress:
    """The progress of one request.

    :ivar connected: the request may have reached the server
    :ivar on_kept: its connection was used before
    """

    __slots__ = ('connected', 'on_kept')

    def __init__(self) -> None:
        self.connected = False
        self.on_kept = False

    async def send(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send the request; implements a middleware of aiohttp.

        aiohttp itself repeats an idempotent request if the connection is lost. That is
        right for a kept one, which the server may have closed before the request.
        """
        try:
            return await handler(request)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if self.on_kept:
                raise
            raise _ConnectionLostError from error


class _ConnectionLostError(aiohttp.ClientError):
    """The connection was lost after the request was sent."""


async def exchange(
    context: ExchangeContext,
    request: HttpRequestMessage,
    settings: Settings,
    seconds: float,
) -> Answer:
    """Send a request, follow its redirects, and return the response.

    :param seconds: total limit, without the wait for a slot at the service
    :raises ExchangeFailed: with a reason that can be shown
    :raises Cancelled, TimedOut: from the context
    """
    left = seconds
    for _ in range(MAX_REDIRECTS + 1):
        url = _parse(request.url)
        async with context.service(f'{url.raw_host}:{url.port}'):
            await context.checkpoint()
            started = time.monotonic()
            try:
                found = await _exchange_once(
                    context, request, url, settings, left, seconds
                )
            except ExchangeFailed:
                # Perhaps because of the deadline of the action.
                await context.checkpoint()
                raise
            left = max(0.001, left - (time.monotonic() - started))
        if isinstance(found, Answer):
            await context.checkpoint()
            return dataclasses.replace(found, elapsed=seconds - left)
        request = found
    raise ExchangeFailed(
        f'more than {MAX_REDIRECTS} redirects', sent=True, lasting=True
    )


async def _exchange_once(
    context: ExchangeContext,
    request: HttpRequestMessage,
    url: yarl.URL,
    settings: Settings,
    left: float,
    seconds: float,
) -> Answer | HttpRequestMessage:
    """Send a request; return the response, or the request that it redirects to."""
    progress = _Progress()
    try:
        async with asyncio.timeout(left):
            return await _send(context, request, url, settings, progress)
    except TimeoutError as error:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            reason = f'no connection within {settings.connect_timeout:.3g} s'
            raise ExchangeFailed(reason, sent=False) from None
        text = f'no complete response within {round(seconds, 1):g} s'
        raise ExchangeFailed(text, sent=True) from None
    except DestinationRefusedError as refused:
        raise DestinationRefused(refused) from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        lasting = isinstance(error, ValueError) or any(
            isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)
        )
        raise ExchangeFailed(_reason(error), progress.connected, lasting) from None


async def _send(
    context: ExchangeContext,
    request: HttpRequestMessage,
    url: yarl.URL,
    settings: Settings,
    progress: _Progress,
) -> Answer | HttpRequestMessage:
    proxy = _proxy_of(request.url) if settings.proxies_from_environment else None
    if proxy is None:
        url = _checked_literal(url, settings.destinations)
    else:
        outgoing.check_behind_proxy(url.raw_host or '', settings.destinations)
    session = _session(context, settings, request.method, proxy is not None)
    headers = {
        # The body is stored as sent: it is not decompressed.
        'Accept-Encoding': 'identity',
        'User-Agent': 'watcherlite',
        **request.headers,
    }
    if url.raw_user is not None:
        credentials = aiohttp.BasicAuth(url.user or '', url.password or '').encode()
        headers = {n: v for n, v in headers.items() if n.lower() != 'authorization'}
        headers['Authorization'] = credentials
        url = url.with_user(None)
    async with session.request(
        request.method,
        url,
        headers=headers,
        data=request.body,
        allow_redirects=False,
        skip_auto_headers=_SKIPPED,
        proxy=proxy,
        timeout=aiohttp.ClientTimeout(
            total=None, sock_connect=settings.connect_timeout
        ),
        trace_request_ctx=progress,
        middlewares=(progress.send,),
    ) as response:
        following = _redirected(request, response)
        if following is not None:
            # Its body may be long.
            response.close()
            return following
        body = Capture(settings.max_response_size)
        while not body.truncated:
            data = await response.content.read(_CHUNK)
            if not data:
                break
            body.add(data)
        if body.truncated:
            response.close()
        return Answer(
            response.status,
            {name.lower(): _header(value) for name, value in response.headers.items()},
            body,
            _charset(response),
            0.0,
        )


# the kept connections


@dataclasses.dataclass(frozen=True, slots=True)
class _Kept:
    """The settings that the requests of one session share.

    :param authorities: the file of trusted authorities and the time of its last change
    """

    destinations: Destinations | None
    verify: bool
    authorities: tuple[str, int] | None
    reuse: bool
    lookup: outgoing.Lookup


def _session(
    context: ExchangeContext, settings: Settings, method: str, through_proxy: bool
) -> aiohttp.ClientSession:
    """Return the session with the connections for a request."""
    authorities = None
    if isinstance(settings.verify, str):
        changed = os.stat(settings.verify).st_mtime_ns
        authorities = (settings.verify, changed)
    key = _Kept(
        # The proxy is named by the operator, and may be at any address.
        None if through_proxy else settings.destinations,
        settings.verify is not False,
        authorities,
        method in _IDEMPOTENT,
        settings.lookup,
    )
    return context.keep(key, functools.partial(_make_session, key))


# Cached: reading the certificates takes 20 ms, far longer than an exchange.
@functools.lru_cache(maxsize=16)
def _trust(authorities: tuple[str, int] | None) -> ssl.SSLContext:
    """Return a context that trusts the certificates of a file; default: certifi's."""
    path = certifi.where() if authorities is None else authorities[0]
    return ssl.create_default_context(cafile=path)


def _make_session(key: _Kept) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        ssl=_trust(key.authorities) if key.verify else False,
        # The limit is that of services, see `exchange`.
        limit=0,
        resolver=_Resolver(key.destinations, key.lookup),
        ttl_dns_cache=DNS_LIFETIME,
        happy_eyeballs_delay=None,
        **({'keepalive_timeout': KEEP_ALIVE} if key.reuse else {'force_close': True}),
    )
    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(_on_connected)
    trace.on_connection_reuseconn.append(_on_reused)
    return aiohttp.ClientSession(
        connector=connector,
        # Without cookies, and without ~/.netrc and proxies of the environment.
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        max_line_size=MAX_LINE,
        max_field_size=MAX_LINE,
        trace_configs=[trace],
    )


async def _on_connected(
    session: aiohttp.ClientSession, context: types.SimpleNamespace, _: object
) -> None:
    progress: _Progress = context.trace_request_ctx
    progress.connected, progress.on_kept = True, False


async def _on_reused(
    session: aiohttp.ClientSession, context: types.SimpleNamespace, _: object
) -> None:
    progress: _Progress = context.trace_request_ctx
    progress.connected = progress.on_kept = True


class _Resolver(abc.AbstractResolver):
    """Resolves names to the addresses that are allowed.

    Connections use these addresses, so that the checked address is the one connected
    to. Hosts that are addresses are not resolved, see `_checked_literal`.

    :param destinations: the allowed ones; None: all
    """

    def __init__(
        self, destinations: Destinations | None, lookup: outgoing.Lookup
    ) -> None:
        self._destinations = destinations or _ANYWHERE
        self._lookup = lookup

    async def resolve(
        self, host: str, port: int = 0, family: int = socket.AF_INET
    ) -> list[abc.ResolveResult]:
        addresses = await asyncio.get_running_loop().run_in_executor(
            None,
            lambda: outgoing.resolve(
                host, port, self._destinations, family, self._lookup
            ),
        )
        return [
            {
                'hostname': host,
                'host': address,
                'port': port,
                'family': socket.AF_INET6 if ':' in address else socket.AF_INET,
                'proto': 0,
                'flags': socket.AI_NUMERICHOST,
            }
            for address in addresses
        ]

    async def close(self) -> None:
        """Do nothing: it holds nothing."""


#: Rules for the proxies of the operator.
_ANYWHERE = Destinations(refused=())


# URLs


def _parse(url: str) -> yarl.URL:
    """Return a URL as the client reads it."""
    try:
        parsed = yarl.URL(url)
        valid = parsed.scheme in ('http', 'https') and bool(parsed.host)
    except ValueError:
        valid = False
    if not valid:
        reason = f'the request cannot be made: {redact_url(url)} is not a valid URL'
        raise ExchangeFailed(reason, sent=False, lasting=True)
    return parsed


def _checked_literal(url: yarl.URL, destinations: Destinations) -> yarl.URL:
    """Check a host that is an address; names are checked when they are resolved.

    :raises DestinationRefusedError: it is not allowed
    """
    host = url.raw_host or ''
    destinations.check_host(host)
    address = outgoing.literal(host)
    if address is None or outgoing.is_localhost(host):
        return url
    destinations.check_address(host, address)
    # 127.1, for example, is an address for C libraries only.
    return url if address == host or ':' in host else url.with_host(address)


def _proxy_of(url: str) -> str | None:
    """Return the proxy of the environment for a URL, or None."""
    parts = urllib.parse.urlsplit(url)
    found = urllib.request.getproxies()
    if urllib.request.proxy_bypass(parts.netloc.rpartition('@')[2]):
        return None
    return found.get(parts.scheme.lower()) or found.get('all')


def _redirected(
    request: HttpRequestMessage, response: aiohttp.ClientResponse
) -> HttpRequestMessage | None:
    """Return the request for a redirect; None: the response is final."""
    location = response.headers.get('Location')
    if (
        not request.follow_redirects
        or location is None
        or response.status not in _REDIRECTS
    ):
        return None
    url = urllib.parse.urljoin(request.url, _header(location))
    shown = redact_url(url)
    # Parse as the client does: other parsers see another host in http://a\@b/.
    old = _parse(request.url)
    try:
        new = _parse(url)
    except ExchangeFailed:
        raise ExchangeFailed(
            f'redirected to {shown}, which is not HTTP', True, True
        ) from None
    if old.scheme == 'https' and new.scheme == 'http':
        raise ExchangeFailed(f'redirected to {shown}, away from HTTPS', True, True)
    headers = dict(request.headers)
    method, body = request.method, request.body
    if response.status in (301, 302, 303) and method not in ('GET', 'HEAD'):
        method, body = 'GET', None
        headers = {n: v for n, v in headers.items() if n.lower() != 'content-type'}
    if old.origin() != new.origin():
        # Data of a user is meant for the original server only: it is unknown which
        # headers, or parts of a body, are credentials.
        if body:
            raise ExchangeFailed(
                f'redirected to {shown}, another server, to which the body is not sent',
                True,
                True,
            )
        headers = {}
    return dataclasses.replace(
        request, method=method, url=url, headers=headers, body=body
    )


def _charset(response: aiohttp.ClientResponse) -> str:
    """Return the charset of a response; that of old servers without a declaration."""
    text = response.content_type.startswith('text/')
    return response.charset or ('iso-8859-1' if text else 'utf-8')


def _header(value: str) -> str:
    """Return a header as latin-1, in which servers write it."""
    return value.encode('utf-8', 'surrogateescape').decode('latin-1')


# errors

_LOST = (
    aiohttp.ClientConnectionError,
    aiohttp.ClientPayloadError,
    _ConnectionLostError,
)


def _reason(error: Exception) -> str:
    """Return the reportable part of an error: libraries include URLs in their texts."""
    for cause in _causes(error):
        if isinstance(cause, aiohttp.ClientError):
            # Some are subclasses of these errors, without their attributes.
            continue
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f'its certificate is not trusted: {cause.verify_message}'
        if isinstance(cause, ssl.SSLError):
            return f'TLS failed: {cause.reason or type(cause).__name__}'
        if isinstance(cause, socket.gaierror):
            return f'its name cannot be resolved: {cause.strerror}'
    for cause in _causes(error):
        code = getattr(cause, 'errno', None)
        if isinstance(code, int) and code in errno.errorcode:
            return os.strerror(code)
    if isinstance(error, _LOST):
        return 'the connection was closed before the response was complete'
    if isinstance(error, aiohttp.ClientResponseError):
        return 'its response is not valid HTTP'
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
        waiting += [
            getattr(cause, 'os_error', None),
            getattr(cause, 'certificate_error', None),
        ]
