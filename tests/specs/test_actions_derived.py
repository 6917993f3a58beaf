"""Spec 001: derived actions."""

from typing import Any

from tests.worlds import Calls, World, WorldCase, action, kind, ran
from watcherlite.api.infra_optim.handlers import events as representations
from watcherlite.cli.state_changes import change_of, change_of_shown
from watcherlite.domain import events
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Cancelled, Derived, DerivedAction, Done, Failed
from watcherlite.notifications.rules import subjects
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


def derived(*keys: str, action_type: str = 'nop', **values: Any) -> Derived:
    """Return independent derived actions."""
    return Derived(tuple(DerivedAction(key, action_type, **values) for key in keys))


class DerivedCase(WorldCase):
    """A world with an action that derives others."""

    def derive(self, outcome: Any, run: bool = True, **hooks: Any) -> tuple[World, Any]:
        """Start a plan with an action 'a' that derives actions, and 'z' after it."""
        self.calls = Calls()
        world = self.create_world(
            {
                'derives': kind(
                    execute=lambda context: outcome, **hooks.pop('parent', {})
                ),
                'fails': kind(execute=lambda context: Failed('no disk')),
                **{name: kind(**members) for name, members in hooks.items()},
            }
        )
        world.worker()
        plan = world.start(action('a', 'derives'), action('z', parents=['a']))
        return world, world.wait_until_ended(plan) if run else plan


