"""The actions on clusters.

The classes are entry points, so that plans are checked against them; only a worker
makes instances that can execute, see `engine.types`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.clustering import NounQuery
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Bound, Cluster, Profile, Receiver
from watcherlite.domain.outcomes import Done, Outcome
from watcherlite.engine.clusters import actions, health, policy_actions
from watcherlite.engine.clusters import resizing_actions as resizing
from watcherlite.engine.clusters.batches import Batches
from watcherlite.engine.clusters.cluster_action import ClusterAction
from watcherlite.engine.clusters.cluster_working import ClusterWork
from watcherlite.engine.clusters.policies import ClusterPolicies
from watcherlite.engine.patience import patiently
from watcherlite.plugins.base import ActionContext

CREATING = 'Failed in creating nodes'
DELETING = 'Failed in deleting nodes'
UPDATING = 'Failed in updating nodes'
CHECKING = 'Failed in checking nodes'
RECOVERING = 'Failed in recovering nodes'
OPERATING = 'Failed in operating on nodes'


class ClusterCreate(ClusterAction):
    """Makes the first nodes of a cluster."""

    kind = actions.KINDS[actions.CLUSTER_CREATE]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have as many nodes made as are desired."""
        return work.create(work.cluster.desired_capacity - work.size, CREATING)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded(CREATING)


class ClusterDelete(ClusterAction):
    """Deletes a cluster with its nodes, and what only makes sense with it."""

    kind = actions.KINDS[actions.CLUSTER_DELETE]

    def execute(self, context: ActionContext) -> Outcome:
        """Let policies go before the nodes do."""
        policies = ClusterPolicies(self.parts.store, self.parts.plugins)
        gone: list[Bound] = []
        try:
            policies.detach_all(
                context, context.target or '', lambda tx, bound: gone.append(bound)
            )
        except exceptions.NotFound:
            return self.gone()
        health.stop(self.parts, context, gone)
        what = f'The deletion of cluster {context.target}'
        patiently(context, what, lambda: self._forget_receivers(context.target or ''))
        return super().execute(context)

    def _forget_receivers(self, uuid: str) -> None:
        """Let nobody trigger anything any more."""
        store = self.parts.store
        cluster = store.clusters_by_uuid([uuid]).get(uuid)
        if cluster is None:
            return
        wanted = NounQuery(filters={'cluster_id': [cluster.id]})
        receivers = store.list_noun(Receiver, wanted)
        if receivers:
            with store.transaction() as tx:
                for receiver in receivers:
                    tx.delete_noun(receiver)

    def gone(self) -> Outcome:
        """Say that it is as it should be."""
        return Done({})

    def begin(self, work: ClusterWork) -> Outcome:
        """Have all nodes deleted."""
        return self._delete(work)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Have those deleted that were asked for meanwhile, if there are any."""
        if work.failed():
            return work.concluded(DELETING)
        return self._delete(work)

    def _delete(self, work: ClusterWork) -> Outcome:
        known = {one.node for one in work.ended}
        nodes = [node.uuid for node in work.nodes if node.uuid not in known]
        return work.each(actions.NODE_DELETE, nodes, DELETING)


class ClusterUpdate(ClusterAction):
    """Changes a cluster; with another profile also its nodes, batch by batch."""

    kind = actions.KINDS[actions.CLUSTER_UPDATE]

    def profile(self, action: Action, cluster: Cluster) -> Profile:
        """Return the new profile, if there is one."""
        uuid = action.inputs.get('new_profile_id')
        if not uuid:
            return super().profile(action, cluster)
        return self.parts.store.find_noun(Profile, uuid, cluster.owner.tenant)

    def begin(self, work: ClusterWork) -> Outcome:
        """Change the row, and begin with the nodes if these are to change."""
        names = ('name', 'metadata', 'timeout', 'config')
        given = work.inputs
        work = work.save(**{n: given[n] for n in names if n in given})
        if not given.get('new_profile_id'):
            return Done({})
        if given.get('profile_only'):
            return self._end(work)
        return self._next(work)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Go on with the next batch, after a pause; stop after a failure."""
        if work.failed():
            return work.concluded(UPDATING)
        batches, ended = self._batches(work), {one.node for one in work.ended}
        if not batches.next_after(ended):
            return self._end(work)
        if batches.pause > 0:
            return work.pause(batches.pause, {'ended': sorted(ended)})
        return self._next(work, ended)

    def resume(self, work: ClusterWork, token: Mapping[str, Any]) -> Outcome:
        """Begin with the next batch."""
        return self._next(work, token['ended'])

    def _next(self, work: ClusterWork, ended: Any = ()) -> Outcome:
        nodes = self._batches(work).next_after(ended)
        if not nodes:
            return self._end(work)
        inputs = {'new_profile_id': work.inputs['new_profile_id']}
        return work.each(actions.NODE_UPDATE, nodes, UPDATING, inputs)

    def _batches(self, work: ClusterWork) -> Batches:
        return Batches.of(work.data, [node.uuid for node in work.nodes])

    def _end(self, work: ClusterWork) -> Outcome:
        """Note that new nodes are made from the new profile, too."""
        return work.save(profile_id=work.profile.id).concluded(UPDATING)


