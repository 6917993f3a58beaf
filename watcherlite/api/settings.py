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
    :param noauth_on_any_address: of NOAUTH: remote requests are accepted
    :param max_body_size: bytes; a longer body is refused with 413
    :param idempotency_key_lifetime: seconds for which keys of requests are known
    :param password_file: of HTTP_BASIC: lines of `user:bcrypt hash`
    :param user_roles: of HTTP_BASIC: user -> roles
    :param default_roles: of HTTP_BASIC: of users who are not in `user_roles`
    :param webhooks_need_authentication: False: webhooks are public
    :param healthcheck_details: whether /healthcheck shows its details to everybody
    :param healthcheck_disable_file: while it exists, /healthcheck answers 503
    :param metrics: whether there is /metrics
    :param allowed_hosts: accepted values of the header Host of public requests,
        besides addresses and localhost; '*': every name
    """

    auth_strategy: str = NOAUTH
    noauth_on_any_address: bool = False
    max_body_size: int = 4 * 1024 * 1024
    idempotency_key_lifetime: float = 86400.0
    password_file: str = ''
    user_roles: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    default_roles: Sequence[str] = ()
    webhooks_need_authentication: bool = True
    healthcheck_details: bool = False
    healthcheck_disable_file: str = ''
    metrics: bool = False
    allowed_hosts: frozenset[str] = frozenset()

    @property
    def only_from_here(self) -> bool:
        """Return whether only local requests are accepted."""
        return self.auth_strategy == NOAUTH and not self.noauth_on_any_address


def is_address(host: str) -> bool:
    """Return whether a host is an IP address and no name."""
    try:
        ipaddress.ip_address(host.strip('[]'))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from the local host only."""
    try:
        return ipaddress.ip_address(host.strip('[]')).is_loopback
    except ValueError:
        return host.lower() == 'localhost'
