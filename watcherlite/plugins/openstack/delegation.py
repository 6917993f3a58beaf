"""Delegation of the authority of users to this service, by trusts of keystone."""

import contextlib
import datetime
import logging
import threading
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import uuid4

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.credentials import TRUST, Credential, CredentialStore, reference_to
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.errors import translated

LOG = logging.getLogger(__name__)

#: The age at which a credential without an owner is revoked: its request has ended.
PENDING = datetime.timedelta(hours=1)
#: Credentials revoked at once.
BATCH = 100
#: In messages.
DELEGATION = 'the delegation of authority'
_PATH = '/OS-TRUST/trusts'


class Delegator(Protocol):
    """The caller of a request who delegates authority.

    :ivar token: None: authenticated without keystone
    :ivar role_names: as keystone spells them
    """

    @property
    def user_id(self) -> str | None: ...

    @property
    def project_id(self) -> str | None: ...

    @property
    def role_names(self) -> Sequence[str]: ...

    @property
    def token(self) -> str | None: ...


class Delegations:
    """The credentials with which this service works for users.

    The calls of keystone are bounded by the timeouts of `[openstack]`.
    """

    def __init__(self, store: CredentialStore, clouds: Clouds, clock: Clock) -> None:
        self._store = store
        self._clouds = clouds
        self._clock = clock
        self._lock = threading.Lock()
        self._trustee: str | None = None

    def is_available_to(self, caller: Delegator) -> bool:
        """Return whether a caller can delegate authority: with a token of a project."""
        return bool(
            self._clouds.is_configured
            and caller.token
            and caller.user_id
            and caller.project_id
        )

    def delegate(self, caller: Delegator, owner: str | None = None) -> str:
        """Store a new credential of the caller; return its uuid.

        :param owner: None: it is assigned when the object is stored
        :raises Forbidden: keystone refuses it
        :raises ServiceUnavailable, ConfigurationError: see the text
        """
        roles = tuple(sorted(caller.role_names))
        trust = self._create_trust(caller, roles)
        credential = Credential(
            uuid=str(uuid4()),
            kind=TRUST,
            user_id=str(caller.user_id),
            project_id=str(caller.project_id),
            roles=roles,
            external_id=trust,
            owner=owner,
            created_at=self._clock.now(),
        )
        self._store.insert_credential(credential)
        return credential.uuid

    def reference(
        self, caller: Delegator, owner: str, project: str, renews: bool
    ) -> str | None:
        """Return the reference to the credential of an owner; renew it if necessary.

        It is necessary if there is none in keystone, or for a request that `renews` if
        the caller is another user, or has other roles.

        :param project: of the owner; callers of other projects delegate nothing
        """
        if not self._clouds.is_configured:
            return None
        current = self._store.find_credential(owner)
        may_renew = self.is_available_to(caller) and caller.project_id == project
        if may_renew and not self._is_current(current, caller, renews):
            return reference_to(owner, self.delegate(caller, owner))
        return None if current is None else reference_to(owner, current.uuid)

    def _is_current(
        self, current: Credential | None, caller: Delegator, renews: bool
    ) -> bool:
        if current is None:
            return False
        mine = current.user_id == caller.user_id
        roles = current.roles == tuple(sorted(caller.role_names))
        if renews and not (mine and roles):
            return False
        return self._exists(current)

    def _exists(self, credential: Credential) -> bool:
        if credential.kind != TRUST:
            return True
        try:
            with translated('identity', DELEGATION):
                identities = self._clouds.identities()
                client = identities.client(identities.plugin(None))
                client.get(f'{_PATH}/{credential.external_id}')
        except (exceptions.NotFound, exceptions.Forbidden):
            return False
        return True

    def _create_trust(self, caller: Delegator, roles: Sequence[str]) -> str:
        client = self._clouds.identities().user_client(str(caller.token))
        body: dict[str, Any] = {
            'trustor_user_id': caller.user_id,
            'trustee_user_id': self._service_user(),
            'project_id': caller.project_id,
            'impersonation': True,
            'allow_redelegation': False,
            'roles': [{'name': role} for role in roles],
        }
        try:
            with translated('identity', DELEGATION):
                response = client.post(_PATH, json={'trust': body})
        except exceptions.NotFound as error:
            # A role is not assigned, or not visible, to the user.
            raise exceptions.Forbidden(str(error)) from error
        trust: str = response.json()['trust']['id']
        return trust

    def _service_user(self) -> str:
        with self._lock:
            if self._trustee is None:
                session = self._clouds.service_connection().session
                with translated('identity', DELEGATION):
                    self._trustee = session.get_user_id()
            return str(self._trustee)

    # revocation

    def withdraw(self, uuid: str) -> None:
        """Revoke a credential without an owner, whose object was not created.

        It remains for `revoke_unused` if that is not possible now.
        """
        with contextlib.suppress(exceptions.WatcherliteError):
            credential = self._store.get_credential(uuid)
            if credential is not None and credential.owner is None:
                self.revoke(credential)

    def revoke_unused(self) -> int:
        """Revoke credentials that nothing uses; return their number.

        One that cannot be revoked now, because keystone is not available, remains.
        """
        before = self._clock.now() - PENDING
        count = 0
        while True:
            found = self._store.unused_credentials(before, BATCH)
            for credential in found:
                self.revoke(credential)
                count += 1
            if len(found) < BATCH:
                return count

    def revoke(self, credential: Credential) -> None:
        """Revoke a credential in keystone, and delete it.

        :raises ServiceUnavailable: keystone is not available
        """
        try:
            with translated('identity', f'the revocation of {credential.uuid}'):
                self._delete_trust(credential)
        except (exceptions.NotFound, exceptions.Forbidden) as error:
            # It is gone, or its user may not use it any more.
            LOG.debug('Credential %s: %s', credential.uuid, error)
        self._store.delete_credential(credential.uuid)
        LOG.info(
            'Credential %s of user %s revoked', credential.uuid, credential.user_id
        )

    def _delete_trust(self, credential: Credential) -> None:
        identities = self._clouds.identities()
        # With the authority of the trustor, who alone may delete it.
        client = identities.client(identities.plugin(credential))
        client.delete(f'{_PATH}/{credential.external_id}')
