"""Faults during actions on clusters, and the guarantees that still hold."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from tests.cluster_worlds import QUEUED, ClusterWorld
from tests.specs.cluster_case import ClusterActionCase, NotifyingStore
from watcherlite import exceptions
from watcherlite.engine.clusters import action_types
from watcherlite.states import action as action_states

GROWTH = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 2}


class Single:
    """A worker's store that permits one connection per thread."""

    def __init__(self, world: ClusterWorld) -> None:
        self._store = world.store
        self._threads = threading.local()

    def __getattr__(self, name: str) -> Any:
        if getattr(self._threads, 'busy', False):
            raise AssertionError(f'{name} needs a second connection')
        return getattr(self._store, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """Begin a transaction, and record that the thread has a connection."""
        self._threads.busy = True
        try:
            with self._store.transaction() as tx:
                yield tx
        finally:
            self._threads.busy = False


class TestConnections(ClusterActionCase):
    """A thread needs one connection only, so an exhausted pool is no deadlock."""

    def test_no_step_of_an_action_needs_two_connections(self) -> None:
        world = self.create_cluster_world()
        way: Any = Single(world)
        world.worker(store=way)
        cluster = self.make(world, 2)
        new = {'new_profile_id': world.profile('q', value='new').uuid}
        candidates = [world.nodes(cluster)[0].uuid]
        for action_type, inputs in (
            (action_types.CLUSTER_UPDATE, new),
            (action_types.CLUSTER_RESIZE, GROWTH),
            (action_types.CLUSTER_SCALE_OUT, {}),
            (action_types.CLUSTER_DEL_NODES, {'candidates': candidates}),
            (action_types.CLUSTER_SCALE_IN, {}),
            (action_types.CLUSTER_CHECK, {}),
            (action_types.CLUSTER_RECOVER, {'check': True, 'check_capacity': True}),
            (action_types.CLUSTER_OPERATION, {'operation': 'reboot'}),
            (action_types.CLUSTER_DELETE, {}),
        ):
            action = world.run_action(action_type, cluster, inputs)
            self.assertEqual('SUCCEEDED', action.status, world.full_report())


class TestWaiting(ClusterActionCase):
    """An action that waits for its nodes holds no thread, and its status is visible."""

    def test_one_thread_serves_many_clusters_concurrently(self) -> None:
        world = self.create_single_thread_world()
        begun = [
            self.start_creation(world, 3, name=f'c{at}', timeout=77) for at in range(4)
        ]
        world.worker()
        for cluster, action in begun:
            self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
            self.assertEqual('ACTIVE', self.reload(world, cluster).status)
            # Derived actions get the remainder of the timeout.
            left = [one.timeout for one in self.derived(world, action)]
            self.assertEqual([True] * 3, [40 < seconds <= 77 for seconds in left])
            self.assertEqual(77, action.timeout)


class TestFailedMember(ClusterActionCase):
    """The other nodes end before the action on the cluster releases its lock."""

    def test_the_lock_is_held_until_the_last_member_has_ended(self) -> None:
        world = self.create_cluster_world()
        world.external.fails.add(('create', 'n1'))
        gate = self.create_gate_at(world, 'create', 'n2')
        world.worker()
        cluster, action = self.start_creation(world, 2)
        gate.wait_until_entered()
        world.wait_until(lambda: 'ERROR' in self.statuses(world, cluster).values())
        after = world.request_action(action_types.CLUSTER_CHECK, cluster, by=QUEUED)
        self.assertRaises(
            exceptions.ResourceIsLocked,
            world.request_action,
            action_types.CLUSTER_CHECK,
            cluster,
        )
        world.wait_until(
            lambda: world.store.get_action(after.uuid).blocked_on == cluster.uuid
        )
        self.assertEqual(
            ('WAITING', 'CREATING', {'n1': 'ERROR', 'n2': 'CREATING'}),
            (
                world.store.get_action(action.uuid).status,
                self.reload(world, cluster).status,
                self.statuses(world, cluster),
            ),
        )
        gate.open()
        ended = world.wait_for_end(action)
        self.assertEqual('FAILED', ended.status)
        self.assertIn('create of n1 does not work', ended.status_message or '')
        self.assertEqual('SUCCEEDED', world.wait_for_end(after).status)
        self.assertEqual({'n1': 'ERROR', 'n2': 'ACTIVE'}, self.statuses(world, cluster))
        facts = [fact for fact in world.transitions() if fact[0] in ('c', 'n2')]
        self.assertEqual(
            [
                ('c', 'create.start', 'CREATING'),
                ('n2', 'create.start', 'CREATING'),
                ('n2', 'create.end', 'ACTIVE'),
                ('c', 'create.error', 'ERROR'),
                ('c', 'check.start', 'CHECKING'),
            ],
            facts[:5],
        )


class TestCancel(ClusterActionCase):
    """CANCEL reaches the actions of nodes; the lock is held until the last ends."""

    def test_running_actions_end_first_and_the_cluster_shows_its_nodes(self) -> None:
        world = self.create_single_thread_world()
        gate = self.create_gate_at(world, 'create', 'n1')
        world.worker()
        cluster, action = self.start_creation(world, 9)
        gate.wait_until_entered()
        world.plans.signal_action(action.uuid, action_states.CANCEL)
        after = world.request_action(action_types.CLUSTER_CHECK, cluster, by=QUEUED)
        world.wait_until(lambda: self.statuses(world, cluster)['n9'] == 'ERROR')
        self.assertEqual(
            ('WAITING', 'CREATING', 'CREATING', True),
            (
                world.store.get_action(action.uuid).status,
                self.reload(world, cluster).status,
                self.statuses(world, cluster)['n1'],
                self.is_locked(world, cluster),
            ),
        )
        gate.open()
        self.assertEqual('CANCELLED', world.wait_for_end(action).status)
        world.wait_for_end(after)
        # A worker may have claimed a few before it received the signal.
        made = world.external.of('create')
        self.assertNotIn('n9', made)
        self.assertEqual(
            {
                f'n{at}': 'ACTIVE' if f'n{at}' in made else 'ERROR'
                for at in range(1, 10)
            },
            self.statuses(world, cluster),
        )
        transitions = [fact for fact in world.transitions() if fact[0] == 'c']
        self.assertEqual(
            [
                ('c', 'create.start', 'CREATING'),
                ('c', 'create.error', 'ERROR'),
                ('c', 'check.start', 'CHECKING'),
                ('c', 'check.end', 'WARNING'),
            ],
            transitions,
        )

    def test_a_cancelled_growth_shows_that_nodes_are_missing(self) -> None:
        """A cancelled action that has not started leaves the cluster unchanged."""
        world = self.create_single_thread_world()
        cluster = self.make(world, 1)
        gate = self.create_gate_at(world, 'create', 'n2')
        growth = world.request_action(
            action_types.CLUSTER_SCALE_OUT, cluster, {'count': 8}
        )
        gate.wait_until_entered()
        waiting = world.request_action(
            action_types.CLUSTER_SCALE_IN, cluster, by=QUEUED
        )
        for action in (waiting, growth):
            world.plans.signal_action(action.uuid, action_states.CANCEL)
        gate.open()
        for action in (growth, waiting):
            self.assertEqual('CANCELLED', world.wait_for_end(action).status)
        self.assertEqual(9, len(world.nodes(cluster)))
        cluster = self.reload(world, cluster)
        self.assertEqual(
            (
                'WARNING',
                9,
                'CLUSTER_SCALE_OUT: number of active nodes is below desired_capacity '
                '(9).',
            ),
            (cluster.status, cluster.desired_capacity, cluster.status_reason),
        )


class TestSuspend(ClusterActionCase):
    """A suspended action starts no further nodes; RESUME continues it."""

    def test_no_further_node_is_created_until_resume(self) -> None:
        world = self.create_single_thread_world()
        gate = self.create_gate_at(world, 'create', 'n1')
        world.worker()
        cluster, action = self.start_creation(world, 9)
        gate.wait_until_entered()
        world.plans.signal_action(action.uuid, action_states.SUSPEND)
        gate.open()
        world.wait_until(lambda: self.statuses(world, cluster)['n1'] == 'ACTIVE')
        last = self.derived(world, action)[-1]
        self.assertEqual(('READY', action.uuid), (last.status, last.blocked_on))
        self.assertEqual(
            ('SUSPENDED', 'ACTIVE', 'INIT', True),
            (
                world.store.get_action(action.uuid).status,
                self.statuses(world, cluster)['n1'],
                self.statuses(world, cluster)['n9'],
                self.is_locked(world, cluster),
            ),
        )
        self.assertNotIn('n9', world.external.of('create'))
        world.plans.signal_action(action.uuid, action_states.RESUME)
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        self.assertEqual('ACTIVE', self.reload(world, cluster).status)


class TestTimeout(ClusterActionCase):
    """The timeout of a cluster applies to its actions, including those of nodes."""

    def test_a_member_that_times_out_fails_the_action(self) -> None:
        world = self.create_cluster_world()
        gate = self.create_gate_at(world, 'create', 'n1')
        world.worker()
        world.clock.pause()
        cluster, action = self.start_creation(world, 1, timeout=1)
        gate.wait_until_entered()
        world.clock.resume()
        self.assertEqual('FAILED', world.wait_for_end(action).status)
        gate.open()
        self.assertEqual(
            ('ERROR', {'n1': 'ERROR'}),
            (self.reload(world, cluster).status, self.statuses(world, cluster)),
        )


class TestLostWorker(ClusterActionCase):
    """Another worker continues, and creates nothing twice."""

    #: Whether the worker dies before or after the commit.
    deaths: ClassVar[Sequence[str]] = ('dies_before', 'dies_after')

    def test_a_cluster_gets_all_its_nodes_whenever_its_worker_is_lost(self) -> None:
        for death in self.deaths:
            commit = 1
            while self._create_despite_worker_loss(death, commit):
                commit += 1
            # Claim and start; nodes; their actions; their ends; the end of the action.
            self.assertGreater(commit, 6, death)

    def _create_despite_worker_loss(self, death: str, commit: int) -> bool:
        """Run a creation whose worker dies at a commit; return whether it died."""
        world = self.create_cluster_world(lease=60.0)
        lost = world.worker(**{death: commit})
        cluster, action = self.start_creation(world, 4)
        world.wait_until(
            lambda: world.is_dead(lost) or world.store.get_action(action.uuid).finished
        )
        died = world.is_dead(lost)
        if died:
            world.kill(lost)
        world.worker()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status, commit)
        self.assertEqual(
            {f'n{at}': 'ACTIVE' for at in range(1, 5)},
            self.statuses(world, cluster),
            f'it {death.replace("_", " ")} commit {commit}',
        )
        self.assertEqual('ACTIVE', self.reload(world, cluster).status)
        self.assertEqual(4, len(world.external.samples))
        world.stop()
        return died

    def test_stored_nodes_without_actions_are_created_and_no_others(self) -> None:
        self._assert_created_once(action_types.CLUSTER_CREATE, desired=2)
        self._assert_created_once(action_types.CLUSTER_SCALE_OUT, {'count': 2})
        self._assert_created_once(action_types.CLUSTER_RESIZE, GROWTH)
        self._assert_created_once(
            action_types.CLUSTER_RECOVER, {'check_capacity': True}, desired=2
        )

    def _assert_created_once(
        self, action_type: str, inputs: dict[str, Any] | None = None, desired: int = 0
    ) -> None:
        world = self.create_cluster_world(lease=1000)
        cluster = world.insert_cluster(world.profile(), desired_capacity=desired)
        way: Any = NotifyingStore(world)

        def die() -> None:
            world.disconnect(lost)
            raise SystemExit

        way.then = die
        lost = world.worker(store=way)
        action = world.request_action(action_type, cluster, inputs)
        world.wait_until(lambda: world.is_dead(lost), world.full_report)
        self.assertEqual(['INIT'] * 2, [n.status for n in world.nodes(cluster)])
        self.assertEqual([], self.derived(world, action))
        world.kill(lost)
        world.worker()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status, action_type)
        self.assertEqual(['ACTIVE'] * 2, [n.status for n in world.nodes(cluster)])
        cluster = self.reload(world, cluster)
        self.assertEqual(
            (2, 'ACTIVE', 3),
            (cluster.desired_capacity, cluster.status, cluster.next_index),
        )

    def test_a_fenced_worker_changes_nothing(self) -> None:
        world = self.create_cluster_world()
        gate = self.create_gate_at(world, 'create', 'n1')
        lost = world.worker()
        cluster, action = self.start_creation(world, 1)
        gate.wait_until_entered()
        world.kill(lost)
        world.external.gates.clear()
        world.worker()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        facts = world.transitions()
        gate.open()
        world.run_action(action_types.CLUSTER_CHECK, cluster)
        self.assertEqual(facts, world.transitions()[: len(facts)])
        self.assertEqual({'n1': 'ACTIVE'}, self.statuses(world, cluster))
