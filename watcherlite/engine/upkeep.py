"""What the engine looks after by itself: plans that expire, runs that got lost.

A run writes down by itself how it went. One that could not, because its worker was
lost too often, its plugin hung, or a user ended its action, is written down here:
at once by the worker that ended it, and by a look at all audits now and then.
"""

import dataclasses
import datetime
import functools
import logging
import threading
from collections.abc import Iterable

from watcherlite import exceptions
from watcherlite.applier.progress import plan_event
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.db.listing import Query
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE, Action, cut
from watcherlite.domain.audits import CONTINUOUS, Audit
from watcherlite.engine import run_actions, runs
from watcherlite.engine.facts import changed
from watcherlite.engine.operations import Tell
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.execution.scheduling import Scheduler
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as states

LOG = logging.getLogger(__name__)

#: Who of all engines looks at all audits and plans.
ROLE = 'upkeep'
#: Seconds between two looks at all audits that are not over.
RECONCILE = 60.0
#: Seconds until one look is tried again that the database did not allow.
RETRY = 2.0
#: Rows of one look.
WINDOW = 500

EXPIRED = 'Nobody started it for {:g} h after it was proposed.'
LOST_RUN = 'Its run ended without a result.'


@dataclasses.dataclass(slots=True)
class UpkeepSettings:
    """The options of [engine] that explain themselves there.

    :param action_plan_expiry: hours; 0: plans do not expire
    :param check_periodic_interval: seconds
    """

    action_plan_expiry: float = 24.0
    check_periodic_interval: float = 1800.0


