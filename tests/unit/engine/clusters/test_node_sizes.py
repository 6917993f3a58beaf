"""How nodes that are asked for count in the size of their cluster."""

from tests.cluster_worlds import ClusterCase
from tests.unit.engine.clusters.node_case import status_of, why
from watcherlite.engine.clusters.action_types import (
    NODE_CREATE,
    NODE_DELETE,
)


class TestSizes(ClusterCase):
    def in_a_cluster(self, size, desired, **limits):
        world = self.a_cluster_world()
        profile = world.profile()
        cluster = world.a_cluster(profile, size, desired_capacity=desired, **limits)
        return world, cluster

    def test_a_node_that_is_asked_for_makes_its_cluster_larger(self):
        world, cluster = self.in_a_cluster(2, 1, max_size=2)
        first, second = world.nodes(cluster)
        world.set(first, status='ACTIVE')

        world.do(NODE_CREATE, second)

        row = world.now(cluster)
        self.assertEqual((2, 'ACTIVE'), (row.desired_capacity, row.status))
        self.assertEqual(
            'NODE_CREATE: number of active nodes is equal or above desired_capacity '
            '(2).',
            row.status_reason,
        )
        self.assertEqual({}, world.now(second).data)

    def test_one_more_than_the_cluster_may_have_is_refused(self):
        world, cluster = self.in_a_cluster(2, 1, max_size=1)
        first, second = world.nodes(cluster)
        world.set(first, status='ACTIVE')

        action = world.do(NODE_CREATE, second)

        text = "The target capacity (2) is greater than the cluster's max_size (1)."
        self.assertEqual(('FAILED', text), why(action))
        self.assertEqual(('ERROR', text), status_of(world.now(second)))
        self.assertEqual(1, world.now(cluster).desired_capacity)
        self.assertEqual([], world.outside.calls)

    def test_a_node_that_is_deleted_makes_its_cluster_smaller(self):
        world, cluster = self.in_a_cluster(3, 3, min_size=2)
        for node in world.nodes(cluster):
            world.set(node, status='ACTIVE')

        ended = world.do(NODE_DELETE, world.nodes(cluster)[1])
        refused = world.do(NODE_DELETE, world.nodes(cluster)[1])

        row = world.now(cluster)
        self.assertEqual('SUCCEEDED', ended.status)
        text = "The target capacity (1) is less than the cluster's min_size (2)."
        self.assertEqual(('FAILED', text), why(refused))
        left = [(n.index, n.status) for n in world.nodes(cluster)]
        self.assertEqual([(1, 'ACTIVE'), (3, 'ACTIVE')], left)
        self.assertEqual((2, 'ACTIVE'), (row.desired_capacity, row.status))

    def test_two_that_go_side_by_side_count_each_other(self):
        world, cluster = self.in_a_cluster(3, 3, min_size=2)
        gate = self.a_gate()
        for node in world.nodes(cluster):
            world.set(node, status='ACTIVE', physical_id=node.name)
            world.outside.things[node.name] = {}
            world.outside.gates['delete', node.name] = gate
        first, second, _ = world.nodes(cluster)
        world.worker()

        one = world.ask(NODE_DELETE, first)
        gate.until_entered()
        other = world.do(NODE_DELETE, second)
        gate.open()

        self.assertEqual('SUCCEEDED', world.ended(one).status)
        text = "The target capacity (1) is less than the cluster's min_size (2)."
        self.assertEqual(('FAILED', text), why(other))

    def test_a_policy_may_keep_the_size_that_is_wanted(self):
        world, cluster = self.in_a_cluster(2, 2)
        first, second = world.nodes(cluster)
        world.set(second, status='ACTIVE')
        asked = world.ask(NODE_DELETE, first)
        world.decided(asked, {'deletion': {'reduce_desired_capacity': False}})

        world.worker()
        world.ended(asked)

        row = world.now(cluster)
        self.assertEqual((2, 'WARNING'), (row.desired_capacity, row.status))
