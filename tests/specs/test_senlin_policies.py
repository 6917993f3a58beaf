"""Policies around actions on clusters, through the real core (spec 001).

The first class is the example that the spec tells of the property `data`.
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
    PolicyStories,
)
from watcherlite.domain import events
from watcherlite.domain.clusters import NewPolicyObject
from watcherlite.engine.clusters import action_types


class TestTheActionDataProperty(PolicyStories):
    """The example: a scaling, a deletion and a load-balancing policy."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.a_cluster(size=4)
        # In another order than that in which they are asked.
        vip = {'protocol_port': 8000}
        self.balance = self.attach(self.cluster, LOAD_BALANCE, driver='told', vip=vip)
        self.attach(self.cluster, DELETION, criteria='OLDEST_FIRST')
        self.attach(
            self.cluster, SCALING, event='CLUSTER_SCALE_IN', adjustment={'number': 2}
        )
        self.oldest = self.uuids(self.cluster, 'n4', 'n3')
        self.outside.steps.clear()
        self.outside.members.clear()

    def test_each_step_finds_and_leaves_what_the_spec_says(self) -> None:
        action = self.world.do(action_types.CLUSTER_SCALE_IN, self.cluster)

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
            self.outside.steps,
        )
        self.assertEqual(
            ('SUCCEEDED', chosen, {}, {'nodes_removed': self.oldest}),
            (action.status, action.data, action.inputs, action.outputs),
        )

    def test_the_nodes_leave_the_load_balancer_before_they_are_deleted(self) -> None:
        gate = self.a_gate()
        self.world.outside.gates['delete', 'n4'] = gate
        action = self.world.ask(action_types.CLUSTER_SCALE_IN, self.cluster)
        gate.until_entered()
        told = list(self.outside.members)
        gate.open()
        self.world.ended(action)

        self.assertEqual([['n1', 'n2']], told)
        self.assertEqual(['n1', 'n2'], self.names(self.cluster))
        self.assertEqual([['n1', 'n2']] * 2, self.outside.members)
        row = self.world.now(self.cluster)
        self.assertEqual(
            (2, 'ACTIVE', {self.balance.uuid: {'vip_address': '127.0.0.1'}}),
            (row.desired_capacity, row.status, row.data['loadbalancers']),
        )

    def test_when_its_worker_is_lost_the_next_one_finds_what_was_decided(self) -> None:
        (worker,) = self.world.workers
        self.outside.meanwhile = lambda: self.world.kill(worker)
        action = self.world.ask(action_types.CLUSTER_SCALE_IN, self.cluster)
        self.world.until(lambda: self.world.is_dead(worker))
        self.world.worker()

        ended = self.world.ended(action)

        self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual(self.oldest, ended.data['deletion']['candidates'])
        again = [step for step in self.outside.steps if step[1] == ended.data]
        self.assertEqual(
            [(name, ended.data, ended.data) for name in (SCALING, DELETION)],
            [step for step in again if step[0] != LOAD_BALANCE],
        )
        self.assertEqual(['n1', 'n2'], self.names(self.cluster))
        self.assertEqual(['n1', 'n2'], self.outside.members[-1])

    def test_afterwards_those_are_told_that_want_to_know(self) -> None:
        action = self.world.do(action_types.CLUSTER_SCALE_IN, self.cluster)

        self.assertEqual([(SCALING, 'OK'), (LOAD_BALANCE, 'OK')], self.outside.after)
        scaling, deletion, balance = self.bound(self.cluster)
        self.assertEqual({'heeded': action.uuid}, scaling.binding.data)
        self.assertIsNotNone(scaling.binding.last_op)
        self.assertIsNone(deletion.binding.last_op)
        self.assertEqual(
            {
                'driver': 'told',
                'loadbalancer': f'{self.cluster.uuid}-{self.balance.uuid}',
                'preexisting': False,
            },
            balance.binding.data,
        )


