"""Spec 001, owner: recovery of actions whose worker is lost."""

from typing import Any

from tests.worlds import Calls, Gate, World, WorldCase, action, chain, kind, once, ran
from watcherlite.domain.outcomes import Derived, DerivedAction, Done, InProgress
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

UNKNOWN = (
    'Outcome unknown: worker UUID was lost while the action ran, and its type '
    'cannot tell whether it took effect.'
)
LOST = [('a', 'READY', 'RUNNING', None), ('a', 'RUNNING', 'READY', None)]


class LossCase(WorldCase):
    """A worker dies while it executes an action, and another one replaces it."""

    def kill_worker(
        self, execute: Any = None, on_worker_loss: str = 'resume', **members: Any
    ) -> tuple[World, Any, Gate]:
        """Let a worker die while it executes 'a', the parent of 'b'."""
        gate = self.create_gate()

        def first(context: Any) -> Any:
            if context.attempt == 1:
                return gate()
            return execute(context) if execute else True

        world = self.create_world(
            {'lost': kind(execute=first, **members)}, on_worker_loss
        )
        worker = world.worker()
        plan = world.start(action('a', 'lost'), action('b', parents=['a']))
        gate.wait_until_entered()
        world.kill(worker)
        return world, plan, gate

    def transitions_of_a(self, world: World, plan: Any) -> list[Any]:
        world.wait_until_ended(plan)
        return world.history(plan, 'a')


class TestLostWorker(LossCase):
    """Another worker recovers started actions, as their action type permits."""

    def test_idempotent_actions_run_again(self) -> None:
        # Two workers that recover concurrently recover it once.
        for workers in (1, 2):
            world, plan, _ = self.kill_worker(idempotent=True)
            for _n in range(workers):
                world.worker()
            self.assertEqual([*LOST, *ran('a')], self.transitions_of_a(world, plan))
            self.assertEqual(
                (2, 1), (world.action('a').attempt, world.action('a').recoveries)
            )
            self.assertEqual('SUCCEEDED', world.store.get_plan(plan.uuid).state)

    def test_checkable_actions_are_checked_for_their_effect(self) -> None:
        for applied in (True, False):
            executed: list[int] = []
            world, plan, _ = self.kill_worker(
                execute=lambda c, e=executed: e.append(c.attempt) or True,
                is_applied=lambda context, a=applied: a,
            )
            world.worker()
            self.assertEqual([*LOST, *ran('a')], self.transitions_of_a(world, plan))
            self.assertEqual([] if applied else [2], executed)

    def test_actions_that_cannot_be_checked_fail(self) -> None:
        world, plan, _ = self.kill_worker()
        owner = world.action('a').owner
        world.worker()
        self.assertEqual(
            ran('a', 'FAILED', UNKNOWN), self.transitions_of_a(world, plan)
        )
        self.assertEqual('SUCCEEDED', world.action('b').status)
        self.assertEqual(1, world.action('a').attempt)
        self.assertIn(str(owner), world.action('a').status_message or '')

    def test_an_action_that_kills_its_workers_fails(self) -> None:
        gates = [self.create_gate() for _ in range(3)]
        world = self.create_world(
            {'poison': kind(idempotent=True, execute=lambda c: gates[c.attempt - 1]())},
            max_attempts=2,
        )
        plan = world.start(action('a', 'poison'))
        for attempt in range(2):
            worker = world.worker()
            gates[attempt].wait_until_entered()
            world.kill(worker)
        world.worker()
        world.wait_until_ended(plan)
        self.assertEqual(
            (
                'FAILED',
                'Worker UUID was lost while the action ran; it is not tried again '
                'after 2 lost workers.',
            ),
            world.history(plan, 'a')[-1][2:],
        )

    def test_a_claimed_and_unstarted_action_is_claimed_again(self) -> None:
        # The plan's `on_worker_loss` has no effect on actions that have not started.
        for on_worker_loss in ('resume', 'fail', 'cancel'):
            gate = self.create_gate()
            world = self.create_world(
                {'c': kind(pre_condition=lambda c, g=gate: c.attempt > 1 or g())},
                on_worker_loss,
            )
            worker = world.worker()
            plan = world.start(action('a', 'c'))
            gate.wait_until_entered()
            world.kill(worker)
            world.worker()
            self.assertEqual(ran('a'), self.transitions_of_a(world, plan))
            self.assertEqual('SUCCEEDED', world.store.get_plan(plan.uuid).state)

    def test_polling_of_an_action_in_progress_continues(self) -> None:
        polls: list[Any] = []

        def poll(context: Any, token: Any) -> Any:
            polls.append((context.attempt, token))
            return Done(token)

        world = self.create_world(
            {
                'external': kind(
                    execute=once(InProgress({'job': 7}, 3600.0), 'executed twice'),
                    poll=poll,
                )
            }
        )
        worker = world.worker()
        plan = world.start(action('a', 'external'))
        world.wait_until(lambda: world.action('a').token is not None)
        world.kill(worker)
        world.worker()
        self.assertEqual(ran('a'), self.transitions_of_a(world, plan))
        self.assertEqual([(2, {'job': 7})], polls)

    def test_an_action_with_a_saved_token_is_executed_again_if_permitted(self) -> None:
        gate, attempts = self.create_gate(), list[int]()

        def execute(context: Any) -> Any:
            context.save_token({'job': 7})
            attempts.append(context.attempt)
            return gate() if context.attempt == 1 else True

        world = self.create_world({'saves': kind(execute=execute, idempotent=True)})
        worker = world.worker()
        plan = world.start(action('a', 'saves'))
        gate.wait_until_entered()
        self.assertEqual({'saved': {'job': 7}}, world.action('a').token)
        world.kill(worker)
        world.worker()
        self.assertEqual(ran('a')[-1], self.transitions_of_a(world, plan)[-1])
        self.assertEqual([1, 2], attempts)

    def test_a_suspended_action_in_progress_stays_suspended_until_resume(self) -> None:
        world = self.create_world(
            {
                'external': kind(
                    execute=lambda c: InProgress('job', 3600.0),
                    poll=lambda c, token: Done(),
                    cancel=lambda c, token: None,
                )
            }
        )
        for signal, end in ((states.RESUME, 'SUCCEEDED'), (states.CANCEL, 'CANCELLED')):
            worker = world.worker()
            plan = world.start(action('a', 'external'))
            world.wait_until(lambda: world.action('a').token is not None)
            uuid = world.action('a').uuid
            world.plans.signal_action(uuid, states.SUSPEND)
            world.wait_for_action('a', states.SUSPENDED)
            world.kill(worker)
            # CANCEL is sent while no worker runs, RESUME right after the takeover.
            if signal == states.CANCEL:
                world.plans.signal_action(uuid, signal)
            other = world.worker()
            world.wait_until(
                lambda o=other: world.action('a').owner in (o.record.uuid, None)
            )
            if signal == states.RESUME:
                world.plans.signal_action(uuid, signal)
            world.wait_until_ended(plan)
            self.assertEqual(end, world.action('a').status)
            world.kill(other)

    def test_a_waiting_action_completes_on_another_worker(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {
                'derives': kind(
                    execute=once(Derived((DerivedAction('x', 'nop'),)), 'twice'),
                    complete=lambda c, r: gate() if c.attempt == 2 else True,
                )
            }
        )
        worker = world.worker()
        plan = world.start(action('a', 'derives'))
        gate.wait_until_entered()
        world.kill(worker)
        world.worker()
        world.wait_until_ended(plan)
        self.assertEqual(
            ['RUNNING', 'WAITING', 'RUNNING', 'READY', 'RUNNING', 'SUCCEEDED'],
            [line[2] for line in world.history(plan, 'a')],
        )

    def test_an_action_of_a_missing_type_fails(self) -> None:
        world, plan, _ = self.kill_worker(idempotent=True)
        without = World(world.store)
        self.addCleanup(without.stop)
        without.worker()
        world.wait_until_ended(plan)
        self.assertEqual(
            ran('a', 'FAILED', 'There is no action type lost. Installed: nop.'),
            world.history(plan, 'a'),
        )

    def test_a_plugin_that_raises_in_its_check_fails_only_its_action(self) -> None:
        def ask(inputs: Any) -> bool:
            raise SystemExit('no')

        world, plan, _ = self.kill_worker(is_idempotent=ask)
        world.worker()
        self.assertEqual(
            ran('a', 'FAILED', 'SystemExit'), self.transitions_of_a(world, plan)
        )
        self.assertEqual(plan_states.SUCCEEDED, world.run('still alive').state)

    def test_a_worker_that_cannot_renew_its_lease_stops_itself(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {'slow': kind(execute=lambda c: gate() if c.attempt == 1 else True)},
            lease=2.0,
        )
        worker = world.worker()
        plan = world.start(*chain('a', 'b', action_type='slow'))
        gate.wait_until_entered()
        world.store.end_lease(worker.record.uuid)
        world.wait_until(lambda: worker in world.lost)
        gate.open()
        world.workers.remove(worker)
        world.worker(lease=30.0)
        world.wait_until_ended(plan)
        self.assertEqual(
            [*ran('a', 'FAILED', UNKNOWN.replace('UUID', 'host-0')), *ran('b')],
            world.history(plan, 'a', 'b'),
        )


