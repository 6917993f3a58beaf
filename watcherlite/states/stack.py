"""States of stacks and resources, and the transitions between them.

A state is an action and a status, shown as one word: CREATE_COMPLETE. LOCK and
UNLOCK are an overlay: below them each stack and resource keeps the state that it
had, which guards and replacement go by and which comes back (spec 004). So is the CHECK
of what is suspended, which stays suspended.
"""

import dataclasses

# Actions
INIT = 'INIT'
CREATE = 'CREATE'
DELETE = 'DELETE'
UPDATE = 'UPDATE'
ROLLBACK = 'ROLLBACK'
SUSPEND = 'SUSPEND'
RESUME = 'RESUME'
CHECK = 'CHECK'
ADOPT = 'ADOPT'
LOCK = 'LOCK'
UNLOCK = 'UNLOCK'

#: What a stack may be doing, or have done last.
STACK_ACTIONS = {
    CREATE: 'its resources are made',
    DELETE: 'its resources are deleted, and then it is',
    UPDATE: 'its resources become what a changed template says',
    ROLLBACK: 'its resources become again what they were before',
    SUSPEND: 'its resources are put to rest',
    RESUME: 'its resources go on',
    CHECK: 'its resources are looked at',
    ADOPT: 'resources that are there already become its own',
    LOCK: 'its resources are protected, and nothing else may change it',
    UNLOCK: 'that protection is taken away',
}
#: Likewise a resource; INIT is one that has never been made.
RESOURCE_ACTIONS = {
    INIT: 'nothing has been done for it yet',
    CREATE: 'it is made',
    DELETE: 'it is deleted',
    UPDATE: 'it becomes what a changed template says',
    SUSPEND: 'it is put to rest',
    RESUME: 'it goes on',
    CHECK: 'it is looked at, or a user said how it is',
    ADOPT: 'one that is there already becomes its own',
    LOCK: 'it is protected',
    UNLOCK: 'its protection is taken away',
}

# Statuses
IN_PROGRESS = 'IN_PROGRESS'
COMPLETE = 'COMPLETE'
FAILED = 'FAILED'
STATUSES = {
    IN_PROGRESS: 'it is under way',
    COMPLETE: 'it has ended well',
    FAILED: 'it has ended otherwise; the status reason says why',
}

# Levels of a lock (spec 004)
ALL = 'all'
STACKS = 'stacks'
LEVELS = (ALL, STACKS)
#: The overlay.
MAINTENANCE = frozenset({LOCK, UNLOCK})

#: What puts a stack to rest and lets it go on. What is FAILED stays so.
RESTING = frozenset({SUSPEND, RESUME})

#: What users ask of a stack, beyond the actions above.
CANCEL_UPDATE = 'CANCEL_UPDATE'
SIGNAL = 'SIGNAL'
MARK = 'MARK_UNHEALTHY'
ABANDON = 'ABANDON'


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """What something does and how that is, or was."""

    action: str
    status: str
    reason: str = ''

    @property
    def name(self) -> str:
        """Return it as one word, as clients read it."""
        return f'{self.action}_{self.status}'

    @property
    def busy(self) -> bool:
        return self.status == IN_PROGRESS

    @property
    def failed(self) -> bool:
        return self.status == FAILED