class Upkeep:
    """The upkeep of one engine process.

    :param worker: its uuid
    :param tell: see `AuditOperations`
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        tell: Tell,
        worker: str,
        settings: UpkeepSettings,
    ) -> None:
        self._store = store
        self._clock = clock
        self._tell = tell
        self._worker = worker
        self._settings = settings
        self._scheduler = Scheduler(clock, 'upkeep')
        self._rounds = 0
        self._lock = threading.Lock()

    # life

    def start(self) -> None:
        """Begin to look."""
        self._scheduler.start()
        self._scheduler.after(0, self._look_at_audits)
        self.reconfigure(self._settings)

    def stop(self) -> None:
        """Look no more, and let another engine do it."""
        self._scheduler.stop()
        try:
            self._store.drop_role(ROLE, self._worker)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            LOG.warning('The role %s runs out by itself: %s', ROLE, error)

    def reconfigure(self, settings: UpkeepSettings) -> None:
        """Take over new settings, and look at the plans now."""
        with self._lock:
            self._settings = settings
            self._rounds += 1
            rounds = self._rounds
        self._scheduler.after(0, functools.partial(self._look_at_plans, rounds))

    def hear(self, stored: Iterable[events.Event]) -> None:
        """Look at the runs among events that were just stored; returns at once."""
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
            self._scheduler.after(0, functools.partial(self.look_at, sorted(ended)))

    def _is_the_one(self) -> bool:
        """Say whether this process looks at everything."""
        return self._store.take_role(ROLE, self._worker, 2 * RECONCILE)

    # plans

    def _look_at_plans(self, rounds: int) -> None:
        if rounds != self._rounds:
            # A reload has begun another round.
            return
        try:
            if self._is_the_one():
                self.supersede()
        finally:
            self._scheduler.after(
                self._settings.check_periodic_interval,
                functools.partial(self._look_at_plans, rounds),
            )

    def supersede(self) -> int:
        """Let plans expire that nobody has started; return how many did.

        Their actions stay as they are: nothing can start them any more.
        """
        hours = self._settings.action_plan_expiry
        if hours <= 0:
            return 0
        now = self._clock.now()
        before = now - datetime.timedelta(hours=hours)
        count = 0
        while True:
            found = self._store.expired_plans([plan_states.RECOMMENDED], before, WINDOW)
            ids = sorted(plan.id for plan in found if plan.id is not None)
            if not ids:
                break
            with self._store.transaction() as tx:
                plans = [
                    plan
                    for plan in tx.lock_plans(ids).values()
                    if plan.state == plan_states.RECOMMENDED
                ]
                over = [
                    plan.evolve(
                        state=plan_states.SUPERSEDED,
                        status_message=EXPIRED.format(hours),
                        updated_at=now,
                    )
                    for plan in plans
                ]
                tx.save_plans(over)
                tx.add_events(
                    [
                        plan_event(plan, after, now)
                        for plan, after in zip(plans, over, strict=True)
                    ]
                )
            count += len(over)
            self._tell(None, commands.EventsStored())
        if count:
            LOG.info('%d action plans have expired', count)
        return count

    # audits

    def _look_at_audits(self) -> None:
        try:
            if self._is_the_one():
                self.reconcile()
        finally:
            self._scheduler.after(RECONCILE, self._look_at_audits)

    def reconcile(self) -> None:
        """Look at all audits that are not over, and settle those whose run is."""
        for state in (states.PENDING, states.ONGOING):
            last: str | None = None
            while True:
                page = [
                    listed.audit
                    for listed in self._store.list_audits(
                        Query(filters={'state': state}, after=last, limit=WINDOW)
                    )
                ]
                self._settle_lost(page)
                if len(page) < WINDOW:
                    break
                last = page[-1].uuid

    def _settle_lost(self, audits: list[Audit]) -> None:
        ids = [audit.action_id for audit in audits if audit.action_id is not None]
        actions = self._store.actions_by_id(ids) if ids else {}
        for audit in audits:
            action = actions.get(audit.action_id or 0)
            if run_actions.wants_action(audit) and _needs_a_word(action):
                self._settled(audit.uuid)

    def look_at(self, action_ids: list[int]) -> None:
        """Settle the audits that these actions have run."""
        try:
            for action in self._store.actions_by_id(action_ids).values():
                if action.action_type == run_actions.AUDIT and _needs_a_word(action):
                    self._settled(str(action.inputs.get('audit')))
        except (exceptions.StoreUnavailable, exceptions.StoreConflict):
            self._scheduler.after(RETRY, functools.partial(self.look_at, action_ids))
            raise

    @again_on_conflict
    def _settled(self, uuid: str) -> None:
        with self._store.transaction() as tx:
            again = self.settle(tx, uuid)
        self._tell(None, commands.EventsStored())
        if again:
            self._tell(ENGINE, commands.RunActions())

    def settle(self, tx: Transaction, uuid: str) -> bool:
        """Write down how a run went that could not do so; True if there is a new one.

        A CONTINUOUS audit goes on, and says what was wrong.
        """
        audit = tx.lock_audit(uuid)
        if audit is None or not run_actions.wants_action(audit):
            return False
        action = run_actions.of_audit(tx, audit)
        if not _needs_a_word(action):
            return False
        now = self._clock.now()
        message = cut(action.status_message if action is not None else None)
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
            # The machine knows no way from PENDING to FAILED but over ONGOING.
            ongoing = audit.evolve(state=states.ONGOING)
            written = changed(audit, ongoing, now)
            audit = ongoing
        tx.save_audit(after)
        tx.add_events([*written, *changed(audit, after, now)])
        return False

    def _run_again(
        self,
        tx: Transaction,
        audit: Audit,
        after: Audit,
        action: Action | None,
        now: datetime.datetime,
    ) -> bool:
        """Give a CONTINUOUS audit a new action in place of one that has ended."""
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
        tx.add_events([*changed(audit, after, now), *begun])
        return run.at is not None


def _due(
    tx: Transaction, audit: Audit, action: Action, now: datetime.datetime
) -> Audit:
    """Return an audit with the time of the next run.

    The action, which could not say when, repeats itself by the interval that it was
    made with.
    """
    if (
        run_actions.has_old_interval(audit, action)
        and action.not_before > now
        and run_actions.next_run(audit, action, now).at is not None
    ):
        return run_actions.put_off(tx, audit, action, now)
    return audit.evolve(next_run_time=action.not_before)


def _may_be_lost(event: events.Event) -> bool:
    """Say whether an event may be of a run that could not say how it went."""
    if event.new_status in (action_states.FAILED, action_states.CANCELLED):
        return True
    repeated = event.new_status == action_states.READY
    return repeated and 'fault' in (event.detail or {})


def _needs_a_word(action: Action | None) -> bool:
    """Say whether an action runs its audit no more, or has failed without a word."""
    if action is None or action.finished:
        return True
    return (
        action.status == action_states.READY
        and action.end_time is not None
        and action.status_message is not None
        and not runs.is_told(action.outputs)
    )
