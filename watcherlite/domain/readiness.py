"""Readiness rules: conditions on actions to be claimed, released, signalled or ended.

The statements of the store are generated from these rules, see
`db.sqlalchemy.constructs.meets`; the contract tests of the store compare both.
"""

import dataclasses
import functools
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

    :param all_of: the condition that must be met
    :param any_of: alternatives, one of which must also be met
    """

    all_of: Condition
    any_of: tuple[Condition, ...] = ()

    def holds(self, item: Any) -> bool:
        """Return whether an object with the fields of an action meets the rule."""
        # First the status: each step of each action is checked; most have another one.
        return (
            item.status in self._statuses
            and _holds(self.all_of, item)
            and (not self.any_of or any(_holds(each, item) for each in self.any_of))
        )

    @functools.cached_property
    def _statuses(self) -> frozenset[str]:
        """Return the statuses that an action may have; each rule limits them."""
        conditions = (self.all_of,) if 'status' in self.all_of else self.any_of
        found: set[str] = set()
        for condition in conditions:
            status = condition['status']
            found |= status if isinstance(status, frozenset) else {status}
        return frozenset(found)


def _holds(condition: Condition, item: Any) -> bool:
    for field, desired in condition.items():
        value = getattr(item, field)
        if desired is PRESENT:
            if value is None:
                return False
        elif (
            value not in desired if isinstance(desired, frozenset) else value != desired
        ):
            return False
    return True


_UNRELEASED = frozenset({states.INIT, states.WAITING})
_NOT_COMPLETE = frozenset({states.RUN, states.CHECK, states.REVERT})

#: A worker may claim the action as soon as its `not_before` has passed.
CLAIMABLE = Rule(
    {'pending': 0, 'owner': None, 'blocked_on': None},
    ({'status': states.READY}, {'status': states.INIT, 'plan_id': PRESENT}),
)
#: The action becomes READY, without owner, when its last parent has ended. While its
#: plan does not run, only actions that were already released do.
RELEASED = Rule({'pending': 0, 'status': _UNRELEASED})
RELEASED_UNSTARTED_PLAN = Rule({'pending': 0, 'status': states.WAITING})
#: The action may be handed over to a worker at that moment.
HANDED_OVER = Rule(
    {'pending': 0, 'status': _UNRELEASED, 'owner': None, 'blocked_on': None}
)
#: The action becomes READY when the lock that it waits for is released.
UNBLOCKED = Rule({'pending': 0, 'status': states.WAITING})
#: The action becomes READY when one more parent has ended, and then needs no lock: the
#: parent of a derived action holds the lock on its target.
NEXT = Rule(
    {'pending': 1, 'status': _UNRELEASED, 'blocked_on': None, 'not_before': EPOCH},
    ({'target': None}, {'cause': states.DERIVED_ACTION}),
)
#: The action has started and not ended. An action that waits for derived actions has
#: started; it continues after them.
STARTED = Rule(
    {},
    ({'status': states.STARTED}, {'status': states.WAITING, 'phase': states.COMPLETE}),
)
#: The action has started and waits, for derived actions or for a worker that continues
#: it after them. A READY action that waits for a retry is not running.
UNDER_WAY = Rule(
    {'start_time': PRESENT},
    ({'status': states.WAITING}, {'status': states.READY, 'phase': states.COMPLETE}),
)
#: The action has not started, and ends immediately with its plan.
NOT_STARTED = Rule(
    {},
    (
        {'status': frozenset({states.INIT, states.READY})},
        {'status': states.WAITING, 'phase': _NOT_COMPLETE},
    ),
)
#: A worker has claimed the action and prepares it, or it waits for a retry.
PREPARED = Rule({'status': states.READY}, ({'owner': PRESENT}, {'start_time': PRESENT}))
#: The action ends if a parent whose success it requires does not succeed.
ENDED_WITH_PARENT = Rule(
    {}, ({'status': _UNRELEASED}, {'status': states.READY, 'owner': None})
)
