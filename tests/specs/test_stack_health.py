"""The stack_health strategy, from unhealthy stacks to a plan that repairs them."""

from typing import Any

from tests.functional.execution.test_worker import FailingStore
from tests.specs.test_stacks_in_plans import TWO, PlanWorld
from tests.stack_worlds import TENANT, StackWorldCase, res
from watcherlite.domain.creators import LOCAL
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.model import StackModel
from watcherlite.plugins.planners.graph import Graph
from watcherlite.plugins.strategies.stack_health import StackHealth
from watcherlite.testing import run_strategy


class StackHealthCase(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = PlanWorld(self.make_store())
        self.addCleanup(self.world.stop)
        self.world.worker()

    def model(self) -> StackModel:
        return StackModel(self.world.store)

    def propose(self, **parameters: Any) -> PlanDocument:
        solution = run_strategy(
            StackHealth, parameters, models={'stacks': lambda scope: self.model()}
        )
        return Graph().plan(solution, 'health')

    def execute(self, document: PlanDocument) -> str:
        plan = self.world.plans.create(document, {}, LOCAL)
        self.world.plans.start(plan.uuid)
        return self.world.wait_until_ended(plan).state

    def break_resource(self, stack: Stack, name: str) -> None:
        """Let a physical resource vanish unnoticed."""
        del self.world.external.samples[self.world.ids(stack)[name] or '']


class TestPlan(StackHealthCase):
    def test_marked_and_unhealthy_resources_are_replaced(self) -> None:
        stack = self.world.make(TWO)
        before = self.world.ids(stack)
        self.world.mark(stack, 'a')
        # Locked stacks are omitted.
        self.world.act(stack, 'LOCK')
        self.assertEqual((), self.propose().actions)
        self.world.act(stack, 'UNLOCK')
        self.assertEqual(2, len(self.propose().actions))
        self.break_resource(stack, 'b')

        self.assertEqual('SUCCEEDED', self.execute(self.propose()))

        after = self.world.ids(stack)
        self.assertEqual({'a', 'b'}, {n for n in before if before[n] != after[n]})
        self.assertEqual('UPDATE_COMPLETE', self.world.reload(stack).state.name)
        self.assertEqual((), self.propose().actions)

    def test_a_member_of_a_group_is_repaired_by_its_parent_stack(self) -> None:
        stack = self.world.make({'g': res('Group', count=2)})
        inner = self.world.nested(stack, 'g')
        self.world.mark(inner, 'm1')
        before = self.world.ids(inner)

        self.assertEqual('SUCCEEDED', self.execute(self.propose(check='none')))

        after = self.world.ids(inner)
        self.assertEqual(
            (True, False), (before['m0'] == after['m0'], before['m1'] == after['m1'])
        )


class TestModel(StackHealthCase):
    def test_the_model_has_a_stack_with_its_nested_stacks(self) -> None:
        stack = self.world.make({'a': res(), 'g': res('Group', count=2)}, tags=('x',))
        inner = self.world.nested(stack, 'g')
        self.world.mark(inner, 'm0', reason='it is slow')

        (seen,) = self.model().stacks()

        self.assertEqual(
            (stack.uuid, 's', TENANT, ('x',), 'CREATE_COMPLETE', 4),
            (seen.uuid, seen.name, seen.tenant, seen.tags, seen.state, seen.resources),
        )
        self.assertEqual(
            [(inner.name, 'm0', 'Sample', 'CHECK_FAILED', 'it is slow', True)],
            [
                (bad.stack, bad.name, bad.type, bad.state, bad.reason, bad.marked)
                for bad in seen.unhealthy
            ],
        )
        self.assertEqual(
            (False, False, None), (seen.healthy, seen.failed, seen.blocking_reason)
        )

    def test_a_group_is_unhealthy_by_its_members_or_a_health_mark(self) -> None:
        stack = self.world.make({'g': res('Group', count=2)})
        inner = self.world.nested(stack, 'g')
        self.break_resource(inner, 'm1')
        self.world.act(stack, 'CHECK')
        found = [bad.name for bad in self.model().stacks()[0].unhealthy]
        self.world.mark(stack, 'g')

        self.assertEqual('CHECK_FAILED', self.world.states(stack)['g'])
        self.assertEqual(['m1'], found)
        self.assertEqual(
            ['g', 'm1'], [bad.name for bad in self.model().stacks()[0].unhealthy]
        )

    def test_names_uuids_tags_and_projects_select_stacks(self) -> None:
        one = self.world.make(TWO, name='one', tags=('x', 'y'))
        self.world.make(TWO, name='two', tags=('x',))
        model = self.model()
        for asked, expected in (
            ({}, ['one', 'two']),
            ({'names': ['two']}, ['two']),
            ({'names': [one.uuid, 'unknown']}, ['one']),
            ({'tags': ['x']}, ['one', 'two']),
            ({'tags': ['x', 'y']}, ['one']),
            ({'tenant': 'another'}, []),
            ({'tenant': TENANT}, ['one', 'two']),
        ):
            with self.subTest(asked):
                found = [seen.name for seen in model.stacks(**asked)]
                self.assertEqual(expected, found)

    def test_the_reason_against_a_change_is_in_the_model(self) -> None:
        locked = self.world.make(TWO, name='locked')
        self.world.act(locked, 'LOCK', 'stacks')
        inside = self.world.make({'g': res('Group', count=1)}, name='inside')
        inner = self.world.nested(inside, 'g')
        self.world.act(inner, 'LOCK')
        resting = self.world.make(TWO, name='resting')
        self.world.act(resting, 'SUSPEND')
        gate = self.create_gate_at(self.world, 'check', 'a')
        busy = self.world.make(TWO, name='busy')
        self.world.stacks.start_operation(busy.uuid, TENANT, 'CHECK')
        gate.wait_until_entered()

        found = {seen.name: seen.blocking_reason for seen in self.model().stacks()}
        gate.open()

        self.assertEqual(
            {
                'busy': 'Stack busy is CHECK_IN_PROGRESS',
                'inside': f'Stack {inner.name}, which is part of inside, is locked '
                '(LOCK_COMPLETE, level all)',
                'locked': 'Stack locked is locked (LOCK_COMPLETE, level stacks)',
                'resting': 'Stack resting is SUSPEND_COMPLETE',
            },
            found,
        )

    def test_rows_of_many_stacks_are_read_together(self) -> None:
        for name in 'abc':
            self.world.make(TWO, name=name)
        store: Any = FailingStore(self.world.store)

        found = StackModel(store).stacks()

        self.assertEqual(3, len(found))
        self.assertEqual(['list_stacks', 'list_stacks', 'list_resources'], store.asked)
