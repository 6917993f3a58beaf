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
    PENDING: 'Started by an operator; no worker has taken it yet.',
    ONGOING: 'Workers execute its actions.',
    SUCCEEDED: 'All its actions ended, and none FAILED.',
    FAILED: 'All its actions ended, and at least one FAILED.',
    CANCELLING: 'Cancelled while running; running actions are told to stop.',
    CANCELLED: 'Cancelled, and nothing of it runs any more.',
    SUPERSEDED: 'Nobody started it in time, or a newer proposal replaced it.',
    DELETED: 'Deleted by an operator; kept as a row until it is purged.',
}

TRANSITIONS = {
    (RECOMMENDED, PENDING): 'an operator starts it',
    (RECOMMENDED, CANCELLED): 'an operator does not want it',
    (RECOMMENDED, SUPERSEDED): 'it expired, or a newer proposal replaced it',
    (RECOMMENDED, SUCCEEDED): 'it was proposed without any action: all is well',
    (RECOMMENDED, DELETED): 'an operator deletes it',
    (PENDING, ONGOING): 'a worker takes it',
    (PENDING, CANCELLED): 'cancelled before a worker took it',
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

#: Its execution is over.
ENDED = frozenset({SUCCEEDED, FAILED, CANCELLED, SUPERSEDED, DELETED})
#: A worker has something to do for it.
ACTIVE = frozenset({PENDING, ONGOING, CANCELLING})
#: A user may skip PENDING actions of a plan in these (spec 000, decisions.md).
SKIPPABLE = frozenset({RECOMMENDED, PENDING})

# What a failed action means for the rest of its plan
CONTINUE = 'continue'
STOP = 'stop'
ROLLBACK = 'rollback'
ON_FAILURE = {
    CONTINUE: 'the other actions go on; the plan is FAILED at the end',
    STOP: 'actions that have not started are cancelled',
    ROLLBACK: 'as stop; then the actions that succeeded are reverted, last first',
}

# What the loss of a worker means for its plans
RESUME = 'resume'
FAIL = 'fail'
CANCEL = 'cancel'
ON_WORKER_LOSS = {
    RESUME: 'another worker continues the plan',
    FAIL: 'started actions of the worker are FAILED, the rest is cancelled',
    CANCEL: 'the plan is cancelled',
}
