"""Credentials by which work is done with the authority of a user."""

import dataclasses
import datetime
from typing import Protocol

from watcherlite.clock import EPOCH

#: The kinds of credentials.
TRUST = 'trust'
APPLICATION_CREDENTIAL = 'application_credential'

#: The key of a reference to a credential in contexts of requests, stacks and actions.
AUTHORITY = 'authority'
#: The key of the region of resources in the context of stacks in another region.
REGION = 'region'
#: The key of the secret with the credential of another cloud, in the context of stacks
#: whose resources are there.
REMOTE_CLOUD = 'cloud_secret'


@dataclasses.dataclass(frozen=True, slots=True)
class Credential:
    """The authority of a user in a project, delegated to this service.

    It never changes: a renewed authority is another credential of the same owner.

    :param kind: TRUST or APPLICATION_CREDENTIAL
    :param user_id: the user whose authority it is
    :param project_id: the project that it is limited to
    :param roles: the names of the delegated roles, sorted
    :param external_id: of the trust or the application credential in keystone;
        encrypted in the database
    :param secret: of an application credential; encrypted in the database
    :param owner: uuid of the stack, cluster, node or receiver whose work it authorizes;
        None: the object is not stored yet
    """

    uuid: str
    kind: str
    user_id: str
    project_id: str
    roles: tuple[str, ...]
    external_id: str = dataclasses.field(repr=False)
    secret: str | None = dataclasses.field(default=None, repr=False)
    owner: str | None = None
    created_at: datetime.datetime = EPOCH


def reference_to(owner: str, credential: str) -> str:
    """Return the reference to a credential for contexts.

    It leads to the newest credential of the owner. The uuid distinguishes it from the
    references before a renewal, which connections may be cached for.
    """
    return f'{owner}:{credential}'


def owner_of(reference: str) -> str:
    """Return the owner in a reference, which may also be the owner alone."""
    return reference.partition(':')[0]


class CredentialStore(Protocol):
    """The methods of `db.api.Store` for credentials."""

    def insert_credential(self, credential: Credential) -> None:
        """Insert a credential."""

    def find_credential(self, owner: str) -> Credential | None:
        """Return the newest credential of an owner; None: it has none."""

    def get_credential(self, uuid: str) -> Credential | None:
        """Return a credential; None: it does not exist."""

    def unused_credentials(
        self, before: datetime.datetime, limit: int
    ) -> list[Credential]:
        """Return credentials to revoke, by age.

        They are those of owners that do not exist any more, those that a newer one of
        their owner replaces, and those without an owner that are older than `before`.
        """

    def delete_credential(self, uuid: str) -> None:
        """Delete a credential if it exists."""


class CredentialTransaction(Protocol):
    """The methods of `db.api.Transaction` for credentials."""

    def assign_credential(self, uuid: str, owner: str) -> None:
        """Set the owner of a credential that has none."""
