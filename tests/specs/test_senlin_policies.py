"""Policies on cluster actions, executed by the real core (spec 001).

The first class is the example of the spec for the property `data`.
"""

from tests.cluster_worlds import BY
from tests.specs.policy_case import (
    AFFINITY,
    BATCH,
    DELETION,
    LOAD_BALANCE,
    PICKY,
    REGIONS,
    SCALING,
    ZONES,
    ClusterPolicyCase,
)
from watcherlite.domain import events
from watcherlite.domain.clusters import NewPolicyObject
from watcherlite.engine.clusters import action_types


class TestTheActionDataProperty(ClusterPolicyCase):
    """The example: a scaling, a deletion and a load-balancing policy."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.insert_cluster(size=4)
        # Attached in another order than that of their priorities.
        vip = {'protocol_port': 8000}
        self.balance = self.attach(
            self.cluster, LOAD_BALANCE, driver='recording', vip=vip
        )
        self.attach(self.cluster, DELETION, criteria='OLDEST_FIRST')
        self.attach(
            self.cluster, SCALING, event='CLUSTER_SCALE_IN', adjustment={'number': 2}
        )
        self.oldest = self.uuids(self.cluster, 'n4', 'n3')
        self.external.steps.clear()
        self.external.members.clear()

    def test_each_step_reads_and_writes_the_specified_data(self) -> None:
        gate = self.create_gate_at(self.world, 'delete', 'n4')
        asked = self.world.request_action(action_types.CLUSTER_SCALE_IN, self.cluster)
        gate.wait_until_entered()
        # The nodes leave the load balancer before they are deleted.
        self.assertEqual([['n1', 'n2']], self.external.members)
        gate.open()
        action = self.world.wait_for_end(asked)

        counted = {'deletion': {'count': 2}}
        chosen = {
            'deletion': {
                'count': 2,
                'candidates': self.oldest,
                'destroy_after_deletion': True,
                'grace_period': 0,
                'reduce_desired_capacity': True,
            }
        }
        self.assertEqual(
            [
                (SCALING, {}, counted),
                (DELETION, counted, chosen),
                (LOAD_BALANCE, chosen, chosen),
            ],
            self.external.steps,
        )
        self.assertEqual(
            ('SUCCEEDED', chosen, {}, {'nodes_removed': self.oldest}),
            (action.status, action.data, action.inputs, action.outputs),
        )
        self.assertEqual(['n1', 'n2'], self.names(self.cluster))
        self.assertEqual([['n1', 'n2']] * 2, self.external.members)
        row = self.world.reload(self.cluster)
        self.assertEqual(
            (2, 'ACTIVE', {self.balance.uuid: {'vip_address': '127.0.0.1'}}),
            (row.desired_capacity, row.status, row.data['loadbalancers']),
        )
        # Only policies with a post_op are called after the action.
        self.assertEqual([(SCALING, 'OK'), (LOAD_BALANCE, 'OK')], self.external.after)
        scaling, deletion, balance = self.bindings(self.cluster)
        self.assertEqual({'heeded': action.uuid}, scaling.binding.data)
        self.assertIsNotNone(scaling.binding.last_op)
        self.assertIsNone(deletion.binding.last_op)
        self.assertEqual(
            {
                'driver': 'recording',
                'loadbalancer': f'{self.cluster.uuid}-{self.balance.uuid}',
                'preexisting': False,
            },
            balance.binding.data,
        )

    def test_the_next_worker_reads_the_decisions_of_a_lost_worker(self) -> None:
        (worker,) = self.world.workers
        self.external.meanwhile = lambda: self.world.kill(worker)
        action = self.world.request_action(action_types.CLUSTER_SCALE_IN, self.cluster)
        self.world.wait_until(lambda: self.world.is_dead(worker))
        self.world.worker()

        ended = self.world.wait_for_end(action)

        self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual(self.oldest, ended.data['deletion']['candidates'])
        again = [step for step in self.external.steps if step[1] == ended.data]
        self.assertEqual(
            [(name, ended.data, ended.data) for name in (SCALING, DELETION)],
            [step for step in again if step[0] != LOAD_BALANCE],
        )
        self.assertEqual(['n1', 'n2'], self.names(self.cluster))
        self.assertEqual(['n1', 'n2'], self.external.members[-1])


class TestDecisions(ClusterPolicyCase):
    """The decisions of policies are applied."""

    def test_a_policy_that_refuses_fails_the_action_without_an_effect(self) -> None:
        cluster = self.insert_cluster(size=2)
        self.world.save(cluster, min_size=2)
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_IN')
        self.attach(cluster, DELETION)

        action = self.world.run_action(action_types.CLUSTER_SCALE_IN, cluster)

        self.assertEqual(
            (
                'FAILED',
                "Policy check failure: Failed policy 'senlin.policy.scaling': The "
                "target capacity (1) is less than the cluster's min_size (2).",
                {},
                ['n1', 'n2'],
                'ACTIVE',
            ),
            (
                action.status,
                action.status_message,
                action.data,
                self.names(cluster),
                self.world.reload(cluster).status,
            ),
        )
        self.assertEqual([], self.external.steps)

    def test_new_nodes_are_placed_by_the_policies(self) -> None:
        cluster = self.insert_cluster(size=0)
        self.attach(cluster, REGIONS, regions=[{'name': 'a'}, {'name': 'b'}])
        self.attach(cluster, ZONES, zones=[{'name': 'x', 'weight': 300}, {'name': 'y'}])
        self.attach(cluster, AFFINITY, servergroup={'name': 'g'})

        action = self.world.run_action(
            action_types.CLUSTER_SCALE_OUT, cluster, {'count': 3}
        )

        # They are not called again for the derived actions.
        self.assertEqual(
            [REGIONS, ZONES, AFFINITY], [name for name, _, _ in self.external.steps]
        )
        group = {'servergroup': 'g'}
        self.assertEqual(
            {
                'creation': {
                    'count': 3,
                    'regions': {'a': 2, 'b': 1},
                    'zones': {'x': 3},
                },
                'placement': {'count': 3, 'placements': [group, group, group]},
            },
            action.data,
        )
        self.assertEqual(
            [
                {'region_name': name, 'zone': 'x', 'servergroup': 'g'}
                for name in ('a', 'a', 'b')
            ],
            [node.data['placement'] for node in self.world.nodes(cluster)],
        )

    def test_deleted_nodes_are_chosen_by_the_policies(self) -> None:
        for places, regions, deletion, left in (
            ('aaabb', 'ab', True, ['n3', 'n5']),
            # Nodes in none of the regions are removed first.
            ('abbba', 'a', False, ['n1', 'n5']),
        ):
            cluster = self.insert_cluster(*({'region_name': name} for name in places))
            self.attach(cluster, REGIONS, regions=[{'name': name} for name in regions])
            if deletion:
                self.attach(cluster, DELETION, criteria='YOUNGEST_FIRST')

            self.world.run_action(action_types.CLUSTER_SCALE_IN, cluster, {'count': 3})

            self.assertEqual(left, self.names(cluster))

    def test_a_node_created_in_a_cluster_is_placed(self) -> None:
        cluster = self.insert_cluster({'zone': 'x'})
        self.attach(cluster, ZONES, zones=[{'name': 'x'}, {'name': 'y'}])
        node = self.world.insert_node(self.profile, 'n2', cluster, 2)

        self.world.create_node(node)

        self.assertEqual({'zone': 'y'}, self.world.reload(node).data['placement'])

    def test_policies_of_equal_priority_run_in_the_order_of_attachment(self) -> None:
        for first, second in ((REGIONS, BATCH), (BATCH, REGIONS)):
            cluster = self.insert_cluster(size=1)
            for type_ in (first, second):
                properties = {'regions': [{'name': 'a'}]} if type_ == REGIONS else {}
                self.attach(cluster, type_, **properties)

            self.assertEqual(
                [first, second], [bound.policy.type for bound in self.bindings(cluster)]
            )

    def test_the_priority_of_the_attachment_applies(self) -> None:
        """A disabled policy is not called."""
        cluster = self.insert_cluster(size=2)
        properties = {'event': 'CLUSTER_SCALE_OUT', 'adjustment': {'number': 2}}
        policy = self.attach(cluster, SCALING, **properties)
        change = {'policy_id': policy.uuid, 'enabled': False}
        self.world.run_action(action_types.CLUSTER_UPDATE_POLICY, cluster, change)
        action = self.world.run_action(action_types.CLUSTER_SCALE_OUT, cluster)
        self.assertEqual(({}, 3), (action.data, len(self.names(cluster))))
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_IN')
        self.attach(cluster, DELETION)
        with self.world.store.transaction() as tx:
            tx.lock_clusters([cluster.uuid])
            *_, deletion = tx.bindings_of(cluster.id)
            tx.save_bindings([deletion.binding.evolve(priority=50)])

        self.world.run_action(action_types.CLUSTER_SCALE_IN, cluster)

        self.assertEqual(
            [DELETION, SCALING], [name for name, _, _ in self.external.steps]
        )


class TestLoadBalancing(ClusterPolicyCase):
    """The members of a load balancer follow the nodes."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.insert_cluster(size=2)
        self.policy = self.attach(self.cluster, LOAD_BALANCE, driver='recording')

    def members(self) -> list[str]:
        found = self.world.nodes(self.cluster)
        return [node.name for node in found if 'lb_member' in node.data]

    def test_nodes_receive_requests_while_they_exist(self) -> None:
        self.assertEqual([['n1', 'n2']], self.external.members)
        self.assertEqual(['n1', 'n2'], self.members())
        # A node whose creation failed gets no requests.
        self.world.external.fails.add(('create', 'n4'))
        for index in (3, 4):
            node = self.world.insert_node(
                *(self.profile, f'n{index}', self.cluster, index),
                metadata={'address': '127.0.0.1'},
            )
            self.world.create_node(node)
            self.assertEqual(['n1', 'n2', 'n3'], self.external.members[-1])
            self.assertEqual(['n1', 'n2', 'n3'], self.members())
        self.external.members.clear()
        # A deleted node gets no requests from before its deletion.
        self.world.run_action(
            action_types.NODE_DELETE, self.world.nodes(self.cluster)[0]
        )
        self.assertEqual(['n2', 'n3'], self.external.members[0])
        self.assertEqual(['n2', 'n3'], self.members())

    def test_an_unhealthy_node_receives_no_requests_until_its_recovery(self) -> None:
        first, second = self.world.nodes(self.cluster)
        samples = self.world.external.samples
        del samples[first.physical_id or '']

        self.world.run_action(action_types.CLUSTER_CHECK, self.cluster)
        found = self.members()
        self.world.run_action(action_types.CLUSTER_RECOVER, self.cluster)
        recovered = self.members()
        del samples[second.physical_id or '']
        self.world.run_action(action_types.NODE_CHECK, second)

        self.assertEqual((['n2'], ['n1', 'n2']), (found, recovered))
        self.assertEqual(['n1'], self.members())
        self.assertEqual(
            [['n1', 'n2'], ['n2'], ['n1', 'n2'], ['n1']], self.external.members
        )

    def test_a_node_whose_removal_was_cancelled_receives_requests_again(self) -> None:
        self.attach(self.cluster, DELETION, criteria='OLDEST_FIRST', grace_period=3600)
        action = self.world.request_action(action_types.CLUSTER_SCALE_IN, self.cluster)
        self.world.wait_until(lambda: self.members() == ['n1'])
        self.world.wait_until(
            lambda: self.world.store.get_action(action.uuid).token is not None
        )

        self.world.plans.signal_action(action.uuid, 'CANCEL')

        self.assertEqual('CANCELLED', self.world.wait_for_end(action).status)
        self.assertEqual(['n1', 'n2'], self.members())
        self.assertEqual([['n1'], ['n1', 'n2']], self.external.members[-2:])

    def test_a_policy_is_detached_only_if_its_cleanup_succeeds(self) -> None:
        given = {'policy_id': self.policy.uuid}
        self.external.broken = True
        action = self.world.run_action(
            action_types.CLUSTER_DETACH_POLICY, self.cluster, given
        )
        self.assertEqual(
            ('FAILED', 1), (action.status, len(self.bindings(self.cluster)))
        )
        self.assertEqual(['n1', 'n2'], self.members())

        self.external.broken = False
        self.world.run_action(action_types.CLUSTER_DETACH_POLICY, self.cluster, given)

        row = self.world.reload(self.cluster)
        self.assertEqual(
            (1, [], [], {}),
            (self.external.removed, self.members(), self.bindings(row), row.data),
        )

    def test_a_policy_is_deleted_with_its_cluster_after_a_failed_cleanup(self) -> None:
        self.world.run_action(action_types.CLUSTER_DELETE, self.cluster)
        self.assertEqual((1, []), (self.external.removed, self.bindings(self.cluster)))

        cluster = self.insert_cluster(size=2)
        self.attach(cluster, LOAD_BALANCE, driver='recording')
        self.external.broken = True
        with self.assertLogs('watcherlite.engine.clusters', 'WARNING') as logs:
            action = self.world.run_action(action_types.CLUSTER_DELETE, cluster)

        self.assertEqual('SUCCEEDED', action.status, action.status_message)
        self.assertEqual([], self.bindings(cluster))
        self.assertTrue(any('could not be detached' in line for line in logs.output))
        self.assertNotIn('a secret', ''.join(logs.output))

    def test_a_load_balancer_that_is_being_changed_delays_the_actions(self) -> None:
        world, given = self.world, {'policy_id': self.policy.uuid}
        pending = {self.policy.uuid: {'vip_address': '127.0.0.1'}}
        for kind, inputs, row in (
            # Twice before it, and once after it.
            (action_types.CLUSTER_SCALE_IN, {}, pending),
            (action_types.CLUSTER_DETACH_POLICY, given, None),
            (action_types.CLUSTER_ATTACH_POLICY, given, pending),
        ):
            self.external.busy = self.external.busy_removals = 3
            action = world.run_action(kind, self.cluster, inputs)
            self.assertEqual('SUCCEEDED', action.status, action.status_message)
            self.assertEqual(
                row, world.reload(self.cluster).data.get('loadbalancers'), kind
            )
        self.external.busy_removals = 2
        deleted = world.run_action(action_types.CLUSTER_DELETE, self.cluster)

        self.assertEqual('SUCCEEDED', deleted.status, deleted.status_message)
        self.assertEqual((2, []), (self.external.removed, self.bindings(self.cluster)))

    def test_the_next_worker_waits_for_the_load_balancer_of_a_lost_worker(self) -> None:
        cluster = self.insert_cluster(size=2)
        policy = self.insert_policy(LOAD_BALANCE, driver='recording')
        (worker,) = self.world.workers
        self.external.busy = 10**9
        action = self.world.request_action(
            action_types.CLUSTER_ATTACH_POLICY, cluster, {'policy_id': policy.uuid}
        )
        self.world.wait_until(
            lambda: self.world.store.get_action(action.uuid).token is not None
        )
        self.world.kill(worker)
        self.external.busy = 0
        self.world.worker()

        ended = self.world.wait_for_end(action)

        self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual(1, len(self.bindings(cluster)))
        self.assertEqual(['n1', 'n2'], self.external.members[-1])

    def test_a_cancelled_attachment_leaves_no_load_balancer(self) -> None:
        given = {'policy_id': self.policy.uuid}
        self.world.run_action(action_types.CLUSTER_DETACH_POLICY, self.cluster, given)
        self.external.busy = 10**9
        action = self.world.request_action(
            action_types.CLUSTER_ATTACH_POLICY, self.cluster, given
        )
        self.world.wait_until(
            lambda: self.world.store.get_action(action.uuid).token is not None
        )
        waiting = self.world.reload(self.cluster).data['loadbalancers']

        self.world.plans.signal_action(action.uuid, 'CANCEL')

        self.assertEqual('CANCELLED', self.world.wait_for_end(action).status)
        row = self.world.reload(self.cluster)
        self.assertEqual('recording', waiting[self.policy.uuid]['driver'])
        self.assertEqual(
            (2, [], [], {}),
            (self.external.removed, self.members(), self.bindings(row), row.data),
        )


