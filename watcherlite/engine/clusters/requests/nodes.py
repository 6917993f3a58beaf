"""Operations on nodes."""

from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, events
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions.update_batches import is_outdated
from watcherlite.engine.clusters.requests import action_inputs as making
from watcherlite.engine.clusters.requests import (
    admission,
    adoption,
    deletion,
    health_marks,
    values,
)
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    NodeRequest,
    Values,
)
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    NewAdoption,
    NewNode,
    RequestContext,
)
from watcherlite.execution.retries import retry_on, retry_on_conflict

#: Fields that a request may change.
CHANGES = ('name', 'profile_id', 'role', 'metadata', 'tainted')


class NodeOperations(ClusterOperationBase):
    """The operations on nodes; a name is a uuid, a name or a short id.

    With `wait` an action is queued where others are under way; else that is refused.
    """

    def create(
        self, new: NewNode, by: RequestContext, *, wait: bool = False
    ) -> Accepted[Node]:
        """Store a node as INIT, in a cluster or in none, and have it made.

        :raises BadRequest, Invalid: what is wrong with it
        """
        name = values.parse_name(new.name)
        profile = self.resolve_reference(Profile, new.profile, by)
        node = Node(
            uuid=events.new_uuid(),
            name=name,
            owner=by.owner,
            profile_id=profile.id or 0,
            handler=profile.handler,
            role=values.parse_role(new.role),
            metadata=values.parse_mapping(new.metadata, 'metadata'),
            status_reason='Initializing',
            init_at=self.clock.now(),
        )
        request = ActionRequest(action_types.NODE_CREATE, by, wait)
        if not new.cluster:
            return self._insert(node, request)
        cluster = self.resolve_reference(Cluster, new.cluster, by)
        if profile.type != self.parts.profile(cluster.profile_id).type:
            raise exceptions.BadRequest(
                'Node and cluster have different profile type, operation aborted.'
            )
        return self._insert_into(cluster, node, request)

    @retry_on_conflict
    def _insert(self, node: Node, request: ActionRequest) -> Accepted[Node]:
        with self.store.transaction() as tx:
            self.check_unique(tx, Node, node.name, node.owner.tenant)
            stored = tx.insert_object(node)
            begun = self.insert_action(tx, request, stored, None, {}, self.clock.now())
        self.announce(begun)
        return Accepted(begun.uuid, stored)

    @retry_on(exceptions.StoreConflict)
    def _insert_into(
        self, found: Cluster, node: Node, request: ActionRequest
    ) -> Accepted[Node]:
        now = self.clock.now()
        with self.store.transaction() as tx:
            row = admission.lock_cluster(tx, found.uuid)
            most = self.limits.nodes
            size = row.desired_capacity + 1
            capacity.check_sizes(row, size, strict=True, most=most)
            if not (request.wait or self.is_scheduled(request, now)):
                admission.check_idle(tx, request.action_type, node, row, now)
            self.check_unique(tx, Node, node.name, row.owner.tenant)
            # Its action counts it among those that the cluster is to have.
            tx.save_clusters([row.evolve(next_index=row.next_index + 1)])
            stored = tx.insert_object(
                node.evolve(cluster_id=row.id, index=row.next_index, owner=row.owner)
            )
            begun = self.insert_action(tx, request, stored, row, {}, now)
        self.announce(begun)
        return Accepted(begun.uuid, stored)

    def update(
        self, name: str, by: RequestContext, changes: Values, *, wait: bool = False
    ) -> Accepted[Node]:
        """Change a node; with another profile also what it stands for.

        :param changes: of CHANGES
        :raises BadRequest: nothing would change, or not to this profile
        """
        values.check_known_keys(changes, CHANGES)
        profile = None
        if changes.get('profile_id') is not None:
            profile = self.resolve_reference(Profile, str(changes['profile_id']), by)
        wanted = _requested_changes(changes)

        def ask(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            inputs = {k: v for k, v in wanted.items() if v != getattr(row, k)}
            if profile is not None and is_outdated(row, profile):
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

        return self._request(action_types.NODE_UPDATE, name, by, ask, wait)

    def delete(
        self, name: str, by: RequestContext, *, force: bool = False
    ) -> Accepted[Node]:
        """Delete a node; one that is being deleted is left to that.

        What goes on with it ends first.

        :param force: whatever its status is, and what goes on is cancelled
        :raises ActionInProgress: it is changed, and that is not to be cancelled
        """
        request = ActionRequest(action_types.NODE_DELETE, by, wait=True)
        return deletion.delete_node(self, name, request, force)

    def check(
        self,
        name: str,
        by: RequestContext,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Node]:
        """Check a node."""
        kind = action_types.NODE_CHECK
        inputs = making.check(self.parts, kind, params or {})
        return self._request(kind, name, by, lambda tx, cluster, row: inputs, wait)

    def recover(
        self,
        name: str,
        by: RequestContext,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Node]:
        """Recover a node.

        :param params: operation, operation_params, check, delete_timeout,
            force_recreate
        """
        kind = action_types.NODE_RECOVER

        def ask(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.recover(self.parts, kind, profile, params or {})

        return self._request(kind, name, by, ask, wait)

    def operate(
        self,
        name: str,
        by: RequestContext,
        operation: Any,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Node]:
        """Run an operation of the profile on a node."""
        given = values.parse_mapping(params, 'params')

        def ask(tx: Transaction, cluster: Cluster | None, row: Node) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.operate(self.parts, profile, str(operation), given)

        request = ActionRequest(
            action_types.NODE_OPERATION, by, wait, operation=str(operation)
        )
        return self.on_node(name, request, ask)

    def mark_unhealthy(
        self, name: str, by: RequestContext, unhealthy: Any = True, reason: Any = None
    ) -> Node:
        """Mark a node as unhealthy, or remove the mark.

        :raises ResourceIsLocked, ActionConflict: it, or its cluster, is changed
        """
        flag = values.parse_boolean(unhealthy, 'mark_unhealthy')
        return health_marks.mark(self, name, by, flag, reason)

    def adopt(self, wanted: NewAdoption, by: RequestContext) -> Node:
        """Adopt an existing resource as a node with its own profile."""
        return adoption.adopt(self, wanted, by)

    def preview(self, wanted: NewAdoption, by: RequestContext) -> dict[str, Any]:
        """Return the spec of the profile that it would have; changes nothing."""
        return adoption.preview(self, wanted, by)

    def _request(
        self,
        action_type: str,
        name: str,
        by: RequestContext,
        ask: NodeRequest,
        wait: bool,
    ) -> Accepted[Node]:
        return self.on_node(name, ActionRequest(action_type, by, wait), ask)


def _requested_changes(changes: Values) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if changes.get('name') is not None:
        wanted['name'] = values.parse_name(changes['name'])
    if changes.get('role') is not None:
        wanted['role'] = values.parse_role(changes['role'])
    if changes.get('metadata') is not None:
        wanted['metadata'] = values.parse_mapping(changes['metadata'], 'metadata')
    if changes.get('tainted') is not None:
        wanted['tainted'] = values.parse_boolean(changes['tainted'], 'tainted')
    return wanted
