"""Spec 001, owner: workers that share actions, and workers that stop."""

import threading
from typing import Any

from tests import bounded
from tests.bounded import TIMEOUT
from tests.specs.test_actions_lost_workers import LOST
from tests.worlds import Calls, Gate, WorldCase, action, kind, ran
from watcherlite.domain.outcomes import Done, InProgress
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class TestTwoWorkersShareAPlan(WorldCase):
    """Any worker may claim READY actions, and no action runs twice."""

    def test_no_action_runs_twice_and_both_workers_run_some(self) -> None:
        calls = Calls()
        seen: dict[str, set[str]] = {}
        gate = threading.Barrier(2)

        def execute(context: Any) -> bool:
            calls.record('execute')(context)
            # Block until both workers have started an action.
            seen.setdefault(threading.current_thread().name, set()).add(context.name)
            if len(calls.made) <= 2:
                gate.wait(TIMEOUT)
            return True

        world = self.create_world({'does': kind(execute=execute)}, max_parallel=1)
        first, second = world.worker(), world.worker()
        # Sweep, so that each worker knows of the other.
        first.sweeper.sweep()
        second.sweeper.sweep()
        plan = world.run(*(action(f'a{n}', 'does') for n in range(40)))
        self.assertEqual(plan_states.SUCCEEDED, plan.state)
        self.assertEqual(
            sorted(f'a{n}' for n in range(40)), sorted(map(str, calls.of('execute')))
        )
        steps = [(line[1], line[2]) for line in world.history(plan)]
        # A worker whose thread is busy for long releases claimed actions.
        released = steps.count(('RUNNING', 'READY'))
        self.assertEqual(40, steps.count(('READY', 'RUNNING')) - released)

    def test_chains_and_joins_keep_their_order(self) -> None:
        calls = Calls()
        world = self.create_world({'does': kind(execute=calls.record('execute', True))})
        world.worker()
        world.worker()
        layers = [[f'{layer}-{n}' for n in range(4)] for layer in range(6)]
        world.run(
            *(
                action(name, 'does', parents=layers[at - 1] if at else [])
                for at, layer in enumerate(layers)
                for name in layer
            )
        )
        order = [str(name)[0] for name in calls.of('execute')]
        self.assertEqual(sorted(order), order)
        self.assertEqual(24, len(order))

    def test_a_worker_for_one_plan_claims_nothing_of_others(self) -> None:
        world = self.create_world()
        other = world.start('x')
        plan = world.start('a')
        world.worker(only_plan=plan.uuid)
        world.wait_until_ended(plan)
        self.assertEqual(plan_states.PENDING, world.store.get_plan(other.uuid).state)


class TestWaitingActions(WorldCase):
    """Waiting actions are rows and occupy no threads, however many there are."""

    def test_thousands_wait_in_a_worker_with_one_thread(self) -> None:
        world = self.create_world(
            {'external': kind(execute=lambda c: InProgress('job', 3600.0))},
            max_parallel=1,
        )
        worker = world.worker()
        threads = threading.active_count()
        plan = world.start(*(action(f'a{n}', 'external') for n in range(2000)))
        world.wait_until(lambda: len(worker.dispatcher.owned) == 2000)
        world.wait_until(
            lambda: all(
                found.token is not None
                for found in world.store.list_actions(plan_id=plan.id, limit=2000)
            )
        )

        self.assertEqual(plan_states.SUCCEEDED, world.run('b').state)
        # The first of them may have started the thread of the pool.
        self.assertLessEqual(threading.active_count(), threads + 1)
        world.plans.cancel(plan.uuid)
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)


