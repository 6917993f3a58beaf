"""Reconciliation of audits with their runs, and expiry of action plans.

A run records its own result. If it cannot, because its worker was lost too often,
its plugin hung, or a user ended its action, the reconciler records it: at once in
the worker that ended the action, and periodically for all audits.
"""

import dataclasses
import datetime
import functools
import logging
import threading
from collections.abc import Iterable

from watcherlite import exceptions
from watcherlite.applier.progress import supersede
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.db.query import Query
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE, Action, truncate
from watcherlite.domain.audits import CONTINUOUS, Audit
from watcherlite.engine.audits import run_actions, runs
from watcherlite.engine.audits.events import change_events
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.execution.services import Timers
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as states

LOG = logging.getLogger(__name__)

#: The role of the one engine that checks all audits and plans.
ROLE = 'upkeep'
#: Seconds between two checks of all unfinished audits.
RECONCILE_INTERVAL = 60.0
#: Seconds until a check that failed in the database is retried.
RETRY_DELAY = 2.0
#: Rows per page.
PAGE_SIZE = 500

EXPIRED = 'Not started within {:g} h of its proposal.'
LOST_RUN = 'Its run ended without a result.'


@dataclasses.dataclass(slots=True)
class ReconcilerSettings:
    """The options of group [engine] for the reconciler.

    :param action_plan_expiry: hours; 0: plans do not expire
    :param check_periodic_interval: seconds
    """

    action_plan_expiry: float = 24.0
    check_periodic_interval: float = 1800.0


