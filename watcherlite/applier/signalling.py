"""How signals reach an action, and what it waits for that it derived.

An action that waits for others has no worker that could hear a signal. It is
signalled here, with all that it derived, in one transaction: CANCEL ends what has not
started, SUSPEND keeps it from starting, and what runs is told.
"""

import contextlib
import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event
from watcherlite.execution import locking, overdue, results, suspension
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.execution.facts import action_event
from watcherlite.execution.subjects import Subjects
from watcherlite.execution.successors import count_down, release
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

LOG = logging.getLogger(__name__)

Tell = Callable[[str | None, commands.Command | commands.Broadcast], None]


class Signalling:
    """Signals actions; see `PlanOperations` for the parameters."""

    def __init__(
        self,
        store: Store,
        progress: PlanProgress,
        clock: Clock,
        tell: Tell,
        subjects: Subjects,
    ) -> None:
        self._store = store
        self._progress = progress
        self._clock = clock
        self._tell = tell
        self._subjects = subjects

    @again_on_conflict
    def signal(self, uuid: str, signal: str) -> Action:
        """See `PlanOperations.signal_action`."""
        if signal not in states.SIGNALS:
            known = ', '.join(sorted(states.SIGNALS))
            raise exceptions.Invalid(
                f'There is no signal {signal!r}; there are {known}'
            )
        now = self._clock.now()
        found = self._store.get_action(uuid)
        about = self._with_subjects(found)
        with self._store.transaction() as tx:
            held = self._subjects.lock(tx, about) if about else None
            plan, action = locked_pair(tx, found)
            waits = action.status == states.WAITING
            if action.status not in states.SIGNAL_ALLOWED[signal] or (
                signal == states.SUSPEND and waits and not suspension.waits(action)
            ):
                raise exceptions.Conflict(
                    f'{signal} is not possible for action {uuid}: it is {action.status}'
                )
            family = [action, *self._unfinished_derived(tx, action)]
            signalled, unblocked = self._signal(tx, plan, family, signal, now)
            self._follow(tx, held, about, family, signalled, now)
        self._pass_on_and_tell(plan, family, signal, unblocked)
        return signalled[action.id or 0]

    @again_on_conflict
    def time_out(self, uuid: str) -> None:
        """See `PlanOperations.time_out`."""
        now = self._clock.now()
        found = self._store.get_action(uuid)
        about = self._with_subjects(found)
        with self._store.transaction() as tx:
            held = self._subjects.lock(tx, about) if about else None
            plan, action = locked_pair(tx, found)
            # Of two who come at the same time, the second finds that it was told.
            over = action.deadline is not None and overdue.OVER < action.deadline <= now
            if not over or not suspension.waits(action):
                return
            told = action.evolve(deadline=overdue.OVER, updated_at=now)
            tx.change_actions([ActionChange(action, told)])
            derived = self._unfinished_derived(tx, action)
            signalled, unblocked = self._signal(tx, plan, derived, states.CANCEL, now)
            self._follow(tx, held, about, derived, signalled, now)
        LOG.warning(
            'The time of action %s (%s) is over; what it waits for is cancelled',
            *(action.uuid, action.action_type),
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
            if before.id in ids and (after := signalled[before.id or 0]).finished
        ]
        if ended:
            tx.add_events(self._subjects.follow(tx, held, ended, now))

    def _pass_on_and_tell(
        self,
        plan: ActionPlan | None,
        family: Sequence[Action],
        signal: str,
        unblocked: Sequence[Action],
    ) -> None:
        self.pass_on(family, signal)
        if plan is not None:
            self._tell(None, commands.ActionsSignalled((plan.uuid,)))
        else:
            self._tell(None, commands.ActionsSignalled())
        # Its end, or its going on, may have let others of its lane go on.
        for lane in sorted({a.lane for a in family if a.plan_id is None}):
            self._tell(lane, commands.RunActions())
        self._tell_of(unblocked)
        self._tell(None, commands.EventsStored())

    def _with_subjects(self, action: Action) -> list[Action]:
        """Return what of an action, and of all that it derived, has a subject.

        No such action belongs to a plan: that would have to be locked before.
        """
        if not self._subjects.concerns(action):
            return []
        found, frontier = [action], [action]
        while frontier:
            frontier = self._store.unfinished_derived([a.id or 0 for a in frontier])
            found += frontier
        return [one for one in found if self._subjects.concerns(one)]

    def _tell_of(self, unblocked: Sequence[Action]) -> None:
        """Tell of actions, of any plan and lane, that may have their target now."""
        plans: tuple[str, ...] = ()
        # What was asked for is done; this is only to have it sooner.
        with contextlib.suppress(exceptions.StoreUnavailable, exceptions.StoreConflict):
            plans = locking.plans_of(self._store, unblocked)
        if plans:
            self._tell(None, commands.WorkAvailable(plans))
        for lane in sorted({a.lane for a in unblocked if a.plan_id is None}):
            self._tell(lane, commands.RunActions())

    def pass_on(self, actions: Sequence[Action], signal: str) -> None:
        """Signal what these wait for that stands for itself, see `DerivedAction`.

        If nobody comes to that they end all the same, when it has ended.
        """
        ids = [a.id or 0 for a in actions if a.plan_id and suspension.depends(a)]
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
            waiting = [a.id or 0 for a in frontier if suspension.depends(a)]
            derived = [
                child
                for child in self._store.unfinished_derived(waiting)
                if child.plan_id == action.plan_id
            ]
            locked = tx.lock_actions([child.id or 0 for child in derived])
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
        unstarted = [
            a
            for a in actions
            if a.status in states.NOT_STARTED and not suspension.waits(a)
        ]
        over = {action.id for action in unstarted}
        unblocked: list[Action] = []
        changes: list[ActionChange] = []
        if unstarted and signal == states.CANCEL:
            ended, unblocked = end_unstarted(
                *(tx, self._progress, plan, unstarted),
                *(states.CANCELLED, None, now),
            )
            changes += [ActionChange(a, a) for a in ended]
        elif unstarted:
            parents = {action.id: action.uuid for action in actions}
            held, unblocked = suspension.hold_or_let_go(
                tx, unstarted, parents, signal, now
            )
            changes += held
            if plan is not None and held:
                counts = [(change, None) for change in held]
                plan = self._progress.counted(plan, counts, 0, 0, now)
                tx.save_plans([plan])
        started = [a.id for a in actions if a.id is not None and a.id not in over]
        told = tx.set_control(signal, now, action_ids=started) if started else []
        turned = suspension.turn(tx, told, signal, now)
        tx.add_events(
            [
                action_event(a, a, plan, now, {'signal': signal}, events.SIGNALLED)
                for a in told
            ]
            + [action_event(c.before, c.after, plan, now) for c in turned]
        )
        found = {action.id or 0: action for action in (*actions, *told)}
        found |= {c.after.id or 0: c.after for c in (*changes, *turned)}
        return found, unblocked


