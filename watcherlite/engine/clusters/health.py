"""Looking after clusters: a repeated action for each that a health policy is bound to.

Each of its runs begins a round, which is an action of its own and ends as such: so
what it derives can be purged one day. A round looks at nothing itself. It has the
nodes checked and, if some are unwell, recovered, by actions that lock the cluster as
those of users do. So a cluster that shrinks, or that anything else is done with, is
left alone until the next run. Nothing has to be switched off for that, and nothing
can stay switched off.
"""

import datetime
import functools
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE, Action, ActionChange
from watcherlite.domain.clusters import Bound, Cluster
from watcherlite.domain.outcomes import Derived, DerivedAction, Done, Outcome
from watcherlite.engine.clusters import actions, guarding, keeping_out
from watcherlite.engine.clusters.parts import Limits, Parts
from watcherlite.engine.patience import patiently
from watcherlite.execution.facts import action_event, created_event
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

LOG = logging.getLogger(__name__)

#: The type of these actions; no plan and no plugin may name it.
CLUSTER_HEALTH = 'cluster_health'
# The keys of what a run derives
CHECK = 'check'
RECOVER = 'recover'
#: What a node is in that is to be recovered.
UNWELL = frozenset({states.ERROR, states.WARNING})
REFUSED = 'The cluster is not looked after any more.'
#: Seconds between two runs unless the policy says something else.
INTERVAL = 60


