"""What stacks and templates can do, as lines of RST, made from the tables of the code.

What may begin in which state is asked of the same function that answers requests.
"""

from collections.abc import Iterable, Mapping

# It stands beside this file; conf.py has put the directory on the path.
import tables

from watcherlite.domain.templates import functions, versions
from watcherlite.states import stack
from watcherlite.states.machine import Machine
from watcherlite.states.stack import State

#: What users may ask for of a stack that there is.
OPERATIONS = (
    *(stack.UPDATE, stack.DELETE, stack.CANCEL_UPDATE, stack.SUSPEND, stack.RESUME),
    *(stack.CHECK, stack.LOCK, stack.UNLOCK, stack.ABANDON, stack.MARK, stack.SIGNAL),
)
#: How an operation is answered.
BEGINS, CONFLICT, SENSELESS, IGNORED = 'begins', '409', '400', 'ignored'
#: Of a stack that was never locked, for the machine of locks.
FREE = 'not locked'
_LOCK_STATES = {
    FREE: 'It is in any other state that ends with COMPLETE or FAILED.',
    'LOCK_IN_PROGRESS': 'It, the stacks in it and their resources are being locked.',
    'LOCK_COMPLETE': 'All of it is locked, as far as the level of the lock says.',
    'LOCK_FAILED': 'Something in it could not be locked; it counts as locked.',
    'UNLOCK_IN_PROGRESS': 'What was locked is being unlocked.',
    'UNLOCK_COMPLETE': 'Nothing of it is locked; it is what it was before the lock.',
    'UNLOCK_FAILED': 'Something in it could not be unlocked; it counts as locked.',
    'DELETE_IN_PROGRESS': 'It is being deleted, with all that it is made of.',
}


def actions(shown: Mapping[str, str]) -> list[str]:
    """Return the table of what stacks or resources may be doing."""
    rows = [(f'``{name}``', _sentence(text)) for name, text in shown.items()]
    return tables.list_table(('Action', 'Meaning'), (20, 80), rows)


def statuses() -> list[str]:
    """Return the table of how that may be."""
    rows = [(f'``{name}``', _sentence(text)) for name, text in stack.STATUSES.items()]
    return tables.list_table(('Status', 'Meaning'), (20, 80), rows)


def names(locks: bool) -> list[str]:
    """Return the states of stacks; those of the overlay, or those without it."""
    return [
        f'{action}_{status}'
        for action in stack.STACK_ACTIONS
        for status in stack.STATUSES
        if (action in stack.MAINTENANCE) is locks
        # That one is gone: nothing finds it.
        if (action, status) != (stack.DELETE, stack.COMPLETE)
    ]


def answer(operation: str, state: str) -> str:
    """Return how an operation is answered in a state.

    Below a lock the stack is RESUME_COMPLETE, in which most makes sense.
    """
    shown = State(*state.split('_', 1))
    base = shown
    if shown.action in stack.MAINTENANCE:
        base = State(stack.RESUME, stack.COMPLETE)
    refusal = stack.refusal(operation, shown, base, 'name')
    if refusal is None:
        return BEGINS
    if not refusal.supported:
        return SENSELESS
    return IGNORED if refusal.locked and operation == stack.SIGNAL else CONFLICT


def guards(locks: bool) -> list[str]:
    """Return the table of what may begin in which state.

    States that are alike in that stand in one row.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for state in names(locks):
        answers = tuple(answer(operation, state) for operation in OPERATIONS)
        alike.setdefault(answers, []).append(state)
    last = IGNORED if locks else SENSELESS
    rows = [
        (
            ', '.join(f'``{state}``' for state in states),
            *(_with(answers, wanted) for wanted in (BEGINS, CONFLICT, last)),
        )
        for answers, states in alike.items()
    ]
    ending = 'Ignored' if locks else 'Makes no sense then: 400'
    heads = ('State', 'May begin', 'Refused: 409', ending)
    return tables.list_table(heads, (28, 26, 28, 18), rows)


def lock_machine() -> Machine:
    """Return what locks do to the state of a stack, as a machine."""
    any_other = f'{stack.CREATE}_{stack.COMPLETE}'
    states = dict(_LOCK_STATES)
    transitions: dict[tuple[str, str], str] = {}
    for action, asked in ((stack.LOCK, 'a lock'), (stack.UNLOCK, 'an unlock')):
        begun = f'{action}_{stack.IN_PROGRESS}'
        transitions[begun, f'{action}_{stack.COMPLETE}'] = 'all of it is done'
        transitions[begun, f'{action}_{stack.FAILED}'] = (
            'something failed, or it took too long; the status reason says what'
        )
        for state in (FREE, *names(locks=True)):
            if answer(action, any_other if state == FREE else state) == BEGINS:
                transitions[state, begun] = f'a user asks for {asked}'
    deleted = f'{stack.DELETE}_{stack.IN_PROGRESS}'
    for state in names(locks=True):
        if answer(stack.DELETE, state) == BEGINS:
            transitions[state, deleted] = 'a user asks for its deletion'
    again = (f'{stack.UNLOCK}_{stack.IN_PROGRESS}', f'{stack.LOCK}_{stack.COMPLETE}')
    transitions[again] = 'the lock around it is gone, and one of its own is left'
    after = f'{stack.UNLOCK}_{stack.COMPLETE}'
    transitions[after, FREE] = 'any other operation has come to its end'
    ordered = {
        pair: why
        for state in states
        for pair, why in transitions.items()
        if pair[0] == state
    }
    return Machine('the lock of a stack', states, ordered, initial=(FREE,))


def template_versions() -> list[str]:
    """Return the table of the versions of templates, with what came with each."""
    everything = (*functions.FUNCTIONS, *functions.CONDITION_FUNCTIONS)
    rows = [
        (
            f'``{version.date}``',
            f'``{version.alias}``' if version.alias else '',
            ', '.join(f'``{f.name}``' for f in everything if f.since == version.date),
        )
        for version in versions.VERSIONS
    ]
    return tables.list_table(('Version', 'Or', 'Brought'), (16, 14, 70), rows)


def _with(answers: Iterable[str], wanted: str) -> str:
    found = [
        f'``{operation}``'
        for operation, said in zip(OPERATIONS, answers, strict=True)
        if said == wanted
    ]
    return ', '.join(found)


def _sentence(text: str) -> str:
    return f'{text[0].upper()}{text[1:]}.'
