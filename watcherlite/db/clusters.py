"""The part of the store that keeps clusters, nodes, and what they are made from.

As in `db.api`: compare and set, all or nothing, no query per row.
"""

import dataclasses
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from watcherlite import exceptions
from watcherlite.db.query import EventQuery, Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import (
    Binding,
    Bound,
    Cluster,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)
from watcherlite.domain.events import CLUSTER, Event, StoredEvent

ClusterObject = TypeVar('ClusterObject', Profile, PolicyObject, Cluster, Node, Receiver)
#: What no action makes or changes.
Spec = TypeVar('Spec', Profile, PolicyObject, Receiver)

#: noun -> by what its lists are sorted, the id last, in the direction of the last key.
#: Rows are found along an index of the first key, but for UNINDEXED.
SORT_KEYS: Mapping[type, tuple[str, ...]] = {
    Profile: ('type', 'name', 'created_at', 'updated_at'),
    PolicyObject: ('type', 'name', 'created_at', 'updated_at'),
    Cluster: ('name', 'status', 'init_at', 'created_at', 'updated_at'),
    Node: ('index', 'name', 'status', 'init_at', 'created_at', 'updated_at'),
    Receiver: ('name', 'type', 'action', 'cluster_id', 'created_at'),
    Action: (
        'name',
        'target',
        'action',
        'created_at',
        'status',
        'start_time',
        'end_time',
        'updated_at',
    ),
}
#: What changes with the steps of an action has no index, which every step of every
#: plan would have to pay for: the actions of the project are sorted.
UNINDEXED = frozenset({'start_time', 'end_time', 'updated_at'})
#: noun -> by what its lists are sorted unless something else is said
DEFAULT_SORT: Mapping[type, str] = {
    Profile: 'created_at',
    PolicyObject: 'created_at',
    Cluster: 'init_at',
    Node: 'init_at',
    Receiver: 'created_at',
    Action: 'created_at',
}
#: noun -> by what its lists are filtered, each a collection of allowed values. The
#: `cluster_id` of nodes and receivers is the id (int) of the row, or None for those of
#: no cluster; that of actions is a uuid.
FILTERS: Mapping[type, tuple[str, ...]] = {
    Profile: ('name', 'type'),
    PolicyObject: ('name', 'type'),
    Cluster: ('name', 'status'),
    Node: ('name', 'status', 'cluster_id'),
    Receiver: ('name', 'type', 'cluster_id', 'user', 'action'),
    Action: ('name', 'target', 'action', 'status', 'cluster_id'),
}

# The levels of events: that of a phase `error`, and that of others
ERROR = 'ERROR'
INFO = 'INFO'
LEVELS = (ERROR, INFO)
#: What a user says that a noun is, for messages.
TITLES: Mapping[type, str] = {
    Profile: 'profile',
    PolicyObject: 'policy',
    Cluster: 'cluster',
    Node: 'node',
    Receiver: 'receiver',
    Action: 'action',
}
#: The name of the collection of each noun.
COLLECTIONS: Mapping[type, str] = {
    Profile: 'profiles',
    PolicyObject: 'policies',
    Cluster: 'clusters',
    Node: 'nodes',
    Receiver: 'receivers',
    Action: 'cluster_actions',
}
#: Most uuids that an error lists.
LISTED = 10
_SHORT_ID = re.compile(r'[0-9a-f]{4}[0-9a-f-]{0,32}')


@dataclasses.dataclass(frozen=True, slots=True)
class ListedAction:
    """An action as the clustering API shows it.

    :param depends_on: uuids of the unfinished actions that it waits for
    :param depended_by: uuids of the unfinished actions that wait for it
    :param holders: (action type, uuid) of the actions that hold the lock that it waits
        for, by id
    """

    action: Action
    depends_on: tuple[str, ...] = ()
    depended_by: tuple[str, ...] = ()
    holders: tuple[tuple[str, str], ...] = ()


def short_id(name: str) -> str | None:
    """Return the beginning of a uuid that a name can be, None if it cannot be one."""
    low = name.lower()
    return low if _SHORT_ID.fullmatch(low) else None


def not_found(kind: type, name: str) -> exceptions.NotFound:
    """Return the error for an object that is not there for who asks."""
    text = f"The {TITLES[kind]} '{name}' could not be found."
    return exceptions.NotFound(text)


def in_use(kind: type, uuid: str, by: str) -> exceptions.ResourceInUse:
    """Return the error for an object that others refer to."""
    return exceptions.ResourceInUse(
        f"The {TITLES[kind]} '{uuid}' cannot be deleted: still referenced by some {by}."
    )


def level_of(event: Event) -> str:
    """Return the level of an event of a cluster or node."""
    return ERROR if (event.detail or {}).get('phase') == 'error' else INFO


def is_within(event: Event) -> str | None:
    """Return the uuid of the cluster that an event is about, if it is about one."""
    return (event.detail or {}).get('uuid' if event.subject == CLUSTER else 'cluster')


