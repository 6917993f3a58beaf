"""How clusters and nodes get on while their actions are executed.

Implements `execution.subjects.Subjects`. The functions that decide are pure: they
take a row and a change of an action, and return the row as it is then.
"""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.db.api import Transaction
from watcherlite.domain.actions import COMPLETE, Action, ActionChange
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import Event
from watcherlite.engine.clusters import actions, facts
from watcherlite.engine.stacks.progress import reason_of
from watcherlite.execution import results
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

#: What of the outputs of its actions (`actions.NODE`) a node takes over. `data` and
#: `kept` are merged; what is None in them is dropped.
NODE_FIELDS = (
    *('physical_id', 'attributes', 'properties', 'kept', 'data', 'handler'),
    *('profile_id', 'name', 'role', 'metadata', 'tainted'),
    *('status', 'status_reason'),
)
#: Likewise a cluster (`actions.CLUSTER`).
CLUSTER_FIELDS = (
    *('name', 'metadata', 'timeout', 'config', 'profile_id', 'data', 'dependents'),
    *('desired_capacity', 'min_size', 'max_size'),
)
_MERGED = ('data', 'kept')

# In what a node keeps, beside what its handler does
#: Its making has begun: there may be something of it in the world.
BEGUN = 'begun'
#: Its status and reason before the action that is about it.
WAS = 'was'
#: In the token of an action: its node is left the time that policies give it.
PAUSE = 'pause'
#: In what a node becomes: what it was before the action. See `actions.NODE`.
AS_BEFORE = 'as_before'
#: In its data: the action that counts it, or counts it no more, in the size of its
#: cluster already.
COUNTED = 'counted'

Change = tuple[ActionChange, Mapping[str, Any] | None]


@dataclasses.dataclass(slots=True)
class Held:
    """What is locked: clusters and nodes by uuid."""

    clusters: dict[str, Cluster]
    nodes: dict[str, Node]


class ClusterProgress:
    """Lets clusters and nodes follow the actions that are about them."""

    def concerns(self, action: Action) -> bool:
        """See `Subjects`; those of plans only ask for others."""
        return action.action_type in actions.KINDS and action.plan_id is None

    def lock(self, tx: Transaction, actions: Sequence[Action]) -> Held:
        """See `Subjects`."""
        clusters = {uuid for action in actions if (uuid := _cluster_of(action))}
        nodes = {
            action.target
            for action in actions
            if action.target is not None and not _kind(action).on_cluster
        }
        return Held(
            tx.lock_clusters(sorted(clusters)) if clusters else {},
            tx.lock_nodes(sorted(nodes)) if nodes else {},
        )

    def follow(
        self,
        tx: Transaction,
        held: Any,
        changes: Sequence[Change],
        now: datetime.datetime,
    ) -> list[Event]:
        """See `Subjects`."""
        follower = _Following(held, now)
        for change, detail in changes:
            if not _kind(change.after).on_cluster:
                follower.node(change, _fault(detail))
        if follower.nodes:
            tx.save_nodes(list(follower.nodes.values()))
        ended = [
            (change, detail)
            for change, detail in changes
            if follower.changes_cluster(change)
        ]
        counts: Mapping[int, Mapping[str, int]] = {}
        wanted = {follower.cluster_id(change) for change, _ in ended if ends(change)}
        if wanted - {None}:
            counts = tx.count_nodes(sorted(key for key in wanted if key is not None))
        for change, detail in ended:
            follower.cluster(change, _fault(detail), counts)
            if follower.may_leave_nodes(change, counts):
                nodes = tx.lock_nodes_of(follower.cluster_id(change) or 0)
                tx.save_nodes(follower.left(change, nodes))
        if follower.clusters:
            tx.save_clusters(list(follower.clusters.values()))
        return follower.told


