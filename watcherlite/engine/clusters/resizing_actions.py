"""The actions that make a cluster larger or smaller, or change who is in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import capacity, placement
from watcherlite.domain.clusters import Node
from watcherlite.domain.outcomes import DerivedAction, Done, Outcome
from watcherlite.engine.clusters import actions, expansion, lifecycle_hooks
from watcherlite.engine.clusters.cluster_action import ClusterAction
from watcherlite.engine.clusters.cluster_working import ClusterWork

CREATING = 'Failed in creating nodes'
DELETING = 'Failed in deleting nodes'
ADDING = 'Failed in adding nodes'
REMOVING = 'Failed in removing nodes'
REPLACING = 'Failed in replacing nodes'


class Shrinking(ClusterAction):
    """An action that may have nodes go, after the time that a policy leaves them."""

    def resume(self, work: ClusterWork, token: Mapping[str, Any]) -> Outcome:
        """Have the nodes go now."""
        nodes = [node.uuid for node in work.members(token['nodes'])]
        return self._go(work, nodes, token['destroy'])

    def remove(self, work: ClusterWork, nodes: Sequence[str], destroy: bool) -> Outcome:
        """Have these nodes leave the cluster, or deleted.

        :param destroy: what is done unless a policy says something else
        """
        said = decided(work)
        destroy = bool(said.get('destroy_after_deletion', destroy))
        grace = float(said.get('grace_period') or 0)
        if nodes and grace > 0:
            return work.pause(grace, {'nodes': list(nodes), 'destroy': destroy})
        return self._go(work, nodes, destroy)

    def _go(self, work: ClusterWork, nodes: Sequence[str], destroy: bool) -> Outcome:
        kind, what = actions.NODE_LEAVE, REMOVING
        if destroy:
            kind, what = actions.NODE_DELETE, DELETING
        derived: list[DerivedAction] = []
        for node in work.members(nodes):
            hook = lifecycle_hooks.before(work.data, node, work.cluster.uuid)
            first = [] if hook is None else [hook]
            after = [one.key for one in first]
            goes = expansion.on_node(kind, node.uuid, work.cluster, after=after)
            derived += [*first, goes]
        return work.derive(derived, what)


class ClusterAddNodes(ClusterAction):
    """Adds nodes that are in no cluster."""

    kind = actions.KINDS[actions.CLUSTER_ADD_NODES]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have the nodes join."""
        uuids = list(work.inputs['nodes'])
        problems: list[str] = []
        orphans(work, uuids, problems, 'Node')
        _refuse(problems)
        _check_size(work, work.size + len(uuids))
        derived = [expansion.joining(uuid, work.cluster) for uuid in uuids]
        return work.derive(derived, ADDING)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Let the cluster be as large from now on as it has become."""
        return _as_large_as_it_is(work).concluded(ADDING)


class ClusterDelNodes(Shrinking):
    """Removes nodes, and deletes them if that is asked for."""

    kind = actions.KINDS[actions.CLUSTER_DEL_NODES]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have the nodes go that are named; those that have gone are left alone."""
        uuids = work.inputs['candidates']
        known = work.tx.lock_nodes(sorted(uuids))
        missing = [uuid for uuid in uuids if _is_gone(known.get(uuid))]
        if missing:
            raise exceptions.Invalid(f'Nodes not found: {", ".join(missing)}.')
        nodes = [node.uuid for node in work.members(uuids)]
        if not nodes:
            return Done({})
        if reduces(work):
            _check_size(work, work.size - len(nodes))
        destroy = bool(work.inputs.get('destroy_after_deletion', False))
        return self.remove(work, nodes, destroy)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Let the cluster be as small from now on, unless a policy keeps it."""
        if reduces(work):
            work = _as_large_as_it_is(work)
        return work.concluded(REMOVING)


class ClusterReplaceNodes(ClusterAction):
    """Replaces nodes by others that are in no cluster."""

    kind = actions.KINDS[actions.CLUSTER_REPLACE_NODES]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have each node leave when the one that takes its place has joined."""
        pairs: Mapping[str, str] = work.inputs['candidates']
        if len(set(pairs.values())) < len(pairs):
            raise exceptions.Invalid('The same node is named several times.')
        problems: list[str] = []
        known = work.tx.lock_nodes(sorted(pairs))
        for old in pairs:
            row = known.get(old)
            if row is None or row.deleted_at is not None:
                problems.append(f'Original node {old} is not found.')
            elif row.cluster_id != work.cluster.id:
                problems.append(
                    f'Node {old} is not a member of the cluster {work.cluster.uuid}.'
                )
        orphans(work, list(pairs.values()), problems, 'Replacement node')
        _refuse(problems)
        derived: list[DerivedAction] = []
        for old, new in pairs.items():
            joins = expansion.joining(new, work.cluster)
            leaves = expansion.on_node(
                actions.NODE_LEAVE, old, work.cluster, after=[joins.key]
            )
            derived += [joins, leaves]
        return work.derive(derived, REPLACING)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded(REPLACING)


