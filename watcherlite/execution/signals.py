"""Signals to actions, and to their derived actions.

An action that waits for its derived actions has no worker to deliver a signal to. The
signal is applied to it and to all of them in one transaction: CANCEL ends and SUSPEND
holds those that have not started; running actions receive the signal.
"""

import contextlib
import dataclasses
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
from watcherlite.domain.events import Event, action_event
from watcherlite.execution import deadlines, locks, results
from watcherlite.execution.dependents import count_down, release
from watcherlite.execution.ports import PlanRules, Projection
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


def is_waiting(action: Action) -> bool:
    """Return whether an action waits for its derived actions."""
    return action.phase == COMPLETE and action.status == states.WAITING


def is_suspended(action: Action) -> bool:
    """Return whether an action is suspended while it waits for derived actions."""
    paused = action.status == states.SUSPENDED and action.owner is None
    return paused and action.phase == COMPLETE


def is_between_stages(action: Action) -> bool:
    """Return whether all derived actions have ended, and no worker has claimed it."""
    resumes = action.phase == COMPLETE and action.status == states.READY
    return resumes and action.owner is None and action.start_time is not None


def has_unfinished_derived(action: Action) -> bool:
    """Return whether an action waits for derived actions, suspended or not."""
    return is_waiting(action) or is_suspended(action)


def apply_signal(
    tx: Transaction, actions: Sequence[Action], signal: str, now: datetime.datetime
) -> list[ActionChange]:
    """Apply a signal to the actions that have no worker; return the changes.

    :param actions: locked; those with a worker are left alone
    """
    changes = []
    for action in actions:
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
    """Hold unstarted derived actions at SUSPEND, and release them at RESUME.

    :param unstarted: locked
    :param parents: id -> uuid of the actions that derived them
    :returns: the changes, and the actions that can take a released lock
    """
    changes = []
    for action in unstarted:
        holder = parents[action.derived_from]
        if signal == states.SUSPEND:
            # A worker that claimed it loses it.
            after = action.evolve(owner=None, blocked_on=holder, updated_at=now)
        elif action.blocked_on == holder:
            ready = action.status == states.WAITING and not action.pending
            status = states.READY if ready else action.status
            after = action.evolve(status=status, blocked_on=None, updated_at=now)
        else:
            continue
        changes.append(ActionChange(action, after))
    _change_all(tx, changes)
    if signal != states.SUSPEND:
        return changes, []
    # Held actions must not block others that need the same locks.
    return changes, locks.release(tx, [change.after for change in changes])


def _change_all(tx: Transaction, changes: Sequence[ActionChange]) -> None:
    """Change actions; raise Conflict if one was changed meanwhile."""
    if len(tx.change_actions(changes)) < len(changes):
        raise exceptions.Conflict(
            f'Action {changes[0].before.uuid} was changed by another request; try again'
        )


LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class _Targets:
    """The actions that a signal applies to, by how it is applied.

    :param unstarted: ended, held or released by the transaction
    :param signalled: ids of those that receive the signal
    """

    unstarted: list[Action]
    signalled: list[int]


