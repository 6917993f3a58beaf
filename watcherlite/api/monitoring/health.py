"""Health checks of the service, and the endpoints /healthcheck and /metrics.

The plain health, for load balancers, depends only on the database, as the API does. The
detailed health, for administrators, includes the broker and the daemons.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from watcherlite import exceptions
from watcherlite.api import errors
from watcherlite.api.app import CALLER, ROUTE
from watcherlite.api.errors import Environ, ErrorResponse, Wsgi
from watcherlite.api.monitoring.metrics import CONTENT_TYPE, Metrics
from watcherlite.api.mounts import normalize_path
from watcherlite.api.operation import Caller
from watcherlite.clock import Clock
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.actions import LANES

LOG = logging.getLogger(__name__)

OK = 'ok'
DEGRADED = 'degraded'
FAILED = 'failed'
DISABLED = 'disabled'
UNKNOWN = 'unknown'
#: Age in seconds of the oldest unsent notification at which the service is degraded.
LATE = 300.0
#: Seconds for which the last result of the broker probe is valid.
FRESH = 10.0
#: Timeout in seconds of a request for a newer result.
TIMEOUT = 1.0


class BrokerProbe:
    """Probe of the broker in a background thread.

    :param connect: connects to the broker; raises BrokerUnavailable, ConfigurationError
    """

    def __init__(
        self,
        connect: Callable[[], object],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect = connect
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._probe: threading.Thread | None = None
        self._found: tuple[str, str] | None = None
        self._found_at = 0.0

    def status(self, timeout: float = TIMEOUT) -> tuple[str, str]:
        """Return (OK, FAILED or UNKNOWN, message) within `timeout` seconds."""
        with self._lock:
            fresh = self._monotonic() - self._found_at < FRESH
            if self._found is not None and fresh:
                return self._found
            if self._probe is None:
                self._probe = threading.Thread(
                    target=self._run, name='broker probe', daemon=True
                )
                self._probe.start()
            probe = self._probe
        probe.join(timeout)
        with self._lock:
            return self._found or (UNKNOWN, 'no response yet')

    def _run(self) -> None:
        try:
            self._connect()
            found = OK, 'available'
        except exceptions.WatcherliteError as error:
            found = FAILED, masking.mask_text(str(error))
        except Exception as error:
            # Otherwise the broker is never probed again.
            LOG.exception('The probe of the broker failed')
            found = FAILED, f'the probe failed: {type(error).__name__}'
        with self._lock:
            self._found, self._found_at = found, self._monotonic()
            self._probe = None


class Health:
    """The health of the parts of the service.

    :param disable_file: while it exists, the status is DISABLED
    """

    def __init__(
        self, store: Store, clock: Clock, broker: BrokerProbe, disable_file: str = ''
    ) -> None:
        self._store = store
        self._clock = clock
        self._broker = broker
        self._disable_file = disable_file

    def plain(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the public body."""
        return self._status(self._database_problem())

    def _status(self, problem: str | None) -> tuple[int, dict[str, Any]]:
        if self._disable_file and os.path.exists(self._disable_file):
            return 503, {'status': DISABLED}
        return (200, {'status': OK}) if problem is None else (503, {'status': FAILED})

    def detailed(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the body for administrators.

        The HTTP status is that of `plain`; other failures make the body DEGRADED.
        """
        problem = self._database_problem()
        status, body = self._status(problem)
        broker, message = self._broker.status()
        body['database'] = {
            'status': OK if problem is None else FAILED,
            'message': problem or 'available',
        }
        body['broker'] = {'status': broker, 'message': message}
        if problem is None:
            try:
                body['lanes'] = self._lanes()
                body['notifications'] = self._notifications()
            except exceptions.WatcherliteError as error:
                LOG.warning('The health of the daemons cannot be read: %s', error)
                return 503, {**body, 'status': FAILED}
        parts = [*body.get('lanes', {}).values(), body.get('notifications', {})]
        parts += [body['broker']]
        if body['status'] == OK and any(p.get('status', OK) != OK for p in parts):
            body['status'] = DEGRADED
        return status, body

    def _database_problem(self) -> str | None:
        try:
            self._store.check()
        except exceptions.WatcherliteError as error:
            return masking.mask_text(str(error))
        return None

    def _lanes(self) -> dict[str, Any]:
        workers = self._store.live_workers()
        found = {}
        for lane in LANES:
            hosts = sorted(w.host for w in workers if lane in w.lanes)
            found[lane] = {
                'status': OK if hosts else FAILED,
                'live_workers': len(hosts),
                'hosts': sorted(set(hosts)),
            }
        return found

    def _notifications(self) -> dict[str, Any]:
        oldest = self._store.oldest_pending_event()
        waited = 0.0
        if oldest is not None:
            waited = max((self._clock.now() - oldest).total_seconds(), 0.0)
        return {
            'status': OK if waited <= LATE else DEGRADED,
            'oldest_pending': None if oldest is None else oldest.isoformat(),
            'oldest_pending_seconds': round(waited, 3),
        }


HEALTHCHECK = '/healthcheck'
METRICS = '/metrics'
ALLOWED = 'GET, HEAD, OPTIONS'


class HealthEndpoints:
    """Middleware that serves /healthcheck and /metrics.

    :param sees_details: returns whether a caller may see the details
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
        path = normalize_path(environ.get('PATH_INFO', ''))
        if path == HEALTHCHECK:
            call = self._healthcheck
        elif path == METRICS and self._metrics is not None:
            call = self._render_metrics
        else:
            return self._application(environ, start_response)
        environ[ROUTE] = path
        method = environ.get('REQUEST_METHOD')
        if method == 'OPTIONS':
            return _respond(environ, start_response, 200, '', b'', ('Allow', ALLOWED))
        if method not in ('GET', 'HEAD'):
            text = f'Method not allowed; allowed methods: {ALLOWED}.'
            fault = ErrorResponse(405, text, {'Allow': ALLOWED})
            return errors.respond(environ, start_response, fault)
        return call(environ, start_response)

    def _healthcheck(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        detailed = self._sees_details(environ.get(CALLER) or Caller())
        health = self._health.detailed if detailed else self._health.plain
        status, body = health()
        return _respond(
            environ,
            start_response,
            status,
            'application/json',
            json.dumps(body).encode(),
        )

    def _render_metrics(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        body = b'' if self._metrics is None else self._metrics.render()
        return _respond(environ, start_response, 200, CONTENT_TYPE, body)


def _respond(
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