def end_unstarted(
    tx: Transaction,
    progress: PlanProgress,
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
    unblocked = locking.release(tx, [change.after for change in changes])
    last: list[Event] = []
    if plan is not None:
        plan = progress.counted(plan, [(c, None) for c in changes], 0, 0, now)
    written = [action_event(c.before, c.after, plan, now) for c in changes]
    if plan is not None:
        plan, last = progress.ended(plan, now)
        tx.save_plans([plan])
    tx.add_events([*written, *last])
    return ended, unblocked


def locked_plan(tx: Transaction, plan_id: int | None) -> ActionPlan:
    """Lock a plan and return it; NotFound when it is gone."""
    plan = tx.lock_plans([plan_id or 0]).get(plan_id or 0)
    if plan is None:
        raise exceptions.NotFound('The action plan was purged at the same time.')
    return plan


def locked_pair(tx: Transaction, action: Action) -> tuple[ActionPlan | None, Action]:
    """Lock an action and its plan, the plan first, and return both."""
    plan = None
    if action.plan_id is not None:
        plan = locked_plan(tx, action.plan_id)
    locked = tx.lock_actions([action.id or 0]).get(action.id or 0)
    # What was deleted is kept as a row for the record, and changes no more.
    if locked is None or locked.deleted_at is not None:
        raise exceptions.NotFound(f'Action {action.uuid} could not be found.')
    return plan, locked
