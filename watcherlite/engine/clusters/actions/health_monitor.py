"""The health monitor: a repeated action per binding of a health policy.

Each run inserts an action for one round, so that the actions that the round derives
can be purged. A round checks the nodes and recovers unhealthy ones by derived actions,
which lock the cluster like those of users. A round is skipped while the cluster has
other actions; nothing has to be disabled for that.

Notifications of services about failures of nodes start a round for these nodes at once,
see `failure_events`. It waits while the cluster has other actions, and is not lost.

Only rounds with findings are kept: the actions of an uneventful round are deleted when
the next one starts, and its checks record no events.
"""

import datetime
import functools
import json
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.domain import actions, commands, events
from watcherlite.domain.actions import ENGINE, Action, ActionChange
from watcherlite.domain.clusters import Bound, Cluster, Node
from watcherlite.domain.outcomes import Derived, Done, InProgress, Outcome
from watcherlite.domain.service_notifications import ResourceFailure
from watcherlite.engine.clusters import action_types, lock_admission
from watcherlite.engine.clusters.actions import derivation
from watcherlite.engine.clusters.requests import admission
from watcherlite.engine.clusters.services import ClusterLimits, ClusterServices
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

T = TypeVar('T')
LOG = logging.getLogger(__name__)

#: The action type; plans and plugins cannot name it.
CLUSTER_HEALTH = 'cluster_health'
# Keys of the derived actions
CHECK = 'check'
RECOVER = 'recover'
#: Statuses of nodes that are recovered.
UNHEALTHY_STATUSES = frozenset({states.ERROR, states.WARNING})
STOPPED = 'The health of the cluster is no longer monitored.'
HEALTHY = 'all nodes are healthy'
SKIPPED = 'left out: '
DISABLED = f'{SKIPPED}the policy is disabled'
OUTDATED = f'{SKIPPED}the resource of the node is another one by now'
# Outputs of a run, and of a round
ROUND = 'round'
#: uuid of the last round.
LAST = 'last'
#: Whether a node changed in the round.
CHANGED = 'changed'
#: Default seconds between two runs.
INTERVAL = 60
#: Seconds until a cluster that has other actions is read again: the first time, and at
#: most.
BUSY_DELAY = 2.0
LONGEST_BUSY_DELAY = 15.0
#: The clocks of hosts differ by at most this.
CLOCK_TOLERANCE = datetime.timedelta(seconds=5)

_TEXT: Mapping[str, Any] = {'type': 'string'}


