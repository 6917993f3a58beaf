"""Spec 001, target and cause: locks on the targets of actions."""

import threading
from typing import Any

from tests.worlds import Gate, World, WorldCase, action, kind
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Derived, DerivedAction, Retry
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class Watch:
    """An execute that detects concurrent actions on one target.

    :ivar most: by target, the highest number of concurrent actions
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.order: list[str] = []

    def __call__(self, context: Any) -> bool:
        with self._lock:
            count = self._now.get(context.target, 0) + 1
            self._now[context.target] = count
            self.most[context.target] = max(count, self.most.get(context.target, 0))
            self.order.append(context.name)
        # Long enough for another thread to enter, if it is permitted to.
        context.sleep(0.002)
        with self._lock:
            self._now[context.target] -= 1
        return True


class OverlapDetector:
    """An execute that detects concurrent actions on parts and on the whole.

    :ivar together: whether two parts were ever in use concurrently
    :ivar wrong: the actions that ran concurrently with one on the whole
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._now: list[str] = []
        self.together = False
        self.wrong: list[list[str]] = []

    def __call__(self, context: Any) -> bool:
        with self._condition:
            self._now.append(context.target)
            self.together |= len(set(self._now) - {'whole'}) > 1
            if 'whole' in self._now and len(self._now) > 1:
                self.wrong.append(list(self._now))
        # Long enough for another thread to enter, if it is permitted to.
        context.sleep(0.02)
        with self._condition:
            self._now.remove(context.target)
        return True


class TestPartsOfAWhole(WorldCase):
    """An action on a part shares the lock on the whole."""

    def test_parts_run_concurrently_but_not_with_the_whole(self) -> None:
        occupied = OverlapDetector()
        world = self.create_world({'occupies': kind(execute=occupied)})
        for _ in range(2):
            world.worker(lanes=(ENGINE,))
        listed = [
            world.new_action(
                f'a{n}',
                'occupies',
                target='whole' if n % 7 == 3 else f'part-{n % 3}',
                within=None if n % 7 == 3 else 'whole',
            )
            for n in range(28)
        ]
        world.add(*listed)
        for n in range(28):
            world.wait_for_action(f'a{n}', states.SUCCEEDED)
        self.assertEqual((True, []), (occupied.together, occupied.wrong))
        again = world.new_action('again', target='whole')
        world.add(again)
        world.wait_for_action('again', states.SUCCEEDED)

    def test_a_lost_worker_leaves_no_lock(self) -> None:
        gate = self.create_gate()

        def execute(context: Any) -> bool:
            return gate(context) if context.attempt == 1 else True

        world = self.create_world({'waits': kind(execute=execute, idempotent=True)})
        worker = world.worker(lanes=(ENGINE,))
        world.add(world.new_action('part', 'waits', target='p', within='whole'))
        gate.wait_until_entered()
        world.add(world.new_action('whole', target='whole'))
        world.wait_for_action('whole', states.WAITING)
        world.kill(worker)
        world.worker(lanes=(ENGINE,))
        world.wait_for_action('whole', states.SUCCEEDED)
        part, whole = world.action('part'), world.action('whole')
        self.assertEqual((states.SUCCEEDED, 2), (part.status, part.attempt))
        self.assertLessEqual(part.end_time, whole.start_time)
        world.add(world.new_action('next', target='p'))
        world.wait_for_action('next', states.SUCCEEDED)


