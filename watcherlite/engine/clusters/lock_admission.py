"""Stack locks on clusters and nodes (spec 004).

A node may be a stack, or share a resource with one.
"""

from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.query import Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.profile_types import STACK
from watcherlite.engine.plan_scope import PlanScope
from watcherlite.engine.stacks import lock_admission as of_stacks
from watcherlite.engine.stacks.tree import StackTree, covering_lock, inner_lock
from watcherlite.states import stack as states

# Prefixes of targets of actions in plans
CLUSTER = 'cluster:'
NODE = 'node:'


class NodeLocks:
    """Finds the stack locks that apply to nodes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def on_cluster(self, cluster: Cluster) -> str | None:
        """Return the text of a lock on a node of a cluster; None if there is none."""
        return self.on_nodes(self._store.nodes_of([cluster.id]))

    def on_nodes(self, nodes: Sequence[Node]) -> str | None:
        """Return the text of a lock on one of these nodes; None if there is none."""
        made = [node for node in nodes if node.physical_id is not None]
        for node in made:
            if node.handler == STACK:
                lock = self._on_stack(node)
                if lock is not None:
                    return f'Node {node.name} is a stack: {lock}'
        return self._on_resources([node for node in made if node.handler != STACK])

    def _on_stack(self, node: Node) -> str | None:
        try:
            stack = self._store.find_stack(node.physical_id or '', node.owner.tenant)
        except exceptions.NotFound:
            return None
        tree = StackTree.read(self._store, stack)
        return covering_lock(tree) or inner_lock(tree)

    def _on_resources(self, nodes: Sequence[Node]) -> str | None:
        """Return the text of a lock on a stack that shares a resource with a node."""
        for tenant in sorted({node.owner.tenant for node in nodes}):
            own = {
                (node.handler, node.physical_id): node
                for node in nodes
                if node.owner.tenant == tenant
            }
            # Few stacks are locked, and most projects have none.
            query = Query(
                {'action': [states.LOCK, states.UNLOCK]}, nested=True, tenant=tenant
            )
            locked = {s.stack.id: s.stack for s in self._store.list_stacks(query)}
            rows = self._store.list_resources(list(locked)) if locked else []
            for row in rows:
                node = own.get((row.type, row.physical_id))
                if node is None:
                    continue
                stack = locked[row.stack_id]
                lock = covering_lock(StackTree.read(self._store, stack))
                if lock is not None:
                    return f'Node {node.name} is resource {row.name} of a stack: {lock}'
        return None


class PartLockAdmission:
    """Implements `ports.AdmissionCheck` for the parts of stacks and clusters."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._locks = NodeLocks(store)
        self._of_stacks = of_stacks.StackLockAdmission(store)
        self._scope = PlanScope(store)

    def blocking_reason(self, action: Action) -> str | None:
        """Return why an action may not start; None if it may.

        Reasons are the lock of a stack, or an object that the creator of the plan may
        not act on. Actions on clusters and nodes check locks themselves.
        """
        target = action.target or ''
        if action.plan_id is None:
            return None
        refusal = self._scope.rejection_reason(action)
        if refusal is not None or action.action_type in action_types.DEFINITIONS:
            return refusal
        lock = None
        if target.startswith(CLUSTER):
            uuid = target.removeprefix(CLUSTER)
            cluster = self._store.clusters_by_uuid([uuid]).get(uuid)
            lock = self._locks.on_cluster(cluster) if cluster is not None else None
        elif target.startswith(NODE):
            uuid = target.removeprefix(NODE)
            node = self._store.nodes_by_uuid([uuid]).get(uuid)
            lock = self._locks.on_nodes([node]) if node is not None else None
        else:
            return self._of_stacks.blocking_reason(action)
        return f'{lock}.' if lock is not None else None
