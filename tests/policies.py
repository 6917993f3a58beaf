"""Policies for tests, their contexts, and chains of them."""

from collections.abc import Sequence
from typing import Any, cast

from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.policy_chain import Pairs, PolicyChain
from watcherlite.plugins.base import Policy, PolicyContext


class PolicyCall:
    """The context of a policy call.

    :ivar name: the name of the policy
    :ivar result: the result of the action, once it has ended
    """

    def __init__(self, name: str, task: Attempt) -> None:
        self.name = name
        self.action_uuid = task.action.uuid
        self.attempt = task.action.attempt
        self.result: str | None = None


def pairs(task: Attempt, *policies: Policy) -> Pairs:
    """Return policies with their contexts; each is named after its class."""
    return [
        (policy, cast(PolicyContext, PolicyCall(type(policy).__name__, task)))
        for policy in policies
    ]


class AttachedPolicies:
    """Policies that apply to every action."""

    def __init__(self, policies: Sequence[Policy | Any]) -> None:
        self._policies = policies

    def of(self, attempt: Attempt) -> Pairs:
        return pairs(attempt, *self._policies)


def chain_of(*policies: Policy | Any) -> PolicyChain:
    """Return the chain of these policies, which apply to every action."""
    return PolicyChain(AttachedPolicies(policies))
