"""The data that policies see of a requested node."""

import threading
from typing import ClassVar

from tests.cluster_worlds import BY, ClusterCase
from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.domain.clusters import NewBinding, NewPolicyObject
from watcherlite.engine.clusters.action_types import NODE_CREATE, NODE_RECOVER
from watcherlite.plugins.base import Policy

SEEN: list[tuple[str, str | None, dict]] = []
LOCK = threading.Lock()


class NodeRecorder(Policy):
    """Records the node that it sees after an action."""

    after: ClassVar = frozenset({NODE_CREATE, NODE_RECOVER})

    def post_op(self, context, data):
        with LOCK:
            SEEN.append(
                (context.result, context.node.physical_id, context.node.attributes)
            )


class Refusing(Policy):
    before: ClassVar = frozenset({NODE_CREATE})

    def pre_op(self, context, data):
        raise exceptions.Invalid('not today')


class PolicyCase(ClusterCase):
    def setUp(self):
        super().setUp()
        SEEN.clear()

    def create_node_with_policy(self, kind):
        """Return a world and the node of a cluster with this policy."""
        world = self.create_cluster_world(policies={'a.policy-1.0': kind})
        cluster = world.insert_cluster(
            world.profile(value='red'), 1, desired_capacity=0, max_size=5
        )
        spec = {'type': 'a.policy', 'version': '1.0', 'properties': {}}
        policy = NewPolicyObject(
            events.new_uuid(),
            'po',
            'a.policy-1.0',
            spec,
            BY.owner,
            created_at=world.clock.now(),
        )
        with world.store.transaction() as tx:
            stored = tx.insert_object(policy)
            tx.lock_clusters([cluster.uuid])
            tx.insert_binding(
                NewBinding(events.new_uuid(), cluster.id, stored.id, kind.priority)
            )
        (node,) = world.nodes(cluster)
        return world, cluster, node


class TestPolicies(PolicyCase):
    def test_policies_see_the_created_node(self):
        world, _, node = self.create_node_with_policy(NodeRecorder)

        made = world.create_node(node)
        world.external.samples.clear()
        world.run_action(NODE_RECOVER, node)

        shown = ('OK', made.physical_id, {'output': 'red'})
        self.assertEqual([shown, shown], SEEN)

    def test_a_rejected_node_is_in_error_and_its_cluster_unchanged(self):
        world, cluster, node = self.create_node_with_policy(Refusing)

        action = world.run_action(NODE_CREATE, node)

        text = "Policy check failure: Failed policy 'po': not today"
        self.assertEqual(('FAILED', text), (action.status, action.status_message))
        row = world.reload(node)
        self.assertEqual(
            ('ERROR', f'Not made: {text}'), (row.status, row.status_reason)
        )
        self.assertEqual([], world.external.calls)
        self.assertEqual(0, world.reload(cluster).desired_capacity)
        self.assertEqual([('c-1', 'create.error', 'ERROR')], world.transitions())