class ClusterHealth(ActionType):
    """Has the nodes of a cluster checked and, if need be, recovered."""

    description = 'Looks after a cluster.'
    # What it derives locks the cluster and finds what is done already.
    idempotent = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'cluster': {'type': 'string'},
            'binding': {'type': 'string'},
            'round': {
                'type': 'boolean',
                'description': 'whether it is one round; else it begins them',
            },
        },
        'required': ['cluster', 'binding'],
        'additionalProperties': False,
    }

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._parts = parts

    def execute(self, context: ActionContext) -> Outcome:
        """Begin a round, unless something else is done with the cluster."""
        cluster, bound = self._found(context)
        if cluster is None or bound is None:
            return Done({'round': REFUSED}, last=True)
        hindrance = self._hindrance(context, cluster, bound)
        if hindrance is not None:
            return Done({'round': hindrance})
        if not context.inputs.get('round'):
            return Done({'round': self._begin(context, cluster)})
        detection = bound.binding.data.get('detection')
        inputs = {} if detection is None else {'detection': detection}
        return _derived(CHECK, actions.CLUSTER_CHECK, cluster, inputs)

    def _begin(self, context: ActionContext, cluster: Cluster) -> str:
        """Store the action that a round is; return its uuid."""
        inputs, now = {**context.inputs, 'round': True}, context.now()
        action = _action(events.new_uuid(), cluster.uuid, inputs, now)
        self._ask(context, functools.partial(_insert, self._parts, action, now))
        self._parts.tell(ENGINE, commands.RunActions())
        return action.uuid

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Have the nodes recovered that are unwell; the policy says how."""
        for result in results:
            if result.status != action_states.SUCCEEDED:
                LOG.warning(
                    'The %s of cluster %s by its health policy did not succeed, and '
                    'is tried again in the next round: %s',
                    *(result.key, context.inputs['cluster'], result.status_message),
                )
        if any(result.key == RECOVER for result in results):
            return Done({'round': 'recovered'})
        cluster, bound = self._found(context)
        if cluster is None or bound is None:
            return Done({'round': REFUSED}, last=True)
        hindrance = self._hindrance(context, cluster, bound)
        if hindrance is not None:
            return Done({'round': hindrance})
        store = self._parts.store
        nodes = self._ask(context, lambda: store.nodes_of([cluster.id or 0]))
        bad = [node for node in nodes if node.status in UNWELL]
        if not bad:
            return Done({'round': 'all is well'})
        # What is under the lock of a stack is repaired when that is unlocked.
        locks = keeping_out.Locks(store)
        found = self._ask(context, lambda: [locks.on_nodes([node]) for node in bad])
        unwell = [n.uuid for n, lock in zip(bad, found, strict=True) if lock is None]
        if not unwell:
            return Done({'round': f'left out: {found[0]}'})
        LOG.warning(
            'Cluster %s has nodes that are unwell, and they are recovered: %s',
            *(cluster.uuid, ', '.join(unwell)),
        )
        return _derived(RECOVER, actions.CLUSTER_RECOVER, cluster, {})

    def _ask(self, context: ActionContext, call: Any) -> Any:
        return patiently(context, f'The health of {context.inputs["cluster"]}', call)

    def _found(self, context: ActionContext) -> tuple[Cluster | None, Bound | None]:
        """Return the cluster and what binds it to the policy, if they are there."""
        store, wanted = self._parts.store, context.inputs

        def found() -> tuple[Cluster | None, Bound | None]:
            cluster = store.clusters_by_uuid([wanted['cluster']]).get(wanted['cluster'])
            if cluster is None or cluster.deleted_at is not None:
                return None, None
            key = cluster.id or 0
            for bound in store.bindings_of_clusters([key]).get(key, ()):
                if bound.binding.uuid == wanted['binding']:
                    return cluster, bound
            return cluster, None

        known: tuple[Cluster | None, Bound | None] = self._ask(context, found)
        return known

    def _hindrance(
        self, context: ActionContext, cluster: Cluster, bound: Bound
    ) -> str | None:
        """Return why a round is left out; None: it is not."""
        if not bound.binding.enabled:
            return 'left out: the policy is disabled'
        if cluster.status == states.INIT or cluster.status in states.TRANSIENT:
            return f'left out: the cluster is {cluster.status}'
        around, now = [cluster.uuid], context.now()

        def busy() -> bool:
            with self._parts.store.transaction() as tx:
                return bool(guarding.under_way(tx, around, around, now))

        return 'left out: the cluster is busy' if self._ask(context, busy) else None


def _derived(
    key: str, action_type: str, cluster: Cluster, inputs: Mapping[str, Any]
) -> Derived:
    """Return an action on a cluster that stands for itself, and locks it."""
    derived = DerivedAction(
        *(key, action_type, dict(inputs)),
        name=actions.action_name(action_type, cluster.uuid),
        target=cluster.uuid,
        timeout=cluster.timeout,
        lane=ENGINE,
        tenant=cluster.owner.tenant,
    )
    return Derived((derived,))


# begin and end


def action_of(bound: Bound) -> str:
    """Return the uuid of the action that a binding to a health policy has.

    It follows from that of the binding, so that there is one for each, and it is
    found again.
    """
    return str(uuid.uuid5(uuid.UUID(bound.binding.uuid), CLUSTER_HEALTH))


def interval_of(bound: Bound, limits: Limits) -> int:
    """Return the seconds between two runs, as far as the options allow them."""
    wanted = bound.binding.data.get('interval') or INTERVAL
    least = max(1, limits.check_interval_min)
    return max(least, min(int(wanted), limits.check_interval_max))


def start(parts: Parts, context: ActionContext, cluster: str, bound: Bound) -> None:
    """Have a cluster looked after, if it is not yet; the first run is due later."""
    interval, now = interval_of(bound, parts.limits), context.now()
    inputs = {'cluster': cluster, 'binding': bound.binding.uuid}
    action = _action(action_of(bound), cluster, inputs, now).evolve(
        interval=interval, not_before=now + datetime.timedelta(seconds=interval)
    )

    def stored() -> None:
        try:
            parts.store.get_action(action.uuid)
        except exceptions.NotFound:
            _insert(parts, action, now)

    patiently(context, f'The health of {cluster}', stored)
    parts.tell(ENGINE, commands.RunActions())


def _action(
    action_uuid: str, cluster: str, inputs: Mapping[str, Any], now: datetime.datetime
) -> Action:
    return Action(
        uuid=action_uuid,
        action_type=CLUSTER_HEALTH,
        lane=ENGINE,
        name=f'{CLUSTER_HEALTH}_{cluster[:8]}',
        inputs=dict(inputs),
        context={guarding.LOOKED_AFTER: True},
        status=action_states.READY,
        created_at=now,
    )


def _insert(parts: Parts, action: Action, now: datetime.datetime) -> None:
    with parts.store.transaction() as tx:
        (action_id,) = tx.insert_actions([action], [])
        tx.add_events([created_event(action.evolve(id=action_id), None, now)])


def stop(parts: Parts, context: ActionContext, bounds: Sequence[Bound]) -> None:
    """Have clusters not looked after any more.

    What runs at this moment finds that out by itself, before it does anything else.
    """
    for bound in bounds:
        stopped = functools.partial(_stop, parts, bound, context.now())
        patiently(context, 'The health of a cluster', stopped)


def _stop(parts: Parts, bound: Bound, now: datetime.datetime) -> None:
    try:
        found = parts.store.get_action(action_of(bound))
    except exceptions.NotFound:
        return
    with parts.store.transaction() as tx:
        row = tx.lock_actions([found.id or 0]).get(found.id or 0)
        if row is None or row.status != action_states.READY or row.owner is not None:
            return
        after = row.evolve(
            status=action_states.CANCELLED,
            status_message=REFUSED,
            end_time=now,
            updated_at=now,
        )
        if tx.change_actions([ActionChange(row, after)]):
            tx.add_events([action_event(row, after, None, now)])
