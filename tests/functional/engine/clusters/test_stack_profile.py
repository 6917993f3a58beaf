"""Nodes that are stacks."""

from tests.cluster_worlds import TENANT, ClusterCase
from tests.stack_worlds import res, template
from watcherlite.db.query import Query
from watcherlite.engine.clusters.action_types import (
    NODE_CHECK,
    NODE_CREATE,
    NODE_DELETE,
    NODE_OPERATION,
    NODE_UPDATE,
)
from watcherlite.engine.clusters.actions.node_context import node_context
from watcherlite.testing.context import FakeContext


class StackCase(ClusterCase):
    def create_stack_node(self, name='web', **samples):
        """Return a world and a node that is a stack of these resources."""
        world = self.create_cluster_world()
        profile = world.profile(type_='os.heat.stack', **self.of(**samples))
        return world, world.insert_node(profile, name)

    def of(self, value='red', **more):
        outputs = {'colour': {'value': {'get_attr': ['t', 'output']}}}
        return {'template': template({'t': res(value=value)}, outputs=outputs), **more}

    def stack(self, world, node):
        return world.store.find_stack(world.reload(node).physical_id, TENANT)


class TestStacks(StackCase):
    def test_a_node_creates_a_root_stack_once(self):
        world, node = self.create_stack_node(disable_rollback=True, timeout=5)

        world.run_action(NODE_CREATE, node)

        row, stack = world.reload(node), self.stack(world, node)
        self.assertEqual(('ACTIVE', stack.uuid), (row.status, row.physical_id))
        self.assertEqual(
            ('CREATE_COMPLETE', None, 300, True),
            (stack.state.name, stack.owner_id, stack.timeout, stack.disable_rollback),
        )
        self.assertRegex(stack.name, '^node-web-[0-9a-f]{12}$')
        self.assertEqual(
            {'stack_name': stack.name, 'outputs': {'colour': 'red'}}, row.attributes
        )

        handler = world.cluster_parts.profile_types.make('os.heat.stack')
        again = handler.create(node_context(FakeContext(), row, None, row.properties))

        self.assertEqual(row.physical_id, again.physical_id)
        self.assertEqual(1, len(world.store.list_stacks(Query(tenant=TENANT))))

    def test_the_name_of_the_stack_is_valid(self):
        world = self.create_cluster_world()
        profile = world.profile(type_='os.heat.stack', **self.of())
        cluster = world.insert_cluster(profile, 1, '7~中文', desired_capacity=0)
        (node,) = world.nodes(cluster)

        made = world.create_node(node)

        self.assertRegex(made.attributes['stack_name'], '^s7-[a-zA-Z0-9_.-]+$')

    def test_a_node_whose_stack_fails_has_a_reason_and_can_be_deleted(self):
        world, node = self.create_stack_node()
        world.external.fails.add(('create', 't'))

        world.run_action(NODE_CREATE, node)
        row, stack = world.reload(node), self.stack(world, node)
        world.run_action(NODE_DELETE, node)

        self.assertEqual('ERROR', row.status)
        self.assertIn(f'Stack {stack.name} is CREATE_FAILED', row.status_reason)
        self.assertIn('create of t does not work', row.status_reason)
        self.assertIsNotNone(world.reload(node).deleted_at)
        deleted = world.store.stacks_by_id([stack.id])[stack.id]
        self.assertIsNotNone(deleted.deleted_at)

    def test_a_check_covers_the_resources_of_the_stack(self):
        world, node = self.create_stack_node()
        world.create_node(node)

        world.run_action(NODE_CHECK, node)
        well = world.reload(node)
        world.external.samples.clear()
        world.run_action(NODE_CHECK, node)

        self.assertEqual('ACTIVE', well.status)
        self.assertEqual('ERROR', world.reload(node).status)
        self.assertIn('CHECK_FAILED', world.reload(node).status_reason)

    def test_a_new_profile_updates_the_stack_in_place(self):
        world, node = self.create_stack_node()
        made = world.create_node(node)
        other = world.profile('q', 'os.heat.stack', **self.of('blue'))

        world.run_action(NODE_UPDATE, node, {'new_profile_id': other.uuid})

        row = world.reload(node)
        self.assertEqual(
            (made.physical_id, 'ACTIVE', {'colour': 'blue'}),
            (row.physical_id, row.status, row.attributes['outputs']),
        )
        self.assertEqual('UPDATE_COMPLETE', self.stack(world, node).state.name)

    def test_a_node_whose_stack_is_missing_can_be_deleted(self):
        world, node = self.create_stack_node()
        made = world.create_node(node)
        operations = world.cluster_parts.stacks.operations
        operations.delete(made.physical_id, TENANT)
        world.wait_until_idle()

        world.run_action(NODE_CHECK, node)
        checked = world.reload(node)
        action = world.run_action(NODE_DELETE, node)

        self.assertEqual('ERROR', checked.status)
        self.assertEqual('SUCCEEDED', action.status)

    def test_the_region_is_that_of_a_policy_or_of_the_profile(self):
        world = self.create_cluster_world()
        own = {'context': {'region_name': 'one'}}
        profile = world.profile(type_='os.heat.stack', **self.of(**own))
        place = {'placement': {'region_name': 'two'}}
        nodes = [
            world.insert_node(profile, 'n'),
            world.insert_node(profile, 'm', data=place),
        ]

        for node in nodes:
            world.run_action(NODE_CREATE, node)

        self.assertEqual(
            ['one', 'two'],
            [self.stack(world, node).context['region'] for node in nodes],
        )

    def test_an_abandoned_stack_leaves_its_resources(self):
        world, node = self.create_stack_node()
        made = world.create_node(node)

        first = world.run_action(NODE_OPERATION, node, {'operation': 'abandon'})
        again = world.run_action(NODE_OPERATION, node, {'operation': 'abandon'})

        self.assertEqual(['SUCCEEDED'] * 2, [first.status, again.status])
        self.assertEqual([], world.store.list_stacks(Query(tenant=TENANT)))
        self.assertEqual(1, len(world.external.samples))
        world.run_action(NODE_CHECK, node)
        self.assertEqual('ERROR', world.reload(made).status)
        self.assertEqual('SUCCEEDED', world.run_action(NODE_DELETE, node).status)
