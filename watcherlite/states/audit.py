"""The states of an audit."""

from watcherlite.states.machine import Machine

PENDING = 'PENDING'
ONGOING = 'ONGOING'
SUCCEEDED = 'SUCCEEDED'
FAILED = 'FAILED'
CANCELLED = 'CANCELLED'
SUSPENDED = 'SUSPENDED'
DELETED = 'DELETED'

STATES = {
    PENDING: 'Accepted; not claimed by an engine yet.',
    ONGOING: 'It runs, or waits for its next run.',
    SUCCEEDED: 'Its run succeeded.',
    FAILED: 'Its run failed; status_message has the reason.',
    CANCELLED: 'Cancelled by an operator.',
    SUSPENDED: 'Suspended by an operator: no further run starts.',
    DELETED: 'Deleted by an operator; the row is kept until a purge.',
}

#: The states in which a webhook may run an EVENT audit.
TRIGGERABLE = frozenset({PENDING, SUCCEEDED})
#: The states in which no further run starts.
ENDED = frozenset({SUCCEEDED, FAILED, CANCELLED, DELETED})

TRANSITIONS = {
    (PENDING, ONGOING): 'an engine claims it',
    (PENDING, CANCELLED): 'an operator cancels it',
    (ONGOING, SUCCEEDED): 'its run succeeded, or its end time passed',
    (ONGOING, FAILED): 'its run failed',
    (ONGOING, CANCELLED): 'an operator cancels it',
    (ONGOING, SUSPENDED): 'an operator suspends it',
    (SUSPENDED, ONGOING): 'an operator resumes it',
    (SUSPENDED, DELETED): 'an operator deletes it',
    (SUCCEEDED, DELETED): 'an operator deletes it',
    (FAILED, DELETED): 'an operator deletes it',
    (CANCELLED, DELETED): 'an operator deletes it',
}

#: The audit of a plan document starts as SUCCEEDED, because its plan exists.
MACHINE = Machine('audit', STATES, TRANSITIONS, initial=(PENDING, SUCCEEDED))
