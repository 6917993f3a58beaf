"""Signals to actions, and to what they derived.

An action that waits for others has no worker that could hear a signal. It is
signalled here, with all that it derived, in one transaction: CANCEL ends what has not
started, SUSPEND keeps it from starting, and what runs is told.
"""

import contextlib
import datetime
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import EPOCH, Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import COMPLETE, Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.execution import deadlines, locks, results
from watcherlite.execution.dependents import count_down, release
from watcherlite.execution.events import action_event
from watcherlite.execution.ports import PlanRules, Projection
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


def is_waiting(action: Action) -> bool:
    """Return whether an action waits for what it derived."""
    return action.phase == COMPLETE and action.status == states.WAITING


def is_suspended(action: Action) -> bool:
    """Return whether an action is suspended while it waits for what it derived."""
    paused = action.status == states.SUSPENDED and action.owner is None
    return paused and action.phase == COMPLETE


def is_between_stages(action: Action) -> bool:
    """Return whether all that an action derived has ended, and no worker has it."""
    resumes = action.phase == COMPLETE and action.status == states.READY
    return resumes and action.owner is None and action.start_time is not None


def has_unfinished_derived(action: Action) -> bool:
    """Return whether an action waits for what it derived, suspended or not."""
    return is_waiting(action) or is_suspended(action)


def apply_signal(
    tx: Transaction, told: Sequence[Action], signal: str, now: datetime.datetime
) -> list[ActionChange]:
    """Let actions heed a signal for which there is no worker; return what changed.

    :param told: as they are now, locked; others among them have a worker
    """
    changes = []
    for action in told:
        is_idle = is_waiting(action) or is_between_stages(action)
        if signal == states.SUSPEND and is_idle:
            status = states.SUSPENDED
        elif signal != states.SUSPEND and is_suspended(action):
            status = states.WAITING if action.pending else states.READY
        else:
            continue
        after = deadlines.change_status(action, status, now).evolve(updated_at=now)
        changes.append(ActionChange(action, after))
    tx.change_actions(changes)
    return changes


def hold_or_release(
    tx: Transaction,
    unstarted: Sequence[Action],
    parents: Mapping[int | None, str],
    signal: str,
    now: datetime.datetime,
) -> tuple[list[ActionChange], list[Action]]:
    """Keep derived actions from starting at SUSPEND, and let them go at RESUME.

    :param unstarted: as they are now, locked
    :param parents: id -> uuid of what derived them
    :returns: what changed, and what may have its target now
    """
    changes = []
    for action in unstarted:
        holder = parents[action.derived_from]
        if signal == states.SUSPEND:
            # Who has taken it and not started it finds that it is not its any more.
            after = action.evolve(owner=None, blocked_on=holder, updated_at=now)
        elif action.blocked_on == holder:
            ready = action.status == states.WAITING and not action.pending
            status = states.READY if ready else action.status
            after = action.evolve(status=status, blocked_on=None, updated_at=now)
        else:
            continue
        changes.append(ActionChange(action, after))
    if len(tx.change_actions(changes)) < len(changes):
        raise exceptions.Conflict(
            f'Action {unstarted[0].uuid} was changed at the same time; look again'
        )
    if signal != states.SUSPEND:
        return changes, []
    # What waited for a lock, or was about to take it, is not in the way of others.
    return changes, locks.release(tx, [change.after for change in changes])


LOG = logging.getLogger(__name__)


