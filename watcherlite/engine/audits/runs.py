"""One run of an audit: strategy, planner, plan.

A run is an action, see `AuditAction`. It locks the audit only to record its progress.
Each time it verifies that it is still the current run, by the attempt of the action,
and not cancelled, by the state of the audit. The plan is stored in the transaction
that records it in the audit and the action, so that a run that is repeated after its
worker was lost cannot store a second plan.
"""

import dataclasses
import datetime
import functools
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.applier.progress import plan_event, supersede
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events, outcomes
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER, Action, ActionChange, truncate
from watcherlite.domain.audits import CONTINUOUS, EVENT, ONESHOT, Audit
from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.outcomes import Outcome
from watcherlite.engine.audits import run_actions
from watcherlite.engine.audits.events import change_events, step_event
from watcherlite.engine.audits.proposal import Proposal, ProposalBuilder
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as states

LOG = logging.getLogger(__name__)

#: Output of the action: the plan of a run that has not ended yet.
STORED_PLAN = 'stored_action_plan'
#: Output of the action: the plan of its last run.
ACTION_PLAN = 'action_plan'
#: Output of the action: the failure is recorded in the audit.
FAILURE_RECORDED = 'failure_recorded'
#: The names of that output, the last one in rows of earlier versions.
_FAILURE_RECORDED_NAMES = frozenset({FAILURE_RECORDED, 'told'})

PLAN_IS_ONGOING = (
    'Not run: an action plan is ONGOING. Wait for its end, or create the audit with '
    'force.'
)
CANCELLED = 'The run of the audit was cancelled.'
END_TIME_PASSED = 'Its end time has passed.'
SUPERSEDED = 'Superseded by action plan {} of the same audit.'
NO_NEXT_RUN = 'Its interval has no future time.'

T = TypeVar('T')


@dataclasses.dataclass(frozen=True, slots=True)
class RunServices:
    """The services of runs.

    :param host: the host of the worker
    :param on_worker_loss: policy of the plans that are stored
    """

    store: Store
    proposing: ProposalBuilder
    messenger: commands.Messenger
    host: str
    on_worker_loss: str = plan_states.RESUME


class RunLost(BaseException):
    """The run has ended or belongs to another worker; its result is dropped.

    Not an `Exception`, so that plugins do not catch it.
    """


