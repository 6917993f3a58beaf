"""Translation of the exceptions of openstacksdk and keystoneauth."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from watcherlite import exceptions
from watcherlite.conf import masking

#: Maximum length of the text of a service in a message.
DETAIL_LENGTH = 300

_QUOTA = re.compile(
    r'quota|limit ?exceeded|overlimit|exceeds allowed|maximum number', re.IGNORECASE
)
_URLS = re.compile(r'\s*(?:for url: )?https?://\S+', re.IGNORECASE)
#: Appended by keystoneauth.
_SUFFIXES = re.compile(r'\s*\((?:HTTP \d+|Request-ID: [^)]*)\)')
_TOKENS_PATH = '/auth/tokens'
_UNAVAILABLE = frozenset({401, 408, 429, 502, 503, 504})


class NotInCatalog(exceptions.Invalid):
    """The service catalog has no endpoint of a service."""


class AuthenticationFailed(exceptions.Forbidden):
    """Keystone refuses credentials.

    :param status: of its response
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@contextlib.contextmanager
def translated(service: str, target: str) -> Iterator[None]:
    """Translate exceptions of openstacksdk and keystoneauth within a `with` block.

    :param service: as it is called in messages: `compute`, `network`
    :param target: the object in messages: `server 6f70656e`
    :raises NotFound, Conflict, OverQuota, Forbidden, Invalid: as the service says
    :raises ServiceUnavailable: the service or keystone cannot be used now, and the call
        can be repeated later
    :raises AuthenticationFailed: keystone refuses the credentials; it is a Forbidden
    :raises ConfigurationError: openstacksdk cannot use `[openstack]`
    :raises WatcherliteError: any other failure
    """
    try:
        yield
    except exceptions.WatcherliteError:
        raise
    except Exception as error:
        found = translate(error, service, target)
        if found is None:
            raise
        raise found from error


def translate(
    error: Exception, service: str, target: str
) -> exceptions.WatcherliteError | None:
    """Return the exception for users; None: it is not one of these libraries."""
    try:
        from keystoneauth1 import exceptions as keystone
        from openstack import exceptions as sdk
    except ImportError:
        return None
    if isinstance(error, keystone.EndpointNotFound | keystone.EmptyCatalog):
        return NotInCatalog(
            f'{target}: the service catalog has no endpoint of the {service} service '
            'for this region and interface; see [openstack] region_name and interface'
        )
    if isinstance(error, keystone.ConnectionError):
        if isinstance(error, keystone.SSLError):
            return exceptions.ConfigurationError(
                f'{target}: the certificate of the {service} service cannot be '
                'verified; see [openstack] cafile'
            )
        return _unavailable(service, target, 'it does not respond')
    if isinstance(error, keystone.DiscoveryFailure | sdk.ServiceDiscoveryException):
        return _unavailable(service, target, 'its versions cannot be read')
    if isinstance(
        error, keystone.AuthPluginException | keystone.MissingRequiredOptions
    ):
        return exceptions.ConfigurationError(
            f'{target}: [openstack] cannot be used: {clean(str(error))}'
        )
    if isinstance(error, sdk.ResourceTimeout):
        return _unavailable(service, target, 'the operation takes too long')
    if isinstance(error, keystone.HttpError | sdk.HttpException):
        return _of_status(error, service, target)
    if isinstance(error, sdk.SDKException | keystone.ClientException):
        return exceptions.WatcherliteError(
            f'{target}: the {service} service failed: {clean(str(error))}'
        )
    return None


def _of_status(error: Any, service: str, target: str) -> exceptions.WatcherliteError:
    status = getattr(error, 'http_status', None) or error.status_code or 0
    detail = clean(str(error.details or error.message or ''))
    if _TOKENS_PATH in str(error.url or ''):
        if status in (401, 403, 404):
            return AuthenticationFailed(
                f'{target}: keystone refuses the credentials (HTTP {status}). If they '
                'are those of the service, see [openstack]; if the authority of the '
                'user was revoked, the user must repeat the request',
                status,
            )
        if status >= 500:
            return _unavailable('identity', target, f'HTTP {status}')
    if status in _UNAVAILABLE:
        # keystoneauth has tried again with a new token, so the service rejects both:
        # it cannot validate tokens at the moment.
        return _unavailable(service, target, f'HTTP {status}')
    if status in (403, 409, 413) and _QUOTA.search(detail):
        return exceptions.OverQuota(
            f'{target}: the quota of the {service} service is exhausted: {detail}. '
            'Delete what is not needed, or have the quota increased'
        )
    text = f'{target}: the {service} service says: {detail} (HTTP {status})'
    if status == 400:
        return exceptions.Invalid(text)
    if status == 403:
        return exceptions.Forbidden(f'{text}. The user needs a role that permits this')
    if status == 404:
        return exceptions.NotFound(text)
    if status in (409, 412):
        return exceptions.Conflict(text)
    return exceptions.WatcherliteError(text)


def _unavailable(
    service: str, target: str, reason: str
) -> exceptions.ServiceUnavailable:
    return exceptions.ServiceUnavailable(
        f'{target}: the {service} service is not available: {reason}'
    )


def clean(text: str) -> str:
    """Return the text of a service in one line, without URLs and credentials."""
    line = _SUFFIXES.sub('', _URLS.sub('', ' '.join(text.split())))
    line = masking.mask_text(line).rstrip(' .')
    return line if len(line) <= DETAIL_LENGTH else f'{line[: DETAIL_LENGTH - 1]}…'
