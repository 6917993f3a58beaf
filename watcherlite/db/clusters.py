"""The interface of the store for clusters, nodes, profiles, policies and receivers."""

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
    NewBinding,
    NewNode,
    Node,
    Owner,
    PolicyObject,
    Profile,
    Receiver,
)
from watcherlite.domain.events import CLUSTER, Event, StoredEvent
from watcherlite.domain.rows import NewRow

Stored = TypeVar('Stored', covariant=True)
ClusterObject = TypeVar('ClusterObject', Profile, PolicyObject, Cluster, Node, Receiver)
#: An object that no action creates or changes.
Spec = TypeVar('Spec', Profile, PolicyObject, Receiver)


class NewObject(NewRow[Stored], Protocol[Stored]):
    """An object that is not stored yet."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def owner(self) -> Owner:
        """Return its owner."""


#: Class -> sort keys. Rows that are equal in them are sorted by id, in the direction of
#: the last key. Each key but UNINDEXED is the first key of an index.
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
#: Sort keys without an index, which every step of every action would have to update.
#: All actions of the project are sorted instead.
UNINDEXED = frozenset({'start_time', 'end_time', 'updated_at'})
#: Class -> the default sort key.
DEFAULT_SORT: Mapping[type, str] = {
    Profile: 'created_at',
    PolicyObject: 'created_at',
    Cluster: 'init_at',
    Node: 'init_at',
    Receiver: 'created_at',
    Action: 'created_at',
}
#: Class -> filters, each a collection of allowed values. The `cluster_id` of nodes and
#: receivers is the id (int) of the row, or None for those without a cluster; that of
#: actions is a uuid.
FILTERS: Mapping[type, tuple[str, ...]] = {
    Profile: ('name', 'type'),
    PolicyObject: ('name', 'type'),
    Cluster: ('name', 'status'),
    Node: ('name', 'status', 'cluster_id'),
    Receiver: ('name', 'type', 'cluster_id', 'user', 'action'),
    Action: ('name', 'target', 'action', 'status', 'cluster_id'),
}
#: The classes that can be limited to a range of times, and the column with the time at
#: which the creation was requested: `created_at` is set at its end, if it succeeds.
TIMED: Mapping[type, str] = {Cluster: 'init_at', Node: 'init_at'}

# Levels of events: ERROR in the phase `error`, otherwise INFO.
ERROR = 'ERROR'
INFO = 'INFO'
LEVELS = (ERROR, INFO)
#: Class -> its name in messages.
TITLES: Mapping[type, str] = {
    Profile: 'profile',
    PolicyObject: 'policy',
    Cluster: 'cluster',
    Node: 'node',
    Receiver: 'receiver',
    Action: 'action',
}
#: Class -> the name of its collection.
COLLECTIONS: Mapping[type, str] = {
    Profile: 'profiles',
    PolicyObject: 'policies',
    Cluster: 'clusters',
    Node: 'nodes',
    Receiver: 'receivers',
    Action: 'cluster_actions',
}
#: The maximum number of uuids in an error.
LISTED = 10
_SHORT_ID = re.compile(r'[0-9a-f]{4}[0-9a-f-]{0,32}')


@dataclasses.dataclass(frozen=True, slots=True)
class ListedClusterAction:
    """An action with its related actions, as the clustering API shows it.

    :param depends_on: uuids of its unfinished parents
    :param depended_by: uuids of its unfinished dependents
    :param holders: (action type, uuid) of the actions that hold the lock that it waits
        for, by id
    """

    action: Action
    depends_on: tuple[str, ...] = ()
    depended_by: tuple[str, ...] = ()
    holders: tuple[tuple[str, str], ...] = ()


def short_id(name: str) -> str | None:
    """Return a name as the first characters of a uuid; None if it cannot be these."""
    low = name.lower()
    return low if _SHORT_ID.fullmatch(low) else None


def not_found(kind: type, name: str) -> exceptions.NotFound:
    """Return the error for an object that does not exist in the caller's project."""
    text = f"The {TITLES[kind]} '{name}' could not be found."
    return exceptions.NotFound(text)


def in_use(kind: type, uuid: str, by: str) -> exceptions.ResourceInUse:
    """Return the error for an object that other objects refer to."""
    return exceptions.ResourceInUse(
        f"The {TITLES[kind]} '{uuid}' cannot be deleted: still referenced by some {by}."
    )


def level_of(event: Event) -> str:
    """Return the level of an event of a cluster or node."""
    return ERROR if (event.detail or {}).get('phase') == 'error' else INFO


def is_within(event: Event) -> str | None:
    """Return the uuid of the cluster of an event; None without a cluster."""
    return (event.detail or {}).get('uuid' if event.subject == CLUSTER else 'cluster')


