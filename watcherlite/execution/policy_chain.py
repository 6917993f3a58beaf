"""The policies around an action, run in the order of their priority."""

import copy
import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain.outcomes import public_text
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.results import json_problem
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import Policy, PolicyContext

LOG = logging.getLogger(__name__)

# What policies are told of how an action went
OK = 'OK'
ERROR = 'ERROR'

#: What is in force for an action: policies, each with what it may know.
Pairs = Sequence[tuple[Policy, PolicyContext]]


class PolicySource(Protocol):
    """Knows the policies that are in force."""

    def of(self, attempt: Attempt) -> Pairs:
        """Return the policies that are to be asked about an attempt."""


class PolicyCheckFailed(exceptions.WatcherliteError):
    """A policy refused an action, or could not decide."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"Policy check failure: Failed policy '{name}': {reason}")


class NoPolicies:
    """For workers whose targets nothing is attached to."""

    def of(self, attempt: Attempt) -> Pairs:
        """Return none."""
        return ()


class PolicyChain:
    """Asks policies before and after an action.

    Decisions travel in one dictionary, the action's `data`. What a policy changes
    in it is durable before the next one is asked (spec 001), so that a policy
    that acts on a decision never acts on one that a crash can undo. What was decided
    for one run of a repeated action is forgotten when the next one begins.
    """

    def __init__(self, source: PolicySource | None = None) -> None:
        self._source = source or NoPolicies()

    def before(self, attempt: Attempt) -> None:
        """Ask every policy that registered for this type; PolicyCheckFailed.

        Raises Cancelled or TimedOut between two of them.
        """
        self._ask(attempt, 'before', None)

    def after(self, attempt: Attempt, result: str) -> None:
        """Tell every policy that registered for this type; PolicyCheckFailed.

        :param result: of the action: OK or ERROR
        """
        self._ask(attempt, 'after', result)

    def release(self, attempt: Attempt) -> None:
        """Notify the policies that were asked of an end before the start.

        One that refused it, or failed, has cleaned up itself and is not told.
        """
        if attempt.asked:
            self._ask(attempt, 'after', ERROR, frozenset(attempt.asked))

    def _ask(
        self,
        attempt: Attempt,
        when: str,
        result: str | None,
        names: frozenset[str] | None = None,
    ) -> None:
        pairs = retry_while_unavailable(
            attempt.context,
            f'Action {attempt.action.uuid}',
            functools.partial(self._source.of, attempt),
        )
        asked = [
            (policy, context)
            for policy, context in pairs
            if attempt.action.action_type in getattr(policy, when)
            and (names is None or context.name in names)
        ]
        if not asked:
            return
        kept = attempt.action.data if attempt.data is None else attempt.data
        if result is None and attempt.action.end_time is not None:
            # Only a run that is repeated has ended before it starts.
            kept = {}
        for policy, context in sorted(asked, key=lambda pair: pair[0].priority):
            context.result = result
            # A copy, so that what one changes deep inside is seen as a change.
            data: dict[str, Any] = copy.deepcopy(dict(kept))
            hook = policy.pre_op if result is None else policy.post_op
            _call(hook, attempt, policy, context, data)
            if data == kept:
                continue
            problem = json_problem(data)
            if problem:
                raise PolicyCheckFailed(
                    context.name,
                    f'{type(policy).__name__}.{hook.__name__} left data that is not '
                    f'JSON: {problem}',
                )
            attempt.data = attempt.context.data = kept = data
            attempt.save_data()


def _call(
    hook: Callable[[PolicyContext, dict[str, Any]], object],
    attempt: Attempt,
    policy: Policy,
    context: PolicyContext,
    data: dict[str, Any],
) -> None:
    """Call a hook of one policy; PolicyCheckFailed for whatever it raises."""
    is_before = context.result is None
    if is_before:
        attempt.context.checkpoint()
        attempt.asked.append(context.name)
    try:
        hook(context, data)
    except (exceptions.Cancelled, exceptions.TimedOut):
        raise
    except BaseException as error:  # a plugin may raise anything
        if is_before:
            attempt.asked.remove(context.name)
        if not isinstance(error, exceptions.WatcherliteError):
            LOG.exception(
                'Policy %s (%s) failed for action %s',
                context.name,
                type(policy).__name__,
                attempt.action.uuid,
            )
        raise PolicyCheckFailed(context.name, public_text(error)) from error
