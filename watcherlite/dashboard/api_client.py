"""Calls of the REST API within the process, with the identity of a page's request."""

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib import parse

from watcherlite import exceptions

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Any], Iterable[bytes]]

#: The microversions that pages are written for; each mount reads its own.
VERSIONS = 'infra-optim 1.8, clustering 1.15'
#: Headers of the request of a page that its calls of the API must not have.
_OWN = (
    'HTTP_ACCEPT',
    'HTTP_COOKIE',
    'HTTP_IF_',
    'HTTP_LAST_EVENT_ID',
    'HTTP_ORIGIN',
    'HTTP_RANGE',
    'HTTP_TRANSFER_ENCODING',
    'CONTENT_',
)


class ApiError(exceptions.WatcherliteError):
    """An error response of the API.

    :param status: its status
    :param text: its message
    :param body: its JSON value
    """

    def __init__(self, status: int, text: str, body: Any = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.body = body


class ApiClient:
    """A client of the API in the same process.

    :param application: the API behind authentication
    :param environ: the WSGI environment of an authenticated request
    """

    def __init__(self, application: Wsgi, environ: Environ) -> None:
        self._application = application
        self._environ = environ

    def get(self, path: str, **query: Any) -> Any:
        """Return the body of a resource; raise ApiError.

        :param query: arguments; a list repeats one, None and '' are left out
        """
        return self.request('GET', path, query=query)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """Send a request; return the body, None if there is none; raise ApiError.

        :param path: unquoted
        :param body: a JSON value
        """
        environ = self._request_environ(method, path, query or {})
        if body is not None:
            data = json.dumps(body).encode()
            environ['CONTENT_TYPE'] = 'application/json'
            environ['CONTENT_LENGTH'] = str(len(data))
            environ['wsgi.input'] = io.BytesIO(data)
        status, _, parts = self._call(environ)
        try:
            data = b''.join(parts)
        finally:
            _close(parts)
        value = json.loads(data) if data else None
        if status >= 400:
            text = _text(value) or f'The API answered {status}.'
            raise ApiError(status, text, value)
        return value

    def stream(
        self, path: str, after: str
    ) -> tuple[int, Mapping[str, str], Iterable[bytes]]:
        """Return status, headers and parts of a stream of server-sent events.

        :param after: the sequence number of the last known event
        """
        environ = self._request_environ('GET', path, {'after': after})
        environ['HTTP_ACCEPT'] = 'text/event-stream'
        status, headers, parts = self._call(environ)
        return status, {k.lower(): v for k, v in headers}, parts

    def _request_environ(
        self, method: str, path: str, query: Mapping[str, Any]
    ) -> Environ:
        environ = {
            key: value
            for key, value in self._environ.items()
            if not key.startswith(_OWN)
        }
        asked = {k: v for k, v in query.items() if v not in (None, '')}
        environ.update(
            REQUEST_METHOD=method,
            # The bytes of the path as text, as PEP 3333 requires.
            PATH_INFO=path.encode().decode('latin-1'),
            QUERY_STRING=parse.urlencode(asked, doseq=True),
            HTTP_ACCEPT='application/json',
            HTTP_OPENSTACK_API_VERSION=VERSIONS,
        )
        environ['wsgi.input'] = io.BytesIO()
        return environ

    def _call(
        self, environ: Environ
    ) -> tuple[int, Sequence[tuple[str, str]], Iterable[bytes]]:
        started: list[tuple[int, Sequence[tuple[str, str]]]] = []

        def start(
            status: str, headers: Sequence[tuple[str, str]], error: Any = None
        ) -> Callable[[bytes], None]:
            started.append((int(status.split(' ', 1)[0]), headers))
            return _reject_write

        parts = self._application(environ, start)
        return *started[-1], parts


def _reject_write(data: bytes) -> None:
    raise RuntimeError('The API does not use write()')


def _close(parts: Iterable[bytes]) -> None:
    close = getattr(parts, 'close', None)
    if close is not None:
        close()


def _text(value: Any) -> str:
    """Return the message of an error in any of the API's formats."""
    if not isinstance(value, dict):
        return ''
    if 'error_message' in value:
        return str(json.loads(value['error_message']).get('faultstring') or '')
    error = value.get('error')
    return str(error.get('message') or '') if isinstance(error, dict) else ''
