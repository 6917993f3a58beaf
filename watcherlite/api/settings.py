"""What an operator decides of the API, as values; `deploy` reads them from a file."""

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
    :param noauth_on_any_address: of NOAUTH: requests need not come from this machine
    :param max_body_size: bytes; a longer body is refused with 413
    :param password_file: of HTTP_BASIC: lines of `user:bcrypt hash`
    :param user_roles: of HTTP_BASIC: user -> roles
    :param default_roles: of HTTP_BASIC: of users who are not in `user_roles`
    :param webhooks_need_authentication: whether they do, or are open to everybody
    :param healthcheck_details: whether /healthcheck tells its details to everybody
    :param healthcheck_disable_file: while it exists, /healthcheck answers 503
    :param metrics: whether there is /metrics
    """

    auth_strategy: str = NOAUTH
    noauth_on_any_address: bool = False
    max_body_size: int = 4 * 1024 * 1024
    password_file: str = ''
    user_roles: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    default_roles: Sequence[str] = ()
    webhooks_need_authentication: bool = True
    healthcheck_details: bool = False
    healthcheck_disable_file: str = ''
    metrics: bool = False

    @property
    def only_from_here(self) -> bool:
        """Say whether only this machine may ask: nobody has to say who they are."""
        return self.auth_strategy == NOAUTH and not self.noauth_on_any_address


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.strip('[]')).is_loopback
    except ValueError:
        return host.lower() == 'localhost'