class TestDerivedActions(DerivedCase):
    """It waits in WAITING without a thread, and completes when they have ended."""

    def test_an_action_waits_for_derived_actions_and_completes(self) -> None:
        world, plan = self.derive(derived('x', inputs={'n': 1}, timeout=5))
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'WAITING', None),
                *ran('x'),
                *ran('a'),
                *ran('z'),
                ('plan', 'ONGOING', 'SUCCEEDED', None),
            ],
            world.history(plan)[2:],
        )
        self.assertEqual((3, 0), (plan.total, plan.unfinished))
        child = world.action('x')
        self.assertEqual(
            (plan.id, 'applier', world.action('a').id, {'n': 1}, 5, 'Derived Action'),
            (
                child.plan_id,
                child.lane,
                child.derived_from,
                child.inputs,
                child.timeout,
                child.cause,
            ),
        )
        self.assertEqual(
            [(None, 'READY')],
            [
                (e.old_status, e.new_status)
                for e in world.events(plan)
                if e.action_id == child.id and e.kind == 'created'
            ],
        )
        # The API, the notifications and the command line show one start only.
        stored = [
            item
            for item in world.store.list_events(plan_id=plan.id)
            if item.action_name == 'a' and item.event.kind == events.STATE_CHANGED
        ]
        shown = [representations.represent(item) for item in stored]
        outcome = [subjects.match(item.event) for item in stored]
        changes = [change_of(item) for item in stored]
        self.assertEqual(
            [
                ('PENDING', 'ONGOING'),
                ('ONGOING', 'ONGOING'),
                ('ONGOING', 'ONGOING'),
                ('ONGOING', 'SUCCEEDED'),
            ],
            [(item['old_state'], item['new_state']) for item in shown],
        )
        self.assertEqual(
            [
                ['action.update', 'action.execution.start'],
                ['action.update', 'action.execution.end'],
            ],
            [
                [f'action.{each.name}' for each in item.notifications]
                for item in outcome
                if item
            ],
        )
        for how in (changes, [change_of_shown(item) for item in shown]):
            self.assertEqual(
                [('PENDING', 'ONGOING'), ('ONGOING', 'SUCCEEDED')],
                [(change.old, change.new) for change in how if change],
            )

    def test_derived_actions_run_in_the_order_of_their_parents(self) -> None:
        given = (
            DerivedAction('last', 'nop', parents=('left', 'right')),
            DerivedAction('left', 'nop', parents=('first',)),
            DerivedAction('right', 'nop', parents=('first',)),
            DerivedAction('first', 'nop'),
        )
        world, plan = self.derive(Derived(given))
        ends = [line[0] for line in world.history(plan) if line[2] == 'SUCCEEDED']
        self.assertEqual('first', ends[0])
        self.assertEqual(['last', 'a', 'z', 'plan'], ends[3:])

    def test_a_waiting_action_is_ongoing_and_holds_no_thread(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {
                'derives': kind(execute=lambda c: derived('x', action_type='waits')),
                'waits': kind(execute=gate),
            },
            max_parallel=2,
        )
        world.worker()
        plan = world.start(action('a', 'derives'))
        gate.wait_until_entered()
        self.assertEqual(plan_states.SUCCEEDED, world.run('b').state)
        waiting = world.action('a')
        self.assertEqual(
            ('WAITING', 'complete', 'ONGOING', None),
            (waiting.status, waiting.phase, waiting.state, waiting.owner),
        )
        ready = waiting.evolve(status=states.READY)
        self.assertEqual(
            ('ONGOING', 'PENDING'), (ready.state, ready.evolve(phase='run').state)
        )
        gate.open()
        world.wait_until_ended(plan)

    def test_complete_receives_the_results_of_derived_actions(self) -> None:
        outcome: list[Any] = []

        def complete(context: Any, results: Any) -> Done:
            outcome.extend(
                (r.key, r.status, r.status_message, r.outputs) for r in results
            )
            return Done({'count': len(results)})

        world, _ = self.derive(
            Derived((DerivedAction('x', 'says'), DerivedAction('y', 'fails'))),
            parent={'complete': complete},
            says={'execute': lambda context: Done({'ip': '10.0.0.1'})},
        )
        self.assertEqual(
            [
                ('x', 'SUCCEEDED', None, {'ip': '10.0.0.1'}),
                ('y', 'FAILED', 'Action failed in execute: no disk', None),
            ],
            sorted(outcome),
        )
        self.assertEqual({'count': 2}, world.action('a').outputs)
        self.assertEqual(states.SUCCEEDED, world.action('a').status)

    def test_a_failed_derived_action_fails_an_action_without_complete(self) -> None:
        world, plan = self.derive(derived('x', 'y', action_type='fails'))
        self.assertEqual(
            'Action failed in execute: derived actions failed: x (Action failed in '
            'execute: no disk), y (Action failed in execute: no disk)',
            world.action('a').status_message,
        )
        self.assertEqual(plan_states.FAILED, plan.state)

    def test_a_cancelled_derived_action_cancels_an_action_without_complete(
        self,
    ) -> None:
        world, _ = self.derive(
            derived('x', action_type='stops'),
            stops={'execute': lambda context: Cancelled('by itself')},
        )
        ended = world.action('a')
        self.assertEqual(
            ('CANCELLED', 'A derived action was cancelled.'),
            (ended.status, ended.status_message),
        )

    def test_a_dependent_on_the_success_of_a_failed_action_is_cancelled(self) -> None:
        given = (
            DerivedAction('x', 'fails'),
            DerivedAction('y', 'nop', parents=('x',)),
            DerivedAction('w', 'nop', parents=('y',)),
            DerivedAction('anyway', 'nop', parents=('x',), needs='completion'),
        )
        world, plan = self.derive(Derived(given))
        self.assertEqual(
            {
                'a': 'FAILED',
                'x': 'FAILED',
                'y': 'CANCELLED',
                'w': 'CANCELLED',
                'anyway': 'SUCCEEDED',
                'z': 'SUCCEEDED',
            },
            world.statuses(plan),
        )
        message = 'Not started: an action that it depends on did not succeed.'
        self.assertEqual(
            [('y', 'WAITING', 'CANCELLED', message)], world.history(plan, 'y')
        )
        self.assertEqual(0, plan.unfinished)

    def test_an_empty_derivation_completes_immediately(self) -> None:
        world, plan = self.derive(Derived(()))
        self.assertEqual(ran('a'), world.history(plan, 'a'))

    def test_derived_actions_and_complete_may_derive_actions(self) -> None:
        stages = iter([derived('second'), None])
        world, plan = self.derive(
            derived('x', action_type='deeper'),
            parent={'complete': lambda c, results: next(stages)},
            deeper={
                'execute': lambda c: derived('y', action_type='deepest'),
                'complete': lambda c, results: Done({'of': [r.key for r in results]}),
            },
            deepest={'execute': lambda c: derived('w')},
        )
        self.assertEqual(
            ['w', 'y', 'x', 'second', 'a', 'z', 'plan'],
            [line[0] for line in world.history(plan) if line[2] == 'SUCCEEDED'],
        )
        self.assertEqual({'of': ['y']}, world.action('x').outputs)
        self.assertEqual(states.SUCCEEDED, world.action('a').status)

    def test_an_invalid_derivation_fails_the_action(self) -> None:
        ring = (
            DerivedAction('x', 'nop', parents=('y',)),
            DerivedAction('y', 'nop', parents=('x',)),
        )
        for invalid, reason in (
            (Derived(ring), 'has actions that wait for each other: x, y'),
            (derived('x', 'x'), 'has two actions with one key'),
            (derived('x', inputs={'a': {1}}), 'has an action x whose inputs are not '
             'JSON: a: this is a set, which JSON does not have'),
            (Derived(('x',)), 'has text instead of a DerivedAction'),
        ):  # fmt: skip
            world, plan = self.derive(invalid)
            self.assertEqual(
                [
                    *ran(
                        'a', 'FAILED', f'Action failed in execute: its Derived {reason}'
                    ),
                    *ran('z'),
                ],
                world.history(plan, 'a', 'z'),
            )

    def test_a_derived_action_of_an_unknown_type_fails_and_is_reported(self) -> None:
        world, _ = self.derive(derived('x', action_type='nothing'))
        self.assertEqual(states.FAILED, world.action('a').status)
        self.assertIn('There is no action type nothing', str(world.action('x')))


