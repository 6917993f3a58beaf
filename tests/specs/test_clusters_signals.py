"""Signals to actions on clusters at unfavourable moments."""

from collections.abc import Callable
from typing import Any

from tests.cluster_worlds import ClusterWorld
from tests.specs.cluster_case import ClusterActionCase, NotifyingStore
from tests.specs.test_clusters import LongPause
from tests.specs.test_clusters_sizes import Graceful
from tests.worlds import Gate
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster
from watcherlite.engine.clusters import action_types
from watcherlite.execution.worker import Worker
from watcherlite.states import action as action_states

GROWTH = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 2}


class TestStoredNodes(ClusterActionCase):
    """A policy that is evaluated while its action ends is notified of the end."""

    def test_nodes_that_are_never_created_show_an_error(self) -> None:
        for action_type, inputs, signal in (
            (action_types.CLUSTER_CREATE, {}, self.cancel),
            (action_types.CLUSTER_SCALE_OUT, {'count': 2}, self.cancel),
            (action_types.CLUSTER_RESIZE, GROWTH, self.cancel),
            (action_types.CLUSTER_CREATE, {}, self.lose_worker_permanently),
        ):
            with self.subTest(action_type, signal=signal.__name__):
                self.end_after_storing(action_type, inputs, signal)

    def end_after_storing(
        self,
        action_type: str,
        inputs: dict[str, Any],
        end: Callable[[ClusterWorld, Action], None],
    ) -> None:
        creates = action_type == action_types.CLUSTER_CREATE
        world = self.create_cluster_world(lease=1000, max_attempts=1)
        way: Any = NotifyingStore(world)
        gate = self.create_gate()
        cluster = world.insert_cluster(
            world.profile(), desired_capacity=2 if creates else 0
        )
        action = world.request_action(action_type, cluster, inputs)
        way.then = gate
        world.worker(store=way)
        gate.wait_until_entered()
        end(world, action)
        gate.open()

        ended = world.wait_for_end(action)

        reason = f'Not made: {ended.status_message}'
        self.assertEqual(
            [('ERROR', reason)] * 2,
            [(node.status, node.status_reason) for node in world.nodes(cluster)],
        )
        self.assertEqual([], self.derived(world, action))
        self.assertEqual(
            'ERROR' if creates else 'WARNING', self.reload(world, cluster).status
        )
        transitions = [fact for fact in world.transitions() if fact[0] != 'c']
        verb = action_types.DEFINITIONS[action_type].verb
        self.assertEqual(
            [(f'{verb}.error', 'ERROR')] * 2, [fact[1:] for fact in transitions]
        )
        self.assertFalse(self.is_locked(world, cluster))
        world.external.calls.clear()
        recovered = world.run_action(action_types.CLUSTER_RECOVER, cluster)
        self.assertEqual('SUCCEEDED', recovered.status)
        self.assertEqual(['create', 'create'], [c for c, _ in world.external.calls])

    def cancel(self, world: ClusterWorld, action: Action) -> None:
        world.plans.signal_action(action.uuid, action_states.CANCEL)

    def lose_worker_permanently(self, world: ClusterWorld, action: Action) -> None:
        world.kill(world.workers[0])
        world.worker()


class PauseCase(ClusterActionCase):
    """The base case of tests of actions that pause; the worker has one thread."""

    def wait_until_paused(self, world: ClusterWorld, action: Action) -> None:
        world.wait_until(lambda: world.store.get_action(action.uuid).token is not None)

    def send_signal(
        self, world: ClusterWorld, action: Action, signal: str, status: str
    ) -> None:
        """Send a signal, and wait until it is handled."""
        world.plans.signal_action(action.uuid, signal)
        world.wait_until(lambda: world.store.get_action(action.uuid).status == status)

    def wait_for_owner(
        self, world: ClusterWorld, action: Action, worker: Worker
    ) -> None:
        """Wait until a worker owns an action."""
        mine = worker.record.uuid
        world.wait_until(lambda: world.store.get_action(action.uuid).owner == mine)

    def start_scale_in(self) -> tuple[ClusterWorld, Cluster, Action]:
        """Return a running action that waits for the grace period of a node."""
        world, cluster = self.create_cluster_with_policy(Graceful, 2, max_parallel=1)
        action = world.request_action(action_types.CLUSTER_SCALE_IN, cluster)
        self.wait_until_paused(world, action)
        return world, cluster, action

    def start_update(self) -> tuple[ClusterWorld, Cluster, Action]:
        """Return a running action that waits for the start of its next batch."""
        world, cluster = self.create_cluster_with_policy(LongPause, 2, max_parallel=1)
        inputs = {'new_profile_id': world.profile('q', value='new').uuid}
        action = world.request_action(action_types.CLUSTER_UPDATE, cluster, inputs)
        self.wait_until_paused(world, action)
        return world, cluster, action

    def assert_paused(self, world: ClusterWorld, action: Action, derived: int) -> None:
        """Check that an action still waits after the worker has run all other work."""
        world.run_action(
            action_types.CLUSTER_CHECK,
            world.insert_cluster(world.profile(), name='other'),
        )
        found = world.store.get_action(action.uuid)
        self.assertEqual(
            ('RUNNING', derived), (found.status, len(self.derived(world, action)))
        )
        self.assertIsNotNone(found.token)


