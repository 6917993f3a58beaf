"""Sessions: the logins of users of the dashboard.

A browser has the only copy of the secret in its cookie; the database has its digest.
"""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class UserSession:
    """A login.

    :param digest: SHA-256 of the secret in the cookie, in hexadecimal digits
    :param credentials: what authenticates its requests; encrypted in the database
    """

    digest: str
    credentials: Mapping[str, Any] = dataclasses.field(repr=False)
    created_at: datetime.datetime
    expires_at: datetime.datetime


class SessionStore(Protocol):
    """The methods of `db.api.Store` for sessions."""

    def insert_session(self, session: UserSession) -> None:
        """Insert a session, and delete those that expired before it was created."""

    def find_session(self, digest: str) -> UserSession | None:
        """Return a session by its digest, expired or not; None if there is none."""

    def delete_session(self, digest: str) -> None:
        """Delete a session if it exists."""
