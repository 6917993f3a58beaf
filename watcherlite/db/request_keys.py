"""Requests in transactions: idempotency keys, and the initiators of events.

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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from watcherlite import exceptions
from watcherlite.db.clusters import TITLES
from watcherlite.domain.events import ACTION, CREATED, INITIATOR, Event

#: Methods of a transaction that insert objects -> the name of the object; None: the
#: class of the object decides.
INSERTIONS: Mapping[str, str | None] = {
    'insert_plan': 'action_plan',
    'insert_actions': 'action',
    'insert_audit': 'audit',
    'insert_audit_template': 'audit_template',
    'insert_stack': 'stack',
    'insert_object': None,
    'insert_nodes': 'node',
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
    :ivar committed: a transaction has been committed
    :ivar is_unknown: the outcome of a COMMIT is unknown
    """

    def __init__(
        self, key: RequestKey | None = None, initiator: Mapping[str, Any] | None = None
    ) -> None:
        self.key = key
        self.initiator = initiator
        self.committed = False
        self.is_unknown = False
        self._is_stored = False

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
        """Yield a transaction; insert the key before it ends if it inserted objects."""
        try:
            with transaction as tx:
                created: dict[str, str] = {}
                yield cast(Any, _Watched(tx, created, self.initiator))
                is_writing = created and self.key is not None and not self._is_stored
                if is_writing and self.key is not None:
                    self._insert(tx, dataclasses.replace(self.key, created=created))
        except exceptions.CommitOutcomeUnknown:
            self.is_unknown = True
            raise
        self.committed = True
        self._is_stored = self._is_stored or bool(is_writing)

    def _insert(self, tx: RequestKeyTransaction, key: RequestKey) -> None:
        try:
            tx.insert_request_key(key)
        except exceptions.Conflict:
            raise exceptions.RequestKeyTaken(
                'Another request with this Idempotency-Key has been executed'
            ) from None


_current: contextvars.ContextVar[RequestRecord | None] = contextvars.ContextVar(
    'request_record', default=None
)


def current() -> RequestRecord | None:
    """Return the record of the request of this thread; None without a request."""
    return _current.get()


class _Watched:
    """A transaction that records the first object of each class that it inserts.

    Its events get the initiator.
    """

    def __init__(
        self, tx: Any, created: dict[str, str], initiator: Mapping[str, Any] | None
    ) -> None:
        self._tx = tx
        self._created = created
        self._initiator = initiator

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

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)
        if name not in INSERTIONS:
            return method

        def insert(rows: Any, *args: Any, **kwargs: Any) -> Any:
            several = list(rows) if isinstance(rows, list | tuple) else [rows]
            result = method(rows, *args, **kwargs)
            if several:
                kind = INSERTIONS[name] or TITLES[type(result)]
                self._created.setdefault(kind, several[0].uuid)
            return result

        return insert
