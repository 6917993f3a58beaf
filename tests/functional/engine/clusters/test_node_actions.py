"""The actions on nodes, from the request to the row."""

from typing import ClassVar

from tests.cluster_worlds import machine
from tests.functional.engine.clusters.node_case import (
    NodeCase,
    describe_action,
    failure_of,
    status_of,
)
from tests.stack_worlds import ExternalResources, sample
from watcherlite import exceptions
from watcherlite.domain.resource_results import Property, ResourceInProgress
from watcherlite.engine.clusters.action_types import (
    CLUSTER_CHECK,
    NODE_CHECK,
    NODE_CREATE,
    NODE_DELETE,
    NODE_JOIN,
    NODE_LEAVE,
    NODE_OPERATION,
    NODE_UPDATE,
)


def place(node):
    return node.cluster_id, node.index


class TestCreating(NodeCase):
    def test_a_created_node_has_the_values_of_its_resource(self):
        world, node = self.create_pending_node(value='red', wait=2)

        action = world.run_action(NODE_CREATE, node)

        row = world.reload(node)
        name = f'node-n-{node.uuid.replace("-", "")[:12]}'
        self.assertEqual(('SUCCEEDED', {'physical_id': name}), describe_action(action))
        self.assertEqual(
            ('ACTIVE', 'Creation succeeded', name, {'output': 'red'}),
            (row.status, row.status_reason, row.physical_id, row.attributes),
        )
        self.assertEqual({'value': 'red', 'wait': 2}, row.properties)
        self.assertIsNotNone(row.created_at)
        self.assertEqual(action.uuid, row.last)
        self.assertEqual(
            [('n', 'create.start', 'CREATING'), ('n', 'create.end', 'ACTIVE')],
            world.transitions(),
        )

    def test_a_node_whose_creation_fails_is_in_error_until_its_deletion(self):
        world = self.create_cluster_world()
        world.external.fails.add(('create', 'n'))
        node = world.insert_node(world.profile(), 'n')

        action = world.run_action(NODE_CREATE, node)

        row = world.reload(node)
        self.assertEqual('FAILED', action.status)
        self.assertEqual(
            ('ERROR', 'create of n does not work', None),
            (row.status, row.status_reason, row.physical_id),
        )
        self.assertEqual(
            [('n', 'create.start', 'CREATING'), ('n', 'create.error', 'ERROR')],
            world.transitions(),
        )
        # Its handler may have created something.
        world.run_action(NODE_DELETE, node)
        self.assertEqual([('create', 'n'), ('delete', 'n')], world.external.calls)

    def test_a_creation_that_is_cancelled_before_its_start_has_a_reason(self):
        world, node = self.create_pending_node()
        asked = world.request_action(NODE_CREATE, node)

        world.plans.signal_action(asked.uuid, 'CANCEL')

        row = world.reload(node)
        self.assertEqual(('ERROR', []), (row.status, world.external.calls))
        self.assertIn('Not made', row.status_reason)
        self.assertEqual([('n', 'create.error', 'ERROR')], world.transitions())

    def test_placeholders_distinguish_the_nodes_of_a_profile(self):
        world = self.create_cluster_world()
        profile = world.profile(value='%name% is number %index%')
        cluster = world.insert_cluster(profile, 2, desired_capacity=0)

        for node in world.nodes(cluster):
            world.create_node(node)

        self.assertEqual(
            ['c-1 is number 1', 'c-2 is number 2'],
            [node.attributes['output'] for node in world.nodes(cluster)],
        )

    def test_the_handler_gets_the_placement_of_policies(self):
        class Placed(sample(ExternalResources())):
            properties: ClassVar = {
                'placement': Property({'type': 'object'}),
                'value': Property({'type': 'string'}),
                'wait': Property({'type': 'integer', 'default': 0}),
            }

        world = self.create_cluster_world(handlers={'Placed': Placed})
        profile = world.profile(type_='placed', value='x')
        data = {'placement': {'zone': 'az1'}}

        row = world.create_node(world.insert_node(profile, 'n', data=data))

        self.assertEqual({'zone': 'az1'}, row.properties['placement'])


