"""The actions on nodes.

The classes are entry points, so that plans are validated against them. Only a worker
creates instances that can execute, see `engine.action_types`.
"""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import capacity
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.outcomes import Derived, Done, Outcome
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE
from watcherlite.engine import affinity
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import lifecycle_hooks, node_steps
from watcherlite.engine.clusters.actions.cluster_action import ClusteringAction
from watcherlite.engine.clusters.actions.cluster_actions import (
    FENCE_COMPUTE,
    recovery_inputs,
)
from watcherlite.engine.clusters.actions.node_check import NodeCheckRun
from watcherlite.engine.clusters.actions.node_steps import (
    NodeSteps,
    NodeTarget,
    failed,
    rejected,
)
from watcherlite.engine.clusters.node_record import INCOMPLETE_UPDATE, may_exist
from watcherlite.engine.clusters.profile_types import operation_parameters
from watcherlite.engine.clusters.projection.transitions import COUNTED, UNCHANGED
from watcherlite.engine.clusters.requests.unique_names import check_rename
from watcherlite.execution.coroutines.steps import steps_of_core
from watcherlite.plugins.base import ActionContext, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

GONE = 'The node is not there any more'


class NodeAction(ClusteringAction, abc.ABC):
    """An action on a node.

    :cvar obeys_locks: whether the lock of a stack blocks it
    """

    obeys_locks: ClassVar[bool] = False
    _worker_lost = False

    def is_applied(self, context: ActionContext) -> bool:
        """Return False if the action is safe to repeat; raise Invalid if it is not.

        A repeated action finds what was done, or does it twice without harm.
        """
        self._worker_lost = True
        target = NodeTarget.load(self.parts, context)
        if target is not None and self.is_unsafe(target):
            raise exceptions.Invalid(node_steps.UNKNOWN)
        return False

    def is_unsafe(self, target: NodeTarget) -> bool:
        """Return whether repeating the action on a node may do harm."""
        return False

    def can_repeat(self, target: NodeTarget) -> bool:
        """Return whether a running operation is safe to repeat."""
        return self.idempotent

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        return token is not None and 'handler' in token

    @steps_of_core
    async def execute(self, context: ActionContext) -> Outcome:
        """Start the action, or forward it to the host of the node."""
        target = NodeTarget.load(self.parts, context, self._worker_lost)
        if target is None:
            return self.target_deleted()
        store, hosts = self.parts.store, self.parts.hosts
        if not self._worker_lost:
            elsewhere = affinity.forward(store, context, hosts, target.host)
            if elsewhere is not None:
                return elsewhere
        lock = target.blocking_lock() if self.obeys_locks else None
        if lock is not None:
            return self.blocked(target, lock)
        return await self.start(target)

    @steps_of_core
    async def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Continue with the token."""
        target = NodeTarget.load(self.parts, context)
        if target is None:
            return self.target_deleted()
        try:
            return await self.advance(target, token)
        except exceptions.StateUnknown:
            there = affinity.await_host(
                self.parts.store,
                context,
                self.parts.hosts,
                target.host,
                token,
                self.can_repeat(target),
            )
            if there is None:
                raise
            return there

    @steps_of_core
    async def cancel(self, context: ActionContext, token: Any) -> None:
        target = NodeTarget.load(self.parts, context)
        if target is not None:
            await self.steps(target).cancel(token)

    def target_deleted(self) -> Outcome:
        """Return the outcome for a deleted node."""
        return failed(GONE)

    def blocked(self, target: NodeTarget, lock: str) -> Outcome:
        """Return the outcome for a node under the lock of a stack."""
        return rejected(f'{lock}.')

    @abc.abstractmethod
    async def start(self, target: NodeTarget) -> Outcome:
        """Start the action on a node."""

    async def advance(self, target: NodeTarget, token: Any) -> Outcome:
        """Continue the action on a node."""
        return await self.steps(target).advance(token)

    def steps(self, target: NodeTarget) -> NodeSteps:
        """Return the steps of the action."""
        return NodeSteps(target)


class NodeCreate(NodeAction):
    """Creates the resource of a node."""

    kind = action_types.DEFINITIONS[action_types.NODE_CREATE]

    def is_unsafe(self, target: NodeTarget) -> bool:
        """Return whether a created resource cannot be found again."""
        handler = target.handler
        return not handler.idempotent and not handler.supports('find')

    def can_repeat(self, target: NodeTarget) -> bool:
        """Return whether a created resource can be found again."""
        return not self.is_unsafe(target)

    async def start(self, target: NodeTarget) -> Outcome:
        """Count the node in the size of its cluster, and create its resource."""
        if target.exists:
            # A worker of another host could not poll the operation.
            target = dataclasses.replace(target, lost=True)
        refusal = _count(target, +1)
        if refusal is not None:
            return failed(refusal)
        return await self.steps(target).run(node_steps.CREATE)


class NodeDelete(NodeAction):
    """Deletes a node and its resource."""

    kind = action_types.DEFINITIONS[action_types.NODE_DELETE]
    obeys_locks = True
    idempotent = True

    def target_deleted(self) -> Outcome:
        return Done({})

    async def start(self, target: NodeTarget) -> Outcome:
        """Remove the node from the size of its cluster, and delete it after its grace.

        A lifecycle hook is called after the grace period.
        """
        refusal = _count(target, -1)
        if refusal is not None:
            return rejected(refusal)
        if not may_exist(target.node):
            return Done({})
        steps, data = self.steps(target), target.action.data
        grace = (data.get('deletion') or {}).get('grace_period') or 0
        if target.is_request:
            within = target.action.within or ''
            hook = lifecycle_hooks.hook_action(data, target.node, within, grace)
            if hook is not None:
                return Derived((hook,))
            if grace > 0:
                return steps.pause(float(grace), node_steps.DELETE)
        return _without_trace(await steps.run(node_steps.DELETE))

    @steps_of_core
    async def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        target = NodeTarget.load(self.parts, context)
        if target is None:
            return self.target_deleted()
        for result in results:
            if result.status != action_states.SUCCEEDED:
                why = result.status_message or result.status
                return rejected(f'The node stays, because of its hook: {why}')
        return _without_trace(await self.steps(target).run(node_steps.DELETE))

    def overdue(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Keep the node: its lifecycle hook was not completed in time."""
        return rejected('The node stays: its timeout expired before the hook completed')

    async def advance(self, target: NodeTarget, token: Any) -> Outcome:
        return _without_trace(await self.steps(target).advance(token))


