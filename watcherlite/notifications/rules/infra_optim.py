"""The notifications of actions, action plans and audits, as tables."""

from watcherlite.domain import events
from watcherlite.notifications.rules.notification import named
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states

PENDING = action_states.INFRA_OPTIM[action_states.READY]
ONGOING = action_states.INFRA_OPTIM[action_states.RUNNING]
DELETED = plan_states.DELETED


ACTION = named(
    ('create', 'ActionCreatePayload', 'the action was stored'),
    (
        'update',
        'ActionUpdatePayload',
        'its state changed, its status message was edited, or it was deleted',
    ),
    ('delete', 'ActionDeletePayload', 'it was soft-deleted'),
    (
        'execution.start',
        'ActionExecutionPayload',
        'its pre-condition passed and its execution started; repeated for each '
        'retry and run',
    ),
    ('execution.end', 'ActionExecutionPayload', 'it SUCCEEDED'),
    ('execution.error', 'ActionExecutionPayload', 'it FAILED; `fault` has the error'),
    (
        'cancel.start',
        'ActionCancelPayload',
        'it was running and its cancellation was requested',
    ),
    ('cancel.end', 'ActionCancelPayload', 'it had started and stopped'),
)

ACTION_PLAN = named(
    ('create', 'ActionPlanCreatePayload', 'the plan was stored'),
    (
        'update',
        'ActionPlanUpdatePayload',
        'its state or its status message changed, or it was deleted',
    ),
    ('delete', 'ActionPlanDeletePayload', 'it was soft-deleted'),
    ('execution.start', 'ActionPlanActionPayload', 'a worker claimed it'),
    (
        'execution.end',
        'ActionPlanActionPayload',
        'all its actions ended and none FAILED',
    ),
    (
        'execution.error',
        'ActionPlanActionPayload',
        'all its actions ended and at least one FAILED; `fault` has the first error',
    ),
    (
        'cancel.start',
        'ActionPlanCancelPayload',
        'it was running and its cancellation was requested',
    ),
    ('cancel.end', 'ActionPlanCancelPayload', 'its last running action ended'),
)

AUDIT = named(
    ('create', 'AuditCreatePayload', 'the audit was stored'),
    (
        'update',
        'AuditUpdatePayload',
        'its state changed, another field was edited, or it was deleted',
    ),
    ('delete', 'AuditDeletePayload', 'it was soft-deleted'),
    (
        'strategy.start',
        'AuditActionPayload',
        'a run started: the strategy computes a solution; repeated for each run',
    ),
    ('strategy.end', 'AuditActionPayload', 'the strategy returned a solution'),
    (
        'strategy.error',
        'AuditActionPayload',
        'the strategy failed; `fault` has the error',
    ),
    (
        'planner.start',
        'AuditActionPayload',
        'the planner creates an action plan from the solution',
    ),
    ('planner.end', 'AuditActionPayload', 'the action plan was stored'),
    (
        'planner.error',
        'AuditActionPayload',
        'the planner failed; `fault` has the error',
    ),
)

#: kind -> the notifications of any subject; a change of state may have more, below
OF_KIND: dict[str, tuple[str, ...]] = {
    events.CREATED: ('create',),
    events.STATE_CHANGED: ('update',),
    events.MESSAGE_CHANGED: ('update',),
    events.DELETED: ('update', 'delete'),
}

#: signal to an action -> its notifications; the others only pause the action
OF_SIGNAL: dict[str, tuple[str, ...]] = {
    action_states.CANCEL: ('cancel.start',),
    action_states.SUSPEND: (),
    action_states.RESUME: (),
}

#: step of the run of an audit -> its notifications
OF_STEP: dict[str, tuple[str, ...]] = {
    events.STRATEGY_START: ('strategy.start',),
    events.STRATEGY_END: ('strategy.end',),
    events.STRATEGY_ERROR: ('strategy.error',),
    events.PLANNER_START: ('planner.start',),
    events.PLANNER_END: ('planner.end',),
    events.PLANNER_ERROR: ('planner.error',),
}

#: (state before, internal status after) -> the notification besides the update
ACTION_CHANGES: dict[tuple[str | None, str], str] = {
    (PENDING, action_states.RUNNING): 'execution.start',
    (ONGOING, action_states.SUCCEEDED): 'execution.end',
    (PENDING, action_states.FAILED): 'execution.error',
    (ONGOING, action_states.FAILED): 'execution.error',
    # An action that had not started ends with the update alone.
    (ONGOING, action_states.CANCELLED): 'cancel.end',
}

#: (state before, state after) -> the notification besides the update
PLAN_CHANGES: dict[tuple[str | None, str], str] = {
    (plan_states.PENDING, plan_states.ONGOING): 'execution.start',
    (plan_states.ONGOING, plan_states.SUCCEEDED): 'execution.end',
    (plan_states.ONGOING, plan_states.FAILED): 'execution.error',
    (plan_states.ONGOING, plan_states.CANCELLING): 'cancel.start',
    (plan_states.CANCELLING, plan_states.CANCELLED): 'cancel.end',
}
