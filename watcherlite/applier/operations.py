"""What operators do with plans and their actions.

Each operation is check, change, event, in one transaction that has locked the
plan; a refusal changes nothing. Who is to hear of it is told afterwards, by
hints that may be lost.
"""

import datetime
import logging
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.applier.progress import WINDOW, PlanProgress, cancelling, plan_event
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import (
    APPLIER,
    COMPLETE,
    MESSAGE_LENGTH,
    Action,
    ActionChange,
)
from watcherlite.domain.documents import PlanDocument
from watcherlite.execution import locking, results, successors
from watcherlite.execution.facts import action_event
from watcherlite.execution.runner import ActionTypes
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

LOG = logging.getLogger(__name__)

AUTOMATIC_PREFIX = results.SKIPPED_AUTOMATICALLY.format('')

Tell = Callable[[str | None, commands.Command | commands.Broadcast], None]


class PlanOperations:
    """The operations on plans.

    :param tell: (lane, command), or (None, broadcast): passes a hint on; never
        blocks and never raises
    :param on_worker_loss: of plans that are created here
    """

    def __init__(
        self,
        store: Store,
        types: ActionTypes,
        progress: PlanProgress,
        clock: Clock,
        tell: Tell,
        on_worker_loss: str = states.RESUME,
    ) -> None:
        self._store = store
        self._types = types
        self._progress = progress
        self._clock = clock
        self._tell = tell
        self._on_worker_loss = on_worker_loss

    # plans

    def create(
        self, document: PlanDocument, context: Mapping[str, Any] | None = None
    ) -> ActionPlan:
        """Store a plan as RECOMMENDED, with the audit that it belongs to.

        Raises InvalidDocument with every problem, and stores nothing then.
        """
        creation.check(document, self._types)
        with self._store.transaction() as tx:
            plan = creation.store(
                tx, document, self._clock.now(), context or {}, self._on_worker_loss
            )
        self._tell(None, commands.EventsStored())
        LOG.info('Plan %s is stored with %d actions', plan.uuid, plan.total)
        return plan

    def start(self, uuid: str) -> ActionPlan:
        """Let workers execute a plan; raises NotFound and Conflict.

        Starting one that is started already changes nothing.
        """
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        with self._store.transaction() as tx:
            plan = self._locked(tx, plan_id)
            if plan.state in states.ACTIVE and plan.state != states.CANCELLING:
                return plan
            if not states.MACHINE.allows(plan.state, states.PENDING):
                raise exceptions.Conflict(f"Couldn't start when state is '{plan.state}'.")
            after = plan.evolve(state=states.PENDING, updated_at=now)
            tx.save_plans([after])
            tx.add_events([plan_event(plan, after, now)])
        self._tell(APPLIER, commands.LaunchActionPlan(uuid))
        self._tell(None, commands.EventsStored())
        return after

    def cancel(self, uuid: str) -> ActionPlan:
        """Cancel a plan; raises NotFound and Conflict.

        One that has not been taken is CANCELLED at once; a running one is
        CANCELLING until the last running action has ended.
        """
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        with self._store.transaction() as tx:
            plan = self._locked(tx, plan_id)
            if plan.state in (states.CANCELLING, states.CANCELLED):
                return plan
            if plan.state == states.ONGOING:
                after = cancelling(tx, plan, now)
            elif states.MACHINE.allows(plan.state, states.CANCELLED):
                after = self._cancel_unstarted(tx, plan, now)
            else:
                raise exceptions.Conflict(
                    f"Couldn't cancel when state is '{plan.state}'."
                )
            tx.save_plans([after])
        self._tell(None, commands.ActionsSignalled((uuid,)))
        self._tell(None, commands.EventsStored())
        return after

    def _cancel_unstarted(
        self, tx: Transaction, plan: ActionPlan, now: datetime.datetime
    ) -> ActionPlan:
        after = plan.evolve(state=states.CANCELLED, updated_at=now)
        more = True
        while more:
            after, written, more = self._progress.end_window(tx, after, WINDOW * 4, now)
            tx.add_events(written)
        tx.add_events([plan_event(plan, after, now)])
        return after

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

    def skip_action(self, uuid: str, reason: str | None = None) -> Action:
        """Skip a PENDING action of a plan that has not been taken (spec 000).

        Raises NotFound, Conflict and, for a reason that is too long, Invalid.
        """
        message = user_message(reason)
        now = self._clock.now()
        found = self._store.get_action(uuid)
        with self._store.transaction() as tx:
            plan, action = self._locked_pair(tx, found)
            if action.status not in action_states.NOT_STARTED or action.start_time:
                raise exceptions.TransitionNotAllowed(
                    f'State transition not allowed: ({action.state} -> '
                    f'{action_states.SKIPPED})'
                )
            if plan is None or plan.state not in states.SKIPPABLE:
                state = plan.state if plan is not None else None
                raise exceptions.Conflict(
                    f'State update not allowed for actionplan state: {state}'
                )
            after = self._end(tx, plan, action, action_states.SKIPPED, message, now)
        self._tell(None, commands.EventsStored())
        return after

    def edit_skip_message(self, uuid: str, reason: str | None) -> Action:
        """Change the message of a SKIPPED action, whatever its plan's state.

        What was skipped automatically stays so; only its reason changes.
        """
        found = self._store.get_action(uuid)
        if (found.status_message or '').startswith(AUTOMATIC_PREFIX) and reason:
            message = _checked(results.SKIPPED_AUTOMATICALLY.format(reason))
        else:
            message = user_message(reason)
        now = self._clock.now()
        with self._store.transaction() as tx:
            plan, action = self._locked_pair(tx, found)
            if action.status != action_states.SKIPPED:
                raise exceptions.Conflict(
                    'status_message update only allowed when action state is SKIPPED'
                )
            after = action.evolve(status_message=message, updated_at=now)
            tx.change_actions([ActionChange(action, after)])
            tx.add_events(
                [action_event(action, after, plan, now, None, events.MESSAGE_CHANGED)]
            )
        self._tell(None, commands.EventsStored())
        return after

    def signal_action(self, uuid: str, signal: str) -> Action:
        """Send CANCEL, SUSPEND or RESUME to an action; NotFound, Conflict, Invalid.

        CANCEL of one that has not started needs nobody's help; other signals
        are heeded when the action next asks for them.
        """
        if signal not in action_states.SIGNALS:
            known = ', '.join(sorted(action_states.SIGNALS))
            raise exceptions.Invalid(f'There is no signal {signal!r}; there are {known}')
        now = self._clock.now()
        found = self._store.get_action(uuid)
        with self._store.transaction() as tx:
            plan, action = self._locked_pair(tx, found)
            if action.status not in action_states.SIGNAL_ALLOWED[signal]:
                raise exceptions.Conflict(
                    f'{signal} is not possible for action {uuid}: it is '
                    f'{action.status}'
                )
            after = self._signal(tx, plan, action, signal, now)
        plans = (plan.uuid,) if plan is not None else ()
        self._tell(None, commands.ActionsSignalled(plans))
        self._tell(None, commands.EventsStored())
        return after

    def _signal(
        self,
        tx: Transaction,
        plan: ActionPlan | None,
        action: Action,
        signal: str,
        now: datetime.datetime,
    ) -> Action:
        derives = action.phase == COMPLETE and action.status == action_states.WAITING
        if action.status in action_states.NOT_STARTED and not derives:
            message = results.CANCELLED_UNSTARTED
            return self._end(
                tx, plan, action, action_states.CANCELLED, message, now
            )
        told = tx.set_control(signal, now, action_ids=[action.id or 0])
        tx.add_events(
            [
                action_event(a, a, plan, now, {'signal': signal}, events.SIGNALLED)
                for a in told
            ]
        )
        if derives:
            # It ends when the last of what it derived has.
            for child in self._store.derived_actions(action.id or 0):
                locked = tx.lock_actions([child.id or 0]).get(child.id or 0)
                if locked is not None and not locked.finished:
                    self._signal(tx, plan, locked, signal, now)
        return told[0] if told else action

    def _end(
        self,
        tx: Transaction,
        plan: ActionPlan | None,
        action: Action,
        status: str,
        message: str,
        now: datetime.datetime,
    ) -> Action:
        """End an action that has not started, and let its dependents go on."""
        after = action.evolve(
            status=status,
            status_message=message,
            owner=None,
            end_time=now,
            updated_at=now,
        )
        change = ActionChange(action, after)
        if not tx.change_actions([change]):
            raise exceptions.Conflict(
                f'Action {action.uuid} was changed at the same time; look again'
            )
        if action.dependents:
            if plan is not None and plan.state in states.SKIPPABLE:
                tx.release_dependents([action.id or 0], started=False, now=now)
            else:
                successors.release(tx, [after], {}, now)
        locking.release(tx, [after])
        counted = plan
        if plan is not None:
            counted = self._progress.counted(plan, [(change, None)], 0, 0, now)
            counted, last = self._progress.ended(counted, now)
            tx.save_plans([counted])
            tx.add_events([action_event(action, after, counted, now), *last])
        else:
            tx.add_events([action_event(action, after, None, now)])
        return after

    # both

    def _locked(self, tx: Transaction, plan_id: int | None) -> ActionPlan:
        return tx.lock_plans([plan_id or 0])[plan_id or 0]

    def _locked_pair(
        self, tx: Transaction, action: Action
    ) -> tuple[ActionPlan | None, Action]:
        """Lock an action and its plan, the plan first, and return both."""
        plan = None
        if action.plan_id is not None:
            plan = self._locked(tx, action.plan_id)
        return plan, tx.lock_actions([action.id or 0])[action.id or 0]


def user_message(reason: str | None) -> str:
    """Return the status message of a skip by a user; Invalid when too long."""
    if not reason:
        return results.SKIPPED_BY_USER
    return _checked(results.SKIPPED_BY_USER_BECAUSE.format(reason))


def _checked(message: str) -> str:
    if len(message) > MESSAGE_LENGTH:
        raise exceptions.Invalid(
            f'The status message would have {len(message)} characters with its '
            f'prefix; at most {MESSAGE_LENGTH} are kept, so that the reason may '
            f'have {MESSAGE_LENGTH - len(results.SKIPPED_BY_USER_BECAUSE) + 2}'
        )
    return message
