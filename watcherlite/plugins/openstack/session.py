"""The sessions of keystoneauth, which repeat requests that only read."""

import http.cookiejar
import logging
import time
from collections.abc import Callable
from typing import Any

import requests
import tenacity
from keystoneauth1 import exceptions as keystone_exceptions
from keystoneauth1 import session as keystone_session

from watcherlite.plugins.openstack.settings import OpenStackSettings

LOG = logging.getLogger(__name__)

#: Methods without an effect.
READING = frozenset({'GET', 'HEAD', 'OPTIONS'})
#: Statuses of a service, or its proxy, that does not work at the moment.
UNAVAILABLE = frozenset({502, 503, 504})
#: Connections kept for each service.
POOL = 64
#: Bounds of the seconds before a repetition.
SHORTEST = 0.2
LONGEST = 2.0

_REPEATED = (
    keystone_exceptions.ConnectFailure,
    keystone_exceptions.ConnectTimeout,
    keystone_exceptions.UnknownConnectionError,
    keystone_exceptions.BadGateway,
    keystone_exceptions.ServiceUnavailable,
    keystone_exceptions.GatewayTimeout,
)


class Session(keystone_session.Session):
    """A session that repeats requests without an effect if a service is unavailable.

    :param settings: the timeouts and the number of repetitions
    :param sleep: called with the seconds before a repetition
    """

    def __init__(
        self,
        settings: OpenStackSettings,
        sleep: Callable[[float], None] = time.sleep,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self._timeout = settings.timeout
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_REPEATED)
            | tenacity.retry_if_result(_is_unavailable),
            wait=tenacity.wait_random_exponential(
                multiplier=SHORTEST, min=SHORTEST, max=LONGEST
            ),
            stop=tenacity.stop_after_attempt(settings.retries + 1),
            sleep=sleep,
            retry_error_callback=_last_result,
        )

    def request(  # type: ignore[override]
        self, url: str, method: str, **arguments: Any
    ) -> requests.Response:
        """Send a request; see keystoneauth.

        Its own repetitions are disabled: they would repeat any request.
        """
        arguments.setdefault('timeout', self._timeout)
        arguments['connect_retries'] = 0
        arguments['status_code_retries'] = 0
        send = super().request
        # Only requests for a token, and for the versions of keystone, have none.
        if method.upper() in READING or arguments.get('authenticated') is False:
            found: requests.Response = self._retrying.copy()(
                send, url, method, **arguments
            )
            return found
        return send(url, method, **arguments)


def open_http() -> requests.Session:
    """Return the HTTP connections that all sessions of a process share.

    It contains no identity: keystoneauth adds the token to each request.
    """
    http_session = requests.Session()
    # Cookies of one user must not reach the requests of another.
    http_session.cookies.set_policy(
        http.cookiejar.DefaultCookiePolicy(allowed_domains=[])
    )
    adapter = keystone_session.TCPKeepAliveAdapter(pool_maxsize=POOL)
    for scheme in list(http_session.adapters):
        http_session.mount(scheme, adapter)
    return http_session


def _is_unavailable(response: requests.Response) -> bool:
    return response.status_code in UNAVAILABLE


def _last_result(state: tenacity.RetryCallState) -> Any:
    """Return the last response, or raise the last exception."""
    if state.outcome is None:
        raise AssertionError('a repetition without an outcome')
    return state.outcome.result()
