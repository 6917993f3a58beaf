"""A stage of an action on a cluster."""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, outcomes, placement
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import derivation
from watcherlite.engine.clusters.actions.derivation import NodeResult
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.plugins.base import ActionContext
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

TIMED_OUT = 'The timeout of the cluster expired before the action completed.'


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterStage:
    """A stage of an action on a cluster, in a transaction that locks the cluster.

    :param action: its row, as read when the stage started
    :param profile: the profile of new nodes
    :param nodes: of the cluster, by index
    :param ended: results of the actions on nodes that were derived so far
    :param remaining: seconds until the deadline; None: no deadline
    """

    parts: ClusterServices
    action: Action
    profile: Profile
    tx: Transaction
    cluster: Cluster
    nodes: Sequence[Node]
    ended: Sequence[NodeResult]
    now: datetime.datetime
    remaining: float | None

    @classmethod
    def lock(
        cls,
        parts: ClusterServices,
        action: Action,
        profile: Profile,
        tx: Transaction,
        ended: Sequence[NodeResult],
        context: ActionContext,
    ) -> 'ClusterStage | None':
        """Lock the cluster of an action with its nodes; None: it is deleted."""
        uuid = action.target or ''
        cluster = tx.lock_clusters([uuid]).get(uuid)
        if cluster is None or cluster.deleted_at is not None:
            return None
        nodes = sorted(tx.lock_nodes_of(cluster.id), key=lambda n: (n.index, n.id))
        now, remaining = context.now(), context.remaining()
        return cls(parts, action, profile, tx, cluster, nodes, ended, now, remaining)

    # state

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self.action.inputs

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the decisions of policies."""
        return self.action.data

    @property
    def pending_nodes(self) -> list[Node]:
        """Return the nodes that this action has stored and not created yet.

        A repeated action, whose worker was lost, may have some at its start.
        """
        own = self.action.uuid
        return [n for n in self.nodes if n.origin == own and n.status == states.INIT]

    @property
    def size(self) -> int:
        """Return the number of nodes without those that the action has stored."""
        return len(self.nodes) - len(self.pending_nodes)

    def members(self, uuids: Iterable[str]) -> list[Node]:
        """Return these nodes, in this order, without those of other clusters."""
        known = {node.uuid: node for node in self.nodes}
        return [known[uuid] for uuid in dict.fromkeys(uuids) if uuid in known]

    def victims(self, count: int) -> list[Node]:
        """Return the nodes to delete if no policy has chosen them."""
        return capacity.victims(self.nodes, count, seed=self.action.uuid)

    # operations

    def save(self, **changes: Any) -> 'ClusterStage':
        """Store changes of the cluster; return the stage with them."""
        cluster = self.cluster.evolve(**changes)
        if cluster != self.cluster:
            self.tx.save_clusters([cluster])
        return dataclasses.replace(self, cluster=cluster)

    def pause(self, seconds: float, token: Mapping[str, Any]) -> outcomes.Outcome:
        """Wait, then call `resume` with the token."""
        until = self.now + datetime.timedelta(seconds=seconds)
        return outcomes.InProgress({**token, 'until': until.isoformat()}, seconds)

    def create(self, count: int, what: str) -> outcomes.Outcome:
        """Create new nodes, or those that the action has stored before."""
        new = [node.uuid for node in self.pending_nodes]
        if not new and count > 0:
            cluster = self.cluster
            rows = derivation.new_nodes(
                cluster,
                count,
                placement.assign_places(self.data, count),
                self.profile.handler,
                self.action.uuid,
                self.now,
            )
            self.tx.insert_nodes(rows)
            self.save(next_index=cluster.next_index + count)
            new = [row.uuid for row in rows]
        return self.derive_each(action_types.NODE_CREATE, new, what)

    def derive_each(
        self,
        action_type: str,
        nodes: Sequence[str],
        what: str,
        inputs: Mapping[str, Any] | None = None,
    ) -> outcomes.Outcome:
        """Derive the same action for each node; conclude if there are none.

        :param what: the beginning of the failure reason: 'Failed in creating nodes'
        """
        operation = (inputs or {}).get('operation')
        named = operation if action_type == action_types.NODE_OPERATION else None
        return self.derive(
            [
                derivation.node_action(
                    action_type, uuid, self.cluster, inputs, operation=named
                )
                for uuid in nodes
            ],
            what,
        )

    def derive(
        self, derived: Sequence[outcomes.DerivedAction], what: str
    ) -> outcomes.Outcome:
        """Derive these actions, with the time left as timeout."""
        if not derived:
            return self.conclude(what)
        left = self.remaining
        if left is None:
            left = self.action.timeout or self.parts.limits.timeout
        if not round(left):
            return outcomes.TimedOut(TIMED_OUT)
        timed = [dataclasses.replace(action, timeout=round(left)) for action in derived]
        return outcomes.Derived(tuple(timed))

    def conclude(self, what: str, *without: str) -> outcomes.Outcome:
        """Return the outcome of the action from the results of its nodes.

        :param without: action types to ignore
        """
        ended = [one for one in self.ended if one.action_type not in without]
        outputs = derivation.outputs(ended)
        bad = derivation.failure(what, ended, {n.uuid: n for n in self.nodes})
        if bad is None:
            return outcomes.Done(outputs)
        status, reason = bad
        if status == action_states.CANCELLED:
            return outcomes.Cancelled(reason)
        return outcomes.Failed(reason, outputs={**outputs, action_types.REASON: reason})

    def has_failures(self, *without: str) -> bool:
        return any(
            not one.has_succeeded
            for one in self.ended
            if one.action_type not in without
        )
