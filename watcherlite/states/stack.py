"""States of stacks and resources, and the transitions between them.

A state is an action and a status, shown as one word: CREATE_COMPLETE. LOCK and
UNLOCK are an overlay (spec 004): each stack and resource keeps its state below them;
guards and replacement use that state, and an unlock restores it. The CHECK of a
suspended stack is an overlay as well.
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

#: The actions of stacks, with their descriptions.
STACK_ACTIONS = {
    CREATE: 'its resources are created',
    DELETE: 'its resources are deleted, and then the stack',
    UPDATE: 'its resources are updated to a new definition',
    ROLLBACK: 'its resources are restored to the previous definition',
    SUSPEND: 'its resources are suspended',
    RESUME: 'its resources are resumed',
    CHECK: 'its resources are checked',
    ADOPT: 'existing resources become its resources',
    LOCK: 'its resources are protected, and other operations are rejected',
    UNLOCK: 'the protection is removed',
}
#: The actions of resources; INIT: the resource has never been created.
RESOURCE_ACTIONS = {
    INIT: 'it has not been created yet',
    CREATE: 'it is created',
    DELETE: 'it is deleted',
    UPDATE: 'it is updated to a new definition',
    SUSPEND: 'it is suspended',
    RESUME: 'it is resumed',
    CHECK: 'it is checked, or a user sets or removes a health mark',
    ADOPT: 'an existing resource becomes a resource of the stack',
    LOCK: 'it is protected',
    UNLOCK: 'its protection is removed',
}

# Statuses
IN_PROGRESS = 'IN_PROGRESS'
COMPLETE = 'COMPLETE'
FAILED = 'FAILED'
STATUSES = {
    IN_PROGRESS: 'the action is running',
    COMPLETE: 'the action succeeded',
    FAILED: 'the action failed; the status reason has the cause',
}

# Levels of a lock (spec 004)
ALL = 'all'
STACKS = 'stacks'
LEVELS = (ALL, STACKS)
#: The actions of the overlay.
MAINTENANCE = frozenset({LOCK, UNLOCK})

#: The actions that suspend and resume a stack. A FAILED resource stays FAILED.
RESTING = frozenset({SUSPEND, RESUME})

#: Operations that users request on a stack, besides the actions above.
CANCEL_UPDATE = 'CANCEL_UPDATE'
SIGNAL = 'SIGNAL'
MARK = 'MARK_UNHEALTHY'
ABANDON = 'ABANDON'


#: Action of a resource -> the hooks before and after it, at which it may wait.
HOOKS: dict[str, tuple[str, str]] = {
    CREATE: ('pre-create', 'post-create'),
    UPDATE: ('pre-update', 'post-update'),
    DELETE: ('pre-delete', 'post-delete'),
}
#: Hook -> the action of the resource that it pauses.
HOOKED_ACTIONS = {hook: action for action, pair in HOOKS.items() for hook in pair}


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """The last action of a stack or resource, and its status."""

    action: str
    status: str
    reason: str = ''

    @property
    def name(self) -> str:
        """Return the state as one word, as clients read it."""
        return f'{self.action}_{self.status}'

    @property
    def busy(self) -> bool:
        return self.status == IN_PROGRESS

    @property
    def failed(self) -> bool:
        return self.status == FAILED


#: State of a lock -> the permitted operations: those of spec 004, and two additions:
#: changing the level of a lock, and deleting a stack whose lock or unlock failed.
_UNDER_LOCK: dict[str, frozenset[str]] = {
    'LOCK_IN_PROGRESS': frozenset(),
    'LOCK_COMPLETE': frozenset({UNLOCK, LOCK}),
    'LOCK_FAILED': frozenset({UNLOCK, DELETE, LOCK}),
    'UNLOCK_IN_PROGRESS': frozenset(),
    'UNLOCK_FAILED': frozenset({UNLOCK, DELETE}),
}
LOCKED = frozenset(_UNDER_LOCK)
#: Operation -> the running actions that it supersedes.
_SUPERSEDES = {
    UPDATE: frozenset({CREATE, UPDATE, ROLLBACK}),
    DELETE: frozenset(
        {CREATE, UPDATE, ROLLBACK, SUSPEND, RESUME, CHECK, ADOPT, DELETE}
    ),
    CANCEL_UPDATE: frozenset({CREATE, UPDATE}),
    SIGNAL: frozenset(STACK_ACTIONS) - {SUSPEND, DELETE, *MAINTENANCE},
}
#: Last action of a stack -> the operations that are rejected. The guard applies to the
#: state below a lock.
_NOT_AFTER: dict[str, frozenset[str]] = {
    SUSPEND: frozenset({UPDATE, SIGNAL, CANCEL_UPDATE, SUSPEND}),
    DELETE: frozenset(
        {UPDATE, SUSPEND, RESUME, CHECK, SIGNAL, CANCEL_UPDATE, MARK, ABANDON}
    ),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rejection:
    """The reason why an operation is rejected.

    :param locked: the reason is a lock; signals are ignored then, not rejected
    :param supported: the operation is possible in other states (409); False: it is
        invalid in this state (400), as existing clients expect
    """

    text: str
    locked: bool = False
    supported: bool = True


def supersedes(operation: str, state: State) -> bool:
    """Return whether an operation supersedes the running action."""
    return state.busy and state.action in _SUPERSEDES.get(operation, frozenset())


def blocking_reason(
    operation: str, state: State, base: State, name: str
) -> Rejection | None:
    """Return the reason why a stack rejects an operation; None: it is permitted.

    :param operation: an action of stacks, or CANCEL_UPDATE, SIGNAL, MARK, ABANDON
    :param state: as it is shown
    :param base: as it is below a lock; the same where there is none
    :param name: of the stack, for the text
    """
    if state.action in MAINTENANCE and state.name in LOCKED:
        if operation in _UNDER_LOCK[state.name]:
            return None
        return Rejection(_locked_text(operation, state, name), locked=True)
    if operation == UNLOCK:
        return Rejection(f'Stack {name} is not locked ({state.name}); lock it first.')
    if supersedes(operation, state):
        return None
    if operation == MARK and state.busy and state.action != DELETE:
        # Resources without a running operation can be marked (spec 002).
        return None
    if state.busy:
        if operation == CANCEL_UPDATE:
            text = f'Stack {name} does {state.action}, which cannot be cancelled.'
            return Rejection(text, supported=False)
        return Rejection(
            f'Stack {name} already has an action ({state.action}) in progress.'
        )
    if operation == CANCEL_UPDATE:
        text = f'Stack {name} is {state.name}: there is nothing to cancel.'
        return Rejection(text, supported=False)
    return _state_rejection(operation, base, name)


def _state_rejection(operation: str, base: State, name: str) -> Rejection | None:
    """Return the reason why an operation is rejected in the state below a lock."""
    if base.name == 'DELETE_COMPLETE':
        return Rejection(f'Stack {name} is deleted.')
    if base.action == SUSPEND and operation == SUSPEND:
        # A failed suspension can be repeated; on a suspended stack it has no effect.
        return None
    if operation == RESUME and base.action not in (SUSPEND, RESUME):
        text = f'Stack {name} is {base.name}: only a suspended stack can be resumed.'
        return Rejection(text, supported=False)
    if operation in _NOT_AFTER.get(base.action, frozenset()):
        text = f'{operation} of stack {name} is not supported: it is {base.name}.'
        return Rejection(text, supported=False)
    return None


def _locked_text(operation: str, state: State, name: str) -> str:
    if state.busy:
        return f'Stack {name} already has an action ({state.action}) in progress.'
    if operation == LOCK:
        return f'Stack {name} is {state.name}: unlock it first.'
    return f'Stack {name} is locked ({state.name}): {operation} needs an unlock first.'