class TestDrain(WorldCase):
    """A stopping worker claims nothing more, and keeps no actions."""

    def test_a_draining_worker_finishes_running_actions_and_claims_none(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)}, max_parallel=1)
        worker = world.worker()
        plan = world.start(action('a', 'waits'), action('b', parents=['a']))
        gate.wait_until_entered()
        ended: list[bool] = []
        stopping = threading.Thread(
            target=lambda: ended.append(worker.stop(TIMEOUT)), daemon=True
        )
        stopping.start()
        world.wait_until(lambda: worker.dispatcher._queues.is_closed)
        gate.open()
        stopping.join(TIMEOUT)

        self.assertEqual([True], ended)
        self.assertEqual({'a': 'SUCCEEDED', 'b': 'READY'}, world.statuses(plan))
        self.assertEqual([], world.store.live_workers())
        self.assertEqual([], world.store.expired_workers())
        world.workers.remove(worker)
        world.worker()
        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)

    def test_unstarted_actions_are_released_to_other_workers(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {'waits': kind(pre_condition=gate)}, max_parallel=1, sweep_interval=3600.0
        )
        # Run short actions first, so that the worker claims more actions than it has
        # threads.
        worker = world.worker()
        world.run(*(f'n{n}' for n in range(100)))
        plan = world.start(*(action(f'a{n}', 'waits') for n in range(5)))
        gate.wait_until_entered()
        world.wait_until(lambda: len(worker.dispatcher.owned) == 5)
        other = world.worker(max_parallel=4)
        stopping = threading.Thread(target=worker.stop, args=(TIMEOUT,), daemon=True)
        stopping.start()
        world.wait_until(lambda: worker.dispatcher._queues.is_closed)
        gate.open()
        stopping.join(TIMEOUT)
        world.workers.remove(worker)

        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)
        attempts = sorted(world.action(f'a{n}').attempt for n in range(5))
        self.assertEqual([1, 2, 2, 2, 2], attempts)
        self.assertEqual({}, other.dispatcher.owned)

    def test_long_running_actions_are_recovered_by_another_worker(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {
                'waits': kind(
                    idempotent=True,
                    execute=lambda c: gate() if c.attempt == 1 else True,
                )
            }
        )
        worker = world.worker()
        plan = world.start(action('a', 'waits'))
        gate.wait_until_entered()
        self.assertFalse(worker.stop(0.01))
        world.workers.remove(worker)
        world.worker()
        world.wait_until_ended(plan)
        self.assertEqual([*LOST, *ran('a')], world.history(plan, 'a'))

    def test_a_drain_does_not_wait_for_suspended_actions(self) -> None:
        entered = Gate()
        entered.open()

        def execute(context: Any) -> bool:
            entered()
            if context.attempt == 1:
                context.sleep(TIMEOUT * 9)
            return True

        world = self.create_world({'sleeps': kind(idempotent=True, execute=execute)})
        worker = world.worker()
        plan = world.start(action('a', 'sleeps'))
        entered.wait_until_entered()
        uuid = world.action('a').uuid
        world.plans.signal_action(uuid, states.SUSPEND)
        world.wait_for_action('a', states.SUSPENDED)

        self.assertFalse(bounded.call(worker.stop, bounded.FOREVER))

        world.workers.remove(worker)
        world.worker()
        # The other worker also suspends it before it executes anything.
        world.wait_until(lambda: len(world.history(plan, 'a')) == 5)
        self.assertEqual(states.SUSPENDED, world.action('a').status)
        self.assertEqual(1, entered.entered)
        world.plans.signal_action(uuid, states.RESUME)
        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)

    def test_actions_in_progress_continue_on_another_worker_immediately(self) -> None:
        done = threading.Event()
        world = self.create_world(
            {
                'external': kind(
                    execute=lambda c: InProgress({'job': 1}, 0.01),
                    poll=lambda c, t: Done(t) if done.is_set() else InProgress(t, 0.01),
                )
            }
        )
        first = world.worker()
        plan = world.start(action('a', 'external'))
        world.wait_until(lambda: world.action('a').token is not None)
        second = world.worker(sweep_interval=3600.0)
        self.assertTrue(first.stop(TIMEOUT))
        world.workers.remove(first)
        world.wait_until(lambda: world.action('a').owner == second.record.uuid)
        done.set()
        world.wait_until_ended(plan)
        self.assertEqual(ran('a'), world.history(plan, 'a'))
