"""Spec 001, Signaling an action: CANCEL, SUSPEND, RESUME, and their handling."""

import threading
from collections.abc import Callable
from typing import Any

from tests.worlds import (
    TIMEOUT,
    Calls,
    Gate,
    World,
    WorldCase,
    action,
    chain,
    kind,
    raises,
    ran,
)
from watcherlite import exceptions
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Done, InProgress, Retry
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

CANCELLED = 'Action was cancelled while it ran.'
UNSTARTED = 'Action was cancelled before it started.'
SUSPENDED = ('a', 'RUNNING', 'SUSPENDED', None)
RESUMED = ('a', 'SUSPENDED', 'RUNNING', None)


class Work:
    """An execute that works in steps, with a checkpoint before each.

    :ivar steps: the number of completed steps
    """

    def __init__(self, steps: int = 10**9) -> None:
        self._target = steps
        self._condition = threading.Condition()
        self._allowed = 0
        self._received: list[str] = []
        self.steps = 0

    def __call__(self, context: Any) -> bool:
        with context.on_signal(self._record_signal):
            while self.steps < self._target:
                context.checkpoint()
                with self._condition:
                    self.steps += 1
                    self._condition.notify_all()
                self._wait_until(
                    lambda: self._allowed >= self.steps, 'no step is allowed'
                )
        return True

    def _record_signal(self, signal: str) -> None:
        with self._condition:
            self._received.append(signal)
            self._condition.notify_all()

    def _wait_until(self, condition: Callable[[], bool], otherwise: str) -> None:
        with self._condition:
            if not self._condition.wait_for(condition, TIMEOUT):
                raise AssertionError(otherwise)

    def wait_for_signals(self, *signals: str) -> None:
        """Wait until exactly these signals have been received."""
        self._wait_until(
            lambda: self._received == list(signals), f'received {self._received}'
        )

    def wait_for_steps(self, steps: int) -> None:
        """Wait until this number of steps has started."""
        self._wait_until(
            lambda: self.steps >= steps, f'{self.steps} steps, not {steps}'
        )

    def allow_step(self) -> None:
        """Let it continue to its next checkpoint."""
        with self._condition:
            self._allowed += 1
            self._condition.notify_all()


class SignalCase(WorldCase):
    """A world in which an action of a plan can be signalled."""

    def signal(self, world: World, name: str, signal: str) -> None:
        world.plans.signal_action(world.action(name).uuid, signal)

    def start_work(self, steps: int = 10**9) -> tuple[World, Work, Any]:
        work = Work(steps)
        self.addCleanup(work.allow_step)
        world = self.create_world({'work': kind(execute=work)})
        world.worker()
        plan = world.start(action('a', 'work'))
        work.wait_for_steps(1)
        return world, work, plan


