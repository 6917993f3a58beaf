"""Idempotency keys: a request that is repeated with its key is carried out once.

The row of a key is written by the transaction that creates what the request asks for,
so that one is there exactly if the other is: no crash comes between them. A second
request with the key collides with that row and rolls back.

Which request a transaction belongs to is said around the call of the operation, by a
context variable, and not handed through the engine.
"""

import contextlib
import contextvars
import dataclasses
import datetime
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from watcherlite import exceptions
from watcherlite.db.clusters import TITLES

#: Methods of a transaction that store something new -> what it is called; None: that
#: follows from the type of the row.
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
    """The key of a request, as it is stored.

    :param digest: of the key, and of who uses it
    :param fingerprint: of what is asked for; nobody finds out by guessing what it is of
    :param created: what is called so -> uuid of the first one that was stored
    """

    digest: str
    fingerprint: str
    created_at: datetime.datetime
    created: Mapping[str, str] = dataclasses.field(default_factory=dict)


class RequestKeyTransaction(Protocol):
    """The part of a transaction that writes keys."""

    def insert_request_key(self, key: RequestKey) -> None:
        """Store a key; Conflict if it is there, after the end of who stores it now."""


class RequestKeyStore(Protocol):
    """The part of the store that knows keys."""

    def find_request_key(self, digest: str) -> RequestKey | None:
        """Return a key by its digest; None if there is none."""

    def purge_request_keys(self, before: datetime.datetime) -> int:
        """Delete the keys that were stored before a time; return how many."""


class RequestRecord:
    """The outcome of the transactions of one request.

    :param key: stored with what the request creates; None: it has none
    :ivar committed: a transaction has taken effect
    :ivar is_unknown: nobody knows whether one has
    """

    def __init__(self, key: RequestKey | None = None) -> None:
        self.key = key
        self.committed = False
        self.is_unknown = False
        self._is_stored = False

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Have the transactions of this thread recorded here."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    @contextlib.contextmanager
    def around(
        self, transaction: contextlib.AbstractContextManager[Any]
    ) -> Iterator[Any]:
        """Yield a transaction, and write the key before it ends if it creates."""
        try:
            with transaction as tx:
                created: dict[str, str] = {}
                yield cast(Any, _Watched(tx, created))
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
                'Another request with this Idempotency-Key has been carried out'
            ) from None


_current: contextvars.ContextVar[RequestRecord | None] = contextvars.ContextVar(
    'request_record', default=None
)


def current() -> RequestRecord | None:
    """Return the record of the request that this thread answers, if it answers one."""
    return _current.get()


class _Watched:
    """A transaction that notes the first row of each kind that is inserted by it."""

    def __init__(self, tx: Any, created: dict[str, str]) -> None:
        self._tx = tx
        self._created = created

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)
        if name not in INSERTIONS:
            return method

        def insert(rows: Any, *args: Any, **kwargs: Any) -> Any:
            several = list(rows) if isinstance(rows, list | tuple) else [rows]
            result = method(rows, *args, **kwargs)
            if several:
                kind = INSERTIONS[name] or TITLES[type(several[0])]
                self._created.setdefault(kind, several[0].uuid)
            return result

        return insert
