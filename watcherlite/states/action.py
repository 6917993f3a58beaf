"""The one status machine of actions, and the two vocabularies shown outside.

Plan actions, cluster actions, resource operations and audit runs are all in
these statuses. REST and notifications show them through `INFRA_OPTIM` and
`CLUSTERING`; both tables are total.
"""

from watcherlite.states.machine import Machine

INIT = 'INIT'
WAITING = 'WAITING'
READY = 'READY'
RUNNING = 'RUNNING'
SUSPENDED = 'SUSPENDED'
SUCCEEDED = 'SUCCEEDED'
FAILED = 'FAILED'
CANCELLED = 'CANCELLED'
SKIPPED = 'SKIPPED'

STATES = {
    INIT: 'It exists and is not released: its plan has not come to it.',
    WAITING: 'It is released and waits for its dependencies or for derived actions.',
    READY: 'Any worker of its lane may take it, or has just taken it to check it.',
    RUNNING: 'Its pre-conditions passed and a worker executes it.',
    SUSPENDED: 'It is paused by a signal, with all that it derived; only RESUME or '
    'CANCEL moves it.',
    SUCCEEDED: 'It did what it should.',
    FAILED: 'It did not; status_message says why.',
    CANCELLED: 'It was stopped, or not started any more, because of a CANCEL.',
    SKIPPED: 'It was never executed, by decision of a user or of its pre-condition.',
}

TRANSITIONS = {
    (INIT, WAITING): 'released while something that it depends on is unfinished',
    (INIT, READY): 'released with nothing left to wait for',
    (INIT, SKIPPED): 'a user skips it before its plan has started',
    (INIT, CANCELLED): 'its plan was cancelled, or stopped after a failure',
    (WAITING, READY): 'the last thing that it waited for has ended',
    (WAITING, SKIPPED): 'a user skips it before it was started',
    (WAITING, FAILED): 'something that it needs the success of has failed',
    (WAITING, CANCELLED): 'cancelled before it was started, or with what it needs',
    (WAITING, SUSPENDED): 'SUSPEND while it waits for what it derived',
    (READY, RUNNING): 'policies and pre_condition passed',
    (READY, SKIPPED): 'pre_condition says that it does not apply, or a user skips it',
    (READY, FAILED): 'an unexpected error in policies or pre_condition',
    (READY, CANCELLED): 'cancelled before it was started',
    (READY, WAITING): 'its target is locked by another action',
    (READY, SUSPENDED): 'SUSPEND when all that it derived has ended, before a worker '
    'takes it up again',
    (RUNNING, SUCCEEDED): 'execute and post_condition went well',
    (RUNNING, FAILED): 'it failed, timed out, or its worker was lost half way',
    (RUNNING, CANCELLED): 'it heeded a CANCEL',
    (RUNNING, SUSPENDED): 'it heeded a SUSPEND',
    (RUNNING, READY): 'it asked for a retry, its interval asks for the next run, '
    'no thread of its worker came to begin it, or its worker was lost and running it '
    'again is safe',
    (RUNNING, WAITING): 'it has derived actions to wait for',
    (SUSPENDED, RUNNING): 'RESUME',
    (SUSPENDED, CANCELLED): 'CANCEL while paused',
    (SUSPENDED, FAILED): 'its worker was lost and nobody can tell how far it came',
    (SUSPENDED, WAITING): 'RESUME or CANCEL, and it waits for what it derived',
    (SUSPENDED, READY): 'its worker was lost and running it again is safe, or RESUME '
    'or CANCEL and all that it derived has ended',
}

MACHINE = Machine('action', STATES, TRANSITIONS, initial=(INIT, WAITING, READY))

#: No way leads out of these.
FINAL = MACHINE.final
#: Not started: a cancelled plan takes these to CANCELLED at once.
NOT_STARTED = frozenset({INIT, WAITING, READY})
#: Started and not ended: a cancelled plan sends these the CANCEL signal.
STARTED = frozenset({RUNNING, SUSPENDED})

# Phases: which hook of its type a READY action is to be claimed for
RUN = 'run'  # pre_condition, execute, post_condition
CHECK = 'check'  # is_applied first: its worker was lost and it is checkable
COMPLETE = 'complete'  # its derived actions have ended
REVERT = 'revert'  # it undoes another action of its plan

# Signals: the words of the `control` column (spec 001)
CANCEL = 'CANCEL'
SUSPEND = 'SUSPEND'
RESUME = 'RESUME'
SIGNALS = frozenset({CANCEL, SUSPEND, RESUME})
#: signal -> statuses in which a user may send it. CANCEL of a status that is
#: not started needs no signal: it is a transition. One that is WAITING can be
#: suspended only while it waits for what it derived.
SIGNAL_ALLOWED = {
    CANCEL: frozenset({INIT, WAITING, READY, RUNNING, SUSPENDED}),
    SUSPEND: frozenset({RUNNING, WAITING}),
    RESUME: frozenset({SUSPENDED}),
}

# Causes (spec 001): who has to take the lock on the target
RPC_REQUEST = 'RPC Request'
DERIVED_ACTION = 'Derived Action'

#: What the infra-optim API and the notifications call `state`.
INFRA_OPTIM = {
    INIT: 'PENDING',
    WAITING: 'PENDING',
    READY: 'PENDING',
    RUNNING: 'ONGOING',
    SUSPENDED: 'ONGOING',
    SUCCEEDED: 'SUCCEEDED',
    FAILED: 'FAILED',
    CANCELLED: 'CANCELLED',
    SKIPPED: 'SKIPPED',
}

#: What the clustering API calls `status`.
CLUSTERING = {status: status for status in STATES}


def infra_optim_state(status: str, started: bool = False) -> str:
    """Return the infra-optim state of an action.

    :param started: see `Action.under_way`: one that waits for its derived actions,
        or for its next try, is ONGOING and not PENDING
    """
    if started and status in (WAITING, READY):
        return 'ONGOING'
    return INFRA_OPTIM[status]