class TestDeleting(NodeCase):
    def test_a_node_that_was_never_created_is_deleted_without_its_handler(self):
        world, node = self.create_pending_node()

        action = world.run_action(NODE_DELETE, node)

        self.assertEqual(('SUCCEEDED', {}), describe_action(action))
        self.assertEqual([], world.external.calls)
        self.assertIsNotNone(world.reload(node).deleted_at)

    def test_a_node_stays_in_error_until_its_deletion_succeeds(self):
        world, node = self.create_active_node(value='red')
        made = world.reload(node)
        world.external.fails.add(('delete', 'n'))

        action = world.run_action(NODE_DELETE, node)

        row = world.reload(node)
        self.assertEqual(
            ('FAILED', 'ERROR', 'delete of n does not work', None),
            (action.status, *status_of(row), row.deleted_at),
        )
        world.external.fails.clear()
        world.run_action(NODE_DELETE, node)
        row = world.reload(node)
        self.assertEqual({}, world.external.samples)
        self.assertEqual(
            (made.physical_id, {'output': 'red'}, made.properties),
            (row.physical_id, row.attributes, row.properties),
        )

    def test_the_grace_period_holds_no_thread(self):
        world = self.create_cluster_world()
        cluster = world.insert_cluster(world.profile(), 1)
        (node,) = world.nodes(cluster)
        world.save(node, status='ACTIVE', physical_id='x')
        asked = world.request_action(NODE_DELETE, node)
        world.store_decisions(asked, {'deletion': {'grace_period': 3600}})

        world.worker()
        world.wait_until(lambda: world.store.get_action(asked.uuid).token is not None)

        token = world.store.get_action(asked.uuid).token
        self.assertEqual(('pause', ['delete']), (token['step'], token['left']))
        self.assertEqual([], world.external.calls)
        self.assertEqual('DELETING', world.reload(node).status)
        world.plans.signal_action(asked.uuid, 'CANCEL')
        self.assertEqual('CANCELLED', world.wait_for_end(asked).status)
        self.assertEqual('ACTIVE', world.reload(node).status)


class TestUpdating(NodeCase):
    def test_an_update_of_the_row_alone_keeps_the_status(self):
        world = self.create_cluster_world()
        node = world.insert_node(
            world.profile(), 'n', status='ERROR', status_reason='why'
        )

        world.run_action(
            NODE_UPDATE,
            node,
            {'name': 'm', 'role': 'r', 'metadata': {'k': 'v'}, 'tainted': True},
        )

        row = world.reload(node)
        self.assertEqual(
            ('m', 'r', {'k': 'v'}, True, 'ERROR', 'why'),
            (row.name, row.role, row.metadata, row.tainted, *status_of(row)),
        )
        self.assertEqual(
            [('n', 'update.start', 'ERROR'), ('m', 'update.end', 'ERROR')],
            world.transitions(),
        )

    def test_a_new_profile_updates_recreates_or_keeps_the_resource(self):
        for new, status, calls in (
            ({'value': 'blue', 'fixed': 'f', 'wait': 1}, 'ACTIVE', ['update', 'poll']),
            ({'value': 'red', 'fixed': 'g'}, 'ACTIVE', ['delete', 'create']),
            ({'value': 'red', 'fixed': 'f'}, 'WARNING', []),
        ):
            world, node = self.create_active_node(value='red', fixed='f')
            made = world.reload(node)
            world.save(node, status='WARNING', status_reason='so so')
            other = world.profile('q', **new)

            world.run_action(NODE_UPDATE, node, {'new_profile_id': other.uuid})

            row = world.reload(node)
            self.assertEqual(
                (other.id, status, {'output': new['value']}, made.physical_id),
                (row.profile_id, row.status, row.attributes, row.physical_id),
            )
            self.assertEqual(status == 'WARNING', row.status_reason == 'so so')
            self.assertEqual(
                [(call, 'n') for call in ('create', *calls)], world.external.calls
            )

    def test_after_a_failed_update_the_old_profile_is_applied_again(self):
        for fails, new, calls in (
            ('update', {'value': 'new'}, ['update', 'update']),
            ('delete', {'fixed': 'g'}, ['delete', 'update']),
            ('create', {'fixed': 'g'}, ['delete', 'create', 'delete', 'create']),
        ):
            with self.subTest(fails=fails):
                world = self.create_cluster_world()
                old = world.profile(value='old', fixed='f')
                node = world.insert_node(old, 'n')
                world.create_node(node)
                other = world.profile('q', **{'value': 'old', 'fixed': 'f', **new})
                del world.external.calls[:]
                world.external.fails.add((fails, 'n'))
                failed = world.run_action(
                    NODE_UPDATE, node, {'new_profile_id': other.uuid}
                )
                world.external.fails.clear()

                world.run_action(NODE_UPDATE, node, {'new_profile_id': old.uuid})

                row = world.reload(node)
                self.assertEqual(
                    ('FAILED', old.id, 'ACTIVE'),
                    (failed.status, row.profile_id, row.status),
                )
                self.assertEqual(calls, [what for what, _ in world.external.calls])
                self.assertNotIn('partial_update', row.kept)

    def test_an_update_needs_a_resource_and_a_profile_of_the_same_type(self):
        nothing = (
            'Node n has no resource to update: it was never created, or was deleted; '
            'recover the node first'
        )
        other_type = 'Node n has a different profile type than profile q'
        for type_, make, text, status in (
            ('sample', self.create_pending_node, nothing, 'INIT'),
            ('plain', self.create_active_node, other_type, 'ACTIVE'),
        ):
            with self.subTest(type_=type_):
                world, node = make()
                other = world.profile('q', type_)

                action = world.run_action(
                    NODE_UPDATE, node, {'new_profile_id': other.uuid}
                )

                self.assertEqual(('FAILED', text), failure_of(action))
                self.assertEqual(status, world.reload(node).status)


