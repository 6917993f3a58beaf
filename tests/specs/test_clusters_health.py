"""Monitored clusters: a repeated action that respects the locks of other actions."""

from typing import Any

from tests.cluster_worlds import ClusterWorld
from tests.specs.cluster_case import ClusterActionCase
from tests.stack_worlds import res, template
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, PolicyObject
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import health_monitor
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.plugins.base import Policy
from watcherlite.plugins.policies.health import Health
from watcherlite.states import stack as stack_states


class Watching(Policy):
    """A policy that monitors a cluster every hour and recreates its unhealthy nodes."""

    before = frozenset({action_types.CLUSTER_RECOVER})
    interval = 3600

    def attach(self, context: Any) -> dict[str, Any]:
        modes = [{'type': action_types.NODE_STATUS_POLLING}]
        return {'interval': self.interval, 'detection': {'detection_modes': modes}}

    def pre_op(self, context: Any, data: dict[str, Any]) -> None:
        data['health'] = {'recover_action': [{'name': 'RECREATE'}]}


class FrequentChecks(Watching):
    """The same policy with an interval of one second."""

    interval = 1


class HealthCase(ClusterActionCase):
    """A world with a monitored cluster of two nodes."""

    def create_monitored_cluster(
        self, kind: type[Policy] = Watching
    ) -> tuple[ClusterWorld, Cluster]:
        world = self.create_cluster_world(policies={'senlin.policy.health-1.0': kind})
        cluster = self.make(world, 2)
        self.policy: PolicyObject = self.insert_policy(
            world, 'senlin.policy.health-1.0'
        )
        self.assertEqual('SUCCEEDED', self.attach(world, cluster, self.policy).status)
        return world, cluster

    def first_health_action(self, world: ClusterWorld) -> Action:
        """Return the first action that monitors the cluster."""
        return self.health_actions(world)[0]

    def health_actions(self, world: ClusterWorld) -> list[Action]:
        return [
            action
            for action in world.store.list_actions(limit=1000)
            if action.action_type == health_monitor.CLUSTER_HEALTH and action.interval
        ]

    def remove_first_resource(self, world: ClusterWorld, cluster: Cluster) -> str:
        """Let the resource of the first node vanish; return the name of the node."""
        node = world.nodes(cluster)[0]
        del world.external.samples[node.physical_id or '']
        return str(node.name)

    def run_round(self, world: ClusterWorld) -> str:
        """Run a round now, and return its result."""
        before = self.first_health_action(world)
        self.assertEqual('READY', before.status)
        world.make_due(before)
        world.wait_until(
            lambda: (
                self.first_health_action(world).end_time not in (None, before.end_time)
            ),
            world.full_report,
        )
        result = str((self.first_health_action(world).outputs or {})['round'])
        if ' ' in result:
            return result
        self.begun = world.wait_for_end(result)
        return str((self.begun.outputs or {})['round'])