class TestCancel(DerivedCase):
    """CANCEL reaches all derived actions; none continues."""

    def start_waiting(self) -> tuple[World, Any]:
        given = (
            DerivedAction('sleeps', 'sleeps'),
            DerivedAction('deep', 'deep'),
            DerivedAction('later', 'nop', parents=('sleeps',)),
            DerivedAction('last', 'nop', parents=('later', 'deep')),
        )
        world, plan = self.derive(
            Derived(given),
            run=False,
            sleeps={'execute': lambda context: context.sleep(3600)},
            deep={'execute': lambda c: derived('deeper', action_type='sleeps')},
        )
        world.wait_for_action('sleeps', states.RUNNING)
        world.wait_for_action('deeper', states.RUNNING)
        return world, plan

    def assert_over(self, world: World, plan: Any, z: str) -> None:
        ended = world.wait_until_ended(plan)
        self.assertEqual((0, 0), (ended.unfinished, ended.active))
        self.assertEqual(
            {
                **dict.fromkeys(('a', 'sleeps', 'deep', 'deeper'), 'CANCELLED'),
                **dict.fromkeys(('later', 'last'), 'CANCELLED'),
                'z': z,
            },
            world.statuses(plan),
        )
        self.assertEqual(
            'Action was cancelled while it ran.', world.action('a').status_message
        )

    def test_a_cancel_of_the_action_reaches_all_derived_actions(self) -> None:
        # A cancelled derived action also cancels those that need its success.
        for first in (None, 'later'):
            world, plan = self.start_waiting()
            if first is not None:
                world.plans.signal_action(world.action(first).uuid, states.CANCEL)
                self.assertEqual(states.CANCELLED, world.action('last').status)
            world.plans.signal_action(world.action('a').uuid, states.CANCEL)
            self.assert_over(world, plan, z='SUCCEEDED')
            self.assertEqual(
                ['a', 'deep', 'deeper', 'sleeps'],
                sorted(name for name, _ in world.signals(plan)),
            )

    def test_a_cancel_of_the_plan_reaches_all_derived_actions(self) -> None:
        world, plan = self.start_waiting()
        world.plans.cancel(plan.uuid)
        self.assert_over(world, plan, z='CANCELLED')
        self.assertEqual(plan_states.CANCELLED, world.store.get_plan(plan.uuid).state)

    def test_a_stopped_plan_ends_an_action_that_waits_for_derived_actions(self) -> None:
        gate = self.create_gate(Failed('no disk'))
        world = self.create_world(
            {
                'derives': kind(
                    execute=lambda c: Derived(
                        (
                            DerivedAction('x', 'fails'),
                            DerivedAction(
                                'y', 'nop', parents=('x',), needs='completion'
                            ),
                        )
                    )
                ),
                'fails': kind(execute=gate),
            }
        )
        world.worker()
        plan = world.start(action('a', 'derives'), on_failure='stop')
        gate.wait_until_entered()
        gate.open()
        ended = world.wait_until_ended(plan)
        self.assertEqual(plan_states.FAILED, ended.state)
        self.assertEqual(
            {'a': 'CANCELLED', 'x': 'FAILED', 'y': 'CANCELLED'}, world.statuses(plan)
        )


class TestRepeatedActions(DerivedCase):
    """Each run completes with the actions that it derived itself."""

    def test_a_run_does_not_see_derived_actions_of_earlier_runs(self) -> None:
        outcome: list[int] = []
        ends = iter([Failed('no'), True])
        world = self.create_world(
            {
                'derives': kind(
                    execute=lambda c: derived('x', action_type='ends'),
                    complete=lambda c, results: outcome.append(len(results)),
                ),
                'ends': kind(execute=lambda c: next(ends, True)),
            }
        )
        world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives', interval=1))
        world.wait_until(lambda: len(outcome) >= 2)
        self.assertEqual([1, 1], outcome[:2])