class ActionSignals:
    """Sends CANCEL, SUSPEND and RESUME to actions, and times waiting actions out.

    :param rules: of plans, for actions that belong to one
    :param projection: applied to the actions that a signal ends
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

        CANCEL ends an unstarted action at once. A signal to an action that waits for
        derived actions applies to these as well: it is CANCELLED when the last of them
        has ended, and while it is SUSPENDED no further one starts. Running actions
        apply the signal at their next checkpoint.
        """
        if signal not in states.SIGNALS:
            known = ', '.join(sorted(states.SIGNALS))
            raise exceptions.Invalid(
                f'There is no signal {signal!r}; there are {known}'
            )
        now = self._clock.now()
        found = self._store.get_action(uuid)
        affected = self._affected(found)
        with self._store.transaction() as tx:
            held = self._projection.lock(tx, affected) if affected else None
            plan, action = lock_with_plan(tx, found)
            problem = _problem(action, signal)
            if problem is not None:
                raise exceptions.Conflict(
                    f'{signal} is not possible for action {uuid}: {problem}'
                )
            family = [action, *self._unfinished_derived(tx, action)]
            after, unblocked = self._signal(tx, plan, family, signal, now)
            self._project(tx, held, affected, family, after, now)
        self._announce(plan, family, signal, unblocked)
        return after[action.id]

    @retry_on_conflict
    def time_out(self, uuid: str) -> None:
        """Time out an action that waits for derived actions; NotFound, Conflict.

        The derived actions are cancelled. When the last of them has ended, the action
        is FAILED, unless `ActionType.overdue` returns another outcome. An action that
        does not wait any more, or whose deadline has not passed, is left alone.
        """
        now = self._clock.now()
        found = self._store.get_action(uuid)
        affected = self._affected(found)
        with self._store.transaction() as tx:
            held = self._projection.lock(tx, affected) if affected else None
            plan, action = lock_with_plan(tx, found)
            # Another worker may have timed it out at the same time.
            is_overdue = (
                action.deadline is not None
                and deadlines.EXPIRED < action.deadline <= now
            )
            if not is_overdue or not is_waiting(action):
                return
            expired = action.evolve(deadline=deadlines.EXPIRED, updated_at=now)
            tx.change_actions([ActionChange(action, expired)])
            derived = self._unfinished_derived(tx, action)
            after, unblocked = self._signal(tx, plan, derived, states.CANCEL, now)
            self._project(tx, held, affected, derived, after, now)
        LOG.warning(
            'Action %s (%s) exceeded its timeout; its derived actions are cancelled',
            action.uuid,
            action.action_type,
        )
        self._announce(plan, [expired, *derived], states.CANCEL, unblocked)

    def _project(
        self,
        tx: Transaction,
        held: Any,
        affected: Sequence[Action],
        family: Sequence[Action],
        changed: Mapping[int, Action],
        now: datetime.datetime,
    ) -> None:
        """Apply the projection to the actions that a signal ended.

        :param affected: the actions with a projection
        :param family: the actions before the signal
        :param changed: the actions after the signal, by id
        """
        ids = {one.id for one in affected}
        ended = [
            (ActionChange(before, after), None)
            for before in family
            if before.id in ids and (after := changed[before.id]).finished
        ]
        if ended:
            tx.add_events(self._projection.apply(tx, held, ended, now))

    def _announce(
        self,
        plan: ActionPlan | None,
        family: Sequence[Action],
        signal: str,
        unblocked: Sequence[Action],
    ) -> None:
        """Forward a signal, and send the messages about its effects."""
        self.forward(family, signal)
        if plan is not None:
            self._messenger.broadcast(commands.ActionsSignalled((plan.uuid,)))
        else:
            self._messenger.broadcast(commands.ActionsSignalled())
        # Other actions of its lane may be claimable now.
        for lane in sorted({a.lane for a in family if a.plan_id is None}):
            self._messenger.send(lane, commands.RunActions())
        self._announce_unblocked(unblocked)
        self._messenger.broadcast(commands.EventsStored())

    def _affected(self, action: Action) -> list[Action]:
        """Return which of an action and its derived actions have a projection.

        None of them belongs to a plan, which would have to be locked before.
        """
        if not self._projection.is_affected_by(action):
            return []
        found, frontier = [action], [action]
        while frontier:
            frontier = self._store.unfinished_derived([a.id for a in frontier])
            found += frontier
        return [one for one in found if self._projection.is_affected_by(one)]

    def _announce_unblocked(self, unblocked: Sequence[Action]) -> None:
        """Send hints about actions that can take a released lock."""
        plans: tuple[str, ...] = ()
        # The request is done; the sweep finds these actions as well.
        with contextlib.suppress(exceptions.StoreUnavailable, exceptions.StoreConflict):
            plans = locks.plan_uuids(self._store, unblocked)
        if plans:
            self._messenger.broadcast(commands.WorkAvailable(plans))
        for lane in sorted({a.lane for a in unblocked if a.plan_id is None}):
            self._messenger.send(lane, commands.RunActions())

    def forward(self, actions: Sequence[Action], signal: str) -> None:
        """Send a signal to derived actions in other lanes, see `DerivedAction`.

        These are not part of the transaction, and may end without the signal.
        """
        ids = [a.id for a in actions if a.plan_id and has_unfinished_derived(a)]
        for child in self._store.unfinished_derived(ids) if ids else ():
            if child.plan_id is None:
                with contextlib.suppress(exceptions.NotFound, exceptions.Conflict):
                    self.signal(child.uuid, signal)

    def _unfinished_derived(self, tx: Transaction, action: Action) -> list[Action]:
        """Lock and return the unfinished derived actions, at all levels.

        Those in other lanes are left out, because only one plan is locked.
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
        """Signal started actions; end, hold or release unstarted ones.

        :returns: all of them, by id, and the actions that can take a released lock
        """
        targets = _targets(actions, signal)
        changed: list[Action] = []
        unblocked: list[Action] = []
        if targets.unstarted and signal == states.CANCEL:
            changed, unblocked = end_unstarted(
                tx, self._rules, plan, targets.unstarted, states.CANCELLED, None, now
            )
        elif targets.unstarted:
            parents: dict[int | None, str] = {a.id: a.uuid for a in actions}
            held, unblocked = hold_or_release(
                tx, targets.unstarted, parents, signal, now
            )
            changed = [change.after for change in held]
            if plan is not None and held:
                counts = [(change, None) for change in held]
                plan = self._rules.apply_changes(plan, counts, 0, 0, now)
                tx.save_plans([plan])
        signalled: list[Action] = []
        if targets.signalled:
            signalled = tx.set_control(signal, now, action_ids=targets.signalled)
        applied = apply_signal(tx, signalled, signal, now)
        if signal == states.CANCEL:
            signalled = _end_delays(tx, signalled, now)
        tx.add_events(signal_events(signalled, applied, plan, signal, now))
        settled = (*changed, *(change.after for change in applied))
        return {a.id: a for a in (*actions, *signalled, *settled)}, unblocked


def _targets(actions: Sequence[Action], signal: str) -> _Targets:
    """Divide actions into those that have not started and those that are signalled."""
    ids = {action.id for action in actions}
    unstarted = []
    for action in actions:
        is_derived = action.derived_from in ids
        # Unless its parent holds it, such an action is suspended like a waiting one.
        suspends_between = (
            signal == states.SUSPEND and is_between_stages(action) and not is_derived
        )
        if (
            action.status in states.NOT_STARTED
            and not suspends_between
            and not is_waiting(action)
            and not _is_for_worker(action, signal, is_derived)
        ):
            unstarted.append(action)
    over = {action.id for action in unstarted}
    return _Targets(unstarted, [a.id for a in actions if a.id not in over])


def signal_events(
    signalled: Sequence[Action],
    applied: Sequence[ActionChange],
    plan: ActionPlan | None,
    signal: str,
    now: datetime.datetime,
) -> list[Event]:
    """Return the events of a signal: one for each receiver and each change."""
    detail = {'signal': signal}
    return [
        *(action_event(a, a, plan, now, detail, events.SIGNALLED) for a in signalled),
        *(action_event(c.before, c.after, plan, now) for c in applied),
    ]


def _problem(action: Action, signal: str) -> str | None:
    """Return why an action cannot be sent a signal, or None if it can."""
    cancelled = action.control == states.CANCEL and not action.finished
    if cancelled and signal != states.CANCEL:
        return 'it was sent CANCEL'
    if signal == states.SUSPEND and (is_claimed(action) or is_between_stages(action)):
        return None
    allowed = action.status in states.SIGNAL_ALLOWED[signal]
    if signal == states.SUSPEND and action.status == states.WAITING:
        allowed = is_waiting(action)
    return None if allowed else f'it is {action.status}'


def is_claimed(action: Action) -> bool:
    """Return whether a worker has claimed an action and prepares its start.

    Its policies may be running, so that only the worker can end it.
    """
    return action.status == states.READY and action.owner is not None


def _is_for_worker(action: Action, signal: str, derived: bool) -> bool:
    """Return whether a worker must apply a signal to an action that is READY.

    A worker applies it to an action that it has claimed. It also applies CANCEL to an
    action without a plan that waits for a retry: its policies ran before the
    first one, and must run at its end.

    :param derived: whether its parent is signalled as well, and holds it when suspended
    """
    if signal != states.CANCEL:
        return is_claimed(action) and not derived
    paused = action.start_time is not None and action.end_time is None
    retried = action.status == states.READY and action.plan_id is None and paused
    return is_claimed(action) or retried


def _end_delays(
    tx: Transaction, cancelled: Sequence[Action], now: datetime.datetime
) -> list[Action]:
    """Make cancelled actions that wait for a retry claimable at once."""
    changes = [
        ActionChange(action, action.evolve(not_before=EPOCH, updated_at=now))
        for action in cancelled
        if action.status == states.READY and action.owner is None
    ]
    tx.change_actions(changes)
    ended = {change.after.id: change.after for change in changes}
    return [ended.get(action.id, action) for action in cancelled]


def end_unstarted(
    tx: Transaction,
    rules: PlanRules,
    plan: ActionPlan | None,
    actions: Sequence[Action],
    status: str,
    message: str | None,
    now: datetime.datetime,
) -> tuple[list[Action], list[Action]]:
    """End actions that no worker executes, and release their dependents.

    :param message: None: that of a cancelled action
    :returns: these actions, and the actions that can take a released lock
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
    _change_all(tx, changes)
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
    _record_ends(tx, rules, plan, changes, now)
    return ended, unblocked