class TestMembership(NodeCase):
    def test_a_joining_node_gets_the_next_index_and_a_leaving_one_none(self):
        world = self.create_cluster_world()
        profile = world.profile()
        cluster = world.insert_cluster(profile, next_index=7)
        node = world.insert_node(profile, 'n')

        world.run_action(NODE_JOIN, node, {'cluster_id': cluster.uuid})
        inside, around = world.reload(node), world.reload(cluster)
        world.run_action(NODE_LEAVE, node)

        external = world.reload(node)
        self.assertEqual((cluster.id, 7, 8), (*place(inside), around.next_index))
        self.assertEqual((None, -1), place(external))
        self.assertEqual(
            [
                ('n', 'join.start', 'INIT'),
                ('n', 'join.end', 'INIT'),
                ('n', 'leave.start', 'INIT'),
                ('n', 'leave.end', 'INIT'),
            ],
            world.transitions(),
        )

    def test_the_resource_of_a_node_learns_its_cluster(self):
        seen, world = [], self.create_cluster_world()

        class Learning(world.types.resource_types()['Sample']):
            def on_cluster_joined(self, context):
                seen.append(('join', context.stack_uuid))
                return ResourceInProgress('token', 0.0)

            def on_cluster_left(self, context):
                seen.append(('leave', context.resource_uuid))

            def poll(self, context, operation, token):
                seen.append((operation, token, context.stack_uuid))

        world.types = world.types.of(resource_handlers={'Sample': Learning})
        profile = world.profile()
        cluster = world.insert_cluster(profile)
        node = world.insert_node(profile, 'n', physical_id='here')

        world.run_action(NODE_JOIN, node, {'cluster_id': cluster.uuid})
        world.run_action(NODE_LEAVE, node)

        self.assertEqual(
            [
                ('join', cluster.uuid),
                ('on_cluster_joined', 'token', cluster.uuid),
                ('leave', node.uuid),
            ],
            seen,
        )

    def test_a_join_without_a_cluster_fails_alone(self):
        world = self.create_cluster_world()
        profile = world.profile()
        node, other = world.insert_node(profile, 'n'), world.insert_node(profile, 'm')

        refused = world.request_action(NODE_JOIN, node)
        asked = world.request_action(NODE_CREATE, other)
        world.worker()

        self.assertEqual('FAILED', world.wait_for_end(refused).status)
        self.assertEqual('SUCCEEDED', world.wait_for_end(asked).status)

    def test_a_member_of_another_cluster_cannot_join(self):
        world = self.create_cluster_world()
        profile = world.profile()
        one = world.insert_cluster(profile, 1, 'one')
        other = world.insert_cluster(profile, 0, 'other')
        (node,) = world.nodes(one)

        action = world.run_action(NODE_JOIN, node, {'cluster_id': other.uuid})

        self.assertEqual(
            ('FAILED', 'Node one-1 is in another cluster'), failure_of(action)
        )
        self.assertEqual((one.id, 1), place(world.reload(node)))


