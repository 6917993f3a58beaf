"""The actions that attach, detach and update policies."""

from watcherlite.domain.outcomes import Done, Outcome
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import health_monitor
from watcherlite.engine.clusters.actions.cluster_action import ClusteringAction
from watcherlite.engine.clusters.policies.cluster_policies import (
    ClusterPolicies,
    is_health_policy,
)
from watcherlite.plugins.base import ActionContext


class PolicyAction(ClusteringAction):
    """An action on a policy binding; the policy is called without row locks."""

    # A repeated action finds the binding.
    idempotent = True

    @property
    def policies(self) -> ClusterPolicies:
        return ClusterPolicies(self.parts.store, self.parts.plugins)


class ClusterAttachPolicy(PolicyAction):
    """Attaches a policy to a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_ATTACH_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        """Attach the policy; a health policy starts a monitor."""
        inputs, cluster = context.inputs, context.target or ''
        enabled = bool(inputs.get('enabled', True))
        policy = inputs['policy_id']
        bound, is_known = self.policies.attach(context, cluster, policy, enabled)
        if is_health_policy(bound.policy):
            health_monitor.start(self.parts, context, cluster, bound)
        if is_known:
            return Done({action_types.REASON: 'Policy already attached.'})
        return Done({})


class ClusterDetachPolicy(PolicyAction):
    """Detaches a policy from a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_DETACH_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        policy = context.inputs['policy_id']
        bound = self.policies.detach(context, context.target or '', policy)
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
