"""Which policies are asked about an action, and how clusters come to have them."""

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from watcherlite import exceptions
from watcherlite.db.api import Store, Transaction
from watcherlite.db.clustering import not_found
from watcherlite.domain import events
from watcherlite.domain.clusters import Binding, Bound, Cluster, PolicyObject, Profile
from watcherlite.domain.outcomes import public_text
from watcherlite.engine.clusters import actions
from watcherlite.engine.clusters.parts import Plugins
from watcherlite.engine.clusters.policy_context import PolicyContext, Surroundings
from watcherlite.execution.policy_chain import Pairs, PolicyCheckFailed
from watcherlite.execution.task import Task
from watcherlite.plugins import base
from watcherlite.plugins.base import ActionContext, Policy
from watcherlite.states import action as action_states

LOG = logging.getLogger(__name__)

#: How the types of policies begin by which a cluster is looked after.
HEALTH = 'senlin.policy.health-'
#: By these one gets rid of a policy that cannot be asked.
_LEAVING = frozenset(
    {
        *(actions.CLUSTER_ATTACH_POLICY, actions.CLUSTER_DETACH_POLICY),
        *(actions.CLUSTER_UPDATE_POLICY, actions.CLUSTER_DELETE),
    }
)

#: (transaction, what binds the cluster): what else is done in that transaction.
Also = Callable[[Transaction, Bound], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Attached:
    """A policy that a cluster has.

    :param already: it had it before
    """

    bound: Bound
    already: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class _Doing:
    """An action that does something with policies, as one that they are asked about."""

    uuid: str
    action_type: str
    inputs: Mapping[str, Any]
    target: str | None


class ClusterPolicies:
    """The policies of clusters.

    `of` is the source of the policy chain. The others are what the actions on
    policies do; each may be called again, when a worker was lost. A refusal is raised
    as a WatcherliteError whose text users get. `also` is called in the transaction
    that stores the change.
    """

    def __init__(self, store: Store, plugins: Plugins) -> None:
        self._store = store
        self._plugins = plugins

    def of(self, task: Task) -> Pairs:
        """Return the policies that are in force for an action, in their order.

        Only what was asked for from outside is looked at: what that derives is
        covered by its decisions.
        """
        action, context = task.action, task.context
        if context is None or action.tenant is None or action.plan_id is not None:
            return ()
        # Users may have any action type done with a cluster, or with a node of one.
        uuid = action.within or action.target
        if uuid is None or action.cause != action_states.RPC_REQUEST:
            return ()
        cluster = self._store.clusters_by_uuid([uuid]).get(uuid)
        if cluster is None or cluster.deleted_at is not None:
            return ()
        around = Surroundings(self._store, self._plugins, context, action, cluster)
        pairs = []
        for bound in self._bound(cluster):
            pair = self._to_ask(bound, action.action_type, around)
            if pair is not None:
                pairs.append(pair)
        return pairs

    # what the actions on policies do

    def attach(
        self,
        context: ActionContext,
        cluster: str,
        policy: str,
        enabled: bool = True,
        also: Also | None = None,
    ) -> Attached:
        """Have a cluster look to a policy; both by uuid."""
        around = self._around(context, cluster, actions.CLUSTER_ATTACH_POLICY)
        bounds = around.ask(lambda: self._bound(around.cluster))
        for bound in bounds:
            if bound.policy.uuid == policy:
                self._also(around, bound, also)
                return Attached(bound, already=True)
        found = around.ask(lambda: self._find(policy, around.cluster))
        plugin = self._plugins.make_policy(found.type)
        self._check_single(plugin, found, bounds, around.cluster)
        self._check_profile(plugin, found, around)
        binding = Binding(
            uuid=events.new_uuid(),
            cluster_id=around.cluster.id or 0,
            policy_id=found.id or 0,
            priority=plugin.priority,
            enabled=enabled,
        )
        told = self._told(plugin, Bound(binding, found), around)
        kept = plugin.attach(told)
        binding = binding.evolve(data=dict(kept or {}))

        def stored(tx: Transaction, row: Cluster) -> Bound:
            known = _among(tx.bindings_of(row.id or 0), policy)
            if known is None:
                known = Bound(tx.insert_binding(binding), found)
            if also is not None:
                also(tx, known)
            return known

        try:
            return Attached(around.write(stored))
        except exceptions.Conflict:
            # It was deleted meanwhile: nobody else would ever clean up.
            plugin.detach(told)
            raise

    def detach(
        self,
        context: ActionContext,
        cluster: str,
        policy: str,
        also: Also | None = None,
    ) -> Bound | None:
        """Have it look to a policy no more; None: it did not."""
        around = self._around(context, cluster, actions.CLUSTER_DETACH_POLICY)
        bound = _among(around.ask(lambda: self._bound(around.cluster)), policy)
        if bound is None:
            return None
        self._let_go(around, bound)
        self._forget(around, [bound], also)
        return bound

    def detach_all(
        self, context: ActionContext, cluster: str, also: Also | None = None
    ) -> None:
        """Have a cluster that is deleted look to no policy.

        What a policy cannot clean up is logged: the cluster goes in any case.
        """
        around = self._around(context, cluster, actions.CLUSTER_DELETE)
        bounds = around.ask(lambda: self._bound(around.cluster))
        for bound in bounds:
            try:
                self._let_go(around, bound)
            except Exception as error:  # a plugin may raise anything
                LOG.warning(
                    'Policy %s (%s) could not let go of cluster %s, which is '
                    'deleted: %s; look after what it made for it',
                    *(bound.policy.name, bound.policy.type, cluster),
                    public_text(error),
                )
        if bounds:
            self._forget(around, bounds, also)

    def update(
        self,
        context: ActionContext,
        cluster: str,
        policy: str,
        enabled: bool,
        also: Also | None = None,
    ) -> Bound:
        """Have a policy asked, or not; PolicyBindingNotFound."""
        around = self._around(context, cluster, actions.CLUSTER_UPDATE_POLICY)

        def changed(tx: Transaction, row: Cluster) -> Bound:
            known = _among(tx.bindings_of(row.id or 0), policy)
            if known is None:
                raise exceptions.PolicyBindingNotFound(
                    f"The policy '{policy}' is not found attached to the specified "
                    f"cluster '{cluster}'."
                )
            bound = Bound(known.binding.evolve(enabled=enabled), known.policy)
            tx.save_bindings([bound.binding])
            if also is not None:
                also(tx, bound)
            return bound

        return around.write(changed)

    # parts

    def _around(
        self, context: ActionContext, uuid: str, action_type: str
    ) -> Surroundings:
        row = self._store.clusters_by_uuid([uuid]).get(uuid)
        if row is None or row.deleted_at is not None:
            raise not_found(Cluster, uuid)
        doing = _Doing(context.uuid, action_type, context.inputs, uuid)
        return Surroundings(self._store, self._plugins, context, doing, row)

    def _bound(self, cluster: Cluster) -> Sequence[Bound]:
        key = cluster.id or 0
        return self._store.bindings_of_clusters([key]).get(key, [])

    def _find(self, uuid: str, cluster: Cluster) -> PolicyObject:
        return self._store.find_noun(PolicyObject, uuid, cluster.owner.tenant)

    def _to_ask(
        self, bound: Bound, action_type: str, around: Surroundings
    ) -> tuple[Policy, base.PolicyContext] | None:
        """Return a policy if it has to do with a type of action."""
        if not bound.binding.enabled:
            return None
        try:
            plugin = self._plugins.make_policy(bound.policy.type)
            if action_type not in plugin.before | plugin.after:
                return None
            # As it was when it was attached, whatever the type says by now.
            vars(plugin)['priority'] = bound.binding.priority
            return plugin, self._told(plugin, bound, around)
        except (exceptions.PluginError, exceptions.Invalid) as error:
            if action_type in _LEAVING:
                return None
            raise PolicyCheckFailed(bound.policy.name, str(error)) from error

    def _told(
        self, plugin: Policy, bound: Bound, around: Surroundings
    ) -> base.PolicyContext:
        """Return what a policy is handed; InvalidSpec if it knows other properties."""
        given = bound.policy.spec.get('properties') or {}
        fitting = self._plugins.fit_policy(plugin, given)
        return cast(base.PolicyContext, PolicyContext(around, bound, fitting))

    def _check_single(
        self,
        plugin: Policy,
        policy: PolicyObject,
        bounds: Sequence[Bound],
        cluster: Cluster,
    ) -> None:
        name = _bare(policy.type)
        for bound in bounds:
            if plugin.singleton and _bare(bound.policy.type) == name:
                raise exceptions.Conflict(
                    f'Only one instance of policy type ({policy.type}) can be attached '
                    f'to a cluster, but another instance ({bound.policy.uuid}) is '
                    f'found attached to the cluster ({cluster.uuid}) already.'
                )

    def _check_profile(
        self, plugin: Policy, policy: PolicyObject, around: Surroundings
    ) -> None:
        if not plugin.profile_types:
            return
        key = around.cluster.profile_id
        profile = around.ask(lambda: self._store.nouns_by_id(Profile, [key]))[key]
        if profile.type not in plugin.profile_types:
            raise exceptions.Conflict(
                f'Policy not applicable on profile type: {policy.type} is for '
                f'{", ".join(plugin.profile_types)}, not for {profile.type}.'
            )

    def _let_go(self, around: Surroundings, bound: Bound) -> None:
        try:
            plugin = self._plugins.make_policy(bound.policy.type)
            told = self._told(plugin, bound, around)
        except (exceptions.PluginError, exceptions.Invalid) as error:
            # Else it could never be got rid of.
            LOG.warning(
                'Policy %s lets go of cluster %s without being asked: %s; look after '
                'what it made for it',
                *(bound.policy.name, around.cluster.uuid, error),
            )
            return
        plugin.detach(told)

    def _forget(
        self, around: Surroundings, bounds: Sequence[Bound], also: Also | None
    ) -> None:
        def forgotten(tx: Transaction, row: Cluster) -> None:
            tx.delete_bindings([bound.binding.id or 0 for bound in bounds])
            if also is not None:
                for bound in bounds:
                    also(tx, bound)

        around.write(forgotten)

    def _also(self, around: Surroundings, bound: Bound, also: Also | None) -> None:
        if also is not None:
            around.write(lambda tx, row: also(tx, bound))


def is_health(policy: PolicyObject) -> bool:
    """Say whether a cluster is looked after by a policy."""
    return policy.type.startswith(HEALTH)


def _among(bounds: Sequence[Bound], policy: str) -> Bound | None:
    return next((bound for bound in bounds if bound.policy.uuid == policy), None)


def _bare(policy_type: str) -> str:
    """Return the type of a policy without its version."""
    return policy_type.rpartition('-')[0]
