"""The strategies of watcherlite."""

from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import loader
from watcherlite.plugins.base import STRATEGIES
from watcherlite.plugins.scoring_engines.dummy import WORKLOADS
from watcherlite.plugins.strategies import dummy_with_resize


class Context:
    """The requirements of the strategies."""

    audit_uuid = '00000000-0000-4000-8000-000000000001'
    audit_name = 'x'
    goal = 'dummy'
    scope = ()

    def __init__(self, parameters: dict[str, Any], plugins: loader.Plugins) -> None:
        self.parameters = parameters
        self.scoring_engine = plugins.make_scoring_engine


class StrategiesTest(base.TestCase):
    """The proposals of each strategy."""

    def setUp(self) -> None:
        super().setUp()
        self.plugins = loader.load()

    def solve(self, name: str, **parameters: Any) -> Solution:
        made = self.plugins.make_strategy(name)
        filled = self.plugins.fill_parameters(made.schema, parameters)
        return made.execute(Context(filled, self.plugins))  # type: ignore[arg-type]

    def proposed(self, name: str, **parameters: Any) -> list[tuple[str, Any]]:
        return [
            (action.action_type, dict(action.input_parameters))
            for action in self.solve(name, **parameters).actions
        ]

    def test_all_strategies_without_a_cloud_exist(self) -> None:
        ours = {
            name: kind.goal
            for name, kind in self.plugins.loadable(STRATEGIES).items()
            if kind.__module__.startswith('watcherlite.plugins.strategies.')
        }
        self.assertEqual(
            {
                'actuator': 'unclassified',
                'cluster_health': 'cluster_health',
                'dummy': 'dummy',
                'dummy_with_resize': 'dummy',
                'dummy_with_scorer': 'dummy',
                'stack_health': 'stack_health',
            },
            ours,
        )

    def test_dummy_proposes_the_three_actions_of_watcher(self) -> None:
        self.assertEqual(
            [
                ('nop', {'message': 'hello World'}),
                ('nop', {'message': 'hello'}),
                ('sleep', {'duration': 3.2}),
            ],
            self.proposed('dummy'),
        )
        self.assertEqual(
            [('nop', {'message': 'x'}), ('sleep', {'duration': 10.2})],
            self.proposed('dummy', para1=10.2, para2='x')[1:],
        )

    def test_dummy_with_resize_proposes_to_move_and_resize_unknown_servers(
        self,
    ) -> None:
        moved, resized = dummy_with_resize.MIGRATED, dummy_with_resize.RESIZED
        places = {
            'migration_type': 'live',
            'source_node': 'compute2',
            'destination_node': 'compute3',
        }

        self.assertEqual(
            [
                ('nop', {'message': 'hello World'}),
                ('nop', {'message': 'Welcome'}),
                ('sleep', {'duration': 5.0}),
                ('migrate', {**places, 'resource_id': moved}),
                ('migrate', {**places, 'resource_id': resized}),
                ('resize', {'flavor': 'x2', 'resource_id': resized}),
            ],
            self.proposed('dummy_with_resize', para1=2, para2='x'),
        )

    def test_dummy_with_scorer_proposes_actions_with_its_scores(self) -> None:
        first, second, third, last = self.proposed('dummy_with_scorer')
        self.assertEqual(
            ('nop', {'message': 'Hello from Dummy Strategy with Scorer!'}), first
        )
        self.assertIn(
            second[1]['message'].removeprefix('Detected Workload: '), WORKLOADS
        )
        self.assertTrue(third[1]['message'].startswith('AVG Scorer result: '))
        self.assertEqual(('sleep', {'duration': 5.0}), last)
        # A repetition on another worker proposes the same.
        self.assertEqual(
            [first, second, third, last], self.proposed('dummy_with_scorer')
        )

    def test_actuator_proposes_the_given_actions_and_their_parents(self) -> None:
        nop = {'action_type': 'nop', 'input_parameters': {}}
        migrate = {**nop, 'action_type': 'migrate', 'resource_id': 'a-uuid'}
        action = {**nop, 'input_parameters': {'message': 'x'}}
        for actions, planner, proposed in (
            (
                *([action, migrate], None),
                [
                    ('nop-1', 'nop', {'message': 'x'}, ()),
                    ('migrate-1', 'migrate', {'resource_id': 'a-uuid'}, ()),
                ],
            ),
            (
                *(
                    [{**nop, 'name': 'a'}, {**nop, 'name': 'b', 'parents': ['a']}],
                    'graph',
                ),
                [('a', 'nop', {}, ()), ('b', 'nop', {}, ('a',))],
            ),
        ):
            solution = self.solve('actuator', actions=actions)
            self.assertEqual(planner, solution.planner)
            self.assertEqual(
                proposed,
                [
                    (a.name, a.action_type, dict(a.input_parameters), a.parents)
                    for a in solution.actions
                ],
            )

    def test_parameters_that_do_not_fit_are_refused(self) -> None:
        for name, parameters, message in (
            ('dummy', {'para1': 0.5}, 'less than the minimum of 1.0'),
            ('dummy', {'para3': 1}, 'Audit parameter para3 are not allowed'),
            ('actuator', {}, 'parameters.actions: is required'),
            ('actuator', {'actions': [{}]}, 'parameters.actions.0.action_type'),
            (
                'actuator',
                {'actions': [{'action_type': 'nop', 'input_parameters': [], 'x': 1}]},
                'parameters.actions.0.x: is not known',
            ),
        ):
            error = self.assertRaises(
                exceptions.InvalidInput, self.solve, name, **parameters
            )
            self.assertIn(message, str(error))
