"""Operations on clusters.

Each operation validates the request and inserts an action, in one transaction that
locks the cluster. A rejected request changes nothing. The row of the cluster is
projected from that action.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity, events
from watcherlite.domain.clusters import (
    Bound,
    Cluster,
    NewCluster,
    Node,
    PolicyObject,
    Profile,
)
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions.update_batches import is_outdated
from watcherlite.engine.clusters.requests import action_inputs, admission, values
from watcherlite.engine.clusters.requests.actions import ActionOperations
from watcherlite.engine.clusters.requests.base import ActionRequest, Values
from watcherlite.engine.clusters.requests.nodes import NodeOperations
from watcherlite.engine.clusters.requests.receivers import ReceiverOperations
from watcherlite.engine.clusters.requests.specs import (
    PolicyOperations,
    ProfileOperations,
)
from watcherlite.engine.clusters.requests.target_operations import TargetOperations
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    ClusterRequest,
    RequestContext,
)
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.execution.ports import SignalSender
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.states import cluster as states


def _parse_config(value: Any, field: str = 'config') -> dict[str, Any]:
    config = values.parse_mapping(value, field)
    written = config.get(capacity.NAME_FORMAT)
    if written is not None:
        capacity.check_name_format(str(written))
    return config


def _parse_timeout(value: Any, field: str = 'timeout') -> int:
    return values.parse_integer(value, field, 0)


class ClusterOperations(TargetOperations[Cluster]):
    """The operations on clusters.

    :ivar nodes, profiles, policies, receivers: the operations on these
    :ivar actions: signals, and actions that users define
    """

    kind, noun = Cluster, 'CLUSTER'
    parsers: ClassVar[Mapping[str, values.Parser]] = {
        'name': values.parse_name,
        'metadata': values.parse_mapping,
        'timeout': _parse_timeout,
        'config': _parse_config,
    }
    options: ClassVar[Mapping[str, values.Parser]] = {
        'profile_only': values.parse_boolean
    }

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

    def create(self, new: ClusterRequest, by: RequestContext) -> Accepted[Cluster]:
        """Store a cluster as INIT, and request its creation.

        :raises BadRequest, Invalid: the request is invalid
        :raises OverQuota: the project has reached its quota
        """
        name = values.parse_name(new.name)
        profile = self.resolve_reference(Profile, new.profile, by)
        sizes = self._sizes(new)
        cluster = NewCluster(
            uuid=events.new_uuid(),
            name=name,
            owner=by.owner,
            profile_id=profile.id,
            desired_capacity=sizes.desired_capacity,
            min_size=sizes.min_size,
            max_size=sizes.max_size,
            timeout=(
                self.limits.timeout
                if new.timeout is None
                else _parse_timeout(new.timeout)
            ),
            status_reason='Initializing',
            metadata=values.parse_mapping(new.metadata, 'metadata'),
            config=_parse_config(new.config),
            init_at=self.clock.now(),
        )
        by, credential = by.delegated(cluster.uuid)
        return self._insert(cluster, by, credential)

    def _sizes(self, new: ClusterRequest) -> capacity.Sizes:
        most = self.limits.nodes
        low = values.parse_size(new.min_size, 'min_size', 0, most, 0)
        high = values.parse_size(new.max_size, 'max_size', -1, most, -1)
        desired = values.parse_size(
            new.desired_capacity, 'desired_capacity', 0, most, low
        )
        capacity.check_sizes(None, desired, low, high, most=most)
        return capacity.Sizes(desired, low, high)

    def _check_quota(self, tx: Transaction, tenant: str) -> None:
        quota = self.limits.clusters
        if not quota:
            return
        tx.lock_tenant(tenant)
        if tx.count_clusters(tenant) >= quota:
            raise exceptions.OverQuota(
                f'Quota exceeded for resources: this project has {quota} clusters, and '
                'may not have more; delete some.'
            )

    @retry_on_conflict
    def _insert(
        self, cluster: NewCluster, by: RequestContext, credential: str | None
    ) -> Accepted[Cluster]:
        request = ActionRequest(action_types.CLUSTER_CREATE, by)
        tenant = cluster.owner.tenant
        with self.store.transaction() as tx:
            self.check_unique(tx, Cluster, cluster.name, tenant)
            self._check_quota(tx, tenant)
            stored = tx.insert_object(cluster)
            if credential is not None:
                tx.assign_credential(credential, stored.uuid)
            action = self.insert_action(
                tx, request, stored, stored, {}, self.clock.now()
            )
        self.announce(action)
        return Accepted(action.uuid, stored)

    def _check_updatable(self, row: Cluster) -> None:
        if row.status == states.ERROR:
            raise exceptions.FeatureNotSupported(
                'Updating a cluster in error state is not supported.'
            )

    def _is_outdated(
        self, tx: Transaction, row: Cluster, profile: Profile, options: Values
    ) -> bool:
        # An incomplete update leaves nodes with the previous profile.
        if profile.id != row.profile_id:
            return True
        nodes = () if options.get('profile_only') else tx.lock_nodes_of(row.id)
        return any(is_outdated(node, profile) for node in nodes)

    # members

    def add_nodes(self, name: str, by: RequestContext, nodes: Any) -> Accepted[Cluster]:
        """Add nodes that are in no cluster.

        :param nodes: uuids, names or short ids
        :raises NodeNotOrphan: some are in a cluster
        """
        desired = self.resolve_nodes(nodes, by)

        def build_inputs(tx: Transaction, row: Cluster) -> Values:
            rows = self._lock_orphans(tx, desired, row)
            size = admission.count_nodes(tx, row) + len(rows)
            self._check_size(row, size)
            return {'nodes': [node.uuid for node in rows]}

        return self._request('ADD_NODES', name, by, build_inputs)

    def del_nodes(
        self,
        name: str,
        by: RequestContext,
        nodes: Any,
        destroy_after_deletion: Any = None,
    ) -> Accepted[Cluster]:
        """Remove nodes, and delete them if requested.

        :param destroy_after_deletion: None: as a policy says; without one, no
        """
        desired = self.resolve_nodes(nodes, by)
        given: dict[str, Any] = {}
        if destroy_after_deletion is not None:
            field = 'destroy_after_deletion'
            given[field] = values.parse_boolean(destroy_after_deletion, field)

        def build_inputs(tx: Transaction, row: Cluster) -> Values:
            admission.check_members(_lock_existing(tx, desired), row)
            self._check_size(row, admission.count_nodes(tx, row) - len(desired))
            return {
                'count': len(desired),
                'candidates': [node.uuid for node in desired],
                **given,
            }

        return self._request('DEL_NODES', name, by, build_inputs)

    def replace_nodes(
        self, name: str, by: RequestContext, nodes: Any
    ) -> Accepted[Cluster]:
        """Replace nodes with others that are in no cluster.

        :param nodes: node of the cluster -> node of none
        """
        if not isinstance(nodes, Mapping):
            raise exceptions.BadRequest('The data provided is not a map')
        if not nodes:
            raise exceptions.BadRequest('No nodes specified: a map of them is needed.')
        old = self.resolve_nodes(list(nodes), by)
        new = self.resolve_nodes(list(nodes.values()), by)
        if len(old) != len(nodes) or len(new) != len(nodes):
            raise exceptions.BadRequest('The same node is named several times.')

        def build_inputs(tx: Transaction, row: Cluster) -> Values:
            admission.check_members(
                _lock_existing(tx, old), row, 'Nodes to be replaced are not'
            )
            self._lock_orphans(tx, new, row)
            pairs = zip(old, new, strict=True)
            return {'candidates': {left.uuid: come.uuid for left, come in pairs}}

        return self._request('REPLACE_NODES', name, by, build_inputs)

    def _lock_orphans(
        self, tx: Transaction, nodes: list[Node], row: Cluster
    ) -> list[Node]:
        """Lock and return nodes, if they may join a cluster."""
        rows = _lock_existing(tx, nodes)
        profiles = self.store.objects_by_id(Profile, {n.profile_id for n in rows})
        own = self.parts.profile(row.profile_id).type
        admission.check_orphans(rows, [own], profiles)
        return rows

    # sizes

    def resize(
        self, name: str, by: RequestContext, params: Values | None = None
    ) -> Accepted[Cluster]:
        """Change the number of nodes of a cluster, or its limits.

        :param params: adjustment_type, number, min_size, max_size, min_step, strict
        """
        inputs = action_inputs.resize(params or {}, self.limits.nodes)

        def build_inputs(tx: Transaction, row: Cluster) -> Values:
            adjustment = capacity.Adjustment.of(inputs)
            size = admission.count_nodes(tx, row)
            capacity.resized(row, size, adjustment, self.limits.nodes)
            return inputs

        return self._request('RESIZE', name, by, build_inputs)

    def scale(
        self, name: str, by: RequestContext, action: str, count: Any = None
    ) -> Accepted[Cluster]:
        """Scale a cluster out or in.

        :param action: CLUSTER_SCALE_IN or CLUSTER_SCALE_OUT
        :param count: None: as a policy says; without one, 1
        :raises ActionCooldown: during the cooldown of a scaling policy
        """
        inputs = action_inputs.scale(action, count, self.limits.nodes)

        def build_inputs(tx: Transaction, row: Cluster) -> Values:
            if inputs:
                shrinks = action == action_types.CLUSTER_SCALE_IN
                change = -inputs['count'] if shrinks else inputs['count']
                self._check_size(row, admission.count_nodes(tx, row) + change)
            return inputs

        verb = action.removeprefix('CLUSTER_')
        return self._request(verb, name, by, build_inputs)

    def _check_size(self, row: Cluster, size: int) -> None:
        capacity.check_sizes(row, size, strict=True, most=self.limits.nodes)

    # policies

    def attach_policy(
        self, name: str, by: RequestContext, policy: str, enabled: Any = None
    ) -> Accepted[Cluster]:
        if enabled is None:
            enabled = True
        return self._request_on_policy(
            'ATTACH_POLICY', name, by, policy, enabled=enabled
        )

    def detach_policy(
        self, name: str, by: RequestContext, policy: str
    ) -> Accepted[Cluster]:
        """Detach a policy from a cluster; BadRequest if it is not attached."""
        return self._request_on_policy('DETACH_POLICY', name, by, policy)

    def update_policy(
        self, name: str, by: RequestContext, policy: str, enabled: Any = None
    ) -> Accepted[Cluster]:
        """Enable or disable a policy of a cluster; BadRequest if it is not attached."""
        return self._request_on_policy(
            'UPDATE_POLICY', name, by, policy, enabled=enabled
        )

    def _request_on_policy(
        self, verb: str, name: str, by: RequestContext, policy: str, **flags: Any
    ) -> Accepted[Cluster]:
        found = self.resolve_reference(PolicyObject, str(policy), by)
        inputs: dict[str, Any] = {'policy_id': found.uuid}
        for field, flag in flags.items():
            if flag is None:
                raise exceptions.BadRequest('No property needs an update.')
            inputs[field] = values.parse_boolean(flag, field)

        def build_inputs(tx: Transaction, row: Cluster) -> Values:
            if verb != 'ATTACH_POLICY' and not any(
                one.policy.uuid == inputs['policy_id'] for one in tx.bindings_of(row.id)
            ):
                raise exceptions.BadRequest(
                    f"The policy '{policy}' is not attached to the specified cluster "
                    f"'{row.name}'."
                )
            return inputs

        return self._request(verb, name, by, build_inputs)

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
            desired = self.store.find_object(PolicyObject, policy, by.tenant)
        except exceptions.NotFound:
            raise missing from None
        key = cluster.id
        for bound in self.store.bindings_of_clusters([key]).get(key, ()):
            if bound.policy.uuid == desired.uuid:
                return cluster, bound
        raise missing

    # health and operations

    def _operated_nodes(
        self, tx: Transaction, row: Cluster, filters: Values, by: RequestContext
    ) -> Values:
        members = tx.lock_nodes_of(row.id)
        nodes = action_inputs.filter_nodes(self.store, members, filters, by)
        return {'nodes': [node.uuid for node in nodes]}

    def collect(
        self, name: str, by: RequestContext, path: str, show: Callable[[Node], Values]
    ) -> list[tuple[str, Any]]:
        """Return (uuid of a node, value) for what a JSON path finds in each node.

        :param show: returns the representation of a node
        :raises BadRequest: the JSON path is invalid
        """
        cluster = self.store.find_object(Cluster, name, by.tenant)
        nodes = self.store.nodes_of([cluster.id])
        return action_inputs.collect(nodes, path, show)


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