class TestCancel(SignalCase):
    """CANCEL: the action should cancel its execution and return when possible."""

    def test_a_cancel_is_handled_at_the_next_checkpoint(self) -> None:
        world, work, plan = self.start_work()
        self.signal(world, 'a', states.CANCEL)
        work.wait_for_signals(states.CANCEL)
        work.allow_step()
        world.wait_until_ended(plan)
        self.assertEqual(ran('a', 'CANCELLED', CANCELLED), world.history(plan, 'a'))
        self.assertEqual(1, work.steps)
        self.assertEqual(plan_states.SUCCEEDED, world.store.get_plan(plan.uuid).state)

    def test_suspend_and_cancel_wake_a_sleeping_action(self) -> None:
        def swallow(context: Any) -> bool:
            try:
                context.sleep(TIMEOUT * 10)
            except exceptions.Cancelled:
                return True
            return False

        def sleep(context: Any) -> bool:
            context.sleep(TIMEOUT * 10)
            return True

        for execute, suspended in ((sleep, False), (sleep, True), (swallow, True)):
            world = self.create_world({'sleeps': kind(execute=execute)})
            world.worker()
            plan = world.start(action('a', 'sleeps'))
            world.wait_for_action('a', states.RUNNING)
            if suspended:
                self.signal(world, 'a', states.SUSPEND)
                world.wait_for_action('a', states.SUSPENDED)
            self.signal(world, 'a', states.CANCEL)
            world.wait_until_ended(plan)
            self.assertEqual(
                [
                    ('a', 'READY', 'RUNNING', None),
                    SUSPENDED,
                    ('a', 'SUSPENDED', 'CANCELLED', CANCELLED),
                ]
                if suspended
                else ran('a', 'CANCELLED', CANCELLED),
                world.history(plan, 'a'),
            )

    def test_an_action_may_ignore_a_cancel(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'unresponsive': kind(execute=gate)})
        world.worker()
        plan = world.start(action('a', 'unresponsive'))
        gate.wait_until_entered()
        self.signal(world, 'a', states.CANCEL)
        gate.open()
        world.wait_until_ended(plan)
        self.assertEqual(ran('a'), world.history(plan, 'a'))

    def test_a_cancelled_action_is_not_retried(self) -> None:
        signalled = threading.Event()

        def busy(context: Any) -> Retry:
            with context.on_signal(lambda signal: signalled.set()):
                if not signalled.wait(TIMEOUT):
                    raise AssertionError('no signal came')
            return Retry('busy', 3600.0)

        world = self.create_world({'again': kind(execute=busy)})
        world.worker()
        plan = world.start(action('a', 'again'))
        world.wait_for_action('a', states.RUNNING)
        self.signal(world, 'a', states.CANCEL)
        world.wait_until_ended(plan)
        self.assertEqual(ran('a', 'CANCELLED', CANCELLED), world.history(plan, 'a'))

    def test_an_unstarted_action_is_cancelled_immediately(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)})
        world.worker()
        plan = world.start(
            *(action('a', 'waits'), action('b', parents=['a'])),
            action('c', parents=['b']),
            action('d', not_before='2999-01-01T00:00:00Z'),
            action('e', parents=['d']),
        )
        gate.wait_until_entered()
        self.signal(world, 'b', states.CANCEL)
        self.signal(world, 'd', states.CANCEL)
        world.wait_for_action('e', states.SUCCEEDED)
        self.assertEqual(states.INIT, world.action('c').status)
        gate.open()
        world.wait_until_ended(plan)
        self.assertEqual(
            [
                ('b', 'INIT', 'CANCELLED', UNSTARTED),
                ('a', 'RUNNING', 'SUCCEEDED', None),
                *ran('c'),
            ],
            world.history(plan, 'a', 'b', 'c')[1:],
        )
        self.assertEqual(
            [('d', 'INIT', 'CANCELLED', UNSTARTED), *ran('e')],
            world.history(plan, 'd', 'e'),
        )


class TestSuspendAndResume(SignalCase):
    """SUSPEND: the action sleeps waiting on a RESUME signal to continue its work."""

    def test_a_suspended_action_continues_at_its_checkpoint(self) -> None:
        world, work, plan = self.start_work(steps=4)
        received: list[str] = []
        for step in (1, 2, 3):
            self.signal(world, 'a', states.SUSPEND)
            work.wait_for_signals(*received, states.SUSPEND)
            work.allow_step()
            world.wait_for_action('a', states.SUSPENDED)
            # Other actions continue meanwhile.
            self.assertEqual(plan_states.SUCCEEDED, world.run('b', 'c').state)
            self.assertEqual(step, work.steps)
            self.signal(world, 'a', states.RESUME)
            work.wait_for_steps(step + 1)
            world.wait_for_action('a', states.RUNNING)
            received += [states.SUSPEND, states.RESUME]
        work.allow_step()
        world.wait_until_ended(plan)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                *[SUSPENDED, RESUMED] * 3,
                ('a', 'RUNNING', 'SUCCEEDED', None),
            ],
            world.history(plan, 'a'),
        )
        self.assertEqual([('a', 'SUSPEND'), ('a', 'RESUME')] * 3, world.signals(plan))


