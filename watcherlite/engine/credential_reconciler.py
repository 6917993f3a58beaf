"""Revocation of the credentials of users whose owner is gone."""

import logging
from collections.abc import Callable, Iterable

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain import events
from watcherlite.engine.clusters import action_types
from watcherlite.execution.services import Timers

LOG = logging.getLogger(__name__)

#: The role of the one engine that revokes credentials.
ROLE = 'credentials'
#: Seconds between two searches for credentials to revoke.
INTERVAL = 60.0
_DELETIONS = frozenset({action_types.CLUSTER_DELETE, action_types.NODE_DELETE})


class CredentialReconciler:
    """Revokes credentials periodically, and when this process ends a deletion.

    :param revoke_unused: see `plugins.openstack.delegation.Delegations`
    :param worker: uuid of the worker
    """

    def __init__(
        self, store: Store, revoke_unused: Callable[[], int], clock: Clock, worker: str
    ) -> None:
        self._store = store
        self._revoke_unused = revoke_unused
        self._worker = worker
        self._timers = Timers(clock, 'credentials')
        self._is_due = False

    def start(self) -> None:
        """Start the periodic search."""
        self._timers.start()
        self._timers.after(0, self._tick)

    def stop(self) -> None:
        """Stop the search, and release the role."""
        self._timers.stop()
        try:
            self._store.release_role(ROLE, self._worker)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            LOG.warning('Could not release role %s, it expires: %s', ROLE, error)

    def on_stored(self, stored: Iterable[events.Event]) -> None:
        """Search now if one of these events is the end of a deletion."""
        if not self._is_due and any(map(_ends_deletion, stored)):
            self._is_due = True
            self._timers.after(0, self.reconcile)

    def _tick(self) -> None:
        try:
            self.reconcile()
        finally:
            self._timers.after(INTERVAL, self._tick)

    def reconcile(self) -> None:
        """Revoke what is not used any more, if this process has the role."""
        # Before the search: what ends during it may not be found.
        self._is_due = False
        if not self._store.acquire_role(ROLE, self._worker, 2 * INTERVAL):
            return
        try:
            self._revoke_unused()
        except (exceptions.ServiceUnavailable, exceptions.ConfigurationError) as error:
            LOG.warning('Credentials are revoked later: %s', error)


def _ends_deletion(event: events.Event) -> bool:
    """Return whether an event is the end of the deletion of an owner."""
    if event.subject == events.STACK:
        return event.new_status == 'DELETE_COMPLETE'
    detail = event.detail or {}
    return (
        event.subject in (events.CLUSTER, events.NODE)
        and detail.get('phase') == 'end'
        and (detail.get('action') or {}).get('type') in _DELETIONS
    )
