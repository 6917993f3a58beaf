"""The state machine of actions, and its mapping to the states of the APIs.

Plan actions, cluster actions, resource operations and audit runs all have these
statuses. REST and notifications map them by `INFRA_OPTIM` and `CLUSTERING`; both tables
are total.
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
    INIT: 'It is not released yet.',
    WAITING: 'It waits for its dependencies or its derived actions.',
    READY: 'A worker of its lane may claim it, or has claimed it and checks it.',
    RUNNING: 'Its pre-conditions passed and a worker executes it.',
    SUSPENDED: 'It and its derived actions are suspended until RESUME or CANCEL.',
    SUCCEEDED: 'It ended successfully.',
    FAILED: 'It failed; status_message has the reason.',
    CANCELLED: 'A CANCEL stopped it, or prevented its start.',
    SKIPPED: 'A user or its pre-condition skipped it; it was never executed.',
}

TRANSITIONS = {
    (INIT, WAITING): 'released with unfinished dependencies',
    (INIT, READY): 'released without unfinished dependencies',
    (INIT, SKIPPED): 'a user skips it before its plan has started',
    (INIT, CANCELLED): 'its plan was cancelled, or stopped after a failure',
    (WAITING, READY): 'the last action that it waited for has ended',
    (WAITING, SKIPPED): 'a user skips it before its start',
    (WAITING, FAILED): 'an action whose success it requires has failed',
    (
        WAITING,
        CANCELLED,
    ): 'cancelled before its start, or together with a required action',
    (WAITING, SUSPENDED): 'SUSPEND while it waits for its derived actions',
    (READY, RUNNING): 'policies and pre_condition passed',
    (READY, SKIPPED): 'pre_condition or a user skips it',
    (READY, FAILED): 'an unexpected error in policies or pre_condition',
    (READY, CANCELLED): 'cancelled before its start',
    (READY, WAITING): 'its target is locked by another action',
    (
        READY,
        SUSPENDED,
    ): 'SUSPEND when its derived actions have ended, before a worker claims it again',
    (RUNNING, SUCCEEDED): 'execute and post_condition succeeded',
    (RUNNING, FAILED): 'it failed, timed out, or its worker was lost',
    (RUNNING, CANCELLED): 'it handled a CANCEL',
    (RUNNING, SUSPENDED): 'it handled a SUSPEND',
    (
        RUNNING,
        READY,
    ): 'it requested a retry, its interval schedules the next run, its worker could '
    'not start it in time, or its worker was lost and it may run again',
    (RUNNING, WAITING): 'it waits for its derived actions',
    (SUSPENDED, RUNNING): 'RESUME',
    (SUSPENDED, CANCELLED): 'CANCEL while suspended',
    (SUSPENDED, FAILED): 'its worker was lost and the outcome is unknown',
    (SUSPENDED, WAITING): 'RESUME or CANCEL while it waits for its derived actions',
    (
        SUSPENDED,
        READY,
    ): 'its worker was lost and it may run again, or RESUME or CANCEL when its '
    'derived actions have ended',
}

MACHINE = Machine('action', STATES, TRANSITIONS, initial=(INIT, WAITING, READY))

#: Statuses without outgoing transitions.
FINAL = MACHINE.final
#: Not started: a cancelled plan takes these to CANCELLED at once.
NOT_STARTED = frozenset({INIT, WAITING, READY})
#: Started and not ended: a cancelled plan sends these the CANCEL signal.
STARTED = frozenset({RUNNING, SUSPENDED})

# Phases: the hooks of its type that a READY action is claimed for
RUN = 'run'  # pre_condition, execute, post_condition
CHECK = 'check'  # is_applied first: its worker was lost and it is checkable
COMPLETE = 'complete'  # its derived actions have ended
REVERT = 'revert'  # it reverts another action of its plan

# Signals: the words of the `control` column (spec 001)
CANCEL = 'CANCEL'
SUSPEND = 'SUSPEND'
RESUME = 'RESUME'
SIGNALS = frozenset({CANCEL, SUSPEND, RESUME})
#: signal -> statuses in which a user may send it. CANCEL of an unstarted action is a
#: transition without a signal. An action that is WAITING can be suspended only while it
#: waits for its derived actions.
SIGNAL_ALLOWED = {
    CANCEL: frozenset({INIT, WAITING, READY, RUNNING, SUSPENDED}),
    SUSPEND: frozenset({RUNNING, WAITING}),
    RESUME: frozenset({SUSPENDED}),
}

# Causes (spec 001): the first takes the lock on its target, the second inherits it
RPC_REQUEST = 'RPC Request'
DERIVED_ACTION = 'Derived Action'

#: The `state` of the infra-optim API and of the notifications.
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

#: The `status` of the clustering API.
CLUSTERING = {status: status for status in STATES}


def infra_optim_state(status: str, started: bool = False) -> str:
    """Return the infra-optim state of an action.

    :param started: whether it has started, see `Action.has_started`: an action that
        waits for its derived actions, or for its next attempt, is ONGOING
    """
    if started and status in (WAITING, READY):
        return 'ONGOING'
    return INFRA_OPTIM[status]
