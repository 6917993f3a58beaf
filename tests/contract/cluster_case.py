"""The base case of the store contract of clusters."""

import datetime
from typing import Any

from tests.contract.store_case import StoreCase, make_bare_event
from tests.factories import NOW, make_action, new_uuid, store_actions
from watcherlite.db.api import Transaction
from watcherlite.db.clusters import ClusterObject, NewObject
from watcherlite.domain import events
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.domain.clusters import (
    Cluster,
    NewBinding,
    NewCluster,
    NewNode,
    NewPolicyObject,
    NewProfile,
    NewReceiver,
    Node,
    Owner,
    PolicyObject,
    Profile,
)
from watcherlite.domain.events import Event

OWNER = Owner('project-a', 'ann', 'default')
OTHER = Owner('project-b', 'bob')


def make_profile(**values: Any) -> NewProfile:
    """Return a new profile."""
    return NewProfile(
        **{
            'uuid': new_uuid(),
            'name': f'profile-{new_uuid()}',
            'type': 'local.process-1.0',
            'handler': 'Local::Process',
            'spec': {'type': 'local.process', 'properties': {'password': 'sesame'}},
            'owner': OWNER,
            'created_at': NOW,
            **values,
        }
    )


def make_policy(**values: Any) -> NewPolicyObject:
    """Return a new policy."""
    return NewPolicyObject(
        **{
            'uuid': new_uuid(),
            'name': f'policy-{new_uuid()}',
            'type': 'senlin.policy.scaling-1.0',
            'spec': {'properties': {'event': 'CLUSTER_SCALE_IN'}},
            'owner': OWNER,
            'created_at': NOW,
            **values,
        }
    )


def make_cluster(profile: Profile, **values: Any) -> NewCluster:
    """Return a new cluster."""
    return NewCluster(
        **{
            'uuid': new_uuid(),
            'name': f'cluster-{new_uuid()}',
            'owner': OWNER,
            'profile_id': profile.id,
            'init_at': NOW,
            **values,
        }
    )


def make_node(cluster: Cluster, **values: Any) -> NewNode:
    """Return a new node of a cluster."""
    return NewNode(
        **{
            'uuid': new_uuid(),
            'name': f'node-{new_uuid()}',
            'owner': cluster.owner,
            'profile_id': cluster.profile_id,
            'handler': 'Local::Process',
            'cluster_id': cluster.id,
            'init_at': NOW,
            **values,
        }
    )


def make_receiver(**values: Any) -> NewReceiver:
    """Return a new receiver."""
    return NewReceiver(
        **{
            'uuid': new_uuid(),
            'name': f'receiver-{new_uuid()}',
            'type': 'webhook',
            'owner': OWNER,
            'created_at': NOW,
            **values,
        }
    )


def make_binding(cluster: Cluster, policy: PolicyObject, **values: Any) -> NewBinding:
    """Return a new binding."""
    ids = {'cluster_id': cluster.id, 'policy_id': policy.id}
    return NewBinding(new_uuid(), priority=values.pop('priority', 50), **ids, **values)


def cluster_event(
    row: Cluster | Node, cluster: Cluster | None = None, **values: Any
) -> Event:
    """Return an event of a cluster, or of a node in one.

    :param values: also `phase`, and `type` of the action
    """
    detail = {
        'action': {'uuid': new_uuid(), 'type': values.pop('type', 'CLUSTER_CHECK')},
        'phase': values.pop('phase', 'start'),
        'uuid': row.uuid,
        'name': row.name,
    }
    if isinstance(row, Node):
        detail['cluster'] = cluster.uuid if cluster is not None else None
    given: dict[str, Any] = {
        'subject': events.CLUSTER if isinstance(row, Cluster) else events.NODE,
        'subject_id': row.id,
        'new_status': row.status,
        'detail': detail,
        **values,
    }
    return make_bare_event(**given)


class ClusterCase(StoreCase):
    """Methods to store and change clusters and nodes."""

    def store_object(self, row: NewObject[ClusterObject]) -> ClusterObject:
        """Store a row in a transaction of its own."""
        return self.commit(lambda tx: tx.insert_object(row))

    def insert_profile(self, **values: Any) -> Profile:
        return self.store_object(make_profile(**values))

    def insert_policy(self, **values: Any) -> PolicyObject:
        return self.store_object(make_policy(**values))

    def insert_cluster(self, **values: Any) -> Cluster:
        profile = values.pop('profile', None) or self.insert_profile()
        return self.store_object(make_cluster(profile, **values))

    def insert_nodes(self, cluster: Cluster, *given: dict[str, Any]) -> list[Node]:
        """Store nodes of a cluster."""
        nodes = [make_node(cluster, **values) for values in given]
        ids = self.commit(lambda tx: tx.insert_nodes(nodes))
        return [node.stored(key) for node, key in zip(nodes, ids, strict=True)]

    def save_cluster(self, cluster: Cluster) -> Cluster:
        """Lock a cluster and save it."""

        def block(tx: Transaction) -> None:
            tx.lock_clusters([cluster.uuid])
            tx.save_clusters([cluster])

        self.commit(block)
        return cluster

    def save_nodes(self, *nodes: Node) -> list[Node]:
        """Lock nodes and save them."""

        def block(tx: Transaction) -> None:
            tx.lock_nodes(node.uuid for node in nodes)
            tx.save_nodes(nodes)

        self.commit(block)
        return list(nodes)

    def delete_softly(self, row: Cluster | Node, when: datetime.datetime = NOW) -> None:
        """Soft-delete a cluster or node."""
        if isinstance(row, Cluster):
            self.save_cluster(row.evolve(deleted_at=when))
        else:
            self.save_nodes(row.evolve(deleted_at=when))

    def insert_actions(self, *given: dict[str, Any]) -> list[Action]:
        """Store actions of the clustering API."""
        common = {'lane': ENGINE, 'tenant': OWNER.tenant, 'status': 'READY'}
        actions = [make_action(**{**common, **values}) for values in given]
        return store_actions(self.store, *actions)

    def add_cluster_events(self, *added: Event) -> None:
        """Store events."""
        self.commit(lambda tx: tx.add_events(added))