class ClusterHealthAction(ActionType):
    """Checks the nodes of a cluster, and recovers unhealthy ones."""

    description = 'Monitors the health of a cluster.'
    # The derived actions lock the cluster and find what is done already.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = action_types.schema(
        'cluster',
        'binding',
        cluster={'type': 'string'},
        binding={'type': 'string'},
        round={
            'type': 'boolean',
            'description': 'whether this is a round; else it starts rounds',
        },
        events={
            'type': 'array',
            'items': action_types.schema(
                *('node', 'physical_id', 'reason', 'emitted'),
                node=_TEXT,
                physical_id=_TEXT,
                reason=_TEXT,
                emitted=_TEXT,
            ),
            'description': 'the failures of nodes that services report',
        },
    )

    def __init__(self, parts: ClusterServices) -> None:
        super().__init__()
        self._parts = parts

    def execute(self, context: ActionContext) -> Outcome:
        """Start a round, unless something blocks it."""
        cluster, bound = self._find(context)
        if cluster is None or bound is None:
            return Done({ROUND: STOPPED}, last=True)
        if context.inputs.get('events'):
            return self._check_failures(context, cluster, bound, 0)
        reason = self._blocking_reason(context, cluster, bound)
        if not context.inputs.get('round'):
            return self._start_round(context, cluster, reason)
        if reason is not None:
            return Done({ROUND: reason})
        detection = bound.binding.data.get('detection')
        inputs = {} if detection is None else {'detection': detection}
        kind = action_types.CLUSTER_CHECK
        return Derived((derivation.own_action(CHECK, kind, inputs, cluster, cluster),))

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Continue with failures when the cluster has no other actions."""
        context.checkpoint()
        cluster, bound = self._find(context)
        if cluster is None or bound is None:
            return Done({ROUND: STOPPED})
        return self._check_failures(context, cluster, bound, token['waits'])

    def _check_failures(
        self, context: ActionContext, cluster: Cluster, bound: Bound, waits: int
    ) -> Outcome:
        """Check the nodes of notifications, once the cluster has no other actions.

        :param waits: how often it had some, or an action on a node had just ended
        """
        if not bound.binding.enabled:
            return Done({ROUND: DISABLED})
        if self._blocking_reason(context, cluster, bound) is not None:
            delay = min(BUSY_DELAY * 1.5 ** min(waits, 20), LONGEST_BUSY_DELAY)
            return InProgress({'waits': waits + 1}, delay)
        events = context.inputs['events']
        store, uuids = self._parts.store, [event['node'] for event in events]
        nodes = self._retry(context, lambda: store.nodes_by_uuid(uuids))
        found = [
            (event, node)
            for event in events
            if (node := nodes.get(event['node'])) is not None
            and _has_resource(node, event, cluster)
        ]
        if not found:
            return Done({ROUND: OUTDATED})
        if not waits and self._retry(
            context, lambda: any(self._is_own(event, node) for event, node in found)
        ):
            # The service may not have completed the change yet.
            return InProgress({'waits': 1}, BUSY_DELAY)
        return Derived(
            tuple(
                derivation.own_action(
                    f'{CHECK}:{node.uuid}',
                    action_types.NODE_CHECK,
                    {'detection': _event_detection(bound, event['reason'], waits > 0)},
                    node,
                    cluster,
                )
                for event, node in found
            )
        )

    def _is_own(self, event: Mapping[str, Any], node: Node) -> bool:
        """Return whether an action on the node may have caused a notification."""
        if node.last is None:
            return False
        try:
            last = self._parts.store.get_action(node.last)
        except exceptions.NotFound:
            return False
        emitted = datetime.datetime.fromisoformat(event['emitted'])
        return last.end_time is None or last.end_time + CLOCK_TOLERANCE >= emitted

    def _start_round(
        self, context: ActionContext, cluster: Cluster, reason: str | None
    ) -> Outcome:
        """Insert the action of a round, unless there is a blocking reason.

        The actions of the last round are deleted if it was uneventful.
        """
        store = self._parts.store
        known = self._retry(context, lambda: store.get_action(context.uuid).outputs)
        last = (known or {}).get(LAST)
        if reason is not None:
            return Done({ROUND: reason, LAST: last})
        family = self._retry(context, lambda: _round_actions(self._parts, last))
        if not all(action.finished for action in family):
            return Done({ROUND: f'{SKIPPED}the last round has not ended', LAST: last})
        gone = family if family and _is_uneventful(family[0]) else []
        inputs, now = {**context.inputs, 'round': True}, context.now()
        action = _action(events.new_uuid(), cluster.uuid, inputs, now)

        def stored() -> None:
            with store.transaction() as tx:
                tx.drop_actions([one.id for one in gone])
                tx.insert_actions([action], [])

        self._retry(context, stored)
        self._parts.messenger.send(ENGINE, commands.RunActions())
        return Done({ROUND: action.uuid, LAST: action.uuid})

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Recover the unhealthy nodes as the policy specifies."""
        for result in results:
            if result.status != action_states.SUCCEEDED:
                LOG.warning(
                    'Health policy: %s of cluster %s failed, retrying in the next '
                    'round: %s',
                    result.key,
                    context.inputs['cluster'],
                    result.status_message,
                )
        if any(result.key == RECOVER for result in results):
            return Done({ROUND: 'recovered'})
        cluster, bound = self._find(context)
        if cluster is None or bound is None:
            return Done({ROUND: STOPPED}, last=True)
        store = self._parts.store
        nodes = self._retry(context, lambda: store.nodes_of([cluster.id]))
        failed = any(result.status != action_states.SUCCEEDED for result in results)
        began = self._retry(context, lambda: store.get_action(context.uuid).start_time)
        outputs = {CHANGED: True} if failed or _has_changed(nodes, began) else {}
        reason = self._blocking_reason(context, cluster, bound)
        if reason is not None:
            return Done({ROUND: reason, **outputs})
        bad = [node for node in nodes if node.status in UNHEALTHY_STATUSES]
        if not bad:
            return Done({ROUND: HEALTHY, **outputs})
        # Nodes under the lock of a stack are recovered when it is unlocked.
        locks = lock_admission.NodeLocks(store)
        found = self._retry(context, lambda: [locks.on_nodes([node]) for node in bad])
        unhealthy = [n.uuid for n, lock in zip(bad, found, strict=True) if lock is None]
        if not unhealthy:
            return Done({ROUND: f'{SKIPPED}{found[0]}', **outputs})
        LOG.warning(
            'Cluster %s: recovering unhealthy nodes: %s',
            cluster.uuid,
            ', '.join(unhealthy),
        )
        kind = action_types.CLUSTER_RECOVER
        return Derived((derivation.own_action(RECOVER, kind, {}, cluster, cluster),))

    def _retry(self, context: ActionContext, call: Callable[[], T]) -> T:
        return retry_while_unavailable(
            context, f'The health of {context.inputs["cluster"]}', call
        )

    def _find(self, context: ActionContext) -> tuple[Cluster | None, Bound | None]:
        store, desired = self._parts.store, context.inputs

        def read() -> tuple[Cluster | None, Bound | None]:
            cluster = store.clusters_by_uuid([desired['cluster']]).get(
                desired['cluster']
            )
            if cluster is None or cluster.deleted_at is not None:
                return None, None
            key = cluster.id
            for bound in store.bindings_of_clusters([key]).get(key, ()):
                if bound.binding.uuid == desired['binding']:
                    return cluster, bound
            return cluster, None

        return self._retry(context, read)

    def _blocking_reason(
        self, context: ActionContext, cluster: Cluster, bound: Bound
    ) -> str | None:
        if not bound.binding.enabled:
            return DISABLED
        if cluster.status == states.INIT or cluster.status in states.TRANSIENT:
            return f'{SKIPPED}the cluster is {cluster.status}'
        around, now = [cluster.uuid], context.now()

        def busy() -> bool:
            with self._parts.store.transaction() as tx:
                return bool(admission.conflicting_actions(tx, around, around, now))

        return f'{SKIPPED}the cluster is busy' if self._retry(context, busy) else None


