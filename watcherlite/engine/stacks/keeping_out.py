"""What a lock on a stack means for actions of plans that are about something in it."""

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.actions import Action
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.engine.stacks.locks import lock_on
from watcherlite.engine.stacks.plan_actions import TYPES

#: How the target of an action begins that is about a stack, or something in it:
#: `stack:UUID`, `stack:UUID/RESOURCE`.
TARGET = 'stack:'


class KeepingOut:
    """Implements `runner.KeepOut`: a locked stack is left alone (spec 004)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def hindrance(self, action: Action) -> str | None:
        """Return the lock that an action is not to begin under; None: there is none.

        The action types for stacks look for themselves.
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
        # A name is none: several projects may have a stack that is called so.
        if stack.uuid != uuid:
            return None
        stacks = self._store.stack_tree(stack.root_id or 0)
        lock = lock_on(Tree.of(stack.id or 0, stacks))
        return f'{lock}.' if lock is not None else None
