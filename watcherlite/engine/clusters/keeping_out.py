"""What a lock on a stack means for clusters and nodes (spec 004).

A node may be a stack, or may have taken over a resource of one.
"""

from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.stacking import StackQuery
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import actions
from watcherlite.engine.clusters.profile_types import STACK
from watcherlite.engine.stacks import keeping_out as of_stacks
from watcherlite.engine.stacks.guarding import Tree
from watcherlite.engine.stacks.locks import lock_inside, lock_on
from watcherlite.states import stack as states

# How the target of an action of a plan begins that is about one of these
CLUSTER = 'cluster:'
NODE = 'node:'


class Locks:
    """Finds the locks of stacks that nodes are under."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def on_cluster(self, cluster: Cluster) -> str | None:
        """Return which lock a node of a cluster is under, in words; None: none is."""
        return self.on_nodes(self._store.nodes_of([cluster.id or 0]))

    def on_nodes(self, nodes: Sequence[Node]) -> str | None:
        """Return which lock one of these nodes is under, in words; None: none is."""
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
        stacks = self._store.stack_tree(stack.root_id or 0)
        tree = Tree.of(stack.id or 0, stacks)
        return lock_on(tree) or lock_inside(tree)

    def _on_resources(self, nodes: Sequence[Node]) -> str | None:
        """Return the lock of the stack that has the same thing as a node."""
        for tenant in sorted({node.owner.tenant for node in nodes}):
            own = {
                (node.handler, node.physical_id): node
                for node in nodes
                if node.owner.tenant == tenant
            }
            # There are few locked stacks, and most projects have none.
            query = StackQuery(
                tenant, filters={'action': [states.LOCK, states.UNLOCK]}, nested=True
            )
            locked = {s.stack.id or 0: s.stack for s in self._store.list_stacks(query)}
            rows = self._store.list_resources(list(locked)) if locked else []
            for row in rows:
                node = own.get((row.type, row.physical_id))
                if node is None:
                    continue
                stack = locked[row.stack_id]
                tree = self._store.stack_tree(stack.root_id or 0)
                lock = lock_on(Tree.of(stack.id or 0, tree))
                if lock is not None:
                    return f'Node {node.name} is resource {row.name} of a stack: {lock}'
        return None


class KeepingOut:
    """Implements `runner.KeepOut` for all that stacks and clusters are made of."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._locks = Locks(store)
        self._of_stacks = of_stacks.KeepingOut(store)

    def hindrance(self, action: Action) -> str | None:
        """Return the lock that an action is not to begin under; None: there is none.

        The action types for clusters and nodes look for themselves.
        """
        target = action.target or ''
        if action.plan_id is None or action.action_type in actions.KINDS:
            return None
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
            return self._of_stacks.hindrance(action)
        return f'{lock}.' if lock is not None else None