class TestLocksOnTargets(WorldCase):
    """An action with the cause RPC Request takes the lock on its target."""

    def test_two_actions_on_one_target_never_overlap(self) -> None:
        watch = Watch()
        world = self.create_world({'watched': kind(execute=watch)})
        world.worker()
        world.worker()
        # This holds within one plan and between plans.
        plans = [
            world.start(
                *(
                    action(f'{p}-{n}', 'watched', target=f'host-{n % 3}')
                    for n in range(15)
                )
            )
            for p in 'abc'
        ]
        for plan in plans:
            self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)
        self.assertEqual({f'host-{n}': 1 for n in range(3)}, watch.most)

    def hold_target(self, **hooks: Any) -> tuple[World, Gate]:
        gate = self.create_gate()
        world = self.create_world(
            {'holds': kind(execute=gate), **hooks}, sweep_interval=3600.0
        )
        world.worker()
        world.start(action('holder', 'holds', target='host'))
        gate.wait_until_entered()
        return world, gate

    def test_waiting_actions_are_woken_in_their_order(self) -> None:
        watch = Watch()
        world, gate = self.hold_target(watched=kind(execute=watch))
        names = [f'a{n}' for n in range(5)]
        plan = world.start(*(action(n, 'watched', target='host') for n in names))
        for name in names:
            waiting = world.wait_for_action(name, states.WAITING)
            self.assertEqual(
                ('host', None, 'PENDING'),
                (waiting.blocked_on, waiting.owner, waiting.state),
            )
        gate.open()
        world.wait_until_ended(plan)
        self.assertEqual(names, watch.order)
        ended = world.action('a0')
        self.assertEqual((None, 'SUCCEEDED'), (ended.blocked_on, ended.status))

    def test_a_waiting_action_can_be_cancelled_without_releasing_the_lock(self) -> None:
        world, gate = self.hold_target()
        plan = world.start(action('second', target='host'))
        world.wait_for_action('second', states.WAITING)
        world.plans.cancel(plan.uuid)
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
        third = world.start(action('third', target='host'))
        world.wait_for_action('third', states.WAITING)
        gate.open()
        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(third).state)

    def unblock_second(self, world: World, gate: Gate) -> ActionPlan:
        """Wake `second` while `third` waits for it; return the plan of `third`."""
        plan = world.start(action('third', target='host'))
        world.wait_for_action('third', states.WAITING)
        gate.open()
        world.wait_for_action('second', states.READY)
        self.assertEqual('WAITING', world.action('third').status)
        return plan

    def test_a_woken_and_cancelled_action_passes_the_lock_on(self) -> None:
        world, gate = self.hold_target()
        # No worker serves its lane.
        second = world.new_action(
            'second',
            status=states.WAITING,
            target='host',
            blocked_on='host',
            cause=states.RPC_REQUEST,
        )
        world.add(second)
        plan = self.unblock_second(world, gate)
        world.plans.signal_action(second.uuid, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(
            {'holder': 'SUCCEEDED', 'second': 'CANCELLED', 'third': 'SUCCEEDED'},
            world.statuses(),
        )

    def test_a_woken_action_of_a_cancelled_plan_passes_the_lock_on(self) -> None:
        world, gate = self.hold_target(
            sleeps=kind(execute=lambda context: context.sleep(900))
        )
        full = world.start(
            action('second', target='host'), action('runs', 'sleeps'), max_parallel=1
        )
        world.wait_for_action('second', states.WAITING)
        world.wait_for_action('runs', states.RUNNING)
        plan = self.unblock_second(world, gate)
        world.plans.cancel(full.uuid)
        world.wait_until_ended(plan)
        world.wait_until_ended(full)
        self.assertEqual(
            {
                'holder': 'SUCCEEDED',
                'second': 'CANCELLED',
                'runs': 'CANCELLED',
                'third': 'SUCCEEDED',
            },
            world.statuses(),
        )

    def test_every_end_of_the_holder_releases_the_lock(self) -> None:
        for end in (True, False, ('CANCEL', 'no')):
            world = self.create_world(
                {'ends': kind(execute=lambda c, e=end: e)}, sweep_interval=3600.0
            )
            plan = world.run(
                action('a', 'ends', target='host'), action('b', target='host')
            )
            self.assertEqual(states.SUCCEEDED, world.action('b').status, plan)

    def test_an_action_keeps_its_lock_during_a_retry(self) -> None:
        answers = iter([Retry('busy', 0.05), True])
        order: list[str] = []

        def busy(context: Any) -> Any:
            order.append(context.name)
            return next(answers)

        world = self.create_world(
            {
                'busy': kind(execute=busy),
                'notes': kind(execute=lambda c: order.append(c.name) or True),
            }
        )
        world.run(
            action('a', 'busy', target='host'), action('b', 'notes', target='host')
        )
        self.assertEqual(['a', 'a', 'b'], order)

    def test_a_waiting_action_does_not_count_for_max_parallel(self) -> None:
        world, gate = self.hold_target()
        plan = world.start(
            action('b', target='host'),
            action('c', target='host'),
            *(action(f'n{n}') for n in range(5)),
            max_parallel=1,
        )
        for n in range(5):
            world.wait_for_action(f'n{n}', states.SUCCEEDED)
        self.assertEqual(states.WAITING, world.action('b').status)
        gate.open()
        self.assertEqual(plan_states.SUCCEEDED, world.wait_until_ended(plan).state)


class TestLocksOfDerivedActions(WorldCase):
    """Derived Action: the lock has been acquired already."""

    def test_derived_actions_do_not_wait_and_others_wait_for_all_of_them(self) -> None:
        order: list[str] = []

        def record(context: Any) -> bool:
            order.append(context.name)
            return True

        children = Derived(
            tuple(
                DerivedAction(key, 'notes', target='host', parents=parents)
                for key, parents in (('x', ()), ('y', ('x',)))
            )
        )
        world = self.create_world(
            {
                'derives': kind(
                    execute=lambda c: children, complete=lambda c, results: record(c)
                ),
                'notes': kind(execute=record),
            },
            sweep_interval=3600.0,
        )
        world.run(
            action('a', 'derives', target='host'), action('b', 'notes', target='host')
        )
        self.assertEqual(['x', 'y', 'a', 'b'], order)
        self.assertEqual(
            (states.DERIVED_ACTION, 'host'),
            (world.action('x').cause, world.action('x').target),
        )
