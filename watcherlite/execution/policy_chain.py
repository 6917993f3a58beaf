"""Policies, asked in the order of their priority, around an action."""

import copy
import logging
from collections.abc import Callable, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.outcomes import public_text
from watcherlite.execution.soundness import not_json
from watcherlite.execution.task import Task
from watcherlite.plugins.base import Policy, PolicyContext

LOG = logging.getLogger(__name__)

# What policies are told of how an action went
OK = 'OK'
ERROR = 'ERROR'

#: What is in force for an action: policies, each with what it may know.
Pairs = Sequence[tuple[Policy, PolicyContext]]
#: task -> the policies that are to be asked about it
PolicySource = Callable[[Task], Pairs]
#: makes `task.data` durable, and returns when it is
Keep = Callable[[Task], None]
#: asks a store, and again if it is away
Ask = Callable[[Callable[[], Pairs]], Pairs]


class PolicyCheckFailed(exceptions.WatcherliteError):
    """A policy refused an action, or could not decide."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"Policy check failure: Failed policy '{name}': {reason}")


def no_policies(task: Task) -> Pairs:
    """Answer for targets that nothing is attached to."""
    return ()


def _at_once(ask: Callable[[], Pairs]) -> Pairs:
    return ask()


class PolicyChain:
    """Asks policies before and after an action.

    Decisions travel in one dictionary, the action's `data`. What a policy changes
    in it is durable before the next one is asked (spec 001), so that a policy
    that acts on a decision never acts on one that a crash can undo. What was decided
    for one run of a repeated action is forgotten when the next one begins.
    """

    def __init__(self, source: PolicySource = no_policies) -> None:
        self._source = source

    def before(self, task: Task, keep: Keep, ask: Ask = _at_once) -> None:
        """Ask every policy that registered for this type; PolicyCheckFailed."""
        self._ask(task, 'before', None, keep, ask)

    def after(self, task: Task, result: str, keep: Keep, ask: Ask = _at_once) -> None:
        """Tell every policy that registered for this type; PolicyCheckFailed.

        :param result: of the action: OK or ERROR
        """
        self._ask(task, 'after', result, keep, ask)

    def _ask(
        self, task: Task, when: str, result: str | None, keep: Keep, ask: Ask
    ) -> None:
        asked = [
            (policy, context)
            for policy, context in ask(lambda: self._source(task))
            if task.action.action_type in getattr(policy, when)
        ]
        if not asked or task.context is None:
            return
        kept = task.action.data if task.data is None else task.data
        if result is None and task.action.end_time is not None:
            # Only a run that is repeated has ended before it starts.
            kept = {}
        for policy, context in sorted(asked, key=lambda pair: pair[0].priority):
            context.result = result
            # A copy, so that what one changes deep inside is seen as a change.
            data: dict[str, Any] = copy.deepcopy(dict(kept))
            hook = policy.pre_op if result is None else policy.post_op
            try:
                hook(context, data)
            except (exceptions.Cancelled, exceptions.TimedOut):
                raise
            except BaseException as error:  # a plugin may raise anything
                if not isinstance(error, exceptions.WatcherliteError):
                    LOG.exception(
                        'Policy %s (%s) failed for action %s',
                        context.name,
                        type(policy).__name__,
                        task.action.uuid,
                    )
                raise PolicyCheckFailed(context.name, public_text(error)) from error
            if data == kept:
                continue
            problem = not_json(data)
            if problem:
                raise PolicyCheckFailed(
                    context.name,
                    f'{type(policy).__name__}.{hook.__name__} left data that is not '
                    f'JSON: {problem}',
                )
            task.data = task.context.data = kept = data
            keep(task)
