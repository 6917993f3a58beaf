"""Access through keystone, with clouds.yaml and OS_* variables.

openstacksdk is an extra, imported only for a cloud.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.cmd import exits

EXTRA = 'watcherlite[openstack]'


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """The endpoint and the credentials of a cloud; see `access.Access`."""

    endpoint: str
    headers: Callable[[], Mapping[str, str]]
    renew: Callable[[], bool]
    verify: bool | str
    cert: str | tuple[str, str] | None
    project: Callable[[], str | None]


def find(options: Mapping[str, str], service_type: str = 'infra-optim') -> Found:
    """Return the endpoint of the API in the cloud of the options or the environment.

    :param options: the options of the command line, see `access.merge_options`
    :param service_type: the service type in the service catalog
    :raises UsageError: openstacksdk is not installed, the cloud is unknown, or the
        credentials are rejected
    :raises ApiUnavailable: keystone is unavailable
    """
    with _translated(service_type):
        return _find(dict(options), service_type)


@contextlib.contextmanager
def _translated(service_type: str) -> Iterator[None]:
    """Translate the exceptions of the libraries of OpenStack."""
    try:
        from keystoneauth1 import exceptions as keystone_exceptions
        from openstack import exceptions as sdk_exceptions
    except ImportError:
        raise exits.UsageError(
            f'keystone requires openstacksdk; install it with: pip install "{EXTRA}". '
            'Without keystone, set --endpoint'
        ) from None
    try:
        yield
    except (
        sdk_exceptions.SDKException,
        keystone_exceptions.AuthPluginException,
        keystone_exceptions.MissingRequiredOptions,
        keystone_exceptions.NoMatchingPlugin,
    ) as error:
        raise exits.UsageError(f'the cloud cannot be used: {error}') from None
    except keystone_exceptions.EndpointNotFound:
        raise _no_endpoint(service_type) from None
    except keystone_exceptions.Unauthorized as error:
        raise exits.UsageError(
            f'authentication at keystone failed: {error.message}'
        ) from None
    except keystone_exceptions.ClientException as error:
        raise exceptions.ApiUnavailable(f'keystone cannot be used: {error}') from None


def _find(options: dict[str, Any], service_type: str) -> Found:
    from openstack import config

    given = options.pop('endpoint', None)
    token = options.pop('os_token', None)
    for name in ('timeout', 'os_infra_optim_api_version', 'os_clustering_api_version'):
        options.pop(name, None)
    if token:
        options['os_token'] = token
    cloud = options.pop('os_cloud', None)
    arguments = {name.removeprefix('os_'): value for name, value in options.items()}
    region = config.OpenStackConfig(app_name='watcherlite').get_one(
        cloud=cloud, **arguments
    )
    session = region.get_session()
    verify, cert = region.get_requests_verify_args()
    url = given or session.get_endpoint(
        service_type=service_type,
        interface=region.get_interface(service_type),
        region_name=region.get_region_name(service_type),
    )
    if not url:
        raise _no_endpoint(service_type)

    def headers() -> Mapping[str, str]:
        # A token may expire during a command, and keystone be unavailable then.
        with _translated(service_type):
            return session.get_auth_headers() or {}

    def project() -> str | None:
        with _translated(service_type):
            found: str | None = session.get_project_id()
            return found

    # Authenticate now, so that a wrong password is reported as such.
    headers()
    return Found(
        endpoint=url,
        headers=headers,
        renew=lambda: bool(session.invalidate()),
        verify=verify if verify is not None else True,
        cert=cert,
        project=project,
    )


def _no_endpoint(service_type: str) -> exits.UsageError:
    return exits.UsageError(
        f'the service catalog has no endpoint of type {service_type}; add one, or '
        'set --os-endpoint-override'
    )