class ActionSignals:
    """Sends CANCEL, SUSPEND and RESUME to actions of every lane, and times them out.

    :param rules: of the plans that some actions belong to
    :param projection: applied to actions that are ended here
    """

    def __init__(
        self,
        store: Store,
        rules: PlanRules,
        clock: Clock,
        messenger: commands.Messenger,
        projection: Projection,
    ) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        self._messenger = messenger
        self._projection = projection

    @retry_on_conflict
    def signal(self, uuid: str, signal: str) -> Action:
        """Send a signal to an action; NotFound, Conflict, Invalid.

        CANCEL of one that has not started needs nobody's help. A signal to one that
        waits for derived actions is for these, too: it is CANCELLED when the last of
        them has ended, and as long as it is SUSPENDED no further one starts. Those
        that run heed a signal when they next ask for it.
        """
        if signal not in states.SIGNALS:
            known = ', '.join(sorted(states.SIGNALS))
            raise exceptions.Invalid(
                f'There is no signal {signal!r}; there are {known}'
            )
        now = self._clock.now()
        found = self._store.get_action(uuid)
        about = self._with_projection(found)
        with self._store.transaction() as tx:
            held = self._projection.lock(tx, about) if about else None
            plan, action = locked_pair(tx, found)
            problem = _problem(action, signal)
            if problem is not None:
                raise exceptions.Conflict(
                    f'{signal} is not possible for action {uuid}: {problem}'
                )
            family = [action, *self._unfinished_derived(tx, action)]
            signalled, unblocked = self._signal(tx, plan, family, signal, now)
            self._follow(tx, held, about, family, signalled, now)
        self._pass_on_and_tell(plan, family, signal, unblocked)
        return signalled[action.id]

    @retry_on_conflict
    def time_out(self, uuid: str) -> None:
        """Have what an action derived end, if its time is over; NotFound, Conflict.

        When the last of these has ended the action is FAILED, unless its type knows
        better: see `ActionType.overdue`. One that does not wait for others any more,
        or whose time is not over, is left alone.
        """
        now = self._clock.now()
        found = self._store.get_action(uuid)
        about = self._with_projection(found)
        with self._store.transaction() as tx:
            held = self._projection.lock(tx, about) if about else None
            plan, action = locked_pair(tx, found)
            # Of two who come at the same time, the second finds that it was told.
            over = (
                action.deadline is not None
                and deadlines.EXPIRED < action.deadline <= now
            )
            if not over or not is_waiting(action):
                return
            told = action.evolve(deadline=deadlines.EXPIRED, updated_at=now)
            tx.change_actions([ActionChange(action, told)])
            derived = self._unfinished_derived(tx, action)
            signalled, unblocked = self._signal(tx, plan, derived, states.CANCEL, now)
            self._follow(tx, held, about, derived, signalled, now)
        LOG.warning(
            'The time of action %s (%s) is over; what it waits for is cancelled',
            action.uuid,
            action.action_type,
        )
        self._pass_on_and_tell(plan, [told, *derived], states.CANCEL, unblocked)

    def _follow(
        self,
        tx: Transaction,
        held: Any,
        about: Sequence[Action],
        family: Sequence[Action],
        signalled: Mapping[int, Action],
        now: datetime.datetime,
    ) -> None:
        """Let what actions are about follow those that a signal has ended.

        :param about: those of the family that have a subject
        :param family: as they were
        :param signalled: as they are
        """
        ids = {one.id for one in about}
        ended = [
            (ActionChange(before, after), None)
            for before in family
            if before.id in ids and (after := signalled[before.id]).finished
        ]
        if ended:
            tx.add_events(self._projection.apply(tx, held, ended, now))

    def _pass_on_and_tell(
        self,
        plan: ActionPlan | None,
        family: Sequence[Action],
        signal: str,
        unblocked: Sequence[Action],
    ) -> None:
        self.pass_on(family, signal)
        if plan is not None:
            self._messenger.broadcast(commands.ActionsSignalled((plan.uuid,)))
        else:
            self._messenger.broadcast(commands.ActionsSignalled())
        # Its end, or its going on, may have let others of its lane go on.
        for lane in sorted({a.lane for a in family if a.plan_id is None}):
            self._messenger.send(lane, commands.RunActions())
        self._tell_of(unblocked)
        self._messenger.broadcast(commands.EventsStored())

    def _with_projection(self, action: Action) -> list[Action]:
        """Return what of an action, and of all that it derived, has a subject.

        No such action belongs to a plan: that would have to be locked before.
        """
        if not self._projection.is_affected_by(action):
            return []
        found, frontier = [action], [action]
        while frontier:
            frontier = self._store.unfinished_derived([a.id for a in frontier])
            found += frontier
        return [one for one in found if self._projection.is_affected_by(one)]

    def _tell_of(self, unblocked: Sequence[Action]) -> None:
        """Tell of actions, of any plan and lane, that may have their target now."""
        plans: tuple[str, ...] = ()
        # What was asked for is done; this is only to have it sooner.
        with contextlib.suppress(exceptions.StoreUnavailable, exceptions.StoreConflict):
            plans = locks.plan_uuids(self._store, unblocked)
        if plans:
            self._messenger.broadcast(commands.WorkAvailable(plans))
        for lane in sorted({a.lane for a in unblocked if a.plan_id is None}):
            self._messenger.send(lane, commands.RunActions())

    def pass_on(self, actions: Sequence[Action], signal: str) -> None:
        """Signal what these wait for that stands for itself, see `DerivedAction`.

        If nobody comes to that they end all the same, when it has ended.
        """
        ids = [a.id for a in actions if a.plan_id and has_unfinished_derived(a)]
        for child in self._store.unfinished_derived(ids) if ids else ():
            if child.plan_id is None:
                with contextlib.suppress(exceptions.NotFound, exceptions.Conflict):
                    self.signal(child.uuid, signal)

    def _unfinished_derived(self, tx: Transaction, action: Action) -> list[Action]:
        """Lock and return what an action waits for that it derived, and so on.

        Without what stands for itself: only one plan is locked.
        """
        found: list[Action] = []
        frontier = [action]
        while frontier:
            waiting = [a.id for a in frontier if has_unfinished_derived(a)]
            derived = [
                child
                for child in self._store.unfinished_derived(waiting)
                if child.plan_id == action.plan_id
            ]
            locked = tx.lock_actions([child.id for child in derived])
            frontier = [child for child in locked.values() if not child.finished]
            found += frontier
        return found

    def _signal(
        self,
        tx: Transaction,
        plan: ActionPlan | None,
        actions: Sequence[Action],
        signal: str,
        now: datetime.datetime,
    ) -> tuple[dict[int, Action], list[Action]]:
        """Signal what has started; end, hold or let go what has not.

        :returns: all of them, by id, and what may have its target now
        """
        ids = {action.id for action in actions}
        # What is derived is kept from starting as all others are.
        between = [
            a
            for a in actions
            if signal == states.SUSPEND
            and is_between_stages(a)
            and a.derived_from not in ids
        ]
        unstarted = [
            a
            for a in actions
            if a.status in states.NOT_STARTED
            and a not in between
            and not is_waiting(a)
            and not _is_for_worker(a, signal, derived=a.derived_from in ids)
        ]
        over = {action.id for action in unstarted}
        changed: list[Action] = []
        unblocked: list[Action] = []
        if unstarted and signal == states.CANCEL:
            changed, unblocked = end_unstarted(
                tx, self._rules, plan, unstarted, states.CANCELLED, None, now
            )
        elif unstarted:
            parents: dict[int | None, str] = {a.id: a.uuid for a in actions}
            held, unblocked = hold_or_release(tx, unstarted, parents, signal, now)
            changed = [change.after for change in held]
            if plan is not None and held:
                counts = [(change, None) for change in held]
                plan = self._rules.apply_changes(plan, counts, 0, 0, now)
                tx.save_plans([plan])
        started = [a.id for a in actions if a.id not in over]
        told = tx.set_control(signal, now, action_ids=started) if started else []
        change_status = apply_signal(tx, told, signal, now)
        if signal == states.CANCEL:
            told = _end_pauses(tx, told, now)
        tx.add_events(
            [
                action_event(a, a, plan, now, {'signal': signal}, events.SIGNALLED)
                for a in told
            ]
            + [action_event(c.before, c.after, plan, now) for c in change_status]
        )
        settled = (*changed, *(c.after for c in change_status))
        return {a.id: a for a in (*actions, *told, *settled)}, unblocked


