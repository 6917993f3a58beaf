"""The progress of an action plan while its actions are executed.

Implements `execution.ports.PlanRules`. All methods except `step` and `on_worker_lost`
are pure.
"""

import dataclasses
import datetime
from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.applier import rollback
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import action_plans, events
from watcherlite.domain.action_plans import FORWARD, STOPPING, ActionPlan
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.events import Event, action_event
from watcherlite.domain.outcomes import Fault
from watcherlite.execution import dependents, locks, results, signals
from watcherlite.execution.ports import PlanStepResult
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

#: The largest number of actions that one step of a plan ends.
WINDOW = 500

CANCELLED = 'Action plan was cancelled.'
CANCELLED_WORKER_LOST = (
    'Action plan was cancelled because a worker was lost while it ran an action of it.'
)


def plan_event(
    before: ActionPlan | None,
    after: ActionPlan,
    now: datetime.datetime,
    kind: str = events.STATE_CHANGED,
) -> Event:
    """Return the event of one change of a plan; `before` is None for a new one."""
    failed = after.state == states.FAILED and after.fault is not None
    return Event(
        events.ACTION_PLAN,
        kind,
        after.id,
        None,
        before.state if before is not None else None,
        after.state,
        after.status_message,
        after.state,
        after.status_message,
        now,
        {'fault': dict(after.fault)} if failed and after.fault else None,
    )


class PlanProgress:
    """The rules of plans.

    :param types: the action types that a rollback reverts; None: none
    """

    def __init__(self, types: rollback.RevertTypes | None = None) -> None:
        self._types = types

    def blocking_reason(self, plan: ActionPlan) -> str | None:
        if plan.claimable:
            return None
        if plan.state == states.ONGOING:
            return results.STOPPED_UNSTARTED
        return results.CANCELLED_UNSTARTED

    def on_claimed(
        self, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        if plan.state != states.PENDING:
            return plan, []
        ongoing = plan.evolve(state=states.ONGOING, updated_at=now)
        return ongoing, [plan_event(plan, ongoing, now)]

    def apply_changes(
        self,
        plan: ActionPlan,
        changes: Sequence[tuple[ActionChange, Fault | None]],
        claimed: int,
        derived: int,
        now: datetime.datetime,
    ) -> ActionPlan:
        if not changes and not claimed and not derived:
            return plan
        active, unfinished = plan.active + claimed, plan.unfinished + derived
        failed, fault, skipped = plan.failed, plan.fault, []
        for change, its_fault in changes:
            before, after = change.before, change.after
            if before.owner is not None and after.owner is None:
                active -= 1
            if after.status not in action_states.FINAL:
                continue
            unfinished -= 1
            if after.status == action_states.FAILED:
                failed += 1
                if fault is None and its_fault is not None:
                    fault = dataclasses.asdict(its_fault)
            elif after.status == action_states.SKIPPED:
                skipped.append((after.uuid, _is_skipped_by_user(after)))
        stage = plan.stage
        if failed > plan.failed and stage == FORWARD:
            stage = FORWARD if plan.on_failure == states.CONTINUE else STOPPING
        return plan.evolve(
            active=active,
            unfinished=unfinished,
            total=plan.total + derived,
            failed=failed,
            skipped=plan.skipped + len(skipped),
            fault=fault,
            stage=stage,
            status_message=_message_of_skips(plan, skipped),
            updated_at=now,
        )

    def finish_if_done(
        self, before: ActionPlan, plan: ActionPlan, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event]]:
        """Return the plan in its final state if all its actions have ended.

        The event of the end contains the message; a change of the message alone has an
        event of its own.
        """
        state = action_plans.ended_state(plan)
        if state is None:
            if plan.status_message == before.status_message:
                return plan, []
            return plan, [plan_event(plan, plan, now, events.MESSAGE_CHANGED)]
        message = plan.status_message
        if state == states.FAILED:
            message = action_plans.reason_message(message, _failure(plan))
        ended = plan.evolve(
            state=state, status_message=message, active=0, updated_at=now
        )
        return ended, [plan_event(plan, ended, now)]

    def on_worker_lost(
        self, store: Store, plan_id: int, now: datetime.datetime
    ) -> str | None:
        with store.transaction() as tx:
            plan = tx.lock_plans([plan_id], wait=False).get(plan_id)
            if plan is None and store.relations_of_plans([plan_id]):
                raise _locked(plan_id)
            if plan is None or plan.state != states.ONGOING:
                return None
            if plan.stage == action_plans.REVERTING:
                # A rollback that is interrupted would revert actions a second time.
                return None
            if plan.on_worker_loss == states.CANCEL:
                after, _ = cancel_running(tx, plan, now, CANCELLED_WORKER_LOST)
                tx.save_plans([after])
                return action_states.CANCELLED
            if plan.on_worker_loss == states.FAIL:
                tx.save_plans([plan.evolve(stage=STOPPING, updated_at=now)])
                return action_states.FAILED
        return None

    def step(
        self, store: Store, plan_uuid: str, now: datetime.datetime
    ) -> PlanStepResult:
        found = store.get_plan(plan_uuid)
        if found.state not in states.ACTIVE:
            return PlanStepResult()
        with store.transaction() as tx:
            plan = tx.lock_plans([found.id], wait=False).get(found.id)
            if plan is None:
                raise _locked(found.id)
            if plan.state not in states.ACTIVE:
                return PlanStepResult()
            written: list[Event] = []
            unblocked: list[Action] = []
            before, more = plan, False
            if plan.state == states.PENDING and plan.unfinished == 0:
                plan, written = self.on_claimed(plan, now)
            elif plan.cancels_unstarted:
                plan, written, unblocked, more = self.end_window(tx, plan, WINDOW, now)
            if action_plans.needs_rollback(plan):
                plan, created = rollback.start(store, tx, plan, self._types, now)
                written += created
            # The events above contain the message as well.
            plan, finished = self.finish_if_done(plan, plan, now)
            if plan is not before:
                tx.save_plans([plan])
            tx.add_events([*written, *finished])
            return PlanStepResult(more, unblocked)

    def cancel_unstarted(
        self, tx: Transaction, plan: ActionPlan, now: datetime.datetime
    ) -> ActionPlan:
        """Cancel the actions of a plan that no worker has claimed; return it CANCELLED.

        The caller saves the plan.
        """
        message = action_plans.reason_message(plan.status_message, CANCELLED)
        after = plan.evolve(
            state=states.CANCELLED, status_message=message, updated_at=now
        )
        more = True
        while more:
            # Actions that were never claimed hold no locks.
            after, written, _, more = self.end_window(tx, after, WINDOW * 4, now)
            tx.add_events(written)
        tx.add_events([plan_event(plan, after, now)])
        return after

    def end_window(
        self, tx: Transaction, plan: ActionPlan, limit: int, now: datetime.datetime
    ) -> tuple[ActionPlan, list[Event], list[Action], bool]:
        """Cancel the next `limit` unstarted actions of a plan.

        :returns: the plan with its counters, the events, the actions that can take a
            released lock, and whether there may be more
        """
        message = (
            results.STOPPED_UNSTARTED
            if plan.state == states.ONGOING
            else results.CANCELLED_UNSTARTED
        )
        ended = tx.end_not_started(
            plan.id, action_states.CANCELLED, message, limit, now
        )
        changes = [
            ActionChange(action, results.conclude_unstarted(action, message, now))
            for action in ended
        ]
        # Actions that had started, and waited for derived ones, have another message.
        had_run = [c for c in changes if c.after.status_message != message]
        if had_run:
            tx.change_actions([ActionChange(c.after, c.after) for c in had_run])
        # An action that waits for derived actions ends after them.
        ready = bool(dependents.count_down(tx, ended, now, started=False))
        unblocked = locks.release(tx, [change.after for change in changes])
        counted = self.apply_changes(plan, [(c, None) for c in changes], 0, 0, now)
        written = [action_event(c.before, c.after, plan, now) for c in changes]
        return counted, written, unblocked, ready or len(ended) >= limit