class TestCancelling(NodeCase):
    def test_a_creation_that_is_cancelled_half_way_can_be_deleted(self):
        world = self.create_cluster_world()
        gate = self.create_gate_at(world, 'poll', 'n')
        node = world.insert_node(world.profile(wait=1000), 'n')
        world.worker()
        asked = world.request_action(NODE_CREATE, node)
        gate.wait_until_entered()

        world.plans.signal_action(asked.uuid, 'CANCEL')
        gate.open()
        action = world.wait_for_end(asked)
        cancelled = world.reload(node)
        world.run_action(NODE_DELETE, node)

        self.assertEqual('CANCELLED', action.status)
        self.assertEqual('ERROR', cancelled.status)
        self.assertIn('Creation aborted', cancelled.status_reason)
        self.assertIsNotNone(cancelled.physical_id)
        self.assertEqual('delete', world.external.calls[-1][0])
        self.assertEqual(
            [
                ('n', 'create.start', 'CREATING'),
                ('n', 'create.error', 'ERROR'),
                ('n', 'delete.start', 'DELETING'),
                ('n', 'delete.end', 'DELETING'),
            ],
            world.transitions(),
        )


class TestSuspending(NodeCase):
    def test_a_suspended_action_is_not_polled(self):
        world = self.create_cluster_world(max_parallel=1)
        gate = self.create_gate_at(world, 'poll', 'n')
        cluster = world.insert_cluster(world.profile(), 1)
        node = world.insert_node(world.profile(value='red', wait=3), 'n', cluster, 2)
        world.worker()
        asked = world.request_action(NODE_CREATE, node)
        gate.wait_until_entered()

        world.plans.signal_action(asked.uuid, 'SUSPEND')
        gate.open()
        world.wait_until(
            lambda: world.store.get_action(asked.uuid).status == 'SUSPENDED'
        )
        polls = world.external.of('poll')
        world.create_node(world.insert_node(world.profile(), 'other'))

        self.assertEqual(polls, world.external.of('poll'))
        self.assertEqual('CREATING', world.reload(node).status)
        with self.assertRaises(exceptions.ResourceIsLocked):
            world.request_action(CLUSTER_CHECK, cluster)
        world.plans.signal_action(asked.uuid, 'RESUME')
        self.assertEqual('SUCCEEDED', world.wait_for_end(asked).status)
        self.assertEqual('ACTIVE', world.reload(node).status)
        self.assertEqual(['n', 'other'], world.external.of('create'))


class TestCoroutines(NodeCase):
    def test_the_hooks_of_a_handler_may_be_coroutines(self):
        external = ExternalResources()
        functions = machine(external)

        def coroutine(name):
            async def hook(handler, context, *arguments):
                async with context.service('external'):
                    return getattr(functions, name)(handler, context, *arguments)

            return hook

        hooks = ('create', 'poll', 'check', 'operate', 'update', 'delete')
        members = {name: coroutine(name) for name in hooks}
        handler = type('Sample', (functions,), members)
        world = self.create_cluster_world(handlers={'Sample': handler})
        node = world.insert_node(world.profile(wait=1), 'n')
        other = world.profile('other', value='blue')

        ended = [
            world.run_action(kind, node, inputs).status
            for kind, inputs in (
                (NODE_CREATE, None),
                (NODE_CHECK, None),
                (NODE_OPERATION, {'operation': 'patch', 'params': {'colour': 'red'}}),
                (NODE_UPDATE, {'new_profile_id': other.uuid}),
                (NODE_DELETE, None),
            )
        ]

        self.assertEqual(['SUCCEEDED'] * 5, ended)
        self.assertEqual(
            ['create', 'poll', 'check', 'patch', 'update', 'delete'],
            [name for name, _ in external.calls],
        )
        self.assertEqual({}, external.samples)