#: What a locked stack, and one that could not be locked or unlocked, lets happen:
#: the list of spec 004 with what reference to it was found to need (relocking one
#: that is locked, deleting one that is half locked).
_UNDER_LOCK: dict[str, frozenset[str]] = {
    'LOCK_IN_PROGRESS': frozenset(),
    'LOCK_COMPLETE': frozenset({UNLOCK, LOCK}),
    'LOCK_FAILED': frozenset({UNLOCK, DELETE, LOCK}),
    'UNLOCK_IN_PROGRESS': frozenset(),
    'UNLOCK_FAILED': frozenset({UNLOCK, DELETE}),
}
LOCKED = frozenset(_UNDER_LOCK)
#: What may begin while something else is under way, which it supersedes.
_SUPERSEDES = {
    UPDATE: frozenset({CREATE, UPDATE, ROLLBACK}),
    DELETE: frozenset(
        {CREATE, UPDATE, ROLLBACK, SUSPEND, RESUME, CHECK, ADOPT, DELETE}
    ),
    CANCEL_UPDATE: frozenset({CREATE, UPDATE}),
    SIGNAL: frozenset(STACK_ACTIONS) - {SUSPEND, DELETE, *MAINTENANCE},
}
#: What a stack that is suspended, or being deleted, cannot do; the guard is on the
#: state below a lock.
_NOT_AFTER: dict[str, frozenset[str]] = {
    SUSPEND: frozenset({UPDATE, SIGNAL, CANCEL_UPDATE, SUSPEND}),
    DELETE: frozenset(
        {UPDATE, SUSPEND, RESUME, CHECK, SIGNAL, CANCEL_UPDATE, MARK, ABANDON}
    ),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why an operation may not begin.

    :param locked: because of a lock; then signals are ignored, not refused
    :param supported: it would be possible at another time (409); else it makes no
        sense in this state (400), as existing clients expect it
    """

    text: str
    locked: bool = False
    supported: bool = True


def supersedes(operation: str, state: State) -> bool:
    """Return whether an operation takes the place of what is under way."""
    return state.busy and state.action in _SUPERSEDES.get(operation, frozenset())


def refusal(operation: str, state: State, base: State, name: str) -> Refusal | None:
    """Return why a stack may not begin an operation now; None: it may.

    :param operation: an action of stacks, or CANCEL_UPDATE, SIGNAL, MARK, ABANDON
    :param state: as it is shown
    :param base: as it is below a lock; the same where there is none
    :param name: of the stack, for the text
    """
    if state.action in MAINTENANCE and state.name in LOCKED:
        if operation in _UNDER_LOCK[state.name]:
            return None
        return Refusal(_locked_text(operation, state, name), locked=True)
    if operation == UNLOCK:
        return Refusal(f'Stack {name} is not locked ({state.name}); lock it first.')
    if supersedes(operation, state):
        return None
    if operation == MARK and state.busy and state.action != DELETE:
        # What nothing is done with can be marked (spec 002).
        return None
    if state.busy:
        if operation == CANCEL_UPDATE:
            text = f'Stack {name} does {state.action}, which cannot be cancelled.'
            return Refusal(text, supported=False)
        return Refusal(
            f'Stack {name} already has an action ({state.action}) in progress.'
        )
    if operation == CANCEL_UPDATE:
        text = f'Stack {name} is {state.name}: there is nothing to cancel.'
        return Refusal(text, supported=False)
    return _unfit(operation, base, name)


def _unfit(operation: str, base: State, name: str) -> Refusal | None:
    """Return why an operation makes no sense in the state below a lock."""
    if base.name == 'DELETE_COMPLETE':
        return Refusal(f'Stack {name} is deleted.')
    if base.action == SUSPEND and operation == SUSPEND:
        # One whose suspension failed may try again, and one that has been
        # suspended has nothing to do.
        return None
    if operation == RESUME and base.action not in (SUSPEND, RESUME):
        text = f'Stack {name} is {base.name}: only a suspended stack can be resumed.'
        return Refusal(text, supported=False)
    if operation in _NOT_AFTER.get(base.action, frozenset()):
        text = f'{operation} of stack {name} is not supported: it is {base.name}.'
        return Refusal(text, supported=False)
    return None


def _locked_text(operation: str, state: State, name: str) -> str:
    if state.busy:
        return f'Stack {name} already has an action ({state.action}) in progress.'
    if operation == LOCK:
        return f'Stack {name} is {state.name}: unlock it first.'
    return f'Stack {name} is locked ({state.name}): {operation} needs an unlock first.'