def _has_resource(node: Node, event: Mapping[str, Any], cluster: Cluster) -> bool:
    """Return whether a node of a cluster still has the resource that has failed."""
    if node.deleted_at is not None or node.cluster_id != cluster.id:
        return False
    return bool(node.physical_id == event['physical_id'])


def _event_detection(bound: Bound, reason: str, is_own: bool) -> dict[str, Any]:
    """Return how a node is checked after a notification.

    :param is_own: whether an action of the cluster may have caused it: the node is then
        checked, and the notification alone is no finding
    """
    detection = bound.binding.data.get('detection') or {}
    if is_own:
        return {'detection_modes': [{'type': action_types.NODE_STATUS_POLLING}]}
    event = {'type': action_types.LIFECYCLE_EVENTS, 'options': {'event': reason}}
    condition = detection.get('recovery_conditional', action_types.ANY_FAILED)
    others = detection.get('detection_modes') or []
    if condition == action_types.ANY_FAILED:
        others = []
    return {'recovery_conditional': condition, 'detection_modes': [event, *others]}


def _round_actions(parts: ClusterServices, last: str | None) -> list[Action]:
    """Return a round with its derived actions; [] if it has been purged."""
    store = parts.store
    try:
        found = [store.get_action(last)] if last is not None else []
    except exceptions.NotFound:
        return []
    frontier = found
    while frontier:
        frontier = [
            child for one in frontier for child in store.derived_actions(one.id)
        ]
        found = [*found, *frontier]
        # Actions on nodes derive no others.
        frontier = [
            one for one in frontier if one.action_type in action_types.CLUSTER_TYPES
        ]
    return found


def _is_uneventful(ended: Action) -> bool:
    """Return whether a round found nothing and changed nothing."""
    outputs = ended.outputs or {}
    result = str(outputs.get(ROUND) or '')
    is_eventful = ended.status != action_states.SUCCEEDED or outputs.get(CHANGED)
    return not is_eventful and (result == HEALTHY or result.startswith(SKIPPED))


def _has_changed(nodes: Sequence[Node], began: datetime.datetime | None) -> bool:
    """Return whether a node has changed since a round started."""
    times = [node.updated_at for node in nodes if node.updated_at is not None]
    return began is not None and any(time >= began for time in times)


