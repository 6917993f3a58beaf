"""The guarantees for clusters under random faults.

Each test is named after its guarantee; `test_clusters_promises_databases` runs them on
the databases.
"""

import dataclasses
import itertools
import random
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tests.cluster_chaos import ClusterChaos
from tests.cluster_worlds import BY, QUEUED, ClusterCase
from tests.functional.execution.test_worker import FailingStore, queues_of
from tests.operated_worlds import OperatedWorld
from tests.worlds import Silent
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.query import Query
from watcherlite.domain import events
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
)
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

if TYPE_CHECKING:
    Base = ClusterCase
else:
    # The mixin precedes the real base class.
    Base = object

#: Seconds; no test waits for a sweep or a poll.
NEVER = 3600.0
LANES = ('applier', 'engine')


class ClusterPromises(Base):
    """The guarantees, on any store."""

    #: The number of random runs.
    disorders = 5

    def create_world_without_worker(self, **settings: Any) -> OperatedWorld:
        """Return a world with the operations of users, and no worker."""
        world = OperatedWorld(self.make_store(), **settings)
        self.addCleanup(world.stop)
        return world

    # Nothing waits for a poll.

    def test_no_request_waits_for_a_sweep(self) -> None:
        world = self.create_world_without_worker(
            sweep_interval=NEVER, lease=NEVER, max_parallel=1
        )
        world.worker()
        cluster = world.cluster(3)
        do = world.operations
        for ask in requests_of(world):
            self.assertEqual('ACTIVE', world.row(ask()).status, world.full_report())
        # Each of these waits for the preceding one.
        begun = [do.check('c', QUEUED) for _ in range(3)]
        begun.append(do.delete('c', BY))
        self.assertEqual(
            ['SUCCEEDED'] * 4, [world.wait_for_end(one.action).status for one in begun]
        )
        self.assertIsNotNone(world.reload(cluster).deleted_at)

    def test_work_without_a_hint_is_found_by_the_sweep(self) -> None:
        world = self.create_world_without_worker(sweep_interval=NEVER, lease=NEVER)
        store = FailingStore(world.store)
        worker = world.worker(store=store, lanes=LANES)

        def is_idle() -> bool:
            return not any(source.more for source in queues_of(worker))

        # Wait for the initial sweep,
        world.wait_until(lambda: 'active_plans' in store.asked and is_idle())
        cluster = world.cluster(1)
        # and let the query fail by which the worker verifies that no work is left.
        store.failing['has_claimable'] = exceptions.StoreUnavailable('not now')
        world.wait_until(is_idle)
        silent = dataclasses.replace(world.cluster_parts, messenger=Silent())
        requests = ClusterOperationBase(silent, world.clock, world)
        wish = ActionRequest(action_types.CLUSTER_SCALE_OUT, BY)

        begun = requests.request_action(Cluster, cluster.uuid, wish, lambda *_: {})

        self.assertEqual('READY', world.store.get_action(begun.action).status)
        worker.sweeper.sweep()
        self.assertEqual('SUCCEEDED', world.wait_for_end(begun.action).status)
        self.assertEqual(2, len(world.nodes(cluster)))

    # Nothing is lost with a worker.

    def test_repeated_recoveries_leave_no_lock(self) -> None:
        world = self.create_world_without_worker(lease=60.0, max_attempts=100)
        # It executes no actions of clusters; its sweep releases those of lost workers.
        keeper = world.worker(lanes=('applier',), sweep_interval=0.05)
        cluster = world.insert_cluster(world.profile())
        for number in range(1, 4):
            lost = world.worker(lanes=('engine',), dies_after=2, sweep_interval=NEVER)
            action = world.request_action(action_types.CLUSTER_SCALE_OUT, cluster)
            world.wait_until(lambda w=lost: world.is_dead(w), world.full_report)
            world.kill(lost)
            world.wait_until(
                lambda uuid=action.uuid: world.store.get_action(uuid).owner is None,
                world.full_report,
            )
            other = world.worker(lanes=('engine',), sweep_interval=NEVER)
            self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
            self.assertEqual(number, len(world.nodes(cluster)))
            world.workers.remove(other)
            other.stop(5)
        self.assertEqual([keeper], world.workers)
        self.assert_no_locks_left(world, [cluster])

    def test_a_temporarily_unavailable_database_only_delays_an_operation(self) -> None:
        world = self.create_world_without_worker(lease=NEVER)
        way: Any = Busy(world.store)
        world.worker(store=way)
        way.busy = True
        cluster = world.cluster(3)
        for ask in requests_of(world):
            world.wait_for_end(ask().action)
        self.assertEqual(
            ['ACTIVE'] * 2, world.statuses_of(cluster), world.full_report()
        )
        self.assertGreater(way.refused, 20)
        self.assert_events_match_states(world)

    # Of many requests, the system executes exactly those that it has accepted.

    def test_of_concurrent_requests_one_or_all_that_can_wait_are_accepted(self) -> None:
        world = self.create_world_without_worker()
        cluster = world.insert_cluster(world.profile(), 0)
        scale = world.operations.scale

        answers = run_concurrently([lambda: scale('c', BY, 'CLUSTER_SCALE_OUT')] * 6)
        refused = [a for a in answers if isinstance(a, exceptions.ActionConflict)]
        self.assertEqual(5, len(refused), answers)
        answers += run_concurrently(
            [lambda: scale('c', QUEUED, 'CLUSTER_SCALE_OUT')] * 6
        )
        world.worker()
        world.worker()

        # They run sequentially.
        ended = [
            world.wait_for_end(one.action) for one in answers if one not in refused
        ]
        self.assertEqual({'SUCCEEDED'}, {action.status for action in ended})
        self.assertEqual(['ACTIVE'] * 7, world.statuses_of(cluster))
        times = sorted((a.start_time, a.end_time) for a in ended)
        for (_, before), (after, _) in itertools.pairwise(times):
            self.assertLessEqual(before, after)
        self.assertEqual(7, world.reload(cluster).desired_capacity)

    def test_a_tainted_node_is_removed_first_and_stays_tainted(self) -> None:
        world = self.create_world_without_worker()
        world.worker()
        cluster = world.cluster(6)
        do = world.operations
        tainted = [node.uuid for node in world.nodes(cluster)[2:4]]
        for uuid in tainted:
            world.row(do.nodes.update(uuid, BY, {'tainted': True}))
        world.row(do.check('c', BY))

        world.row(do.scale('c', BY, 'CLUSTER_SCALE_IN', 2))

        left = {node.uuid for node in world.nodes(cluster)}
        self.assertEqual((4, set()), (len(left), left & set(tainted)))

    # No action is ever stuck, and no notification is wrong.

    def test_no_action_is_stuck_after_any_fault(self) -> None:
        for seed in range(self.disorders):
            with self.subTest(seed=seed):
                disorder = ClusterChaos(self.make_store(), seed)
                self.addCleanup(disorder.stop)
                disorder.run()
                self.assert_complete(disorder)
                disorder.stop()

    def assert_complete(self, disorder: ClusterChaos) -> None:
        """Check that all accepted actions have ended, and nothing is in progress."""
        world, report = disorder.world, disorder.world.full_report()
        ended = [world.store.get_action(uuid) for uuid in disorder.accepted]
        self.assertEqual([], [a.name for a in ended if not a.finished], report)
        clusters = world.store.list_objects(Cluster, Query(limit=1000))
        nodes = world.store.list_objects(Node, Query(limit=1000))
        unsettled = [
            (row.name, row.status)
            for row in (*clusters, *nodes)
            if row.status in states.TRANSIENT
        ]
        self.assertEqual([], unsettled, report)
        known = {cluster.id for cluster in clusters}
        lost = [n.name for n in nodes if n.cluster_id and n.cluster_id not in known]
        self.assertEqual([], lost, report)
        gone = [
            node.name
            for node in nodes
            if node.status == states.ACTIVE
            and node.physical_id not in disorder.external.samples
        ]
        self.assertEqual([], gone, report)
        self.assert_events_match_states(world)
        self.assert_no_locks_left(world, clusters)

    def assert_events_match_states(self, world: OperatedWorld) -> None:
        """Check that each change of an action has one event, and one final status."""
        changes_of_actions: dict[int, list[tuple[str | None, str | None]]] = {}
        for event in world.events():
            if event.kind == events.STATE_CHANGED and event.action_id is not None:
                change = (event.old_status, event.new_status)
                changes_of_actions.setdefault(event.action_id, []).append(change)
        now = world.store.actions_by_id(list(changes_of_actions))
        for action_id, changes in changes_of_actions.items():
            report = f'{now[action_id].name}: {changes}'
            for (_, after), (before, _) in itertools.pairwise(changes):
                # The end of derived actions (WAITING to READY) has no event.
                ready = (after, before) == ('WAITING', 'READY')
                self.assertTrue(after == before or ready, report)
            self.assertEqual(now[action_id].status, changes[-1][1], report)
            final = [new for _, new in changes if new in action_states.FINAL]
            self.assertEqual(1, len(final), report)

    def assert_no_locks_left(
        self, world: OperatedWorld, clusters: Iterable[Cluster]
    ) -> None:
        """Check that no lock is left that a new action would wait for."""
        if not any('engine' in worker.record.lanes for worker in world.workers):
            world.worker()
        for cluster in clusters:
            begun = world.operations.check(cluster.uuid, BY)
            self.assertEqual('SUCCEEDED', world.wait_for_end(begun.action).status)


