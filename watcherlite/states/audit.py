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
    PENDING: 'Accepted; no engine has taken it yet.',
    ONGOING: 'It runs, or waits for its next run.',
    SUCCEEDED: 'It proposed what it could.',
    FAILED: 'It could not; status_message says why.',
    CANCELLED: 'Stopped by an operator.',
    SUSPENDED: 'Paused by an operator: no further run starts.',
    DELETED: 'Deleted by an operator; kept as a row until it is purged.',
}

#: Its webhook may run an EVENT audit in these.
TRIGGERABLE = frozenset({PENDING, SUCCEEDED})
#: Nothing more is proposed.
ENDED = frozenset({SUCCEEDED, FAILED, CANCELLED, DELETED})

TRANSITIONS = {
    (PENDING, ONGOING): 'an engine takes it',
    (PENDING, CANCELLED): 'an operator does not want it any more',
    (ONGOING, SUCCEEDED): 'its run ended well, or its end time passed',
    (ONGOING, FAILED): 'its run failed',
    (ONGOING, CANCELLED): 'an operator stops it',
    (ONGOING, SUSPENDED): 'an operator pauses it',
    (SUSPENDED, ONGOING): 'an operator lets it go on',
    (SUSPENDED, DELETED): 'an operator deletes it',
    (SUCCEEDED, DELETED): 'an operator deletes it',
    (FAILED, DELETED): 'an operator deletes it',
    (CANCELLED, DELETED): 'an operator deletes it',
}

#: An audit that comes with a plan document has already proposed what it will.
MACHINE = Machine('audit', STATES, TRANSITIONS, initial=(PENDING, SUCCEEDED))
