"""Recorded requests: who changed what, and when.

A request of the API that changes an object is recorded in the same transaction: there
is neither a change without its record, nor a record of a request that was refused.
"""

import dataclasses
import datetime
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite.domain.events import ACTION, ACTION_PLAN

#: Objects of one change that are considered.
MAX_OBJECTS = 20
#: First word of an action type -> the class of its target.
_TARGETS: Mapping[str, str] = {'CLUSTER': 'cluster', 'NODE': 'node'}


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request that changed something.

    :param request_id: as in the response, the log and the events of the request
    :param roles: of the user, in lower case, sorted
    :param path: with the prefix of the API, without the query string
    :param changes: summary of the body, without secrets; a JSON value; None: no body
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
class ChangedObject:
    """An object that a request created, changed or deleted."""

    type: str
    uuid: str
    name: str | None
    created: bool


class ChangedObjects:
    """The objects that a transaction changed, of each kind of change the first ones."""

    def __init__(self) -> None:
        self._objects: list[ChangedObject] = []

    def add(self, kind: str, objects: Iterable[Any], created: bool) -> None:
        """Add objects, which have a uuid and may have a name.

        The target of an action on a cluster or node precedes the action, as such a
        request changes nothing else of it.
        """
        for item in itertools.islice(objects, MAX_OBJECTS):
            if kind == ACTION:
                of = _TARGETS.get(item.action_type.partition('_')[0])
                if of is not None and item.target is not None:
                    self._objects.append(ChangedObject(of, item.target, None, False))
            name = getattr(item, 'name', None)
            self._objects.append(ChangedObject(kind, item.uuid, name, created))

    def __bool__(self) -> bool:
        return bool(self._objects)

    def subject(self, names: Sequence[str]) -> ChangedObject:
        """Return the object that the request is about.

        It is the object that the address names, the last name first; otherwise the
        first one that was created, or else changed. Actions come last, because they
        follow from the request, and a plan precedes the audit that is created for it.

        :param names: the variables of the address
        """
        for name in reversed(names):
            for item in self._objects:
                if name in (item.uuid, item.name):
                    return item
        return min(self._objects, key=_rank)


def _rank(item: ChangedObject) -> tuple[bool, bool, bool]:
    return item.type == ACTION, not item.created, item.type != ACTION_PLAN


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
