"""Failures of nodes that a service reports, in the mode LIFECYCLE_EVENTS."""

import datetime
from typing import Any

from tests.cluster_worlds import ClusterWorld
from tests.specs.test_clusters_health import HealthCase
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.service_notifications import (
    ResourceFailure,
    ServiceNotification,
)
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.failure_events import FailureEvents
from watcherlite.plugins.policies.health import Health

EVENTS = {'type': 'LIFECYCLE_EVENTS'}
POLLING = {'type': 'NODE_STATUS_POLLING'}
REASON = 'Nova reports instance.pause.end of server x'
MINUTE = datetime.timedelta(minutes=1)


class FailureCase(HealthCase):
    """A cluster of two nodes whose policy reacts to notifications."""

    def create_cluster(
        self, *modes: dict[str, Any], **detection: Any
    ) -> tuple[ClusterWorld, Cluster]:
        world = self.create_cluster_world(policies={'senlin.policy.health-1.0': Health})
        cluster = self.make(world, 2)
        given = {'interval': 3600, 'detection_modes': list(modes), **detection}
        policy = self.insert_policy(world, 'senlin.policy.health-1.0', detection=given)
        self.assertEqual('SUCCEEDED', self.attach(world, cluster, policy).status)
        self.policy = policy
        world.external.calls.clear()
        return world, cluster

    def report(
        self, world: ClusterWorld, node: Node, emitted: datetime.datetime | None = None
    ) -> None:
        """Report that the resource of a node has failed.

        :param emitted: the time of the notification; None: some time after the last
            action on the node
        """
        failure = ResourceFailure(node.uuid, node.physical_id or '', REASON)
        given = ServiceNotification(
            'instance.pause.end', 'nova', {}, emitted or world.clock.now() + MINUTE
        )
        self.report_all(world, (failure, given))

    def report_all(self, world: ClusterWorld, *reported: Any) -> None:
        FailureEvents(world.cluster_parts, world.clock).handle(reported)

    def reactions(self, world: ClusterWorld) -> list[Action]:
        """Return the rounds that failures have started, when they have ended."""
        found = [
            action
            for action in world.store.list_actions(limit=1000)
            if 'events' in action.inputs
        ]
        return [world.wait_for_end(action) for action in found]

    def results(self, world: ClusterWorld) -> list[str]:
        return [(action.outputs or {})['round'] for action in self.reactions(world)]


class TestFailures(FailureCase):
    """The node is checked and recovered at once."""

    def test_a_reported_failure_is_recovered_before_the_next_check(self) -> None:
        world, cluster = self.create_cluster(EVENTS)
        first, _ = world.nodes(cluster)

        self.report(world, first)

        self.assertEqual(['recovered'], self.results(world))
        (reaction,) = self.reactions(world)
        check, recover = self.derived(world, reaction)
        self.assertEqual(
            [
                (action_types.NODE_CHECK, first.uuid, cluster.uuid),
                (action_types.CLUSTER_RECOVER, cluster.uuid, None),
            ],
            [(one.action_type, one.target, one.within) for one in (check, recover)],
        )
        self.assertEqual(
            {'status': 'ERROR', 'reason': REASON},
            action_types.public_outputs(check.outputs),
        )
        self.assertEqual(
            ('ACTIVE', {'n1': 'ACTIVE', 'n2': 'ACTIVE'}),
            (self.reload(world, cluster).status, self.statuses(world, cluster)),
        )
        self.assertEqual(['n1'], world.external.of('delete'))
        self.assertEqual([], world.external.of('check'))

    def test_all_engines_that_receive_a_notification_start_one_round(self) -> None:
        world, cluster = self.create_cluster(EVENTS)
        node = world.nodes(cluster)[0]
        emitted = world.clock.now() + MINUTE
        for _ in range(3):
            self.report(world, node, emitted)

        self.assertEqual(['recovered'], self.results(world))

    def test_failures_of_one_moment_are_recovered_together(self) -> None:
        world, cluster = self.create_cluster(EVENTS)
        emitted = world.clock.now() + MINUTE
        given = ServiceNotification('instance.delete.end', 'nova', {}, emitted)
        self.report_all(
            world,
            *(
                (ResourceFailure(node.uuid, node.physical_id or '', reason), given)
                for node in world.nodes(cluster)
                for reason in ('it shuts down', REASON)
            ),
            (ResourceFailure('another', 'x', REASON), given),
        )

        self.assertEqual(['recovered'], self.results(world))
        (reaction,) = self.reactions(world)
        self.assertEqual(
            [action_types.NODE_CHECK] * 2 + [action_types.CLUSTER_RECOVER],
            [one.action_type for one in self.derived(world, reaction)],
        )
        self.assertEqual({'n1', 'n2'}, set(world.external.of('delete')))

    def test_a_failure_of_a_replaced_resource_is_ignored(self) -> None:
        world, cluster = self.create_cluster(EVENTS)
        node = world.nodes(cluster)[0]
        self.report(world, node.evolve(physical_id='another'))
        self.report(world, node.evolve(uuid='00000000-0000-4000-8000-000000000000'))

        self.assertEqual([], self.results(world))

    def test_a_policy_without_the_mode_or_that_is_disabled_ignores_it(self) -> None:
        world, cluster = self.create_cluster(POLLING)
        self.report(world, world.nodes(cluster)[0])
        self.assertEqual([], self.results(world))

        world, cluster = self.create_cluster(EVENTS)
        change = {'policy_id': self.policy.uuid, 'enabled': False}
        world.run_action(action_types.CLUSTER_UPDATE_POLICY, cluster, change)
        self.report(world, world.nodes(cluster)[0])
        self.assertEqual([], self.results(world))

    def test_the_condition_of_the_policy_applies_to_it(self) -> None:
        for condition, healthy, expected in (
            ('ANY_FAILED', True, 'recovered'),
            ('ALL_FAILED', True, 'all nodes are healthy'),
            ('ALL_FAILED', False, 'recovered'),
        ):
            with self.subTest(condition=condition, healthy=healthy):
                world, cluster = self.create_cluster(
                    EVENTS, POLLING, recovery_conditional=condition
                )
                if not healthy:
                    self.remove_first_resource(world, cluster)
                self.report(world, world.nodes(cluster)[0])

                self.assertEqual([expected], self.results(world))


class TestOwnChanges(FailureCase):
    """A notification that the cluster has caused is no failure by itself."""

    def test_a_node_that_has_just_changed_is_checked_first(self) -> None:
        for missing, expected in (
            (False, 'all nodes are healthy'),
            (True, 'recovered'),
        ):
            with self.subTest(missing=missing):
                world, cluster = self.create_cluster(EVENTS)
                node = world.nodes(cluster)[0]
                if missing:
                    self.remove_first_resource(world, cluster)
                self.report(world, node, world.clock.now())

                self.assertEqual([expected], self.results(world))

    def test_a_failure_waits_for_the_other_actions_of_the_cluster(self) -> None:
        world, cluster = self.create_cluster(EVENTS)
        node = world.nodes(cluster)[0]
        gate = self.create_gate_at(world, 'create', 'n3')
        action = world.request_action(action_types.CLUSTER_SCALE_OUT, cluster)
        gate.wait_until_entered()
        self.remove_first_resource(world, cluster)
        self.report(world, node)
        (waiting,) = [
            one
            for one in world.store.list_actions(limit=1000)
            if 'events' in one.inputs
        ]
        world.wait_until(
            lambda: world.store.get_action(waiting.uuid).token is not None,
            world.full_report,
        )
        gate.open()

        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        self.assertEqual(['recovered'], self.results(world))
