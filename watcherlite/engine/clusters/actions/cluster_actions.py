"""The actions on clusters.

The classes are entry points, so that plans are validated against them. Only a worker
creates instances that can execute, see `engine.action_types`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.query import Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Profile, Receiver
from watcherlite.domain.outcomes import Done, InProgress, Outcome, Retry
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import health_monitor, policy_actions
from watcherlite.engine.clusters.actions import resize_actions as resizing
from watcherlite.engine.clusters.actions.cluster_action import (
    ClusterAction,
    ClusteringAction,
    PausingAction,
)
from watcherlite.engine.clusters.actions.cluster_stage import ClusterStage
from watcherlite.engine.clusters.actions.update_batches import (
    UpdateBatches,
    is_outdated,
)
from watcherlite.engine.clusters.requests.unique_names import check_rename
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, DerivedResult

CREATING = 'Failed in creating nodes'
DELETING = 'Failed in deleting nodes'
UPDATING = 'Failed in updating nodes'
CHECKING = 'Failed in checking nodes'
RECOVERING = 'Failed in recovering nodes'
OPERATING = 'Failed in operating on nodes'
# In the decision of a health policy, and in the parameters of RECREATE
COMPUTE = 'COMPUTE'
FENCE_COMPUTE = 'fence_compute'


class ClusterCreate(ClusterAction):
    """Creates the first nodes of a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_CREATE]
    failure_text = CREATING

    def start(self, stage: ClusterStage) -> Outcome:
        """Create the desired number of nodes."""
        return stage.create(stage.cluster.desired_capacity - stage.size, CREATING)


class ClusterDelete(ClusterAction):
    """Deletes a cluster with its nodes, policy bindings and receivers."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_DELETE]

    def execute(self, context: ActionContext) -> Outcome:
        return self._detach_if_empty(context, super().execute(context))

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Delete the rest of the cluster after its nodes."""
        return self._detach_if_empty(context, super().complete(context, results))

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Detach the policies that could not be detached before."""
        context.checkpoint()
        return self._detach_if_empty(context, Done(token['outputs']))

    def _detach_if_empty(self, context: ActionContext, outcome: Outcome) -> Outcome:
        """Detach the policies and delete the receivers of a cluster without nodes.

        If the deletion fails or is cancelled, the cluster keeps them.
        """
        if not isinstance(outcome, Done):
            return outcome
        policies = policy_actions.policies_of(self.parts)
        try:
            gone = policies.detach_all(context, context.target or '')
        except exceptions.NotFound:
            return outcome
        if isinstance(gone, Retry):
            return InProgress({'outputs': outcome.outputs}, gone.delay)
        health_monitor.stop(self.parts, context, gone)
        what = f'The deletion of cluster {context.target}'
        retry_while_unavailable(
            context, what, lambda: self._delete_receivers(context.target or '')
        )
        return outcome

    def _delete_receivers(self, uuid: str) -> None:
        store = self.parts.store
        cluster = store.clusters_by_uuid([uuid]).get(uuid)
        if cluster is None:
            return
        desired = Query({'cluster_id': [cluster.id]})
        receivers = store.list_objects(Receiver, desired)
        if receivers:
            with store.transaction() as tx:
                for receiver in receivers:
                    tx.delete_object(receiver)

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        """Return whether policies are being detached."""
        return token is not None

    def target_deleted(self) -> Outcome:
        return Done({})

    def start(self, stage: ClusterStage) -> Outcome:
        return self._delete(stage)

    def advance(self, stage: ClusterStage) -> Outcome:
        """Delete nodes that were added meanwhile, if there are any."""
        if stage.has_failures():
            return stage.conclude(DELETING)
        return self._delete(stage)

    def _delete(self, stage: ClusterStage) -> Outcome:
        known = {one.node for one in stage.ended}
        nodes = [node.uuid for node in stage.nodes if node.uuid not in known]
        return stage.derive_each(action_types.NODE_DELETE, nodes, DELETING)


class ClusterUpdate(PausingAction):
    """Updates a cluster; with a new profile also its nodes, in batches."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_UPDATE]

    def profile(self, action: Action, cluster: Cluster) -> Profile:
        uuid = action.inputs.get('new_profile_id')
        if not uuid:
            return super().profile(action, cluster)
        return self.parts.store.find_object(Profile, uuid, cluster.owner.tenant)

    def start(self, stage: ClusterStage) -> Outcome:
        """Update the row, and the first batch of nodes for a new profile."""
        names = ('name', 'metadata', 'timeout', 'config')
        given = stage.inputs
        if 'name' in given:
            unique = self.parts.limits.unique_names
            key = stage.action.id
            check_rename(stage.tx, stage.cluster, given['name'], key, unique)
        stage = stage.save(**{n: given[n] for n in names if n in given})
        if not given.get('new_profile_id'):
            return Done({})
        if given.get('profile_only'):
            return self._end(stage)
        return self._next(stage)

    def advance(self, stage: ClusterStage) -> Outcome:
        """Update the next batch, after a pause; stop after a failure."""
        if stage.has_failures():
            return stage.conclude(UPDATING)
        batches, ended = self._batches(stage), {one.node for one in stage.ended}
        if not batches.next_after(ended):
            return self._end(stage)
        if batches.pause > 0:
            return stage.pause(batches.pause, {'ended': sorted(ended)})
        return self._next(stage, ended)

    def resume(self, stage: ClusterStage, token: Mapping[str, Any]) -> Outcome:
        return self._next(stage, token['ended'])

    def _next(self, stage: ClusterStage, ended: Any = ()) -> Outcome:
        nodes = self._batches(stage).next_after(ended)
        if not nodes:
            return self._end(stage)
        inputs = {'new_profile_id': stage.inputs['new_profile_id']}
        return stage.derive_each(action_types.NODE_UPDATE, nodes, UPDATING, inputs)

    def _batches(self, stage: ClusterStage) -> UpdateBatches:
        nodes = [n.uuid for n in stage.nodes if is_outdated(n, stage.profile)]
        return UpdateBatches.of(stage.data, nodes)

    def _end(self, stage: ClusterStage) -> Outcome:
        """Store the new profile, which new nodes get from now on."""
        return stage.save(profile_id=stage.profile.id).conclude(UPDATING)


