"""Spec 001: actions, their properties, statuses and return values.

The modules `test_actions_*` cover the other paragraphs.
"""

import datetime
from typing import Any

from tests.worlds import Calls, WorldCase, action, kind, raises, ran
from watcherlite.clock import EPOCH
from watcherlite.domain.actions import ENGINE, Edge
from watcherlite.domain.outcomes import (
    Cancelled,
    Derived,
    DerivedAction,
    Done,
    Failed,
    InProgress,
    Retry,
    TimedOut,
)
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states


class TestActionProperties(WorldCase):
    """The fields of an action after its creation and during its life."""

    def test_a_created_action_has_all_properties(self) -> None:
        world = self.create_world()
        plan = world.create(
            action('first'),
            action(
                'second',
                input_parameters={'message': 'hello'},
                parents=['first'],
                target='host-7',
                timeout=30,
            ),
        )
        first, second = world.action('first'), world.action('second')
        expected = {
            'name': 'second',
            'action_type': 'nop',
            'plan_id': plan.id,
            'target': 'host-7',
            'cause': 'RPC Request',
            'context': {'user': 'a test', 'creator': {'everywhere': True}},
            'owner': None,
            'interval': 0,
            'start_time': None,
            'end_time': None,
            'timeout': 30,
            'status': 'INIT',
            'status_message': None,
            'control': None,
            'inputs': {'message': 'hello'},
            'outputs': None,
            'data': {},
            'parents': (first.uuid,),
            'not_before': EPOCH,
            'attempt': 0,
        }
        self.assertEqual(expected, {name: getattr(second, name) for name in expected})
        self.assertIsInstance(second.created_at, datetime.datetime)
        self.assertEqual([second.uuid], world.store.depended_by(first.id))
        self.assertEqual([first.uuid], world.store.depends_on(second.id))

    def test_a_running_action_has_an_owner_and_a_start_and_then_an_end(self) -> None:
        gate = self.create_gate(Done({'ip': '10.0.0.1'}))
        world = self.create_world({'waits': kind(execute=gate)})
        worker = world.worker()
        plan = world.start(action('a', 'waits'))
        gate.wait_until_entered()
        running = world.action('a')
        gate.open()
        world.wait_until_ended(plan)
        ended = world.action('a')

        self.assertEqual(
            (worker.record.uuid, 'RUNNING', 1, None),
            (running.owner, running.status, running.attempt, running.end_time),
        )
        self.assertEqual(
            (None, 'SUCCEEDED', 1, {'ip': '10.0.0.1'}),
            (ended.owner, ended.status, ended.attempt, ended.outputs),
        )
        self.assertEqual(running.start_time, ended.start_time)
        assert ended.start_time and ended.end_time
        self.assertLessEqual(ended.start_time, ended.end_time)

    def test_a_plugin_receives_the_permitted_properties(self) -> None:
        seen: list[Any] = []
        world = self.create_world(
            {'looks': kind(execute=lambda c: seen.append(c) or True)}
        )
        plan = world.run(
            action('a', 'looks', target='host-7', input_parameters={'n': 1}, timeout=60)
        )
        (context,) = seen
        self.assertEqual(
            (world.action('a').uuid, 'a', plan.uuid, 'host-7', 1, {'n': 1}, {}),
            (
                context.uuid,
                context.name,
                context.plan_uuid,
                context.target,
                context.attempt,
                context.inputs,
                context.data,
            ),
        )
        start = world.action('a').start_time
        assert start is not None
        self.assertAlmostEqual(60, (context.deadline - start).total_seconds(), delta=5)


