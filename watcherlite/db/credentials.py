"""Credentials by which work is done with the authority of a user."""

import dataclasses

#: The kinds of credentials.
TRUST = 'trust'
APPLICATION_CREDENTIAL = 'application_credential'
KINDS = (TRUST, APPLICATION_CREDENTIAL)


@dataclasses.dataclass(frozen=True, slots=True)
class Credential:
    """The authority of a user in a project, delegated to this service.

    It never changes: a renewed authority is another credential.

    :param uuid: the identity of the credential
    :param kind: one of KINDS
    :param user_id: the user whose authority it is
    :param project_id: the project that it is limited to
    :param roles: the names of the delegated roles, sorted
    :param external_id: of the trust or the application credential in keystone
    :param secret: of an application credential
    """

    uuid: str
    kind: str
    user_id: str
    project_id: str
    roles: tuple[str, ...]
    external_id: str
    secret: str | None = dataclasses.field(default=None, repr=False)
