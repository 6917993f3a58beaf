"""The policies of clusters: bindings, and the policies that apply to an action."""

import logging
from collections.abc import Sequence
from typing import cast

from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.db.clusters import not_found
from watcherlite.domain import events
from watcherlite.domain.clusters import (
    Bound,
    Cluster,
    NewBinding,
    PolicyObject,
    Profile,
)
from watcherlite.domain.outcomes import Retry, public_text
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.policies.policy_context import (
    BoundPolicyContext,
    ClusterSnapshot,
)
from watcherlite.engine.clusters.services import ClusterPlugins
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.policy_chain import Pairs, PolicyCheckFailed
from watcherlite.plugins import base
from watcherlite.plugins.base import ActionContext, Policy
from watcherlite.states import action as action_states

LOG = logging.getLogger(__name__)

#: Prefix of the types of health policies.
HEALTH = 'senlin.policy.health-'
#: Actions that are allowed although a policy cannot be loaded.
_LEAVING = frozenset(
    {
        action_types.CLUSTER_ATTACH_POLICY,
        action_types.CLUSTER_DETACH_POLICY,
        action_types.CLUSTER_UPDATE_POLICY,
        action_types.CLUSTER_DELETE,
    }
)


class ClusterPolicies:
    """The policies of clusters.

    `of` is the source of the policy chain. The other methods are the actions on
    policies; each may be repeated after the loss of a worker. A rejection is raised as
    a WatcherliteError with a text for users. They return a Retry if a policy is to be
    called again later.

    :param load_balancers: the names of drivers in the order of preference
    """

    def __init__(
        self, store: Store, plugins: ClusterPlugins, load_balancers: Sequence[str] = ()
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._load_balancers = tuple(load_balancers)

    def of(self, task: Attempt) -> Pairs:
        """Return the policies that apply to an action, in their order.

        Only requests have policies; their decisions cover the derived actions.
        """
        action, context = task.action, task.context
        if action.tenant is None or action.plan_id is not None:
            return ()
        # Users may run any action type on a cluster, or on a node of one.
        uuid = action.within or action.target
        if uuid is None or action.cause != action_states.RPC_REQUEST:
            return ()
        cluster = self._store.clusters_by_uuid([uuid]).get(uuid)
        if cluster is None or cluster.deleted_at is not None:
            return ()
        kind = action.action_type
        snapshot = ClusterSnapshot(self._store, self._plugins, context, kind, cluster)
        pairs = (self._pair_for(bound, snapshot) for bound in self._bound(cluster))
        return [pair for pair in pairs if pair is not None]

    # the actions on policies

    def attach(
        self, context: ActionContext, cluster: str, policy: str, enabled: bool
    ) -> tuple[Bound, bool] | Retry:
        """Attach a policy to a cluster, both by uuid.

        :returns: the binding, and whether it existed before
        """
        snapshot = self._snapshot(context, cluster, action_types.CLUSTER_ATTACH_POLICY)
        bounds = snapshot.retry(lambda: self._bound(snapshot.cluster))
        present = _find_binding(bounds, policy)
        if present is not None:
            return present, True
        plugin, binding, found = self._unbound(snapshot, policy, enabled)
        self._check_single(plugin, found, bounds, snapshot.cluster)
        self._check_profile(plugin, found, snapshot)
        policy_context = self._context(plugin, binding, found, snapshot)
        kept = plugin.attach(policy_context)
        if isinstance(kept, Retry):
            return kept
        binding = binding.evolve(data=dict(kept or {}))

        def stored(tx: Transaction, row: Cluster) -> Bound:
            known = _find_binding(tx.bindings_of(row.id), policy)
            return known or Bound(tx.insert_binding(binding), found)

        try:
            return snapshot.write(stored), False
        except exceptions.Conflict:
            # The cluster was deleted meanwhile: clean up now.
            _log_delay(plugin.detach(policy_context), found, cluster)
            raise

    def abandon(self, context: ActionContext, cluster: str, policy: str) -> None:
        """Release a cluster from a policy whose attachment has not succeeded."""
        snapshot = self._snapshot(context, cluster, action_types.CLUSTER_ATTACH_POLICY)
        bounds = snapshot.retry(lambda: self._bound(snapshot.cluster))
        if _find_binding(bounds, policy) is not None:
            return
        plugin, binding, found = self._unbound(snapshot, policy, enabled=True)
        policy_context = self._context(plugin, binding, found, snapshot)
        _log_delay(plugin.detach(policy_context), found, cluster)

    def detach(
        self, context: ActionContext, cluster: str, policy: str
    ) -> Bound | Retry | None:
        """Detach a policy; return its binding, or None if it was not attached."""
        snapshot = self._snapshot(context, cluster, action_types.CLUSTER_DETACH_POLICY)
        bound = _find_binding(
            snapshot.retry(lambda: self._bound(snapshot.cluster)), policy
        )
        if bound is None:
            return None
        delayed = self._detach(snapshot, bound)
        if delayed is not None:
            return delayed
        _delete_bindings(snapshot, [bound])
        return bound

    def detach_all(
        self, context: ActionContext, cluster: str
    ) -> Sequence[Bound] | Retry:
        """Detach all policies of a cluster that is being deleted; return the bindings.

        Failures of policies are logged: the cluster is deleted in any case.
        """
        snapshot = self._snapshot(context, cluster, action_types.CLUSTER_DELETE)
        bounds = snapshot.retry(lambda: self._bound(snapshot.cluster))
        for bound in bounds:
            try:
                delayed = self._detach(snapshot, bound)
            except Exception as error:  # a plugin may raise anything
                LOG.warning(
                    'Policy %s (%s) could not be detached from cluster %s, which is '
                    'deleted: %s; delete its objects manually',
                    bound.policy.name,
                    bound.policy.type,
                    cluster,
                    public_text(error),
                )
                continue
            if delayed is not None:
                return delayed
        if bounds:
            _delete_bindings(snapshot, bounds)
        return bounds

    def update(
        self, context: ActionContext, cluster: str, policy: str, enabled: bool
    ) -> None:
        """Enable or disable a policy; raises PolicyBindingNotFound."""
        snapshot = self._snapshot(context, cluster, action_types.CLUSTER_UPDATE_POLICY)

        def changed(tx: Transaction, row: Cluster) -> None:
            known = _find_binding(tx.bindings_of(row.id), policy)
            if known is None:
                raise exceptions.PolicyBindingNotFound(
                    f"The policy '{policy}' is not found attached to the specified "
                    f"cluster '{cluster}'."
                )
            tx.save_bindings([known.binding.evolve(enabled=enabled)])

        snapshot.write(changed)

    # bindings

    def _snapshot(
        self, context: ActionContext, uuid: str, action_type: str
    ) -> ClusterSnapshot:
        row = self._store.clusters_by_uuid([uuid]).get(uuid)
        if row is None or row.deleted_at is not None:
            raise not_found(Cluster, uuid)
        return ClusterSnapshot(self._store, self._plugins, context, action_type, row)

    def _unbound(
        self, snapshot: ClusterSnapshot, policy: str, enabled: bool
    ) -> tuple[Policy, NewBinding, PolicyObject]:
        """Return a policy by its uuid with a binding that is not stored."""
        tenant = snapshot.cluster.owner.tenant
        found = snapshot.retry(
            lambda: self._store.find_object(PolicyObject, policy, tenant)
        )
        plugin = self._plugins.make_policy(found.type)
        binding = NewBinding(
            uuid=events.new_uuid(),
            cluster_id=snapshot.cluster.id,
            policy_id=found.id,
            priority=plugin.priority,
            enabled=enabled,
        )
        return plugin, binding, found

    def _bound(self, cluster: Cluster) -> Sequence[Bound]:
        key = cluster.id
        return self._store.bindings_of_clusters([key]).get(key, [])

    def _pair_for(
        self, bound: Bound, snapshot: ClusterSnapshot
    ) -> tuple[Policy, base.PolicyContext] | None:
        """Return a policy with its context if it applies to the action."""
        if not bound.binding.enabled:
            return None
        try:
            plugin = self._plugins.make_policy(bound.policy.type)
            if snapshot.action_type not in plugin.before | plugin.after:
                return None
            # The priority at the time of attaching.
            vars(plugin)['priority'] = bound.binding.priority
            return plugin, self._context(plugin, bound.binding, bound.policy, snapshot)
        except (exceptions.PluginError, exceptions.Invalid) as error:
            if snapshot.action_type in _LEAVING:
                return None
            raise PolicyCheckFailed(bound.policy.name, str(error)) from error

    def _context(
        self,
        plugin: Policy,
        binding: NewBinding,
        policy: PolicyObject,
        snapshot: ClusterSnapshot,
    ) -> base.PolicyContext:
        """Return the context of a policy; raises InvalidSpec for unknown properties."""
        given = policy.spec.get('properties') or {}
        fitting = self._plugins.fit_policy(plugin, given)
        return cast(
            base.PolicyContext,
            BoundPolicyContext(
                snapshot, binding, policy, fitting, self._load_balancers
            ),
        )

    def _check_single(
        self,
        plugin: Policy,
        policy: PolicyObject,
        bounds: Sequence[Bound],
        cluster: Cluster,
    ) -> None:
        name = _unversioned(policy.type)
        for bound in bounds:
            if plugin.singleton and _unversioned(bound.policy.type) == name:
                raise exceptions.Conflict(
                    f'Only one instance of policy type ({policy.type}) can be attached '
                    f'to a cluster, but another instance ({bound.policy.uuid}) is '
                    f'found attached to the cluster ({cluster.uuid}) already.'
                )

    def _check_profile(
        self, plugin: Policy, policy: PolicyObject, snapshot: ClusterSnapshot
    ) -> None:
        if not plugin.profile_types:
            return
        key = snapshot.cluster.profile_id
        profile = snapshot.retry(lambda: self._store.objects_by_id(Profile, [key]))[key]
        if profile.type not in plugin.profile_types:
            raise exceptions.Conflict(
                f'Policy not applicable on profile type: {policy.type} is for '
                f'{", ".join(plugin.profile_types)}, not for {profile.type}.'
            )

    def _detach(self, snapshot: ClusterSnapshot, bound: Bound) -> Retry | None:
        try:
            plugin = self._plugins.make_policy(bound.policy.type)
            policy_context = self._context(
                plugin, bound.binding, bound.policy, snapshot
            )
        except (exceptions.PluginError, exceptions.Invalid) as error:
            # Otherwise the policy could never be detached.
            LOG.warning(
                'Detaching policy %s from cluster %s without calling it: %s; delete '
                'its objects manually',
                bound.policy.name,
                snapshot.cluster.uuid,
                error,
            )
            return None
        return plugin.detach(policy_context)


def _delete_bindings(snapshot: ClusterSnapshot, bounds: Sequence[Bound]) -> None:
    ids = [bound.binding.id for bound in bounds]
    snapshot.write(lambda tx, row: tx.delete_bindings(ids))


def _log_delay(delayed: Retry | None, policy: PolicyObject, cluster: str) -> None:
    """Log that a policy which cannot be called again may have left objects."""
    if delayed is not None:
        LOG.warning(
            'Policy %s (%s) is not attached to cluster %s, and cannot remove its '
            'objects now: %s; delete them manually',
            policy.name,
            policy.type,
            cluster,
            delayed.reason,
        )


def is_health_policy(policy: PolicyObject) -> bool:
    """Return whether this is a health policy."""
    return policy.type.startswith(HEALTH)


def _find_binding(bounds: Sequence[Bound], policy: str) -> Bound | None:
    return next((bound for bound in bounds if bound.policy.uuid == policy), None)


def _unversioned(policy_type: str) -> str:
    """Return the type of a policy without its version."""
    return policy_type.rpartition('-')[0]
