"""The chain of policies before and after an action, in the order of priority."""

import copy
import dataclasses
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.domain import outcomes
from watcherlite.domain.outcomes import Outcome, public_text
from watcherlite.execution.coroutines.steps import enter_pool_of
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.results import json_problem, validated
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import Policy, PolicyContext

LOG = logging.getLogger(__name__)

#: The only key of the token of a PolicyWait.
_WAIT = '_policies'
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


@dataclasses.dataclass(frozen=True, slots=True)
class PolicyDelay:
    """A policy that is to be called again later.

    :param name: of the policy
    :param delay: in seconds
    """

    name: str
    reason: str
    delay: float

    def as_retry(self) -> outcomes.Retry:
        """Return the outcome of an action before its start."""
        return outcomes.Retry(f"Policy '{self.name}': {self.reason}", self.delay)


@dataclasses.dataclass(frozen=True, slots=True)
class PolicyWait:
    """An action whose work has ended, and whose `post_op` is to be called again.

    It is InProgress with a token that contains its outcome.

    :param step: of the outcome
    :param raised: whether the plugin raised it
    """

    outcome: Outcome
    step: str
    raised: bool

    def token(self) -> dict[str, Any]:
        """Return the token of the action."""
        return {
            _WAIT: {
                'outcome': outcomes.to_document(self.outcome),
                'step': self.step,
                'raised': self.raised,
            }
        }

    @classmethod
    def from_token(cls, token: Any) -> 'PolicyWait | None':
        """Return the wait of a token; None: the action waits for its plugin."""
        if not isinstance(token, Mapping) or token.keys() != {_WAIT}:
            return None
        kept = token[_WAIT]
        outcome = outcomes.from_document(kept['outcome'])
        return cls(outcome, kept['step'], kept['raised'])


class PolicyChain:
    """Runs the policies before and after an action.

    Policies pass decisions on in the `data` of the action. A change of it is durable
    before the next policy runs (spec 001), so that no policy acts on a decision that a
    crash can undo. Each run of a repeated action starts with empty data.

    The hooks of blocking policies run in the wide pool, so that the methods are steps
    of the core, see `coroutines.steps`.

    :param source: None: there are no policies
    """

    def __init__(self, source: PolicySource | None = None) -> None:
        self._source = source

    async def run_pre_op(self, attempt: Attempt) -> PolicyDelay | None:
        """Run `pre_op` of the policies that apply; raises PolicyCheckFailed.

        Raises Cancelled or TimedOut between two policies.

        :returns: the first delay, after which all are to be called again
        """
        return await self._run(attempt, 'before', None)

    async def run_post_op(self, attempt: Attempt, result: str) -> PolicyDelay | None:
        """Run `post_op` of the policies that apply; raises PolicyCheckFailed.

        :param result: of the action: OK or ERROR
        :returns: see `run_pre_op`
        """
        return await self._run(attempt, 'after', result)

    async def release(self, attempt: Attempt) -> PolicyDelay | None:
        """Run `post_op` of the policies whose `pre_op` ran, at an end before the start.

        A policy whose `pre_op` failed has cleaned up itself, and is left out.
        """
        if not attempt.pre_policies:
            return None
        return await self._run(attempt, 'after', ERROR, frozenset(attempt.pre_policies))

    async def _run(
        self,
        attempt: Attempt,
        when: str,
        result: str | None,
        names: frozenset[str] | None = None,
    ) -> PolicyDelay | None:
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
            return None
        data = attempt.action.data if attempt.data is None else attempt.data
        if result is None and attempt.action.end_time is not None:
            # The former run of a repeated action has ended.
            data = {}
        for policy, context in sorted(pairs, key=lambda pair: pair[0].priority):
            context.result = result
            # A deep copy, so that a change of a nested value is detected.
            changed: dict[str, Any] = copy.deepcopy(dict(data))
            hook = policy.pre_op if result is None else policy.post_op
            delayed = await _call(hook, attempt, policy, context, changed)
            if changed != data:
                _check_data(changed, policy, context, hook.__name__)
                attempt.data = attempt.context.data = data = changed
                attempt.save_data()
            if delayed is not None:
                return delayed
        return None

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


async def _call(
    hook: Callable[[PolicyContext, dict[str, Any]], object],
    attempt: Attempt,
    policy: Policy,
    context: PolicyContext,
    data: dict[str, Any],
) -> PolicyDelay | None:
    """Call a hook of a policy; raise PolicyCheckFailed for any exception."""
    try:
        await enter_pool_of(policy)
    except GeneratorExit:
        attempt.is_dropped = True
        raise
    is_before = context.result is None
    if is_before:
        attempt.context.checkpoint()
        attempt.pre_policies.append(context.name)
    try:
        returned = hook(context, data)
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
    if not isinstance(returned, outcomes.Retry):
        return None
    outcome = validated(returned)
    if isinstance(outcome, outcomes.Retry):
        return PolicyDelay(context.name, outcome.reason, outcome.delay)
    raise PolicyCheckFailed(context.name, getattr(outcome, 'reason', ''))
