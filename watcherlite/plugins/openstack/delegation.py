"""Delegation of the authority of users to this service.

By trusts of keystone, or by application credentials where these are not possible.
"""

import contextlib
import datetime
import logging
import threading
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import uuid4

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.credentials import (
    APPLICATION_CREDENTIAL,
    TRUST,
    Credential,
    CredentialStore,
    reference_to,
)
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.errors import AuthenticationFailed, translated

LOG = logging.getLogger(__name__)

#: The age at which a credential without an owner is revoked: its request has ended.
PENDING = datetime.timedelta(hours=1)
#: Credentials revoked at once.
BATCH = 100
#: In messages.
DELEGATION = 'the delegation of authority'
_TRUSTS = '/OS-TRUST/trusts'
_APPLICATION_CREDENTIALS = '/users/{}/application_credentials'


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
        uuid = str(uuid4())
        kind, external_id, secret = self._create(caller, roles, uuid)
        credential = Credential(
            uuid=uuid,
            kind=kind,
            user_id=str(caller.user_id),
            project_id=str(caller.project_id),
            roles=roles,
            external_id=external_id,
            secret=secret,
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
        identities = self._clouds.identities()
        # The service may read the trusts of which it is the trustee.
        reader = None if credential.kind == TRUST else credential
        try:
            with translated('identity', DELEGATION):
                identities.client(identities.plugin(reader)).get(_path_of(credential))
        except AuthenticationFailed as error:
            if reader is None:
                # Nothing is known about the trust.
                raise exceptions.ConfigurationError(
                    'Keystone refuses the user and the password of [openstack]'
                ) from error
            return False
        except (exceptions.NotFound, exceptions.Forbidden):
            return False
        return True

    def _create(
        self, caller: Delegator, roles: Sequence[str], uuid: str
    ) -> tuple[str, str, str | None]:
        """Create a trust or an application credential; return kind, id and secret.

        Tokens of application credentials cannot create trusts, and unrestricted ones
        can create application credentials. A service that authenticates by an
        application credential cannot use trusts.
        """
        refused: exceptions.Forbidden | None = None
        if self._clouds.identities().uses_password:
            try:
                return TRUST, self._create_trust(caller, roles), None
            except exceptions.Forbidden as error:
                refused = error
        try:
            return self._create_application_credential(caller, roles, uuid)
        except exceptions.Forbidden as error:
            if refused is None:
                raise
            raise exceptions.Forbidden(
                f'{refused}. A token of an application credential can delegate '
                'authority only if the application credential is unrestricted'
            ) from error

    def _create_trust(self, caller: Delegator, roles: Sequence[str]) -> str:
        body: dict[str, Any] = {
            'trustor_user_id': caller.user_id,
            'trustee_user_id': self._service_user(),
            'project_id': caller.project_id,
            'impersonation': True,
            'allow_redelegation': False,
            'roles': [{'name': role} for role in roles],
        }
        trust: str = self._post(caller, _TRUSTS, {'trust': body})['trust']['id']
        return trust

    def _create_application_credential(
        self, caller: Delegator, roles: Sequence[str], uuid: str
    ) -> tuple[str, str, str | None]:
        body = {
            'name': f'watcherlite-{uuid}',
            'roles': [{'name': role} for role in roles],
            # Otherwise it could not be deleted with its own authority.
            'unrestricted': True,
        }
        path = _APPLICATION_CREDENTIALS.format(caller.user_id)
        made = self._post(caller, path, {'application_credential': body})
        made = made['application_credential']
        return APPLICATION_CREDENTIAL, str(made['id']), str(made['secret'])

    def _post(self, caller: Delegator, path: str, body: Any) -> dict[str, Any]:
        client = self._clouds.identities().user_client(str(caller.token))
        try:
            with translated('identity', DELEGATION):
                # keystoneauth would log the secret of an application credential.
                answer = client.post(path, json=body, log=False)
                found: dict[str, Any] = answer.json()
                return found
        except (exceptions.NotFound, exceptions.Invalid) as error:
            # A role is not assigned, or not visible, to the user.
            raise exceptions.Forbidden(str(error)) from error

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
        :raises ConfigurationError: keystone refuses the service
        """
        try:
            with translated('identity', f'the revocation of {credential.uuid}'):
                identities = self._clouds.identities()
                # With the authority of its user, who alone may delete it.
                client = identities.client(identities.plugin(credential))
                client.delete(_path_of(credential))
        except (exceptions.NotFound, exceptions.Forbidden) as error:
            # A user who was disabled, or lost a role, cannot delete it.
            if self._exists(credential):
                LOG.warning(
                    'Credential %s of user %s remains in keystone, without effect: %s',
                    credential.uuid,
                    credential.user_id,
                    error,
                )
        self._store.delete_credential(credential.uuid)
        LOG.info(
            'Credential %s of user %s revoked', credential.uuid, credential.user_id
        )


def _path_of(credential: Credential) -> str:
    """Return the path of a credential in keystone."""
    if credential.kind == TRUST:
        return f'{_TRUSTS}/{credential.external_id}'
    collection = _APPLICATION_CREDENTIALS.format(credential.user_id)
    return f'{collection}/{credential.external_id}'
