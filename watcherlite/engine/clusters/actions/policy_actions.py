"""The actions that attach, detach and update policies."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.outcomes import Done, InProgress, Outcome, Retry
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import health_monitor
from watcherlite.engine.clusters.actions.cluster_action import ClusteringAction
from watcherlite.engine.clusters.policies.cluster_policies import (
    ClusterPolicies,
    is_health_policy,
)
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.plugins.base import ActionContext


def policies_of(parts: ClusterServices) -> ClusterPolicies:
    """Return the policies of clusters for actions."""
    return ClusterPolicies(parts.store, parts.plugins, parts.limits.load_balancers)


def in_progress(delayed: Retry) -> InProgress:
    """Return the outcome of an action whose policy is to be called again later."""
    return InProgress({'waits_for': delayed.reason}, delayed.delay)


class PolicyAction(ClusteringAction):
    """An action on a policy binding; the policy is called without row locks.

    While the policy is to be called again later it is InProgress.
    """

    # A repeated action finds the binding.
    idempotent = True

    @property
    def policies(self) -> ClusterPolicies:
        return policies_of(self.parts)

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        """Return True: policies may call services."""
        return True


class ClusterAttachPolicy(PolicyAction):
    """Attaches a policy to a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_ATTACH_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        """Attach the policy; a health policy starts a monitor."""
        return self._attach(context)

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        context.checkpoint()
        return self._attach(context)

    def cancel(self, context: ActionContext, token: Any) -> None:
        self.policies.abandon(
            context, context.target or '', context.inputs['policy_id']
        )

    def _attach(self, context: ActionContext) -> Outcome:
        inputs, cluster = context.inputs, context.target or ''
        enabled = bool(inputs.get('enabled', True))
        policy = inputs['policy_id']
        attached = self.policies.attach(context, cluster, policy, enabled)
        if isinstance(attached, Retry):
            return in_progress(attached)
        bound, is_known = attached
        if is_health_policy(bound.policy):
            health_monitor.start(self.parts, context, cluster, bound)
        if is_known:
            return Done({action_types.REASON: 'Policy already attached.'})
        return Done({})


class ClusterDetachPolicy(PolicyAction):
    """Detaches a policy from a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_DETACH_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        return self._detach(context)

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        context.checkpoint()
        return self._detach(context)

    def _detach(self, context: ActionContext) -> Outcome:
        policy = context.inputs['policy_id']
        bound = self.policies.detach(context, context.target or '', policy)
        if isinstance(bound, Retry):
            return in_progress(bound)
        if bound is None:
            return Done({action_types.REASON: 'Policy not attached.'})
        health_monitor.stop(self.parts, context, [bound])
        return Done({})


class ClusterUpdatePolicy(PolicyAction):
    """Enables or disables a policy of a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_UPDATE_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        """Update the binding, if the inputs change it."""
        inputs = context.inputs
        if 'enabled' in inputs:
            self.policies.update(
                context, context.target or '', inputs['policy_id'], inputs['enabled']
            )
        return Done({})
