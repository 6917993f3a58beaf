"""The admission check for actions of plans on a target inside a locked stack."""

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.actions import Action
from watcherlite.engine.stacks.actions.plan_actions import TYPES
from watcherlite.engine.stacks.tree import StackTree, covering_lock

#: The prefix of a target that is a stack, or a resource in one: `stack:UUID`,
#: `stack:UUID/RESOURCE`.
TARGET = 'stack:'


class StackLockAdmission:
    """Implements `ports.AdmissionCheck`: a lock blocks actions (spec 004)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def blocking_reason(self, action: Action) -> str | None:
        """Return the lock that prevents an action from starting; None: no lock does.

        The action types for stacks check their stack themselves.
        """
        target = action.target or ''
        if not target.startswith(TARGET) or action.plan_id is None:
            return None
        if action.action_type in TYPES:
            return None
        uuid = target.removeprefix(TARGET).partition('/')[0]
        try:
            stack = self._store.find_stack(uuid, None)
        except exceptions.StackNotFound:
            return None
        # A name is not enough: several projects may have a stack of that name.
        if stack.uuid != uuid:
            return None
        lock = covering_lock(StackTree.read(self._store, stack))
        return f'{lock}.' if lock is not None else None
