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
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, TextIO
from urllib import parse

import requests
import urllib3.exceptions

from watcherlite import exceptions
from watcherlite.cli.http.access import CLUSTERING, LATEST, Access
from watcherlite.cmd import exits
from watcherlite.domain.json_values import kind

#: The latest microversion that the commands know how to show; that of clusters.
VERSION = '1.7'
CLUSTERING_VERSION = '1.15'
VERSION_HEADER = 'OpenStack-API-Version'
MINIMUM_HEADER = 'OpenStack-API-Minimum-Version'
MAXIMUM_HEADER = 'OpenStack-API-Maximum-Version'
SERVICE = 'infra-optim'
SHOW_DELETED = 'X-Show-Deleted'
#: Has a request that creates be carried out once, however often it is sent.
IDEMPOTENCY_KEY = 'Idempotency-Key'
#: Seconds before each repeat of a request that creates, and what it is repeated after.
PAUSES = (0.2, 1.0)
REPEATED = frozenset({502, 503, 504})
#: Seconds for a connection to come about.
CONNECT = 10.0
#: Seconds for which a stream may be silent.
SILENCE = 45.0

Query = Mapping[str, Any]
Object = dict[str, Any]
Rows = list[Object]

_INVALID = frozenset({400, 405, 406, 413, 414, 415, 422})
_TAG = re.compile(r'<[^>]*>')


class NotAllowed(exceptions.Invalid):
    """The API rejects the credentials, or forbids the request."""


class AnswerLost(exceptions.ApiUnavailable):
    """The request was sent, or a part of it, and no answer came."""