def _problem(action: Action, signal: str) -> str | None:
    """Return why an action cannot be sent a signal, or None if it can."""
    cancelled = action.control == states.CANCEL and not action.finished
    if cancelled and signal != states.CANCEL:
        return 'it was told to CANCEL'
    if signal == states.SUSPEND and (is_claimed(action) or is_between_stages(action)):
        return None
    allowed = action.status in states.SIGNAL_ALLOWED[signal]
    if signal == states.SUSPEND and action.status == states.WAITING:
        allowed = is_waiting(action)
    return None if allowed else f'it is {action.status}'


def is_claimed(action: Action) -> bool:
    """Return whether a worker has taken an action and prepares its start.

    Its policies may be asked just now, and act on what is outside: the worker ends it.
    """
    return action.status == states.READY and action.owner is not None


def _is_for_worker(action: Action, signal: str, derived: bool) -> bool:
    """Return whether a worker is to heed a signal to an action that is READY.

    That holds for one that a worker has taken, and for the CANCEL of one that is of
    no plan and waits for a further try: its policies were asked before the first one,
    and have to hear that it ends.

    :param derived: it is signalled with what derived it, which is suspended, and
        keeps it from starting
    """
    if signal != states.CANCEL:
        return is_claimed(action) and not derived
    paused = action.start_time is not None and action.end_time is None
    retried = action.status == states.READY and action.plan_id is None and paused
    return is_claimed(action) or retried


