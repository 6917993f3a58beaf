"""Contract of the store: the purge of clusters and nodes."""

from tests.contract.cluster_case import cluster_event, make_binding
from tests.contract.store_cluster_lists import StoreClusterListsContract
from tests.factories import NOW, at
from watcherlite.domain.actions import Action

LATER = at(10**9)


class StoreClusterPurgingContract(StoreClusterListsContract):
    """A purge deletes old soft-deleted rows with their actions and events."""

    def assert_clusters_purged(self, *counts: int) -> None:
        """Check the numbers of purged clusters, nodes, actions and events."""
        names = ('clusters', 'nodes', 'actions', 'events')
        expected = dict(zip(names, counts, strict=True))
        self.assert_rows_purged(self.store.purge_clusters, **expected)

    def test_deleted_clusters_and_nodes_are_purged_with_their_rows(self) -> None:
        cluster, kept, node = self.insert_cluster_events()
        policy = self.insert_policy()
        self.commit(lambda tx: tx.insert_binding(make_binding(cluster, policy)))
        young = self.insert_cluster()
        done = {'status': 'SUCCEEDED', 'updated_at': NOW}
        _, _, left = self.insert_actions(
            {'target': cluster.uuid, **done},
            {'target': node.uuid, 'within': cluster.uuid, **done},
            {'target': kept.uuid, **done},
        )
        self.delete_softly(young, LATER)
        self.delete_softly(cluster)
        self.delete_softly(node)
        self.publish()
        self.assert_clusters_purged(1, 1, 2, 4)
        uuids = [cluster.uuid, kept.uuid, young.uuid]
        self.assertEqual({kept.uuid, young.uuid}, {*self.store.clusters_by_uuid(uuids)})
        self.assertEqual({}, self.store.nodes_by_uuid([node.uuid]))
        self.assertEqual({}, self.store.bindings_of_clusters([cluster.id]))
        self.assertEqual('3 5', self.event_names(tenant=None))
        self.assertEqual([left], self.noun_page(Action))
        self.commit(lambda tx: tx.delete_object(policy))

    def test_clusters_with_nodes_unfinished_actions_or_unpublished_events_are_kept(
        self,
    ) -> None:
        cluster = self.insert_cluster()
        busy, unpublished, node = self.insert_nodes(cluster, {}, {}, {})
        self.delete_softly(cluster)
        self.assert_clusters_purged(0, 0, 0, 0)
        (action,) = self.insert_actions({'target': busy.uuid, 'within': cluster.uuid})
        self.add_cluster_events(cluster_event(unpublished, cluster))
        for row in (busy, unpublished, node):
            self.delete_softly(row)
        self.assert_clusters_purged(0, 1, 0, 0)
        self.publish()
        self.assert_clusters_purged(0, 1, 0, 1)
        self.changed(action, status='FAILED', updated_at=NOW)
        self.assert_clusters_purged(1, 1, 1, 0)

    def test_a_purge_includes_clusters_and_its_dry_run_counts_the_same(self) -> None:
        cluster, _, node = self.insert_cluster_events()
        ended = ({'updated_at': NOW}, {'updated_at': at(10**8)})
        self.insert_actions(
            *({'target': node.uuid, 'status': 'FAILED', **one} for one in ended)
        )
        self.delete_softly(node)
        self.delete_softly(cluster)
        self.publish()
        before = at(5)
        expected = dict(self.store.purge(before, 100, dry_run=True))
        self.assertEqual(
            {'clusters': 1, 'nodes': 1, 'actions': 2},
            {name: expected[name] for name in ('clusters', 'nodes', 'actions')},
        )
        self.assertEqual(expected, dict(self.store.purge(before, 100)))
        self.assertEqual({}, self.store.clusters_by_uuid([cluster.uuid]))
