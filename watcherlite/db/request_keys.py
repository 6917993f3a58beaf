"""Requests in transactions: idempotency keys, records, and initiators of events.

A request that is repeated with its key is executed once.

The transaction that creates the objects of a request also inserts its key, so that a
crash cannot separate them. A second request with the key conflicts with that row and is
rolled back.

A context variable, set around the call of the operation, relates a transaction to its
request, so that the engine need not pass the request on.
"""

import contextlib
import contextvars
import dataclasses
import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from watcherlite import exceptions
from watcherlite.db.clusters import TITLES
from watcherlite.db.requests import ChangedObjects, RecordedRequest
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import (
    ACTION,
    ACTION_PLAN,
    AUDIT,
    CLUSTER,
    CREATED,
    INITIATOR,
    NODE,
    RESOURCE,
    STACK,
    Event,
)

#: Classes of objects that have no events.
SOFTWARE_CONFIG, SOFTWARE_DEPLOYMENT = 'software_config', 'software_deployment'
#: Methods of a transaction that change objects -> the class of the objects, and whether
#: they are inserted. The class None depends on the object.
METHODS: Mapping[str, tuple[str | None, bool]] = {
    'insert_plan': (ACTION_PLAN, True),
    'insert_actions': (ACTION, True),
    'insert_audit': (AUDIT, True),
    'insert_audit_template': ('audit_template', True),
    'insert_stack': (STACK, True),
    'insert_object': (None, True),
    'insert_nodes': (NODE, True),
    'insert_software_config': (SOFTWARE_CONFIG, True),
    'insert_software_deployment': (SOFTWARE_DEPLOYMENT, True),
    'save_plans': (ACTION_PLAN, False),
    'save_audit': (AUDIT, False),
    'save_audit_template': ('audit_template', False),
    'save_stacks': (STACK, False),
    'save_resources': (RESOURCE, False),
    'save_object': (None, False),
    'delete_object': (None, False),
    'save_clusters': (CLUSTER, False),
    'save_nodes': (NODE, False),
    'delete_software_config': (SOFTWARE_CONFIG, False),
    'save_software_deployment': (SOFTWARE_DEPLOYMENT, False),
    'delete_software_deployment': (SOFTWARE_DEPLOYMENT, False),
}


@dataclasses.dataclass(frozen=True, slots=True)
class RequestKey:
    """The idempotency key of a request, as it is stored.

    :param digest: of the key and the caller
    :param fingerprint: keyed digest of the request, so that it cannot be guessed
    :param created: name of the object -> uuid of the first one that was inserted
    """

    digest: str
    fingerprint: str
    created_at: datetime.datetime
    created: Mapping[str, str] = dataclasses.field(default_factory=dict)


class RequestKeyTransaction(Protocol):
    """The methods of `db.api.Transaction` for idempotency keys."""

    def insert_request_key(self, key: RequestKey) -> None:
        """Insert a key; raise Conflict if it exists.

        It waits for another transaction that inserts the same key.
        """


class RequestKeyStore(Protocol):
    """The methods of `db.api.Store` for idempotency keys."""

    def find_request_key(self, digest: str) -> RequestKey | None:
        """Return a key by its digest; None if there is none."""

    def purge_request_keys(self, before: datetime.datetime) -> int:
        """Delete the keys that were stored before a time; return their number."""


class RequestRecord:
    """The outcome of the transactions of one request.

    :param key: stored with the objects that the request creates; None: no key
    :param initiator: stored with the events of the request, as `detail.initiator`: who
        sent it
    :param describe: returns the request as it is recorded with its first change; None:
        it is not recorded
    :param names: the variables of the address, which name the object of the request
    :ivar committed: a transaction has been committed
    :ivar is_unknown: the outcome of a COMMIT is unknown
    """

    def __init__(
        self,
        key: RequestKey | None = None,
        initiator: Mapping[str, Any] | None = None,
        describe: Callable[[], RecordedRequest] | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.initiator = initiator
        self.committed = False
        self.is_unknown = False
        self._describe = describe
        self._names = names
        self._is_stored = False
        self._is_recorded = False

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Record the transactions of this thread here."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    @contextlib.contextmanager
    def around(
        self, transaction: contextlib.AbstractContextManager[Any]
    ) -> Iterator[Any]:
        """Yield a transaction; insert the key and the request before it ends.

        The key if it inserted objects, the request if it changed any.
        """
        try:
            with transaction as tx:
                watched = _Watched(tx, self.initiator)
                yield cast(Any, watched)
                is_creating = bool(watched.created) and not self._is_stored
                if is_creating and self.key is not None:
                    key = dataclasses.replace(self.key, created=watched.created)
                    self._insert(tx, key)
                is_changing = bool(watched.changed) and not self._is_recorded
                if is_changing and self._describe is not None:
                    tx.insert_request(self._recorded(self._describe(), watched.changed))
        except exceptions.CommitOutcomeUnknown:
            self.is_unknown = True
            raise
        self.committed = True
        self._is_stored = self._is_stored or is_creating
        self._is_recorded = self._is_recorded or is_changing

    def _insert(self, tx: RequestKeyTransaction, key: RequestKey) -> None:
        try:
            tx.insert_request_key(key)
        except exceptions.Conflict:
            raise exceptions.RequestKeyTaken(
                'Another request with this Idempotency-Key has been executed'
            ) from None

    def _recorded(
        self, request: RecordedRequest, changed: ChangedObjects
    ) -> RecordedRequest:
        subject = changed.subject(self._names)
        return dataclasses.replace(
            request,
            object_type=subject.type,
            object_uuid=subject.uuid,
            object_name=subject.name,
            created=subject.created,
        )


_current: contextvars.ContextVar[RequestRecord | None] = contextvars.ContextVar(
    'request_record', default=None
)


def current() -> RequestRecord | None:
    """Return the record of the request of this thread; None without a request."""
    return _current.get()


class _Watched:
    """A transaction that records the objects that it changes.

    Its events get the initiator.

    :ivar created: class -> uuid of the first object of it that was inserted
    """

    def __init__(self, tx: Any, initiator: Mapping[str, Any] | None) -> None:
        self._tx = tx
        self._initiator = initiator
        self.created: dict[str, str] = {}
        self.changed = ChangedObjects()

    def add_events(self, events: Sequence[Event]) -> None:
        """Insert events; those of new actions leave the initiator to their plan."""
        initiator = self._initiator
        if initiator:
            events = [
                event
                if event.subject == ACTION and event.kind == CREATED
                else event.with_detail(INITIATOR, initiator)
                for event in events
            ]
        self._tx.add_events(events)

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        """Compare and set actions; record those that were as expected."""
        ids: set[int] = self._tx.change_actions(changes)
        changed = [change.after for change in changes if change.after.id in ids]
        self.changed.add(ACTION, changed, False)
        return ids

    def set_control(self, *args: Any, **kwargs: Any) -> list[Action]:
        """Write a signal; record the actions that it changes."""
        signalled: list[Action] = self._tx.set_control(*args, **kwargs)
        self.changed.add(ACTION, signalled, False)
        return signalled

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)
        if name not in METHODS:
            return method
        kind, is_new = METHODS[name]

        def change(rows: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(rows, Iterable):
                rows = several = list(rows)
            else:
                several = [rows]
            result = method(rows, *args, **kwargs)
            if several:
                title = kind or TITLES[type(result if is_new else rows)]
                self.changed.add(title, several, is_new)
                if is_new:
                    self.created.setdefault(title, several[0].uuid)
            return result

        return change