class TestRounds(HealthCase):
    """A round checks all nodes, and recovers the unhealthy ones."""

    def test_a_dead_node_is_detected_and_recreated_and_the_action_is_kept(self) -> None:
        world, cluster = self.create_monitored_cluster()
        earlier = len(world.transitions())
        name = self.remove_first_resource(world, cluster)
        self.assertEqual('recovered', self.run_round(world))
        recovered = self.begun
        for _ in range(2):
            self.assertEqual('all nodes are healthy', self.run_round(world))
        check, recover = self.derived(world, recovered)
        asked = ('RPC Request', cluster.uuid, 'a-project')
        self.assertEqual(
            [
                (action_types.CLUSTER_CHECK, *asked),
                (action_types.CLUSTER_RECOVER, *asked),
            ],
            [(a.action_type, a.cause, a.target, a.tenant) for a in (check, recover)],
        )
        self.assertEqual(
            {'detection': {'detection_modes': [{'type': 'NODE_STATUS_POLLING'}]}},
            check.inputs,
        )
        self.assertEqual(
            [{'name': 'RECREATE'}], recover.data['health']['recover_action']
        )
        self.assertEqual([name], world.external.of('create')[2:])
        self.assertEqual(
            ('ACTIVE', {'n1': 'ACTIVE', 'n2': 'ACTIVE'}, 2),
            (
                self.reload(world, cluster).status,
                self.statuses(world, cluster),
                len(world.external.samples),
            ),
        )
        facts = world.transitions()[earlier:]
        repaired = [('recover.start', 'RECOVERING'), ('recover.end', 'ACTIVE')]
        for who, found in (('c', 'WARNING'), ('n1', 'ERROR')):
            self.assertEqual(
                [('check.end', found), *repaired],
                [fact[1:] for fact in facts if fact[0] == who],
            )
        self.assertEqual(6, len(facts))

    def test_healthy_nodes_are_only_checked_and_no_actions_are_kept(self) -> None:
        world, cluster = self.create_monitored_cluster()
        kept = []
        for _ in range(2):
            self.assertEqual('all nodes are healthy', self.run_round(world))
            self.assertEqual(
                [action_types.CLUSTER_CHECK],
                [a.action_type for a in self.derived(world, self.begun)],
            )
            row = self.reload(world, cluster)
            kept.append((len(world._actions()), world.events(), row))
        self.assertEqual(kept[0], kept[1])
        self.assertEqual([], self.derived(world, self.first_health_action(world)))
        self.assertEqual([], world.external.of('delete'))
        # The recovery of a node by itself is a change.
        world.save(world.nodes(cluster)[0], status='ERROR', status_reason='lost')
        self.assertEqual('all nodes are healthy', self.run_round(world))
        found = self.begun
        self.assertEqual('all nodes are healthy', self.run_round(world))
        self.assertEqual(1, len(self.derived(world, found)))

    def test_rounds_follow_the_interval_of_the_policy(self) -> None:
        world, cluster = self.create_monitored_cluster(FrequentChecks)
        self.remove_first_resource(world, cluster)
        world.wait_until(lambda: len(world.external.samples) == 2, world.full_report)

    def test_a_failed_recovery_is_retried_in_the_next_round(self) -> None:
        world, cluster = self.create_monitored_cluster()
        self.remove_first_resource(world, cluster)
        world.external.fails.add(('create', 'n1'))
        self.assertEqual('recovered', self.run_round(world))
        self.assertEqual('WARNING', self.reload(world, cluster).status)
        world.external.fails.clear()
        self.assertEqual('recovered', self.run_round(world))
        self.assertEqual('ACTIVE', self.reload(world, cluster).status)


class TestRecoveryOperations(HealthCase):
    """A node with a health mark is recovered as the built-in policy prescribes."""

    def create_health_policy(
        self, world: ClusterWorld, operation: str | None
    ) -> PolicyObject:
        modes = [{'type': 'LIFECYCLE_EVENTS'}]
        detection = {'interval': 3600, 'detection_modes': modes}
        actions_ = [{'name': operation}] if operation else []
        properties = {'detection': detection, 'recovery': {'actions': actions_}}
        return self.insert_policy(world, 'senlin.policy.health-1.0', **properties)

    def test_a_node_is_recovered_by_the_named_operation(self) -> None:
        for operation, calls in (
            ('REBOOT', ['reboot']),
            ('REBUILD', ['rebuild']),
            ('RECREATE', ['delete', 'create']),
            (None, ['delete', 'create']),
        ):
            with self.subTest(operation=operation):
                world = self.create_cluster_world(
                    policies={'senlin.policy.health-1.0': Health}
                )
                cluster = self.make(world, 2)
                policy = self.create_health_policy(world, operation)
                self.assertEqual(
                    'SUCCEEDED', self.attach(world, cluster, policy).status
                )
                first, _ = world.nodes(cluster)
                world.save(first, data={action_types.UNHEALTHY_MARK: 'it is slow'})
                world.external.calls.clear()

                self.assertEqual('recovered', self.run_round(world))

                self.assertEqual(calls, [call for call, _ in world.external.calls])
                node = world.reload(first)
                self.assertEqual(
                    ('ACTIVE', {'recovery': operation or 'RECREATE'}),
                    (node.status, node.data),
                )

    def test_an_operation_that_the_profile_lacks_is_refused_immediately(self) -> None:
        world = self.create_cluster_world(policies={'senlin.policy.health-1.0': Health})
        cluster = self.make(world, 1, world.profile(type_='plain'))

        action = self.attach(world, cluster, self.create_health_policy(world, 'REBOOT'))

        self.assertEqual(('FAILED', []), (action.status, self.bindings(world, cluster)))
        self.assertIn(
            'REBOOT is not supported by the profile type plain-1.0',
            action.status_message or '',
        )