def _without_trace(outcome: Outcome) -> Outcome:
    """Return the outcome without outputs: the row keeps its last values."""
    return Done({}) if isinstance(outcome, Done) else outcome


class NodeUpdate(NodeAction):
    """Updates a node; with a new profile also its resource."""

    kind = action_types.DEFINITIONS[action_types.NODE_UPDATE]

    def is_unsafe(self, target: NodeTarget) -> bool:
        """Return whether an in-place update may have happened."""
        return bool(target.action.inputs.get('new_profile_id')) and (
            not target.handler.idempotent
        )

    async def start(self, target: NodeTarget) -> Outcome:
        """Update the row, and the resource if the profile requires it."""
        try:
            target.retry(lambda: _check_name(target))
        except exceptions.Invalid as error:
            return rejected(str(error))
        profile = _new_profile(target)
        if profile is None:
            return Done({action_types.NODE: _own_values(target)})
        lock = target.blocking_lock()
        if lock is not None:
            return self.blocked(target, lock)
        return await self._update_resource(target, profile)

    async def _update_resource(self, target: NodeTarget, profile: Profile) -> Outcome:
        """Update the resource to a profile, or replace it."""
        if profile.handler != target.node.handler:
            return rejected(
                f'Node {target.node.name} has a different profile type than profile '
                f'{profile.name}'
            )
        if not target.exists and target.node.kept.get(INCOMPLETE_UPDATE):
            # An earlier update deleted the resource and could not recreate it.
            old = [node_steps.DELETE] if may_exist(target.node) else []
            return await self.steps(target).run(*old, node_steps.CREATE)
        if not target.exists:
            return rejected(
                f'Node {target.node.name} has no resource to update: it was never '
                'created, or was deleted; recover the node first'
            )
        try:
            desired = target.desired_properties(profile)
            decided = target.handler.decide(target.last_properties(), desired, False)
        except exceptions.Invalid as error:
            return rejected(str(error))
        if decided == KEEP and target.node.kept.get(INCOMPLETE_UPDATE):
            # An earlier update did not finish: its effect is unknown.
            decided = UPDATE if target.handler.supports('update') else REPLACE
        if decided == KEEP:
            updated = {'profile_id': profile.id, 'properties': desired}
            fields = {**updated, **_own_values(target), UNCHANGED: True}
            return Done({action_types.NODE: fields})
        if decided == UPDATE:
            return await self.steps(target).run(node_steps.UPDATE)
        return await self.steps(target).run(node_steps.DELETE, node_steps.CREATE)

    def steps(self, target: NodeTarget) -> NodeSteps:
        return NodeSteps(
            target, profile=_new_profile(target), ended=_own_values(target)
        )


