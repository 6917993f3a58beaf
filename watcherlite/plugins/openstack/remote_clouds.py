"""The credentials of users in other clouds, which they keep as secrets of barbican."""

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from watcherlite import exceptions
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.settings import OpenStackSettings

if TYPE_CHECKING:
    from openstack.connection import Connection

KEY_MANAGER = 'key-manager'
#: The methods of authentication in other clouds.
AUTH_TYPES = ('v3applicationcredential', 'v3password', 'password')
#: Bytes; credentials are shorter.
MAX_PAYLOAD = 20_000


def settings_of(
    connection: 'Connection', secret: str, home: OpenStackSettings
) -> OpenStackSettings:
    """Read the credential of another cloud; return the settings of the access to it.

    :param connection: with the authority of the user who may read the secret
    :param secret: its id; the payload is JSON with `auth_type` and `auth`, as Heat
        expects it
    :param home: the settings of the cloud with the secret
    :raises Forbidden: there is no such credential, or the cloud is not allowed
    :raises ServiceUnavailable: barbican cannot be used now
    """
    target = f'secret {secret}'
    credential = _parse(_read(connection, secret, target), target)
    auth_type, auth = credential.get('auth_type'), credential.get('auth')
    if auth_type not in AUTH_TYPES:
        raise exceptions.Forbidden(
            f'{target}: auth_type is not one of {", ".join(AUTH_TYPES)}'
        )
    if not isinstance(auth, Mapping) or not all(
        isinstance(value, str) for value in auth.values()
    ):
        raise exceptions.Forbidden(f'{target}: auth is not an object of texts')
    url = auth.get('auth_url')
    if not url or _normal(url) not in map(_normal, home.remote_auth_urls):
        # Otherwise a user could have requests sent to any address.
        raise exceptions.Forbidden(
            f'{target}: auth_url is not one of [openstack] remote_auth_urls, the '
            'clouds that stacks may be in'
        )
    return dataclasses.replace(
        home,
        cloud=None,
        client_config_file=None,
        auth_type=auth_type,
        auth=dict(auth),
        interface='public',
        region_name=None,
        cert=None,
        remote_auth_urls=(),
    )


def _read(connection: 'Connection', secret: str, target: str) -> str:
    """Return the payload of a secret.

    :raises Forbidden: it cannot be read. It must not be taken for a missing object of
        the other cloud, which would make the deletion of a resource succeed.
    """
    try:
        with errors.translated(KEY_MANAGER, target):
            from openstack import exceptions as sdk

            response = connection.key_manager.get(
                f'/secrets/{secret}/payload',
                headers={'Accept': 'text/plain'},
                # keystoneauth would log the payload.
                log=False,
            )
            sdk.raise_from_response(response)
            return str(response.text)
    except (exceptions.NotFound, exceptions.Invalid) as error:
        raise exceptions.Forbidden(
            f'The credential of another cloud cannot be read: {error}'
        ) from error


def _parse(payload: str, target: str) -> Mapping[str, Any]:
    if len(payload) <= MAX_PAYLOAD:
        try:
            found = json.loads(payload)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    raise exceptions.Forbidden(
        f'{target}: the payload is not a JSON object with auth_type and auth'
    )


def _normal(url: str) -> str:
    return url.rstrip('/')
