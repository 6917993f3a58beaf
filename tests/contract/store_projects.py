"""The store's contract: what a project has, asked within a transaction."""

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
from watcherlite.domain.clusters import (
    Cluster,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)

HERE, THERE = OWNER.tenant, OTHER.tenant


class StoreProjectsContract(ClusterCase):
    """What there may be once, or so many times, in a project."""

    def asked(self, question: str, *args: Any) -> Any:
        """Ask in a transaction that has locked a project."""

        def block(tx: Transaction) -> Any:
            tx.lock_tenant(HERE)
            return getattr(tx, question)(*args)

        return self.commit(block)

    def test_a_name_is_had_by_what_is_there_and_of_its_kind_and_project(self) -> None:
        profile = self.a_profile(name='a')
        self.store_object(make_policy(name='b'))
        self.store_object(make_receiver(name='c'))
        cluster = self.a_cluster(profile=profile, name='d')
        self.some_nodes(cluster, {'name': 'e'})
        gone = self.a_cluster(profile=profile, name='f')
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
                    names[kind] == name, self.asked('has_name', kind, name, HERE)
                )
            self.assertFalse(self.asked('has_name', kind, names[kind], THERE))

    def test_actions_of_a_type_that_have_not_ended(self) -> None:
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

        found = self.asked('unfinished_of', 'CLUSTER_UPDATE', HERE)

        self.assertEqual([rows[0], rows[4]], found)

    def test_clusters_are_counted_that_are_there(self) -> None:
        for owner in (OWNER, OWNER, OTHER):
            cluster = self.a_cluster(owner=owner)
        self.assertEqual(
            [2, 1, 0],
            [self.asked('count_clusters', who) for who in (HERE, THERE, 'nobody')],
        )

        self.delete_softly(cluster)

        self.assertEqual(0, self.asked('count_clusters', THERE))

    def test_stacks_are_counted_that_are_there_and_in_no_other(self) -> None:
        def block(tx: Transaction) -> None:
            key = tx.insert_definition(make_definition()).id or 0
            stack = tx.insert_stack(make_stack(key, tenant=HERE))
            tx.insert_stack(make_stack(key, tenant=THERE))
            inner = {'owner_id': stack.id, 'root_id': stack.id, 'depth': 1}
            tx.insert_stack(make_stack(key, tenant=HERE, **inner))
            self.assertEqual(1, tx.count_stacks(HERE))

        self.commit(block)

        self.assertEqual(1, self.asked('count_stacks', THERE))

    def test_what_no_action_changes_is_locked_as_it_is_now(self) -> None:
        profile = self.a_profile(name='old')
        after = profile.evolve(name='new')

        def block(tx: Transaction) -> None:
            tx.save_object(after)

        self.commit(block)

        self.assertEqual(after, self.asked('lock_object', profile))
        self.commit(lambda tx: tx.delete_object(profile))
        self.assertIsNone(self.asked('lock_object', profile))