def _end_pauses(
    tx: Transaction, told: Sequence[Action], now: datetime.datetime
) -> list[Action]:
    """Let workers take cancelled actions at once that wait for a further try."""
    changes = [
        ActionChange(action, action.evolve(not_before=EPOCH, updated_at=now))
        for action in told
        if action.status == states.READY and action.owner is None
    ]
    tx.change_actions(changes)
    ended = {change.after.id: change.after for change in changes}
    return [ended.get(action.id, action) for action in told]


def end_unstarted(
    tx: Transaction,
    rules: PlanRules,
    plan: ActionPlan | None,
    actions: Sequence[Action],
    status: str,
    message: str | None,
    now: datetime.datetime,
) -> tuple[list[Action], list[Action]]:
    """End actions that no worker executes, and let their dependents go on.

    :param message: None: that they are cancelled, before they started or after
    :returns: these, and what may have its target now
    """
    changes = [
        ActionChange(
            action,
            action.evolve(
                status=status,
                status_message=message
                or results.cancelled_text(action, results.CANCELLED_UNSTARTED),
                owner=None,
                end_time=now,
                deadline=None,
                updated_at=now,
            ),
        )
        for action in actions
    ]
    if len(tx.change_actions(changes)) < len(changes):
        raise exceptions.Conflict(
            f'Action {actions[0].uuid} was changed at the same time; look again'
        )
    ended = [change.after for change in changes]
    if plan is not None and plan.state in plan_states.SKIPPABLE:
        count_down(tx, ended, now, started=False)
    else:
        _, ended_too = release(tx, ended, {}, now)
        changes += [
            ActionChange(a.evolve(status=states.WAITING, owner=None), a)
            for a in ended_too
        ]
    unblocked = locks.release(tx, [change.after for change in changes])
    last: list[Event] = []
    before = plan
    if plan is not None:
        plan = rules.apply_changes(plan, [(c, None) for c in changes], 0, 0, now)
    written = [action_event(c.before, c.after, plan, now) for c in changes]
    if before is not None and plan is not None:
        plan, last = rules.finish_if_done(before, plan, now)
        tx.save_plans([plan])
    tx.add_events([*written, *last])
    return ended, unblocked


def locked_plan(tx: Transaction, plan_id: int) -> ActionPlan:
    """Lock a plan and return it; NotFound when it is gone."""
    plan = tx.lock_plans([plan_id]).get(plan_id)
    if plan is None:
        raise exceptions.NotFound('The action plan was purged at the same time.')
    return plan


def locked_pair(tx: Transaction, action: Action) -> tuple[ActionPlan | None, Action]:
    """Lock an action and its plan, the plan first, and return both."""
    plan = None
    if action.plan_id is not None:
        plan = locked_plan(tx, action.plan_id)
    locked = tx.lock_actions([action.id]).get(action.id)
    # What was deleted is kept as a row for the record, and changes no more.
    if locked is None or locked.deleted_at is not None:
        raise exceptions.NotFound(f'Action {action.uuid} could not be found.')
    return plan, locked