class ClusterCheck(ClusterAction):
    """Checks all nodes of a cluster."""

    kind = actions.KINDS[actions.CLUSTER_CHECK]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have all nodes looked at."""
        nodes = [node.uuid for node in work.nodes]
        return work.each(actions.NODE_CHECK, nodes, CHECKING, work.inputs)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded(CHECKING)


class ClusterRecover(ClusterAction):
    """Recovers the nodes that are not ACTIVE, and makes those that are missing."""

    kind = actions.KINDS[actions.CLUSTER_RECOVER]

    def begin(self, work: ClusterWork) -> Outcome:
        """Look first if that is wanted."""
        if work.inputs.get('check') and work.nodes:
            nodes = [node.uuid for node in work.nodes]
            return work.each(actions.NODE_CHECK, nodes, CHECKING)
        return self._recover(work)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Recover what the look has found; then look at the capacity."""
        known = {one.action_type for one in work.ended}
        if known <= {actions.NODE_CHECK}:
            return self._recover(work)
        # A node that could not be looked at was recovered, or is well as far as is
        # known.
        if known <= {actions.NODE_CHECK, actions.NODE_RECOVER} and not work.failed(
            actions.NODE_CHECK
        ):
            return self._fill(work)
        return work.concluded(RECOVERING, actions.NODE_CHECK)

    def _recover(self, work: ClusterWork) -> Outcome:
        nodes = [node.uuid for node in work.nodes if not node.active]
        if not nodes:
            return self._fill(work)
        inputs = recovery(work.inputs, work.data)
        return work.each(actions.NODE_RECOVER, nodes, RECOVERING, inputs)

    def _fill(self, work: ClusterWork) -> Outcome:
        """Have as many nodes as are desired."""
        missing = work.cluster.desired_capacity - work.size
        if not work.inputs.get('check_capacity') or not (missing or work.begun):
            return work.concluded(RECOVERING, actions.NODE_CHECK)
        if missing > 0 or work.begun:
            return work.create(missing, CREATING)
        nodes = [node.uuid for node in work.victims(-missing)]
        return work.each(actions.NODE_DELETE, nodes, DELETING)


class ClusterOperation(ClusterAction):
    """Has nodes of a cluster do an operation of their profile."""

    kind = actions.KINDS[actions.CLUSTER_OPERATION]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have the nodes that are named do it, or all."""
        given = work.inputs.get('nodes')
        nodes = [node.uuid for node in work.nodes]
        if given is not None:
            members(work, given)
            nodes = list(given)
        inputs = {
            'operation': work.inputs['operation'],
            'params': dict(work.inputs.get('params') or {}),
        }
        return work.each(actions.NODE_OPERATION, nodes, OPERATING, inputs)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded(OPERATING)


def members(work: ClusterWork, uuids: Sequence[str]) -> list[str]:
    """Return the uuids of nodes of the cluster; raises Invalid for others."""
    known = {node.uuid for node in work.nodes}
    others = [uuid for uuid in uuids if uuid not in known]
    if others:
        raise exceptions.Invalid(
            f'Nodes not members of specified cluster: {", ".join(others)}.'
        )
    return list(uuids)


_ALL: Sequence[type[ClusterAction]] = (
    *(ClusterCreate, ClusterDelete, ClusterUpdate),
    *(resizing.ClusterAddNodes, resizing.ClusterDelNodes),
    *(resizing.ClusterReplaceNodes, resizing.ClusterResize),
    *(resizing.ClusterScaleIn, resizing.ClusterScaleOut),
    *(policy_actions.ClusterAttachPolicy, policy_actions.ClusterDetachPolicy),
    policy_actions.ClusterUpdatePolicy,
    *(ClusterCheck, ClusterRecover, ClusterOperation),
)
#: Name of the entry point -> class.
TYPES: Mapping[str, type[ClusterAction]] = {one.kind.name: one for one in _ALL}


def recovery(inputs: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return how nodes are to be recovered: as a policy says, or as was asked for.

    :param data: of the action: what a health policy decided is its `health`
    """
    names = ('operation', 'operation_params', 'delete_timeout', 'force_recreate')
    found = {name: inputs[name] for name in names if inputs.get(name) is not None}
    health = data.get('health') or {}
    for action in (health.get('recover_action') or ())[:1]:
        found['operation'] = action['name']
        found['operation_params'] = dict(action.get('params') or {})
    for name, key in (
        ('delete_timeout', 'node_delete_timeout'),
        ('force_recreate', 'node_force_recreate'),
    ):
        if health.get(key) is not None:
            found[name] = health[key]
    return found
