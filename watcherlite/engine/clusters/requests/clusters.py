"""Operations on clusters.

Each operation validates the request and inserts an action, in one transaction that
locks the cluster. A rejected request changes nothing. The row of the cluster is
projected from that action.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Any, Self

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, events
from watcherlite.domain.clusters import Bound, Cluster, Node, PolicyObject, Profile
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions.update_batches import is_outdated
from watcherlite.engine.clusters.requests import action_inputs as making
from watcherlite.engine.clusters.requests import admission, deletion, values
from watcherlite.engine.clusters.requests.actions import ActionOperations
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    ClusterRequest,
    Values,
)
from watcherlite.engine.clusters.requests.nodes import NodeOperations
from watcherlite.engine.clusters.requests.receivers import ReceiverOperations
from watcherlite.engine.clusters.requests.specs import (
    PolicyOperations,
    ProfileOperations,
)
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    NewCluster,
    RequestContext,
)
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.ports import SignalSender
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.states import cluster as states

#: Fields that a request may change.
CHANGES = ('name', 'profile_id', 'metadata', 'timeout', 'profile_only', 'config')


class ClusterOperations(ClusterOperationBase):
    """The operations on clusters, and where those on all the rest are.

    A name is a uuid, a name or a short id. With `wait` an action is queued where
    others are under way; else that is refused (ResourceIsLocked, ActionConflict).

    :ivar nodes, profiles, policies, receivers: operations on these
    :ivar actions: signals, and actions that users define
    """

    def __init__(
        self, parts: ClusterServices, clock: Clock, signals: SignalSender
    ) -> None:
        super().__init__(parts, clock, signals)
        self.profiles = ProfileOperations(parts, clock, signals)
        self.policies = PolicyOperations(parts, clock, signals)
        self.nodes = NodeOperations(parts, clock, signals)
        self.actions = ActionOperations(parts, clock, signals)
        self.receivers = ReceiverOperations(parts, clock, signals, self.actions)

    def scheduled_at(self, moment: datetime.datetime) -> Self:
        """See `ClusterOperationBase`; those on nodes as well."""
        found = super().scheduled_at(moment)
        found.nodes = self.nodes.scheduled_at(moment)
        return found

    def create(self, new: NewCluster, by: RequestContext) -> Accepted[Cluster]:
        """Store a cluster as INIT, and request its creation.

        :raises BadRequest, Invalid: what is wrong with it
        :raises OverQuota: the project has as many as it may have
        """
        name = values.parse_name(new.name)
        profile = self.resolve_reference(Profile, new.profile, by)
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
            metadata=values.parse_mapping(new.metadata, 'metadata'),
            config=_config(new.config),
            init_at=self.clock.now(),
        )
        return self._insert(cluster, by)

    def _sizes(self, new: NewCluster) -> capacity.Sizes:
        low = values.parse_size(new.min_size, 'min_size', 0, self.limits.nodes)
        high = values.parse_size(new.max_size, 'max_size', -1, self.limits.nodes)
        desired = values.parse_size(
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
        return values.parse_integer(value, 'timeout', 0)

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

    @retry_on_conflict
    def _insert(self, cluster: Cluster, by: RequestContext) -> Accepted[Cluster]:
        request, tenant = (
            ActionRequest(action_types.CLUSTER_CREATE, by),
            cluster.owner.tenant,
        )
        with self.store.transaction() as tx:
            self.check_unique(tx, Cluster, cluster.name, tenant)
            self._check_room(tx, tenant)
            stored = tx.insert_object(cluster)
            begun = self.insert_action(
                tx, request, stored, stored, {}, self.clock.now()
            )
        self.announce(begun)
        return Accepted(begun.uuid, stored)

    def update(
        self, name: str, by: RequestContext, changes: Values, *, wait: bool = False
    ) -> Accepted[Cluster]:
        """Change a cluster; with another profile also its nodes.

        :param changes: of CHANGES
        :raises FeatureNotSupported: it is in ERROR
        :raises BadRequest: nothing would change, or not to this profile
        """
        values.check_known_keys(changes, CHANGES)
        profile = None
        if changes.get('profile_id') is not None:
            profile = self.resolve_reference(Profile, str(changes['profile_id']), by)
        wanted = self._requested_changes(changes)
        only = changes.get('profile_only')
        only = None if only is None else values.parse_boolean(only, 'profile_only')

        def ask(tx: Transaction, row: Cluster) -> Values:
            if row.status == states.ERROR:
                raise exceptions.FeatureNotSupported(
                    'Updating a cluster in error state is not supported.'
                )
            inputs = {k: v for k, v in wanted.items() if v != getattr(row, k)}
            if profile is not None and self._is_update(tx, row, profile, only):
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

        return self.on_cluster(
            name, ActionRequest(action_types.CLUSTER_UPDATE, by, wait), ask
        )

    def _is_update(
        self, tx: Transaction, row: Cluster, profile: Profile, only: bool | None
    ) -> bool:
        """Return whether a cluster, or one of its nodes, is not as a profile says.

        After an update that came to no end some nodes have the profile, others not.
        """
        if profile.id != row.profile_id:
            return True
        nodes = () if only else tx.lock_nodes_of(row.id or 0)
        return any(is_outdated(node, profile) for node in nodes)

    def _requested_changes(self, changes: Values) -> dict[str, Any]:
        wanted: dict[str, Any] = {}
        if changes.get('name') is not None:
            wanted['name'] = values.parse_name(changes['name'])
        if changes.get('metadata') is not None:
            wanted['metadata'] = values.parse_mapping(changes['metadata'], 'metadata')
        if changes.get('timeout') is not None:
            wanted['timeout'] = self._timeout(changes['timeout'])
        if changes.get('config') is not None:
            wanted['config'] = _config(changes['config'])
        return wanted

    def delete(
        self, name: str, by: RequestContext, *, force: bool = False
    ) -> Accepted[Cluster]:
        """Delete a cluster with its nodes; one that is being deleted is left to that.

        What goes on with it ends first.

        :param force: whatever its status is, and what goes on is cancelled
        :raises ActionInProgress: it is changed, and that is not to be cancelled
        """
        request = ActionRequest(action_types.CLUSTER_DELETE, by, wait=True)
        return deletion.delete_cluster(self, name, request, force)

    # members

    def add_nodes(
        self, name: str, by: RequestContext, nodes: Any, *, wait: bool = False
    ) -> Accepted[Cluster]:
        """Add nodes that are in no cluster.

        :param nodes: uuids, names or short ids
        :raises NodeNotOrphan: some are in a cluster
        """
        wanted = self.resolve_nodes(nodes, by)

        def ask(tx: Transaction, row: Cluster) -> Values:
            rows = self._lock_orphans(tx, wanted, row)
            size = admission.count_nodes(tx, row) + len(rows)
            self._check_size(row, size)
            return {'nodes': [node.uuid for node in rows]}

        return self._request(action_types.CLUSTER_ADD_NODES, name, by, ask, wait)

    def del_nodes(
        self,
        name: str,
        by: RequestContext,
        nodes: Any,
        destroy_after_deletion: Any = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Remove nodes, and delete them if that is asked for.

        :param destroy_after_deletion: None: what a policy says, or no
        """
        wanted = self.resolve_nodes(nodes, by)
        given: dict[str, Any] = {}
        if destroy_after_deletion is not None:
            field = 'destroy_after_deletion'
            given[field] = values.parse_boolean(destroy_after_deletion, field)

        def ask(tx: Transaction, row: Cluster) -> Values:
            admission.check_members(_lock_existing(tx, wanted), row)
            self._check_size(row, admission.count_nodes(tx, row) - len(wanted))
            return {
                'count': len(wanted),
                'candidates': [node.uuid for node in wanted],
                **given,
            }

        return self._request(action_types.CLUSTER_DEL_NODES, name, by, ask, wait)

    def replace_nodes(
        self, name: str, by: RequestContext, nodes: Any, *, wait: bool = False
    ) -> Accepted[Cluster]:
        """Replace nodes by others that are in no cluster.

        :param nodes: of the cluster -> of none
        """
        if not isinstance(nodes, Mapping):
            raise exceptions.BadRequest('The data provided is not a map')
        if not nodes:
            raise exceptions.BadRequest('No nodes specified: a map of them is needed.')
        old = self.resolve_nodes(list(nodes), by)
        new = self.resolve_nodes(list(nodes.values()), by)
        if len(old) != len(nodes) or len(new) != len(nodes):
            raise exceptions.BadRequest('The same node is named several times.')

        def ask(tx: Transaction, row: Cluster) -> Values:
            admission.check_members(
                _lock_existing(tx, old), row, 'Nodes to be replaced are not'
            )
            self._lock_orphans(tx, new, row)
            pairs = zip(old, new, strict=True)
            return {'candidates': {left.uuid: come.uuid for left, come in pairs}}

        return self._request(action_types.CLUSTER_REPLACE_NODES, name, by, ask, wait)

    def _lock_orphans(
        self, tx: Transaction, nodes: list[Node], row: Cluster
    ) -> list[Node]:
        """Return nodes as they are, if they may come to a cluster."""
        rows = _lock_existing(tx, nodes)
        profiles = self.store.objects_by_id(Profile, {n.profile_id for n in rows})
        own = self.parts.profile(row.profile_id).type
        admission.check_orphans(rows, [own], profiles)
        return rows

    # sizes

    def resize(
        self,
        name: str,
        by: RequestContext,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Change how many nodes a cluster has, or may have.

        :param params: adjustment_type, number, min_size, max_size, min_step, strict
        """
        inputs = making.resize(params or {}, self.limits.nodes)

        def ask(tx: Transaction, row: Cluster) -> Values:
            request = capacity.Adjustment(
                inputs.get('adjustment_type'),
                inputs.get('number', 0),
                inputs.get('min_size'),
                inputs.get('max_size'),
                inputs.get('min_step'),
                inputs['strict'],
            )
            capacity.resized(
                row, admission.count_nodes(tx, row), request, self.limits.nodes
            )
            return inputs

        return self._request(action_types.CLUSTER_RESIZE, name, by, ask, wait)

    def scale(
        self,
        name: str,
        by: RequestContext,
        action: str,
        count: Any = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Scale a cluster out or in.

        :param action: CLUSTER_SCALE_IN or CLUSTER_SCALE_OUT
        :param count: None: what a policy says, or one
        :raises ActionCooldown: a policy lets the cluster rest
        """
        inputs = making.scale(action, count, self.limits.nodes)

        def ask(tx: Transaction, row: Cluster) -> Values:
            if inputs:
                shrinks = action == action_types.CLUSTER_SCALE_IN
                change = -inputs['count'] if shrinks else inputs['count']
                self._check_size(row, admission.count_nodes(tx, row) + change)
            return inputs

        return self._request(action, name, by, ask, wait)

    def _check_size(self, row: Cluster, size: int) -> None:
        capacity.check_sizes(row, size, strict=True, most=self.limits.nodes)

    # policies

    def attach_policy(
        self,
        name: str,
        by: RequestContext,
        policy: str,
        enabled: Any = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Attach a policy to a cluster."""
        meant = self.resolve_reference(PolicyObject, str(policy), by)
        inputs = {
            'policy_id': meant.uuid,
            'enabled': values.parse_boolean(
                True if enabled is None else enabled, 'enabled'
            ),
        }
        kind = action_types.CLUSTER_ATTACH_POLICY
        return self._request(kind, name, by, lambda tx, row: inputs, wait)

    def detach_policy(
        self, name: str, by: RequestContext, policy: str, *, wait: bool = False
    ) -> Accepted[Cluster]:
        """Detach a policy from a cluster; BadRequest if it is not attached."""
        inputs = {
            'policy_id': self.resolve_reference(PolicyObject, str(policy), by).uuid
        }
        kind = action_types.CLUSTER_DETACH_POLICY
        return self._request(
            kind, name, by, self._attached_inputs(policy, inputs), wait
        )

    def update_policy(
        self,
        name: str,
        by: RequestContext,
        policy: str,
        enabled: Any = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Enable or disable a policy of a cluster; likewise."""
        inputs: dict[str, Any] = {
            'policy_id': self.resolve_reference(PolicyObject, str(policy), by).uuid
        }
        if enabled is None:
            raise exceptions.BadRequest('No property needs an update.')
        inputs['enabled'] = values.parse_boolean(enabled, 'enabled')
        kind = action_types.CLUSTER_UPDATE_POLICY
        return self._request(
            kind, name, by, self._attached_inputs(policy, inputs), wait
        )

    def _attached_inputs(self, policy: str, inputs: dict[str, Any]) -> ClusterRequest:
        def ask(tx: Transaction, row: Cluster) -> Values:
            bound = tx.bindings_of(row.id or 0)
            if all(one.policy.uuid != inputs['policy_id'] for one in bound):
                raise exceptions.BadRequest(
                    f"The policy '{policy}' is not attached to the specified cluster "
                    f"'{row.name}'."
                )
            return inputs

        return ask

    def binding(
        self, name: str, by: RequestContext, policy: str
    ) -> tuple[Cluster, Bound]:
        """Return a cluster and its binding of a policy; PolicyBindingNotFound."""
        cluster = self.store.find_object(Cluster, name, by.tenant)
        missing = exceptions.PolicyBindingNotFound(
            f"The policy '{policy}' is not found attached to the specified cluster "
            f"'{name}'."
        )
        try:
            meant = self.store.find_object(PolicyObject, policy, by.tenant)
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
        by: RequestContext,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Check all nodes of a cluster."""
        kind = action_types.CLUSTER_CHECK
        inputs = making.check(self.parts, kind, params or {})
        return self._request(kind, name, by, lambda tx, row: inputs, wait)

    def recover(
        self,
        name: str,
        by: RequestContext,
        params: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Recover the nodes that are not ACTIVE.

        :param params: operation, operation_params, check, check_capacity
        """
        kind = action_types.CLUSTER_RECOVER

        def ask(tx: Transaction, row: Cluster) -> Values:
            profile = self.parts.profile(row.profile_id)
            return making.recover(self.parts, kind, profile, params or {})

        return self._request(kind, name, by, ask, wait)

    def operate(
        self,
        name: str,
        by: RequestContext,
        operation: Any,
        params: Values | None = None,
        filters: Values | None = None,
        *,
        wait: bool = False,
    ) -> Accepted[Cluster]:
        """Run an operation of the profile on nodes of a cluster.

        :param filters: name, profile_id, status, role of the nodes
        """
        given = values.parse_mapping(params, 'params')

        def ask(tx: Transaction, row: Cluster) -> Values:
            profile = self.parts.profile(row.profile_id)
            inputs = making.operate(self.parts, profile, str(operation), given)
            members = tx.lock_nodes_of(row.id or 0)
            nodes = making.filter_nodes(self.store, members, filters or {}, by)
            return {**inputs, 'nodes': [node.uuid for node in nodes]}

        request = ActionRequest(
            action_types.CLUSTER_OPERATION, by, wait, operation=str(operation)
        )
        return self.on_cluster(name, request, ask)

    def collect(
        self, name: str, by: RequestContext, path: str, show: Callable[[Node], Values]
    ) -> list[tuple[str, Any]]:
        """Return (uuid of a node, value) of what a JSON path finds in the nodes.

        :param show: a node as users see it
        :raises BadRequest: it is no JSON path
        """
        cluster = self.store.find_object(Cluster, name, by.tenant)
        nodes = self.store.nodes_of([cluster.id or 0])
        return making.collect(nodes, path, show)

    # shared

    def _request(
        self,
        action_type: str,
        name: str,
        by: RequestContext,
        ask: ClusterRequest,
        wait: bool,
    ) -> Accepted[Cluster]:
        return self.on_cluster(name, ActionRequest(action_type, by, wait), ask)


def _config(value: Any) -> dict[str, Any]:
    config = values.parse_mapping(value, 'config')
    written = config.get(capacity.NAME_FORMAT)
    if written is not None:
        capacity.check_name_format(str(written))
    return config


def _lock_existing(tx: Transaction, nodes: list[Node]) -> list[Node]:
    """Lock and return nodes; raises BadRequest if some are deleted."""
    rows = tx.lock_nodes(sorted(node.uuid for node in nodes))
    gone = [
        node.uuid
        for node in nodes
        if node.uuid not in rows or rows[node.uuid].deleted_at is not None
    ]
    if gone:
        raise exceptions.BadRequest(f'Nodes not found: {gone}.')
    return [rows[node.uuid] for node in nodes]
