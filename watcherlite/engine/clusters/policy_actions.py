"""The actions that bind clusters to policies, or no more."""

from watcherlite.domain.outcomes import Done, Outcome
from watcherlite.engine.clusters import actions, health
from watcherlite.engine.clusters.cluster_action import ClusterAction
from watcherlite.engine.clusters.policies import ClusterPolicies, is_health
from watcherlite.plugins.base import ActionContext


class OfPolicies(ClusterAction):
    """What these have in common: policies are asked without a lock on rows."""

    @property
    def policies(self) -> ClusterPolicies:
        """Return what binds clusters to policies."""
        return ClusterPolicies(self.parts.store, self.parts.plugins)


class ClusterAttachPolicy(OfPolicies):
    """Attaches a policy to a cluster."""

    kind = actions.KINDS[actions.CLUSTER_ATTACH_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        """Attach it; by some the cluster is looked after from now on."""
        inputs, cluster = context.inputs, context.target or ''
        enabled = bool(inputs.get('enabled', True))
        attached = self.policies.attach(context, cluster, inputs['policy_id'], enabled)
        if is_health(attached.bound.policy):
            health.start(self.parts, context, cluster, attached.bound)
        if attached.already:
            return Done({actions.REASON: 'Policy already attached.'})
        return Done({})


class ClusterDetachPolicy(OfPolicies):
    """Detaches a policy from a cluster."""

    kind = actions.KINDS[actions.CLUSTER_DETACH_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        """Detach it."""
        policy = context.inputs['policy_id']
        bound = self.policies.detach(context, context.target or '', policy)
        if bound is None:
            return Done({actions.REASON: 'Policy not attached.'})
        health.stop(self.parts, context, [bound])
        return Done({})


class ClusterUpdatePolicy(OfPolicies):
    """Enables or disables a policy of a cluster."""

    kind = actions.KINDS[actions.CLUSTER_UPDATE_POLICY]

    def execute(self, context: ActionContext) -> Outcome:
        """Change what binds them, if there is something to change."""
        inputs = context.inputs
        if 'enabled' in inputs:
            self.policies.update(
                context, context.target or '', inputs['policy_id'], inputs['enabled']
            )
        return Done({})
