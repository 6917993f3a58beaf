"""The actions that change the size or the members of a cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import capacity, placement
from watcherlite.domain.outcomes import DerivedAction, Done, Outcome
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import derivation, lifecycle_hooks
from watcherlite.engine.clusters.actions.cluster_action import (
    ClusterAction,
    PausingAction,
)
from watcherlite.engine.clusters.actions.cluster_stage import ClusterStage

CREATING = 'Failed in creating nodes'
DELETING = 'Failed in deleting nodes'
ADDING = 'Failed in adding nodes'
REMOVING = 'Failed in removing nodes'
REPLACING = 'Failed in replacing nodes'
#: Key in inputs and policy decisions: whether removed nodes are deleted.
DESTROY = 'destroy_after_deletion'


class ShrinkingAction(PausingAction):
    """An action that may remove nodes, after the grace period of a policy."""

    def resume(self, stage: ClusterStage, token: Mapping[str, Any]) -> Outcome:
        """Remove the nodes after the grace period."""
        nodes = [node.uuid for node in stage.members(token['nodes'])]
        return self._start_removal(stage, nodes, token['destroy'])

    def remove(
        self, stage: ClusterStage, nodes: Sequence[str], destroy: bool
    ) -> Outcome:
        """Remove nodes from the cluster, or delete them.

        :param destroy: the default, which a policy and then the request override
        """
        decision = deletion_decision(stage)
        destroy = bool(decision.get(DESTROY, destroy))
        destroy = bool(stage.inputs.get(DESTROY, destroy))
        grace = float(decision.get('grace_period') or 0)
        if nodes and grace > 0:
            return stage.pause(grace, {'nodes': list(nodes), 'destroy': destroy})
        return self._start_removal(stage, nodes, destroy)

    def _start_removal(
        self, stage: ClusterStage, nodes: Sequence[str], destroy: bool
    ) -> Outcome:
        kind, what = action_types.NODE_LEAVE, REMOVING
        if destroy:
            kind, what = action_types.NODE_DELETE, DELETING
        derived: list[DerivedAction] = []
        for node in stage.members(nodes):
            hook = lifecycle_hooks.hook_action(stage.data, node, stage.cluster.uuid)
            first = [] if hook is None else [hook]
            after = [one.key for one in first]
            goes = derivation.node_action(kind, node.uuid, stage.cluster, after=after)
            derived += [*first, goes]
        return stage.derive(derived, what)


class ClusterAddNodes(ClusterAction):
    """Adds nodes that are in no cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_ADD_NODES]

    def start(self, stage: ClusterStage) -> Outcome:
        """Add the nodes."""
        uuids = list(stage.inputs['nodes'])
        problems: list[str] = []
        find_problems(stage, uuids, problems, 'Node')
        _reject(problems)
        _check_size(stage, stage.size + len(uuids))
        derived = [derivation.join_action(uuid, stage.cluster) for uuid in uuids]
        return stage.derive(derived, ADDING)

    def advance(self, stage: ClusterStage) -> Outcome:
        """Set the desired capacity to the new size."""
        return stage.save(desired_capacity=len(stage.nodes)).conclude(ADDING)


class ClusterDelNodes(ShrinkingAction):
    """Removes nodes, and deletes them if requested."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_DEL_NODES]

    def start(self, stage: ClusterStage) -> Outcome:
        """Remove the named nodes, except those that have left already."""
        uuids = stage.inputs['candidates']
        known = stage.tx.lock_nodes(sorted(uuids))
        missing = [
            u for u in uuids if u not in known or known[u].deleted_at is not None
        ]
        if missing:
            raise exceptions.Invalid(f'Nodes not found: {", ".join(missing)}.')
        nodes = [node.uuid for node in stage.members(uuids)]
        if not nodes:
            return Done({})
        if reduces_capacity(stage):
            _check_size(stage, stage.size - len(nodes))
        return self.remove(stage, nodes, False)

    def advance(self, stage: ClusterStage) -> Outcome:
        """Set the desired capacity to the new size, unless a policy keeps it."""
        if reduces_capacity(stage):
            stage = stage.save(desired_capacity=len(stage.nodes))
        return stage.conclude(REMOVING)


class ClusterReplaceNodes(ClusterAction):
    """Replaces nodes by others that are in no cluster."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_REPLACE_NODES]
    failure_text = REPLACING

    def start(self, stage: ClusterStage) -> Outcome:
        """Remove each node after its replacement has joined."""
        pairs: Mapping[str, str] = stage.inputs['candidates']
        if len(set(pairs.values())) < len(pairs):
            raise exceptions.Invalid('The same node is named several times.')
        problems: list[str] = []
        known = stage.tx.lock_nodes(sorted(pairs))
        for old in pairs:
            row = known.get(old)
            if row is None or row.deleted_at is not None:
                problems.append(f'Original node {old} is not found.')
            elif row.cluster_id != stage.cluster.id:
                problems.append(
                    f'Node {old} is not a member of the cluster {stage.cluster.uuid}.'
                )
        find_problems(stage, list(pairs.values()), problems, 'Replacement node')
        _reject(problems)
        derived: list[DerivedAction] = []
        for old, new in pairs.items():
            joins = derivation.join_action(new, stage.cluster)
            leaves = derivation.node_action(
                action_types.NODE_LEAVE, old, stage.cluster, after=[joins.key]
            )
            derived += [joins, leaves]
        return stage.derive(derived, REPLACING)


