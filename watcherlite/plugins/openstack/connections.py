"""Connections to OpenStack, reused per credential and region."""

import collections
import functools
import threading
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from watcherlite import exceptions
from watcherlite.db.credentials import Credential, owner_of
from watcherlite.plugins.openstack import remote_clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings

if TYPE_CHECKING:
    from openstack.connection import Connection

    from watcherlite.plugins.openstack.authentication import Identities

EXTRA = 'watcherlite[openstack]'
NOT_CONFIGURED = (
    'No cloud is configured: set [openstack] cloud, or auth_url and the user of this '
    'service'
)
NOT_INSTALLED = f'OpenStack requires openstacksdk: pip install "{EXTRA}"'
NO_CREDENTIAL = (
    'There is no authority of a user for this work: it was requested without a '
    'keystone token, or the authority was revoked. Repeat the request with a token '
    '([api] auth_strategy = keystone), or set [openstack] allow_service_authority to '
    'use the authority of the service'
)


Kept = TypeVar('Kept')


class Clouds:
    """The connections of a process; created lazily, thread-safe and bounded.

    A connection authenticates when it is first used, renews its token, and may be used
    by several threads. The methods do no I/O, except that `connection_for` may read a
    credential from the database, and `remote_connection` a secret from barbican.

    :param settings: of `[openstack]`
    :param read_credential: returns the newest credential of an owner; None: it has none
    """

    def __init__(
        self,
        settings: OpenStackSettings,
        read_credential: Callable[[str], Credential | None] | None = None,
    ) -> None:
        self._settings = settings
        self.read_credential = read_credential
        self._lock = threading.RLock()
        self._identities: Identities | None = None
        self._kept: dict[Hashable, Any] = {}
        #: reference, '' for the service -> (plugin, region -> connection)
        self._users: collections.OrderedDict[str, tuple[Any, dict[str | None, Any]]] = (
            collections.OrderedDict()
        )
        #: (reference, secret) -> the connections to another cloud
        self._remotes: collections.OrderedDict[tuple[str | None, str], Clouds] = (
            collections.OrderedDict()
        )

    @property
    def is_configured(self) -> bool:
        """Return whether there is a cloud."""
        return self._settings.is_configured

    def service_connection(self, region: str | None = None) -> 'Connection':
        """Return a connection with the authority of this service.

        :param region: None: that of the configuration
        :raises ConfigurationError: no cloud is configured, or openstacksdk is missing
        :raises Invalid: the cloud has no such region
        """
        return self._connection('', None, region)

    def connection_for(
        self, credential: Credential | str | None, region: str | None = None
    ) -> 'Connection':
        """Return a connection with the authority of a user.

        :param credential: the reference of a context, see `db.credentials`, or a
            credential; None: there is none. Without one the authority of the service
            is used if `allow_service_authority` is true
        :raises Forbidden: there is no credential
        :raises ConfigurationError, Invalid: see `service_connection`
        """
        if isinstance(credential, Credential):
            return self._connection(credential.uuid, credential, region)
        if credential is not None:
            with self._lock:
                connection = self._cached(credential, region)
            if connection is not None:
                return connection
            # Without the lock: the database may be slow.
            found = self._read(credential)
            if found is not None:
                return self._connection(credential, found, region)
        if not self._settings.allow_service_authority:
            raise exceptions.Forbidden(NO_CREDENTIAL)
        return self.service_connection(region)

    def remote_connection(
        self, credential: str | None, cloud_secret: str, region: str | None = None
    ) -> 'Connection':
        """Return a connection to another cloud with the credential of a user there.

        The credential remains in barbican, and in the memory of the process.

        :param credential: see `connection_for`; with its authority the secret is read
        :param cloud_secret: the id of the secret with the credential
        :param region: of the other cloud; None: the first one of its catalog
        :raises Forbidden: there is no such credential, or the cloud is not allowed
        :raises ServiceUnavailable: barbican is not available
        """
        key = (credential, cloud_secret)
        with self._lock:
            remote = self._remotes.get(key)
            if remote is not None:
                self._remotes.move_to_end(key)
        if remote is None:
            # Without the lock: barbican may be slow.
            settings = remote_clouds.settings_of(
                self.connection_for(credential), cloud_secret, self._settings
            )
            with self._lock:
                remote = self._remotes.setdefault(key, Clouds(settings))
                while len(self._remotes) > self._settings.max_connections:
                    # Callers that still use it keep it.
                    self._remotes.popitem(last=False)
        return remote.service_connection(region)

    def token_connection(self, token: str, region: str | None = None) -> 'Connection':
        """Return a connection with the token of a user, which is not kept.

        It reads the service catalog of the token from keystone.

        :raises ConfigurationError, Invalid: see `service_connection`
        """
        identities = self.identities()
        return identities.connect(identities.token_plugin(token), region)

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return an object that all plugins of the process share, by its key."""
        with self._lock:
            if key not in self._kept:
                # The names of regions come from users.
                if len(self._kept) >= self._settings.max_connections:
                    self._kept.clear()
                self._kept[key] = make()
            kept: Kept = self._kept[key]
            return kept

    def identities(self) -> 'Identities':
        """Return the source of connections, which imports openstacksdk.

        :raises ConfigurationError: see `service_connection`
        """
        with self._lock:
            return self._opened()

    def close(self) -> None:
        """Discard all connections, and close those that are not in use."""
        with self._lock:
            self._users.clear()
            remotes = list(self._remotes.values())
            self._remotes.clear()
            identities, self._identities = self._identities, None
        if identities is not None:
            identities.close()
        for remote in remotes:
            remote.close()

    def _connection(
        self, key: str, credential: Credential | None, region: str | None
    ) -> 'Connection':
        with self._lock:
            connection = self._cached(key, region)
            if connection is None:
                connection = self._connect(key, credential, region)
            return connection

    def _cached(self, key: str, region: str | None) -> 'Connection | None':
        user = self._users.get(key)
        if user is None:
            return None
        self._users.move_to_end(key)
        return user[1].get(region)

    def _connect(
        self, key: str, credential: Credential | None, region: str | None
    ) -> 'Connection':
        identities = self._opened()
        user = self._users.get(key) or (
            identities.plugin(credential, functools.partial(self._read, key)),
            {},
        )
        connection: Connection = identities.connect(user[0], region)
        # The names of regions come from users.
        if len(user[1]) >= self._settings.max_connections:
            user[1].clear()
        user[1][region] = connection
        self._users[key] = user
        while len(self._users) > self._settings.max_connections:
            # Callers that still use it keep it.
            self._users.popitem(last=False)
        return connection

    def _opened(self) -> 'Identities':
        if self._identities is None:
            if not self._settings.is_configured:
                raise exceptions.ConfigurationError(NOT_CONFIGURED)
            try:
                # It imports openstacksdk, which only clouds need.
                from watcherlite.plugins.openstack import authentication
            except ImportError as error:
                raise exceptions.ConfigurationError(NOT_INSTALLED) from error
            self._identities = authentication.Identities(self._settings)
        return self._identities

    def _read(self, reference: str) -> Credential | None:
        read = self.read_credential
        return read(owner_of(reference)) if read is not None else None


def region_names(connection: Any) -> set[str]:
    """Authenticate a connection, and return the regions of its service catalog."""
    session = connection.session
    catalog = session.auth.get_access(session).service_catalog.catalog
    names = {
        endpoint.get('region_id') or endpoint.get('region')
        for service in catalog
        for endpoint in service['endpoints']
    }
    return {name for name in names if name}