class _Following:
    """What becomes of the rows in one transaction."""

    def __init__(self, held: Held, now: datetime.datetime) -> None:
        self._held = held
        self._now = now
        self.clusters: dict[str, Cluster] = {}
        self.nodes: dict[str, Node] = {}
        self.told: list[Event] = []

    def node(self, change: ActionChange, fault: Mapping[str, Any] | None) -> None:
        """Let a node follow."""
        action = change.after
        uuid = action.target or ''
        row = self.nodes.get(uuid) or self._held.nodes.get(uuid)
        if row is None or row.deleted_at is not None:
            return
        after = followed_node(row, change, self._now)
        if succeeded(change) and action.action_type == actions.NODE_JOIN:
            after = self._joined(after, str(action.inputs['cluster_id']))
        if after is not row:
            self.nodes[uuid] = after
        phase = phase_of(change)
        if phase is not None:
            cluster = action.within or action.inputs.get('cluster_id')
            event = facts.node_event(
                *(row, after, action, phase, self._now, cluster, fault)
            )
            self.told.append(event)

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
        """Return the id of the cluster that a change is about, if there is one."""
        row = self._cluster(_cluster_of(change.after))
        return None if row is None else row.id

    def changes_cluster(self, change: ActionChange) -> bool:
        """Say whether a change is one of a cluster, too."""
        action = change.after
        if _kind(action).on_cluster:
            return True
        return is_request_within(action) and ends(change)

    def cluster(
        self,
        change: ActionChange,
        fault: Mapping[str, Any] | None,
        counts: Mapping[int, Mapping[str, int]],
    ) -> None:
        """Let a cluster follow."""
        action = change.after
        uuid = _cluster_of(action) or ''
        row = self._cluster(uuid)
        if row is None:
            return
        active = counts.get(row.id or 0, {}).get(states.ACTIVE, 0)
        after = followed_cluster(row, change, active, self._now)
        if after is not row:
            self.clusters[uuid] = after
        phase = phase_of(change)
        if phase is not None and _kind(action).on_cluster:
            event = facts.cluster_event(row, after, action, phase, self._now, fault)
            self.told.append(event)

    def may_leave_nodes(
        self, change: ActionChange, counts: Mapping[int, Mapping[str, int]]
    ) -> bool:
        """Say whether an action may have stored nodes that are never made now."""
        if not ends(change) or succeeded(change) or not _kind(change.after).on_cluster:
            return False
        return bool(counts.get(self.cluster_id(change) or 0, {}).get(states.INIT))

    def left(self, change: ActionChange, nodes: Sequence[Node]) -> list[Node]:
        """Return what becomes of the nodes that an action has stored and left.

        It ended before it derived what would have made them.

        :param nodes: of its cluster
        """
        action = change.after
        found = []
        for row in nodes:
            if row.origin == action.uuid and row.status == states.INIT:
                after = _not_made(row, action)
                found.append(after)
                event = facts.node_event(
                    *(row, after, action, facts.ERROR, self._now, action.target)
                )
                self.told.append(event)
        return found


# pure


def starts(change: ActionChange) -> bool:
    """Say whether a change is the start of an action, or of a run of it."""
    before, after = change.before, change.after
    if (before.status, after.status) != (action_states.READY, action_states.RUNNING):
        return False
    return not had_begun(before)


def had_begun(before: Action) -> bool:
    """Say whether an action has started and not ended; a repeated one: its run."""
    return before.start_time is not None and before.end_time is None


def ends(change: ActionChange) -> bool:
    """Say whether a change is the end of an action, or of a run of it."""
    return change.after.finished or results.repeated(change.before, change.after)


def succeeded(change: ActionChange) -> bool:
    """Say whether a change is an end as it should be."""
    if change.after.finished:
        return change.after.status == action_states.SUCCEEDED
    # The next run is READY; how the last one went is in the message.
    return ends(change) and change.after.status_message is None


def phase_of(change: ActionChange) -> str | None:
    """Return the phase that a change is told as, if it is."""
    if starts(change):
        return facts.START
    if not ends(change):
        return None
    skipped = change.after.status == action_states.SKIPPED
    return facts.END if succeeded(change) or skipped else facts.ERROR


