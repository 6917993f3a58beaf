"""Recorded requests: who changed what, and when.

A request of the API that changes an object is recorded in the same transaction: there
is neither a change without its record, nor a record of a request that was refused.
"""

import dataclasses
import datetime
from typing import Any, Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request that changed something.

    :param request_id: as in the response, the log and the events of the request
    :param roles: of the user, in lower case, sorted
    :param path: with the prefix of the API, without the query string
    :param changes: summary of the body, without secrets; a JSON value
    :param object_type: of the object that it created, changed or deleted, for example
        `action_plan`; if there are several, of the one that it is about
    :param object_name: None for objects without a name
    :param created: the request created the object
    """

    request_id: str
    occurred_at: datetime.datetime
    user_id: str | None
    user_name: str | None
    project_id: str | None
    roles: tuple[str, ...]
    method: str
    path: str
    changes: Any
    object_type: str | None = None
    object_uuid: str | None = None
    object_name: str | None = None
    created: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class StoredRequest:
    """A recorded request in the database."""

    sequence: int
    request: RecordedRequest


@dataclasses.dataclass(frozen=True, slots=True)
class RequestQuery:
    """A page of recorded requests, the latest first.

    :param user: id or name
    :param since: the earliest time
    :param until: the latest time
    :param before: (time, sequence) of the last request of the page before
    """

    limit: int = 100
    user: str | None = None
    project_id: str | None = None
    object_uuid: str | None = None
    since: datetime.datetime | None = None
    until: datetime.datetime | None = None
    before: tuple[datetime.datetime, int] | None = None


class RequestTransaction(Protocol):
    """The methods of `db.api.Transaction` for recorded requests."""

    def insert_request(self, request: RecordedRequest) -> None:
        """Insert a request."""


class RequestStore(Protocol):
    """The methods of `db.api.Store` for recorded requests."""

    def list_requests(self, query: RequestQuery) -> list[StoredRequest]:
        """Return a page of requests by time and sequence, the latest first."""

    def purge_requests(self, before: datetime.datetime) -> int:
        """Delete the requests that occurred before a time; return their number."""
