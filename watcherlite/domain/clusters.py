"""Clusters, nodes, and what they are made from: values, without I/O."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.states import cluster as states

#: The type of receiver that is triggered by HTTP, with its id alone.
WEBHOOK = 'webhook'


@dataclasses.dataclass(frozen=True, slots=True)
class Owner:
    """Who something belongs to: the project decides who sees it."""

    tenant: str
    user: str | None = None
    domain: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Profile:
    """What nodes are made from. Its spec never changes.

    :param type: as clients write it: `local.process-1.0`
    :param handler: the resource handler that this stands for: `Local::Process`
    :param spec: {'type': ..., 'version': ..., 'properties': {...}}, as given
    """

    uuid: str
    name: str
    type: str
    handler: str
    spec: Mapping[str, Any]
    owner: Owner
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    id: int | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'Profile':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True, slots=True)
class PolicyObject:
    """A policy with its properties, which clusters may be bound to.

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
    id: int | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'PolicyObject':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """A group of like nodes. All but `id`, `uuid` and the owner may change.

    :param max_size: below 0: any number
    :param next_index: of the node that comes next
    :param timeout: seconds that an action on it may take
    :param data: what policies and health keep: `loadbalancers`, ...
    :param dependents: what uses it
    :param init_at: when it was asked for; `created_at`: when it was made
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
    id: int | None = None
    init_at: datetime.datetime | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'Cluster':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """A resource made from a profile, in a cluster or in none.

    :param cluster_id: None: it is in no cluster
    :param index: its number in its cluster; -1 in none
    :param role: free text
    :param tainted: it is to be the first to go
    :param data: what policies and profiles decided: `placement`, `lb_member`, ...
    :param handler: the resource handler that made it, or is to
    :param physical_id: what the handler calls it; None: it was never made
    :param properties: that it was last made to fit
    :param attributes: as the handler last told them: its details
    :param kept: what only the handler reads
    :param origin: uuid of the action that stored it, so that one that begins again
        finds what it has stored
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
    id: int | None = None
    init_at: datetime.datetime | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'Node':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)

    @property
    def active(self) -> bool:
        """Return whether it is well, as far as is known."""
        return self.status == states.ACTIVE


@dataclasses.dataclass(frozen=True, slots=True)
class Binding:
    """A policy that a cluster is bound to.

    :param priority: that of the policy when it was attached; lower is asked first
    :param data: what the policy keeps for this cluster
    :param last_op: when it was last heeded, for a cooldown
    """

    uuid: str
    cluster_id: int
    policy_id: int
    priority: int
    enabled: bool = True
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    last_op: datetime.datetime | None = None
    id: int | None = None

    def evolve(self, **changes: Any) -> 'Binding':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True, slots=True)
class Receiver:
    """Asks for an action on a cluster when it is triggered from outside.

    :param action: CLUSTER_SCALE_OUT, ...
    :param actor: who the action is asked for by; never credentials
    :param params: inputs of the action that the trigger does not give
    :param channel: {'alarm_url': ...}, without the token
    :param token_digest: of the token that triggers it; None: nothing does
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
    id: int | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    token_digest: str | None = None

    def evolve(self, **changes: Any) -> 'Receiver':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True, slots=True)
class Bound:
    """A binding with the policy, as policies are asked by and shown."""

    binding: Binding
    policy: PolicyObject
