"""Policies, asked in the order of their priority, around an action."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.execution.soundness import not_json
from watcherlite.execution.task import Task
from watcherlite.plugins.base import Policy

#: task -> the policies that are in force for its target
PolicySource = Callable[[Task], Sequence[Policy]]
#: makes `task.data` durable, and returns when it is
Keep = Callable[[Task], None]


def no_policies(task: Task) -> Sequence[Policy]:
    """Answer for targets that nothing is attached to."""
    return ()


class PolicyChain:
    """Asks policies before and after an action.

    Decisions travel in one dictionary, the action's `data`. What a policy changes
    in it is durable before the next one is asked (spec 001), so that a policy
    that acts on a decision never acts on one that a crash can undo.
    """

    def __init__(self, source: PolicySource = no_policies) -> None:
        self._source = source

    def before(self, task: Task, keep: Keep) -> None:
        """Ask every policy that registered for this type; raises what they do."""
        self._ask(task, 'before', 'pre_op', keep)

    def after(self, task: Task, keep: Keep) -> None:
        """Tell every policy that registered for this type; raises what they do."""
        self._ask(task, 'after', 'post_op', keep)

    def _ask(self, task: Task, when: str, hook: str, keep: Keep) -> None:
        policies = self._source(task)
        if not policies or task.context is None:
            return
        kept = task.action.data if task.data is None else task.data
        for policy in sorted(policies, key=lambda policy: policy.priority):
            if task.action.action_type not in getattr(policy, when):
                continue
            # A copy, so that what one changes deep inside is seen as a change.
            data: dict[str, Any] = copy.deepcopy(dict(kept))
            getattr(policy, hook)(task.context, data)
            if data == kept:
                continue
            problem = not_json(data)
            if problem:
                raise exceptions.WatcherliteError(
                    f'{type(policy).__name__}.{hook} left data that is not JSON: '
                    f'{problem}'
                )
            task.data = task.context.data = kept = data
            keep(task)
