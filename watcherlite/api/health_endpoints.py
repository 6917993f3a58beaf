"""The endpoints /healthcheck and /metrics."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from watcherlite.api import errors
from watcherlite.api.app import CALLER, ROUTE
from watcherlite.api.errors import Environ, Fault, Wsgi
from watcherlite.api.health import Health
from watcherlite.api.metrics import CONTENT_TYPE, Metrics
from watcherlite.api.mounts import normalize_path
from watcherlite.api.operation import Caller

HEALTHCHECK = '/healthcheck'
METRICS = '/metrics'
ALLOWED = 'GET, HEAD, OPTIONS'


class HealthEndpoints:
    """Middleware that serves these endpoints.

    :param sees_details: returns whether a caller may see the details of the health
    :param metrics: None: /metrics is disabled
    """

    def __init__(
        self,
        application: Wsgi,
        health: Health,
        sees_details: Callable[[Caller], bool],
        metrics: Metrics | None,
    ) -> None:
        self._application = application
        self._health = health
        self._sees_details = sees_details
        self._metrics = metrics

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        """Return a request."""
        path = normalize_path(environ.get('PATH_INFO', ''))
        if path == HEALTHCHECK:
            call = self._healthcheck
        elif path == METRICS and self._metrics is not None:
            call = self._figures
        else:
            return self._application(environ, start_response)
        environ[ROUTE] = path
        method = environ.get('REQUEST_METHOD')
        if method == 'OPTIONS':
            return _answer(environ, start_response, 200, '', b'', ('Allow', ALLOWED))
        if method not in ('GET', 'HEAD'):
            text = f'Method not allowed; allowed methods: {ALLOWED}.'
            fault = Fault(405, text, {'Allow': ALLOWED})
            return errors.respond(environ, start_response, fault)
        return call(environ, start_response)

    def _healthcheck(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        detailed = self._sees_details(environ.get(CALLER) or Caller())
        health = self._health.detailed if detailed else self._health.plain
        status, body = health()
        return _answer(
            environ,
            start_response,
            status,
            'application/json',
            json.dumps(body).encode(),
        )

    def _figures(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        body = b'' if self._metrics is None else self._metrics.render()
        return _answer(environ, start_response, 200, CONTENT_TYPE, body)


def _answer(
    environ: Environ,
    start_response: Any,
    status: int,
    kind: str,
    body: bytes,
    *headers: tuple[str, str],
) -> Iterable[bytes]:
    described = [('Content-Type', kind)] if kind else []
    start_response(
        errors.status_line(status),
        [
            *described,
            ('Content-Length', str(len(body))),
            ('Cache-Control', 'no-store'),
            *headers,
        ],
    )
    return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]