class ClusterCheck(ClusterAction):
    """Checks all nodes of a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_CHECK]
    failure_text = CHECKING

    def start(self, stage: ClusterStage) -> Outcome:
        nodes = [node.uuid for node in stage.nodes]
        return stage.derive_each(action_types.NODE_CHECK, nodes, CHECKING, stage.inputs)


class ClusterRecover(ClusterAction):
    """Recovers nodes that are not ACTIVE, and creates missing nodes."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_RECOVER]

    def start(self, stage: ClusterStage) -> Outcome:
        """Check the nodes first if requested, or recover them."""
        if stage.inputs.get('check') and stage.nodes:
            nodes = [node.uuid for node in stage.nodes]
            return stage.derive_each(action_types.NODE_CHECK, nodes, CHECKING)
        return self._recover(stage)

    def advance(self, stage: ClusterStage) -> Outcome:
        """Recover nodes after a check; then restore the capacity."""
        known = {one.action_type for one in stage.ended}
        if known <= {action_types.NODE_CHECK}:
            return self._recover(stage)
        # A node whose check failed was recovered, or is healthy as far as is known.
        if known <= {
            action_types.NODE_CHECK,
            action_types.NODE_RECOVER,
        } and not stage.has_failures(action_types.NODE_CHECK):
            return self._fill(stage)
        return stage.conclude(RECOVERING, action_types.NODE_CHECK)

    def _recover(self, stage: ClusterStage) -> Outcome:
        nodes = [node.uuid for node in stage.nodes if not node.active]
        if not nodes:
            return self._fill(stage)
        inputs = recovery_inputs(stage.inputs, stage.data)
        return stage.derive_each(action_types.NODE_RECOVER, nodes, RECOVERING, inputs)

    def _fill(self, stage: ClusterStage) -> Outcome:
        """Restore the desired capacity."""
        missing = stage.cluster.desired_capacity - stage.size
        if not stage.inputs.get('check_capacity') or not (
            missing or stage.pending_nodes
        ):
            return stage.conclude(RECOVERING, action_types.NODE_CHECK)
        if missing > 0 or stage.pending_nodes:
            return stage.create(missing, CREATING)
        nodes = [node.uuid for node in stage.victims(-missing)]
        return stage.derive_each(action_types.NODE_DELETE, nodes, DELETING)


class ClusterOperation(ClusterAction):
    """Runs an operation of the profile on nodes of a cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_OPERATION]
    failure_text = OPERATING

    def start(self, stage: ClusterStage) -> Outcome:
        """Run the operation on the named nodes, or on all."""
        given = stage.inputs.get('nodes')
        nodes = [node.uuid for node in stage.nodes]
        if given is not None:
            check_members(stage, given)
            nodes = list(given)
        inputs = {
            'operation': stage.inputs['operation'],
            'params': dict(stage.inputs.get('params') or {}),
        }
        return stage.derive_each(action_types.NODE_OPERATION, nodes, OPERATING, inputs)


def check_members(stage: ClusterStage, uuids: Sequence[str]) -> list[str]:
    """Return the uuids; raise Invalid for nodes that are not in the cluster."""
    known = {node.uuid for node in stage.nodes}
    others = [uuid for uuid in uuids if uuid not in known]
    if others:
        raise exceptions.Invalid(
            f'Nodes not members of specified cluster: {", ".join(others)}.'
        )
    return list(uuids)


_ALL: Sequence[type[ClusteringAction]] = (
    ClusterCreate,
    ClusterDelete,
    ClusterUpdate,
    resizing.ClusterAddNodes,
    resizing.ClusterDelNodes,
    resizing.ClusterReplaceNodes,
    resizing.ClusterResize,
    resizing.ClusterScaleIn,
    resizing.ClusterScaleOut,
    policy_actions.ClusterAttachPolicy,
    policy_actions.ClusterDetachPolicy,
    policy_actions.ClusterUpdatePolicy,
    ClusterCheck,
    ClusterRecover,
    ClusterOperation,
)
#: Name of the entry point -> class.
TYPES: Mapping[str, type[ClusteringAction]] = {one.kind.name: one for one in _ALL}


def recovery_inputs(
    inputs: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the inputs of NODE_RECOVER: those of a policy, or of the request.

    :param data: of the action; `health` is the decision of a health policy
    """
    names = ('operation', 'operation_params', 'delete_timeout', 'force_recreate')
    found = {name: inputs[name] for name in names if inputs.get(name) is not None}
    health = data.get('health') or {}
    for action in (health.get('recover_action') or ())[:1]:
        found['operation'] = action['name']
        found['operation_params'] = dict(action.get('params') or {})
    recreates = found.get('operation', action_types.RECREATE) == action_types.RECREATE
    if recreates and COMPUTE in (health.get('fencing') or ()):
        params = found.get('operation_params') or {}
        found['operation_params'] = {**params, FENCE_COMPUTE: True}
    for name, key in (
        ('delete_timeout', 'node_delete_timeout'),
        ('force_recreate', 'node_force_recreate'),
    ):
        if health.get(key) is not None:
            found[name] = health[key]
    return found
