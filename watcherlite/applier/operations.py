"""Operations on action plans and their actions.

Each operation locks the plan, checks its state, changes it and adds events in one
transaction; a refusal changes nothing. Hints to workers are sent after the commit, and
may be lost.
"""

import datetime
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.applier import creation, retry
from watcherlite.applier.progress import (
    WINDOW,
    PlanProgress,
    cancel_running,
    plan_event,
)
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER, MESSAGE_LENGTH, Action, ActionChange
from watcherlite.domain.creators import NO_AUTHORITY, Creator
from watcherlite.domain.documents import json_values, plan_document
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.events import action_event
from watcherlite.execution import results
from watcherlite.execution.ports import ActionTypes, CompositeProjection, Projection
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.execution.signals import (
    ActionSignals,
    end_unstarted,
    lock_plan,
    lock_with_plan,
)
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

LOG = logging.getLogger(__name__)


class ScopeCheck(Protocol):
    """Checks the objects that a plan names against the authority of its creator."""

    def check(self, document: PlanDocument, creator: Creator) -> None:
        """Raise InvalidDocument for objects that the creator may not act on."""


class PlanOperations:
    """The operations on plans.

    :param on_worker_loss: the default of new plans
    :param projection: applied to the actions that a signal ends
    :param scope: checks new plans; None: they are not checked
    """

    def __init__(
        self,
        store: Store,
        types: ActionTypes,
        progress: PlanProgress,
        clock: Clock,
        messenger: commands.Messenger,
        on_worker_loss: str = states.RESUME,
        projection: Projection | None = None,
        scope: ScopeCheck | None = None,
    ) -> None:
        self._store = store
        self._types = types
        self._progress = progress
        self._clock = clock
        self._messenger = messenger
        self._on_worker_loss = on_worker_loss
        self._scope = scope
        self._signals = ActionSignals(
            store, progress, clock, messenger, projection or CompositeProjection()
        )

    # plans

    def create(
        self,
        document: PlanDocument,
        context: Mapping[str, Any] | None = None,
        creator: Creator = NO_AUTHORITY,
    ) -> ActionPlan:
        """Store a plan as RECOMMENDED, with its audit.

        :param creator: the user whose authority the actions of the plan have
        :raises InvalidDocument: with all problems; nothing is stored
        """
        creation.check(document, self._types)
        return self._store_new(document, context, creator)

    def create_from(
        self,
        value: object,
        context: Mapping[str, Any] | None = None,
        creator: Creator = NO_AUTHORITY,
    ) -> ActionPlan:
        """Store the plan that a JSON value describes, as `create` does."""
        validate = creation.validator(self._types)
        document = plan_document.from_mapping(value, validate)
        return self._store_new(document, context, creator)

    def _store_new(
        self,
        document: PlanDocument,
        context: Mapping[str, Any] | None,
        creator: Creator,
    ) -> ActionPlan:
        if self._scope is not None:
            self._scope.check(document, creator)
        return self._insert(document, context or {}, creator)

    @retry_on_conflict
    def _insert(
        self, document: PlanDocument, context: Mapping[str, Any], creator: Creator
    ) -> ActionPlan:
        with self._store.transaction() as tx:
            plan = creation.store(
                tx, document, self._clock.now(), context, self._on_worker_loss, creator
            )
        self._messenger.broadcast(commands.EventsStored())
        LOG.info('Created plan %s with %d actions', plan.uuid, plan.total)
        return plan

    def retry(
        self,
        uuid: str,
        context: Mapping[str, Any] | None = None,
        creator: Creator = NO_AUTHORITY,
        only: str | None = None,
    ) -> ActionPlan:
        """Store a RECOMMENDED plan with the actions of an ended one that did not
        succeed.

        :param creator: the user whose authority the actions of the new plan have
        :param only: uuid of a FAILED or CANCELLED action: the new plan has it, and the
            actions that depend on it and did not succeed
        :raises NotFound: no such plan
        :raises Conflict: its state does not allow it
        :raises InvalidDocument: an action is not valid any more
        """
        plan = self._store.get_plan(uuid)
        document = retry.remaining_document(plan, self._actions(plan), only)
        creation.check(document, self._types)
        if self._scope is not None:
            self._scope.check(document, creator)
        return self._insert_retry(plan, document, context or {}, creator)

    @retry_on_conflict
    def _insert_retry(
        self,
        plan: ActionPlan,
        document: PlanDocument,
        context: Mapping[str, Any],
        creator: Creator,
    ) -> ActionPlan:
        origin = creation.Origin(
            plan.audit_id,
            plan.strategy_id,
            plan.efficacy_indicators,
            plan.global_efficacy,
            creator,
            retry_of=plan.uuid,
        )
        with self._store.transaction() as tx:
            new = creation.propose(
                tx, document, origin, self._clock.now(), context, plan.on_worker_loss
            )
        self._messenger.broadcast(commands.EventsStored())
        LOG.info(
            'Created plan %s with %d actions, a retry of plan %s',
            new.uuid,
            new.total,
            plan.uuid,
        )
        return new

    def _actions(self, plan: ActionPlan) -> list[Action]:
        """Return all actions of a plan, by id."""
        found: list[Action] = []
        last: int | None = None
        while True:
            page = self._store.list_actions(
                plan_id=plan.id, after_id=last, limit=WINDOW * 4
            )
            found += page
            if len(page) < WINDOW * 4:
                return found
            last = page[-1].id

    @retry_on_conflict
    def start(self, uuid: str, expected: str | None = None) -> ActionPlan:
        """Start a plan; raises NotFound and Conflict.

        A plan that is started already does not change.

        :param expected: the only allowed state; None: any that allows the start
        """
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        with self._store.transaction() as tx:
            plan = lock_plan(tx, plan_id)
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
        self._messenger.send(APPLIER, commands.LaunchActionPlan(uuid))
        self._messenger.broadcast(commands.EventsStored())
        return after

    @retry_on_conflict
    def cancel(self, uuid: str, expected: str | None = None) -> ActionPlan:
        """Cancel a plan; raises NotFound and Conflict.

        A plan that no worker has claimed is CANCELLED at once; a running one is
        CANCELLING until its last running action has ended.

        :param expected: the only allowed state; None: any that allows it
        """
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        signalled: list[Action] = []
        with self._store.transaction() as tx:
            plan = lock_plan(tx, plan_id)
            as_expected = expected in (None, plan.state)
            if as_expected and plan.state in (states.CANCELLING, states.CANCELLED):
                return plan
            if as_expected and plan.state == states.ONGOING:
                after, signalled = cancel_running(tx, plan, now)
            elif as_expected and states.MACHINE.allows(plan.state, states.CANCELLED):
                after = self._progress.cancel_unstarted(tx, plan, now)
            else:
                raise exceptions.Conflict(
                    f"Couldn't cancel when state is '{plan.state}'."
                )
            tx.save_plans([after])
        self._signals.forward(signalled, action_states.CANCEL)
        self._messenger.broadcast(commands.ActionsSignalled((uuid,)))
        self._messenger.broadcast(commands.EventsStored())
        return after

    @retry_on_conflict
    def delete(self, uuid: str) -> None:
        """Soft-delete a plan and its actions; raises NotFound and Conflict."""
        now = self._clock.now()
        plan_id = self._store.get_plan(uuid).id
        with self._store.transaction() as tx:
            plan = lock_plan(tx, plan_id)
            if not states.MACHINE.allows(plan.state, states.DELETED):
                raise exceptions.Conflict(
                    f"Couldn't delete when state is '{plan.state}'."
                )
            after = plan.evolve(state=states.DELETED, updated_at=now, deleted_at=now)
            self._delete_actions(tx, plan, now)
            tx.save_plans([after])
            tx.add_events([plan_event(plan, after, now, events.DELETED)])
        self._messenger.broadcast(commands.EventsStored())

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

    @retry_on_conflict
    def skip_action(self, uuid: str, reason: str | None = None) -> Action:
        """Skip a PENDING action of a plan that no worker has claimed (spec 000).

        Raises NotFound, Conflict, and Invalid for a reason that cannot be stored.
        """
        message = user_message(reason)
        now = self._clock.now()
        found = self._store.get_action(uuid)
        with self._store.transaction() as tx:
            plan, action = lock_with_plan(tx, found)
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
            (after,), _ = end_unstarted(
                tx, self._progress, plan, [action], action_states.SKIPPED, message, now
            )
        if plan.state == states.PENDING:
            # It may have been the last unfinished action.
            self._messenger.send(APPLIER, commands.LaunchActionPlan(plan.uuid))
        self._messenger.broadcast(commands.EventsStored())
        return after

    @retry_on_conflict
    def edit_skip_message(self, uuid: str, reason: str | None) -> Action:
        """Change the message of a SKIPPED action, in any state of its plan.

        A reason is stored as the reason of a user, also for an automatic skip. Without
        one, the reason of a user is removed, and that of an automatic skip is kept.
        """
        now = self._clock.now()
        found = self._store.get_action(uuid)
        with self._store.transaction() as tx:
            plan, action = lock_with_plan(tx, found)
            if action.status != action_states.SKIPPED:
                raise exceptions.Conflict(
                    'status_message update only allowed when action state is SKIPPED'
                )
            current = action.status_message or ''
            if not reason and current.startswith(results.SKIPPED_AUTOMATICALLY):
                return action
            message = user_message(reason)
            after = action.evolve(status_message=message, updated_at=now)
            tx.change_actions([ActionChange(action, after)])
            tx.add_events(
                [action_event(action, after, plan, now, None, events.MESSAGE_CHANGED)]
            )
        self._messenger.broadcast(commands.EventsStored())
        return after

    def signal_action(self, uuid: str, signal: str) -> Action:
        """Send a signal to an action; see `ActionSignals.signal`."""
        return self._signals.signal(uuid, signal)

    def time_out(self, uuid: str) -> None:
        """Time an action out; see `ActionSignals.time_out`."""
        self._signals.time_out(uuid)


def user_message(reason: str | None) -> str:
    """Return the message of a skip by a user; raise Invalid if it is not valid."""
    if not reason:
        return results.SKIPPED_BY_USER
    problem = json_values.text_problem(reason)
    if problem:
        raise exceptions.Invalid(f'The reason cannot be stored: {problem}')
    message = results.SKIPPED_BY_USER_BECAUSE.format(reason)
    if len(message) > MESSAGE_LENGTH:
        most = MESSAGE_LENGTH - len(results.SKIPPED_BY_USER_BECAUSE.format(''))
        raise exceptions.Invalid(
            f'The reason has {len(reason)} characters; at most {most} are kept'
        )
    return message
