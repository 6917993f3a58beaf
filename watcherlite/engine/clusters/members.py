"""What users do with nodes; see `operations`."""

from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, events
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.engine.clusters import (
    actions,
    adopting,
    asking,
    deleting,
    guarding,
    marking,
)
from watcherlite.engine.clusters import inputs as making
from watcherlite.engine.clusters.asking import Adoption, Asker, Begun, NewNode
from watcherlite.engine.clusters.requesting import OnNode, Requests, Values, Wish
from watcherlite.execution.conflicts import again_on, again_on_conflict

#: What of a node a request may change.
CHANGES = ('name', 'profile_id', 'role', 'metadata', 'tainted')


class NodeOperations(Requests):
    """The operations on nodes; a name is a uuid, a name or a short id.

    With `wait` an action is queued where others are under way; else that is refused.
    """

    def create(self, new: NewNode, by: Asker, *, wait: bool = False) -> Begun[Node]:
        """Store a node as INIT, in a cluster or in none, and have it made.

        :raises BadRequest, Invalid: what is wrong with it
        """
        name = asking.name_of(new.name)
        profile = self.meant(Profile, new.profile, by)
        node = Node(
            uuid=events.new_uuid(),
            name=name,
            owner=by.owner,
            profile_id=profile.id or 0,
            handler=profile.handler,
            role=asking.role_of(new.role),
            metadata=asking.mapping_of(new.metadata, 'metadata'),
            status_reason='Initializing',
            init_at=self.clock.now(),
        )
        wish = Wish(actions.NODE_CREATE, by, wait)
        if not new.cluster:
            return self._insert(node, wish)
        cluster = self.meant(Cluster, new.cluster, by)
        if profile.type != self.parts.profile(cluster.profile_id).type:
            raise exceptions.BadRequest(
                'Node and cluster have different profile type, operation aborted.'
            )
        return self._insert_into(cluster, node, wish)

    @again_on_conflict
    def _insert(self, node: Node, wish: Wish) -> Begun[Node]:
        with self.store.transaction() as tx:
            self.check_unique(tx, Node, node.name, node.owner.tenant)
            stored = tx.insert_noun(node)
            begun = self.insert(tx, wish, stored, None, {}, self.clock.now())
        self.tell(begun)
        return Begun(begun.uuid, stored)

    @again_on(exceptions.StoreConflict)
    def _insert_into(self, found: Cluster, node: Node, wish: Wish) -> Begun[Node]:
        now = self.clock.now()
        with self.store.transaction() as tx:
            row = guarding.locked_cluster(tx, found.uuid)
            most = self.limits.nodes
            size = row.desired_capacity + 1
            capacity.check_sizes(row, size, strict=True, most=most)
            if not wish.wait:
                guarding.check_idle(tx, wish.action_type, node, row, now)
            self.check_unique(tx, Node, node.name, row.owner.tenant)
            # Its action counts it among those that the cluster is to have.
            tx.save_clusters([row.evolve(next_index=row.next_index + 1)])
            stored = tx.insert_noun(
                node.evolve(cluster_id=row.id, index=row.next_index, owner=row.owner)
            )
            begun = self.insert(tx, wish, stored, row, {}, now)
        self.tell(begun)
        return Begun(begun.uuid, stored)

    def update(
        self, name: str, by: Asker, changes: Values, *, wait: bool = False
    ) -> Begun[Node]:
        """Change a node; with another profile also what it stands for.

        :param changes: of CHANGES
        :raises BadRequest: nothing would change, or not to this profile
        """
        asking.known_keys(changes, CHANGES)
        profile = None
        if changes.get('profile_id') is not None:
            profile = self.meant(Profile, str(changes['profile_id']), by)
        wanted = _wanted(changes)

        def ask(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            inputs = {k: v for k, v in wanted.items() if v != getattr(row, k)}
            if profile is not None and profile.id != row.profile_id:
                if profile.type != self.parts.profile(row.profile_id).type:
                    raise exceptions.BadRequest(
                        'Cannot update a node to a different profile type, operation '
                        'aborted.'
                    )
                inputs['new_profile_id'] = profile.uuid
            if not inputs:
                raise exceptions.BadRequest('No property needs an update.')
            if 'name' in inputs:
                named = row.owner.tenant, row.uuid
                self.check_unique(tx, Node, inputs['name'], *named)
            return inputs

        return self._on(actions.NODE_UPDATE, name, by, ask, wait)

    def delete(self, name: str, by: Asker, *, force: bool = False) -> Begun[Node]:
        """Delete a node; one that is being deleted is left to that.

        What goes on with it ends first.

        :param force: whatever its status is, and what goes on is cancelled
        :raises ActionInProgress: it is changed, and that is not to be cancelled
        """
        wish = Wish(actions.NODE_DELETE, by, wait=True)
        return deleting.delete_node(self, name, wish, force)

    def check(
        self,
        name: str,
        by: Asker,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Begun[Node]:
        """Have a node looked at."""
        kind = actions.NODE_CHECK
        inputs = making.checking(self.parts, kind, params or {})
        return self._on(kind, name, by, lambda tx, cluster, row: inputs, wait)

    def recover(
        self,
        name: str,
        by: Asker,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Begun[Node]:
        """Have a node recovered.

        :param params: operation, operation_params, check, delete_timeout,
            force_recreate
        """
        kind = actions.NODE_RECOVER

        def ask(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.recovery(self.parts, kind, profile, params or {})

        return self._on(kind, name, by, ask, wait)

    def operate(
        self,
        name: str,
        by: Asker,
        operation: Any,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Begun[Node]:
        """Have a node do an operation of its profile."""
        given = asking.mapping_of(params, 'params')

        def ask(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.operating(self.parts, profile, str(operation), given)

        wish = Wish(actions.NODE_OPERATION, by, wait, operation=str(operation))
        return self.on_node(name, wish, ask)

    def mark_unhealthy(
        self, name: str, by: Asker, unhealthy: Any = True, reason: Any = None
    ) -> Node:
        """Say how a node is, which the system cannot see.

        :raises ResourceIsLocked, ActionConflict: it, or its cluster, is changed
        """
        flag = asking.flag_of(unhealthy, 'mark_unhealthy')
        return marking.mark(self, name, by, flag, reason)

    def adopt(self, wanted: Adoption, by: Asker) -> Node:
        """Make a node, and its profile, of something that is there."""
        return adopting.adopt(self, wanted, by)

    def preview(self, wanted: Adoption, by: Asker) -> dict[str, Any]:
        """Return the spec of the profile that it would have; changes nothing."""
        return adopting.preview(self, wanted, by)

    def _on(
        self, action_type: str, name: str, by: Asker, ask: OnNode, wait: bool
    ) -> Begun[Node]:
        return self.on_node(name, Wish(action_type, by, wait), ask)


def _wanted(changes: Values) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if changes.get('name') is not None:
        wanted['name'] = asking.name_of(changes['name'])
    if changes.get('role') is not None:
        wanted['role'] = asking.role_of(changes['role'])
    if changes.get('metadata') is not None:
        wanted['metadata'] = asking.mapping_of(changes['metadata'], 'metadata')
    if changes.get('tainted') is not None:
        wanted['tainted'] = asking.flag_of(changes['tainted'], 'tainted')
    return wanted
