"""One run of an audit: strategy, planner, plan.

A run is an action (`audit_action`). It takes the audit's lock for moments only,
to write down how far it is; each time it makes sure that the run is still its
own, by the action's attempt, and still wanted, by the audit's state. The plan is
stored in the transaction that says so of the audit and of the action, so that a
run that begins again after its worker was lost cannot store a second one.
"""

import dataclasses
import datetime
import logging
from collections.abc import Callable, Mapping
from typing import TypeVar

from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.applier.progress import PlanProgress, plan_event
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events, json_values, outcomes
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER, Action, ActionChange, cut
from watcherlite.domain.audits import CONTINUOUS, EVENT, ONESHOT, Audit
from watcherlite.domain.documents import PlanDocument
from watcherlite.engine import run_actions
from watcherlite.engine.facts import changed, stepped
from watcherlite.engine.operations import Tell
from watcherlite.engine.patience import patiently
from watcherlite.engine.proposing import Proposal, Proposing
from watcherlite.plugins.base import ActionContext
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as states

LOG = logging.getLogger(__name__)

#: In the outputs of the action: the plan of a run that has not ended yet.
STORED = 'stored_action_plan'
#: In the outputs of the action: the plan of its last run.
ACTION_PLAN = 'action_plan'
#: In the outputs of the action: the audit knows of the failure.
TOLD = 'told'

PLAN_IS_ONGOING = (
    'Not run: an action plan is ONGOING. Wait for its end, or create the audit with '
    'force.'
)
CANCELLED = 'The run of the audit was cancelled.'
ENDED = 'Its end time has passed.'
NEVER_AGAIN = 'Its interval has no time that is still to come.'

T = TypeVar('T')


@dataclasses.dataclass(frozen=True, slots=True)
class Parts:
    """What runs work with.

    :param tell: see `AuditOperations`
    :param on_worker_loss: of the plans that are stored
    """

    store: Store
    proposing: Proposing
    progress: PlanProgress
    tell: Tell
    on_worker_loss: str = plan_states.RESUME


class NotOurs(BaseException):
    """The run is another worker's now, or over; what it made is dropped.

    Not an `Exception`: nothing of a plugin is to catch it.
    """


