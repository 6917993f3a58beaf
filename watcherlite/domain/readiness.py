"""Readiness: what an action has to be to be claimed, released, signalled or ended.

One table of rules. The store makes the conditions of its statements of them, see
`db.sqlalchemy.constructs.meets`, and the contract of the store compares it with them.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from watcherlite.clock import EPOCH
from watcherlite.states import action as states


class _Present:
    """Any value but None."""

    def __repr__(self) -> str:
        return 'PRESENT'


PRESENT = _Present()

#: Field of an action -> its value, a set of the values it may have, or PRESENT.
Condition = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Rule:
    """A condition on the fields of an action.

    :param all_of: what has to hold
    :param any_of: further conditions, of which one has to hold
    """

    all_of: Condition
    any_of: tuple[Condition, ...] = ()

    def holds(self, item: Any) -> bool:
        """Return whether an object with the fields of an action meets the rule."""
        return _holds(self.all_of, item) and (
            not self.any_of or any(_holds(each, item) for each in self.any_of)
        )


def _holds(condition: Condition, item: Any) -> bool:
    for field, wanted in condition.items():
        value = getattr(item, field)
        if wanted is PRESENT:
            if value is None:
                return False
        elif value not in wanted if isinstance(wanted, frozenset) else value != wanted:
            return False
    return True


_UNRELEASED = frozenset({states.INIT, states.WAITING})
_NOT_COMPLETE = frozenset({states.RUN, states.CHECK, states.REVERT})

#: A worker may take it as soon as its `not_before` has come.
CLAIMABLE = Rule(
    {'pending': 0, 'owner': None, 'blocked_on': None},
    ({'status': states.READY}, {'status': states.INIT, 'plan_id': PRESENT}),
)
#: It becomes READY, unowned, when the last thing that it waited for has ended. As long
#: as its plan does not run, only what has been released already does.
RELEASED = Rule({'pending': 0, 'status': _UNRELEASED})
RELEASED_UNSTARTED_PLAN = Rule({'pending': 0, 'status': states.WAITING})
#: It may be handed over to a worker then, which starts it at once.
HANDED_OVER = Rule(
    {'pending': 0, 'status': _UNRELEASED, 'owner': None, 'blocked_on': None}
)
#: It becomes READY when the lock that it waited for is free.
UNBLOCKED = Rule({'pending': 0, 'status': states.WAITING})
#: It will be READY when one more action has ended, and needs no lock of its own then:
#: the target of a derived action is locked by what derived it.
NEXT = Rule(
    {
        'pending': 1,
        'status': _UNRELEASED,
        'blocked_on': None,
        'not_before': EPOCH,
    },
    ({'target': None}, {'cause': states.DERIVED_ACTION}),
)
#: It has started and not ended. What waits for derived actions has started; what its
#: plan says comes after them.
STARTED = Rule(
    {},
    (
        {'status': states.STARTED},
        {'status': states.WAITING, 'phase': states.COMPLETE},
    ),
)
#: It has started and waits: for what it derived, or for a worker that takes it up again
#: after that. READY for a further try it is not under way: it will start anew.
UNDER_WAY = Rule(
    {'start_time': PRESENT},
    (
        {'status': states.WAITING},
        {'status': states.READY, 'phase': states.COMPLETE},
    ),
)
#: It has not started, and ends at once with its plan.
NOT_STARTED = Rule(
    {},
    (
        {'status': frozenset({states.INIT, states.READY})},
        {'status': states.WAITING, 'phase': _NOT_COMPLETE},
    ),
)
#: A worker has taken it and prepares it, or it waits for a further try.
PREPARED = Rule({'status': states.READY}, ({'owner': PRESENT}, {'start_time': PRESENT}))
#: It ends with what it needs the success of.
ENDED_WITH_PARENT = Rule(
    {}, ({'status': _UNRELEASED}, {'status': states.READY, 'owner': None})
)
