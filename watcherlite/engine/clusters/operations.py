"""What users do with clusters.

Each operation is check, change and insert, in one transaction that has locked the
cluster; a refusal changes nothing. What is asked for is one action, which a worker
executes: what the cluster is then, follows that action.
"""

from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, events
from watcherlite.domain.clusters import Bound, Cluster, Node, PolicyObject, Profile
from watcherlite.engine.clusters import actions, asking, deleting, guarding
from watcherlite.engine.clusters import inputs as making
from watcherlite.engine.clusters.asked_actions import ActionOperations
from watcherlite.engine.clusters.asking import Asker, Begun, NewCluster
from watcherlite.engine.clusters.members import NodeOperations
from watcherlite.engine.clusters.parts import Parts
from watcherlite.engine.clusters.policy_objects import PolicyOperations
from watcherlite.engine.clusters.profiles import ProfileOperations
from watcherlite.engine.clusters.receivers import ReceiverOperations
from watcherlite.engine.clusters.requesting import OnCluster, Requests, Values, Wish
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.states import cluster as states

#: What of a cluster a request may change.
CHANGES = ('name', 'profile_id', 'metadata', 'timeout', 'profile_only', 'config')


class ClusterOperations(Requests):
    """The operations on clusters, and where those on all the rest are.

    A name is a uuid, a name or a short id. With `wait` an action is queued where
    others are under way; else that is refused (ResourceIsLocked, ActionConflict).

    :ivar nodes, profiles, policies, receivers: operations on these
    :ivar actions: signals, and actions that users define
    :param signal: (uuid of an action, signal): sends a signal to it and to all that
        it derived
    """

    def __init__(
        self, parts: Parts, clock: Clock, signal: Callable[[str, str], Any]
    ) -> None:
        super().__init__(parts, clock, signal)
        self.profiles = ProfileOperations(parts, clock, signal)
        self.policies = PolicyOperations(parts, clock, signal)
        self.nodes = NodeOperations(parts, clock, signal)
        self.actions = ActionOperations(parts, clock, signal)
        self.receivers = ReceiverOperations(parts, clock, signal, self.actions)

    def create(self, new: NewCluster, by: Asker) -> Begun[Cluster]:
        """Store a cluster as INIT and have it made.

        :raises BadRequest, Invalid: what is wrong with it
        :raises OverQuota: the project has as many as it may have
        """
        name = asking.name_of(new.name)
        profile = self.meant(Profile, new.profile, by)
        sizes = self._sizes(new)
        cluster = Cluster(
            uuid=events.new_uuid(),
            name=name,
            owner=by.owner,
            profile_id=profile.id or 0,
            desired_capacity=sizes.desired_capacity,
            min_size=sizes.min_size,
            max_size=sizes.max_size,
            timeout=self._timeout(new.timeout),
            status_reason='Initializing',
            metadata=asking.mapping_of(new.metadata, 'metadata'),
            config=_config(new.config),
            init_at=self.clock.now(),
        )
        return self._insert(cluster, by)

    def _sizes(self, new: NewCluster) -> capacity.Sizes:
        low = asking.size_of(new.min_size, 'min_size', 0, self.limits.nodes)
        high = asking.size_of(new.max_size, 'max_size', -1, self.limits.nodes)
        desired = asking.size_of(
            new.desired_capacity, 'desired_capacity', 0, self.limits.nodes
        )
        low = 0 if low is None else low
        high = -1 if high is None else high
        wanted = low if desired is None else desired
        capacity.check_sizes(None, wanted, low, high, most=self.limits.nodes)
        return capacity.Sizes(wanted, low, high)

    def _timeout(self, value: Any) -> int:
        if value is None:
            return self.limits.timeout
        return asking.number_of(value, 'timeout', 0)

    def _check_room(self, tx: Transaction, tenant: str) -> None:
        most = self.limits.clusters
        if not most:
            return
        tx.lock_tenant(tenant)
        if tx.count_clusters(tenant) >= most:
            raise exceptions.OverQuota(
                f'Quota exceeded for resources: this project has {most} clusters, and '
                'may not have more; delete some.'
            )

    @again_on_conflict
    def _insert(self, cluster: Cluster, by: Asker) -> Begun[Cluster]:
        wish, tenant = Wish(actions.CLUSTER_CREATE, by), cluster.owner.tenant
        with self.store.transaction() as tx:
            self.check_unique(tx, Cluster, cluster.name, tenant)
            self._check_room(tx, tenant)
            stored = tx.insert_noun(cluster)
            begun = self.insert(tx, wish, stored, stored, {}, self.clock.now())
        self.tell(begun)
        return Begun(begun.uuid, stored)

    def update(
        self, name: str, by: Asker, changes: Values, *, wait: bool = False
    ) -> Begun[Cluster]:
        """Change a cluster; with another profile also its nodes.

        :param changes: of CHANGES
        :raises FeatureNotSupported: it is in ERROR
        :raises BadRequest: nothing would change, or not to this profile
        """
        asking.known_keys(changes, CHANGES)
        profile = None
        if changes.get('profile_id') is not None:
            profile = self.meant(Profile, str(changes['profile_id']), by)
        wanted = self._wanted(changes)
        only = changes.get('profile_only')
        only = None if only is None else asking.flag_of(only, 'profile_only')

        def ask(tx: Transaction, row: Cluster) -> Values:
            if row.status == states.ERROR:
                raise exceptions.FeatureNotSupported(
                    'Updating a cluster in error state is not supported.'
                )
            inputs = {k: v for k, v in wanted.items() if v != getattr(row, k)}
            if profile is not None and profile.id != row.profile_id:
                if profile.type != self.parts.profile(row.profile_id).type:
                    raise exceptions.BadRequest(
                        'Cannot update a cluster to a different profile type, '
                        'operation aborted.'
                    )
                inputs['new_profile_id'] = profile.uuid
                if only is not None:
                    inputs['profile_only'] = only
            if not inputs:
                raise exceptions.BadRequest('No property needs an update.')
            if 'name' in inputs:
                named = row.owner.tenant, row.uuid
                self.check_unique(tx, Cluster, inputs['name'], *named)
            return inputs

        return self.on_cluster(name, Wish(actions.CLUSTER_UPDATE, by, wait), ask)

    def _wanted(self, changes: Values) -> dict[str, Any]:
        wanted: dict[str, Any] = {}
        if changes.get('name') is not None:
            wanted['name'] = asking.name_of(changes['name'])
        if changes.get('metadata') is not None:
            wanted['metadata'] = asking.mapping_of(changes['metadata'], 'metadata')
        if changes.get('timeout') is not None:
            wanted['timeout'] = self._timeout(changes['timeout'])
        if changes.get('config') is not None:
            wanted['config'] = _config(changes['config'])
        return wanted

    def delete(self, name: str, by: Asker, *, force: bool = False) -> Begun[Cluster]:
        """Delete a cluster with its nodes; one that is being deleted is left to that.

        What goes on with it ends first.

        :param force: whatever its status is, and what goes on is cancelled
        :raises ActionInProgress: it is changed, and that is not to be cancelled
        """
        wish = Wish(actions.CLUSTER_DELETE, by, wait=True)
        return deleting.delete_cluster(self, name, wish, force)

    # members

    def add_nodes(
        self, name: str, by: Asker, nodes: Any, *, wait: bool = False
    ) -> Begun[Cluster]:
        """Add nodes that are in no cluster.

        :param nodes: uuids, names or short ids
        :raises NodeNotOrphan: some are in a cluster
        """
        wanted = self.members(nodes, by)

        def ask(tx: Transaction, row: Cluster) -> Values:
            rows = self._fitting(tx, wanted, row)
            size = guarding.size(tx, row) + len(rows)
            self._check_size(row, size)
            return {'nodes': [node.uuid for node in rows]}

        return self._on(actions.CLUSTER_ADD_NODES, name, by, ask, wait)

    def del_nodes(
        self,
        name: str,
        by: Asker,
        nodes: Any,
        destroy_after_deletion: Any = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Remove nodes, and delete them if that is asked for."""
        wanted = self.members(nodes, by)
        destroy = destroy_after_deletion
        destroy = False if destroy is None else destroy
        destroy = asking.flag_of(destroy, 'destroy_after_deletion')

        def ask(tx: Transaction, row: Cluster) -> Values:
            guarding.check_members(_living(tx, wanted), row)
            self._check_size(row, guarding.size(tx, row) - len(wanted))
            return {
                'count': len(wanted),
                'candidates': [node.uuid for node in wanted],
                'destroy_after_deletion': destroy,
            }

        return self._on(actions.CLUSTER_DEL_NODES, name, by, ask, wait)

    def replace_nodes(
        self, name: str, by: Asker, nodes: Any, *, wait: bool = False
    ) -> Begun[Cluster]:
        """Replace nodes by others that are in no cluster.

        :param nodes: of the cluster -> of none
        """
        if not isinstance(nodes, Mapping):
            raise exceptions.BadRequest('The data provided is not a map')
        if not nodes:
            raise exceptions.BadRequest('No nodes specified: a map of them is needed.')
        old = self.members(list(nodes), by)
        new = self.members(list(nodes.values()), by)
        if len(old) != len(nodes) or len(new) != len(nodes):
            raise exceptions.BadRequest('The same node is named several times.')

        def ask(tx: Transaction, row: Cluster) -> Values:
            guarding.check_members(
                _living(tx, old), row, 'Nodes to be replaced are not'
            )
            self._fitting(tx, new, row)
            pairs = zip(old, new, strict=True)
            return {'candidates': {left.uuid: come.uuid for left, come in pairs}}

        return self._on(actions.CLUSTER_REPLACE_NODES, name, by, ask, wait)

    def _fitting(self, tx: Transaction, nodes: list[Node], row: Cluster) -> list[Node]:
        """Return nodes as they are, if they may come to a cluster."""
        rows = _living(tx, nodes)
        profiles = self.store.nouns_by_id(Profile, {n.profile_id for n in rows})
        own = self.parts.profile(row.profile_id).type
        guarding.check_orphans(rows, [own], profiles)
        return rows

    # sizes

    def resize(
        self, name: str, by: Asker, params: Values | None = None, *, wait: bool = False
    ) -> Begun[Cluster]:
        """Change how many nodes a cluster has, or may have.

        :param params: adjustment_type, number, min_size, max_size, min_step, strict
        """
        inputs = making.resizing(params or {}, self.limits.nodes)

        def ask(tx: Transaction, row: Cluster) -> Values:
            wish = capacity.Adjustment(
                inputs.get('adjustment_type'),
                inputs.get('number', 0),
                inputs.get('min_size'),
                inputs.get('max_size'),
                inputs.get('min_step'),
                inputs['strict'],
            )
            capacity.resized(row, guarding.size(tx, row), wish, self.limits.nodes)
            return inputs

        return self._on(actions.CLUSTER_RESIZE, name, by, ask, wait)

    def scale(
        self,
        name: str,
        by: Asker,
        action: str,
        count: Any = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Make more nodes, or remove some.

        :param action: CLUSTER_SCALE_IN or CLUSTER_SCALE_OUT
        :param count: None: what a policy says, or one
        :raises ActionCooldown: a policy lets the cluster rest
        """
        inputs = making.scaling(action, count, self.limits.nodes)

        def ask(tx: Transaction, row: Cluster) -> Values:
            if inputs:
                shrinks = action == actions.CLUSTER_SCALE_IN
                change = -inputs['count'] if shrinks else inputs['count']
                self._check_size(row, guarding.size(tx, row) + change)
            return inputs

        return self._on(action, name, by, ask, wait)

    def _check_size(self, row: Cluster, size: int) -> None:
        capacity.check_sizes(row, size, strict=True, most=self.limits.nodes)

    # policies

    def attach_policy(
        self,
        name: str,
        by: Asker,
        policy: str,
        enabled: Any = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Attach a policy to a cluster."""
        meant = self.meant(PolicyObject, str(policy), by)
        inputs = {
            'policy_id': meant.uuid,
            'enabled': asking.flag_of(True if enabled is None else enabled, 'enabled'),
        }
        kind = actions.CLUSTER_ATTACH_POLICY
        return self._on(kind, name, by, lambda tx, row: inputs, wait)

    def detach_policy(
        self, name: str, by: Asker, policy: str, *, wait: bool = False
    ) -> Begun[Cluster]:
        """Detach a policy from a cluster; BadRequest if it is not attached."""
        inputs = {'policy_id': self.meant(PolicyObject, str(policy), by).uuid}
        kind = actions.CLUSTER_DETACH_POLICY
        return self._on(kind, name, by, self._attached(policy, inputs), wait)

    def update_policy(
        self,
        name: str,
        by: Asker,
        policy: str,
        enabled: Any = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Enable or disable a policy of a cluster; likewise."""
        inputs: dict[str, Any] = {
            'policy_id': self.meant(PolicyObject, str(policy), by).uuid
        }
        if enabled is None:
            raise exceptions.BadRequest('No property needs an update.')
        inputs['enabled'] = asking.flag_of(enabled, 'enabled')
        kind = actions.CLUSTER_UPDATE_POLICY
        return self._on(kind, name, by, self._attached(policy, inputs), wait)

    def _attached(self, policy: str, inputs: dict[str, Any]) -> OnCluster:
        def ask(tx: Transaction, row: Cluster) -> Values:
            bound = tx.bindings_of(row.id or 0)
            if all(one.policy.uuid != inputs['policy_id'] for one in bound):
                raise exceptions.BadRequest(
                    f"The policy '{policy}' is not attached to the specified cluster "
                    f"'{row.name}'."
                )
            return inputs

        return ask

    def binding(self, name: str, by: Asker, policy: str) -> tuple[Cluster, Bound]:
        """Return a cluster and what binds it to a policy; PolicyBindingNotFound."""
        cluster = self.store.find_noun(Cluster, name, by.tenant)
        missing = exceptions.PolicyBindingNotFound(
            f"The policy '{policy}' is not found attached to the specified cluster "
            f"'{name}'."
        )
        try:
            meant = self.store.find_noun(PolicyObject, policy, by.tenant)
        except exceptions.NotFound:
            raise missing from None
        key = cluster.id or 0
        for bound in self.store.bindings_of_clusters([key]).get(key, ()):
            if bound.policy.uuid == meant.uuid:
                return cluster, bound
        raise missing

    # health and operations

    def check(
        self,
        name: str,
        by: Asker,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Have all nodes of a cluster looked at."""
        kind = actions.CLUSTER_CHECK
        inputs = making.checking(self.parts, kind, params or {})
        return self._on(kind, name, by, lambda tx, row: inputs, wait)

    def recover(
        self,
        name: str,
        by: Asker,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Have the nodes recovered that are not ACTIVE.

        :param params: operation, operation_params, check, check_capacity
        """
        kind = actions.CLUSTER_RECOVER

        def ask(tx: Transaction, row: Cluster) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.recovery(self.parts, kind, profile, params or {})

        return self._on(kind, name, by, ask, wait)

    def operate(
        self,
        name: str,
        by: Asker,
        operation: Any,
        params: Values | None = None,
        filters: Values | None = None,
        *,
        wait: bool = False,
    ) -> Begun[Cluster]:
        """Have nodes of a cluster do an operation of their profile.

        :param filters: name, profile_id, status, role of the nodes
        """
        given = asking.mapping_of(params, 'params')

        def ask(tx: Transaction, row: Cluster) -> Values:
            profile = self.parts.profile(row.profile_id)
            inputs = making.operating(self.parts, profile, str(operation), given)
            members = tx.lock_nodes_of(row.id or 0)
            nodes = making.filtered(self.store, members, filters or {}, by)
            return {**inputs, 'nodes': [node.uuid for node in nodes]}

        wish = Wish(actions.CLUSTER_OPERATION, by, wait, operation=str(operation))
        return self.on_cluster(name, wish, ask)

    def collect(
        self, name: str, by: Asker, path: str, show: Callable[[Node], Values]
    ) -> list[tuple[str, Any]]:
        """Return (uuid of a node, value) of what a JSON path finds in the nodes.

        :param show: a node as users see it
        :raises BadRequest: it is no JSON path
        """
        cluster = self.store.find_noun(Cluster, name, by.tenant)
        nodes = self.store.nodes_of([cluster.id or 0])
        return making.collected(nodes, path, show)

    # what these have in common

    def _on(
        self, action_type: str, name: str, by: Asker, ask: OnCluster, wait: bool
    ) -> Begun[Cluster]:
        return self.on_cluster(name, Wish(action_type, by, wait), ask)


def _config(value: Any) -> dict[str, Any]:
    config = asking.mapping_of(value, 'config')
    written = config.get(capacity.NAME_FORMAT)
    if written is not None:
        capacity.check_name_format(str(written))
    return config


def _living(tx: Transaction, nodes: list[Node]) -> list[Node]:
    """Lock nodes and return them as they are; BadRequest if some are gone."""
    rows = tx.lock_nodes(sorted(node.uuid for node in nodes))
    gone = [
        node.uuid
        for node in nodes
        if node.uuid not in rows or rows[node.uuid].deleted_at is not None
    ]
    if gone:
        raise exceptions.BadRequest(f'Nodes not found: {gone}.')
    return [rows[node.uuid] for node in nodes]