class TestLocks(HealthCase):
    """A round skips a cluster that another action has locked."""

    def test_a_cluster_is_skipped_while_a_node_is_busy_or_it_shrinks(self) -> None:
        world, cluster = self.create_monitored_cluster()
        gate = self.create_gate_at(world, 'check', 'n1')
        action = world.request_action(action_types.NODE_CHECK, world.nodes(cluster)[0])
        gate.wait_until_entered()
        self.assertEqual('left out: the cluster is busy', self.run_round(world))
        gate.open()
        world.wait_for_end(action)
        self.assertEqual('all nodes are healthy', self.run_round(world))
        world.external.calls.clear()
        gate = self.create_gate_at(world, 'delete', 'n1')
        world.external.gates['delete', 'n2'] = gate
        action = world.request_action(action_types.CLUSTER_SCALE_IN, cluster)
        gate.wait_until_entered()
        self.remove_first_resource(world, cluster)
        self.assertEqual('left out: the cluster is RESIZING', self.run_round(world))
        self.assertEqual([], world.external.of('check'))
        gate.open()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        self.assertIn(self.run_round(world), ('all nodes are healthy', 'recovered'))
        self.assertEqual(1, len(world.external.samples))

    def test_a_node_that_is_a_locked_stack_is_unchanged(self) -> None:
        world = self.create_cluster_world(
            policies={'senlin.policy.health-1.0': Watching}
        )
        stacked = world.profile('s', 'os.heat.stack', template=template({'a': res()}))
        cluster = self.make(world, 1, stacked)
        self.attach(
            world, cluster, self.insert_policy(world, 'senlin.policy.health-1.0')
        )
        (node,) = world.nodes(cluster)
        stacks = StackOperations(world.stack_parts(world.store), world.clock, world)
        stacks.start_operation(node.physical_id or '', 'a-project', stack_states.LOCK)
        world.wait_until(
            lambda: (
                world.store.find_stack(node.physical_id or '', 'a-project').status
                == stack_states.COMPLETE
            )
        )

        self.assertEqual('all nodes are healthy', self.run_round(world))
        self.assertEqual(node.status_reason, world.reload(node).status_reason)
        world.save(
            node, status='ERROR', data={action_types.UNHEALTHY_MARK: 'it is slow'}
        )
        result = self.run_round(world)

        self.assertTrue(
            result.startswith(f'left out: Node {node.name} is a stack'), result
        )
        self.assertEqual(
            [action_types.CLUSTER_CHECK],
            [a.action_type for a in self.derived(world, self.begun)],
        )
        self.assertEqual(node.physical_id, world.reload(node).physical_id)

    def test_a_request_during_a_round_waits_and_is_not_refused(self) -> None:
        world, cluster = self.create_monitored_cluster()
        gate = self.create_gate_at(world, 'check', 'n1')
        world.make_due(self.first_health_action(world))
        gate.wait_until_entered()
        action = world.request_action(action_types.CLUSTER_SCALE_OUT, cluster)
        gate.open()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        self.assertEqual(['n1', 'n2', 'n3'], self.names(world, cluster))


class TestMonitoringEnd(HealthCase):
    """The monitoring action exists as long as the policy is attached."""

    def test_monitoring_pauses_with_a_disabled_policy_and_ends_with_a_detached_one(
        self,
    ) -> None:
        world, cluster = self.create_monitored_cluster()
        inputs = {'policy_id': self.policy.uuid}
        for enabled, result in (
            (False, 'left out: the policy is disabled'),
            (True, 'all nodes are healthy'),
        ):
            change = {**inputs, 'enabled': enabled}
            world.run_action(action_types.CLUSTER_UPDATE_POLICY, cluster, change)
            self.assertEqual(result, self.run_round(world))
        world.run_action(action_types.CLUSTER_DETACH_POLICY, cluster, inputs)
        self.assertEqual('CANCELLED', self.first_health_action(world).status)
        self.attach(world, cluster, self.policy)
        self.attach(world, cluster, self.policy)
        self.assertEqual(
            ['CANCELLED', 'READY'], [one.status for one in self.health_actions(world)]
        )
        world.run_action(action_types.CLUSTER_DELETE, cluster)
        self.assertEqual(
            ['CANCELLED'] * 2, [one.status for one in self.health_actions(world)]
        )

    def test_an_unstopped_monitoring_action_ends_by_itself(self) -> None:
        world, cluster = self.create_monitored_cluster()
        (bound,) = self.bindings(world, cluster)
        with world.store.transaction() as tx:
            tx.lock_clusters([cluster.uuid])
            tx.delete_bindings([bound.binding.id])
        self.attach(world, cluster, self.policy)
        self.assertEqual(2, len(self.health_actions(world)))
        self.assertEqual(health_monitor.STOPPED, self.run_round(world))
        self.assertEqual('SUCCEEDED', self.first_health_action(world).status)
        self.assertEqual([], world.external.of('check'))
