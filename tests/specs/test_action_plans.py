"""Plan rules: start, failures, cancellation and end of a plan."""

import threading
from typing import Any

from tests.specs.plan_case import PlanCase, outcome
from tests.worlds import Calls, action, chain, kind
from watcherlite.domain.outcomes import InProgress
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

UNSTARTED = 'Action was cancelled before it started.'
STOPPED = 'Action was not started because another action of its plan failed.'
CANCELLED = 'Action was cancelled while it ran.'


class TestStart(PlanCase):
    """A plan is started once; a finished plan does not run again."""

    def test_a_repeated_or_forged_start_or_launch_changes_nothing(self) -> None:
        plan = self.world.create(action('a', 'does'))
        states_told = [self.world.plans.start(plan.uuid).state for _ in range(2)]
        worker = self.world.worker()
        self.world.wait_until_ended(plan)
        self.assertEqual(['PENDING', 'PENDING'], states_told)
        recommended = self.world.create(action('b', 'does'))
        for uuid in (plan.uuid, recommended.uuid, 'invalid'):
            worker.discovery.check_plan(uuid)
        self.world.run(action('c', 'does'))
        self.assertEqual(['a', 'c'], self.calls.of('execute'))
        self.assertEqual(
            ['PENDING', 'ONGOING', 'SUCCEEDED'],
            [line[2] for line in self.world.history(plan, 'plan')],
        )


class TestMaxParallel(PlanCase):
    """The maximum number of actions that run concurrently."""

    def most(self, limit: int, *actions: Any, workers: int = 1) -> int:
        lock, now, most = threading.Lock(), [0], [0]

        def execute(context: Any) -> bool:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            context.sleep(0.001)
            with lock:
                now[0] -= 1
            return True

        world = self.create_world({'watched': kind(execute=execute)})
        for _ in range(workers):
            world.worker()
        plan = world.run(*actions, max_parallel=limit)
        self.assertEqual(plan_states.SUCCEEDED, plan.state)
        return most[0]

    def test_max_parallel_is_never_exceeded(self) -> None:
        actions = [action(f'a{n}', 'watched') for n in range(30)]
        self.assertEqual(1, self.most(1, *actions))
        self.assertLessEqual(self.most(3, *actions, workers=2), 3)
        # Dependents, which start when another action ends, do not exceed it either.
        chains = [
            action(f'{c}{n}', 'watched', parents=[f'{c}{n - 1}'] if n else [])
            for c in 'abcd'
            for n in range(12)
        ]
        self.assertLessEqual(self.most(2, *chains), 2)
        self.assertLessEqual(self.most(3, *chains, workers=2), 3)


class TestOnFailureContinue(PlanCase):
    """The other actions continue; the plan is FAILED at the end."""

    def test_a_plan_continues_and_reports_its_failures(self) -> None:
        plan = self.world.run(
            action('a', 'fails'), action('b', 'does', parents=['a']), max_parallel=1
        )
        self.assertEqual(['a', 'b'], self.calls.of('execute'))
        self.assertEqual(('FAILED', 'An action failed: no disk'), outcome(plan))
        plan = self.world.run(action('c', 'fails'), action('d', 'fails'))
        self.assertEqual(('FAILED', '2 actions failed: no disk'), outcome(plan))
        assert plan.fault is not None
        self.assertEqual('no disk', plan.fault['message'])

    def test_cancelled_actions_do_not_fail_the_plan(self) -> None:
        world = self.create_world({'stops': kind(execute=lambda c: ('CANCEL', ''))})
        self.assertEqual('SUCCEEDED', world.run(action('a', 'stops')).state)


class TestOnFailureStop(PlanCase):
    """Actions that have not started are cancelled."""

    def test_running_actions_finish_and_the_rest_is_cancelled(self) -> None:
        self.world.worker()
        plan = self.world.start(
            action('runs', 'waits'),
            action('fails', 'fails'),
            action('next', 'does', parents=['fails']),
            action('after', 'does', parents=['runs']),
            on_failure='stop',
        )
        self.gate.wait_until_entered()
        self.world.wait_for_action('after', states.CANCELLED)
        self.gate.open()
        ended = self.world.wait_until_ended(plan)
        self.assertEqual(('FAILED', 'An action failed: no disk'), outcome(ended))
        self.assertEqual(
            {
                'runs': 'SUCCEEDED',
                'fails': 'FAILED',
                'next': 'CANCELLED',
                'after': 'CANCELLED',
            },
            self.world.statuses(plan),
        )
        for name in ('next', 'after'):
            self.assertEqual(STOPPED, self.world.action(name).status_message)
        self.assertEqual(['fails'], self.calls.of('execute'))

    def test_any_number_of_actions_is_cancelled_after_a_failure(self) -> None:
        plan = self.world.run(
            action('fails', 'fails'),
            *(action(f'a{n}', 'does', parents=['fails']) for n in range(1200)),
            on_failure='stop',
        )
        self.assertEqual((1201, 0, 0), (plan.total, plan.unfinished, plan.active))
        self.assertEqual(
            {'FAILED': 1, 'CANCELLED': 1200}, self.world.store.count_actions(plan.id)
        )