class AuditRun:
    """One run of one audit, in the thread that executes its action."""

    def __init__(self, parts: Parts, context: ActionContext) -> None:
        self._store = parts.store
        self._proposing = parts.proposing
        self._progress = parts.progress
        self._tell = parts.tell
        self._on_worker_loss = parts.on_worker_loss
        self._context = context
        self._audit_uuid: str = context.inputs['audit']
        self._started = context.now()

    def execute(self) -> outcomes.Outcome:
        """Run it, and say how that went; raises Cancelled and TimedOut."""
        try:
            return self._execute()
        except NotOurs as error:
            return outcomes.Cancelled(str(error))
        except exceptions.Cancelled:
            self._note_cancelled()
            raise

    def _execute(self) -> outcomes.Outcome:
        busy = self._patiently(lambda: self._store.has_plan_in([plan_states.ONGOING]))
        begun = self._write(lambda tx: self._begin(tx, busy))
        if not isinstance(begun, Audit):
            return begun
        audit = begun
        around = self._patiently(lambda: self._store.audit_surroundings(audit.id or 0))
        if around is None:
            raise NotOurs('The audit is gone.')
        goal, strategy = around.goal, around.strategy
        chosen = self._attempt(lambda: self._proposing.strategy(goal, strategy))
        if isinstance(chosen, outcomes.Fault):
            return self._fail(events.STRATEGY_ERROR, 'Strategy', chosen)
        row = chosen
        proposal = self._attempt(
            lambda: self._proposing.propose(audit, goal, row, self._context)
        )
        if isinstance(proposal, outcomes.Fault):
            return self._fail(events.STRATEGY_ERROR, f'Strategy {row.name}', proposal)
        found = proposal
        self._write(self._hand_over_to_planner)
        planned = self._attempt(lambda: self._proposing.plan(found, audit.name))
        if isinstance(planned, outcomes.Fault):
            return self._fail(events.PLANNER_ERROR, f'Planner {found.planner}', planned)
        document = planned
        done, launched = self._write(lambda tx: self._store_plan(tx, document, found))
        if launched is not None:
            self._tell(APPLIER, commands.LaunchActionPlan(launched))
        return done

    def _attempt(self, call: Callable[[], T]) -> T | outcomes.Fault:
        """Call plugins; return the fault of whatever they raise."""
        try:
            return self._patiently(call)
        except (exceptions.Cancelled, KeyboardInterrupt):
            raise
        except exceptions.TimedOut as error:
            if self._context.remaining():
                # Its time is not over: the worker ends, and another one runs it.
                raise
            fault = outcomes.fault_of(error)
            return dataclasses.replace(
                fault, message='it ran longer than the timeout of the action'
            )
        except BaseException as error:  # a plugin may raise anything
            fault = _readable(outcomes.fault_of(error))
            # Ours say what is wrong; of a foreign one the log is all that tells.
            ours = isinstance(error, exceptions.WatcherliteError)
            LOG.error(
                'The run of audit %s failed: %s; the audit says so',
                self._audit_uuid,
                fault.message,
                exc_info=None if ours else error,
            )
            return fault

    def _patiently(self, call: Callable[[], T]) -> T:
        return patiently(self._context, f'The run of audit {self._audit_uuid}', call)

    # the transactions

    def _write(self, step: Callable[[Transaction], T]) -> T:
        """Do a step in a transaction of its own."""

        def written() -> T:
            with self._store.transaction() as tx:
                return step(tx)

        done = self._patiently(written)
        self._tell(None, commands.EventsStored())
        return done

    def _locked(self, tx: Transaction) -> tuple[Audit, Action]:
        """Lock the audit and the action; NotOurs unless this run is the one."""
        audit = tx.lock_audit(self._audit_uuid)
        if audit is None:
            raise NotOurs('The audit was deleted.')
        action = run_actions.of_audit(tx, audit)
        if action is None or action.uuid != self._context.uuid:
            raise NotOurs('The audit is run by another action.')
        if (
            action.attempt != self._context.attempt
            or action.status not in action_states.STARTED
        ):
            raise NotOurs('The run was taken over by another worker.')
        return audit, action

    def _ongoing(self, tx: Transaction) -> tuple[Audit, Action]:
        audit, action = self._locked(tx)
        if audit.state != states.ONGOING:
            raise NotOurs(f'The audit is {audit.state}.')
        return audit, action

    def _begin(self, tx: Transaction, busy: bool) -> Audit | outcomes.Outcome:
        """Write down that the run begins; return the audit, or why it does not."""
        audit, action = self._locked(tx)
        now = self._context.now()
        stored = (action.outputs or {}).get(STORED)
        if stored is not None:
            # The worker that had stored the plan was lost right after that.
            return self._done(audit, stored, now)
        may = states.TRIGGERABLE if audit.audit_type == EVENT else {states.PENDING}
        if audit.state not in {*may, states.ONGOING}:
            raise NotOurs(f'The audit is {audit.state}.')
        if audit.audit_type == CONTINUOUS:
            if audit.end_time is not None and now >= audit.end_time:
                return self._end(tx, audit, ENDED, now)
            if audit.start_time is not None and now < audit.start_time:
                return outcomes.Done({}, again_at=audit.start_time)
        first = audit.state != states.ONGOING or audit.audit_type == CONTINUOUS
        if busy and first and not audit.force:
            return self._not_now(tx, audit, now)
        after = audit.evolve(state=states.ONGOING, updated_at=now)
        if audit.audit_type == CONTINUOUS:
            after = after.evolve(next_run_time=self._next(after, now).shown)
        else:
            after = after.evolve(status_message=None)
        tx.save_audit(after)
        written = changed(audit, after, now)
        tx.add_events([*written, stepped(after, events.STRATEGY_START, now)])
        return after

    def _hand_over_to_planner(self, tx: Transaction) -> None:
        audit, _ = self._ongoing(tx)
        now = self._context.now()
        steps = (events.STRATEGY_END, events.PLANNER_START)
        tx.add_events([stepped(audit, step, now) for step in steps])

    def _store_plan(
        self, tx: Transaction, planned: PlanDocument, proposal: Proposal
    ) -> tuple[outcomes.Outcome, str | None]:
        """Store the plan, and that the run is over, in one transaction.

        :returns: the outcome, and the uuid of the plan if it was started
        """
        audit, action = self._locked(tx)
        now = self._context.now()
        stored = (action.outputs or {}).get(STORED)
        if stored is not None:
            # Its commit took effect although nobody answered.
            return self._done(audit, stored, now), None
        if audit.state != states.ONGOING:
            raise NotOurs(f'The audit is {audit.state}.')
        self._drop_older(tx, audit, now)
        plan = creation.propose(
            tx,
            planned,
            creation.Origin(
                audit.id,
                proposal.strategy_id,
                proposal.efficacy_indicators,
                proposal.global_efficacy,
            ),
            now,
            action.context,
            self._on_worker_loss,
        )
        tx.add_events([stepped(audit, events.PLANNER_END, now)])
        launched = None
        if audit.auto_trigger and plan.state == plan_states.RECOMMENDED:
            self._start(tx, plan, now)
            launched = plan.uuid
        after = audit.evolve(status_message=None, updated_at=now)
        if audit.audit_type == CONTINUOUS:
            after = after.evolve(next_run_time=self._next(after, now).shown)
        else:
            after = after.evolve(state=states.SUCCEEDED)
        done = self._done(after, plan.uuid, now)
        if audit.audit_type == CONTINUOUS and done.again_at is None:
            after = after.evolve(state=states.SUCCEEDED, status_message=NEVER_AGAIN)
        tx.save_audit(after)
        tx.add_events(changed(audit, after, now))
        noted = action.evolve(outputs={STORED: plan.uuid}, updated_at=now)
        if not tx.change_actions([ActionChange(action, noted)]):
            raise NotOurs('The run was taken over by another worker.')
        LOG.info('Audit %s proposes plan %s', audit.uuid, plan.uuid)
        return done, launched

    def _drop_older(
        self, tx: Transaction, audit: Audit, now: datetime.datetime
    ) -> None:
        """Cancel what a CONTINUOUS audit proposed before and nobody has started."""
        if audit.audit_type != CONTINUOUS:
            return
        older = tx.plans_of_audit(audit.id or 0, [plan_states.RECOMMENDED])
        tx.save_plans(
            [self._progress.cancel_unstarted(tx, plan, now) for plan in older]
        )

    def _start(self, tx: Transaction, plan: ActionPlan, now: datetime.datetime) -> None:
        tx.lock_plans([plan.id or 0])
        pending = plan.evolve(state=plan_states.PENDING, updated_at=now)
        tx.save_plans([pending])
        tx.add_events([plan_event(plan, pending, now)])

    def _not_now(
        self, tx: Transaction, audit: Audit, now: datetime.datetime
    ) -> outcomes.Outcome:
        """Leave a run out because a plan is executed."""
        after = audit.evolve(status_message=PLAN_IS_ONGOING, updated_at=now)
        outcome: outcomes.Outcome = outcomes.Cancelled(PLAN_IS_ONGOING)
        if audit.audit_type == ONESHOT:
            after = after.evolve(state=states.CANCELLED)
        elif audit.audit_type == CONTINUOUS:
            run = self._next(after, now)
            if run.at is None:
                return self._end(tx, audit, NEVER_AGAIN, now)
            after = after.evolve(state=states.ONGOING, next_run_time=run.shown)
            outcome = outcomes.Done({TOLD: True}, again_at=run.at)
        tx.save_audit(after)
        tx.add_events(changed(audit, after, now))
        return outcome

    def _end(
        self, tx: Transaction, audit: Audit, message: str, now: datetime.datetime
    ) -> outcomes.Outcome:
        """End a CONTINUOUS audit whose time is over."""
        ongoing = audit.evolve(state=states.ONGOING, updated_at=now)
        over = ongoing.evolve(
            state=states.SUCCEEDED, status_message=message, next_run_time=None
        )
        tx.save_audit(over)
        # The machine knows no way from PENDING to SUCCEEDED but over ONGOING.
        tx.add_events([*changed(audit, ongoing, now), *changed(ongoing, over, now)])
        return outcomes.Done({}, last=True)

    def _fail(self, step: str, what: str, fault: outcomes.Fault) -> outcomes.Outcome:
        """Write down that a step failed; a CONTINUOUS audit goes on."""
        message = f'{what} failed: {fault.message}'

        def note(tx: Transaction) -> outcomes.Outcome:
            audit, _ = self._ongoing(tx)
            now = self._context.now()
            after = audit.evolve(status_message=cut(message), updated_at=now)
            again = None
            if audit.audit_type == CONTINUOUS:
                run = self._next(after, now)
                after = after.evolve(next_run_time=run.shown)
                again = run.at
            if again is None:
                after = after.evolve(state=states.FAILED, next_run_time=None)
            tx.save_audit(after)
            # The step failed while the audit was what it was; what that means for it
            # comes after.
            failing = after.evolve(state=audit.state)
            tx.add_events(
                [stepped(failing, step, now, fault), *changed(audit, after, now)]
            )
            return outcomes.Failed(
                message, fault, {TOLD: True}, again, last=again is None
            )

        return self._write(note)

    def _note_cancelled(self) -> None:
        """Cancel the audit too when a user has cancelled the action alone."""

        def note(tx: Transaction) -> None:
            audit, action = self._ongoing(tx)
            if action.control != action_states.CANCEL:
                raise NotOurs('The worker ends; the run begins again at another one.')
            now = self._context.now()
            after = audit.evolve(
                state=states.CANCELLED,
                status_message=CANCELLED,
                next_run_time=None,
                updated_at=now,
            )
            tx.save_audit(after)
            tx.add_events(changed(audit, after, now))

        try:
            self._write(note)
        except NotOurs:
            LOG.debug('There is nothing to say of audit %s', self._audit_uuid)

    def _next(self, audit: Audit, now: datetime.datetime) -> run_actions.NextRun:
        return run_actions.following_run(audit, self._started, now)

    def _done(
        self, audit: Audit, plan_uuid: str, now: datetime.datetime
    ) -> outcomes.Done:
        again = None
        if audit.audit_type == CONTINUOUS:
            again = self._next(audit, now).at
        return outcomes.Done({ACTION_PLAN: plan_uuid}, again, last=again is None)


def _readable(fault: outcomes.Fault) -> outcomes.Fault:
    """Return a fault whose text databases can keep."""
    if json_values.text_problem(fault.message) is None:
        return fault
    cleaned = fault.message.replace('\0', '?').encode('utf-8', 'replace').decode()
    return dataclasses.replace(fault, message=cleaned)


def is_told(outputs: Mapping[str, object] | None) -> bool:
    """Say whether an audit knows how the last run of its action went."""
    return TOLD in (outputs or {})