def supersede(
    tx: Transaction, plans: Sequence[ActionPlan], reason: str, now: datetime.datetime
) -> None:
    """Store unstarted plans as SUPERSEDED, with the reason added to their messages.

    Their actions do not change: nothing can start them any more.
    """
    after = [
        plan.evolve(
            state=states.SUPERSEDED,
            status_message=action_plans.appended_message(plan.status_message, reason),
            updated_at=now,
        )
        for plan in plans
    ]
    tx.save_plans(after)
    tx.add_events([plan_event(*pair, now) for pair in zip(plans, after, strict=True)])


def cancel_running(
    tx: Transaction, plan: ActionPlan, now: datetime.datetime, reason: str = CANCELLED
) -> tuple[ActionPlan, list[Action]]:
    """Signal the actions of a running plan; return it as CANCELLING, and them."""
    message = action_plans.reason_message(plan.status_message, reason)
    after = plan.evolve(state=states.CANCELLING, status_message=message, updated_at=now)
    cancel = action_states.CANCEL
    signalled = tx.set_control(cancel, now, plan_id=plan.id)
    applied = signals.apply_signal(tx, signalled, cancel, now)
    written = signals.signal_events(signalled, applied, after, cancel, now)
    tx.add_events([plan_event(plan, after, now), *written])
    return after, signalled


def _locked(plan_id: int) -> exceptions.StoreConflict:
    return exceptions.StoreConflict(
        f'Plan {plan_id} (id) is locked by another transaction; retrying'
    )


def _is_skipped_by_user(action: Action) -> bool:
    return (action.status_message or '').startswith(results.SKIPPED_BY_USER)


def _message_of_skips(
    plan: ActionPlan, skipped: Sequence[tuple[str, bool]]
) -> str | None:
    """Return the message of a plan with its skipped actions (uuid, by user) added."""
    if not skipped:
        return plan.status_message
    is_cancelled = plan.state == states.CANCELLING
    return action_plans.skip_message(
        plan.status_message, skipped, reason_first=is_cancelled
    )


def _failure(plan: ActionPlan) -> str:
    count = 'An action failed' if plan.failed == 1 else f'{plan.failed} actions failed'
    reason = (plan.fault or {}).get('message')
    return f'{count}: {reason}' if reason else f'{count}.'