class TestActionsInProgress(SignalCase):
    """Actions in progress hold no thread; the core handles their signals."""

    def setUp(self) -> None:
        super().setUp()
        self.calls = Calls()
        self.polled = Gate()
        self.polled.open()
        self.ready = threading.Event()

    def in_progress(self, delay: float = 0.01, **hooks: Any) -> tuple[World, Any]:
        """Return a world with an action that is polled until `ready`."""

        def poll(context: Any, token: Any) -> Any:
            self.polled()
            done = self.ready.is_set()
            return Done({'token': token}) if done else InProgress(token, delay)

        world = self.create_world(
            {
                'external': kind(
                    execute=lambda context: InProgress({'job': 7}, delay),
                    poll=poll,
                    cancel=self.calls.record('cancel', hooks.get('cancel')),
                    post_condition=self.calls.record('post_condition'),
                )
            },
            max_parallel=1,
        )
        world.worker()
        plan = world.start(action('a', 'external'))
        world.wait_until(lambda: world.action('a').token is not None)
        return world, plan

    def test_an_action_is_polled_until_it_ends_and_not_while_suspended(self) -> None:
        world, plan = self.in_progress()
        self.polled.wait_until_entered(3)
        self.signal(world, 'a', states.SUSPEND)
        world.wait_for_action('a', states.SUSPENDED)
        polls = self.polled.entered
        world.run('b')
        self.assertEqual(polls, self.polled.entered)
        self.ready.set()
        self.signal(world, 'a', states.RESUME)
        world.wait_until_ended(plan)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                SUSPENDED,
                RESUMED,
                ('a', 'RUNNING', 'SUCCEEDED', None),
            ],
            world.history(plan, 'a'),
        )
        self.assertEqual(polls + 1, self.polled.entered)
        self.assertEqual({'token': {'job': 7}}, world.action('a').outputs)
        self.assertEqual([('a', 'post_condition')], self.calls.made)

    def test_an_action_holds_no_thread_and_a_resume_polls_immediately(self) -> None:
        world, plan = self.in_progress(delay=3600)
        # The only thread of the worker is free.
        self.assertEqual(plan_states.SUCCEEDED, world.run(*chain('b', 'c')).state)
        self.assertEqual(states.RUNNING, world.action('a').status)
        self.signal(world, 'a', states.SUSPEND)
        world.wait_for_action('a', states.SUSPENDED)
        self.ready.set()
        self.signal(world, 'a', states.RESUME)
        world.wait_until_ended(plan)
        self.assertEqual(1, self.polled.entered)

    def test_a_cancel_ends_a_suspended_action_and_one_whose_cancellation_raises(
        self,
    ) -> None:
        for cancel, suspensions in (
            (None, []),
            (raises(SystemExit('no')), []),
            (None, [SUSPENDED]),
        ):
            world, plan = self.in_progress(delay=3600, cancel=cancel)
            if suspensions:
                self.signal(world, 'a', states.SUSPEND)
                world.wait_for_action('a', states.SUSPENDED)
            self.signal(world, 'a', states.CANCEL)
            world.wait_until_ended(plan)
            before = 'SUSPENDED' if suspensions else 'RUNNING'
            self.assertEqual(
                [
                    ('a', 'READY', 'RUNNING', None),
                    *suspensions,
                    ('a', before, 'CANCELLED', CANCELLED),
                ],
                world.history(plan, 'a'),
            )
        self.assertEqual([('a', 'cancel')] * 3, self.calls.made)

    def test_a_cancel_right_after_a_suspend_is_handled(self) -> None:
        for _ in range(5):
            world, plan = self.in_progress(delay=3600)
            self.signal(world, 'a', states.SUSPEND)
            self.signal(world, 'a', states.CANCEL)
            world.wait_until_ended(plan)
            self.assertEqual(states.CANCELLED, world.action('a').status)

    def test_a_token_may_be_any_json_value(self) -> None:
        for token in (0, '', False, [], {}, 1.5, 'job'):
            world = self.create_world(
                {
                    'external': kind(
                        execute=lambda context, t=token: InProgress(t, 0.0),
                        poll=lambda context, t: Done({'token': t}),
                    )
                }
            )
            world.run(action('a', 'external'))
            self.assertEqual({'token': token}, world.action('a').outputs)


class TestSignalsWithoutAPlan(SignalCase):
    """Actions of the engine lane are signalled like those of plans."""

    def test_a_cancel_and_the_dependent_of_the_cancelled_action(self) -> None:
        world = self.create_world(
            {'sleeps': kind(execute=lambda c: c.sleep(TIMEOUT * 9))}
        )
        world.worker(lanes=(ENGINE,))
        world.add(
            world.new_action('a', 'sleeps'),
            world.new_action('b', status=states.WAITING, pending=1),
        )
        world.wait_for_action('a', states.RUNNING)
        self.signal(world, 'b', states.CANCEL)
        self.signal(world, 'a', states.CANCEL)
        world.wait_for_action('a', states.CANCELLED)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('b', 'WAITING', 'CANCELLED', UNSTARTED),
                ('a', 'RUNNING', 'CANCELLED', CANCELLED),
            ],
            world.history(),
        )
