"""A client of the API.

It imports `requests`, which is slow to load: commands import this module when they run.
"""

import html
import json
import logging
import re
import socket
import time
import uuid
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO
from urllib import parse

import requests
import urllib3.exceptions

from watcherlite import exceptions
from watcherlite.cli.http.access import CLUSTERING, LATEST, Access
from watcherlite.cmd import exits
from watcherlite.domain.documents.json_values import kind

#: The latest supported microversions, of the infra-optim and the clustering API.
VERSION = '1.8'
CLUSTERING_VERSION = '1.15'
VERSION_HEADER = 'OpenStack-API-Version'
MINIMUM_HEADER = 'OpenStack-API-Minimum-Version'
MAXIMUM_HEADER = 'OpenStack-API-Maximum-Version'
SERVICE = 'infra-optim'
SHOW_DELETED = 'X-Show-Deleted'
#: The header that makes a repeated POST take effect once.
IDEMPOTENCY_KEY = 'Idempotency-Key'
#: Delays before the retries of a POST in seconds, and the statuses to retry.
PAUSES = (0.2, 1.0)
REPEATED = frozenset({502, 503, 504})
#: Connect timeout in seconds.
CONNECT = 10.0
#: Read timeout of a stream in seconds.
SILENCE = 45.0

Query = Mapping[str, Any]
Object = dict[str, Any]
Rows = list[Object]

_INVALID = frozenset({400, 405, 406, 413, 414, 415, 422})
_TAG = re.compile(r'<[^>]*>')


class AnswerLost(exceptions.ApiUnavailable):
    """The request was sent, at least in part, and no response came."""


