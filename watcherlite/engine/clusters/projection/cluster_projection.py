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

Change = tuple[ActionChange, Mapping[str, Any] | None]


@dataclasses.dataclass(slots=True)
class LockedRows:
    """The locked clusters and nodes, by uuid."""

    clusters: dict[str, Cluster]
    nodes: dict[str, Node]


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
        return LockedRows(
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
        current = _Pass(held, now)
        ended: list[Change] = []
        for change, detail in changes:
            if events.is_user_defined(change.after):
                current.run(change, transitions.fault(detail))
                continue
            if not transitions.definition_of(change.after).on_cluster:
                current.node(change, transitions.fault(detail))
            if transitions.changes_cluster(change):
                ended.append((change, detail))
        if current.nodes:
            tx.save_nodes(list(current.nodes.values()))
        self._apply_to_clusters(tx, current, ended)
        return current.events

    def _apply_to_clusters(
        self, tx: Transaction, current: '_Pass', ended: Sequence[Change]
    ) -> None:
        counts: Mapping[int, Mapping[str, int]] = {}
        wanted = {
            current.cluster_id(change)
            for change, _ in ended
            if transitions.is_end(change)
        }
        if wanted - {None}:
            counts = tx.count_nodes(sorted(key for key in wanted if key is not None))
        for change, detail in ended:
            current.cluster(change, transitions.fault(detail), counts)
            key = current.cluster_id(change)
            if key is not None and current.may_leave_nodes(change, counts):
                nodes = tx.lock_nodes_of(key)
                tx.save_nodes(current.abandoned_nodes(change, nodes))
        if current.clusters:
            tx.save_clusters(list(current.clusters.values()))


class _Pass:
    """The changes of rows in one transaction."""

    def __init__(self, held: LockedRows, now: datetime.datetime) -> None:
        self._held = held
        self._now = now
        self.clusters: dict[str, Cluster] = {}
        self.nodes: dict[str, Node] = {}
        self.events: list[Event] = []

    def run(self, change: ActionChange, fault: Mapping[str, Any] | None) -> None:
        """Store an event for the end of a run of a user-defined action."""
        phase, uuid = transitions.phase_of(change), change.after.target or ''
        target = self._held.clusters.get(uuid) or self._held.nodes.get(uuid)
        if target is not None and phase in (events.END, events.ERROR):
            event = events.run_end_event(target, change, str(phase), self._now, fault)
            self.events.append(event)

    def node(self, change: ActionChange, fault: Mapping[str, Any] | None) -> None:
        """Apply a change to its node."""
        action = change.after
        uuid = action.target or ''
        row = self.nodes.get(uuid) or self._held.nodes.get(uuid)
        if row is None or row.deleted_at is not None:
            return
        after = transitions.project_node(row, change, self._now)
        if is_automatic_check(action) and after == row:
            after = row
        if (
            transitions.is_success(change)
            and action.action_type == action_types.NODE_JOIN
        ):
            after = self._joined(after, str(action.inputs['cluster_id']))
        if after is not row:
            self.nodes[uuid] = after
        phase = transitions.phase_of(change)
        if phase is not None and transitions.is_recorded(change, row, after):
            cluster = action.within or action.inputs.get('cluster_id')
            event = events.target_event(
                row, after, action, phase, self._now, fault, cluster
            )
            self.events.append(event)

    def _joined(self, row: Node, uuid: str) -> Node:
        cluster = self._cluster(uuid)
        if cluster is None or row.cluster_id == cluster.id:
            return row
        self.clusters[uuid] = cluster.evolve(next_index=cluster.next_index + 1)
        return row.evolve(cluster_id=cluster.id, index=cluster.next_index)

    def _cluster(self, uuid: str | None) -> Cluster | None:
        found = self.clusters.get(uuid or '') or self._held.clusters.get(uuid or '')
        return None if found is None or found.deleted_at is not None else found

    def cluster_id(self, change: ActionChange) -> int | None:
        """Return the id of the cluster of a change, if there is one."""
        row = self._cluster(transitions.cluster_of(change.after))
        return None if row is None else row.id

    def cluster(
        self,
        change: ActionChange,
        fault: Mapping[str, Any] | None,
        counts: Mapping[int, Mapping[str, int]],
    ) -> None:
        """Apply a change to its cluster."""
        action = change.after
        uuid = transitions.cluster_of(action) or ''
        row = self._cluster(uuid)
        if row is None:
            return
        active = counts.get(row.id, {}).get(states.ACTIVE, 0)
        after = transitions.project_cluster(row, change, active, self._now)
        if after is not row:
            self.clusters[uuid] = after
        phase = transitions.phase_of(change)
        is_event = transitions.definition_of(
            action
        ).on_cluster and transitions.is_recorded(change, row, after)
        if phase is not None and is_event:
            event = events.target_event(row, after, action, phase, self._now, fault)
            self.events.append(event)

    def may_leave_nodes(
        self, change: ActionChange, counts: Mapping[int, Mapping[str, int]]
    ) -> bool:
        """Return whether an ended action may have left uncreated nodes."""
        key = self.cluster_id(change)
        if (
            key is None
            or not transitions.is_end(change)
            or transitions.is_success(change)
            or not transitions.definition_of(change.after).on_cluster
        ):
            return False
        return bool(counts.get(key, {}).get(states.INIT))

    def abandoned_nodes(
        self, change: ActionChange, nodes: Sequence[Node]
    ) -> list[Node]:
        """Return the nodes that an action stored but never created, as failed.

        :param nodes: of its cluster
        """
        action = change.after
        found = []
        for row in nodes:
            if row.origin == action.uuid and row.status == states.INIT:
                after = transitions.fail_creation(row, action)
                found.append(after)
                event = events.target_event(
                    row, after, action, events.ERROR, self._now, cluster=action.target
                )
                self.events.append(event)
        return found
