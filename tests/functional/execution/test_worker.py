"""A worker: hints, sweeps, due times, start and stop."""

import datetime
import functools
import threading
from collections.abc import Sequence
from typing import Any

from tests.factories import NOW, make_action, make_worker, store_plan
from tests.worlds import World, WorldCase, action, kind
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain import commands
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.outcomes import InProgress
from watcherlite.execution.claim_queues import ClaimQueue
from watcherlite.execution.worker import LONGEST, Worker
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


def queues_of(worker: Worker) -> list[ClaimQueue]:
    """Return the claim queues of a worker."""
    return list(worker.dispatcher._queues)


class FailingStore:
    """A store whose methods fail as the test requires.

    :ivar failing: name of a method -> its error
    :ivar asked: the names of the called methods
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.failing: dict[str, Exception] = {}
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def ask(*arguments: Any, **options: Any) -> Any:
            self.asked.append(name)
            if name in self.failing:
                raise self.failing[name]
            return getattr(self._store, name)(*arguments, **options)

        return ask


class CancellingStore(FailingStore):
    """A store in which actions are cancelled just after they were read."""

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        found = self._store.actions_by_id(action_ids)
        with self._store.transaction() as tx:
            tx.set_control(states.CANCEL, NOW, action_ids=action_ids)
        return found


class LockedOnce:
    """Plan rules whose plan is locked by another transaction at first."""

    def __init__(self, rules: Any) -> None:
        self._rules = rules
        self.tries = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)

    def on_worker_lost(self, *arguments: Any) -> Any:
        self.tries += 1
        if self.tries == 1:
            raise exceptions.StoreConflict('Plan 1 (id) is locked')
        return self._rules.on_worker_lost(*arguments)


class HintTest(WorldCase):
    """Hints, and the work that they start."""

    def test_each_hint_is_followed_without_a_sweep(self) -> None:
        for hint in ('launch', 'available', 'left'):
            world = self.create_world(sweep_interval=3600.0)
            worker = world.worker()
            worker.sweeper.sweep()
            plan = world.create('a')
            silent = World(world.store)
            silent.plans.start(plan.uuid)
            worker.on_message(
                {
                    'launch': commands.LaunchActionPlan(plan.uuid),
                    'available': commands.WorkAvailable((plan.uuid,)),
                    'left': commands.WorkerLeft('worker-2'),
                }[hint]
            )
            self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)

    def test_a_hint_about_a_lane_is_followed_without_a_sweep(self) -> None:
        for hint in (commands.WorkAvailable((), ('engine',)), commands.RunActions()):
            world = self.create_world(sweep_interval=3600.0)
            worker = world.worker(lanes=('engine',))
            worker.sweeper.sweep()
            self.wait_until_idle(worker)
            silent = World(world.store)
            silent.add(world.new_action('a'))
            worker.on_message(commands.WorkAvailable((), ('applier',)))
            worker.on_message(hint)
            world.wait_for_action('a', states.SUCCEEDED)

    def send_command(
        self, worker: Worker, command: commands.Command
    ) -> threading.Event:
        """Send a command to a worker; return the event of its settlement."""
        settled = threading.Event()
        receipt = worker.on_message(command)
        assert receipt is not None
        receipt.when_settled(settled.set)
        return settled

    def test_a_command_is_settled_after_its_claim(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)}, sweep_interval=3600.0)
        worker = world.worker(lanes=('applier', 'engine'))
        silent = World(world.store, {'waits': kind()})
        plan = silent.start(action('a', 'waits'))
        silent.add(silent.new_action('b', 'waits'))
        taken = {}

        for name, command in (
            ('a', commands.LaunchActionPlan(plan.uuid)),
            ('b', commands.RunActions()),
        ):
            found = functools.partial(
                lambda name: taken.update({name: world.action(name).owner}), name
            )
            receipt = worker.on_message(command)
            assert receipt is not None
            receipt.when_settled(found)
            gate.wait_until_entered()
            world.wait_until(lambda name=name: name in taken)

        self.assertEqual({'a': worker.record.uuid, 'b': worker.record.uuid}, taken)

    def test_a_command_without_work_is_settled(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        ended = world.run('a')
        (worker,) = world.workers

        for uuid in ('invalid', ended.uuid):
            command = commands.LaunchActionPlan(uuid)
            self.assertTrue(self.send_command(worker, command).wait(LONGEST / 2))
        worker.on_message(commands.EventsStored())
        self.assertEqual(plan_states.SUCCEEDED, world.run('b').state)
        self.assertIn('about plan invalid, which does not exist', self.log.output)

    def test_a_busy_worker_passes_a_command_on(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {'waits': kind(execute=gate)}, max_parallel=1, sweep_interval=3600.0
        )
        first = world.worker()
        world.start(action('a', 'waits'))
        gate.wait_until_entered()
        self.wait_until_swept(world.worker())
        plan = World(world.store).start('b')

        settled = self.send_command(first, commands.LaunchActionPlan(plan.uuid))

        self.assertTrue(settled.wait(LONGEST / 2))
        world.wait_until(
            lambda: commands.WorkAvailable((plan.uuid,)) in world.sent_messages
        )
        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)

    def wait_until_swept(self, worker: Worker) -> None:
        """Wait for the first sweep, which would find work without a hint."""
        swept = threading.Event()
        worker._services.chores.after(0, swept.set)
        self.assertTrue(swept.wait(LONGEST / 2))

    def wait_until_idle(self, worker: Worker) -> None:
        """Wait until claims have emptied the queues, after the first sweep."""
        self.wait_until_swept(worker)
        World(worker._services.store).wait_until(
            lambda: not any(source.more for source in queues_of(worker))
        )

    def test_remaining_work_of_a_lane_is_hinted_to_another_worker(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {'waits': kind(execute=gate)}, max_parallel=1, sweep_interval=3600.0
        )
        for _ in range(2):
            world.worker(lanes=('engine',))
        first, other = world.workers
        self.wait_until_idle(first)
        self.wait_until_idle(other)
        # As a command reaches one worker of the lane.
        world.workers.remove(other)
        world.add(*(world.new_action(f'a{n}', 'waits') for n in range(3)))
        gate.wait_until_entered()
        self.assertEqual({}, other.dispatcher.owned)
        world.workers.append(other)
        first.on_message(commands.RunActions())
        gate.wait_until_entered(2)
        gate.open()

    def test_an_action_unblocked_by_another_worker_is_claimed(self) -> None:
        for lane in ('applier', 'engine'):
            gate = self.create_gate()
            world = self.create_world(
                {'waits': kind(execute=gate)}, max_parallel=1, sweep_interval=3600.0
            )
            holder = world.create(action('holder', 'waits', target='x'))
            waiter = world.create(action('waiter', target='x'))
            world.worker(only_plan=holder.uuid)
            other = world.worker(
                lanes=(lane,), only_plan=waiter.uuid if lane == 'applier' else None
            )
            world.plans.start(holder.uuid)
            gate.wait_until_entered()
            if lane == 'applier':
                world.plans.start(waiter.uuid)
            else:
                world.add(world.new_action('waiter', target='x'))
            world.wait_for_action('waiter', states.WAITING)
            self.wait_until_idle(other)
            gate.open()
            world.wait_for_action('waiter', states.SUCCEEDED)

    def test_a_worker_without_the_applier_lane_ignores_plans(self) -> None:
        world = self.create_world()
        engine = world.worker(lanes=('engine',))
        plan = world.start('a')
        engine.on_message(commands.LaunchActionPlan(plan.uuid))
        world.add(world.new_action('b'))
        world.wait_for_action('b', states.SUCCEEDED)
        self.assertEqual(plan_states.PENDING, world.store.get_plan(plan.uuid).state)

    def test_remaining_work_is_hinted_only_if_there_are_other_workers(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)}, max_parallel=1)
        first = world.worker()
        plan = world.start(*(action(f'a{n}', 'waits') for n in range(4)))
        gate.wait_until_entered()
        self.assertNotIn(commands.WorkAvailable((plan.uuid,)), world.sent_messages)
        world.worker()
        gate.wait_until_entered(2)
        first.sweeper.sweep()
        other = world.start(*(action(f'b{n}', 'waits') for n in range(4)))
        gate.open()
        world.wait_until_ended(plan)
        world.wait_until_ended(other)
        world.wait_until(
            lambda: any(
                isinstance(message, commands.WorkAvailable)
                for message in world.sent_messages
            )
        )


class SweepTest(WorldCase):
    """The sweep finds work whose message was lost."""

    def create_swept_world(self) -> tuple[World, FailingStore, Worker]:
        """Return a world and its worker after the first sweep, with its store."""
        world = self.create_world(sweep_interval=3600.0)
        failing = FailingStore(world.store)
        worker = world.worker(store=failing)
        world.wait_until(lambda: 'active_plans' in failing.asked)
        return world, failing, worker

    def test_a_failed_check_does_not_prevent_the_others(self) -> None:
        world, failing, worker = self.create_swept_world()
        for question in ('controls', 'expired_workers', 'owned_ids', 'unblock_stale'):
            failing.failing = {question: exceptions.StoreConflict('a deadlock')}
            silent = World(world.store)
            plan = silent.start(question)
            worker.sweeper.sweep()
            self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)

    def test_an_unavailable_store_is_retried_by_the_next_sweep(self) -> None:
        _, failing, worker = self.create_swept_world()
        failing.failing = {'controls': exceptions.StoreUnavailable('no route')}
        failing.asked.clear()
        worker.sweeper.sweep()
        self.assertEqual(['controls'], failing.asked)
        self.assertIn('no route; the next sweep tries again', self.log.output)

    def test_an_orphan_is_recovered_by_the_second_sweep(self) -> None:
        # A claim whose response was lost.
        world, _, worker = self.create_swept_world()
        plan, (lost,) = store_plan(
            world.store,
            make_action(
                name='a', status=states.READY, owner=worker.record.uuid, attempt=1
            ),
            active=1,
        )
        worker.sweeper.sweep()
        # The recovery is logged before it is queued for the committer.
        self.assertNotIn('at lost worker', self.log.output)
        worker.sweeper.sweep()
        self.assertIn('at lost worker', self.log.output)
        world.wait_until_ended(plan)
        ended = world.action('a')
        self.assertEqual((states.SUCCEEDED, 2), (ended.status, ended.attempt))
        self.assertEqual(1, lost.attempt)

    def recover(self, world: World, lease: float, **values: Any) -> Action:
        """Let another worker end the action of a lost worker; return it."""
        lost = make_worker(host='gone')
        plan, _ = store_plan(
            world.store, make_action(name='a', owner=lost.uuid, **values), active=1
        )
        world.store.register_worker(lost, lease)
        world.worker()
        world.wait_until_ended(plan)
        return world.action('a')

    def test_a_lost_worker_is_recovered_when_its_lease_ends(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        ended = self.recover(world, 1.0, status=states.READY, attempt=1)
        self.assertEqual((states.SUCCEEDED, 2), (ended.status, ended.attempt))

    def test_the_recovery_of_a_locked_plan_is_retried_soon(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        rules = LockedOnce(world.progress)
        world.progress = rules  # type: ignore[assignment]
        self.recover(world, -1, status=states.RUNNING, start_time=NOW)
        self.assertEqual(2, rules.tries)

    def test_a_signal_during_the_recovery_is_delivered(self) -> None:
        external = kind(poll=lambda context, token: InProgress(token, 3600.0))
        world = self.create_world({'external': external}, sweep_interval=3600.0)
        world.add(
            world.new_action(
                'a', 'external', status=states.RUNNING, owner='lost', token='job'
            )
        )
        world.worker(lanes=('engine',), store=CancellingStore(world.store))
        world.wait_for_action('a', states.CANCELLED)

    def test_an_action_in_flight_is_not_an_orphan(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)}, sweep_interval=3600.0)
        worker = world.worker()
        plan = world.start(action('a', 'waits'))
        gate.wait_until_entered()
        for _ in range(3):
            worker.sweeper.sweep()
        gate.open()
        world.wait_until_ended(plan)
        self.assertEqual(1, world.action('a').attempt)

    def test_the_queues_of_plans_that_others_ended_are_removed(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        worker = world.worker()
        later = '2999-01-01T00:00:00Z'
        plan = world.start('a', action('b', not_before=later))
        world.wait_for_action('a', states.SUCCEEDED)
        silent = World(world.store)
        other = silent.worker()
        self.addCleanup(silent.stop)
        silent.plans.cancel(plan.uuid)
        silent.wait_until_ended(plan)
        silent.workers.remove(other)
        other.stop(0)
        worker.sweeper.sweep()
        world.wait_until(
            lambda: [s.plan_id for s in queues_of(worker) if s.plan_id] == []
        )

    def test_the_lock_of_a_purged_holder_is_released(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        worker = world.worker()
        plan, (blocked,) = store_plan(
            world.store, make_action(name='a', target='x', status=states.READY)
        )
        with world.store.transaction() as tx:
            waiting = blocked.evolve(status=states.WAITING, blocked_on='x')
            tx.change_actions([ActionChange(blocked, waiting)])
        worker.sweeper.sweep()
        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)


class DueTest(WorldCase):
    """The timer for the next due action."""

    def test_many_empty_claims_read_the_due_times_once(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        failing = FailingStore(world.store)
        worker = world.worker(store=failing)
        world.wait_until(lambda: 'next_not_before' in failing.asked)
        failing.asked.clear()
        for _ in range(20):
            worker.discovery.on_queue_empty(world.clock.now())
        world.wait_until(lambda: 'next_not_before' in failing.asked)
        self.assertEqual(1, failing.asked.count('next_not_before'))

    def test_a_known_due_time_has_one_timer(self) -> None:
        world = self.create_world(sweep_interval=3600.0)
        worker = world.worker()
        world.start(action('a', not_before='2999-01-01T00:00:00Z'))
        world.wait_until(lambda: 'applier' in worker.discovery._due)
        timers = len(worker._services.chores._heap)
        since = world.clock.now() - datetime.timedelta(seconds=1)
        for _ in range(5):
            worker.discovery._check_due_in('applier', since)
        self.assertEqual(timers, len(worker._services.chores._heap))


class LifeTest(WorldCase):
    """Start, stop and listeners."""

    def test_a_stopped_worker_is_removed_and_may_be_stopped_again(self) -> None:
        world = self.create_world()
        worker = world.worker()
        (registered,) = world.store.live_workers()
        self.assertEqual(
            (worker.record.uuid, 'host-0', ('applier',)),
            (registered.uuid, registered.host, registered.lanes),
        )
        self.assertEqual([True, True], [worker.stop(1), worker.stop(1)])
        world.workers.remove(worker)
        self.assertEqual([], world.store.live_workers())
        self.assertEqual([], world.store.expired_workers())
        self.assertIn(commands.WorkerLeft(worker.record.uuid), world.sent_messages)

    def test_a_worker_stops_while_the_store_is_unavailable(self) -> None:
        world = self.create_world()
        failing = FailingStore(world.store)
        worker = world.worker(store=failing)
        failing.failing = {'end_lease': exceptions.StoreUnavailable('no route')}
        self.assertTrue(worker.stop(1))
        self.assertIn('ends when it expires: no route', self.log.output)
        self.assertEqual(1, len(world.store.live_workers()))

    def test_listeners_receive_durable_events(self) -> None:
        world = self.create_world()
        worker = world.worker()
        received: list[str] = []

        def listener(stored: Any) -> None:
            for event in stored:
                self.assertTrue(world.store.event_exists(event.uuid))
                received.append(event.new_status)

        def broken(stored: Any) -> None:
            raise OSError

        worker.add_listener(broken)
        worker.add_listener(listener)
        world.run('a')
        world.wait_until(lambda: received[-1:] == ['SUCCEEDED'] and len(received) == 4)
        self.assertEqual(['ONGOING', 'RUNNING', 'SUCCEEDED', 'SUCCEEDED'], received)
