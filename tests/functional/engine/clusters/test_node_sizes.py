"""The effect of requested nodes on the size of their cluster."""

from tests.cluster_worlds import ClusterCase
from tests.functional.engine.clusters.node_case import failure_of, status_of
from watcherlite.engine.clusters.action_types import NODE_CREATE, NODE_DELETE


class TestSizes(ClusterCase):
    def create_cluster_of(self, size, desired, **limits):
        world = self.create_cluster_world()
        profile = world.profile()
        cluster = world.insert_cluster(
            profile, size, desired_capacity=desired, **limits
        )
        return world, cluster

    def test_a_requested_node_increases_the_size_of_its_cluster(self):
        world, cluster = self.create_cluster_of(2, 1, max_size=2)
        first, second = world.nodes(cluster)
        world.save(first, status='ACTIVE')

        world.run_action(NODE_CREATE, second)

        row = world.reload(cluster)
        self.assertEqual((2, 'ACTIVE'), (row.desired_capacity, row.status))
        self.assertEqual(
            'NODE_CREATE: number of active nodes is equal or above desired_capacity '
            '(2).',
            row.status_reason,
        )
        self.assertEqual({}, world.reload(second).data)

    def test_a_node_beyond_the_maximum_size_is_rejected(self):
        world, cluster = self.create_cluster_of(2, 1, max_size=1)
        first, second = world.nodes(cluster)
        world.save(first, status='ACTIVE')

        action = world.run_action(NODE_CREATE, second)

        text = "The target capacity (2) is greater than the cluster's max_size (1)."
        self.assertEqual(('FAILED', text), failure_of(action))
        self.assertEqual(('ERROR', text), status_of(world.reload(second)))
        self.assertEqual(1, world.reload(cluster).desired_capacity)
        self.assertEqual([], world.external.calls)

    def test_a_deleted_node_reduces_the_size_of_its_cluster(self):
        world, cluster = self.create_cluster_of(3, 3, min_size=2)
        for node in world.nodes(cluster):
            world.save(node, status='ACTIVE')

        ended = world.run_action(NODE_DELETE, world.nodes(cluster)[1])
        refused = world.run_action(NODE_DELETE, world.nodes(cluster)[1])

        row = world.reload(cluster)
        self.assertEqual('SUCCEEDED', ended.status)
        text = "The target capacity (1) is less than the cluster's min_size (2)."
        self.assertEqual(('FAILED', text), failure_of(refused))
        left = [(n.index, n.status) for n in world.nodes(cluster)]
        self.assertEqual([(1, 'ACTIVE'), (3, 'ACTIVE')], left)
        self.assertEqual((2, 'ACTIVE'), (row.desired_capacity, row.status))

    def test_concurrent_deletions_count_each_other(self):
        world, cluster = self.create_cluster_of(3, 3, min_size=2)
        gate = self.create_gate()
        for node in world.nodes(cluster):
            world.save(node, status='ACTIVE', physical_id=node.name)
            world.external.samples[node.name] = {}
            world.external.gates['delete', node.name] = gate
        first, second, _ = world.nodes(cluster)
        world.worker()

        one = world.request_action(NODE_DELETE, first)
        gate.wait_until_entered()
        other = world.run_action(NODE_DELETE, second)
        gate.open()

        self.assertEqual('SUCCEEDED', world.wait_for_end(one).status)
        text = "The target capacity (1) is less than the cluster's min_size (2)."
        self.assertEqual(('FAILED', text), failure_of(other))

    def test_a_policy_may_keep_the_desired_capacity(self):
        world, cluster = self.create_cluster_of(2, 2)
        first, second = world.nodes(cluster)
        world.save(second, status='ACTIVE')
        asked = world.request_action(NODE_DELETE, first)
        world.store_decisions(asked, {'deletion': {'reduce_desired_capacity': False}})

        world.worker()
        world.wait_for_end(asked)

        row = world.reload(cluster)
        self.assertEqual((2, 'WARNING'), (row.desired_capacity, row.status))
