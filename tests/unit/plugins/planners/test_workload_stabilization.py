"""The planner `workload_stabilization`."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import loader


class WorkloadStabilizationTest(base.TestCase):
    """The parents of actions."""

    def plan(self, *actions: tuple[str, str | None]) -> dict[str, tuple[str, ...]]:
        solution = Solution()
        for at, (kind, resource) in enumerate(actions):
            solution.add_action(kind, {'n': at}, resource, name=f'{kind}{at}')
        planner = loader.load().make_planner('workload_stabilization')
        plan = planner.plan(solution, 'x')
        self.assertEqual('x', plan.name)
        return {action.name: action.parents for action in plan.actions}

    def test_a_server_is_resized_after_its_migration(self) -> None:
        self.assertEqual(
            {
                'nop3': (),
                'migrate1': (),
                'migrate2': (),
                'resize0': ('migrate1',),
                'resize4': ('resize0',),
            },
            self.plan(
                ('resize', 'a'),
                ('migrate', 'a'),
                ('migrate', 'b'),
                ('nop', None),
                ('resize', 'a'),
            ),
        )

    def test_types_without_a_weight_are_named(self) -> None:
        with self.assertRaisesRegex(
            exceptions.Invalid,
            r'no weight for the action type stop; add it to weights in '
            r'\[watcherlite\.planners\.workload_stabilization\]',
        ):
            self.plan(('stop', 'a'), ('nop', None))
