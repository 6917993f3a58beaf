"""The services of operations and actions on clusters."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.clusters import not_found
from watcherlite.destinations import Destinations
from watcherlite.domain import commands
from watcherlite.domain.clusters import Cluster, Profile
from watcherlite.engine.affinity import LiveHosts
from watcherlite.engine.clusters.profile_types import ProfileTypes
from watcherlite.engine.clusters.stack_profile import StackBackend
from watcherlite.engine.stacks.handlers import ResourceHandlers
from watcherlite.plugins.base import LoadBalancer, Policy

#: Maximum number of cached profiles, and of cached clusters.
CACHE_SIZE = 1024

Row = TypeVar('Row', Profile, Cluster)


class ClusterPlugins(ResourceHandlers, Protocol):
    """Makes resource handlers, policies and drivers of load balancers."""

    def make(self, namespace: str, name: str) -> Any:
        """Return an instance; raises PluginNotFound or PluginError."""

    def loadable(self, namespace: str) -> Mapping[str, Any]:
        """Return the usable classes of a namespace, by name."""

    def make_policy(self, name: str) -> Policy:
        """Return a policy; raises what `make` does."""

    def make_load_balancer(self, name: str) -> LoadBalancer:
        """Return a load balancer's driver; raises what `make` does."""

    def fit_policy(self, policy: Any, given: Any) -> dict[str, Any]:
        """Return the properties of a policy with their defaults; InvalidSpec."""

    def validate_inputs(self, action_type: Any, inputs: Any) -> None:
        """Validate inputs by the schema of an action type; raises InvalidInput."""

    def fill_parameters(
        self, spec: Mapping[str, Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return values with the defaults of their schema; InvalidInput."""


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterLimits:
    """Limits of clusters.

    :param nodes: maximum number of nodes of a cluster
    :param clusters: quota of a project; 0: unlimited
    :param timeout: default timeout of actions on a cluster, in seconds
    :param check_interval_min: minimum seconds between two health checks
    :param check_interval_max: maximum seconds between two health checks
    :param unique_names: whether names of clusters, nodes etc. are unique in a project
    :param user_actions: action types of plugins that users may request on clusters and
        nodes; empty: all
    :param load_balancers: the names of drivers of load balancers, the preferred one
        first
    """

    nodes: int = 1000
    clusters: int = 100
    timeout: int = 3600
    check_interval_min: int = 1
    check_interval_max: int = 3600
    unique_names: bool = False
    user_actions: frozenset[str] = frozenset()
    load_balancers: tuple[str, ...] = ('haproxy',)


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterServices:
    """The services of operations and actions on clusters.

    :param plugins: resource handlers, policies, drivers of load balancers
    :param stacks: for nodes that are stacks; None: nodes cannot be stacks
    :param destinations: returns the allowed destinations of connections
    :param hosts: this host, and the others that are alive
    """

    store: Store
    plugins: ClusterPlugins
    messenger: commands.Messenger
    stacks: StackBackend | None = None
    limits: ClusterLimits = ClusterLimits()
    destinations: Callable[[], Destinations] = Destinations
    hosts: LiveHosts = dataclasses.field(default_factory=LiveHosts)
    _profiles: dict[int, Profile] = dataclasses.field(default_factory=dict)
    _clusters: dict[int, Cluster] = dataclasses.field(default_factory=dict)

    @property
    def profile_types(self) -> ProfileTypes:
        """Return the profile types."""
        return ProfileTypes(self.plugins, self.stacks)

    def profile(self, profile_id: int) -> Profile:
        """Return a profile by its id; its spec never changes.

        :raises NotFound: there is none
        """
        found = self._cached(Profile, self._profiles, profile_id)
        if found is None:
            raise not_found(Profile, str(profile_id))
        return found

    def cluster_of(self, cluster_id: int | None) -> Cluster | None:
        """Return the cluster of a node from a cache; None: it has none.

        Only its uuid and its name are current.
        """
        if cluster_id is None:
            return None
        return self._cached(Cluster, self._clusters, cluster_id)

    def _cached(self, kind: type[Row], known: dict[int, Row], key: int) -> Row | None:
        found = known.get(key)
        if found is None:
            found = self.store.objects_by_id(kind, [key]).get(key)
            if found is not None:
                if len(known) >= CACHE_SIZE:
                    known.clear()
                known[key] = found
        return found

    def cluster(self, uuid: str) -> Cluster:
        """Return a cluster that is not deleted, by its uuid.

        :raises NotFound: there is none
        """
        found = self.store.clusters_by_uuid([uuid]).get(uuid)
        if found is None or found.deleted_at is not None:
            raise not_found(Cluster, uuid)
        return found


def no_worker_error() -> exceptions.PluginError:
    """Return the error of an action type instance without a worker."""
    return exceptions.PluginError(
        'Only a worker of watcherlite can execute actions on clusters'
    )
