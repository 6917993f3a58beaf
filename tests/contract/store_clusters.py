"""Contract of the store: clusters, nodes, profiles, policies and receivers."""

from typing import Any

from tests.contract.cluster_case import (
    OTHER,
    OWNER,
    ClusterCase,
    make_binding,
    make_cluster,
    make_node,
    make_policy,
    make_profile,
    make_receiver,
)
from tests.factories import NOW, at, new_uuid
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.db.query import Query
from watcherlite.domain.clusters import (
    Bound,
    Cluster,
    NewCluster,
    Node,
    Owner,
    PolicyObject,
    Profile,
    Receiver,
)

#: A value for each field that differs from its default.
FULL_CLUSTER: dict[str, Any] = {
    'name': 'web ü',
    'desired_capacity': 3,
    'min_size': 1,
    'max_size': 5,
    'next_index': 4,
    'timeout': 60,
    'status': 'WARNING',
    'status_reason': 'number of active nodes is below',
    'metadata': {'a': [1, 'ü']},
    'config': {'node.name.format': 'n-$3I'},
    'data': {'loadbalancers': {'x': {'pool': 'p'}}},
    'dependents': {'profiles': ['p']},
    'created_at': at(1),
    'updated_at': at(2),
    'deleted_at': at(3),
}
FULL_NODE: dict[str, Any] = {
    'name': 'node ü',
    'handler': 'Local::File',
    'index': 7,
    'role': 'master',
    'tainted': True,
    'status': 'ERROR',
    'status_reason': 'it is gone',
    'metadata': {'k': 'v'},
    'data': {'placement': {'zone': 'z1'}},
    'dependents': {'x': 1},
    'physical_id': '4711',
    'properties': {'password': 'sesame'},
    'attributes': {'port': 80},
    'kept': {'pid': 12},
    'last': new_uuid(),
    'created_at': at(1),
    'updated_at': at(2),
    'deleted_at': at(3),
}