class TestActionStatuses(WorldCase):
    """The statuses of an action during its lifetime."""

    def test_an_action_waits_until_all_its_parents_have_ended(self) -> None:
        gates = {name: self.create_gate() for name in 'ab'}
        world = self.create_world(
            {name: kind(execute=gate) for name, gate in gates.items()}
        )
        world.worker()
        plan = world.start(
            action('a', 'a'), action('b', 'b'), action('c', parents=['a', 'b'])
        )
        for gate in gates.values():
            gate.wait_until_entered()
        self.assertEqual((states.INIT, 2), self.status_of_c(world))
        gates['a'].open()
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertEqual((states.INIT, 1), self.status_of_c(world))
        gates['b'].open()
        world.wait_until_ended(plan)
        self.assertEqual((states.SUCCEEDED, 0), self.status_of_c(world))
        self.assertEqual(ran('c'), world.history(plan, 'c'))

    def status_of_c(self, world: Any) -> tuple[str, int]:
        found = world.action('c')
        return found.status, found.pending

    def test_ready_actions_without_a_plan_are_claimed_by_workers_of_their_lane(
        self,
    ) -> None:
        world = self.create_world()
        world.worker(lanes=('applier',))
        world.add(world.new_action('a'))
        world.run('b')
        self.assertEqual(states.READY, world.action('a').status)
        world.worker(lanes=('engine',))
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertEqual(ran('a'), world.history(None, 'a'))

    def test_three_statuses_are_final(self) -> None:
        self.assertEqual(
            {'SUCCEEDED', 'FAILED', 'CANCELLED', 'SKIPPED'}, set(states.FINAL)
        )


class TestExecuteAndReturnValues(WorldCase):
    """The protocol of execute(): (RES, REASON), and its equivalents in watcherlite."""

    def run_until_end(self, *returned: Any) -> tuple[str, str | None]:
        """Run an action whose execute returns these values, one at each attempt."""
        answers = iter(returned)
        world = self.create_world({'says': kind(execute=lambda context: next(answers))})
        world.run(action('a', 'says'))
        ended = world.action('a')
        return ended.status, ended.status_message

    def test_the_outcome_determines_the_status_and_its_message(self) -> None:
        cancelled = 'Action was cancelled while it ran.'
        for status, message, outcome in (
            *(
                ('SUCCEEDED', None, ok)
                for ok in (('OK', 'done'), ('OK', ''), ('OK', None), True, Done())
            ),
            ('SUCCEEDED', None, Done({})),
            ('FAILED', 'no quota', ('ERROR', 'no quota')),
            ('FAILED', 'no quota', Failed('no quota')),
            ('FAILED', 'no answer', ('TIMEOUT', 'no answer')),
            ('FAILED', 'it ran longer than its timeout', TimedOut()),
            ('CANCELLED', 'requested', ('CANCEL', 'requested')),
            ('CANCELLED', cancelled, Cancelled()),
            *(
                ('FAILED', f'execute returned {what}', other)
                for other, what in (
                    (None, 'None, not True'),
                    (False, 'False, not True'),
                    ('OK', 'a str, which is not an outcome'),
                    (('FINE', 'thanks'), 'a tuple, which is not an outcome'),
                    (1, 'a int, which is not an outcome'),
                )
            ),
        ):
            failed = 'Action failed in execute: ' if status == 'FAILED' else ''
            self.assertEqual(
                (status, f'{failed}{message}' if message else None),
                self.run_until_end(outcome),
            )

    def test_the_reason_of_ok_is_an_output(self) -> None:
        world = self.create_world({'says': kind(execute=lambda c: ('OK', 'all moved'))})
        world.run(action('a', 'says'))
        self.assertEqual({'reason': 'all moved'}, world.action('a').outputs)

    def test_an_action_is_ready_after_retry_for_any_worker(self) -> None:
        for again in (('RETRY', 'it is locked'), Retry('it is locked', 0.01)):
            answers = iter([again, True])
            world = self.create_world(
                {'says': kind(execute=lambda c, a=answers: next(a))}
            )
            plan = world.run(action('a', 'says'))
            self.assertEqual(
                [*ran('a', 'READY', 'it is locked'), *ran('a')],
                world.history(plan, 'a'),
            )
            self.assertEqual(2, world.action('a').attempt)

    def test_an_exception_fails_the_action_without_its_text(self) -> None:
        for error, shown in (
            (ValueError('password=hunter2'), 'ValueError'),
            (SystemExit(3), 'SystemExit'),
            (KeyboardInterrupt(), 'KeyboardInterrupt'),
            (GeneratorExit(), 'GeneratorExit'),
        ):
            world = self.create_world({'raises': kind(execute=raises(error))})
            plan = world.run(action('a', 'raises'), action('b', parents=['a']))
            self.assertEqual(
                [*ran('a', 'FAILED', f'Action failed in execute: {shown}'), *ran('b')],
                world.history(plan, 'a', 'b'),
            )

    def test_an_invalid_outcome_fails_its_action_only(self) -> None:
        seconds = 'it must be a number of seconds, at least 0'
        invalid_parent = DerivedAction('a', 'nop', parents=('b',))
        for outcome, reason in (
            (
                Done({'when': {1, 2}}),
                'Done has outputs that are not JSON: when: this is a set, which JSON '
                'does not have',
            ),
            (Done([1]), 'Done has outputs that are a list, not a mapping'),
            (Failed(7), 'Failed has a reason that is a number, not text'),
            (Retry('x', 'soon'), f'Retry has a delay of text; {seconds}'),
            (Retry('x', float('nan')), f'Retry has a delay of nan; {seconds}'),
            (InProgress(None), 'InProgress has no token; poll is called with it'),
            (
                Derived((invalid_parent,)),
                'Derived has an action a with a parent b that does not exist',
            ),
        ):
            self.assertEqual(
                ('FAILED', f'Action failed in execute: its {reason}'),
                self.run_until_end(outcome),
            )


