"""The planner `node_resource_consolidation`."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import loader


class NodeResourceConsolidationTest(base.TestCase):
    """The parents of actions."""

    def plan(self, solution: Solution) -> dict[str, tuple[str, ...]]:
        planner = loader.load().make_planner('node_resource_consolidation')
        plan = planner.plan(solution, 'x')
        self.assertEqual(
            ('x', {action.name for action in solution.actions}),
            (plan.name, {action.name for action in plan.actions}),
        )
        return {action.name: action.parents for action in plan.actions}

    def solve(self, *actions: tuple[str, str]) -> Solution:
        """Return a solution: names with the source node or the state of a service."""
        solution = Solution()
        for name, value in actions:
            if name.startswith('m'):
                solution.add_action('migrate', {'source_node': value}, name=name)
            else:
                inputs = {'state': value}
                solution.add_action('change_nova_service_state', inputs, name=name)
        return solution

    def test_services_are_disabled_before_all_migrations_and_enabled_after(
        self,
    ) -> None:
        solution = self.solve(
            ('m1', 'a'),
            ('on', 'enabled'),
            ('off1', 'disabled'),
            ('m2', 'b'),
            ('m3', 'a'),
            ('off2', 'disabled'),
        )

        self.assertEqual(
            {
                'off1': (),
                'off2': (),
                'm1': ('off1', 'off2'),
                'm3': ('m1',),
                'm2': ('off1', 'off2'),
                'on': ('m3', 'm2'),
            },
            self.plan(solution),
        )

    def test_without_migrations_services_are_enabled_last(self) -> None:
        solution = self.solve(('on', 'enabled'), ('off', 'disabled'))

        self.assertEqual({'off': (), 'on': ('off',)}, self.plan(solution))
        self.assertEqual({}, self.plan(Solution()))

    def test_other_types_are_named(self) -> None:
        solution = Solution()
        solution.add_action('nop', {'message': 'x'})

        with self.assertRaisesRegex(exceptions.Invalid, 'plans no nop, but only'):
            self.plan(solution)