class ClusterResize(Shrinking):
    """Changes how many nodes a cluster has, or may have."""

    kind = actions.KINDS[actions.CLUSTER_RESIZE]

    def begin(self, work: ClusterWork) -> Outcome:
        """Store the sizes, and have nodes come or go."""
        sizes = self._sizes(work)
        work = work.save(
            desired_capacity=sizes.desired_capacity,
            min_size=sizes.min_size,
            max_size=sizes.max_size,
        )
        change = sizes.desired_capacity - work.size
        if change > 0 or work.begun:
            return work.create(change, CREATING)
        return self.remove(work, going(work, -change), True)

    def _sizes(self, work: ClusterWork) -> capacity.Sizes:
        """Return the sizes that policies decided, or that were asked for."""
        inputs, cluster, most = work.inputs, work.cluster, work.parts.limits.nodes
        creation, deletion = work.data.get('creation') or {}, decided(work)
        if deletion.get('count') is not None:
            desired = work.size - int(deletion['count'])
        elif creation.get('count') is not None:
            desired = work.size + int(creation['count'])
        else:
            wish = capacity.Adjustment(
                inputs.get('adjustment_type'),
                inputs.get('number') or 0,
                inputs.get('min_size'),
                inputs.get('max_size'),
                inputs.get('min_step'),
                bool(inputs.get('strict', False)),
            )
            return capacity.resized(cluster, work.size, wish, most)
        low, high = inputs.get('min_size'), inputs.get('max_size')
        capacity.check_sizes(cluster, desired, low, high, strict=True, most=most)
        return capacity.Sizes(
            desired,
            cluster.min_size if low is None else low,
            cluster.max_size if high is None else high,
        )

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded('Failed in resizing')


class ClusterScaleOut(ClusterAction):
    """Makes more nodes, as many as are asked for or a policy says."""

    kind = actions.KINDS[actions.CLUSTER_SCALE_OUT]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have the nodes made."""
        if work.begun:
            return work.create(0, CREATING)
        count = _count(work, 'creation')
        if not count:
            return Done({})
        _check_size(work, work.size + count)
        work = work.save(desired_capacity=work.size + count)
        return work.create(count, CREATING)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded(CREATING)


class ClusterScaleIn(Shrinking):
    """Removes nodes, as many as are asked for or a policy says."""

    kind = actions.KINDS[actions.CLUSTER_SCALE_IN]

    def begin(self, work: ClusterWork) -> Outcome:
        """Have nodes go; not more than there are."""
        count = min(_count(work, 'deletion'), work.size)
        if not count:
            return Done({})
        if reduces(work):
            _check_size(work, work.size - count)
            work = work.save(desired_capacity=work.size - count)
        return self.remove(work, going(work, count), True)

    def go_on(self, work: ClusterWork) -> Outcome:
        """Say how it went."""
        return work.concluded(DELETING)


# what policies said


def decided(work: ClusterWork) -> Mapping[str, Any]:
    """Return what policies decided of the nodes that go."""
    return work.data.get('deletion') or {}


def reduces(work: ClusterWork) -> bool:
    """Say whether the cluster is to be smaller when nodes have gone."""
    return bool(decided(work).get('reduce_desired_capacity', True))


def going(work: ClusterWork, count: int) -> list[str]:
    """Return the nodes that go: as policies chose them, and others if these lack."""
    said = decided(work)
    chosen = work.members(said.get('candidates') or ())[:count]
    known = {node.uuid for node in chosen}
    rest = [node for node in work.victims(len(work.nodes)) if node.uuid not in known]
    if not chosen:
        # Nobody chose, but it may have been said where they go from.
        rest = placement.victims(rest, count, said.get('regions'), said.get('zones'))
    return [node.uuid for node in (*chosen, *rest)][:count]


def _count(work: ClusterWork, key: str) -> int:
    """Return how many nodes come or go."""
    count = (work.data.get(key) or {}).get('count')
    if count is None:
        count = work.inputs.get('count')
    return 1 if count is None else max(0, int(count))


# what is refused


def orphans(
    work: ClusterWork, uuids: Sequence[str], problems: list[str], noun: str
) -> None:
    """Note what keeps nodes from coming to the cluster."""
    known = work.tx.lock_nodes(sorted(uuids))
    for uuid in uuids:
        row = known.get(uuid)
        if row is None or row.deleted_at is not None:
            problems.append(f'{noun} {uuid} is not found.')
        elif row.cluster_id is not None:
            problems.append(f'Node {uuid} is already owned by a cluster.')
        elif not row.active:
            problems.append(f'Node {uuid} is not in ACTIVE status.')


def _is_gone(row: Node | None) -> bool:
    return row is None or row.deleted_at is not None


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise exceptions.Invalid('\n'.join(problems))


def _check_size(work: ClusterWork, size: int) -> None:
    most = work.parts.limits.nodes
    capacity.check_sizes(work.cluster, size, strict=True, most=most)


def _as_large_as_it_is(work: ClusterWork) -> ClusterWork:
    return work.save(desired_capacity=len(work.nodes))
