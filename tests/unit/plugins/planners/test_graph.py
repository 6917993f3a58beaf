"""The planner `graph`, which keeps the graph of the strategy."""

from hypothesis import given
from hypothesis import strategies as some

from tests import base
from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins.planners.graph import Graph


class GraphTest(base.TestCase):
    """Order and parents."""

    def test_everything_of_an_action_is_kept(self) -> None:
        solution = Solution()
        solution.add_action('nop', {'n': 1}, name='a')
        solution.add_action(
            'sleep', {'n': 2}, name='b', parents=['a'], target='x', timeout=7
        )
        plan = Graph().plan(solution, 'nightly')
        self.assertEqual('nightly', plan.name)
        self.assertEqual(
            [
                ('a', 'nop', {'n': 1}, (), None, 0),
                ('b', 'sleep', {'n': 2}, ('a',), 'x', 7),
            ],
            [
                (
                    a.name,
                    a.action_type,
                    a.input_parameters,
                    a.parents,
                    a.target,
                    a.timeout,
                )
                for a in plan.actions
            ],
        )

    def test_a_missing_parent_is_named(self) -> None:
        solution = Solution()
        solution.add_action('nop', name='a', parents=['b'])
        error = self.assertRaises(exceptions.Invalid, Graph().plan, solution)
        self.assertEqual(
            'The action a has the parent b, and no action of the solution has that '
            'name',
            str(error),
        )

    def test_a_cycle_is_named(self) -> None:
        solution = Solution()
        for name, parent in (('a', 'b'), ('b', 'c'), ('c', 'a')):
            solution.add_action('nop', name=name, parents=[parent])
        error = self.assertRaises(exceptions.Invalid, Graph().plan, solution)
        self.assertIn('wait for each other: ', str(error))

    @given(some.data())
    def test_any_order_without_a_cycle_is_kept(self, data: some.DataObject) -> None:
        count = data.draw(some.integers(0, 12))
        solution = Solution()
        desired = []
        for at in range(count):
            parents = data.draw(some.sets(some.integers(0, at - 1))) if at else set()
            names = tuple(str(parent) for parent in sorted(parents))
            solution.add_action('nop', name=str(at), parents=names)
            desired.append((str(at), names))
        plan = Graph().plan(solution)
        self.assertEqual(desired, [(a.name, a.parents) for a in plan.actions])
        self.assertEqual(count, len(plan.topological_order()))