def is_request_within(action: Action) -> bool:
    """Say whether an action is a request for something in a cluster."""
    return action.cause == action_states.RPC_REQUEST and action.within is not None


def _kind(action: Action) -> actions.Kind:
    return actions.KINDS[action.action_type]


def _cluster_of(action: Action) -> str | None:
    """Return the uuid of the cluster that an action may change."""
    if _kind(action).on_cluster:
        return action.target
    if action.action_type == actions.NODE_JOIN:
        # One without it fails, and that has to be written down, too.
        uuid = action.inputs.get('cluster_id')
        return uuid if isinstance(uuid, str) else None
    return action.within if is_request_within(action) else None


def _fault(detail: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return (detail or {}).get('fault')


def taken_over(row: Any, outputs: Mapping[str, Any], fields: Sequence[str]) -> Any:
    """Return a cluster or node that has become what its action says."""
    changes: dict[str, Any] = {}
    for name in fields:
        if name not in outputs:
            continue
        value = outputs[name]
        if name in _MERGED:
            merged = {**getattr(row, name), **value}
            value = {key: v for key, v in merged.items() if v is not None}
        changes[name] = value
    return row.evolve(**changes) if changes else row


# nodes


def followed_node(row: Node, change: ActionChange, now: datetime.datetime) -> Node:
    """Return a node as it is after a change of an action that is about it."""
    before, action = change.before, change.after
    if starts(change):
        return _begun(row, action)
    if action.status == action_states.RUNNING:
        if action.token is None or action.token == before.token:
            return row
        return taken_over(row, action.token.get(actions.NODE) or {}, NODE_FIELDS)
    if not ends(change):
        return row
    said = (action.outputs or {}).get(actions.NODE) or {}
    if succeeded(change):
        after = _done(row, action, said, now)
    elif had_begun(before):
        if _has_only_waited(before):
            said = {**said, AS_BEFORE: True}
        after = _failed(taken_over(row, said, NODE_FIELDS), action, said, now)
    elif action.action_type == actions.NODE_CREATE:
        after = _not_made(row, action)
    else:
        return row
    kept = {key: value for key, value in after.kept.items() if key != WAS}
    data = {key: value for key, value in after.data.items() if key != COUNTED}
    return after.evolve(kept=kept, data=data)


def _has_only_waited(action: Action) -> bool:
    """Say whether an action that has begun has done nothing with its node so far."""
    # It waits until others have been told of the node, or has just done so.
    told = action.phase == COMPLETE and action.status in action_states.NOT_STARTED
    return told or (action.token or {}).get('step') == PAUSE


def _transient(action: Action) -> str | None:
    """Return the status of a node while an action on it runs; None: as before."""
    if action.action_type == actions.NODE_UPDATE:
        # Names, roles and the like are of the row alone.
        return states.UPDATING if action.inputs.get('new_profile_id') else None
    return _kind(action).status


def _begun(row: Node, action: Action) -> Node:
    kept = dict(row.kept)
    if action.action_type == actions.NODE_CREATE:
        kept[BEGUN] = True
    status = _transient(action)
    if status is None:
        return row.evolve(last=action.uuid, kept=kept)
    if row.status not in states.TRANSIENT:
        kept[WAS] = [row.status, row.status_reason]
    return row.evolve(
        status=status,
        status_reason=f'{_kind(action).text} in progress',
        last=action.uuid,
        kept=kept,
    )


def _done(
    row: Node, action: Action, said: Mapping[str, Any], now: datetime.datetime
) -> Node:
    kind = action.action_type
    after = taken_over(row, said, NODE_FIELDS)
    if kind == actions.NODE_DELETE:
        return after.evolve(
            status_reason='Deletion succeeded', updated_at=now, deleted_at=now
        )
    if kind == actions.NODE_CREATE:
        after = after.evolve(created_at=after.created_at or now)
    elif kind != actions.NODE_CHECK or after.status != row.status:
        # To have been looked at is no change.
        after = after.evolve(updated_at=now)
    if kind == actions.NODE_LEAVE:
        return after.evolve(cluster_id=None, index=-1)
    if said.get(AS_BEFORE):
        return _as_before(after)
    if 'status' in said or _transient(action) is None:
        return after
    if kind in (actions.NODE_CREATE, actions.NODE_RECOVER):
        data = {key: v for key, v in after.data.items() if key != actions.MARK}
        after = after.evolve(data=data)
    mark = actions.mark_of(after)
    if mark is not None:
        return after.evolve(status=states.ERROR, status_reason=mark)
    text = f'{_kind(action).text} succeeded'
    return after.evolve(status=states.ACTIVE, status_reason=text)


def _not_made(row: Node, action: Action) -> Node:
    """Return a node that will never be made, and says why."""
    text = action.status_message or 'cancelled'
    return row.evolve(status=states.ERROR, status_reason=f'Not made: {text}')


def _as_before(row: Node) -> Node:
    status, reason = row.kept.get(WAS) or (row.status, row.status_reason)
    return row.evolve(status=status, status_reason=reason)


def _failed(
    row: Node, action: Action, said: Mapping[str, Any], now: datetime.datetime
) -> Node:
    if _transient(action) is None:
        return row
    if said.get(AS_BEFORE):
        return _as_before(row)
    if action.status == action_states.CANCELLED:
        why = f'{_kind(action).text} aborted: {action.status_message or "cancelled"}'
    else:
        why = reason_of(action)
    return row.evolve(status=states.ERROR, status_reason=why, updated_at=now)


# clusters


def followed_cluster(
    row: Cluster, change: ActionChange, active: int, now: datetime.datetime
) -> Cluster:
    """Return a cluster as it is after a change of an action on it, or on a node of it.

    :param active: how many of its nodes are ACTIVE now
    """
    action = change.after
    kind = _kind(action)
    if starts(change):
        if kind.status is None:
            return row
        text = f'{action.action_type}: {kind.text} in progress.'
        return row.evolve(status=kind.status, status_reason=text)
    if not ends(change):
        return row
    well = succeeded(change)
    if not had_begun(change.before):
        if action.action_type != actions.CLUSTER_CREATE or well:
            return row
        return row.evolve(
            status=states.ERROR, status_reason=f'Not made: {action.status_message}'
        )
    after = row
    if kind.on_cluster:
        said = (action.outputs or {}).get(actions.CLUSTER) or {}
        after = taken_over(row, said, CLUSTER_FIELDS)
        if action.action_type == actions.CLUSTER_CREATE:
            after = after.evolve(created_at=now if well else after.created_at)
        else:
            after = after.evolve(updated_at=now)
        if action.action_type == actions.CLUSTER_DELETE and well:
            return after.evolve(status_reason='Deletion succeeded', deleted_at=now)
        if kind.status is None:
            return after
    else:
        after = _shrunk(row, action, well)
    return _evaluated(after, action, active, well)


def _shrunk(row: Cluster, action: Action, well: bool) -> Cluster:
    """Return the cluster of a node that a request has deleted."""
    deletion = action.data.get('deletion')
    decided = deletion if isinstance(deletion, Mapping) else {}
    reduces = decided.get('reduce_desired_capacity', True)
    if action.action_type != actions.NODE_DELETE or not well or not reduces:
        return row
    desired = max(row.desired_capacity - 1, row.min_size, 0)
    return row.evolve(desired_capacity=min(row.desired_capacity, desired))


def _evaluated(row: Cluster, action: Action, active: int, well: bool) -> Cluster:
    """Return a cluster with the status that so many active nodes make."""
    if row.status == states.INIT and not _kind(action).on_cluster:
        # Nobody has made it yet: that it lacks nodes says nothing.
        return row
    status, text = states.evaluated(
        *(active, row.desired_capacity, row.min_size, row.max_size)
    )
    creating = action.action_type == actions.CLUSTER_CREATE
    if creating and not well and active < row.desired_capacity:
        status = states.ERROR
    return row.evolve(status=status, status_reason=f'{action.action_type}: {text}')