class TestDependsOnAndDependedBy(WorldCase):
    """The end of an action notifies its dependents."""

    def run_pair(self, end: Any, needs: str, cause: str) -> dict[str | None, str]:
        world = self.create_world({'ends': kind(execute=lambda context: end)})
        world.worker(lanes=(ENGINE,))
        parent = world.new_action('parent', 'ends', dependents=1, cause=cause)
        child = world.new_action(
            'child', status=states.WAITING, pending=1, cause=cause, dependents=1
        )
        grandchild = world.new_action(
            'grandchild', status=states.WAITING, pending=1, cause=cause
        )
        world.add(
            parent,
            child,
            grandchild,
            edges=[
                Edge(parent.uuid, child.uuid, needs),
                Edge(child.uuid, grandchild.uuid, needs),
            ],
        )
        world.wait_for_action('grandchild', *states.FINAL)
        return world.statuses()

    def test_a_dependent_starts_if_its_condition_is_met_or_is_cancelled(self) -> None:
        for end, needs, cause, ended in (
            (True, 'success', states.DERIVED_ACTION, ('SUCCEEDED', 'SUCCEEDED')),
            (False, 'success', states.DERIVED_ACTION, ('FAILED', 'CANCELLED')),
            (False, 'completion', states.RPC_REQUEST, ('FAILED', 'SUCCEEDED')),
            (Cancelled(), 'completion', states.RPC_REQUEST, ('CANCELLED', 'SUCCEEDED')),
        ):
            parent, others = ended
            self.assertEqual(
                {'parent': parent, 'child': others, 'grandchild': others},
                self.run_pair(end, needs, cause),
            )

    def test_parents_in_a_plan_order_by_completion(self) -> None:
        calls = Calls()
        world = self.create_world(
            {
                'fails': kind(execute=calls.record('execute', raises(OSError))),
                'does': kind(execute=calls.record('execute', True)),
            }
        )
        plan = world.run(
            action('d', 'does', parents=['b', 'c']),
            action('b', 'does', parents=['a']),
            action('c', 'does', parents=['a']),
            action('a', 'fails'),
        )
        order = calls.of('execute')
        self.assertEqual(['a', 'd'], [order[0], order[-1]])
        self.assertEqual(plan_states.FAILED, plan.state)
        self.assertEqual(
            {'a': 'FAILED', 'b': 'SUCCEEDED', 'c': 'SUCCEEDED', 'd': 'SUCCEEDED'},
            world.statuses(plan),
        )