class Client:
    """Talks to one API.

    It requests the latest microversion that it knows, then an earlier one
    if the API supports only that. Failures are raised as errors with a text of one
    line: see `_refusal` and `_unreachable`. A POST has an idempotency key, and is
    repeated with it when its response is lost.
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
            # No proxy leads to this machine
            self._session.trust_env = False
            self._session.proxies = {'http': '', 'https': ''}

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, *path: str) -> Object:
        """Return the object at a path: its parts, quoted here."""
        return self._object(self._call('GET', address(*path)))

    def get_rows(self, *path: str) -> Rows:
        """Return a list at a path that is no collection."""
        found = self._call('GET', address(*path))
        if not isinstance(found, list) or not all(isinstance(r, dict) for r in found):
            raise self._foreign(f'the response is {kind(found)}, not a list of objects')
        return found

    def post(self, *path: str, body: Any) -> Object:
        """Send a JSON value; return what it made, {} if nothing is said of it."""
        found = self._call('POST', address(*path), body=body)
        return {} if found is None else self._object(found)

    def patch(self, *path: str, changes: Sequence[Mapping[str, Any]]) -> Object:
        """Change an object by a JSON patch; return it as it is then."""
        return self._object(self._call('PATCH', address(*path), body=list(changes)))

    def delete(self, *path: str) -> None:
        """Delete an object."""
        self._call('DELETE', address(*path))

    def list(
        self,
        *path: str,
        query: Query,
        limit: int | None = None,
        deleted: bool = False,
    ) -> tuple[Rows, bool]:
        """Return rows of a collection, and whether there are more.

        :param limit: so many; 0: all; None: those of one page, as long as the API
            makes it
        """
        asked = {**query, 'limit': limit} if limit else query
        rows: Rows = []
        for page, more in self.pages(*path, query=asked, deleted=deleted):
            rows += page
            if limit is None or (limit and len(rows) >= limit):
                return rows[:limit], more or len(rows) > (limit or len(rows))
        return rows, False

    def pages(
        self, *path: str, query: Query, deleted: bool = False
    ) -> Iterator[tuple[Rows, bool]]:
        """Yield the pages of a collection, each with whether there are more."""
        name = next(part for part in reversed(path) if part != 'detail')
        found = self._call('GET', address(*path), query=query, deleted=deleted)
        while True:
            after = found.get('next') if isinstance(found, dict) else None
            yield self._member(found, name), bool(after)
            if not after:
                return
            found = self._call('GET', self._relative(after), deleted=deleted)

    def ask(
        self, method: str, *path: str, query: Query | None = None, body: Any = None
    ) -> Any:
        """Return the JSON value that a request is answered with, None for none."""
        return self._call(method, address(*path), query=query, body=body)

    def begin(
        self, method: str, *path: str, query: Query | None = None, body: Any = None
    ) -> tuple[Any, str]:
        """Return what a request is answered with, None for nothing; and where to look.

        The second is the path that the answer names, '' if it names none.
        """
        with self._send(method, address(*path), query=query, body=body) as got:
            where = parse.urlsplit(got.headers.get('Location', '')).path
            return self._value(got), where

    def location(self, *path: str) -> str:
        """Return the path that an address sends to, '' if it sends nowhere."""
        with self._send('GET', address(*path), sends_on=True) as got:
            return parse.urlsplit(got.headers.get('Location', '')).path

    def stream(
        self, *path: str, query: Query | None = None, after: str | None = None
    ) -> Generator[bytes, None, None] | None:
        """Return server-sent events as they come, in pieces of any length.

        None if all of them are known and there will be no more.

        :param after: the id of the last one that was received
        :raises NotFound: there is no stream
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
            raise exceptions.NotFound(f'{self.endpoint} has no event stream for it')
        return self._pieces(response)

    def _pieces(self, response: requests.Response) -> Generator[bytes, None, None]:
        with response:
            while True:
                try:
                    # What has come, however little: the others wait for a buffer
                    piece = response.raw.read1(65536, decode_content=True)
                except (urllib3.exceptions.HTTPError, OSError) as error:
                    raise self._unreachable(error) from None
                if not piece:
                    return
                yield piece

    def _object(self, found: Any) -> Object:
        if not isinstance(found, dict):
            raise self._foreign(f'the response is {kind(found)}, not an object')
        return found

    def _member(self, found: Any, name: str) -> Rows:
        if not isinstance(found, dict) or not isinstance(found.get(name), list):
            raise self._foreign(f'the response has no {name}')
        rows: Rows = found[name]
        return rows

    def _relative(self, url: str) -> str:
        """Return the address of a next page as it stands behind the endpoint.

        Its scheme, host and mount are those that the API believes to have; how it
        was reached is known better here.
        """
        parts = parse.urlsplit(url)
        _, slash, rest = parts.path.partition('/v1/')
        if not slash:
            raise self._foreign(f'the URL of the next page is {url}')
        return f'/v1/{rest}?{parts.query}'

    def _call(
        self,
        method: str,
        where: str,
        *,
        query: Query | None = None,
        body: Any = None,
        deleted: bool = False,
    ) -> Any:
        headers = {SHOW_DELETED: 'true'} if deleted else {}
        with self._send(method, where, query=query, body=body, headers=headers) as got:
            return self._value(got)

    def _value(self, got: requests.Response) -> Any:
        """Return the JSON value of an answer, None for none."""
        media_type = got.headers.get('Content-Type', 'of an unknown type')
        # What is told in words is for people who watch the wire
        if not got.content or media_type.startswith('text/plain'):
            return None
        try:
            return got.json()
        except ValueError:
            raise self._foreign(f'the response is {media_type}, not JSON') from None

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
        """Return an answer that is none of a refusal.

        :param sends_on: it may be one that names another address
        """
        renewed = False
        sent = dict(headers or {})
        if method == 'POST':
            sent[IDEMPOTENCY_KEY] = str(uuid.uuid4())
        pauses = iter(PAUSES if method == 'POST' else ())
        while True:
            try:
                response = self._once(method, where, query, body, sent, stream)
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
            if response.status_code == 406 and self._step_down(response):
                continue
            if response.status_code == 401 and not renewed and self._access.renew():
                renewed = True
                continue
            if response.status_code >= (400 if sends_on else 300):
                with response:
                    raise self._refusal(response)
            return response

    def _once(
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
        # A stream says nothing for a while, and then that it is alive
        patience = max(self._access.timeout, SILENCE if stream else 0.0)
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
                timeout=(min(CONNECT, self._access.timeout), patience),
                # Credentials go nowhere else
                allow_redirects=False,
            )
        except (requests.RequestException, OSError) as error:
            raise self._unreachable(error) from None

    def _authenticate(self, request: requests.PreparedRequest) -> Any:
        """Add the credentials; without an auth, requests would read ~/.netrc."""
        request.headers.update(self._access.headers())
        return request

    def _step_down(self, response: requests.Response) -> bool:
        """Ask for an earlier version from now on; False if there is none."""
        offered = response.headers.get(MAXIMUM_HEADER, '')
        if self._access.version != LATEST or not re.fullmatch(r'\d+\.\d+', offered):
            return False
        if _numbers(offered) >= _numbers(self._version):
            return False
        self._version = offered
        return True

    def _refusal(self, response: requests.Response) -> exceptions.WatcherliteError:
        """Return what to raise for an answer that is not the one that was wanted."""
        status = response.status_code
        said = fault_of(response)
        text = said or f'{status} {response.reason}'
        if status < 400:
            there = response.headers.get('Location', 'elsewhere')
            return exits.UsageError(
                f'{self.endpoint} redirects to {there}; use that endpoint instead'
            )
        if status == 401:
            return NotAllowed(
                f'authentication at {self.endpoint} failed: {_sentence(text)} Set '
                '--os-cloud, or --os-auth-type http_basic with OS_USERNAME and '
                'OS_PASSWORD'
            )
        if status == 403:
            return NotAllowed(f'forbidden: {text}')
        if status == 404:
            if said:
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

    def _unreachable(self, error: Exception) -> exceptions.ApiUnavailable:
        """Return what to raise when no answer came."""
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
                'name its CA with --os-cacert'
            )
        return AnswerLost(
            f'{self.endpoint} cannot be reached: {cause or type(cause).__name__}'
        )

    def _foreign(self, why: str) -> exceptions.WatcherliteError:
        return exceptions.Invalid(
            f'{self.endpoint} is not the API of watcherlite ({why}); check the endpoint'
        )


def log_to(stream: TextIO) -> None:
    """Log what is asked and answered: methods, addresses, statuses, no headers."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter('%(name)s: %(message)s'))
    logger = logging.getLogger('urllib3')
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


def address(*parts: str) -> str:
    """Return a path below the endpoint; UsageError if a part says nothing."""
    if not all(part.strip('. /') for part in parts):
        raise exits.UsageError('the name or UUID of an object must not be empty')
    return '/'.join(['/v1', *(parse.quote(part, safe='') for part in parts)])


def fault_of(response: requests.Response) -> str:
    """Return what an answer says of what went wrong, '' if nothing that is known.

    `error_message` holds JSON as text, and in it `faultstring`; other servers, and
    other parts of Watcher, put a page of HTML there. Of stacks and clusters,
    `error` holds it.
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
    """Return what lies behind the errors of the libraries."""
    while True:
        inner = getattr(error, 'reason', None)
        if not isinstance(inner, BaseException):
            inner = next((a for a in error.args if isinstance(a, BaseException)), None)
        inner = inner or error.__cause__ or error.__context__
        if inner is None or inner is error:
            return error
        error = inner
