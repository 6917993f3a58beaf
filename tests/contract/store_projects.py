"""Contract of the store: quotas and unique names in projects."""

from typing import Any

from tests.contract.cluster_case import (
    OTHER,
    OWNER,
    ClusterCase,
    make_policy,
    make_receiver,
)
from tests.contract.stack_case import make_definition, make_stack
from tests.factories import make_action, store_actions
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile, Receiver

HERE, THERE = OWNER.tenant, OTHER.tenant


class StoreProjectsContract(ClusterCase):
    """Names and counts in a project."""

    def query(self, question: str, *args: Any) -> Any:
        """Call a query in a transaction that has locked the project."""

        def block(tx: Transaction) -> Any:
            tx.lock_tenant(HERE)
            return getattr(tx, question)(*args)

        return self.commit(block)

    def test_a_name_is_taken_by_an_existing_object_of_the_class_and_project(
        self,
    ) -> None:
        profile = self.insert_profile(name='a')
        self.store_object(make_policy(name='b'))
        self.store_object(make_receiver(name='c'))
        cluster = self.insert_cluster(profile=profile, name='d')
        self.insert_nodes(cluster, {'name': 'e'})
        gone = self.insert_cluster(profile=profile, name='f')
        self.delete_softly(gone)
        names = {
            Profile: 'a',
            PolicyObject: 'b',
            Receiver: 'c',
            Cluster: 'd',
            Node: 'e',
        }

        for kind in names:
            for name in 'abcdefA':
                self.assertEqual(
                    names[kind] == name, self.query('has_name', kind, name, HERE)
                )
            self.assertFalse(self.query('has_name', kind, names[kind], THERE))

    def test_unfinished_actions_of_a_type_are_returned(self) -> None:
        common = {'lane': ENGINE, 'tenant': HERE, 'action_type': 'CLUSTER_UPDATE'}
        rows = store_actions(
            self.store,
            make_action(**common, status='READY'),
            make_action(**common, status='SUCCEEDED'),
            make_action(**{**common, 'tenant': THERE}, status='READY'),
            make_action(**{**common, 'action_type': 'NODE_UPDATE'}, status='READY'),
            make_action(**common, status='RUNNING', inputs={'name': 'new'}),
            make_action(action_type='CLUSTER_UPDATE'),
        )

        found = self.query('unfinished_of', 'CLUSTER_UPDATE', HERE)

        self.assertEqual([rows[0], rows[4]], found)

    def test_existing_clusters_are_counted(self) -> None:
        for owner in (OWNER, OWNER, OTHER):
            cluster = self.insert_cluster(owner=owner)
        self.assertEqual(
            [2, 1, 0],
            [self.query('count_clusters', who) for who in (HERE, THERE, 'unknown')],
        )

        self.delete_softly(cluster)

        self.assertEqual(0, self.query('count_clusters', THERE))

    def test_existing_root_stacks_are_counted(self) -> None:
        def block(tx: Transaction) -> None:
            key = tx.insert_definition(make_definition()).id
            stack = tx.insert_stack(make_stack(key, tenant=HERE))
            tx.insert_stack(make_stack(key, tenant=THERE))
            inner = {'owner_id': stack.id, 'root_id': stack.id, 'depth': 1}
            tx.insert_stack(make_stack(key, tenant=HERE, **inner))
            self.assertEqual(1, tx.count_stacks(HERE))

        self.commit(block)

        self.assertEqual(1, self.query('count_stacks', THERE))

    def test_a_locked_object_is_returned_as_it_is_stored(self) -> None:
        profile = self.insert_profile(name='old')
        after = profile.evolve(name='new')

        def block(tx: Transaction) -> None:
            tx.save_object(after)

        self.commit(block)

        self.assertEqual(after, self.query('lock_object', profile))
        self.commit(lambda tx: tx.delete_object(profile))
        self.assertIsNone(self.query('lock_object', profile))
