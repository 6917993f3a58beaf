"""The planner `weight`, which orders types by their weights."""

import types
from typing import Any

from hypothesis import given
from hypothesis import strategies as some
from oslo_config import cfg

from tests import base
from watcherlite import exceptions
from watcherlite.conf.validation import bad_values
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import loader
from watcherlite.plugins.planners.weight import Weight


def planner(weights: dict[str, int], parallel: dict[str, int] | None = None) -> Weight:
    return Weight(
        types.SimpleNamespace(weights=weights, parallelization=parallel or {})
    )


def solution(*kinds: str) -> Solution:
    made = Solution()
    for at, kind in enumerate(kinds):
        made.add_action(kind, {'n': at}, name=f'{kind}{at}')
    return made


def parents(plan: PlanDocument) -> dict[str, tuple[str, ...]]:
    return {action.name: action.parents for action in plan.actions}


class WeightTest(base.TestCase):
    """The parents of actions."""

    def test_as_in_watcher_nop_comes_before_sleep_and_each_is_a_chain(self) -> None:
        made = loader.load().make_planner('weight')
        plan = made.plan(solution('sleep', 'nop', 'nop'), 'x')
        self.assertEqual('x', plan.name)
        self.assertEqual(
            {'nop1': (), 'nop2': ('nop1',), 'sleep0': ('nop2',)}, parents(plan)
        )

    def test_actions_run_in_parallel_up_to_the_limit_of_their_type(self) -> None:
        first = ('a0', 'b1', 'b3')
        for weights, parallel, kinds, expected in (
            (
                *({'a': 2, 'b': 1}, {'a': 2, 'b': 3}, 'aaabb'),
                {'a0': (), 'a1': (), 'a2': ('a0', 'a1'), 'b3': ('a2',), 'b4': ('a2',)},
            ),
            (
                *({'a': 5, 'b': 5, 'c': 1}, {'b': 2}, 'ababbc'),
                {
                    **dict.fromkeys(first, ()),
                    'a2': first,
                    'b4': first,
                    'c5': ('a2', 'b4'),
                },
            ),
        ):
            plan = planner(weights, parallel).plan(solution(*kinds))
            self.assertEqual(expected, parents(plan))

    def test_types_without_a_weight_are_named(self) -> None:
        error = self.assertRaises(
            exceptions.Invalid, planner({'a': 1}).plan, solution('z', 'a', 'y')
        )
        self.assertEqual(
            'There is no weight for the action type y, z; add it to weights in '
            '[watcherlite.planners.weight]',
            str(error),
        )

    def test_an_empty_solution_is_an_empty_plan(self) -> None:
        self.assertEqual((), planner({}).plan(Solution()).actions)

    def settings(self, text: str) -> tuple[cfg.ConfigOpts, loader.Plugins]:
        path = self.home / 'x.conf'
        path.write_text(f'[watcherlite.planners.weight]\n{text}\n')
        conf = cfg.ConfigOpts()
        plugins = loader.load(options=conf)
        conf(['--config-file', str(path)], project='x')
        return conf, plugins

    def test_the_options_are_read_from_a_file_as_numbers(self) -> None:
        _, plugins = self.settings(
            'weights = nine:9,seventy:70\nparallelization = nine:2'
        )
        weight = plugins.make_planner('weight')
        self.assertEqual({'nine': 9, 'seventy': 70}, weight.options.weights)
        plan = weight.plan(solution('nine', 'seventy', 'nine'))
        self.assertEqual(['seventy1', 'nine0', 'nine2'], list(parents(plan)))

    def test_a_weight_that_is_not_a_number_is_refused(self) -> None:
        for setting in (
            'weights = a:heavy',
            'weights = a',
            'parallelization = a:0',
            'parallelization = a:101',
        ):
            conf, _ = self.settings(setting)
            (problem,) = bad_values(conf)
            self.assertIn('[watcherlite.planners.weight]', problem)

    def test_all_actions_that_come_with_watcherlite_have_a_weight(self) -> None:
        plugins = loader.load()
        weighted = plugins.make_planner('weight').options.weights
        for name in plugins.names('watcherlite.action_types'):
            if plugins.action_type(name).__module__.startswith('watcherlite.'):
                self.assertIn(name, weighted)

    @given(some.data())
    def test_any_solution_is_planned_completely_and_in_order(
        self, data: some.DataObject
    ) -> None:
        kinds = 'abcd'
        weights: dict[str, int] = {
            kind: data.draw(some.integers(-3, 3)) for kind in kinds
        }
        parallel: dict[str, int] = {
            kind: data.draw(some.integers(1, 4)) for kind in kinds
        }
        proposed = solution(
            *data.draw(some.lists(some.sampled_from(kinds), max_size=25))
        )
        plan = planner(weights, parallel).plan(proposed)
        self.assertEqual(
            sorted(action.name for action in proposed.actions), sorted(parents(plan))
        )
        in_order: list[Any] = plan.topological_order()
        heaviness = [weights[action.action_type] for action in in_order]
        self.assertEqual(sorted(heaviness, reverse=True), heaviness)
        for kind in kinds:
            # Actions of one type keep the order of the strategy.
            names = [a.name for a in proposed.actions if a.action_type == kind]
            self.assertEqual(names, [a.name for a in in_order if a.action_type == kind])
        by_parents: dict[tuple[str, tuple[str, ...]], int] = {}
        for action in plan.actions:
            key = (action.action_type, action.parents)
            by_parents[key] = by_parents.get(key, 0) + 1
        for (kind, _), count in by_parents.items():
            self.assertLessEqual(count, parallel[kind])