def _record_ends(
    tx: Transaction,
    rules: PlanRules,
    plan: ActionPlan | None,
    changes: Sequence[ActionChange],
    now: datetime.datetime,
) -> None:
    """Count ended actions in their plan, and add the events of both."""
    finished: list[Event] = []
    counted = plan
    if plan is not None:
        counted = rules.apply_changes(plan, [(c, None) for c in changes], 0, 0, now)
    written = [action_event(c.before, c.after, counted, now) for c in changes]
    if plan is not None and counted is not None:
        counted, finished = rules.finish_if_done(plan, counted, now)
        tx.save_plans([counted])
    tx.add_events([*written, *finished])


def lock_plan(tx: Transaction, plan_id: int) -> ActionPlan:
    """Lock a plan and return it; raise NotFound if it was purged."""
    plan = tx.lock_plans([plan_id]).get(plan_id)
    if plan is None:
        raise exceptions.NotFound('The action plan was purged meanwhile.')
    return plan


def lock_with_plan(tx: Transaction, action: Action) -> tuple[ActionPlan | None, Action]:
    """Lock an action and its plan, the plan first, and return both."""
    plan = None
    if action.plan_id is not None:
        plan = lock_plan(tx, action.plan_id)
    locked = tx.lock_actions([action.id]).get(action.id)
    # A deleted action is kept as a row, and does not change any more.
    if locked is None or locked.deleted_at is not None:
        raise exceptions.NotFound(f'Action {action.uuid} could not be found.')
    return plan, locked