class TestPauses(PauseCase):
    """Nothing shortens the time that a policy grants to nodes."""

    def test_a_pause_is_not_shortened_by_a_suspension_or_a_lost_worker(self) -> None:
        for begin, derived in ((self.start_scale_in, 0), (self.start_update, 1)):
            with self.subTest(begin.__name__):
                world, cluster, action = begin()
                self.send_signal(world, action, 'SUSPEND', 'SUSPENDED')
                self.send_signal(world, action, 'RESUME', 'RUNNING')
                self.assert_paused(world, action, derived)
                world.kill(world.workers[0])
                self.wait_for_owner(world, action, world.worker())
                self.assert_paused(world, action, derived)
                self.assertEqual(2, len(world.nodes(cluster)))


class TestSuspendedWithoutAWorker(ClusterActionCase):
    """A suspended action occupies no worker, and any worker resumes it."""

    def suspend_and_lose_worker(
        self, size: int
    ) -> tuple[ClusterWorld, Cluster, Action, Gate]:
        """Return a suspended action whose worker has been lost."""
        world = self.create_single_thread_world()
        gate = self.create_gate_at(world, 'create', 'n1')
        world.worker()
        cluster, action = self.start_creation(world, size)
        gate.wait_until_entered()
        world.plans.signal_action(action.uuid, action_states.SUSPEND)
        world.kill(world.workers[0])
        return world, cluster, action, gate

    def test_a_suspended_action_of_a_lost_worker_stays_suspended(self) -> None:
        world, cluster, action, gate = self.suspend_and_lose_worker(9)
        world.external.gates.clear()
        world.worker()
        (first, *_) = self.derived(world, action)
        world.wait_until(
            lambda: world.store.get_action(first.uuid).status == 'SUSPENDED',
            world.full_report,
        )
        world.run_action(
            action_types.CLUSTER_CHECK,
            world.insert_cluster(world.profile(), name='other'),
        )

        self.assertEqual('SUSPENDED', world.store.get_action(action.uuid).status)
        self.assertEqual(
            {'n1': 'CREATING', 'n9': 'INIT'},
            {
                name: status
                for name, status in self.statuses(world, cluster).items()
                if name in ('n1', 'n9')
            },
        )
        self.assertTrue(self.is_locked(world, cluster))
        world.plans.signal_action(action.uuid, action_states.RESUME)
        self.assertEqual(
            'SUCCEEDED', world.wait_for_end(action).status, world.full_report()
        )
        self.assertEqual(['ACTIVE'] * 9, [n.status for n in world.nodes(cluster)])
        self.assertEqual(9, len(world.external.samples))
        gate.open()

    def test_a_cancel_ends_a_suspended_action_with_its_derived_actions(self) -> None:
        world, cluster, action, gate = self.suspend_and_lose_worker(3)
        world.plans.signal_action(action.uuid, action_states.CANCEL)
        world.external.gates.clear()
        world.worker()

        self.assertEqual(
            'CANCELLED', world.wait_for_end(action).status, world.full_report()
        )
        self.assertEqual(
            ['CANCELLED'] * 3, [one.status for one in self.derived(world, action)]
        )
        self.assertEqual('ERROR', self.reload(world, cluster).status)
        self.assertFalse(self.is_locked(world, cluster))
        gate.open()
