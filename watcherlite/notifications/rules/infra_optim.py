"""The notifications of actions, action plans and audits, as tables."""

from watcherlite.domain import events
from watcherlite.notifications.rules.notification import Notification
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states

PENDING = action_states.INFRA_OPTIM[action_states.READY]
ONGOING = action_states.INFRA_OPTIM[action_states.RUNNING]
DELETED = plan_states.DELETED


ACTION = {
    row.name: row
    for row in (
        Notification('create', 'INFO', 'ActionCreatePayload', 'the action was stored'),
        Notification(
            'update',
            'INFO',
            'ActionUpdatePayload',
            'its state changed, its status message was edited, or it was deleted',
        ),
        Notification('delete', 'INFO', 'ActionDeletePayload', 'it was soft-deleted'),
        Notification(
            'execution.start',
            'INFO',
            'ActionExecutionPayload',
            'its pre-condition passed and its execution started; repeated for each '
            'retry and run',
        ),
        Notification('execution.end', 'INFO', 'ActionExecutionPayload', 'it SUCCEEDED'),
        Notification(
            'execution.error',
            'ERROR',
            'ActionExecutionPayload',
            'it FAILED; `fault` has the error',
        ),
        Notification(
            'cancel.start',
            'INFO',
            'ActionCancelPayload',
            'it was running and its cancellation was requested',
        ),
        Notification(
            'cancel.end', 'INFO', 'ActionCancelPayload', 'it had started and stopped'
        ),
    )
}

ACTION_PLAN = {
    row.name: row
    for row in (
        Notification(
            'create', 'INFO', 'ActionPlanCreatePayload', 'the plan was stored'
        ),
        Notification(
            'update',
            'INFO',
            'ActionPlanUpdatePayload',
            'its state or its status message changed, or it was deleted',
        ),
        Notification(
            'delete', 'INFO', 'ActionPlanDeletePayload', 'it was soft-deleted'
        ),
        Notification(
            'execution.start', 'INFO', 'ActionPlanActionPayload', 'a worker claimed it'
        ),
        Notification(
            'execution.end',
            'INFO',
            'ActionPlanActionPayload',
            'all its actions ended and none FAILED',
        ),
        Notification(
            'execution.error',
            'ERROR',
            'ActionPlanActionPayload',
            'all its actions ended and at least one FAILED; `fault` has the first '
            'error',
        ),
        Notification(
            'cancel.start',
            'INFO',
            'ActionPlanCancelPayload',
            'it was running and its cancellation was requested',
        ),
        Notification(
            'cancel.end',
            'INFO',
            'ActionPlanCancelPayload',
            'its last running action ended',
        ),
    )
}

AUDIT = {
    row.name: row
    for row in (
        Notification('create', 'INFO', 'AuditCreatePayload', 'the audit was stored'),
        Notification(
            'update',
            'INFO',
            'AuditUpdatePayload',
            'its state changed, another field was edited, or it was deleted',
        ),
        Notification('delete', 'INFO', 'AuditDeletePayload', 'it was soft-deleted'),
        Notification(
            'strategy.start',
            'INFO',
            'AuditActionPayload',
            'a run started: the strategy computes a solution; repeated for each run',
        ),
        Notification(
            'strategy.end',
            'INFO',
            'AuditActionPayload',
            'the strategy returned a solution',
        ),
        Notification(
            'strategy.error',
            'ERROR',
            'AuditActionPayload',
            'the strategy failed; `fault` has the error',
        ),
        Notification(
            'planner.start',
            'INFO',
            'AuditActionPayload',
            'the planner creates an action plan from the solution',
        ),
        Notification(
            'planner.end', 'INFO', 'AuditActionPayload', 'the action plan was stored'
        ),
        Notification(
            'planner.error',
            'ERROR',
            'AuditActionPayload',
            'the planner failed; `fault` has the error',
        ),
    )
}

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