class ClusterTransaction(Protocol):
    """The part of `db.api.Transaction` that is about clusters.

    Locked in the order: clusters, then nodes, then actions; several of a kind in the
    order of their ids. Who changes a cluster or node, or tells an event of it,
    locks it first: that orders its events by commit.
    """

    def insert_object(self, row: ClusterObject) -> ClusterObject:
        """Store a profile, policy, cluster, node or receiver; return it with its id."""

    def insert_nodes(self, nodes: Sequence[Node]) -> list[int]:
        """Store new nodes in bulk; return the ids, in the same order."""

    def lock_object(self, row: Spec) -> Spec | None:
        """Lock a row until the end and return it as it is; None: it is gone."""

    def save_object(self, row: Profile | PolicyObject | Receiver) -> None:
        """Write all of a row that may change."""

    def delete_object(self, row: Profile | PolicyObject | Receiver) -> None:
        """Delete a row; ResourceInUse, with nothing deleted, when another refers to it.

        A cluster or node that is softly deleted does not count.
        """

    def lock_clusters(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        """Lock the rows until the end and return them as they are, by uuid.

        Softly deleted ones included.
        """

    def lock_clusters_by_id(self, ids: Iterable[int]) -> dict[int, Cluster]:
        """Likewise, by id."""

    def save_clusters(self, clusters: Iterable[Cluster]) -> None:
        """Write all of clusters that this transaction has locked."""

    def lock_nodes(self, uuids: Iterable[str]) -> dict[str, Node]:
        """Lock the rows until the end and return them as they are, by uuid.

        Softly deleted ones included.
        """

    def lock_nodes_of(self, cluster_id: int) -> list[Node]:
        """Lock the nodes of a cluster that are not deleted, by id."""

    def save_nodes(self, nodes: Sequence[Node]) -> None:
        """Write all of nodes that this transaction has locked, in bulk."""

    def count_nodes(self, cluster_ids: Iterable[int]) -> dict[int, dict[str, int]]:
        """Return how many nodes of each status clusters have: id -> status -> n."""

    def unfinished_actions(
        self, targets: Iterable[str], within: Iterable[str] = ()
    ) -> list[Action]:
        """Return the actions that are not final and lock one of these targets.

        Those of which the cause is a request, that is; and of those of no tenant,
        as plans have, the ones that hold the lock or wait for it.

        :param within: likewise those that are in one of these
        """

    def drop_actions(self, ids: Iterable[int]) -> None:
        """Delete finished actions of no plan, with their dependencies.

        Those that have not finished stay. Their events, if they have any, stay until
        they are purged by age.
        """

    def insert_binding(self, binding: Binding) -> Binding:
        """Store a new binding; Conflict when the cluster has that policy."""

    def save_bindings(self, bindings: Sequence[Binding]) -> None:
        """Write all of bindings, of clusters that this transaction has locked."""

    def delete_bindings(self, ids: Iterable[int]) -> None:
        """Delete bindings."""

    def bindings_of(self, cluster_id: int) -> list[Bound]:
        """Return what a cluster is bound to, by priority and id."""


class ClusterStore(Protocol):
    """The part of `db.api.Store` that is about clusters."""

    def find_object(
        self, kind: type[ClusterObject], name: str, tenant: str | None
    ) -> ClusterObject:
        """Return a row by uuid, by name, or by the beginning of its uuid.

        In that sequence; the last with at least 4 hex digits. Softly deleted ones
        are not found.

        :raises NotFound: none is meant
        :raises Ambiguous: several are; the text lists their uuids
        """

    def find_cluster_action(self, name: str, tenant: str | None) -> ListedAction:
        """Return an action of a tenant by uuid, name or short id; likewise."""

    def list_objects(
        self, kind: type[ClusterObject], query: Query
    ) -> list[ClusterObject]:
        """Return a page, by one statement."""

    def list_cluster_actions(self, query: Query) -> list[ListedAction]:
        """Return a page of actions of a tenant (or of any), by two statements.

        Those of plans, stacks and audits, which have no tenant, are none of them.
        """

    def objects_by_id(
        self, kind: type[ClusterObject], ids: Iterable[int]
    ) -> dict[int, ClusterObject]:
        """Return rows by their ids, softly deleted ones included."""

    def clusters_by_uuid(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        """Return clusters by uuid, softly deleted ones included."""

    def nodes_by_uuid(self, uuids: Iterable[str]) -> dict[str, Node]:
        """Return nodes by uuid, softly deleted ones included."""

    def nodes_of(self, cluster_ids: Iterable[int]) -> list[Node]:
        """Return the nodes of clusters that are not deleted, by id."""

    def bindings_of_clusters(
        self, cluster_ids: Iterable[int]
    ) -> dict[int, list[Bound]]:
        """Return what clusters are bound to: by id, each by priority and id."""

    def list_cluster_events(self, query: EventQuery) -> list[StoredEvent]:
        """Return a page of events of clusters and nodes, in one statement."""

    def purge_clusters(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        """Delete rows of clusters and nodes that were deleted before a time.

        As `StackStore.purge_stacks` does it; also their finished actions and events.

        :returns: how many rows: `clusters`, `nodes`, `actions`, `events`
        """