# start and stop


def action_uuid(bound: Bound) -> str:
    """Return the uuid of the monitor of a binding.

    It is computed from that of the binding, so that there is one for each.
    """
    return str(uuid.uuid5(uuid.UUID(bound.binding.uuid), CLUSTER_HEALTH))


def check_interval(bound: Bound, limits: ClusterLimits) -> int:
    """Return the seconds between two runs, within the limits of the options."""
    desired = bound.binding.data.get('interval') or INTERVAL
    least = max(1, limits.check_interval_min)
    return max(least, min(int(desired), limits.check_interval_max))


def start(
    parts: ClusterServices, context: ActionContext, cluster: str, bound: Bound
) -> None:
    """Start the monitor of a cluster, if there is none; it runs after an interval."""
    interval, now = check_interval(bound, parts.limits), context.now()
    inputs = {'cluster': cluster, 'binding': bound.binding.uuid}
    action = _action(action_uuid(bound), cluster, inputs, now, interval)

    def stored() -> None:
        try:
            parts.store.get_action(action.uuid)
        except exceptions.NotFound:
            with parts.store.transaction() as tx:
                tx.insert_actions([action], [])

    retry_while_unavailable(context, f'The health of {cluster}', stored)
    parts.messenger.send(ENGINE, commands.RunActions())


def start_for_failures(
    parts: ClusterServices,
    cluster: Cluster,
    bound: Bound,
    failures: Sequence[tuple[ResourceFailure, datetime.datetime]],
    now: datetime.datetime,
) -> None:
    """Start a round for the nodes whose failures services report.

    Every engine receives the notifications: the uuid makes one round of the same ones,
    and a second round finds other resources.

    :param failures: one of each node, with the time of its notification
    """
    found = [
        {
            'node': failure.resource_uuid,
            'physical_id': failure.physical_id,
            'reason': failure.reason,
            'emitted': emitted.isoformat(),
        }
        for failure, emitted in failures
    ]
    name = json.dumps(sorted(found, key=lambda one: sorted(one.items())))
    inputs = {'cluster': cluster.uuid, 'binding': bound.binding.uuid, 'events': found}
    action = _action(
        str(uuid.uuid5(uuid.UUID(bound.binding.uuid), name)), cluster.uuid, inputs, now
    )
    try:
        parts.store.get_action(action.uuid)
    except exceptions.NotFound:
        for failure, _ in failures:
            LOG.info('Cluster %s: %s; checking its node', cluster.uuid, failure.reason)
        with parts.store.transaction() as tx:
            tx.insert_actions([action], [])
        parts.messenger.send(ENGINE, commands.RunActions())


def _action(
    action_uuid: str,
    cluster: str,
    inputs: Mapping[str, Any],
    now: datetime.datetime,
    interval: int = 0,
) -> actions.NewAction:
    return actions.NewAction(
        uuid=action_uuid,
        action_type=CLUSTER_HEALTH,
        lane=ENGINE,
        name=f'{CLUSTER_HEALTH}_{cluster[:8]}',
        inputs=dict(inputs),
        context={actions.LOOKED_AFTER: True},
        interval=interval,
        status=action_states.READY,
        not_before=now + datetime.timedelta(seconds=interval) if interval else EPOCH,
        created_at=now,
    )


def stop(
    parts: ClusterServices, context: ActionContext, bounds: Sequence[Bound]
) -> None:
    """Stop the monitors of bindings.

    A monitor that is running finds out by itself that its binding is gone.
    """
    for bound in bounds:
        stopped = functools.partial(_cancel, parts, bound, context.now())
        retry_while_unavailable(context, 'The health of a cluster', stopped)


def _cancel(parts: ClusterServices, bound: Bound, now: datetime.datetime) -> None:
    try:
        found = parts.store.get_action(action_uuid(bound))
    except exceptions.NotFound:
        return
    with parts.store.transaction() as tx:
        row = tx.lock_actions([found.id]).get(found.id)
        if row is None or row.status != action_states.READY or row.owner is not None:
            return
        after = row.evolve(
            status=action_states.CANCELLED,
            status_message=STOPPED,
            end_time=now,
            updated_at=now,
        )
        tx.change_actions([ActionChange(row, after)])
