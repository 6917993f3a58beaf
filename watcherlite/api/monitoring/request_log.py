"""The log line and the metrics of each request.

Our outermost WSGI layer, which turns all exceptions into responses.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from oslo_context import context

from watcherlite.api import errors
from watcherlite.api.app import CALLER, REQUEST_ID, ROUTE, logged_address
from watcherlite.api.errors import Environ, Wsgi
from watcherlite.api.monitoring.metrics import Metrics
from watcherlite.api.operation import Caller

LOG = logging.getLogger(__name__)

GLOBAL_REQUEST_ID = 'openstack.global_request_id'
#: Methods that are logged at level DEBUG.
_READING = frozenset({'GET', 'HEAD', 'OPTIONS'})


class RequestLog:
    """Middleware that logs and counts requests, and handles all exceptions.

    :param metrics: None: requests are not counted
    """

    def __init__(
        self,
        application: Wsgi,
        metrics: Metrics | None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._metrics = metrics
        self._monotonic = monotonic

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        begun = self._monotonic()
        status = 500
        # The thread may have the context of a previous request.
        context.RequestContext(
            request_id=environ.get(REQUEST_ID),
            global_request_id=environ.get(GLOBAL_REQUEST_ID),
            overwrite=True,
        )

        def start(line: str, headers: Any, *rest: Any) -> Any:
            nonlocal status
            status = int(line[:3])
            return start_response(line, headers, *rest)

        try:
            return self._application(environ, start)
        except Exception as error:
            LOG.exception(
                'Request %s, %s %s, failed',
                environ.get(REQUEST_ID),
                environ.get('REQUEST_METHOD'),
                logged_address(environ),
            )
            fault = errors.fault_of(error, str(environ.get(REQUEST_ID, '')))
            return errors.respond(environ, start, fault)
        finally:
            self._log(environ, status, self._monotonic() - begun)

    def _log(self, environ: Environ, status: int, seconds: float) -> None:
        method = str(environ.get('REQUEST_METHOD', ''))
        LOG.log(
            logging.DEBUG if method in _READING and status < 400 else logging.INFO,
            '%s "%s %s" status: %d time: %.4f',
            environ.get('REMOTE_ADDR', '-'),
            method,
            logged_address(environ),
            status,
            seconds,
        )
        if self._metrics is not None:
            self._metrics.observe(method, environ.get(ROUTE), status, seconds)


class RequestContextFilter:
    """Middleware after the authentication that sets the log context of a request."""

    def __init__(self, application: Wsgi) -> None:
        self._application = application

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        caller: Caller = environ.get(CALLER) or Caller()
        # The constructor sets the context of this thread.
        context.RequestContext(
            user_id=caller.user_id,
            project_id=caller.project_id,
            system_scope=caller.system_scope,
            roles=sorted(caller.roles),
            request_id=environ.get(REQUEST_ID),
            global_request_id=environ.get(GLOBAL_REQUEST_ID),
            overwrite=True,
        )
        return self._application(environ, start_response)