class NodeJoin(NodeAction):
    """Adds a node to a cluster; its resource learns it."""

    kind = action_types.DEFINITIONS[action_types.NODE_JOIN]
    idempotent = True

    async def start(self, target: NodeTarget) -> Outcome:
        uuid = target.action.inputs['cluster_id']
        cluster = target.retry(lambda: self.parts.cluster(uuid))
        if target.node.cluster_id not in (None, cluster.id):
            return failed(f'Node {target.node.name} is in another cluster')
        if not target.exists or not target.handler.supports(node_steps.JOIN):
            return Done({})
        return await self.steps(target).run(node_steps.JOIN)

    def steps(self, target: NodeTarget) -> NodeSteps:
        uuid = target.action.inputs['cluster_id']
        cluster = target.retry(lambda: self.parts.cluster(uuid))
        return NodeSteps(dataclasses.replace(target, cluster=cluster))


class NodeLeave(NodeAction):
    """Removes a node from its cluster; its resource learns it."""

    kind = action_types.DEFINITIONS[action_types.NODE_LEAVE]
    idempotent = True

    def target_deleted(self) -> Outcome:
        return Done({})

    async def start(self, target: NodeTarget) -> Outcome:
        if not target.exists or not target.handler.supports(node_steps.LEAVE):
            return Done({})
        return await self.steps(target).run(node_steps.LEAVE)


class NodeCheck(NodeAction):
    """Checks the resource of a node; an unhealthy node is no failure."""

    kind = action_types.DEFINITIONS[action_types.NODE_CHECK]
    obeys_locks = True
    idempotent = True

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        return True

    def blocked(self, target: NodeTarget, lock: str) -> Outcome:
        """Keep the status of the node."""
        return Done({'status': target.node.status, action_types.REASON: f'{lock}.'})

    async def start(self, target: NodeTarget) -> Outcome:
        return await self._checking(target).execute()

    async def advance(self, target: NodeTarget, token: Any) -> Outcome:
        return await self._checking(target).advance(token)

    @steps_of_core
    async def cancel(self, context: ActionContext, token: Any) -> None:
        target = NodeTarget.load(self.parts, context)
        if target is not None:
            await self._checking(target).cancel(token)

    def _checking(self, target: NodeTarget) -> NodeCheckRun:
        return NodeCheckRun(target, target.action.inputs.get('detection'))


class NodeRecover(NodeAction):
    """Repairs or recreates the resource of a node."""

    kind = action_types.DEFINITIONS[action_types.NODE_RECOVER]
    obeys_locks = True

    def waits_outside(self, inputs: Mapping[str, Any], token: Any) -> bool:
        """Return whether it starts with a check, or the handler is being polled."""
        checks = token is None and bool(inputs.get('check'))
        return checks or super().waits_outside(inputs, token)

    def is_unsafe(self, target: NodeTarget) -> bool:
        """Return whether a reboot or rebuild may have started."""
        recreates = _recovery(target)['operation'] == action_types.RECREATE
        return not recreates and not target.handler.idempotent

    async def start(self, target: NodeTarget) -> Outcome:
        """Check the node first if requested, and recover it."""
        operation = _recovery(target)['operation']
        looks = [node_steps.LOOK] if target.action.inputs.get('check') else []
        if not target.exists:
            looks = []
        try:
            steps = self.steps(target)
        except exceptions.Invalid as error:
            return rejected(str(error))
        if operation == action_types.RECREATE:
            old = [node_steps.DELETE] if may_exist(target.node) else []
            return await steps.run(*looks, *old, node_steps.CREATE)
        if operation.lower() not in target.handler.operations:
            return rejected(
                f'{operation} is not supported by the profile type '
                f'{target.profile.type}; {action_types.RECREATE} is, by all of them'
            )
        return await steps.run(*looks, node_steps.OPERATE)

    def steps(self, target: NodeTarget) -> NodeSteps:
        desired = _recovery(target)
        asked: tuple[str, Mapping[str, Any]] = ('', {})
        name = desired['operation'].lower()
        if name in target.handler.operations:
            given = desired.get('operation_params')
            asked = name, operation_parameters(target.handler, name, given)
        return NodeSteps(
            target,
            operation=asked,
            ended={'data': {'recovery': desired['operation']}},
            outputs={'operation': desired['operation']},
            delete_timeout=desired.get('delete_timeout'),
            fences=bool((desired.get('operation_params') or {}).get(FENCE_COMPUTE)),
            force=bool(desired.get('force_recreate')),
        )


