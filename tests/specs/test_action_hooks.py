"""Actions with functions and with coroutines as their hooks.

Each test is the same for both kinds: who writes a plugin chooses how it waits, and not
what is promised.
"""

from typing import Any

from tests.bounded import TIMEOUT
from tests.hooks import COROUTINES, FUNCTIONS, type_of
from tests.worlds import World, WorldCase, action, ran
from watcherlite import exceptions
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Retry,
)
from watcherlite.states import action as states

CANCELLED = 'Action was cancelled while it ran.'
LATE = 'Action failed in execute: it ran longer than its timeout'
LOST = [('a', 'READY', 'RUNNING', None), ('a', 'RUNNING', 'READY', None)]
LONG = TIMEOUT * 10


async def sleep(context: Any) -> bool:
    await context.sleep(LONG)
    return True


class HookCase(WorldCase):
    """Runs an action with hooks; a subclass sets their kind."""

    style = ''

    def start(self, *, settings: Any = None, **hooks: Any) -> tuple[World, Any]:
        """Start a plan of one action with these hooks."""
        world = self.create_world(
            {'does': type_of(self.style, **hooks)}, **settings or {}
        )
        world.worker()
        return world, world.start(action('a', 'does'))

    def run_hooks(self, **hooks: Any) -> list[Any]:
        world, plan = self.start(**hooks)
        world.wait_until_ended(plan)
        return world.history(plan, 'a')

    def signal(self, world: World, signal: str) -> None:
        world.plans.signal_action(world.action('a').uuid, signal)