class AuditReconciler:
    """The reconciler of one engine process.

    :param worker: uuid of the worker
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        messenger: commands.Messenger,
        worker: str,
        settings: ReconcilerSettings,
    ) -> None:
        self._store = store
        self._clock = clock
        self._messenger = messenger
        self._worker = worker
        self._settings = settings
        self._scheduler = Timers(clock, 'upkeep')
        self._rounds = 0
        self._lock = threading.Lock()

    # life

    def start(self) -> None:
        """Start the periodic checks."""
        self._scheduler.start()
        self._scheduler.after(0, self._check_audits)
        self.reconfigure(self._settings)

    def stop(self) -> None:
        """Stop the checks, and release the role."""
        self._scheduler.stop()
        try:
            self._store.release_role(ROLE, self._worker)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            LOG.warning('Could not release role %s, it expires: %s', ROLE, error)

    def reconfigure(self, settings: ReconcilerSettings) -> None:
        """Apply new settings, and check the plans now."""
        with self._lock:
            self._settings = settings
            self._rounds += 1
            rounds = self._rounds
        self._scheduler.after(0, functools.partial(self._check_plans, rounds))

    def on_stored(self, stored: Iterable[events.Event]) -> None:
        """Schedule the reconciliation of runs that ended in these events."""
        ended = {
            event.action_id
            for event in stored
            if event.subject == events.ACTION
            and event.kind == events.STATE_CHANGED
            and event.plan_id is None
            and event.action_id is not None
            and _may_be_lost(event)
        }
        if ended:
            self._scheduler.after(
                0, functools.partial(self.reconcile_actions, sorted(ended))
            )

    def _is_leader(self) -> bool:
        """Return whether this process holds the role."""
        return self._store.acquire_role(ROLE, self._worker, 2 * RECONCILE_INTERVAL)

    # plans

    def _check_plans(self, rounds: int) -> None:
        if rounds != self._rounds:
            # A reload has started another series of checks.
            return
        try:
            if self._is_leader():
                self.expire_plans()
        finally:
            self._scheduler.after(
                self._settings.check_periodic_interval,
                functools.partial(self._check_plans, rounds),
            )

    def expire_plans(self) -> int:
        """Supersede plans that were not started in time; return their number."""
        hours = self._settings.action_plan_expiry
        if hours <= 0:
            return 0
        now = self._clock.now()
        before = now - datetime.timedelta(hours=hours)
        count = 0
        while True:
            found = self._store.expired_plans(
                [plan_states.RECOMMENDED], before, PAGE_SIZE
            )
            ids = sorted(plan.id for plan in found)
            if not ids:
                break
            with self._store.transaction() as tx:
                plans = [
                    plan
                    for plan in tx.lock_plans(ids).values()
                    if plan.state == plan_states.RECOMMENDED
                ]
                supersede(tx, plans, EXPIRED.format(hours), now)
            count += len(plans)
            self._messenger.broadcast(commands.EventsStored())
        if count:
            LOG.info('%d action plans expired', count)
        return count

    # audits

    def _check_audits(self) -> None:
        try:
            if self._is_leader():
                self.reconcile()
        finally:
            self._scheduler.after(RECONCILE_INTERVAL, self._check_audits)

    def reconcile(self) -> None:
        """Settle all unfinished audits whose run has ended."""
        for state in (states.PENDING, states.ONGOING):
            last: str | None = None
            while True:
                page = [
                    listed.audit
                    for listed in self._store.list_audits(
                        Query(filters={'state': state}, after=last, limit=PAGE_SIZE)
                    )
                ]
                self._record_lost_runs(page)
                if len(page) < PAGE_SIZE:
                    break
                last = page[-1].uuid

    def _record_lost_runs(self, audits: list[Audit]) -> None:
        ids = [audit.action_id for audit in audits if audit.action_id is not None]
        actions = self._store.actions_by_id(ids) if ids else {}
        for audit in audits:
            action = None if audit.action_id is None else actions.get(audit.action_id)
            if run_actions.needs_action(audit) and _is_unrecorded(action):
                self._record_lost_run(audit.uuid)

    def reconcile_actions(self, action_ids: list[int]) -> None:
        """Settle the audits that these actions ran."""
        try:
            for action in self._store.actions_by_id(action_ids).values():
                if action.action_type == run_actions.AUDIT and _is_unrecorded(action):
                    self._record_lost_run(str(action.inputs.get('audit')))
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            self._scheduler.after(
                RETRY_DELAY, functools.partial(self.reconcile_actions, action_ids)
            )
            raise

    @retry_on_conflict
    def _record_lost_run(self, uuid: str) -> None:
        with self._store.transaction() as tx:
            again = self.record_lost_run(tx, uuid)
        self._messenger.broadcast(commands.EventsStored())
        if again:
            self._messenger.send(ENGINE, commands.RunActions())

    def record_lost_run(self, tx: Transaction, uuid: str) -> bool:
        """Record the result of a run that did not; return whether a new run exists.

        A CONTINUOUS audit continues, with the failure as its message.
        """
        audit = tx.lock_audit(uuid)
        if audit is None or not run_actions.needs_action(audit):
            return False
        action = run_actions.lock_action(tx, audit)
        if not _is_unrecorded(action):
            return False
        now = self._clock.now()
        message = truncate(action.status_message if action is not None else None)
        after = audit.evolve(status_message=message or LOST_RUN, updated_at=now)
        if action is not None and action.status == action_states.CANCELLED:
            after = after.evolve(state=states.CANCELLED, next_run_time=None)
        elif audit.audit_type != CONTINUOUS:
            after = after.evolve(state=states.FAILED)
        elif action is None or action.finished:
            return self._run_again(tx, audit, after, action, now)
        else:
            after = _due(tx, after, action, now)
            if after == audit.evolve(updated_at=now):
                return False
        written = []
        if after.state == states.FAILED and audit.state == states.PENDING:
            # The state machine allows PENDING to FAILED only through ONGOING.
            ongoing = audit.evolve(state=states.ONGOING)
            written = change_events(audit, ongoing, now)
            audit = ongoing
        tx.save_audit(after)
        tx.add_events([*written, *change_events(audit, after, now)])
        return False

    def _run_again(
        self,
        tx: Transaction,
        audit: Audit,
        after: Audit,
        action: Action | None,
        now: datetime.datetime,
    ) -> bool:
        """Replace the ended action of a CONTINUOUS audit."""
        began = now
        if action is not None:
            began = action.start_time or action.end_time or now
        run = run_actions.following_run(after, began, now)
        begun = []
        if run.at is None:
            after = after.evolve(state=states.FAILED, next_run_time=None)
        else:
            context = action.context if action is not None else {}
            after, created = run_actions.insert(tx, after, now, context, run)
            begun.append(created)
        tx.save_audit(after)
        tx.add_events([*change_events(audit, after, now), *begun])
        return run.at is not None


def _due(
    tx: Transaction, audit: Audit, action: Action, now: datetime.datetime
) -> Audit:
    """Return an audit with the time of its next run.

    An action whose run recorded nothing repeats by the interval it was created with.
    """
    if (
        run_actions.has_stale_interval(audit, action)
        and action.not_before > now
        and run_actions.next_run(audit, action, now).at is not None
    ):
        return run_actions.reschedule(tx, audit, action, now)
    return audit.evolve(next_run_time=action.not_before)


def _may_be_lost(event: events.Event) -> bool:
    """Return whether an event may be the end of a run that recorded nothing."""
    if event.new_status in (action_states.FAILED, action_states.CANCELLED):
        return True
    repeated = event.new_status == action_states.READY
    return repeated and 'fault' in (event.detail or {})


def _is_unrecorded(action: Action | None) -> bool:
    """Return whether an action has ended without a result in its audit."""
    if action is None or action.finished:
        return True
    return (
        action.status == action_states.READY
        and action.end_time is not None
        and action.status_message is not None
        and not runs.is_failure_recorded(action.outputs)
    )