class Busy:
    """A worker's store that fails one call in six with a conflict.

    :ivar busy: whether it fails now
    :ivar refused: the number of failed calls
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._random = random.Random(1)
        self.busy = False
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        # Attributes that are not callable describe capabilities and never fail.
        with self._lock:
            if self.busy and callable(found) and self._random.random() < 1 / 6:
                self.refused += 1
                raise exceptions.StoreConflict('database is locked')
        return found


def requests_of(world: OperatedWorld) -> list[Callable[[], Any]]:
    """Return functions that request an action of each kind on the cluster."""
    do = world.operations
    other = world.profile('q', value='new')
    return [
        lambda: do.scale('c', BY, 'CLUSTER_SCALE_OUT'),
        lambda: do.check('c', BY),
        lambda: do.update('c', BY, {'profile_id': other.uuid}),
        lambda: do.recover('c', BY, {'check': True}),
        lambda: do.scale('c', BY, 'CLUSTER_SCALE_IN', 2),
    ]


def run_concurrently(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """Make calls concurrently; return the result or the exception of each."""
    calls = list(calls)
    start = threading.Barrier(len(calls))
    answers: list[Any] = []

    def run(call: Callable[[], Any]) -> None:
        start.wait()
        try:
            answers.append(call())
        except exceptions.WatcherliteError as error:
            answers.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


class MemoryClusterPromisesTest(ClusterPromises, ClusterCase):
    """On the in-memory store."""
