"""One worker: hints, sweeps, orphans, and how it comes and goes."""

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


def sources_of(worker: Worker) -> list[ClaimQueue]:
    """Return where a worker takes its actions from, now."""
    return list(worker.dispatcher._queues)


class Deaf:
    """A store that fails when it is asked some questions.

    :ivar failing: name of the question -> the error
    :ivar asked: the questions that came
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


class Signalling(Deaf):
    """A store in which actions are told to stop just after they were read."""

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        found = self._store.actions_by_id(action_ids)
        with self._store.transaction() as tx:
            tx.set_control(states.CANCEL, NOW, action_ids=action_ids)
        return found


class LockedOnce:
    """The rules of a plan that another transaction has locked at first."""

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
    """A hint says where to look; the rows say what is there."""

    def test_each_hint_leads_to_work_without_a_sweep(self) -> None:
        for hint in ('launch', 'available', 'left'):
            world = self.a_world(sweep_interval=3600.0)
            worker = world.worker()
            worker.sweep()
            plan = world.create('a')
            silent = World(world.store)
            silent.plans.start(plan.uuid)
            worker.on_message(
                {
                    'launch': commands.LaunchActionPlan(plan.uuid),
                    'available': commands.WorkAvailable((plan.uuid,)),
                    'left': commands.WorkerLeft('somebody'),
                }[hint]
            )
            self.assertEqual(plan_states.SUCCEEDED, world.until_ended(plan).state)

    def test_a_hint_for_a_plan_that_is_not_there_is_no_error(self) -> None:
        world = self.a_world()
        worker = world.worker()
        worker.on_message(commands.LaunchActionPlan('nonsense'))
        worker.on_message(commands.EventsStored())
        self.assertEqual(plan_states.SUCCEEDED, world.run('a').state)
        self.assertIn('names plan nonsense, which does not exist', self.log.output)

    def test_a_hint_leads_to_work_in_a_lane_without_a_sweep(self) -> None:
        for hint in (commands.WorkAvailable((), ('engine',)), commands.RunActions()):
            world = self.a_world(sweep_interval=3600.0)
            worker = world.worker(lanes=('engine',))
            worker.sweep()
            self.until_idle(worker)
            silent = World(world.store)
            silent.add(world.new_action('a'))
            worker.on_message(commands.WorkAvailable((), ('applier',)))
            worker.on_message(hint)
            world.until_action('a', states.SUCCEEDED)

    def settled(self, worker: Worker, command: commands.Command) -> threading.Event:
        """Let a worker hear a command; return what tells that it is looked after."""
        settled = threading.Event()
        receipt = worker.on_message(command)
        assert receipt is not None
        receipt.when_settled(settled.set)
        return settled

    def test_a_command_is_looked_after_once_its_claim_is_written(self) -> None:
        gate = self.a_gate()
        world = self.a_world({'waits': kind(execute=gate)}, sweep_interval=3600.0)
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
            gate.until_entered()
            world.until(lambda name=name: name in taken)

        self.assertEqual({'a': worker.record.uuid, 'b': worker.record.uuid}, taken)

    def test_a_command_that_leads_nowhere_is_looked_after(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        ended = world.run('a')
        (worker,) = world.workers

        for uuid in ('nonsense', ended.uuid):
            command = commands.LaunchActionPlan(uuid)
            self.assertTrue(self.settled(worker, command).wait(LONGEST / 2))

    def test_a_command_that_a_busy_worker_took_is_passed_on(self) -> None:
        gate = self.a_gate()
        world = self.a_world(
            {'waits': kind(execute=gate)}, max_parallel=1, sweep_interval=3600.0
        )
        first = world.worker()
        world.start(action('a', 'waits'))
        gate.until_entered()
        swept = threading.Event()
        # Behind its first sweep, which would find the plan by itself.
        world.worker()._chores.after(0, swept.set)
        self.assertTrue(swept.wait(LONGEST / 2))
        plan = World(world.store).start('b')

        settled = self.settled(first, commands.LaunchActionPlan(plan.uuid))

        self.assertTrue(settled.wait(LONGEST / 2))
        world.until(lambda: commands.WorkAvailable((plan.uuid,)) in world.told)
        self.assertEqual(plan_states.SUCCEEDED, world.until_ended(plan).state)

    def until_idle(self, worker: Worker) -> None:
        """Wait until claims have said that there is nothing."""
        World(worker._store).until(
            lambda: not any(source.more for source in sources_of(worker))
        )

    def test_what_is_left_over_in_a_lane_is_offered_to_another_worker(self) -> None:
        gate = self.a_gate()
        world = self.a_world(
            {'waits': kind(execute=gate)}, max_parallel=1, sweep_interval=3600.0
        )
        for _ in range(2):
            self.until_idle(world.worker(lanes=('engine',)))
        first, other = world.workers
        # As from a process that tells one worker of the lane.
        world.workers.remove(other)
        world.add(*(world.new_action(f'a{n}', 'waits') for n in range(3)))
        gate.until_entered()
        self.assertEqual({}, other.dispatcher.owned)
        world.workers.append(other)
        first.on_message(commands.RunActions())
        gate.until_entered(2)
        gate.open()

    def test_who_waits_for_a_target_that_another_worker_frees_hears_of_it(
        self,
    ) -> None:
        for lane in ('applier', 'engine'):
            gate = self.a_gate()
            world = self.a_world(
                {'waits': kind(execute=gate)}, max_parallel=1, sweep_interval=3600.0
            )
            holder = world.create(action('holder', 'waits', target='x'))
            waiter = world.create(action('waiter', target='x'))
            world.worker(only_plan=holder.uuid)
            other = world.worker(
                lanes=(lane,), only_plan=waiter.uuid if lane == 'applier' else None
            )
            world.plans.start(holder.uuid)
            gate.until_entered()
            if lane == 'applier':
                world.plans.start(waiter.uuid)
            else:
                world.add(world.new_action('waiter', target='x'))
            world.until_action('waiter', states.WAITING)
            self.until_idle(other)
            gate.open()
            world.until_action('waiter', states.SUCCEEDED)

    def test_a_worker_without_the_lane_of_plans_leaves_them_alone(self) -> None:
        world = self.a_world()
        engine = world.worker(lanes=('engine',))
        plan = world.start('a')
        engine.on_message(commands.LaunchActionPlan(plan.uuid))
        world.add(world.new_action('b'))
        world.until_action('b', states.SUCCEEDED)
        self.assertEqual(plan_states.PENDING, world.store.get_plan(plan.uuid).state)

    def test_work_that_is_left_over_is_offered_to_others_and_not_to_nobody(
        self,
    ) -> None:
        gate = self.a_gate()
        world = self.a_world({'waits': kind(execute=gate)}, max_parallel=1)
        first = world.worker()
        plan = world.start(*(action(f'a{n}', 'waits') for n in range(4)))
        gate.until_entered()
        self.assertNotIn(commands.WorkAvailable((plan.uuid,)), world.told)
        world.worker()
        gate.until_entered(2)
        first.sweep()
        other = world.start(*(action(f'b{n}', 'waits') for n in range(4)))
        gate.open()
        world.until_ended(plan)
        world.until_ended(other)
        world.until(
            lambda: any(isinstance(told, commands.WorkAvailable) for told in world.told)
        )


class SweepTest(WorldCase):
    """What a lost message has left is found by looking."""

    def test_a_part_that_fails_does_not_keep_the_others_from_looking(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        deaf = Deaf(world.store)
        worker = world.worker(store=deaf)  # type: ignore[arg-type]
        world.until(lambda: 'active_plans' in deaf.asked)
        for question in (
            'controls',
            'expired_workers',
            'owned_ids',
            'unblock_stale',
        ):
            deaf.failing = {question: exceptions.StoreConflict('a deadlock')}
            silent = World(world.store)
            plan = silent.start(question)
            worker.sweep()
            self.assertEqual(plan_states.SUCCEEDED, world.until_ended(plan).state)

    def test_a_store_that_is_away_is_asked_again_the_next_time(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        deaf = Deaf(world.store)
        worker = world.worker(store=deaf)  # type: ignore[arg-type]
        world.until(lambda: 'active_plans' in deaf.asked)
        deaf.failing = {'controls': exceptions.StoreUnavailable('no route')}
        deaf.asked.clear()
        worker.sweep()
        self.assertEqual(['controls'], deaf.asked)
        self.assertIn('no route; the next sweep looks again', self.log.output)

    def test_what_is_owned_and_not_in_hand_is_recovered_when_seen_twice(self) -> None:
        # A claim whose answer got lost.
        world = self.a_world(sweep_interval=3600.0)
        deaf = Deaf(world.store)
        worker = world.worker(store=deaf)  # type: ignore[arg-type]
        # The sweep of the start is over.
        world.until(lambda: 'active_plans' in deaf.asked)
        plan, (lost,) = store_plan(
            world.store,
            make_action(
                name='a', status=states.READY, owner=worker.record.uuid, attempt=1
            ),
            active=1,
        )
        worker.sweep()
        self.assertEqual(worker.record.uuid, world.action('a').owner)
        worker.sweep()
        world.until_ended(plan)
        ended = world.action('a')
        self.assertEqual((states.SUCCEEDED, 2), (ended.status, ended.attempt))
        self.assertEqual(1, lost.attempt)

    def test_what_a_lost_worker_owned_is_recovered_when_its_lease_ends(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        lost = make_worker(host='gone')
        plan, _ = store_plan(
            world.store,
            make_action(name='a', status=states.READY, owner=lost.uuid, attempt=1),
            active=1,
        )
        world.store.register_worker(lost, 1.0)

        world.worker()

        world.until_ended(plan)
        self.assertEqual(
            (states.SUCCEEDED, 2), (world.action('a').status, world.action('a').attempt)
        )

    def test_what_is_locked_when_its_worker_is_lost_is_tried_again_soon(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        lost = make_worker(host='gone')
        plan, _ = store_plan(
            world.store,
            make_action(
                name='a', status=states.RUNNING, start_time=NOW, owner=lost.uuid
            ),
            active=1,
        )
        world.store.register_worker(lost, -1)
        rules = LockedOnce(world.progress)
        world.progress = rules  # type: ignore[assignment]

        world.worker()

        world.until_ended(plan)
        self.assertEqual(2, rules.tries)

    def test_what_is_signalled_while_it_changes_hands_hears_of_it(self) -> None:
        outside = kind(poll=lambda context, token: InProgress(token, 3600.0))
        world = self.a_world({'outside': outside}, sweep_interval=3600.0)
        world.add(
            world.new_action(
                'a', 'outside', status=states.RUNNING, owner='lost', token='job'
            )
        )
        world.worker(lanes=('engine',), store=Signalling(world.store))  # type: ignore[arg-type]
        world.until_action('a', states.CANCELLED)

    def test_what_is_in_hand_is_no_orphan(self) -> None:
        gate = self.a_gate()
        world = self.a_world({'waits': kind(execute=gate)}, sweep_interval=3600.0)
        worker = world.worker()
        plan = world.start(action('a', 'waits'))
        gate.until_entered()
        for _ in range(3):
            worker.sweep()
        gate.open()
        world.until_ended(plan)
        self.assertEqual(1, world.action('a').attempt)

    def test_plans_that_others_have_ended_are_let_go_of(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        worker = world.worker()
        later = '2999-01-01T00:00:00Z'
        plan = world.start('a', action('b', not_before=later))
        world.until_action('a', states.SUCCEEDED)
        silent = World(world.store)
        other = silent.worker()
        self.addCleanup(silent.stop)
        silent.plans.cancel(plan.uuid)
        silent.until_ended(plan)
        silent.workers.remove(other)
        other.stop(0)
        worker.sweep()
        world.until(lambda: [s.plan_id for s in sources_of(worker) if s.plan_id] == [])

    def test_a_target_whose_holder_is_gone_is_freed(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        worker = world.worker()
        plan, (blocked,) = store_plan(
            world.store,
            make_action(name='a', target='x', status=states.READY),
        )
        with world.store.transaction() as tx:
            waiting = blocked.evolve(status=states.WAITING, blocked_on='x')
            tx.change_actions([ActionChange(blocked, waiting)])
        worker.sweep()
        self.assertEqual(plan_states.SUCCEEDED, world.until_ended(plan).state)


class DueTest(WorldCase):
    """One timer for the next action that comes to be due, not one a sweep."""

    def test_the_question_is_put_once_for_many_dry_claims(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        deaf = Deaf(world.store)
        worker = world.worker(store=deaf)  # type: ignore[arg-type]
        world.until(lambda: 'next_not_before' in deaf.asked)
        deaf.asked.clear()
        for _ in range(20):
            worker.discovery.on_queue_empty()
        world.until(lambda: 'next_not_before' in deaf.asked)
        self.assertEqual(1, deaf.asked.count('next_not_before'))

    def test_a_time_that_is_known_has_one_timer(self) -> None:
        world = self.a_world(sweep_interval=3600.0)
        worker = world.worker()
        world.start(action('a', not_before='2999-01-01T00:00:00Z'))
        world.until(lambda: 'applier' in worker.discovery._due)
        timers = len(worker._chores._heap)
        since = world.clock.now() - datetime.timedelta(seconds=1)
        for _ in range(5):
            worker.discovery._check_due_in('applier', since)
        self.assertEqual(timers, len(worker._chores._heap))


class LifeTest(WorldCase):
    """Registration, leave, and what a process is told."""

    def test_it_registers_and_leaves_nothing_behind(self) -> None:
        world = self.a_world()
        worker = world.worker()
        (registered,) = world.store.live_workers()
        self.assertEqual(
            (worker.record.uuid, 'host-0', ('applier',)),
            (registered.uuid, registered.host, registered.lanes),
        )
        self.assertTrue(worker.stop(1))
        world.workers.remove(worker)
        self.assertEqual([], world.store.live_workers())
        self.assertEqual([], world.store.expired_workers())
        self.assertIn(commands.WorkerLeft(worker.record.uuid), world.told)

    def test_to_stop_twice_is_to_stop_once(self) -> None:
        world = self.a_world()
        worker = world.worker()
        self.assertEqual([True, True], [worker.stop(1), worker.stop(1)])

    def test_a_store_that_is_away_does_not_keep_it_from_stopping(self) -> None:
        world = self.a_world()
        deaf = Deaf(world.store)
        worker = world.worker(store=deaf)  # type: ignore[arg-type]
        deaf.failing = {'end_lease': exceptions.StoreUnavailable('no route')}
        self.assertTrue(worker.stop(1))
        self.assertIn('runs out by itself: no route', self.log.output)
        self.assertEqual(1, len(world.store.live_workers()))

    def test_listeners_hear_of_what_is_durable(self) -> None:
        world = self.a_world()
        worker = world.worker()
        heard: list[str] = []

        def listener(stored: Any) -> None:
            for event in stored:
                self.assertTrue(world.store.event_exists(event.uuid))
                heard.append(event.new_status)

        def broken(stored: Any) -> None:
            raise OSError

        worker.add_listener(broken)
        worker.add_listener(listener)
        world.run('a')
        world.until(lambda: heard[-1:] == ['SUCCEEDED'] and len(heard) == 4)
        self.assertEqual(['ONGOING', 'RUNNING', 'SUCCEEDED', 'SUCCEEDED'], heard)
