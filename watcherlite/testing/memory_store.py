"""The store for tests of plugins and of the core: SQLite in memory."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from watcherlite.clock import Clock
from watcherlite.conf.secrets import Keys
from watcherlite.db.sqlalchemy import memory
from watcherlite.db.sqlalchemy.database import Session
from watcherlite.db.sqlalchemy.sqlite import SqliteTransaction
from watcherlite.db.sqlalchemy.store import SqlStore
from watcherlite.db.sqlalchemy.transaction import SqlTransaction

#: Nothing encrypted with it outlives the process.
_KEY = 'dGhlIGtleSBvZiB0aGUgc3RvcmVzIG9mIHRlc3RzLi4='

#: Methods of a transaction that return rows locked or inserted by it.
LOCKING = frozenset(
    {
        'insert_plan',
        'lock_plans',
        'plans_of_audit',
        'insert_audit',
        'lock_audit',
        'insert_audit_template',
        'lock_audit_template',
        'insert_stack',
        'lock_stacks',
        'lock_tree',
        'insert_object',
        'lock_object',
        'lock_clusters',
        'lock_clusters_by_id',
        'lock_nodes',
        'lock_nodes_of',
    }
)
#: Methods that save rows -> the type and the attribute that name the locked row.
SAVING: Mapping[str, tuple[str, str]] = {
    'save_plans': ('ActionPlan', 'id'),
    'save_audit': ('Audit', 'id'),
    'save_audit_template': ('AuditTemplate', 'id'),
    'save_stacks': ('Stack', 'id'),
    'save_resources': ('Stack', 'stack_id'),
    'save_clusters': ('Cluster', 'id'),
    'save_nodes': ('Node', 'id'),
    'save_bindings': ('Cluster', 'cluster_id'),
}


class LockCheckingTransaction:
    """A transaction that refuses to save a row that it has not locked.

    On a server such a transaction could overwrite concurrent changes. On SQLite, with a
    single writer at a time, no test would detect it.
    """

    def __init__(self, transaction: SqliteTransaction) -> None:
        self._transaction = transaction
        #: (type, id)
        self._locked: set[tuple[str, int]] = set()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._transaction, name)
        if name in LOCKING:
            return self._locking(method)
        if name in SAVING:
            return self._saving(method, *SAVING[name])
        return method

    def _locking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def lock(*arguments: Any, **keywords: Any) -> Any:
            result = method(*arguments, **keywords)
            self._locked.update((type(row).__name__, row.id) for row in _rows(result))
            return result

        return lock

    def _saving(
        self, method: Callable[..., Any], kind: str, attribute: str
    ) -> Callable[..., Any]:
        def save(rows: Any) -> Any:
            saved = list(rows) if isinstance(rows, Iterable) else rows
            for row in _rows(saved):
                if (kind, getattr(row, attribute)) not in self._locked:
                    raise ValueError(
                        f'{type(row).__name__} {row.uuid} is saved in a transaction '
                        f'that has not locked its {kind}; lock it first'
                    )
            return method(saved)

        return save


def _rows(result: Any) -> Iterable[Any]:
    """Return the rows in the arguments or the result of a method of a transaction."""
    if isinstance(result, Mapping):
        return result.values()
    if isinstance(result, Iterable):
        return result
    return () if result is None else (result,)


def _transaction(session: Session) -> SqlTransaction:
    return cast(SqlTransaction, LockCheckingTransaction(SqliteTransaction(session)))


class MemoryStore(SqlStore):
    """`db.api.Store` on an SQLite database in memory.

    Thread-safe; threads wait while another one is in a transaction. The data is lost
    when the store is closed.

    :param clock: the clock of the database for leases; default: that of the machine
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(
            memory.make_engine(clock),
            memory.TIMEOUT,
            lambda make: Keys((_KEY,), 'the key of the tests'),
        )
        self._transaction = _transaction