class TestDecisions(PolicyStories):
    """The decisions of policies are applied."""

    def test_a_policy_that_refuses_fails_the_action_and_nothing_is_done(self) -> None:
        cluster = self.a_cluster(size=2)
        self.world.set(cluster, min_size=2)
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_IN')
        self.attach(cluster, DELETION)

        action = self.world.do(action_types.CLUSTER_SCALE_IN, cluster)

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
                self.world.now(cluster).status,
            ),
        )
        self.assertEqual([], self.outside.steps)

    def test_nodes_that_come_are_where_the_policies_say(self) -> None:
        cluster = self.a_cluster(size=0)
        self.attach(cluster, REGIONS, regions=[{'name': 'a'}, {'name': 'b'}])
        self.attach(cluster, ZONES, zones=[{'name': 'x', 'weight': 300}, {'name': 'y'}])
        self.attach(cluster, AFFINITY, servergroup={'name': 'g'})

        action = self.world.do(action_types.CLUSTER_SCALE_OUT, cluster, {'count': 3})

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

    def test_nodes_that_go_go_from_where_the_policies_say(self) -> None:
        places = [{'region_name': name} for name in ('a', 'a', 'a', 'b', 'b')]
        cluster = self.a_cluster(*places)
        self.attach(cluster, REGIONS, regions=[{'name': 'a'}, {'name': 'b'}])
        self.attach(cluster, DELETION, criteria='YOUNGEST_FIRST')

        self.world.do(action_types.CLUSTER_SCALE_IN, cluster, {'count': 3})

        self.assertEqual(['n3', 'n5'], self.names(cluster))

    def test_that_is_so_if_no_policy_says_which_go(self) -> None:
        places = [{'region_name': name} for name in ('a', 'b', 'b', 'b', 'a')]
        cluster = self.a_cluster(*places)
        # Those that are in none of the regions go first.
        self.attach(cluster, REGIONS, regions=[{'name': 'a'}])

        self.world.do(action_types.CLUSTER_SCALE_IN, cluster, {'count': 3})

        self.assertEqual(['n1', 'n5'], self.names(cluster))

    def test_a_node_that_is_made_in_a_cluster_is_placed(self) -> None:
        cluster = self.a_cluster({'zone': 'x'})
        self.attach(cluster, ZONES, zones=[{'name': 'x'}, {'name': 'y'}])
        node = self.world.a_node(self.profile, 'n2', cluster, 2)

        self.world.made(node)

        self.assertEqual({'zone': 'y'}, self.world.now(node).data['placement'])

    def test_equal_priorities_are_asked_in_the_order_of_their_attachment(self) -> None:
        for first, second in ((REGIONS, BATCH), (BATCH, REGIONS)):
            cluster = self.a_cluster(size=1)
            for type_ in (first, second):
                said = {'regions': [{'name': 'a'}]} if type_ == REGIONS else {}
                self.attach(cluster, type_, **said)

            self.assertEqual(
                [first, second], [bound.policy.type for bound in self.bound(cluster)]
            )

    def test_the_priority_that_counts_is_that_of_the_attachment(self) -> None:
        cluster = self.a_cluster(size=2)
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_IN')
        self.attach(cluster, DELETION)
        with self.world.store.transaction() as tx:
            tx.lock_clusters([cluster.uuid])
            _, deletion = tx.bindings_of(cluster.id)
            tx.save_bindings([deletion.binding.evolve(priority=50)])

        self.world.do(action_types.CLUSTER_SCALE_IN, cluster)

        self.assertEqual(
            [DELETION, SCALING], [name for name, _, _ in self.outside.steps]
        )

    def test_a_policy_that_is_disabled_is_not_asked(self) -> None:
        cluster = self.a_cluster(size=2)
        said = {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'number': 2}}
        policy = self.attach(cluster, SCALING, **said)
        change = {'policy_id': policy.uuid, 'enabled': False}
        self.world.do(action_types.CLUSTER_UPDATE_POLICY, cluster, change)

        action = self.world.do(action_types.CLUSTER_SCALE_IN, cluster)

        self.assertEqual(({}, 1), (action.data, len(self.names(cluster))))

    def test_what_an_action_derives_is_not_looked_at_again(self) -> None:
        cluster = self.a_cluster(size=1)
        self.attach(cluster, ZONES, zones=[{'name': 'x'}])
        self.outside.steps.clear()

        self.world.do(action_types.CLUSTER_SCALE_OUT, cluster, {'count': 2})

        self.assertEqual([ZONES], [name for name, _, _ in self.outside.steps])


