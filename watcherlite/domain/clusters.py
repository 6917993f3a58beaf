"""Clusters, nodes, profiles, policies and receivers: values, without I/O."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.rows import Value, stored
from watcherlite.states import cluster as states

#: The type of receiver that is triggered by an HTTP request.
WEBHOOK = 'webhook'


@dataclasses.dataclass(frozen=True, slots=True)
class Owner:
    """The owner of an object: the project decides who sees it."""

    tenant: str
    user: str | None = None
    domain: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NewProfile(Value):
    """A definition of nodes that is not stored yet. Its spec is immutable.

    :param type: as clients write it: `local.process-1.0`
    :param handler: its resource handler: `Local::Process`
    :param spec: {'type': ..., 'version': ..., 'properties': {...}}, as given
    """

    uuid: str
    name: str
    type: str
    handler: str
    spec: Mapping[str, Any]
    owner: Owner
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'Profile':
        return stored(self, Profile, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Profile(NewProfile):
    """A stored profile."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewPolicyObject(Value):
    """A policy with its properties that is not stored yet.

    Clusters may be bound to it.

    :param type: as clients write it, and the name of its entry point:
        `senlin.policy.scaling-1.0`
    :param spec: {'type': ..., 'version': ..., 'properties': {...}}, as given
    """

    uuid: str
    name: str
    type: str
    spec: Mapping[str, Any]
    owner: Owner
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'PolicyObject':
        return stored(self, PolicyObject, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PolicyObject(NewPolicyObject):
    """A stored policy object."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewCluster(Value):
    """A set of homogeneous nodes that is not stored yet.

    All but `uuid` and the owner may change.

    :param max_size: below 0: unlimited
    :param next_index: of the next node
    :param timeout: seconds that an action on it may take
    :param data: of policies and health checks: `loadbalancers`, ...
    :param dependents: objects that use it
    :param init_at: time of the request; `created_at`: time of the creation
    """

    uuid: str
    name: str
    owner: Owner
    profile_id: int
    desired_capacity: int = 0
    min_size: int = 0
    max_size: int = -1
    next_index: int = 1
    timeout: int = 3600
    status: str = states.INIT
    status_reason: str = ''
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    dependents: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    init_at: datetime.datetime | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def stored(self, key: int) -> 'Cluster':
        return stored(self, Cluster, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(NewCluster):
    """A stored cluster."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewNode(Value):
    """A node that is not stored yet: a resource of a profile, in a cluster or in none.

    :param cluster_id: None: it is in no cluster
    :param index: its number in its cluster; -1 without one
    :param role: free text
    :param tainted: it is to be removed first
    :param data: decisions of policies and profiles: `placement`, `lb_member`, ...
    :param handler: its resource handler
    :param physical_id: from the handler; None: it was never created
    :param properties: the last applied ones
    :param attributes: the last ones from the handler: its details
    :param kept: private data of the handler
    :param origin: uuid of the action that stored it, so that a repeated one finds it
    :param last: uuid of the action that changed it last
    """

    uuid: str
    name: str
    owner: Owner
    profile_id: int
    handler: str
    cluster_id: int | None = None
    index: int = -1
    role: str = ''
    tainted: bool = False
    status: str = states.INIT
    status_reason: str = ''
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    dependents: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    physical_id: str | None = None
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    kept: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    origin: str | None = None
    last: str | None = None
    init_at: datetime.datetime | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    @property
    def active(self) -> bool:
        """Return whether it is healthy, as far as known."""
        return self.status == states.ACTIVE

    def stored(self, key: int) -> 'Node':
        return stored(self, Node, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node(NewNode):
    """A stored node."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewBinding(Value):
    """The attachment of a policy to a cluster that is not stored yet.

    :param priority: that of the policy when it was attached; ascending order
    :param data: of the policy for this cluster
    :param last_op: when it last took effect, for a cooldown
    """

    uuid: str
    cluster_id: int
    policy_id: int
    priority: int
    enabled: bool = True
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    last_op: datetime.datetime | None = None

    def stored(self, key: int) -> 'Binding':
        return stored(self, Binding, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Binding(NewBinding):
    """A stored binding."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class NewReceiver(Value):
    """A webhook that is not stored yet; it triggers an action on a cluster.

    :param action: CLUSTER_SCALE_OUT, ...
    :param actor: of the action; never credentials
    :param params: inputs of the action that the call does not override
    :param channel: {'alarm_url': ...}, without the token
    :param token_digest: of the token that triggers it; None: no call does
    """

    uuid: str
    name: str
    type: str
    owner: Owner
    cluster_id: int | None = None
    action: str | None = None
    actor: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    channel: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    token_digest: str | None = None

    def stored(self, key: int) -> 'Receiver':
        return stored(self, Receiver, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Receiver(NewReceiver):
    """A stored receiver."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class Bound:
    """A binding with its policy, for evaluation and display."""

    binding: Binding
    policy: PolicyObject