class TestPlansAndLostWorkers(LossCase):
    """on_worker_loss: resume, fail or cancel."""

    def test_the_failure_option_of_the_plan_applies_to_the_dependents(self) -> None:
        ended_with_it = (
            'Worker UUID was lost while the action ran, and its plan ends in this case.'
        )
        for says, state, a, b, message in (
            ('resume', 'SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED', None),
            ('fail', 'FAILED', 'FAILED', 'CANCELLED', ended_with_it),
            ('cancel', 'CANCELLED', 'CANCELLED', 'CANCELLED', ended_with_it),
        ):
            world, plan, _ = self.kill_worker(on_worker_loss=says, idempotent=True)
            world.worker()
            ended = world.wait_until_ended(plan)
            self.assertEqual(
                (state, 0, {'a': a, 'b': b}, message),
                (
                    ended.state,
                    ended.unfinished,
                    world.statuses(plan),
                    world.history(plan, 'a')[-1][3],
                ),
            )

    def test_external_work_is_stopped_when_the_plan_is_cancelled(self) -> None:
        calls = Calls()
        world = self.create_world(
            {
                'external': kind(
                    execute=lambda c: InProgress('job', 3600.0),
                    cancel=calls.record('cancel'),
                )
            },
            'cancel',
        )
        worker = world.worker()
        plan = world.start(action('a', 'external'))
        world.wait_until(lambda: world.action('a').token is not None)
        world.kill(worker)
        world.worker()
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
        self.assertEqual([('a', 'cancel')], calls.made)