class TestLoadBalancing(PolicyStories):
    """The members of a load balancer follow the nodes."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.a_cluster(size=2)
        self.policy = self.attach(self.cluster, LOAD_BALANCE, driver='told')

    def members(self) -> list[str]:
        found = self.world.nodes(self.cluster)
        return [node.name for node in found if 'lb_member' in node.data]

    def test_it_begins_with_the_nodes_that_there_are(self) -> None:
        self.assertEqual([['n1', 'n2']], self.outside.members)
        self.assertEqual(['n1', 'n2'], self.members())

    def test_a_node_that_is_made_gets_requests_once_it_is(self) -> None:
        node = self.world.a_node(
            self.profile, 'n3', self.cluster, 3, metadata={'address': '127.0.0.1'}
        )

        self.world.made(node)

        self.assertEqual(['n1', 'n2', 'n3'], self.outside.members[-1])
        self.assertEqual(['n1', 'n2', 'n3'], self.members())

    def test_a_node_that_could_not_be_made_gets_none(self) -> None:
        self.world.outside.fails.add(('create', 'n3'))
        node = self.world.a_node(
            self.profile, 'n3', self.cluster, 3, metadata={'address': '127.0.0.1'}
        )

        self.world.made(node)

        self.assertEqual(['n1', 'n2'], self.outside.members[-1])

    def test_a_node_that_is_found_unwell_gets_none_until_it_is_recovered(self) -> None:
        first, second = self.world.nodes(self.cluster)
        things = self.world.outside.things
        del things[first.physical_id or '']

        self.world.do(action_types.CLUSTER_CHECK, self.cluster)
        found = self.members()
        self.world.do(action_types.CLUSTER_RECOVER, self.cluster)
        recovered = self.members()
        del things[second.physical_id or '']
        self.world.do(action_types.NODE_CHECK, second)

        self.assertEqual((['n2'], ['n1', 'n2']), (found, recovered))
        self.assertEqual(['n1'], self.members())
        self.assertEqual(
            [['n1', 'n2'], ['n2'], ['n1', 'n2'], ['n1']], self.outside.members
        )

    def test_a_node_that_is_deleted_gets_none_from_before_that(self) -> None:
        first, _ = self.world.nodes(self.cluster)

        self.world.do(action_types.NODE_DELETE, first)

        self.assertEqual(['n2'], self.outside.members[1])
        self.assertEqual(['n2'], self.members())

    def test_one_that_stays_because_that_was_cancelled_gets_them_again(self) -> None:
        self.attach(self.cluster, DELETION, criteria='OLDEST_FIRST', grace_period=3600)
        action = self.world.ask(action_types.CLUSTER_SCALE_IN, self.cluster)
        self.world.until(lambda: self.members() == ['n1'])
        self.world.until(
            lambda: self.world.store.get_action(action.uuid).token is not None
        )

        self.world.plans.signal_action(action.uuid, 'CANCEL')

        self.assertEqual('CANCELLED', self.world.ended(action).status)
        self.assertEqual(['n1', 'n2'], self.members())
        self.assertEqual([['n1'], ['n1', 'n2']], self.outside.members[-2:])

    def test_detached_it_is_gone(self) -> None:
        given = {'policy_id': self.policy.uuid}

        self.world.do(action_types.CLUSTER_DETACH_POLICY, self.cluster, given)

        row = self.world.now(self.cluster)
        self.assertEqual(
            (1, [], [], {}),
            (self.outside.removed, self.members(), self.bound(row), row.data),
        )

    def test_with_its_cluster_it_goes_too(self) -> None:
        self.world.do(action_types.CLUSTER_DELETE, self.cluster)

        self.assertEqual((1, []), (self.outside.removed, self.bound(self.cluster)))

    def test_what_it_cannot_clean_up_keeps_no_cluster_from_going(self) -> None:
        self.outside.broken = True

        with self.assertLogs('watcherlite.engine.clusters', 'WARNING') as logs:
            action = self.world.do(action_types.CLUSTER_DELETE, self.cluster)

        self.assertEqual('SUCCEEDED', action.status, action.status_message)
        self.assertEqual([], self.bound(self.cluster))
        self.assertTrue(any('could not let go' in line for line in logs.output))
        self.assertNotIn('a secret', ''.join(logs.output))

    def test_it_is_detached_only_if_it_can_clean_up(self) -> None:
        self.outside.broken = True
        given = {'policy_id': self.policy.uuid}

        action = self.world.do(action_types.CLUSTER_DETACH_POLICY, self.cluster, given)

        self.assertEqual(('FAILED', 1), (action.status, len(self.bound(self.cluster))))
        self.assertEqual(['n1', 'n2'], self.members())


class TestAttachment(PolicyStories):
    """The policies that a cluster can have."""

    def test_the_priority_is_that_of_the_type(self) -> None:
        cluster = self.a_cluster(size=1)
        policy = self.attach(cluster, DELETION)

        (bound,) = self.bound(cluster)

        self.assertEqual(
            (policy.uuid, 400, True, {}),
            (
                bound.policy.uuid,
                bound.binding.priority,
                bound.binding.enabled,
                bound.binding.data,
            ),
        )

    def test_one_that_is_attached_stays_so(self) -> None:
        cluster = self.a_cluster(size=1)
        policy = self.attach(cluster, DELETION)

        again = self.attached(cluster, policy)

        self.assertEqual('SUCCEEDED', again.status)
        self.assertEqual('Policy already attached.', (again.outputs or {})['reason'])
        self.assertEqual(1, len(self.bound(cluster)))

    def test_a_second_of_its_type_is_refused_unless_there_may_be_several(self) -> None:
        cluster = self.a_cluster(size=1)
        first = self.attach(cluster, DELETION)
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_IN')
        self.attach(cluster, SCALING, event='CLUSTER_SCALE_OUT')

        second = self.attached(cluster, self.a_policy(DELETION))

        self.assertEqual('FAILED', second.status)
        self.assertIn(
            'Only one instance of policy type (senlin.policy.deletion-1.0) can be '
            f'attached to a cluster, but another instance ({first.uuid}) is found',
            second.status_message or '',
        )
        self.assertEqual(3, len(self.bound(cluster)))

    def test_one_that_is_for_other_profiles_is_refused(self) -> None:
        cluster = self.a_cluster(size=1)

        action = self.attached(cluster, self.a_policy(PICKY))

        self.assertEqual('FAILED', action.status)
        self.assertIn(
            'Policy not applicable on profile type: others.policy.picky-1.0 is for '
            'os.nova.server-1.0, not for thing-1.0.',
            action.status_message or '',
        )
        self.assertEqual([], self.bound(cluster))

    def test_one_that_is_deleted_meanwhile_leaves_nothing_behind(self) -> None:
        cluster = self.a_cluster(size=1)
        policy = self.a_policy(LOAD_BALANCE, driver='told')

        def deleted() -> None:
            with self.world.store.transaction() as tx:
                tx.delete_object(policy)

        self.outside.meanwhile = deleted
        action = self.attached(cluster, policy)

        self.assertEqual('FAILED', action.status)
        self.assertIn('The policy has been deleted.', action.status_message or '')
        row = self.world.now(cluster)
        self.assertEqual(
            (1, [], {}, [{}]),
            (
                self.outside.removed,
                self.bound(row),
                row.data,
                [node.data for node in self.world.nodes(row)],
            ),
        )

    def test_one_may_be_attached_and_not_asked(self) -> None:
        cluster = self.a_cluster(size=1)

        self.attached(cluster, self.a_policy(DELETION), enabled=False)

        (bound,) = self.bound(cluster)
        self.assertFalse(bound.binding.enabled)

    def test_one_that_cannot_be_asked_can_be_got_rid_of(self) -> None:
        cluster = self.a_cluster(size=1)
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

        action = self.world.do(action_types.CLUSTER_SCALE_IN, cluster)
        self.assertEqual('FAILED', action.status)
        self.assertIn(
            "Failed policy 'gone': There is no policy others.policy-1.0.",
            action.status_message or '',
        )

        for uuid in (stored.uuid, policy.uuid):
            given = {'policy_id': uuid}
            ended = self.world.do(action_types.CLUSTER_DETACH_POLICY, cluster, given)
            self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual([], self.bound(cluster))
