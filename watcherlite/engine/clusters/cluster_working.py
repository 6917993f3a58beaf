"""A cluster in the hands of an action: its row, its nodes, and how far it is."""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, placement
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.outcomes import (
    Cancelled,
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Outcome,
    TimedOut,
)
from watcherlite.engine.clusters import actions, expansion
from watcherlite.engine.clusters.expansion import Ended
from watcherlite.engine.clusters.parts import Parts
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

TIMED_OUT = 'The timeout of the cluster was over before all of it was done.'


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterWork:
    """One step of an action on a cluster, inside a transaction that has locked both.

    :param action: its row, as it was when it started, or went on
    :param profile: that new nodes are made from
    :param nodes: of the cluster, by index
    :param ended: how the actions on nodes ended that it has derived so far
    :param remaining: seconds until its deadline; None: nobody counts
    """

    parts: Parts
    action: Action
    profile: Profile
    tx: Transaction
    cluster: Cluster
    nodes: tuple[Node, ...]
    ended: tuple[Ended, ...]
    now: datetime.datetime
    remaining: float | None = None

    @classmethod
    def of(
        cls,
        parts: Parts,
        action: Action,
        profile: Profile | None,
        tx: Transaction,
        ended: Iterable[Ended],
        now: datetime.datetime,
        remaining: float | None = None,
    ) -> 'ClusterWork | None':
        """Lock what an action is about; None: it is deleted."""
        uuid = action.target or ''
        cluster = tx.lock_clusters([uuid]).get(uuid)
        if cluster is None or cluster.deleted_at is not None or profile is None:
            return None
        nodes = sorted(
            tx.lock_nodes_of(cluster.id or 0), key=lambda n: (n.index, n.id or 0)
        )
        return cls(
            *(parts, action, profile, tx, cluster, tuple(nodes), tuple(ended), now),
            remaining=remaining,
        )

    # what it knows

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self.action.inputs

    @property
    def data(self) -> Mapping[str, Any]:
        """Return what policies decided."""
        return self.action.data

    @property
    def begun(self) -> tuple[Node, ...]:
        """Return the nodes that this run of the action has stored, and not yet made.

        There are some before it derives anything if it has begun once before, at a
        worker that was lost.
        """
        own = self.action.uuid
        return tuple(
            n for n in self.nodes if n.origin == own and n.status == states.INIT
        )

    @property
    def size(self) -> int:
        """Return how many nodes there are, without those that the action has stored."""
        return len(self.nodes) - len(self.begun)

    @property
    def left(self) -> int:
        """Return how many seconds there are until its timeout; 0: none."""
        if self.remaining is None:
            return self.action.timeout or self.parts.limits.timeout
        return round(self.remaining)

    def members(self, uuids: Iterable[str]) -> list[Node]:
        """Return those of these nodes that are in the cluster, in this order."""
        known = {node.uuid: node for node in self.nodes}
        return [known[uuid] for uuid in dict.fromkeys(uuids) if uuid in known]

    def victims(self, count: int) -> list[Node]:
        """Return nodes to delete of which no policy has said which."""
        return capacity.victims(self.nodes, count, seed=self.action.uuid)

    # what it does

    def save(self, **changes: Any) -> 'ClusterWork':
        """Store changes of the cluster; return what is known then."""
        cluster = self.cluster.evolve(**changes)
        if cluster != self.cluster:
            self.tx.save_clusters([cluster])
        return dataclasses.replace(self, cluster=cluster)

    def pause(self, seconds: float, token: Mapping[str, Any]) -> Outcome:
        """Let so many seconds pass, and then `resume` with the token."""
        until = self.now + datetime.timedelta(seconds=seconds)
        return InProgress({**token, 'until': until.isoformat()}, seconds)

    def create(self, count: int, what: str) -> Outcome:
        """Have so many nodes made, or those that it has stored before."""
        new = [node.uuid for node in self.begun]
        if not new and count > 0:
            cluster = self.cluster
            rows = expansion.new_nodes(
                *(cluster, count, placement.spread(self.data, count)),
                *(self.profile.handler, self.action.uuid, self.now),
            )
            self.tx.insert_nodes(rows)
            self.save(next_index=cluster.next_index + count)
            new = [row.uuid for row in rows]
        return self.each(actions.NODE_CREATE, new, what)

    def each(
        self,
        action_type: str,
        nodes: Sequence[str],
        what: str,
        inputs: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Have the same done with each of these nodes; without any it is done.

        :param what: that did not succeed, if it does not: 'Failed in creating nodes'
        """
        operation = (inputs or {}).get('operation')
        named = operation if action_type == actions.NODE_OPERATION else None
        return self.derive(
            [
                expansion.on_node(
                    *(action_type, uuid, self.cluster, inputs), operation=named
                )
                for uuid in nodes
            ],
            what,
        )

    def derive(self, derived: Sequence[DerivedAction], what: str) -> Outcome:
        """Have these done, each within the time that is left."""
        if not derived:
            return self.concluded(what)
        left = self.left
        if not left:
            return TimedOut(TIMED_OUT)
        timed = [dataclasses.replace(action, timeout=left) for action in derived]
        return Derived(tuple(timed))

    def concluded(self, what: str, *without: str) -> Outcome:
        """Return how the action went, by how those on its nodes went.

        :param without: types of these that do not count
        """
        ended = [one for one in self.ended if one.action_type not in without]
        said = expansion.outputs(ended)
        bad = expansion.trouble(what, ended, {n.uuid: n for n in self.nodes})
        if bad is None:
            return Done(said)
        status, reason = bad
        if status == action_states.CANCELLED:
            return Cancelled(reason)
        return Failed(reason, outputs={**said, actions.REASON: reason})

    def failed(self, *without: str) -> bool:
        """Say whether some of what it derived did not succeed."""
        return any(not one.well for one in self.ended if one.action_type not in without)