class ClusterTransaction(Protocol):
    """The methods of `db.api.Transaction` for clusters.

    Lock a cluster or node before you change it or add events for it: that puts its
    events in commit order.
    """

    def insert_object(self, row: NewObject[ClusterObject]) -> ClusterObject:
        """Insert an object; return it with its id."""

    def insert_nodes(self, nodes: Sequence[NewNode]) -> list[int]:
        """Insert nodes in bulk; return their ids in the same order."""

    def lock_object(self, row: Spec) -> Spec | None:
        """Lock and return an object as it is stored; None if it has been deleted."""

    def save_object(self, row: Profile | PolicyObject | Receiver) -> None:
        """Write the variable fields of an object."""

    def delete_object(self, row: Profile | PolicyObject | Receiver) -> None:
        """Delete an object.

        :raises ResourceInUse: another object refers to it; softly deleted clusters and
            nodes do not count. Nothing is deleted
        """

    def lock_clusters(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        """Lock clusters, softly deleted ones included; return them by uuid."""

    def lock_clusters_by_id(self, ids: Iterable[int]) -> dict[int, Cluster]:
        """Lock clusters, softly deleted ones included; return them by id."""

    def save_clusters(self, clusters: Iterable[Cluster]) -> None:
        """Write clusters that this transaction has locked."""

    def lock_nodes(self, uuids: Iterable[str]) -> dict[str, Node]:
        """Lock nodes, softly deleted ones included; return them by uuid."""

    def lock_nodes_of(self, cluster_id: int) -> list[Node]:
        """Lock and return the nodes of a cluster that are not deleted, by id."""

    def save_nodes(self, nodes: Sequence[Node]) -> None:
        """Write nodes that this transaction has locked, in bulk."""

    def count_nodes(self, cluster_ids: Iterable[int]) -> dict[int, dict[str, int]]:
        """Return the numbers of nodes of clusters: id -> status -> number."""

    def unfinished_actions(
        self, targets: Iterable[str], within: Iterable[str] = ()
    ) -> list[Action]:
        """Return the unfinished actions with one of these targets.

        Only actions that a request caused; and of those without a project, such as
        actions of plans, only those that hold the lock of the target or wait for it.

        :param within: uuids of clusters: include the unfinished actions within these
        """

    def drop_actions(self, ids: Iterable[int]) -> None:
        """Delete finished actions without a plan, with their dependencies.

        Unfinished actions are kept. Events of deleted actions are kept until they are
        purged.
        """

    def insert_binding(self, binding: NewBinding) -> Binding:
        """Insert a binding; Conflict if the policy is already attached."""

    def save_bindings(self, bindings: Sequence[Binding]) -> None:
        """Write bindings of clusters that this transaction has locked."""

    def delete_bindings(self, ids: Iterable[int]) -> None:
        """Delete bindings."""

    def bindings_of(self, cluster_id: int) -> list[Bound]:
        """Return the bindings of a cluster, by priority and id."""


class ClusterStore(Protocol):
    """The methods of `db.api.Store` for clusters."""

    def find_object(
        self, kind: type[ClusterObject], name: str, tenant: str | None
    ) -> ClusterObject:
        """Return the object with a uuid, a name, or the first characters of its uuid.

        The first kind that matches decides; the last needs at least 4 hex digits.
        Softly deleted objects do not match.

        :raises NotFound: no object matches
        :raises Ambiguous: several match; the message lists their uuids
        """

    def find_cluster_action(self, name: str, tenant: str | None) -> ListedClusterAction:
        """Return an action of a project by uuid, name or short uuid."""

    def list_objects(
        self, kind: type[ClusterObject], query: Query
    ) -> list[ClusterObject]:
        """Return a page of objects of a class."""

    def list_cluster_actions(self, query: Query) -> list[ListedClusterAction]:
        """Return a page of actions of one project or of all.

        Without actions of plans, stacks and audits, which have no project.
        """

    def objects_by_id(
        self, kind: type[ClusterObject], ids: Iterable[int]
    ) -> dict[int, ClusterObject]:
        """Return objects by their ids, softly deleted ones included."""

    def clusters_by_uuid(self, uuids: Iterable[str]) -> dict[str, Cluster]:
        """Return clusters by uuid, softly deleted ones included."""

    def nodes_by_uuid(self, uuids: Iterable[str]) -> dict[str, Node]:
        """Return nodes by uuid, softly deleted ones included."""

    def nodes_of(self, cluster_ids: Iterable[int]) -> list[Node]:
        """Return the nodes of clusters that are not deleted, by id."""

    def bindings_of_clusters(
        self, cluster_ids: Iterable[int]
    ) -> dict[int, list[Bound]]:
        """Return the bindings of clusters, by id; of each by priority and id."""

    def list_cluster_events(self, query: EventQuery) -> list[StoredEvent]:
        """Return a page of events of clusters and nodes."""

    def purge_clusters(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, Any]:
        """Delete the rows of clusters and nodes that were softly deleted before a time.

        Up to `limit` clusters, and all such nodes, with their finished actions and
        events.

        :returns: the numbers of deleted `clusters`, `nodes`, `actions`, `events`
        """
