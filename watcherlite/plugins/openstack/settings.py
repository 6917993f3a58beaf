"""Settings of the access to OpenStack."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, slots=True)
class OpenStackSettings:
    """The settings of the group `[openstack]`.

    :param cloud: of clouds.yaml; None: `auth` is used
    :param auth: the options of keystoneauth's plugin `auth_type`; contains secrets
    :param verify: whether to verify certificates, or the path of the authorities; None:
        that of the cloud
    :param cert: the paths of a client certificate and its key
    :param timeout: the seconds to connect, and between two parts of a response
    :param retries: of requests that only read
    :param max_connections: the number of kept connections
    :param allow_service_authority: whether to act for users without a credential
    :param remote_auth_urls: of keystone in other clouds that stacks may be in
    """

    cloud: str | None = None
    client_config_file: str | None = None
    auth_type: str = 'password'
    auth: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    interface: str | None = None
    region_name: str | None = None
    verify: bool | str | None = None
    cert: tuple[str, str] | str | None = None
    timeout: tuple[float, float] = (5.0, 60.0)
    retries: int = 2
    max_connections: int = 256
    allow_service_authority: bool = False
    remote_auth_urls: tuple[str, ...] = ()

    @property
    def is_configured(self) -> bool:
        """Return whether there is a cloud."""
        return bool(self.cloud or self.auth.get('auth_url'))