class Client:
    """A client of one API.

    It requests the latest supported microversion, then an earlier one if the API
    supports only that. Errors have a message of one line, see `_refusal` and
    `_unreachable`. A POST has an idempotency key, and is retried with it if its
    response is lost.
    """

    def __init__(self, access: Access) -> None:
        self.endpoint = access.endpoint
        self.project = access.project
        self._access = access
        of_clusters = access.service == CLUSTERING
        self._service = CLUSTERING if of_clusters else SERVICE
        latest = CLUSTERING_VERSION if of_clusters else VERSION
        self._version = latest if access.version == LATEST else access.version
        self._session = requests.Session()
        self._session.auth = self._authenticate
        self._session.verify = access.verify
        self._session.cert = access.cert
        host = parse.urlsplit(access.endpoint).hostname or ''
        if host in ('localhost', '::1') or host.startswith('127.'):
            # Local addresses need no proxy.
            self._session.trust_env = False
            self._session.proxies = {'http': '', 'https': ''}

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, *path: str) -> Object:
        """Return the object at a path, which is given as unquoted parts."""
        return self._object(self.request('GET', *path))

    def get_object(self, *path: str, query: Query) -> Object:
        """Return the object at a path with a query."""
        return self._object(self.request('GET', *path, query=query))

    def get_rows(self, *path: str) -> Rows:
        """Return the list at a path that is no collection."""
        found = self.request('GET', *path)
        if not isinstance(found, list) or not all(isinstance(r, dict) for r in found):
            raise self._invalid_response(
                f'the response is {kind(found)}, not a list of objects'
            )
        return found

    def post(self, *path: str, body: Any) -> Object:
        """Send a JSON value; return the object in the response, or {}."""
        found = self.request('POST', *path, body=body)
        return {} if found is None else self._object(found)

    def patch(self, *path: str, changes: Sequence[Mapping[str, Any]]) -> Object:
        """Change an object by a JSON patch; return the changed object."""
        return self._object(self.request('PATCH', *path, body=list(changes)))

    def delete(self, *path: str) -> None:
        """Delete an object."""
        self.request('DELETE', *path)

    def list(
        self, *path: str, query: Query, limit: int | None = None, deleted: bool = False
    ) -> tuple[Rows, bool]:
        """Return rows of a collection, and whether there are more.

        :param limit: maximum number of rows; 0: all; None: one page of the API's size
        """
        asked = {**query, 'limit': limit} if limit else query
        return self.collect(self.pages(*path, query=asked, deleted=deleted), limit)

    @staticmethod
    def collect(
        pages: Iterable[tuple[Rows, bool]], limit: int | None
    ) -> tuple[Rows, bool]:
        """Return the rows of pages, and whether there are more.

        :param limit: see `list`
        """
        rows: Rows = []
        for page, more in pages:
            rows += page
            # The first pages of a search may be empty.
            if (limit is None and rows) or (limit and len(rows) >= limit):
                return rows[:limit], more or len(rows) > (limit or len(rows))
        return rows, False

    def pages(
        self, *path: str, query: Query, deleted: bool = False
    ) -> Iterator[tuple[Rows, bool]]:
        """Yield the pages of a collection, and whether there are more."""
        name = next(part for part in reversed(path) if part != 'detail')
        headers = {SHOW_DELETED: 'true'} if deleted else {}
        where, asked = address(*path), query
        while True:
            with self._send('GET', where, query=asked, headers=headers) as got:
                found = self._value(got)
            after = found.get('next') if isinstance(found, dict) else None
            yield self._member(found, name), bool(after)
            if not after:
                return
            where, asked = self._path_of(after), {}

    def request(
        self, method: str, *path: str, query: Query | None = None, body: Any = None
    ) -> Any:
        """Return the JSON value of the response, or None."""
        return self.request_with_location(method, *path, query=query, body=body)[0]

    def request_with_location(
        self, method: str, *path: str, query: Query | None = None, body: Any = None
    ) -> tuple[Any, str]:
        """Return the JSON value of the response or None, and the path in Location or
        ''.
        """
        with self._send(method, address(*path), query=query, body=body) as got:
            where = parse.urlsplit(got.headers.get('Location', '')).path
            return self._value(got), where

    def location(self, *path: str) -> str:
        """Return the path of a redirect, or ''."""
        with self._send('GET', address(*path), sends_on=True) as got:
            return parse.urlsplit(got.headers.get('Location', '')).path

    def stream(
        self, *path: str, query: Query | None = None, after: str | None = None
    ) -> Generator[bytes, None, None] | None:
        """Yield pieces of a stream of server-sent events; None if it has ended.

        :param after: the id of the last received event
        :raises NotFound: the API has no such stream
        """
        headers = {'Accept': 'text/event-stream', 'Cache-Control': 'no-cache'}
        if after is not None:
            headers['Last-Event-ID'] = after
        response = self._send(
            'GET', address(*path), query=query, headers=headers, stream=True
        )
        if response.status_code == 204:
            response.close()
            return None
        media_type = response.headers.get('Content-Type', '')
        if not media_type.startswith('text/event-stream'):
            response.close()
            raise exceptions.NotFound(f'{self.endpoint} offers no event stream')
        return self._chunks(response)

    def _chunks(self, response: requests.Response) -> Generator[bytes, None, None]:
        with response:
            while True:
                try:
                    # `read1` returns available bytes; other methods wait until a buffer
                    # is full.
                    piece = response.raw.read1(65536, decode_content=True)
                except (urllib3.exceptions.HTTPError, OSError) as error:
                    raise self._unavailable(error) from None
                if not piece:
                    return
                yield piece

    def _object(self, found: Any) -> Object:
        if not isinstance(found, dict):
            raise self._invalid_response(
                f'the response is {kind(found)}, not an object'
            )
        return found

    def _member(self, found: Any, name: str) -> Rows:
        if not isinstance(found, dict) or not isinstance(found.get(name), list):
            raise self._invalid_response(f'the response has no {name}')
        rows: Rows = found[name]
        return rows

    def _path_of(self, url: str) -> str:
        """Return the path and the arguments of the next page.

        The scheme, host and prefix in the response may differ behind a proxy; those of
        the endpoint are used.
        """
        parts = parse.urlsplit(url)
        _, slash, rest = parts.path.partition('/v1/')
        if not slash:
            raise self._invalid_response(f'the URL of the next page is {url}')
        return f'/v1/{rest}?{parts.query}'

    def _value(self, got: requests.Response) -> Any:
        """Return the JSON value of a response, or None."""
        media_type = got.headers.get('Content-Type', 'of an unknown type')
        # A plain text is no value.
        if not got.content or media_type.startswith('text/plain'):
            return None
        try:
            return got.json()
        except ValueError:
            raise self._invalid_response(
                f'the response is {media_type}, not JSON'
            ) from None

    def _send(
        self,
        method: str,
        where: str,
        *,
        query: Query | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
        sends_on: bool = False,
    ) -> requests.Response:
        """Return a successful response.

        :param sends_on: a redirect is a success
        """
        renewed = False
        sent = dict(headers or {})
        if method == 'POST':
            sent[IDEMPOTENCY_KEY] = str(uuid.uuid4())
        pauses = iter(PAUSES if method == 'POST' else ())
        while True:
            try:
                response = self._send_once(method, where, query, body, sent, stream)
            except AnswerLost:
                pause = next(pauses, None)
                if pause is None:
                    raise
                time.sleep(pause)
                continue
            if response.status_code in REPEATED:
                pause = next(pauses, None)
                if pause is not None:
                    response.close()
                    time.sleep(pause)
                    continue
            if response.status_code == 406 and self._negotiate_lower(response):
                continue
            if response.status_code == 401 and not renewed and self._access.renew():
                renewed = True
                continue
            if response.status_code >= (400 if sends_on else 300):
                with response:
                    raise self._error_of_response(response)
            return response

    def _send_once(
        self,
        method: str,
        where: str,
        query: Query | None,
        body: Any,
        headers: Mapping[str, str],
        stream: bool,
    ) -> requests.Response:
        sent = {
            'Accept': 'application/json',
            'User-Agent': 'watcherlite',
            VERSION_HEADER: f'{self._service} {self._version}',
            **headers,
        }
        # A stream may be silent until its next keep-alive.
        read_timeout = max(self._access.timeout, SILENCE if stream else 0.0)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent['Content-Type'] = 'application/json'
        try:
            return self._session.request(
                method,
                self.endpoint + where,
                params=query or None,
                data=data,
                headers=sent,
                stream=stream,
                timeout=(min(CONNECT, self._access.timeout), read_timeout),
                # Never send credentials to the target of a redirect.
                allow_redirects=False,
            )
        except (requests.RequestException, OSError) as error:
            raise self._unavailable(error) from None

    def _authenticate(self, request: requests.PreparedRequest) -> Any:
        """Add the credentials; without an auth handler, requests reads ~/.netrc."""
        request.headers.update(self._access.headers())
        return request

    def _negotiate_lower(self, response: requests.Response) -> bool:
        """Switch to an earlier version; return False if there is none in common."""
        offered = response.headers.get(MAXIMUM_HEADER, '')
        if self._access.version != LATEST or not re.fullmatch(r'\d+\.\d+', offered):
            return False
        if _numbers(offered) >= _numbers(self._version):
            return False
        self._version = offered
        return True

    def _error_of_response(
        self, response: requests.Response
    ) -> exceptions.WatcherliteError:
        """Return the error for an unsuccessful response."""
        status = response.status_code
        message = fault_of(response)
        text = message or f'{status} {response.reason}'
        if status < 400:
            there = response.headers.get('Location', 'elsewhere')
            return exits.UsageError(
                f'{self.endpoint} redirects to {there}; use that endpoint instead'
            )
        if status == 401:
            return exceptions.Invalid(
                f'authentication at {self.endpoint} failed: {_sentence(text)} Set '
                '--os-cloud, or --os-auth-type http_basic with OS_USERNAME and '
                'OS_PASSWORD'
            )
        if status == 403:
            return exceptions.Invalid(f'forbidden: {text}')
        if status == 404:
            if message:
                return exceptions.NotFound(text)
            return exceptions.NotFound(
                f'{response.request.path_url} was not found; check that '
                f'{self.endpoint} is the endpoint of the API'
            )
        if status == 406 and response.headers.get(MAXIMUM_HEADER):
            lowest = response.headers.get(MINIMUM_HEADER, '1.0')
            highest = response.headers[MAXIMUM_HEADER]
            if not _numbers(lowest) <= _numbers(self._version) <= _numbers(highest):
                return exceptions.Invalid(
                    f'the API does not support microversion {self._version}; it '
                    f'supports {lowest} to {highest}'
                )
        if status in _INVALID:
            return exceptions.Invalid(text)
        if status == 409:
            return exceptions.Conflict(text)
        if status in (429, 502, 503, 504):
            wait = response.headers.get('Retry-After', '')
            when = f' in {wait} s' if wait.isdecimal() else ' later'
            return exceptions.ApiUnavailable(
                f'{self.endpoint} is unavailable: {_sentence(text)} Retry{when}'
            )
        return exceptions.WatcherliteError(f'{self.endpoint} failed: {text}')

    def _unavailable(self, error: Exception) -> exceptions.ApiUnavailable:
        """Return the error for a missing response."""
        cause = _cause(error)
        if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
            return AnswerLost(f'{self.endpoint} did not respond in time; see --timeout')
        if isinstance(cause, ConnectionRefusedError):
            return exceptions.ApiUnavailable(
                f'connection to {self.endpoint} refused; start the API (for example '
                'with `watcherlite standalone`), or set --endpoint'
            )
        if isinstance(cause, socket.gaierror):
            host = parse.urlsplit(self.endpoint).hostname
            return exceptions.ApiUnavailable(
                f'cannot resolve the host {host}; check the endpoint {self.endpoint}'
            )
        if isinstance(error, requests.exceptions.SSLError):
            return exceptions.ApiUnavailable(
                f'the certificate of {self.endpoint} cannot be verified: {cause}; '
                'specify its CA with --os-cacert'
            )
        return AnswerLost(
            f'{self.endpoint} cannot be reached: {cause or type(cause).__name__}'
        )

    def _invalid_response(self, why: str) -> exceptions.WatcherliteError:
        return exceptions.Invalid(
            f'{self.endpoint} is not the API of watcherlite ({why}); check the endpoint'
        )