class NodeOperation(NodeAction):
    """Runs an operation of the profile on a node."""

    kind = action_types.DEFINITIONS[action_types.NODE_OPERATION]
    obeys_locks = True

    def is_unsafe(self, target: NodeTarget) -> bool:
        """Return whether the operation may have started."""
        return not target.handler.idempotent

    async def start(self, target: NodeTarget) -> Outcome:
        if not target.exists:
            return rejected(
                f'Node {target.node.name} has no resource for an operation: it was '
                'never created, or was deleted; recover the node first'
            )
        try:
            steps = self.steps(target)
        except exceptions.Invalid as error:
            return rejected(str(error))
        return await steps.run(node_steps.OPERATE)

    def steps(self, target: NodeTarget) -> NodeSteps:
        inputs = target.action.inputs
        name, given = inputs['operation'], inputs.get('params')
        asked = name, operation_parameters(target.handler, name, given)
        return NodeSteps(target, operation=asked, outputs={'operation': name})


#: Name of the entry point -> class.
TYPES: Mapping[str, type[NodeAction]] = {
    kind.kind.name: kind
    for kind in (
        NodeCreate,
        NodeDelete,
        NodeUpdate,
        NodeJoin,
        NodeLeave,
        NodeCheck,
        NodeRecover,
        NodeOperation,
    )
}


def _own_values(target: NodeTarget) -> dict[str, Any]:
    """Return the new values of an update that concern only the row."""
    names = ('name', 'role', 'metadata', 'tainted')
    inputs = target.action.inputs
    return {name: inputs[name] for name in names if name in inputs}


def _check_name(target: NodeTarget) -> None:
    """Raise BadRequest for a name that is in use."""
    name = target.action.inputs.get('name')
    if name is None or name == target.node.name:
        return
    store, unique = target.parts.store, target.parts.limits.unique_names
    key = store.get_action(target.action.uuid).id
    with store.transaction() as tx:
        check_rename(tx, target.node, name, key, unique)


def _new_profile(target: NodeTarget) -> Profile | None:
    uuid = target.action.inputs.get('new_profile_id')
    if not uuid:
        return None
    tenant = target.node.owner.tenant
    return target.retry(lambda: target.parts.store.find_object(Profile, uuid, tenant))


def _recovery(target: NodeTarget) -> Mapping[str, Any]:
    """Return the inputs of the recovery that a policy or the request specifies.

    A node without a resource can only be recreated.
    """
    desired = recovery_inputs(target.action.inputs, target.action.data)
    if not target.exists:
        desired |= {'operation': action_types.RECREATE, 'operation_params': {}}
    return {'operation': action_types.RECREATE, **desired}


# sizes


def _count(target: NodeTarget, by: int) -> str | None:
    """Add a node to the size of its cluster, or remove it.

    Only for requests on nodes: actions on clusters set the size themselves. Actions on
    several nodes of a cluster run concurrently; the row lock of the cluster serialises
    the count.

    :returns: the reason why the cluster cannot have this size; None if it can
    """
    uuid = target.action.within
    if uuid is None or not target.is_request:
        return None

    def count_operation() -> str | None:
        with target.parts.store.transaction() as tx:
            cluster = tx.lock_clusters([uuid]).get(uuid)
            if cluster is None or cluster.deleted_at is not None:
                return None
            nodes = {node.uuid: node for node in tx.lock_nodes_of(cluster.id)}
            node = nodes.get(target.node.uuid)
            if node is None or node.data.get(COUNTED) == target.action.uuid:
                return None
            refusal = _rejection_reason(target, cluster, list(nodes.values()), by)
            if refusal is None:
                data = {**node.data, COUNTED: target.action.uuid}
                tx.save_nodes([node.evolve(data=data)])
                if by > 0:
                    grown = cluster.desired_capacity + 1
                    tx.save_clusters([cluster.evolve(desired_capacity=grown)])
        return refusal

    return target.retry(count_operation)


def _rejection_reason(
    target: NodeTarget, cluster: Cluster, nodes: list[Node], by: int
) -> str | None:
    if by > 0:
        desired = cluster.desired_capacity + 1
    else:
        # A cluster above its maximum may lose a node.
        cluster = cluster.evolve(max_size=-1)
        leaving = sum(
            node.status == states.DELETING and node.data.get(COUNTED) is not None
            for node in nodes
        )
        desired = len(nodes) - leaving - 1
    most = target.parts.limits.nodes
    try:
        capacity.check_sizes(cluster, desired, strict=True, most=most)
    except exceptions.Invalid as error:
        return str(error)
    return None
