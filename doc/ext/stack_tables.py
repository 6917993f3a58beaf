"""Stacks and templates as lines of RST, generated from the tables of the code.

The permitted operations are those of `watcherlite.states.stack.blocking_reason`, which
validates requests.
"""

from collections.abc import Iterable, Mapping

# A module of this directory, which conf.py adds to sys.path.
import tables

from watcherlite.domain.templates import versions
from watcherlite.domain.templates.functions import hot_functions
from watcherlite.states import stack
from watcherlite.states.machine import Machine
from watcherlite.states.stack import State

#: The operations on an existing stack.
OPERATIONS = (
    *(stack.UPDATE, stack.DELETE, stack.CANCEL_UPDATE, stack.SUSPEND, stack.RESUME),
    *(stack.CHECK, stack.LOCK, stack.UNLOCK, stack.ABANDON, stack.MARK, stack.SIGNAL),
)
#: The responses to a request for an operation.
BEGINS, CONFLICT, INVALID, IGNORED = 'begins', '409', '400', 'ignored'
#: The state of a stack that was never locked, for the state machine of locks.
FREE = 'not locked'
_LOCK_STATES = {
    FREE: 'Any other state that ends with COMPLETE or FAILED.',
    'LOCK_IN_PROGRESS': 'The stack, its nested stacks and resources are being locked.',
    'LOCK_COMPLETE': 'It is locked, according to the level of the lock.',
    'LOCK_FAILED': 'A part of it could not be locked; it counts as locked.',
    'UNLOCK_IN_PROGRESS': 'Its locked parts are being unlocked.',
    'UNLOCK_COMPLETE': 'It is unlocked; its state before the lock is restored.',
    'UNLOCK_FAILED': 'A part of it could not be unlocked; it counts as locked.',
    'DELETE_IN_PROGRESS': 'It is being deleted with its resources.',
}


def actions(shown: Mapping[str, str]) -> list[str]:
    """Return the table of the actions of stacks or resources."""
    rows = [(f'``{name}``', _sentence(text)) for name, text in shown.items()]
    return tables.list_table(('Action', 'Meaning'), (20, 80), rows)


def statuses() -> list[str]:
    """Return the table of statuses."""
    rows = [(f'``{name}``', _sentence(text)) for name, text in stack.STATUSES.items()]
    return tables.list_table(('Status', 'Meaning'), (20, 80), rows)


def names(locks: bool) -> list[str]:
    """Return the states of stacks; those of the overlay, or those without it."""
    return [
        f'{action}_{status}'
        for action in stack.STACK_ACTIONS
        for status in stack.STATUSES
        if (action in stack.MAINTENANCE) is locks
        # A deleted stack is not found.
        if (action, status) != (stack.DELETE, stack.COMPLETE)
    ]


def answer(operation: str, state: str) -> str:
    """Return the response to a request for an operation in a state.

    The state below a lock is RESUME_COMPLETE, which permits most operations.
    """
    shown = State(*state.split('_', 1))
    base = shown
    if shown.action in stack.MAINTENANCE:
        base = State(stack.RESUME, stack.COMPLETE)
    reason = stack.blocking_reason(operation, shown, base, 'name')
    if reason is None:
        return BEGINS
    if not reason.supported:
        return INVALID
    return IGNORED if reason.locked and operation == stack.SIGNAL else CONFLICT


def guards(locks: bool) -> list[str]:
    """Return the table of the permitted operations by state.

    States with the same operations share a row.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for state in names(locks):
        answers = tuple(answer(operation, state) for operation in OPERATIONS)
        alike.setdefault(answers, []).append(state)
    last = IGNORED if locks else INVALID
    rows = [
        (
            ', '.join(f'``{state}``' for state in states),
            *(_with(answers, desired) for desired in (BEGINS, CONFLICT, last)),
        )
        for answers, states in alike.items()
    ]
    ending = 'Ignored' if locks else 'Invalid: 400'
    heads = ('State', 'Permitted', 'Rejected: 409', ending)
    return tables.list_table(heads, (28, 26, 28, 18), rows)


def lock_machine() -> Machine:
    """Return the state machine of the lock of a stack."""
    any_other = f'{stack.CREATE}_{stack.COMPLETE}'
    states = dict(_LOCK_STATES)
    transitions: dict[tuple[str, str], str] = {}
    for action, asked in ((stack.LOCK, 'a lock'), (stack.UNLOCK, 'an unlock')):
        begun = f'{action}_{stack.IN_PROGRESS}'
        transitions[begun, f'{action}_{stack.COMPLETE}'] = 'it succeeded'
        transitions[begun, f'{action}_{stack.FAILED}'] = (
            'it failed or timed out; the status reason has the cause'
        )
        for state in (FREE, *names(locks=True)):
            if answer(action, any_other if state == FREE else state) == BEGINS:
                transitions[state, begun] = f'a user requests {asked}'
    deleted = f'{stack.DELETE}_{stack.IN_PROGRESS}'
    for state in names(locks=True):
        if answer(stack.DELETE, state) == BEGINS:
            transitions[state, deleted] = 'a user requests its deletion'
    again = (f'{stack.UNLOCK}_{stack.IN_PROGRESS}', f'{stack.LOCK}_{stack.COMPLETE}')
    transitions[again] = (
        'the lock of the enclosing stack is removed, its own lock remains'
    )
    after = f'{stack.UNLOCK}_{stack.COMPLETE}'
    transitions[after, FREE] = 'another operation has ended'
    ordered = {
        pair: why
        for state in states
        for pair, why in transitions.items()
        if pair[0] == state
    }
    return Machine('the lock of a stack', states, ordered, initial=(FREE,))


def template_versions() -> list[str]:
    """Return the table of template versions, with the functions that each added."""
    added: dict[str, list[str]] = {}
    for function in (*hot_functions.FUNCTIONS, *hot_functions.CONDITION_FUNCTIONS):
        since = function.since or versions.VERSIONS[0].date
        added.setdefault(since, []).append(f'``{function.name}``')
    rows = [
        (
            f'``{version.date}``',
            f'``{version.alias}``' if version.alias else '',
            ', '.join(added.get(version.date, ())),
        )
        for version in versions.VERSIONS
    ]
    return tables.list_table(
        ('Version', 'Alias', 'Added functions'), (16, 14, 70), rows
    )


def _with(answers: Iterable[str], desired: str) -> str:
    found = [
        f'``{operation}``'
        for operation, said in zip(OPERATIONS, answers, strict=True)
        if said == desired
    ]
    return ', '.join(found)


def _sentence(text: str) -> str:
    return f'{text[0].upper()}{text[1:]}.'