class TestCancel(PlanCase):
    """Actions that have not started become CANCELLED; running ones are signalled."""

    def test_a_running_plan_is_cancelling_until_its_last_action_has_ended(self) -> None:
        self.world.worker()
        plan = self.world.start(
            *(action('cooperative', 'sleeps'), action('suspended', 'sleeps')),
            action('unresponsive', 'waits'),
            action('next', 'does', parents=['unresponsive']),
        )
        self.gate.wait_until_entered()
        for name in ('cooperative', 'suspended'):
            self.world.wait_for_action(name, states.RUNNING)
        self.world.plans.signal_action(
            self.world.action('suspended').uuid, states.SUSPEND
        )
        self.world.wait_for_action('suspended', states.SUSPENDED)
        self.world.plans.cancel(plan.uuid)
        self.world.wait_for_action('cooperative', states.CANCELLED)
        self.world.wait_for_action('next', states.CANCELLED)
        self.assertEqual(
            plan_states.CANCELLING, self.world.store.get_plan(plan.uuid).state
        )
        self.gate.open()
        self.world.wait_until_ended(plan)
        self.assertEqual(
            [
                ('cooperative', 'RUNNING', 'CANCELLED', CANCELLED),
                ('next', 'INIT', 'CANCELLED', UNSTARTED),
                ('suspended', 'SUSPENDED', 'CANCELLED', CANCELLED),
            ],
            sorted(
                line
                for line in self.world.history(plan, 'cooperative', 'next', 'suspended')
                if line[2] == 'CANCELLED'
            ),
        )
        self.assertEqual(
            ['PENDING', 'ONGOING', 'CANCELLING', 'CANCELLED'],
            [line[2] for line in self.world.history(plan, 'plan')],
        )
        self.assertEqual('SUCCEEDED', self.world.action('unresponsive').status)
        self.assertEqual(
            [
                ('cooperative', 'CANCEL'),
                ('suspended', 'CANCEL'),
                ('suspended', 'SUSPEND'),
                ('unresponsive', 'CANCEL'),
            ],
            sorted(self.world.signals(plan)),
        )

    def test_a_claimed_and_unstarted_action_never_starts(self) -> None:
        gate = self.create_gate()
        executed: list[Any] = []
        world = self.create_world(
            {'checks': kind(pre_condition=gate, execute=executed.append)}
        )
        worker = world.worker()
        plan = world.start(action('a', 'checks'), action('b', 'checks'))
        gate.wait_until_entered(2)
        world.plans.cancel(plan.uuid)
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
        gate.open()
        world.wait_until(lambda: not worker.dispatcher.owned)
        self.assertEqual([], executed)
        self.assertEqual(
            [
                ('a', 'READY', 'CANCELLED', UNSTARTED),
                ('b', 'READY', 'CANCELLED', UNSTARTED),
            ],
            sorted(world.history(plan, 'a', 'b')),
        )

    def test_external_work_of_actions_in_progress_is_stopped(self) -> None:
        calls = Calls()
        world = self.create_world(
            {
                'external': kind(
                    execute=lambda c: InProgress('job', 3600.0),
                    cancel=calls.record('cancel'),
                )
            }
        )
        world.worker()
        plan = world.start(*(action(f'a{n}', 'external') for n in range(20)))
        world.wait_until(
            lambda: all(world.action(f'a{n}').token is not None for n in range(20))
        )
        world.plans.cancel(plan.uuid)
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
        self.assertEqual(20, len(calls.of('cancel')))

    def test_any_number_of_unstarted_actions_is_cancelled(self) -> None:
        self.world.worker()
        plan = self.world.start(
            action('first', 'waits'),
            *(action(f'a{n}', parents=['first']) for n in range(1200)),
        )
        self.gate.wait_until_entered()
        self.world.plans.cancel(plan.uuid)
        self.gate.open()
        ended = self.world.wait_until_ended(plan)
        self.assertEqual((0, 0), (ended.unfinished, ended.active))

    def test_a_cancelled_plan_ends_when_its_worker_dies(self) -> None:
        for members in ({}, {'idempotent': True}, {'is_applied': lambda c: False}):
            gate = self.create_gate()
            world = self.create_world({'lost': kind(execute=gate, **members)})
            worker = world.worker()
            plan = world.start(*chain('a', 'b', action_type='lost'))
            gate.wait_until_entered()
            world.plans.cancel(plan.uuid)
            world.kill(worker)
            world.worker()
            ended = world.wait_until_ended(plan)
            self.assertEqual(
                (plan_states.CANCELLED, 0), (ended.state, ended.unfinished)
            )

    def test_a_plan_that_is_cancelled_without_a_worker_ends(self) -> None:
        world = self.create_world(
            {'lost': kind(execute=lambda c: InProgress('j', 9.0))}
        )
        worker = world.worker()
        plan = world.start(action('a', 'lost'), action('b', parents=['a']))
        world.wait_until(lambda: world.action('a').token is not None)
        world.kill(worker)
        self.assertEqual('CANCELLING', world.plans.cancel(plan.uuid).state)
        world.worker()
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
