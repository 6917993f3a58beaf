"""The store's contract: clusters, nodes, and what they are made from and bound to."""

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
    Node,
    Owner,
    PolicyObject,
    Profile,
    Receiver,
)

#: A value for each field, unlike what it has from the start.
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
    """What is stored comes back, is locked, counted, and kept while it is used."""

    # rows

    def test_what_is_stored_of_each_noun_comes_back_whole(self) -> None:
        profile = self.a_profile(metadata={'a': {'b': None}}, updated_at=at(5))
        policy = self.a_policy(data={'x': [1]}, updated_at=at(5))
        cluster = self.a_cluster(profile=profile, **FULL_CLUSTER)
        receiver = self.store_object(
            make_receiver(
                cluster_id=cluster.id,
                action='CLUSTER_SCALE_OUT',
                actor={'user': 'ann'},
                params={'count': 2},
                channel={'alarm_url': 'http://x'},
            )
        )
        (node,) = self.some_nodes(cluster, {**FULL_NODE, 'origin': new_uuid()})
        alone = self.store_object(make_node(cluster, cluster_id=None, owner=Owner('t')))
        for kind, rows in (
            (Profile, [profile]),
            (PolicyObject, [policy]),
            (Cluster, [cluster]),
            (Receiver, [receiver]),
            (Node, [node, alone]),
        ):
            ids = [row.id or 0 for row in rows]
            found = self.store.objects_by_id(kind, [*ids, 10**6])
            self.assertEqual(dict(zip(ids, rows, strict=True)), found)

    def test_a_uuid_is_stored_once_per_noun(self) -> None:
        cluster = self.a_cluster()
        profile = self.store.objects_by_id(Profile, [cluster.profile_id])
        for row in (
            make_cluster(profile[cluster.profile_id], uuid=cluster.uuid),
            make_profile(uuid=profile[cluster.profile_id].uuid),
        ):
            with self.assertRaises(exceptions.Conflict):
                self.store_object(row)
        self.store_object(make_node(cluster, uuid=cluster.uuid))

    def test_all_of_a_cluster_and_of_a_node_that_may_change_is_saved(self) -> None:
        cluster = self.a_cluster()
        other = self.a_profile()
        (node,) = self.some_nodes(cluster, {'origin': new_uuid()})
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
        self.assertEqual(({}, {}), (self.nouns_of([]), self.store.nodes_by_uuid([])))

    def nouns_of(self, uuids: list[str]) -> dict[str, Cluster]:
        return self.store.clusters_by_uuid(uuids)

    def test_what_may_change_of_the_other_nouns_is_saved_and_a_spec_never_is(
        self,
    ) -> None:
        profile, policy = self.a_profile(), self.a_policy()
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
            found = self.store.objects_by_id(type(row), [row.id or 0])
            self.assertEqual({row.id: changed}, found)

    def test_texts_with_nul_characters_are_stored_all_the_same(self) -> None:
        cluster = self.a_cluster(status_reason='a\x00b')
        (node,) = self.some_nodes(cluster, {'status_reason': 'c\x00d'})
        self.assertEqual(
            ['a?b', 'c?d'],
            [
                self.nouns_of([cluster.uuid])[cluster.uuid].status_reason,
                self.store.nodes_by_uuid([node.uuid])[node.uuid].status_reason,
            ],
        )

    # locks

    def test_rows_are_locked_and_returned_as_they_are_deleted_or_not(self) -> None:
        first, second = self.a_cluster(), self.a_cluster()
        gone = second.evolve(deleted_at=NOW)
        self.delete_softly(second)
        nodes = self.some_nodes(first, {}, {}, {})
        self.delete_softly(nodes[1])
        with self.store.transaction() as tx:
            self.assertEqual(
                {first.id: first, second.id: gone},
                tx.lock_clusters_by_id([second.id or 0, first.id or 0, 10**6]),
            )
            both = [gone.uuid, first.uuid]
            self.assertEqual(
                {first.uuid: first, gone.uuid: gone}, tx.lock_clusters(both)
            )
            self.assertEqual([nodes[0], nodes[2]], tx.lock_nodes_of(first.id or 0))
            self.assertEqual(
                {nodes[1].uuid: nodes[1].evolve(deleted_at=NOW)},
                tx.lock_nodes([nodes[1].uuid]),
            )
            nothing = (tx.lock_clusters([]), tx.lock_nodes([]), tx.lock_nodes_of(0))
            self.assertEqual(({}, {}, []), nothing)

    def test_who_locks_a_cluster_sees_what_the_one_before_has_written(self) -> None:
        cluster = self.a_cluster()

        def count(tx: Transaction) -> None:
            row = tx.lock_clusters([cluster.uuid])[cluster.uuid]
            tx.save_clusters([row.evolve(next_index=row.next_index + 1)])

        self.together(*[lambda: self.commit(count)] * 4)
        self.assertEqual(5, self.nouns_of([cluster.uuid])[cluster.uuid].next_index)

    def test_locks_of_many_in_any_order_are_no_deadlock(self) -> None:
        cluster = self.a_cluster()
        nodes = self.some_nodes(cluster, *[{}] * 20)

        def block(tx: Transaction, order: int) -> None:
            found = tx.lock_nodes(node.uuid for node in nodes[::order])
            tx.save_nodes([n.evolve(index=n.index + 1) for n in found.values()])

        self.together(
            *(lambda o=o: self.commit(lambda tx: block(tx, o)) for o in (1, -1, 1, -1))
        )
        found = self.store.nodes_of([cluster.id or 0])
        self.assertEqual({3}, {node.index for node in found})

    # nodes of clusters

    def test_nodes_of_clusters_are_those_that_are_not_deleted(self) -> None:
        first, second = self.a_cluster(), self.a_cluster()
        a, b, c = self.some_nodes(
            first, {'status': 'ACTIVE'}, {'status': 'ERROR'}, {'status': 'ACTIVE'}
        )
        (d,) = self.some_nodes(second, {'status': 'ACTIVE'})
        self.store_object(make_node(first, cluster_id=None))
        self.delete_softly(c)
        ids = [second.id or 0, first.id or 0]
        self.assertEqual([a, b, d], self.store.nodes_of(ids))
        with self.store.transaction() as tx:
            self.assertEqual(
                {first.id: {'ACTIVE': 1, 'ERROR': 1}, second.id: {'ACTIVE': 1}},
                tx.count_nodes(ids),
            )
            self.assertEqual(({}, []), (tx.count_nodes([]), self.store.nodes_of([])))

    # what uses what

    def test_a_profile_stays_while_a_living_cluster_or_node_uses_it(self) -> None:
        profile = self.a_profile()
        cluster = self.a_cluster(profile=profile)
        (node,) = self.some_nodes(cluster, {})
        for row in (cluster, node):
            with self.assertRaisesRegex(exceptions.Conflict, profile.uuid):
                self.commit(lambda tx: tx.delete_object(profile))
            self.assertEqual(
                1, len(self.store.objects_by_id(Profile, [profile.id or 0]))
            )
            self.delete_softly(row)
        self.commit(lambda tx: tx.delete_object(profile))
        self.assertEqual({}, self.store.objects_by_id(Profile, [profile.id or 0]))
        for late in (make_cluster(profile), make_node(cluster, cluster_id=None)):
            with self.assertRaisesRegex(exceptions.Conflict, 'profile'):
                self.store_object(late)
        with self.assertRaises(exceptions.Conflict):
            self.some_nodes(cluster, {})

    def test_a_policy_stays_while_a_living_cluster_is_bound_to_it(self) -> None:
        cluster, policy = self.a_cluster(), self.a_policy()
        self.commit(lambda tx: tx.insert_binding(make_binding(cluster, policy)))
        with self.assertRaisesRegex(exceptions.Conflict, policy.uuid):
            self.commit(lambda tx: tx.delete_object(policy))
        self.delete_softly(cluster)
        self.commit(lambda tx: tx.delete_object(policy))
        self.assertEqual({}, self.store.objects_by_id(PolicyObject, [policy.id or 0]))
        self.assertEqual({}, self.store.bindings_of_clusters([cluster.id or 0]))
        with self.assertRaisesRegex(exceptions.Conflict, 'policy'):
            late = make_binding(cluster, policy)
            self.commit(lambda tx: tx.insert_binding(late))

    def test_a_profile_that_is_deleted_and_used_at_the_same_time_is_one_or_the_other(
        self,
    ) -> None:
        for _ in range(5):
            profile = self.a_profile()

            def use(of: Profile = profile) -> bool:
                try:
                    self.store_object(make_cluster(of))
                except exceptions.Conflict:
                    return False
                return True

            def delete(of: Profile = profile) -> bool:
                try:
                    self.commit(lambda tx: tx.delete_object(of))
                except exceptions.Conflict:
                    return False
                return True

            used, deleted = self.together(use, delete)
            self.assertEqual({True, False}, {used, deleted})

    def test_a_receiver_goes_when_it_is_told_to(self) -> None:
        receiver = self.store_object(make_receiver())
        self.commit(lambda tx: tx.delete_object(receiver))
        self.assertEqual([], self.store.list_objects(Receiver, Query()))

    # bindings

    def test_bindings_come_with_their_policies_by_priority(self) -> None:
        cluster, other = self.a_cluster(), self.a_cluster()
        low, high, same = self.a_policy(), self.a_policy(), self.a_policy()

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
            self.store.bindings_of_clusters([other.id or 0, cluster.id or 0, 10**6]),
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
            tx.delete_bindings([second.binding.id or 0])
            tx.delete_bindings([])
            return tx.bindings_of(cluster.id or 0)

        expected = [third, Bound(changed, low)]
        self.assertEqual(expected, self.commit(block))
        self.assertEqual(
            {cluster.id: expected}, self.store.bindings_of_clusters([cluster.id or 0])
        )

    # actions on them

    def test_what_goes_on_is_every_request_that_is_not_final(self) -> None:
        cluster = self.a_cluster()
        node, other = self.some_nodes(cluster, {}, {})
        inside = {'within': cluster.uuid}
        actions = self.some_actions(
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

    def test_an_action_of_a_plan_counts_from_when_it_holds_or_awaits_the_lock(
        self,
    ) -> None:
        cluster = self.a_cluster()
        holds, waits, idle = self.some_actions(
            *(
                {'target': cluster.uuid, 'tenant': None, 'blocked_on': blocked}
                for blocked in (None, cluster.uuid, None)
            )
        )
        with self.store.transaction() as tx:
            tx.take_locks({cluster.uuid: holds.id or 0})
            found = tx.unfinished_actions([cluster.uuid])
        self.assertEqual([holds, waits], found)
        self.assertNotIn(idle, found)

    # who else may see it

    def test_policies_and_profiles_of_others_are_other_ones(self) -> None:
        mine, theirs = make_policy(name='p'), make_policy(name='p', owner=OTHER)
        self.store_object(mine), self.store_object(theirs)
        self.assertEqual(
            [mine.uuid, theirs.uuid],
            [
                self.store.find_object(PolicyObject, 'p', owner.tenant).uuid
                for owner in (OWNER, OTHER)
            ],
        )