class TestAttachment(ClusterPolicyCase):
    """The policies that can be attached to a cluster."""

    def test_a_cluster_has_one_policy_per_type_unless_more_are_permitted(self) -> None:
        cluster = self.insert_cluster(size=1)
        first = self.attach(cluster, DELETION)
        (bound,) = self.bindings(cluster)
        # The default priority is that of the policy type.
        self.assertEqual(
            (first.uuid, 400, True, {}),
            (
                bound.policy.uuid,
                bound.binding.priority,
                bound.binding.enabled,
                bound.binding.data,
            ),
        )
        again = self.attach_policy(cluster, first)
        self.assertEqual('SUCCEEDED', again.status)
        self.assertEqual('Policy already attached.', (again.outputs or {})['reason'])
        self.assertEqual(1, len(self.bindings(cluster)))
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_IN')
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_OUT')
        for type_, message in (
            (
                DELETION,
                'Only one instance of policy type (senlin.policy.deletion-1.0) can be '
                f'attached to a cluster, but another instance ({first.uuid}) is found',
            ),
            (
                PICKY,
                'Policy not applicable on profile type: others.policy.picky-1.0 is for '
                'os.nova.server-1.0, not for sample-1.0.',
            ),
        ):
            refused = self.attach_policy(cluster, self.insert_policy(type_))
            self.assertEqual('FAILED', refused.status)
            self.assertIn(message, refused.status_message or '')
        self.assertEqual(3, len(self.bindings(cluster)))
        # A policy can be attached in a disabled state.
        self.attach_policy(cluster, self.insert_policy(BATCH), enabled=False)
        enabled = {
            each.policy.type: each.binding.enabled for each in self.bindings(cluster)
        }
        self.assertEqual({DELETION: True, SCALING: True, BATCH: False}, enabled)

    def test_a_policy_deleted_concurrently_leaves_nothing(self) -> None:
        cluster = self.insert_cluster(size=1)
        policy = self.insert_policy(LOAD_BALANCE, driver='recording')

        def deleted() -> None:
            with self.world.store.transaction() as tx:
                tx.delete_object(policy)

        self.external.meanwhile = deleted
        action = self.attach_policy(cluster, policy)

        self.assertEqual('FAILED', action.status)
        self.assertIn('The policy has been deleted.', action.status_message or '')
        row = self.world.reload(cluster)
        self.assertEqual(
            (1, [], {}, [{}]),
            (
                self.external.removed,
                self.bindings(row),
                row.data,
                [node.data for node in self.world.nodes(row)],
            ),
        )

    def test_a_policy_that_cannot_be_loaded_can_be_detached(self) -> None:
        cluster = self.insert_cluster(size=1)
        policy = self.attach(cluster, DELETION)
        gone = NewPolicyObject(
            events.new_uuid(), 'gone', 'others.policy-1.0', {}, BY.owner
        )
        with self.world.store.transaction() as tx:
            stored = tx.insert_object(gone)
            tx.lock_clusters([cluster.uuid])
            (bound,) = tx.bindings_of(cluster.id)
            tx.insert_binding(
                bound.binding.evolve(uuid=events.new_uuid(), policy_id=stored.id)
            )

        action = self.world.run_action(action_types.CLUSTER_SCALE_IN, cluster)
        self.assertEqual('FAILED', action.status)
        self.assertIn(
            "Failed policy 'gone': There is no policy others.policy-1.0.",
            action.status_message or '',
        )

        for uuid in (stored.uuid, policy.uuid):
            given = {'policy_id': uuid}
            ended = self.world.run_action(
                action_types.CLUSTER_DETACH_POLICY, cluster, given
            )
            self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual([], self.bindings(cluster))
