"""What operators do with plans and their actions.

Each operation is check, change, event, in one transaction that has locked the
plan; a refusal changes nothing. Who is to hear of it is told afterwards, by
hints that may be lost.
"""

import contextlib
import datetime
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.applier.progress import WINDOW, PlanProgress, cancelling, plan_event
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, documents, events, json_values
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import (
    APPLIER,
    COMPLETE,
    MESSAGE_LENGTH,
    Action,
    ActionChange,
)
from watcherlite.domain.documents import PlanDocument
from watcherlite.domain.events import Event
from watcherlite.execution import locking, results, successors
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.execution.facts import action_event
from watcherlite.execution.runner import ActionTypes
from watcherlite.execution.subjects import NoSubjects, Subjects
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

LOG = logging.getLogger(__name__)

Tell = Callable[[str | None, commands.Command | commands.Broadcast], None]


class PlanOperations:
    """The operations on plans.

    :param tell: (lane, command), or (None, broadcast): passes a hint on; never
        blocks and never raises
    :param on_worker_loss: of plans that are created here
    :param subjects: what follows actions that are ended here
    """

    def __init__(
        self,
        store: Store,
        types: ActionTypes,
        progress: PlanProgress,
        clock: Clock,
        tell: Tell,
        on_worker_loss: str = states.RESUME,
        subjects: Subjects | None = None,
    ) -> None:
        self._store = store
        self._types = types
        self._progress = progress
        self._clock = clock
        self._tell = tell
        self._on_worker_loss = on_worker_loss
        self._subjects = subjects or NoSubjects()

    # plans

    def create(
        self, document: PlanDocument, context: Mapping[str, Any] | None = None
    ) -> ActionPlan:
        """Store a plan as RECOMMENDED, with the audit that it belongs to.

        Raises InvalidDocument with every problem, and stores nothing then.
        """
        creation.check(document, self._types)
        return self._store_new(document, context)

    def create_from(
        self, value: object, context: Mapping[str, Any] | None = None
    ) -> ActionPlan:
        """Store the plan that a JSON value describes; likewise."""
        validate = creation.validator(self._types)
        return self._store_new(documents.from_mapping(value, validate), context)

    @again_on_conflict
    def _store_new(
        self, document: PlanDocument, context: Mapping[str, Any] | None
    ) -> ActionPlan:
        with self._store.transaction() as tx:
            plan = creation.store(
                tx, document, self._clock.now(), context or {}, self._on_worker_loss
            )
        self._tell(None, commands.EventsStored())
        LOG.info('Plan %s is stored with %d actions', plan.uuid, plan.total)
        return plan

    @again_on_conflict
    def start(self, uuid: str, expected: str | None = None) -> ActionPlan:
        """Let workers execute a plan; raises NotFound and Conflict.

        Starting one that is started already changes nothing.

        :param expected: the only state in which it may be; None: any that allows it
        """
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        with self._store.transaction() as tx:
            plan = self._locked(tx, plan_id)
            as_expected = expected in (None, plan.state)
            if as_expected and plan.state in (states.PENDING, states.ONGOING):
                return plan
            if not as_expected or not states.MACHINE.allows(plan.state, states.PENDING):
                raise exceptions.Conflict(
                    f"Couldn't start when state is '{plan.state}'."
                )
            after = plan.evolve(state=states.PENDING, updated_at=now)
            tx.save_plans([after])
            tx.add_events([plan_event(plan, after, now)])
        self._tell(APPLIER, commands.LaunchActionPlan(uuid))
        self._tell(None, commands.EventsStored())
        return after

    @again_on_conflict
    def cancel(self, uuid: str, expected: str | None = None) -> ActionPlan:
        """Cancel a plan; raises NotFound and Conflict.

        One that has not been taken is CANCELLED at once; a running one is
        CANCELLING until the last running action has ended.

        :param expected: the only state in which it may be; None: any that allows it
        """
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        told: list[Action] = []
        with self._store.transaction() as tx:
            plan = self._locked(tx, plan_id)
            as_expected = expected in (None, plan.state)
            if as_expected and plan.state in (states.CANCELLING, states.CANCELLED):
                return plan
            if as_expected and plan.state == states.ONGOING:
                after, told = cancelling(tx, plan, now)
            elif as_expected and states.MACHINE.allows(plan.state, states.CANCELLED):
                after = self._progress.cancel_unstarted(tx, plan, now)
            else:
                raise exceptions.Conflict(
                    f"Couldn't cancel when state is '{plan.state}'."
                )
            tx.save_plans([after])
        self._pass_on(told, action_states.CANCEL)
        self._tell(None, commands.ActionsSignalled((uuid,)))
        self._tell(None, commands.EventsStored())
        return after

    @again_on_conflict
    def delete(self, uuid: str) -> None:
        """Delete a plan softly, with its actions; raises NotFound and Conflict."""
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        with self._store.transaction() as tx:
            plan = self._locked(tx, plan_id)
            if not states.MACHINE.allows(plan.state, states.DELETED):
                raise exceptions.Conflict(
                    f"Couldn't delete when state is '{plan.state}'."
                )
            after = plan.evolve(state=states.DELETED, updated_at=now, deleted_at=now)
            self._delete_actions(tx, plan, now)
            tx.save_plans([after])
            tx.add_events([plan_event(plan, after, now, events.DELETED)])
        self._tell(None, commands.EventsStored())

    def _delete_actions(
        self, tx: Transaction, plan: ActionPlan, now: datetime.datetime
    ) -> None:
        last: int | None = None
        while True:
            page = self._store.list_actions(
                plan_id=plan.id, after_id=last, limit=WINDOW * 4
            )
            changes = [
                ActionChange(a, a.evolve(deleted_at=now, updated_at=now)) for a in page
            ]
            tx.change_actions(changes)
            tx.add_events(
                [
                    action_event(c.before, c.after, plan, now, None, events.DELETED)
                    for c in changes
                ]
            )
            if len(page) < WINDOW * 4:
                return
            last = page[-1].id

    # actions

    @again_on_conflict
    def skip_action(self, uuid: str, reason: str | None = None) -> Action:
        """Skip a PENDING action of a plan that has not been taken (spec 000).

        Raises NotFound, Conflict and, for a reason that cannot be kept, Invalid.
        """
        message = user_message(reason)
        now = self._clock.now()
        found = self._store.get_action(uuid)
        with self._store.transaction() as tx:
            plan, action = self._locked_pair(tx, found)
            if action.state != action_states.INFRA_OPTIM[action_states.INIT]:
                raise exceptions.TransitionNotAllowed(
                    f'State transition not allowed: ({action.state} -> '
                    f'{action_states.SKIPPED})'
                )
            if plan is None:
                raise exceptions.Conflict(
                    f'Action {uuid} belongs to no action plan; only those of a plan '
                    'can be skipped'
                )
            if plan.state not in states.SKIPPABLE:
                raise exceptions.Conflict(
                    f'State update not allowed for actionplan state: {plan.state}'
                )
            (after,), _ = self._end(
                tx, plan, [action], action_states.SKIPPED, message, now
            )
        if plan.state == states.PENDING:
            # It may have been the last that there was to do.
            self._tell(APPLIER, commands.LaunchActionPlan(plan.uuid))
        self._tell(None, commands.EventsStored())
        return after

    @again_on_conflict
    def edit_skip_message(self, uuid: str, reason: str | None) -> Action:
        """Change the message of a SKIPPED action, whatever its plan's state.

        What was skipped automatically stays so; only its reason changes.
        """
        now = self._clock.now()
        found = self._store.get_action(uuid)
        with self._store.transaction() as tx:
            plan, action = self._locked_pair(tx, found)
            if action.status != action_states.SKIPPED:
                raise exceptions.Conflict(
                    'status_message update only allowed when action state is SKIPPED'
                )
            if (action.status_message or '').startswith(results.SKIPPED_AUTOMATICALLY):
                message = automatic_message(reason)
            else:
                message = user_message(reason)
            after = action.evolve(status_message=message, updated_at=now)
            tx.change_actions([ActionChange(action, after)])
            tx.add_events(
                [action_event(action, after, plan, now, None, events.MESSAGE_CHANGED)]
            )
        self._tell(None, commands.EventsStored())
        return after

    @again_on_conflict
    def signal_action(self, uuid: str, signal: str) -> Action:
        """Send CANCEL, SUSPEND or RESUME to an action; NotFound, Conflict, Invalid.

        CANCEL of one that has not started needs nobody's help, and that of one
        that waits for derived actions is for these, too. Other signals are heeded
        when the action next asks for them.
        """
        if signal not in action_states.SIGNALS:
            known = ', '.join(sorted(action_states.SIGNALS))
            raise exceptions.Invalid(
                f'There is no signal {signal!r}; there are {known}'
            )
        now = self._clock.now()
        found = self._store.get_action(uuid)
        about = self._with_subjects(found)
        with self._store.transaction() as tx:
            held = self._subjects.lock(tx, about) if about else None
            plan, action = self._locked_pair(tx, found)
            if action.status not in action_states.SIGNAL_ALLOWED[signal]:
                raise exceptions.Conflict(
                    f'{signal} is not possible for action {uuid}: it is {action.status}'
                )
            family = [action, *self._unfinished_derived(tx, action)]
            signalled, unblocked = self._signal(tx, plan, family, signal, now)
            ids = {one.id for one in about}
            ended = [
                (ActionChange(before, after), None)
                for before in family
                if before.id in ids and (after := signalled[before.id or 0]).finished
            ]
            if ended:
                tx.add_events(self._subjects.follow(tx, held, ended, now))
        self._pass_on(family, signal)
        if plan is not None:
            self._tell(None, commands.ActionsSignalled((plan.uuid,)))
        else:
            self._tell(None, commands.ActionsSignalled())
            # Its end may have let others of its lane go on.
            self._tell(action.lane, commands.RunActions())
        self._tell_of(unblocked)
        self._tell(None, commands.EventsStored())
        return signalled[action.id or 0]

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

    def _pass_on(self, actions: Sequence[Action], signal: str) -> None:
        """Signal what these wait for that stands for itself, see `DerivedAction`.

        If nobody comes to that they end all the same, when it has ended.
        """
        ids = [a.id or 0 for a in actions if a.plan_id and _waits_for_derived(a)]
        for child in self._store.unfinished_derived(ids) if ids else ():
            if child.plan_id is None:
                with contextlib.suppress(exceptions.NotFound, exceptions.Conflict):
                    self.signal_action(child.uuid, signal)

    def _unfinished_derived(self, tx: Transaction, action: Action) -> list[Action]:
        """Lock and return what an action waits for that it derived, and so on.

        Without what stands for itself: only one plan is locked.
        """
        found: list[Action] = []
        frontier = [action]
        while frontier:
            waiting = [a.id or 0 for a in frontier if _waits_for_derived(a)]
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
        """Signal what has started and cancel what has not.

        :returns: all of them, by id, and what may have its target now
        """
        unstarted = [
            a
            for a in actions
            if a.status in action_states.NOT_STARTED and not _waits_for_derived(a)
        ]
        ended: list[Action] = []
        unblocked: list[Action] = []
        if unstarted:
            ended, unblocked = self._end(
                tx,
                plan,
                unstarted,
                action_states.CANCELLED,
                results.CANCELLED_UNSTARTED,
                now,
            )
        over = {action.id for action in ended}
        started = [a.id for a in actions if a.id is not None and a.id not in over]
        told = tx.set_control(signal, now, action_ids=started) if started else []
        tx.add_events(
            [
                action_event(a, a, plan, now, {'signal': signal}, events.SIGNALLED)
                for a in told
            ]
        )
        found = {action.id or 0: action for action in (*actions, *ended, *told)}
        return found, unblocked

    def _end(
        self,
        tx: Transaction,
        plan: ActionPlan | None,
        actions: Sequence[Action],
        status: str,
        message: str,
        now: datetime.datetime,
    ) -> tuple[list[Action], list[Action]]:
        """End actions that have not started, and let their dependents go on.

        :returns: these, and what may have its target now
        """
        changes = [
            ActionChange(
                action,
                action.evolve(
                    status=status,
                    status_message=message,
                    owner=None,
                    end_time=now,
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
        if plan is not None and plan.state in states.SKIPPABLE:
            successors.count_down(tx, ended, now, started=False)
        else:
            _, ended_too = successors.release(tx, ended, {}, now)
            changes += [
                ActionChange(a.evolve(status=action_states.WAITING, owner=None), a)
                for a in ended_too
            ]
        unblocked = locking.release(tx, [change.after for change in changes])
        last: list[Event] = []
        if plan is not None:
            plan = self._progress.counted(plan, [(c, None) for c in changes], 0, 0, now)
        written = [action_event(c.before, c.after, plan, now) for c in changes]
        if plan is not None:
            plan, last = self._progress.ended(plan, now)
            tx.save_plans([plan])
        tx.add_events([*written, *last])
        return ended, unblocked

    # both

    def _locked(self, tx: Transaction, plan_id: int | None) -> ActionPlan:
        plan = tx.lock_plans([plan_id or 0]).get(plan_id or 0)
        if plan is None:
            raise exceptions.NotFound('The action plan was purged at the same time.')
        return plan

    def _locked_pair(
        self, tx: Transaction, action: Action
    ) -> tuple[ActionPlan | None, Action]:
        """Lock an action and its plan, the plan first, and return both."""
        plan = None
        if action.plan_id is not None:
            plan = self._locked(tx, action.plan_id)
        locked = tx.lock_actions([action.id or 0]).get(action.id or 0)
        # What was deleted is kept as a row for the record, and changes no more.
        if locked is None or locked.deleted_at is not None:
            raise exceptions.NotFound(f'Action {action.uuid} could not be found.')
        return plan, locked


def user_message(reason: str | None) -> str:
    """Return the message of a skip by a user; Invalid if it cannot be kept."""
    if not reason:
        return results.SKIPPED_BY_USER
    return _message(results.SKIPPED_BY_USER_BECAUSE, reason)


def automatic_message(reason: str | None) -> str:
    """Return the message of an automatic skip whose reason a user has edited."""
    if not reason:
        return f'{results.SKIPPED_AUTOMATICALLY}.'
    return _message(results.SKIPPED_AUTOMATICALLY_BECAUSE, reason)


def _message(text: str, reason: str) -> str:
    problem = json_values.text_problem(reason)
    if problem:
        raise exceptions.Invalid(f'The reason cannot be stored: {problem}')
    message = text.format(reason)
    if len(message) > MESSAGE_LENGTH:
        most = MESSAGE_LENGTH - len(text.format(''))
        raise exceptions.Invalid(
            f'The reason has {len(reason)} characters; at most {most} are kept'
        )
    return message


def _waits_for_derived(action: Action) -> bool:
    return action.phase == COMPLETE and action.status == action_states.WAITING
