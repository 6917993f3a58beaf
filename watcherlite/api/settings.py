"""The settings of the API as values; `deploy` reads them from the configuration."""

import dataclasses
import ipaddress
from collections.abc import Mapping, Sequence

NOAUTH = 'noauth'
HTTP_BASIC = 'http_basic'
KEYSTONE = 'keystone'


@dataclasses.dataclass(frozen=True, slots=True)
class ApiSettings:
    """The settings of one application.

    :param auth_strategy: NOAUTH, HTTP_BASIC or KEYSTONE
    :param noauth_on_any_address: NOAUTH: whether remote requests are accepted
    :param max_body_size: maximum size of a body in bytes; larger ones get a 413
    :param idempotency_key_lifetime: lifetime of idempotency keys in seconds
    :param request_retention: days for which requests are recorded; 0: they are kept
    :param password_file: HTTP_BASIC: the file with lines `user:bcrypt hash`
    :param user_roles: HTTP_BASIC: user -> roles
    :param default_roles: HTTP_BASIC: the roles of other users
    :param webhooks_need_authentication: whether webhooks need authentication
    :param healthcheck_details: whether /healthcheck shows details to all callers
    :param healthcheck_disable_file: while this file exists, /healthcheck returns 503
    :param metrics: whether /metrics is enabled
    :param allowed_hosts: accepted names in the header Host of public requests, in
        addition to IP addresses and localhost; '*': all names
    """

    auth_strategy: str = NOAUTH
    noauth_on_any_address: bool = False
    max_body_size: int = 4 * 1024 * 1024
    idempotency_key_lifetime: float = 86400.0
    request_retention: float = 90.0
    password_file: str = ''
    user_roles: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    default_roles: Sequence[str] = ()
    webhooks_need_authentication: bool = True
    healthcheck_details: bool = False
    healthcheck_disable_file: str = ''
    metrics: bool = False
    allowed_hosts: frozenset[str] = frozenset()

    @property
    def is_local_only(self) -> bool:
        """Return whether only local requests are accepted."""
        return self.auth_strategy == NOAUTH and not self.noauth_on_any_address


def is_address(host: str) -> bool:
    """Return whether a host is an IP address instead of a name."""
    try:
        ipaddress.ip_address(host.strip('[]'))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from the local host only."""
    try:
        return ipaddress.ip_address(host.strip('[]')).is_loopback
    except ValueError:
        return host.lower() == 'localhost'