def log_to(stream: TextIO) -> None:
    """Log requests and responses: methods, URLs and statuses, but no headers."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter('%(name)s: %(message)s'))
    logger = logging.getLogger('urllib3')
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


def address(*parts: str) -> str:
    """Return a path below the endpoint; UsageError if a part is empty."""
    if not all(part.strip('. /') for part in parts):
        raise exits.UsageError('the name or UUID of an object must not be empty')
    return '/'.join(['/v1', *(parse.quote(part, safe='') for part in parts)])


def fault_of(response: requests.Response) -> str:
    """Return the error message in a response, or ''.

    It is the `faultstring` of the JSON in `error_message`, where other servers put
    HTML, or the message in `error` for stacks and clusters.
    """
    try:
        found = response.json()
        if isinstance(found.get('error'), dict):
            return ' '.join(str(found['error']['message']).split())
        message = found['error_message']
    except (ValueError, KeyError, TypeError, AttributeError):
        return ''
    try:
        inner = json.loads(message) if isinstance(message, str) else message
        text = inner['faultstring']
    except (ValueError, KeyError, TypeError):
        text = html.unescape(_TAG.sub(' ', str(message)))
    return ' '.join(str(text).split())


def _sentence(text: str) -> str:
    return text if text.endswith(('.', '?', '!')) else f'{text}.'


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split('.'))


def _cause(error: BaseException) -> BaseException:
    """Return the root cause of an error of the libraries."""
    while True:
        inner = getattr(error, 'reason', None)
        if not isinstance(inner, BaseException):
            inner = next((a for a in error.args if isinstance(a, BaseException)), None)
        inner = inner or error.__cause__ or error.__context__
        if inner is None or inner is error:
            return error
        error = inner