class ClusterResize(ShrinkingAction):
    """Changes the size of a cluster, or its limits."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_RESIZE]
    failure_text = 'Failed in resizing'

    def start(self, stage: ClusterStage) -> Outcome:
        """Store the sizes, and create or remove nodes."""
        sizes = self._sizes(stage)
        stage = stage.save(
            desired_capacity=sizes.desired_capacity,
            min_size=sizes.min_size,
            max_size=sizes.max_size,
        )
        change = sizes.desired_capacity - stage.size
        if change > 0 or stage.pending_nodes:
            return stage.create(change, CREATING)
        return self.remove(stage, choose_nodes(stage, -change), True)

    def _sizes(self, stage: ClusterStage) -> capacity.Sizes:
        """Return the sizes that policies or the request specify."""
        inputs, cluster, most = stage.inputs, stage.cluster, stage.parts.limits.nodes
        creation, deletion = stage.data.get('creation') or {}, deletion_decision(stage)
        if deletion.get('count') is not None:
            desired = stage.size - int(deletion['count'])
        elif creation.get('count') is not None:
            desired = stage.size + int(creation['count'])
        else:
            adjustment = capacity.Adjustment.of(inputs)
            return capacity.resized(cluster, stage.size, adjustment, most)
        low, high = inputs.get('min_size'), inputs.get('max_size')
        capacity.check_sizes(cluster, desired, low, high, strict=True, most=most)
        return capacity.Sizes(
            desired,
            cluster.min_size if low is None else low,
            cluster.max_size if high is None else high,
        )


class ClusterScaleOut(ClusterAction):
    """Creates as many nodes as the request or a policy specifies."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_SCALE_OUT]
    failure_text = CREATING

    def start(self, stage: ClusterStage) -> Outcome:
        """Create the nodes."""
        if stage.pending_nodes:
            return stage.create(0, CREATING)
        count = _count(stage, 'creation')
        if not count:
            return Done({})
        _check_size(stage, stage.size + count)
        stage = stage.save(desired_capacity=stage.size + count)
        return stage.create(count, CREATING)


class ClusterScaleIn(ShrinkingAction):
    """Removes as many nodes as the request or a policy specifies."""

    kind = action_types.DEFINITIONS[action_types.CLUSTER_SCALE_IN]
    failure_text = DELETING

    def start(self, stage: ClusterStage) -> Outcome:
        """Remove nodes, at most all."""
        count = min(_count(stage, 'deletion'), stage.size)
        if not count:
            return Done({})
        if reduces_capacity(stage):
            _check_size(stage, stage.size - count)
            stage = stage.save(desired_capacity=stage.size - count)
        return self.remove(stage, choose_nodes(stage, count), True)


# decisions of policies


def deletion_decision(stage: ClusterStage) -> Mapping[str, Any]:
    """Return the decision of policies on the removal of nodes."""
    return stage.data.get('deletion') or {}


def reduces_capacity(stage: ClusterStage) -> bool:
    """Return whether the removal reduces the desired capacity."""
    return bool(deletion_decision(stage).get('reduce_desired_capacity', True))


def choose_nodes(stage: ClusterStage, count: int) -> list[str]:
    """Return the nodes to remove: the candidates of policies, then others."""
    decision = deletion_decision(stage)
    chosen = stage.members(decision.get('candidates') or ())[:count]
    known = {node.uuid for node in chosen}
    rest = [node for node in stage.victims(len(stage.nodes)) if node.uuid not in known]
    if not chosen:
        # Without candidates, a policy may have chosen the regions or zones.
        rest = placement.victims(
            rest, count, decision.get('regions'), decision.get('zones')
        )
    return [node.uuid for node in (*chosen, *rest)][:count]


def _count(stage: ClusterStage, key: str) -> int:
    """Return the number of nodes to create or remove."""
    count = (stage.data.get(key) or {}).get('count')
    if count is None:
        count = stage.inputs.get('count')
    return 1 if count is None else max(0, int(count))


# validation


def find_problems(
    stage: ClusterStage, uuids: Sequence[str], problems: list[str], noun: str
) -> None:
    """Append the reasons why nodes cannot join the cluster."""
    known = stage.tx.lock_nodes(sorted(uuids))
    for uuid in uuids:
        row = known.get(uuid)
        if row is None or row.deleted_at is not None:
            problems.append(f'{noun} {uuid} is not found.')
        elif row.cluster_id is not None:
            problems.append(f'Node {uuid} is already owned by a cluster.')
        elif not row.active:
            problems.append(f'Node {uuid} is not in ACTIVE status.')


def _reject(problems: Sequence[str]) -> None:
    if problems:
        raise exceptions.Invalid('\n'.join(problems))


def _check_size(stage: ClusterStage, size: int) -> None:
    most = stage.parts.limits.nodes
    capacity.check_sizes(stage.cluster, size, strict=True, most=most)
