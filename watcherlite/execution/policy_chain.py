"""The chain of policies before and after an action, in the order of priority."""

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

# The results of an action that `post_op` receives
OK = 'OK'
ERROR = 'ERROR'

#: The policies that apply to an action, each with its context.
Pairs = Sequence[tuple[Policy, PolicyContext]]


class PolicySource(Protocol):
    """Finds the policies of an action."""

    def of(self, attempt: Attempt) -> Pairs:
        """Return the policies that apply to an attempt."""


class PolicyCheckFailed(exceptions.WatcherliteError):
    """A policy refused an action, or failed."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"Policy check failure: Failed policy '{name}': {reason}")


class PolicyChain:
    """Runs the policies before and after an action.

    Policies pass decisions on in the `data` of the action. A change of it is durable
    before the next policy runs (spec 001), so that no policy acts on a decision that a
    crash can undo. Each run of a repeated action starts with empty data.

    :param source: None: there are no policies
    """

    def __init__(self, source: PolicySource | None = None) -> None:
        self._source = source

    def run_pre_op(self, attempt: Attempt) -> None:
        """Run `pre_op` of the policies that apply; raises PolicyCheckFailed.

        Raises Cancelled or TimedOut between two policies.
        """
        self._run(attempt, 'before', None)

    def run_post_op(self, attempt: Attempt, result: str) -> None:
        """Run `post_op` of the policies that apply; raises PolicyCheckFailed.

        :param result: of the action: OK or ERROR
        """
        self._run(attempt, 'after', result)

    def release(self, attempt: Attempt) -> None:
        """Run `post_op` of the policies whose `pre_op` ran, at an end before the start.

        A policy whose `pre_op` failed has cleaned up itself, and is left out.
        """
        if attempt.pre_policies:
            self._run(attempt, 'after', ERROR, frozenset(attempt.pre_policies))

    def _run(
        self,
        attempt: Attempt,
        when: str,
        result: str | None,
        names: frozenset[str] | None = None,
    ) -> None:
        """Run one hook of the policies that apply, in the order of priority.

        :param names: of policies; others are left out; None: all
        """
        pairs = [
            (policy, context)
            for policy, context in self._policies_of(attempt)
            if attempt.action.action_type in getattr(policy, when)
            and (names is None or context.name in names)
        ]
        if not pairs:
            return
        data = attempt.action.data if attempt.data is None else attempt.data
        if result is None and attempt.action.end_time is not None:
            # The former run of a repeated action has ended.
            data = {}
        for policy, context in sorted(pairs, key=lambda pair: pair[0].priority):
            context.result = result
            # A deep copy, so that a change of a nested value is detected.
            changed: dict[str, Any] = copy.deepcopy(dict(data))
            hook = policy.pre_op if result is None else policy.post_op
            _call(hook, attempt, policy, context, changed)
            if changed == data:
                continue
            _check_data(changed, policy, context, hook.__name__)
            attempt.data = attempt.context.data = data = changed
            attempt.save_data()

    def _policies_of(self, attempt: Attempt) -> Pairs:
        if self._source is None:
            return ()
        return retry_while_unavailable(
            attempt.context,
            f'Action {attempt.action.uuid}',
            functools.partial(self._source.of, attempt),
        )


def _check_data(
    data: dict[str, Any], policy: Policy, context: PolicyContext, hook: str
) -> None:
    """Raise PolicyCheckFailed if a policy left data that is not JSON."""
    problem = json_problem(data)
    if problem:
        raise PolicyCheckFailed(
            context.name,
            f'{type(policy).__name__}.{hook} left data that is not JSON: {problem}',
        )


def _call(
    hook: Callable[[PolicyContext, dict[str, Any]], object],
    attempt: Attempt,
    policy: Policy,
    context: PolicyContext,
    data: dict[str, Any],
) -> None:
    """Call a hook of a policy; raise PolicyCheckFailed for any exception."""
    is_before = context.result is None
    if is_before:
        attempt.context.checkpoint()
        attempt.pre_policies.append(context.name)
    try:
        hook(context, data)
    except (exceptions.Cancelled, exceptions.TimedOut):
        raise
    except BaseException as error:  # a plugin may raise anything
        if is_before:
            attempt.pre_policies.remove(context.name)
        if not isinstance(error, exceptions.WatcherliteError):
            LOG.exception(
                'Policy %s (%s) failed for action %s',
                context.name,
                type(policy).__name__,
                attempt.action.uuid,
            )
        raise PolicyCheckFailed(context.name, public_text(error)) from error