class HookTests:
    """The tests for every kind of hooks; a mixin that precedes `HookCase`."""

    def test_an_outcome_ends_an_action(self: Any) -> None:
        async def done(context: Any) -> Done:
            return Done({'name': context.name, 'attempt': context.attempt})

        async def fail(context: Any) -> Failed:
            return Failed('no quota')

        async def crash(context: Any) -> None:
            raise SystemExit(3)

        async def skip(context: Any) -> None:
            raise exceptions.ActionSkipException('gone')

        world, plan = self.start(execute=done)
        world.wait_until_ended(plan)
        self.assertEqual({'name': 'a', 'attempt': 1}, world.action('a').outputs)
        self.assertEqual(
            [
                ran('a', 'FAILED', 'Action failed in execute: no quota'),
                ran('a', 'FAILED', 'Action failed in execute: SystemExit'),
                [('a', 'READY', 'SKIPPED', 'Action was skipped automatically: gone')],
                ran('a', 'FAILED', 'Action failed in post_condition: SystemExit'),
            ],
            [
                self.run_hooks(execute=fail),
                self.run_hooks(execute=crash),
                self.run_hooks(pre_condition=skip),
                self.run_hooks(post_condition=crash),
            ],
        )

    def test_a_cancel_ends_a_sleeping_action(self: Any) -> None:
        world, plan = self.start(execute=sleep)
        world.wait_for_action('a', states.RUNNING)
        self.signal(world, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(ran('a', 'CANCELLED', CANCELLED), world.history(plan, 'a'))

    def test_a_cancel_ends_a_pre_condition(self: Any) -> None:
        entered = self.create_gate()
        entered.open()

        async def wait(context: Any) -> None:
            entered()
            await context.sleep(LONG)

        world, plan = self.start(pre_condition=wait)
        entered.wait_until_entered()
        self.signal(world, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(
            [('a', 'READY', 'CANCELLED', 'Action was cancelled before it started.')],
            world.history(plan, 'a'),
        )

    def test_an_action_that_is_faster_than_a_cancel_succeeds(self: Any) -> None:
        verified: list[str] = []
        entered = self.create_gate()
        entered.open()

        async def swallow(context: Any) -> bool:
            entered()
            try:
                await context.sleep(LONG)
            except BaseException as error:
                verified.append(type(error).__name__)
            return True

        async def verify(context: Any) -> None:
            verified.append('verified')

        world, plan = self.start(execute=swallow, post_condition=verify)
        entered.wait_until_entered()
        self.signal(world, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(ran('a'), world.history(plan, 'a'))
        self.assertIn(verified[0], ('Cancelled', 'CancelledError'))
        self.assertEqual(['verified'], verified[1:])

    def test_a_suspended_action_continues_after_its_resume(self: Any) -> None:
        steps: list[str] = []

        async def work(context: Any) -> bool:
            while not steps:
                await context.sleep(0.001)
            await context.checkpoint()
            return True

        world, plan = self.start(execute=work)
        world.wait_for_action('a', states.RUNNING)
        self.signal(world, states.SUSPEND)
        world.wait_for_action('a', states.SUSPENDED)
        # Its place is free.
        world.wait_until_ended(world.start(action('b')))
        steps.append('go on')
        self.signal(world, states.RESUME)
        world.wait_until_ended(plan)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'SUSPENDED', None),
                ('a', 'SUSPENDED', 'RUNNING', None),
                ('a', 'RUNNING', 'SUCCEEDED', None),
            ],
            world.history(plan, 'a'),
        )

    def test_a_cancel_ends_a_suspended_action(self: Any) -> None:
        world, plan = self.start(execute=sleep)
        world.wait_for_action('a', states.RUNNING)
        self.signal(world, states.SUSPEND)
        world.wait_for_action('a', states.SUSPENDED)
        self.signal(world, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(
            ('a', 'SUSPENDED', 'CANCELLED', CANCELLED), world.history(plan, 'a')[-1]
        )

    def test_a_timeout_ends_a_sleeping_action(self: Any) -> None:
        world, plan = self.start(
            execute=sleep, settings={'default_action_timeout': 0.05}
        )
        world.wait_until_ended(plan)
        self.assertEqual(ran('a', 'FAILED', LATE), world.history(plan, 'a'))

    def test_an_action_that_ignores_its_deadline_fails(self: Any) -> None:
        gate = self.create_gate()

        async def unresponsive(context: Any) -> bool:
            while True:
                try:
                    return bool(await context.enter(gate))
                except BaseException:
                    continue

        world, plan = self.start(
            execute=unresponsive,
            settings={'default_action_timeout': 0.05, 'max_parallel': 1},
        )
        world.wait_until_ended(plan)
        self.assertEqual(ran('a', 'FAILED', LATE), world.history(plan, 'a'))
        # It occupies no place any more.
        world.wait_until_ended(world.start(action('b')))

    def test_a_retry_is_another_attempt(self: Any) -> None:
        async def again(context: Any) -> Any:
            return Retry('busy', 0.0) if context.attempt == 1 else True

        self.assertEqual(
            ('a', 'RUNNING', 'SUCCEEDED', None), self.run_hooks(execute=again)[-1]
        )

    def test_an_action_in_progress_is_polled_to_its_end(self: Any) -> None:
        async def begin(context: Any) -> InProgress:
            return InProgress(0, 0.0)

        async def poll(context: Any, token: int) -> Any:
            return InProgress(token + 1, 0.001) if token < 3 else Done({'n': token})

        world, plan = self.start(execute=begin, poll=poll)
        world.wait_until_ended(plan)
        self.assertEqual(ran('a'), world.history(plan, 'a'))
        self.assertEqual({'n': 3}, world.action('a').outputs)

    def test_a_cancel_stops_the_external_work(self: Any) -> None:
        stopped: list[Any] = []

        async def begin(context: Any) -> InProgress:
            return InProgress({'job': 7}, LONG)

        async def cancel(context: Any, token: Any) -> None:
            stopped.append(token)

        world, plan = self.start(execute=begin, cancel=cancel)
        world.wait_until(lambda: world.action('a').token is not None)
        self.signal(world, states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(ran('a', 'CANCELLED', CANCELLED), world.history(plan, 'a'))
        self.assertEqual([{'job': 7}], stopped)

    def test_derived_actions_are_completed(self: Any) -> None:
        async def derive(context: Any) -> Derived:
            return Derived((DerivedAction('b', 'nop'), DerivedAction('c', 'nop')))

        async def complete(context: Any, results: Any) -> Done:
            return Done({'ends': {result.key: result.status for result in results}})

        world = self.create_world(
            {'does': type_of(self.style, execute=derive, complete=complete)}
        )
        world.worker(lanes=('applier', ENGINE))
        world.wait_until_ended(world.start(action('a', 'does')))
        self.assertEqual(
            {'ends': {'b': 'SUCCEEDED', 'c': 'SUCCEEDED'}}, world.action('a').outputs
        )

    def test_a_rollback_reverts_an_action(self: Any) -> None:
        reverted: list[Any] = []

        async def revert(context: Any) -> bool:
            reverted.append(context.outputs)
            return True

        async def done(context: Any) -> Done:
            return Done({'n': 1})

        async def fail(context: Any) -> Failed:
            return Failed('x')

        world = self.create_world(
            {
                'does': type_of(self.style, execute=done, revert=revert),
                'fails': type_of(self.style, execute=fail),
            }
        )
        world.run(
            action('a', 'does'),
            action('b', 'fails', parents=['a']),
            on_failure='rollback',
        )
        self.assertEqual([{'n': 1}], reverted)

    # the loss of the worker

    def lose_worker(self: Any, **hooks: Any) -> tuple[World, Any]:
        """Kill the worker of an action that executes; start another one."""
        gate = self.create_gate()

        async def execute(context: Any) -> Any:
            if context.attempt == 1:
                await context.save_token({'job': context.name})
                await context.enter(gate)
            return Done({'attempt': context.attempt})

        world, plan = self.start(**{'execute': execute, **hooks})
        gate.wait_until_entered()
        (worker,) = world.workers
        world.kill(worker)
        world.worker()
        world.wait_until_ended(plan)
        gate.open()
        return world, plan

    def test_an_idempotent_action_is_executed_again(self: Any) -> None:
        world, plan = self.lose_worker(idempotent=True)
        self.assertEqual([*LOST, *ran('a')], world.history(plan, 'a'))
        self.assertEqual({'attempt': 2}, world.action('a').outputs)

    def test_an_action_is_checked_for_its_effect(self: Any) -> None:
        for applied in (True, False):

            async def is_applied(context: Any, answer: bool = applied) -> bool:
                return answer

            world, plan = self.lose_worker(is_applied=is_applied)
            self.assertEqual([*LOST, *ran('a')], world.history(plan, 'a'))
            self.assertEqual(
                None if applied else {'attempt': 2}, world.action('a').outputs
            )

    def test_an_action_that_has_started_is_not_skipped_later(self: Any) -> None:
        async def pre_condition(context: Any) -> None:
            if context.attempt > 1:
                raise exceptions.ActionSkipException('it is done')

        world, plan = self.lose_worker(idempotent=True, pre_condition=pre_condition)
        self.assertEqual(
            (
                'a',
                'RUNNING',
                'SUCCEEDED',
                'Action had started before, and its further run was skipped: it is '
                'done',
            ),
            world.history(plan, 'a')[-1],
        )

    def test_a_worker_without_its_lease_writes_nothing(self: Any) -> None:
        gate, fenced = self.create_gate(), list[str]()

        async def execute(context: Any) -> bool:
            await context.enter(gate)
            try:
                context.fence()
            except exceptions.LeaseLost:
                fenced.append(context.name)
                raise
            return True

        world, plan = self.start(execute=execute)
        gate.wait_until_entered()
        (worker,) = world.workers
        worker.lease._is_lost = True
        gate.open()
        world.wait_until(lambda: bool(fenced))
        self.assertEqual([('a', 'READY', 'RUNNING', None)], world.history(plan, 'a'))


class TestFunctions(HookTests, HookCase):
    """Hooks that are functions."""

    style = FUNCTIONS


class TestCoroutines(HookTests, HookCase):
    """Hooks that are coroutines."""

    style = COROUTINES
