"""Spec 001, SUSPEND and RESUME of an action that waits for derived actions."""

import threading
from typing import Any

from tests.worlds import World, WorldCase, action, kind, ran
from watcherlite import exceptions
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Derived, DerivedAction
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

CANCELLED = 'Action was cancelled while it ran.'
UNSTARTED = 'Action was cancelled before it started.'
PAUSED = ('a', 'WAITING', 'SUSPENDED', None)
#: Two run concurrently; the others follow the first.
CHILDREN = (
    DerivedAction('first', 'waits'),
    DerivedAction('other', 'sleeps'),
    DerivedAction('later', 'nop', parents=('first',), needs='completion'),
)


class SuspendedCase(WorldCase):
    """A world with an action 'a' that waits for derived actions."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = self.create_gate()
        self.resumed = threading.Event()

    def sleep(self, context: Any) -> bool:
        """Sleep until the action has been resumed."""
        while not self.resumed.is_set():
            context.sleep(0.01)
        return True

    def create_waiting_world(self, *children: DerivedAction, **types: Any) -> World:
        world = self.create_world(
            {
                'derives': kind(execute=lambda c: Derived(children or CHILDREN)),
                'waits': kind(execute=self.gate),
                'sleeps': kind(execute=self.sleep),
                **types,
            }
        )
        world.worker(lanes=('applier', ENGINE))
        return world

    def add(self, world: World, **values: Any) -> None:
        """Add 'a', which belongs to no plan, and wait until it is WAITING."""
        world.add(world.new_action('a', 'derives', **values))
        self.wait_until_waiting(world)

    def wait_until_waiting(self, world: World) -> None:
        self.gate.wait_until_entered()
        world.wait_for_action('other', states.RUNNING)

    def signal(self, world: World, name: str, signal: str) -> Any:
        return world.plans.signal_action(world.action(name).uuid, signal)

    def suspend(self, world: World) -> None:
        """Suspend 'a', and wait until each running action is suspended or ends."""
        self.assertEqual(
            states.SUSPENDED, self.signal(world, 'a', states.SUSPEND).status
        )
        world.wait_for_action('other', states.SUSPENDED)
        self.gate.open()
        world.wait_for_action('first', states.SUCCEEDED)

    def resume(self, world: World) -> None:
        self.resumed.set()
        self.signal(world, 'a', states.RESUME)


class TestSuspend(SuspendedCase):
    """SUSPEND signals running actions and prevents starts until RESUME."""

    def test_a_suspended_action_starts_nothing_and_keeps_its_lock_until_resume(
        self,
    ) -> None:
        world = self.create_waiting_world()
        self.add(world, target='sample')
        self.assert_refused(world, 'later')
        self.suspend(world)
        world.add(world.new_action('b', target='sample'))
        world.wait_for_action('b', states.WAITING)
        self.assert_refused(world, 'b')
        for worker in world.workers:
            worker.sweeper.sweep()
        world.run('something else')
        held = world.action('later')
        self.assertEqual(
            (states.READY, world.action('a').uuid, 0),
            (held.status, held.blocked_on, held.attempt),
        )
        self.resume(world)
        world.wait_for_action('b', states.SUCCEEDED)
        ends = [line[0] for line in world.history() if line[2] == 'SUCCEEDED']
        self.assertEqual(['a', 'b'], ends[-2:])
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'WAITING', None),
                PAUSED,
                ('a', 'SUSPENDED', 'WAITING', None),
                *ran('a'),
            ],
            world.history(None, 'a'),
        )
        self.assertEqual(ran('later'), world.history(None, 'later'))
        self.assertEqual(
            [
                ('other', 'READY', 'RUNNING', None),
                ('other', 'RUNNING', 'SUSPENDED', None),
                ('other', 'SUSPENDED', 'RUNNING', None),
                ('other', 'RUNNING', 'SUCCEEDED', None),
            ],
            world.history(None, 'other'),
        )

    def assert_refused(self, world: World, name: str) -> None:
        """Check that an action waiting for actions or a lock cannot be suspended."""
        error = self.assertRaises(
            exceptions.Conflict, self.signal, world, name, states.SUSPEND
        )
        self.assertEqual(
            f'SUSPEND is not possible for action {world.action(name).uuid}: it is '
            'WAITING',
            str(error),
        )

    def test_a_resumed_action_completes_if_its_derived_actions_have_ended(self) -> None:
        world = self.create_waiting_world(DerivedAction('first', 'waits'))
        world.add(world.new_action('a', 'derives'))
        self.gate.wait_until_entered()
        self.signal(world, 'a', states.SUSPEND)
        self.gate.open()
        world.wait_for_action('first', states.SUCCEEDED)
        self.assertEqual(states.SUSPENDED, world.action('a').status)
        self.assertEqual(states.READY, self.signal(world, 'a', states.RESUME).status)
        world.wait_for_action('a', states.SUCCEEDED)

    def test_a_claimed_and_unstarted_derived_action_is_claimed_again(self) -> None:
        checks = self.create_gate()
        started: list[int] = []
        world = self.create_waiting_world(
            DerivedAction('first', 'checks'),
            DerivedAction('other', 'sleeps'),
            checks=kind(
                pre_condition=checks,
                execute=lambda c: started.append(c.attempt) or True,
            ),
        )
        world.add(world.new_action('a', 'derives'))
        checks.wait_until_entered()
        world.wait_for_action('other', states.RUNNING)
        self.signal(world, 'a', states.SUSPEND)
        checks.open()
        world.wait_for_action('other', states.SUSPENDED)
        world.wait_until(
            lambda: not world.workers[0].dispatcher.owned.get(world.action('first').id)
        )
        self.assertEqual([], started)
        self.resume(world)
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertEqual([2], started)

    def test_a_suspend_reaches_indirectly_derived_actions(self) -> None:
        world = self.create_waiting_world(
            DerivedAction('deep', 'deep'),
            deep=kind(execute=lambda c: Derived(CHILDREN)),
        )
        self.add(world)
        self.suspend(world)
        self.assertEqual(
            ['SUSPENDED', 'SUSPENDED', 'READY'],
            [world.action(name).status for name in ('deep', 'other', 'later')],
        )
        self.resume(world)
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertEqual(
            [
                ('a', 'SUSPENDED', 'WAITING', None),
                ('deep', 'SUSPENDED', 'WAITING', None),
            ],
            [line for line in world.history() if line[1:3] == ('SUSPENDED', 'WAITING')],
        )

    def test_an_action_that_derives_concurrently_is_suspended(self) -> None:
        pair = Derived(
            (DerivedAction('x', 'nop'), DerivedAction('y', 'nop', parents=('x',)))
        )
        world = self.create_waiting_world(
            derives=kind(execute=lambda context: self.gate(context) and pair)
        )
        world.add(world.new_action('a', 'derives'))
        self.gate.wait_until_entered()
        self.signal(world, 'a', states.SUSPEND)
        self.gate.open()
        world.wait_for_action('a', states.SUSPENDED)
        world.run('something else')
        self.assertEqual(
            ['READY', 'WAITING'], [world.action(name).status for name in 'xy']
        )
        self.signal(world, 'a', states.RESUME)
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'SUSPENDED', None),
                ('a', 'SUSPENDED', 'WAITING', None),
                *ran('x'),
                *ran('y'),
                *ran('a'),
            ],
            world.history(None, *'axy'),
        )


class TestCancelWhileSuspended(SuspendedCase):
    """All derived actions end, and the action ends after them."""

    def test_a_cancelled_action_ends_after_its_last_derived_action(self) -> None:
        unresponsive = self.create_gate()
        world = self.create_waiting_world(
            *CHILDREN,
            DerivedAction('unresponsive', 'unresponsive'),
            unresponsive=kind(execute=unresponsive),
        )
        self.add(world, target='sample')
        unresponsive.wait_until_entered()
        self.suspend(world)
        world.add(world.new_action('b', target='sample'))
        world.wait_for_action('b', states.WAITING)
        self.assertEqual(states.WAITING, self.signal(world, 'a', states.CANCEL).status)
        world.wait_for_action('other', states.CANCELLED)
        self.assertEqual(
            ['WAITING', 'CANCELLED', 'WAITING'],
            [world.action(name).status for name in ('a', 'later', 'b')],
        )
        unresponsive.open()
        world.wait_for_action('b', states.SUCCEEDED)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'WAITING', None),
                PAUSED,
                ('a', 'SUSPENDED', 'WAITING', None),
                ('a', 'READY', 'CANCELLED', CANCELLED),
            ],
            world.history(None, 'a'),
        )
        self.assertEqual(
            [('later', 'READY', 'CANCELLED', UNSTARTED)], world.history(None, 'later')
        )

    def test_a_cancel_of_the_plan_reaches_a_suspended_action(self) -> None:
        world = self.create_waiting_world()
        plan = world.start(action('a', 'derives'), action('z', parents=['a']))
        self.wait_until_waiting(world)
        self.suspend(world)
        self.assertEqual((1, 4), self.counts(world, plan))
        world.plans.cancel(plan.uuid)
        ended = world.wait_until_ended(plan)
        self.assertEqual(plan_states.CANCELLED, ended.state)
        self.assertEqual((0, 0), self.counts(world, plan))
        self.assertEqual(
            {
                'a': 'CANCELLED',
                'first': 'SUCCEEDED',
                'other': 'CANCELLED',
                'later': 'CANCELLED',
                'z': 'CANCELLED',
            },
            world.statuses(plan),
        )

    def counts(self, world: World, plan: Any) -> tuple[int, int]:
        stored = world.store.get_plan(plan.uuid)
        return stored.active, stored.unfinished


class TestThreadsOfSuspendedActions(SuspendedCase):
    """Other actions do not wait for suspended ones."""

    def test_a_suspended_action_does_not_occupy_the_threads_of_others(self) -> None:
        world = self.create_world({'sleeps': kind(execute=self.sleep)}, max_parallel=1)
        world.worker(lanes=('applier', ENGINE))
        for name in ('a', 'b'):
            world.add(world.new_action(name, 'sleeps'))
            world.wait_for_action(name, states.RUNNING)
            self.signal(world, name, states.SUSPEND)
            world.wait_for_action(name, states.SUSPENDED)

        world.run('something else')

        self.resumed.set()
        for name in ('a', 'b'):
            self.signal(world, name, states.RESUME)
            world.wait_for_action(name, states.SUCCEEDED)
        world.run('and more')
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'SUSPENDED', None),
                ('a', 'SUSPENDED', 'RUNNING', None),
                ('a', 'RUNNING', 'SUCCEEDED', None),
            ],
            world.history(None, 'a'),
        )
