"""Policies, asked in the order of their priority, around an action."""

from collections.abc import Callable, Sequence
from typing import Any

from watcherlite.execution.task import Task
from watcherlite.plugins.base import Policy

#: task -> the policies that are in force for its target
PolicySource = Callable[[Task], Sequence[Policy]]


def no_policies(task: Task) -> Sequence[Policy]:
    """Answer for targets that nothing is attached to."""
    return ()


class PolicyChain:
    """Asks policies before and after an action.

    Decisions travel in one dictionary, the action's `data`. `before` and
    `after` leave it in `task.data` when a policy changed it; the caller stores
    it with the next change of the action.
    """

    def __init__(self, source: PolicySource = no_policies) -> None:
        self._source = source

    def before(self, task: Task) -> None:
        """Ask every policy that registered for this type; raises what they do."""
        self._ask(task, 'before', 'pre_op')

    def after(self, task: Task) -> None:
        """Tell every policy that registered for this type; raises what they do."""
        self._ask(task, 'after', 'post_op')

    def _ask(self, task: Task, when: str, hook: str) -> None:
        policies = self._source(task)
        if not policies or task.context is None:
            return
        data: dict[str, Any] = dict(task.data or task.action.data)
        for policy in sorted(policies, key=lambda policy: policy.priority):
            if task.action.action_type in getattr(policy, when):
                getattr(policy, hook)(task.context, data)
                # The next policy, and the action, see what this one decided.
                task.context.data = data
        task.data = data
