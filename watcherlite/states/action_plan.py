"""The states of an action plan, and the rules that depend on them."""

from watcherlite.states.machine import Machine

RECOMMENDED = 'RECOMMENDED'
PENDING = 'PENDING'
ONGOING = 'ONGOING'
SUCCEEDED = 'SUCCEEDED'
FAILED = 'FAILED'
CANCELLING = 'CANCELLING'
CANCELLED = 'CANCELLED'
SUPERSEDED = 'SUPERSEDED'
DELETED = 'DELETED'

STATES = {
    RECOMMENDED: 'Proposed; an operator reviews it.',
    PENDING: 'Started by an operator; not claimed by a worker yet.',
    ONGOING: 'Workers execute its actions.',
    SUCCEEDED: 'All its actions ended, and none FAILED.',
    FAILED: 'All its actions ended, and at least one FAILED.',
    CANCELLING: 'Cancelled while running; running actions are signalled.',
    CANCELLED: 'Cancelled; none of its actions is running.',
    SUPERSEDED: 'It expired, or a newer proposal replaced it.',
    DELETED: 'Deleted by an operator; the row is kept until a purge.',
}

TRANSITIONS = {
    (RECOMMENDED, PENDING): 'an operator starts it',
    (RECOMMENDED, CANCELLED): 'an operator cancels it',
    (RECOMMENDED, SUPERSEDED): 'it expired, or a newer proposal replaced it',
    (RECOMMENDED, SUCCEEDED): 'it was proposed without actions',
    (RECOMMENDED, DELETED): 'an operator deletes it',
    (PENDING, ONGOING): 'a worker claims it',
    (PENDING, CANCELLED): 'cancelled before a worker claimed it',
    (ONGOING, SUCCEEDED): 'the last action ended, none failed',
    (ONGOING, FAILED): 'the last action ended, at least one failed',
    (ONGOING, CANCELLING): 'cancelled while actions run',
    (CANCELLING, CANCELLED): 'the last running action ended',
    (SUCCEEDED, DELETED): 'an operator deletes it',
    (FAILED, DELETED): 'an operator deletes it',
    (CANCELLED, DELETED): 'an operator deletes it',
    (SUPERSEDED, DELETED): 'an operator deletes it',
}

MACHINE = Machine('action plan', STATES, TRANSITIONS, initial=(RECOMMENDED,))

#: The states in which its execution has ended.
ENDED = frozenset({SUCCEEDED, FAILED, CANCELLED, SUPERSEDED, DELETED})
#: The states in which workers act on it.
ACTIVE = frozenset({PENDING, ONGOING, CANCELLING})
#: The states in which a user may skip its PENDING actions (spec 000).
SKIPPABLE = frozenset({RECOMMENDED, PENDING})
#: The states in which the actions that did not succeed can be put into a new plan.
RETRIABLE = frozenset({FAILED, CANCELLED})

# The effects of a failed action on its plan
CONTINUE = 'continue'
STOP = 'stop'
ROLLBACK = 'rollback'
ON_FAILURE = {
    CONTINUE: 'the other actions continue; the plan is FAILED at the end',
    STOP: 'actions that have not started are cancelled',
    ROLLBACK: 'as stop; then the actions that succeeded are reverted, last first',
}

# The effects of a lost worker on its plans
RESUME = 'resume'
FAIL = 'fail'
CANCEL = 'cancel'
ON_WORKER_LOSS = {
    RESUME: 'another worker continues the plan',
    FAIL: 'started actions of the worker are FAILED, the rest is cancelled',
    CANCEL: 'the plan is cancelled',
}