class StoreClustersContract(ClusterCase):
    """Objects are stored, locked, counted, and deleted without references."""

    # rows

    def test_an_object_of_each_class_is_returned_as_it_was_stored(self) -> None:
        profile = self.insert_profile(metadata={'a': {'b': None}}, updated_at=at(5))
        policy = self.insert_policy(data={'x': [1]}, updated_at=at(5))
        cluster = self.insert_cluster(profile=profile, **FULL_CLUSTER)
        receiver = self.store_object(
            make_receiver(
                cluster_id=cluster.id,
                action='CLUSTER_SCALE_OUT',
                actor={'user': 'ann'},
                params={'count': 2},
                channel={'alarm_url': 'http://x'},
            )
        )
        (node,) = self.insert_nodes(cluster, {**FULL_NODE, 'origin': new_uuid()})
        alone = self.store_object(make_node(cluster, cluster_id=None, owner=Owner('t')))
        for kind, rows in (
            (Profile, [profile]),
            (PolicyObject, [policy]),
            (Cluster, [cluster]),
            (Receiver, [receiver]),
            (Node, [node, alone]),
        ):
            ids = [row.id for row in rows]
            found = self.store.objects_by_id(kind, [*ids, 10**6])
            self.assertEqual(dict(zip(ids, rows, strict=True)), found)

    def test_a_uuid_is_unique_in_each_class(self) -> None:
        cluster = self.insert_cluster()
        profile = self.store.objects_by_id(Profile, [cluster.profile_id])
        for row in (
            make_cluster(profile[cluster.profile_id], uuid=cluster.uuid),
            make_profile(uuid=profile[cluster.profile_id].uuid),
        ):
            with self.assertRaises(exceptions.Conflict):
                self.store_object(row)
        self.store_object(make_node(cluster, uuid=cluster.uuid))

    def test_the_variable_fields_of_clusters_and_nodes_are_saved(self) -> None:
        cluster = self.insert_cluster()
        other = self.insert_profile()
        (node,) = self.insert_nodes(cluster, {'origin': new_uuid()})
        changed = cluster.evolve(**FULL_CLUSTER, profile_id=other.id)
        moved = node.evolve(**FULL_NODE, profile_id=other.id, cluster_id=None)
        never: dict[str, Any] = {'owner': OTHER, 'init_at': at(9)}

        def block(tx: Transaction) -> None:
            self.assertEqual(
                {cluster.uuid: cluster}, tx.lock_clusters([cluster.uuid, new_uuid()])
            )
            self.assertEqual({node.uuid: node}, tx.lock_nodes([node.uuid]))
            tx.save_clusters([changed.evolve(**never)])
            tx.save_nodes([moved.evolve(**never, origin=new_uuid())])

        self.commit(block)
        self.assertEqual(
            ({cluster.uuid: changed}, {node.uuid: moved}),
            (
                self.store.clusters_by_uuid([cluster.uuid, new_uuid()]),
                self.store.nodes_by_uuid([node.uuid]),
            ),
        )
        self.assertEqual({}, self.store.clusters_by_uuid([]))
        self.assertEqual({}, self.store.nodes_by_uuid([]))

    def test_other_classes_are_saved_without_the_spec_and_receivers_deleted(
        self,
    ) -> None:
        profile, policy = self.insert_profile(), self.insert_policy()
        receiver = self.store_object(make_receiver())
        for row, changes in (
            (profile, {'name': 'n', 'metadata': {'a': 1}, 'updated_at': at(4)}),
            (policy, {'name': 'n', 'data': {'a': 1}, 'updated_at': at(4)}),
            (receiver, {'action': 'X', 'params': {'a': 1}, 'actor': {'b': 2}}),
        ):
            changed = row.evolve(**changes)
            never = {'owner': OTHER, 'created_at': at(9)}
            if not isinstance(row, Receiver):
                never['spec'] = {}
            self.commit(lambda tx, r=changed, n=never: tx.save_object(r.evolve(**n)))
            found = self.store.objects_by_id(type(row), [row.id])
            self.assertEqual({row.id: changed}, found)
        self.commit(lambda tx: tx.delete_object(receiver))
        self.assertEqual([], self.store.list_objects(Receiver, Query()))

    def test_nul_characters_in_texts_are_replaced(self) -> None:
        cluster = self.insert_cluster(status_reason='a\x00b')
        (node,) = self.insert_nodes(cluster, {'status_reason': 'c\x00d'})
        self.assertEqual(
            ['a?b', 'c?d'],
            [
                self.store.clusters_by_uuid([cluster.uuid])[cluster.uuid].status_reason,
                self.store.nodes_by_uuid([node.uuid])[node.uuid].status_reason,
            ],
        )

    # locks

    def test_deleted_and_other_rows_are_locked_and_returned(self) -> None:
        first, second = self.insert_cluster(), self.insert_cluster()
        gone = second.evolve(deleted_at=NOW)
        self.delete_softly(second)
        nodes = self.insert_nodes(first, {}, {}, {})
        self.delete_softly(nodes[1])
        with self.store.transaction() as tx:
            self.assertEqual(
                {first.id: first, second.id: gone},
                tx.lock_clusters_by_id([second.id, first.id, 10**6]),
            )
            both = [gone.uuid, first.uuid]
            self.assertEqual(
                {first.uuid: first, gone.uuid: gone}, tx.lock_clusters(both)
            )
            self.assertEqual([nodes[0], nodes[2]], tx.lock_nodes_of(first.id))
            self.assertEqual(
                {nodes[1].uuid: nodes[1].evolve(deleted_at=NOW)},
                tx.lock_nodes([nodes[1].uuid]),
            )
            nothing = (tx.lock_clusters([]), tx.lock_nodes([]), tx.lock_nodes_of(0))
            self.assertEqual(({}, {}, []), nothing)

    def test_a_locked_cluster_has_the_changes_of_the_previous_holder(self) -> None:
        cluster = self.insert_cluster()

        def count(tx: Transaction) -> None:
            row = tx.lock_clusters([cluster.uuid])[cluster.uuid]
            tx.save_clusters([row.evolve(next_index=row.next_index + 1)])

        self.commit_often(count)
        (found,) = self.store.clusters_by_uuid([cluster.uuid]).values()
        self.assertEqual(21, found.next_index)

    def test_locks_of_many_rows_in_any_order_do_not_deadlock(self) -> None:
        cluster = self.insert_cluster()
        nodes = self.insert_nodes(cluster, *[{}] * 20)

        def block(tx: Transaction, order: int) -> None:
            found = tx.lock_nodes(node.uuid for node in nodes[::order])
            tx.save_nodes([n.evolve(index=n.index + 1) for n in found.values()])

        self.run_concurrently(
            *(lambda o=o: self.commit(lambda tx: block(tx, o)) for o in (1, -1, 1, -1))
        )
        found = self.store.nodes_of([cluster.id])
        self.assertEqual({3}, {node.index for node in found})

    # nodes of clusters

    def test_nodes_of_clusters_are_those_that_are_not_deleted(self) -> None:
        first, second = self.insert_cluster(), self.insert_cluster()
        a, b, c = self.insert_nodes(
            first, {'status': 'ACTIVE'}, {'status': 'ERROR'}, {'status': 'ACTIVE'}
        )
        (d,) = self.insert_nodes(second, {'status': 'ACTIVE'})
        self.store_object(make_node(first, cluster_id=None))
        self.delete_softly(c)
        ids = [second.id, first.id]
        self.assertEqual([a, b, d], self.store.nodes_of(ids))
        with self.store.transaction() as tx:
            self.assertEqual(
                {first.id: {'ACTIVE': 1, 'ERROR': 1}, second.id: {'ACTIVE': 1}},
                tx.count_nodes(ids),
            )
            self.assertEqual(({}, []), (tx.count_nodes([]), self.store.nodes_of([])))

    # References

    def test_a_profile_cannot_be_deleted_while_a_cluster_or_node_uses_it(self) -> None:
        profile = self.insert_profile()
        cluster = self.insert_cluster(profile=profile)
        (node,) = self.insert_nodes(cluster, {})
        for row in (cluster, node):
            with self.assertRaisesRegex(exceptions.Conflict, profile.uuid):
                self.commit(lambda tx: tx.delete_object(profile))
            self.assertEqual(1, len(self.store.objects_by_id(Profile, [profile.id])))
            self.delete_softly(row)
        self.commit(lambda tx: tx.delete_object(profile))
        self.assertEqual({}, self.store.objects_by_id(Profile, [profile.id]))
        for late in (make_cluster(profile), make_node(cluster, cluster_id=None)):
            with self.assertRaisesRegex(exceptions.Conflict, 'profile'):
                self.store_object(late)
        with self.assertRaises(exceptions.Conflict):
            self.insert_nodes(cluster, {})

    def test_a_policy_cannot_be_deleted_while_it_is_attached(self) -> None:
        cluster, policy = self.insert_cluster(), self.insert_policy()
        self.commit(lambda tx: tx.insert_binding(make_binding(cluster, policy)))
        with self.assertRaisesRegex(exceptions.Conflict, policy.uuid):
            self.commit(lambda tx: tx.delete_object(policy))
        self.delete_softly(cluster)
        self.commit(lambda tx: tx.delete_object(policy))
        self.assertEqual({}, self.store.objects_by_id(PolicyObject, [policy.id]))
        self.assertEqual({}, self.store.bindings_of_clusters([cluster.id]))
        with self.assertRaisesRegex(exceptions.Conflict, 'policy'):
            late = make_binding(cluster, policy)
            self.commit(lambda tx: tx.insert_binding(late))

    def test_a_concurrent_deletion_and_use_of_a_profile_exclude_each_other(
        self,
    ) -> None:
        for _ in range(5):
            profile = self.insert_profile()
            cluster = make_cluster(profile)

            def use(row: NewCluster = cluster) -> bool:
                return self.is_committed(lambda tx: tx.insert_object(row))

            def delete(row: Profile = profile) -> bool:
                return self.is_committed(lambda tx: tx.delete_object(row))

            self.assertEqual([False, True], sorted(self.run_concurrently(use, delete)))

    # bindings

    def test_bindings_are_returned_with_their_policies_by_priority(self) -> None:
        cluster, other = self.insert_cluster(), self.insert_cluster()
        low, high, same = (self.insert_policy() for _ in range(3))

        def bind(of: Cluster, policy: PolicyObject, priority: int) -> Bound:
            binding = make_binding(
                of, policy, priority=priority, enabled=False, data={'a': 1}
            )
            stored = self.commit(lambda tx: tx.insert_binding(binding))
            return Bound(stored, policy)

        second = bind(cluster, high, 50)
        first = bind(cluster, low, 10)
        third = bind(cluster, same, 50)
        theirs = bind(other, low, 1)
        self.assertEqual(
            {cluster.id: [first, second, third], other.id: [theirs]},
            self.store.bindings_of_clusters([other.id, cluster.id, 10**6]),
        )
        self.assertEqual({}, self.store.bindings_of_clusters([]))
        with self.assertRaises(exceptions.Conflict):
            bind(cluster, low, 3)
        changed = first.binding.evolve(
            enabled=True, data={'b': [2]}, last_op=at(5), priority=60
        )

        def block(tx: Transaction) -> list[Bound]:
            tx.lock_clusters([cluster.uuid])
            tx.save_bindings([changed])
            tx.delete_bindings([second.binding.id])
            tx.delete_bindings([])
            return tx.bindings_of(cluster.id)

        expected = [third, Bound(changed, low)]
        self.assertEqual(expected, self.commit(block))
        self.assertEqual(
            {cluster.id: expected}, self.store.bindings_of_clusters([cluster.id])
        )

    # Actions on clusters

    def test_unfinished_actions_are_those_that_requests_caused(self) -> None:
        cluster = self.insert_cluster()
        node, other = self.insert_nodes(cluster, {}, {})
        inside = {'within': cluster.uuid}
        actions = self.insert_actions(
            {'name': 'a', 'target': cluster.uuid},
            {'name': 'b', 'target': cluster.uuid, 'status': 'SUCCEEDED'},
            {'name': 'c', 'target': node.uuid, 'status': 'RUNNING', **inside},
            {'name': 'd', 'target': other.uuid, 'status': 'WAITING', **inside},
            {'name': 'e', 'target': node.uuid, 'cause': 'Derived Action', **inside},
            {'name': 'f', 'target': other.uuid, 'status': 'FAILED', **inside},
            {'name': 'g', 'target': new_uuid()},
        )

        def found(targets: list[str], within: list[str]) -> str:
            with self.store.transaction() as tx:
                rows = tx.unfinished_actions(targets, within)
            self.assertLessEqual({row.uuid for row in rows}, {a.uuid for a in actions})
            return ' '.join(row.name or '' for row in rows)

        self.assertEqual(
            ['a', 'a c d', 'c d', 'c', 'd', '', ''],
            [
                found([cluster.uuid], []),
                found([cluster.uuid], [cluster.uuid]),
                found([], [cluster.uuid]),
                found([node.uuid], []),
                found([other.uuid, new_uuid()], []),
                found([], []),
                found([new_uuid()], [new_uuid()]),
            ],
        )

    def test_an_action_of_a_plan_counts_while_it_holds_or_awaits_the_lock(self) -> None:
        cluster = self.insert_cluster()
        holds, waits, idle = self.insert_actions(
            *(
                {'target': cluster.uuid, 'tenant': None, 'blocked_on': blocked}
                for blocked in (None, cluster.uuid, None)
            )
        )
        with self.store.transaction() as tx:
            tx.acquire_locks({cluster.uuid: holds.id})
            found = tx.unfinished_actions([cluster.uuid])
        self.assertEqual([holds, waits], found)
        self.assertNotIn(idle, found)

    # Visibility in other projects

    def test_policies_and_profiles_belong_to_one_project(self) -> None:
        mine, theirs = make_policy(name='p'), make_policy(name='p', owner=OTHER)
        self.store_object(mine), self.store_object(theirs)
        self.assertEqual(
            [mine.uuid, theirs.uuid],
            [
                self.store.find_object(PolicyObject, 'p', owner.tenant).uuid
                for owner in (OWNER, OTHER)
            ],
        )
