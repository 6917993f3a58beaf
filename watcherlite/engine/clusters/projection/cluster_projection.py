"""Projection of clusters and nodes from the changes of their actions.

Implements `execution.ports.Projection`; `transitions` decides what a row becomes.
"""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import Event
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.projection import events, transitions
from watcherlite.engine.clusters.requests.admission import is_automatic_check
from watcherlite.states import cluster as states

#: The locked clusters and nodes, by uuid.
LockedRows = tuple[Mapping[str, Cluster], Mapping[str, Node]]
Change = tuple[ActionChange, Mapping[str, Any] | None]
#: The fields of `outcomes.Fault`, if a change is a failure.
Fault = Mapping[str, Any] | None


class ClusterProjection:
    """Updates the rows of clusters and nodes when their actions change."""

    def is_affected_by(self, action: Action) -> bool:
        """See `Projection`; actions of plans only derive the others."""
        return action.plan_id is None and (
            action.action_type in action_types.DEFINITIONS
            or events.is_user_defined(action)
        )

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> LockedRows:
        """See `Projection`."""
        # Each of these may be a cluster or a node.
        either = events.user_defined_targets(actions)
        known = [action for action in actions if action.target not in either]
        clusters = {
            uuid for action in known if (uuid := transitions.cluster_of(action))
        } | either
        nodes = {
            action.target
            for action in known
            if action.target is not None
            and not transitions.definition_of(action).on_cluster
        } | either
        return (
            tx.lock_clusters(sorted(clusters)) if clusters else {},
            tx.lock_nodes(sorted(nodes)) if nodes else {},
        )

    def apply(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[Change],
        now: datetime.datetime,
    ) -> list[Event]:
        """See `Projection`."""
        clusters, nodes = held
        current = _Pass(tx, clusters, nodes, now)
        of_clusters = []
        for change, detail in changes:
            fault = (detail or {}).get('fault')
            if events.is_user_defined(change.after):
                current.run(change, fault)
                continue
            if not transitions.definition_of(change.after).on_cluster:
                current.node(change, fault)
            if transitions.changes_cluster(change):
                of_clusters.append((change, fault))
        if current.nodes:
            tx.save_nodes(list(current.nodes.values()))
        current.count([change for change, _ in of_clusters])
        for change, fault in of_clusters:
            current.cluster(change, fault)
        if current.clusters:
            tx.save_clusters(list(current.clusters.values()))
        return current.events


@dataclasses.dataclass(slots=True)
class _Pass:
    """The changes of rows in one transaction."""

    tx: Transaction
    locked_clusters: Mapping[str, Cluster]
    locked_nodes: Mapping[str, Node]
    now: datetime.datetime
    counts: Mapping[int, Mapping[str, int]] = dataclasses.field(default_factory=dict)
    clusters: dict[str, Cluster] = dataclasses.field(default_factory=dict)
    nodes: dict[str, Node] = dataclasses.field(default_factory=dict)
    events: list[Event] = dataclasses.field(default_factory=list)

    def run(self, change: ActionChange, fault: Fault) -> None:
        """Store an event for the end of a run of a user-defined action."""
        phase, uuid = transitions.phase_of(change), change.after.target or ''
        target = self.locked_clusters.get(uuid) or self.locked_nodes.get(uuid)
        if target is not None and phase in (events.END, events.ERROR):
            event = events.run_end_event(target, change, str(phase), self.now, fault)
            self.events.append(event)

    def node(self, change: ActionChange, fault: Fault) -> None:
        """Apply a change to its node."""
        action = change.after
        uuid = action.target or ''
        row = self.nodes.get(uuid) or self.locked_nodes.get(uuid)
        if row is None or row.deleted_at is not None:
            return
        after = transitions.project_node(row, change, self.now)
        if is_automatic_check(action) and after == row:
            after = row
        if (
            transitions.is_success(change)
            and action.action_type == action_types.NODE_JOIN
        ):
            after = self._joined(after, str(action.inputs['cluster_id']))
        if after is not row:
            self.nodes[uuid] = after
        cluster = action.within or action.inputs.get('cluster_id')
        self._record(row, after, change, fault, cluster)

    def _joined(self, row: Node, uuid: str) -> Node:
        cluster = self._cluster(uuid)
        if cluster is None or row.cluster_id == cluster.id:
            return row
        self.clusters[uuid] = cluster.evolve(next_index=cluster.next_index + 1)
        return row.evolve(cluster_id=cluster.id, index=cluster.next_index)

    def _cluster(self, uuid: str | None) -> Cluster | None:
        found = self.clusters.get(uuid or '') or self.locked_clusters.get(uuid or '')
        return None if found is None or found.deleted_at is not None else found

    def count(self, changes: Sequence[ActionChange]) -> None:
        """Count the nodes of the clusters whose actions end."""
        ended = (change.after for change in changes if transitions.is_end(change))
        rows = [self._cluster(transitions.cluster_of(action)) for action in ended]
        desired = {row.id for row in rows if row is not None}
        if desired:
            self.counts = self.tx.count_nodes(sorted(desired))

    def cluster(self, change: ActionChange, fault: Fault) -> None:
        """Apply a change to its cluster."""
        action = change.after
        row = self._cluster(transitions.cluster_of(action))
        if row is None:
            return
        counts = self.counts.get(row.id, {})
        active = counts.get(states.ACTIVE, 0)
        after = transitions.project_cluster(row, change, active, self.now)
        if after is not row:
            self.clusters[row.uuid] = after
        if not transitions.definition_of(action).on_cluster:
            return
        self._record(row, after, change, fault)
        has_failed = transitions.is_end(change) and not transitions.is_success(change)
        if has_failed and counts.get(states.INIT):
            self._fail_new_nodes(row.id, action)

    def _fail_new_nodes(self, cluster_id: int, action: Action) -> None:
        """Fail the nodes that an action stored but never created."""
        found = []
        for row in self.tx.lock_nodes_of(cluster_id):
            if row.origin == action.uuid and row.status == states.INIT:
                after = transitions.fail_creation(row, action)
                found.append(after)
                event = events.target_event(
                    row, after, action, events.ERROR, self.now, cluster=action.target
                )
                self.events.append(event)
        self.tx.save_nodes(found)

    def _record(
        self,
        before: Cluster | Node,
        after: Cluster | Node,
        change: ActionChange,
        fault: Fault,
        cluster: str | None = None,
    ) -> None:
        """Store the event of a change, if it has one."""
        phase = transitions.phase_of(change)
        if phase is not None and transitions.is_recorded(change, before, after):
            event = events.target_event(
                before, after, change.after, phase, self.now, fault, cluster
            )
            self.events.append(event)