class AuditRun:
    """One run of an audit, in the thread that executes its action."""

    def __init__(self, parts: RunServices, context: ActionContext) -> None:
        self._parts = parts
        self._store = parts.store
        self._context = context
        self._audit_uuid: str = context.inputs['audit']
        self._started = context.now()

    def execute(self) -> outcomes.Outcome:
        """Run the audit and return the outcome; raises Cancelled and TimedOut."""
        try:
            return self._execute()
        except RunLost as error:
            return outcomes.Cancelled(str(error))
        except exceptions.Cancelled:
            self._record_cancellation()
            raise

    def _execute(self) -> outcomes.Outcome:
        busy = self._retry(lambda: self._store.has_plan_in([plan_states.ONGOING]))
        audit = self._write(functools.partial(self._start_run, busy=busy))
        if not isinstance(audit, Audit):
            return audit
        relations = self._retry(
            functools.partial(self._store.audit_relations, audit.id)
        )
        if relations is None:
            raise RunLost('The audit no longer exists.')
        goal, strategy = relations.goal, relations.strategy
        builder, context = self._parts.proposing, self._context
        row = self._attempt(functools.partial(builder.strategy, goal, strategy))
        if isinstance(row, outcomes.Fault):
            return self._record_failure(events.STRATEGY_ERROR, 'Strategy', row)
        found = self._attempt(
            functools.partial(builder.propose, audit, goal, row, context)
        )
        if isinstance(found, outcomes.Fault):
            return self._record_failure(
                events.STRATEGY_ERROR, f'Strategy {row.name}', found
            )
        self._write(self._start_planner)
        document = self._attempt(
            functools.partial(builder.plan, found, audit.name, audit.creator)
        )
        if isinstance(document, outcomes.Fault):
            return self._record_failure(
                events.PLANNER_ERROR, f'Planner {found.planner}', document
            )
        store_plan = functools.partial(
            self._store_plan, planned=document, proposal=found
        )
        done, launched = self._write(store_plan)
        if launched is not None:
            self._parts.messenger.send(APPLIER, commands.LaunchActionPlan(launched))
        return done

    def _attempt(self, call: Callable[[], T]) -> T | outcomes.Fault:
        """Call plugins; return a fault for whatever they raise."""
        try:
            return self._retry(call)
        except (exceptions.Cancelled, KeyboardInterrupt):
            raise
        except exceptions.TimedOut as error:
            if self._context.remaining():
                # The worker is stopping: another one repeats the run.
                raise
            fault = outcomes.fault_of(error)
            return dataclasses.replace(
                fault, message='it ran longer than the timeout of the action'
            )
        except BaseException as error:  # a plugin may raise anything
            fault = _readable(outcomes.fault_of(error))
            # Foreign exceptions are logged with their traceback.
            ours = isinstance(error, exceptions.WatcherliteError)
            LOG.error(
                'The run of audit %s failed: %s',
                self._audit_uuid,
                fault.message,
                exc_info=None if ours else error,
            )
            return fault

    def _retry(self, call: Callable[[], T]) -> T:
        return retry_while_unavailable(
            self._context, f'The run of audit {self._audit_uuid}', call
        )

    # the transactions

    def _write(self, step: Callable[[Transaction], T]) -> T:
        """Run a step in its own transaction."""

        def write() -> T:
            with self._store.transaction() as tx:
                return step(tx)

        done = self._retry(write)
        self._parts.messenger.broadcast(commands.EventsStored())
        return done

    def _lock(self, tx: Transaction) -> tuple[Audit, Action]:
        """Lock the audit and the action; raise RunLost if this run is not current."""
        audit = tx.lock_audit(self._audit_uuid)
        if audit is None:
            raise RunLost('The audit was deleted.')
        action = run_actions.lock_action(tx, audit)
        if action is None or action.uuid != self._context.uuid:
            raise RunLost('The audit is run by another action.')
        if (
            action.attempt != self._context.attempt
            or action.status not in action_states.STARTED
        ):
            raise RunLost('The run was taken over by another worker.')
        return audit, action

    def _lock_ongoing(self, tx: Transaction) -> tuple[Audit, Action]:
        audit, action = self._lock(tx)
        if audit.state != states.ONGOING:
            raise RunLost(f'The audit is {audit.state}.')
        return audit, action

    def _start_run(self, tx: Transaction, busy: bool) -> Audit | outcomes.Outcome:
        """Record the start of the run; return the audit, or the outcome without one."""
        audit, action = self._lock(tx)
        now = self._context.now()
        stored = (action.outputs or {}).get(STORED_PLAN)
        if stored is not None:
            # The plan was stored by a worker that was lost right after that.
            return self._done(audit, stored, now)
        may = states.TRIGGERABLE if audit.audit_type == EVENT else {states.PENDING}
        if audit.state not in {*may, states.ONGOING}:
            raise RunLost(f'The audit is {audit.state}.')
        if audit.audit_type == CONTINUOUS:
            if audit.end_time is not None and now >= audit.end_time:
                return self._finish(tx, audit, END_TIME_PASSED, now)
            if audit.start_time is not None and now < audit.start_time:
                return outcomes.Done({}, again_at=audit.start_time)
        first = audit.state != states.ONGOING or audit.audit_type == CONTINUOUS
        if busy and first and not audit.force:
            return self._skip_run(tx, audit, now)
        after = audit.evolve(
            state=states.ONGOING, hostname=self._parts.host, updated_at=now
        )
        if audit.audit_type == CONTINUOUS:
            after = after.evolve(next_run_time=self._next(after, now).shown)
        else:
            after = after.evolve(status_message=None)
        tx.save_audit(after)
        written = change_events(audit, after, now)
        tx.add_events([*written, step_event(after, events.STRATEGY_START, now)])
        return after

    def _start_planner(self, tx: Transaction) -> None:
        audit, _ = self._lock_ongoing(tx)
        now = self._context.now()
        steps = (events.STRATEGY_END, events.PLANNER_START)
        tx.add_events([step_event(audit, step, now) for step in steps])

    def _store_plan(
        self, tx: Transaction, planned: PlanDocument, proposal: Proposal
    ) -> tuple[outcomes.Outcome, str | None]:
        """Store the plan and the end of the run in one transaction.

        :returns: the outcome, and the uuid of the plan if it was started
        """
        audit, action = self._lock(tx)
        now = self._context.now()
        stored = (action.outputs or {}).get(STORED_PLAN)
        if stored is not None:
            # The commit took effect although it was not acknowledged.
            return self._done(audit, stored, now), None
        if audit.state != states.ONGOING:
            raise RunLost(f'The audit is {audit.state}.')
        older: list[ActionPlan] = []
        if audit.audit_type == CONTINUOUS:
            older = tx.plans_of_audit(audit.id, [plan_states.RECOMMENDED])
        origin = creation.Origin(
            audit.id,
            proposal.strategy_id,
            proposal.efficacy_indicators,
            proposal.global_efficacy,
            audit.creator,
        )
        plan = creation.propose(
            tx, planned, origin, now, action.context, self._parts.on_worker_loss
        )
        supersede(tx, older, SUPERSEDED.format(plan.uuid), now)
        tx.add_events([step_event(audit, events.PLANNER_END, now)])
        launched = None
        if audit.auto_trigger and plan.state == plan_states.RECOMMENDED:
            tx.lock_plans([plan.id])
            pending = plan.evolve(state=plan_states.PENDING, updated_at=now)
            tx.save_plans([pending])
            tx.add_events([plan_event(plan, pending, now)])
            launched = plan.uuid
        done = self._end_run(tx, audit, plan, now)
        recorded = action.evolve(outputs={STORED_PLAN: plan.uuid}, updated_at=now)
        if not tx.change_actions([ActionChange(action, recorded)]):
            raise RunLost('The run was taken over by another worker.')
        LOG.info('Audit %s proposed action plan %s', audit.uuid, plan.uuid)
        return done, launched

    def _end_run(
        self, tx: Transaction, audit: Audit, plan: ActionPlan, now: datetime.datetime
    ) -> outcomes.Done:
        """Store the end of the run in the audit; return the outcome."""
        after = audit.evolve(status_message=None, updated_at=now)
        if audit.audit_type == CONTINUOUS:
            after = after.evolve(next_run_time=self._next(after, now).shown)
        else:
            after = after.evolve(state=states.SUCCEEDED)
        done = self._done(after, plan.uuid, now)
        if audit.audit_type == CONTINUOUS and done.again_at is None:
            after = after.evolve(state=states.SUCCEEDED, status_message=NO_NEXT_RUN)
        tx.save_audit(after)
        tx.add_events(change_events(audit, after, now))
        return done

    def _skip_run(
        self, tx: Transaction, audit: Audit, now: datetime.datetime
    ) -> outcomes.Outcome:
        """Skip a run because an action plan is being executed."""
        after = audit.evolve(status_message=PLAN_IS_ONGOING, updated_at=now)
        outcome: outcomes.Outcome = outcomes.Cancelled(PLAN_IS_ONGOING)
        if audit.audit_type == ONESHOT:
            after = after.evolve(state=states.CANCELLED)
        elif audit.audit_type == CONTINUOUS:
            run = self._next(after, now)
            if run.at is None:
                return self._finish(tx, audit, NO_NEXT_RUN, now)
            after = after.evolve(state=states.ONGOING, next_run_time=run.shown)
            outcome = outcomes.Done({FAILURE_RECORDED: True}, again_at=run.at)
        tx.save_audit(after)
        tx.add_events(change_events(audit, after, now))
        return outcome

    def _finish(
        self, tx: Transaction, audit: Audit, message: str, now: datetime.datetime
    ) -> outcomes.Outcome:
        """End a CONTINUOUS audit whose end time has passed."""
        ongoing = audit.evolve(state=states.ONGOING, updated_at=now)
        over = ongoing.evolve(
            state=states.SUCCEEDED, status_message=message, next_run_time=None
        )
        tx.save_audit(over)
        # The state machine allows PENDING to SUCCEEDED only through ONGOING.
        tx.add_events(
            [*change_events(audit, ongoing, now), *change_events(ongoing, over, now)]
        )
        return outcomes.Done({}, last=True)

    def _record_failure(
        self, step: str, what: str, fault: outcomes.Fault
    ) -> outcomes.Outcome:
        """Record the failure of a step; a CONTINUOUS audit continues."""
        message = f'{what} failed: {fault.message}'

        def record(tx: Transaction) -> outcomes.Outcome:
            audit, _ = self._lock_ongoing(tx)
            now = self._context.now()
            after = audit.evolve(status_message=truncate(message), updated_at=now)
            again = None
            if audit.audit_type == CONTINUOUS:
                run = self._next(after, now)
                after = after.evolve(next_run_time=run.shown)
                again = run.at
            if again is None:
                after = after.evolve(state=states.FAILED, next_run_time=None)
            tx.save_audit(after)
            # The event of the step has the state of the audit at that time; the
            # change of state follows.
            failing = after.evolve(state=audit.state)
            tx.add_events(
                [
                    step_event(failing, step, now, fault),
                    *change_events(audit, after, now),
                ]
            )
            return outcomes.Failed(
                message, fault, {FAILURE_RECORDED: True}, again, last=again is None
            )

        return self._write(record)

    def _record_cancellation(self) -> None:
        """Cancel the audit if a user has cancelled only its action."""

        def record(tx: Transaction) -> None:
            audit, action = self._lock_ongoing(tx)
            if action.control != action_states.CANCEL:
                raise RunLost('The worker stops; another worker repeats the run.')
            now = self._context.now()
            after = audit.evolve(
                state=states.CANCELLED,
                status_message=CANCELLED,
                next_run_time=None,
                updated_at=now,
            )
            tx.save_audit(after)
            tx.add_events(change_events(audit, after, now))

        try:
            self._write(record)
        except RunLost:
            LOG.debug('Audit %s: the cancelled run was not current', self._audit_uuid)

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
    """Return a fault whose text databases can store."""
    if json_values.text_problem(fault.message) is None:
        return fault
    cleaned = fault.message.replace('\0', '?').encode('utf-8', 'replace').decode()
    return dataclasses.replace(fault, message=cleaned)


def is_failure_recorded(outputs: Mapping[str, object] | None) -> bool:
    """Return whether the audit has the result of the last run of its action."""
    return not _FAILURE_RECORDED_NAMES.isdisjoint(outputs or {})


class AuditAction(ActionType):
    """Runs the audit whose uuid is in its inputs.

    :param run: returns the run for an action context
    """

    description = 'Runs an audit.'
    # A repeated run finds the plan that was stored, or stores the first one.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'audit': {'type': 'string'}},
        'required': ['audit'],
        'additionalProperties': False,
    }

    def __init__(self, run: Callable[[ActionContext], AuditRun]) -> None:
        super().__init__()
        self._run = run

    def execute(self, context: ActionContext) -> Outcome:
        return self._run(context).execute()
