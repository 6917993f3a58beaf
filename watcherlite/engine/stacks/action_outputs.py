"""The outputs of the actions of stacks and resources."""

import re

from watcherlite.domain.actions import Action
from watcherlite.plugins.base import DerivedResult

#: Of a resource: no change was necessary.
UNCHANGED = 'unchanged'
#: Of a resource: it was FAILED, and its type has nothing to repair.
HEALED = 'healed'
#: Of a resource: the row that it had replaced is restored, in its former state.
RESTORED = 'restored'
#: Of a resource: it is FAILED and could not be suspended or resumed.
UNABLE = 'unable'
#: Of both: the reason, in full length.
REASON = 'reason'

_PREFIX = re.compile(r'^Action failed in [a-z_]+: ')


def failure_reason(action: Action | DerivedResult) -> str:
    """Return why an action on a stack or resource failed, for users of stacks."""
    reason = (action.outputs or {}).get(REASON)
    return str(reason or _PREFIX.sub('', action.status_message or 'its action failed'))
