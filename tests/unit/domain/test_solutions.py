"""Solutions of strategies."""

import json

from tests import base
from watcherlite import exceptions
from watcherlite.domain.solutions import (
    Indicator,
    IndicatorSpecification,
    ProposedAction,
    Solution,
)


class SolutionTest(base.TestCase):
    """The actions of a solution."""

    def test_actions_stay_in_their_order_and_get_names(self) -> None:
        solution = Solution()
        names = [
            solution.add_action('nop', {'message': 'a'}),
            solution.add_action('sleep', {'duration': 1}, name='wait'),
            solution.add_action('nop', {'message': 'b'}),
        ]
        self.assertEqual(['nop-1', 'wait', 'nop-2'], names)
        self.assertEqual(names, [action.name for action in solution.actions])

    def test_the_same_action_is_proposed_once(self) -> None:
        solution = Solution()
        first = solution.add_action('nop', {'message': 'a'})
        self.assertEqual(first, solution.add_action('nop', {'message': 'a'}))
        solution.add_action('nop', {'message': 'a'}, name='again')
        self.assertEqual(['nop-1', 'again'], [a.name for a in solution.actions])

    def test_an_action_is_not_compared_with_each_of_the_others(self) -> None:
        class Incomparable(str):
            __slots__ = ()
            __hash__ = str.__hash__

            def __eq__(self, other: object) -> bool:
                raise AssertionError('compared')

        solution = Solution()
        for text in 'abc':
            solution.add_action('nop', {'message': Incomparable(text)})
        self.assertEqual(3, len(solution.actions))

    def test_actions_with_non_json_inputs_are_distinguished(self) -> None:
        solution = Solution()
        for message in ({1: 'a'}, {1: 'b'}, {1, 2}, {1: 'a', 'b': 2}):
            solution.add_action('nop', {'message': message})
        solution.add_action('nop', {'message': {1: 'a', 'b': 2}})
        self.assertEqual(4, len(solution.actions))

    def test_the_resource_is_put_among_the_inputs_under_a_reserved_key(self) -> None:
        solution = Solution()
        inputs = {'to': 'b', 'resource_id': 'a-uuid'}
        solution.add_action('migrate', {'to': 'b'}, 'a-uuid', parents=['x'])
        self.assertEqual(
            (ProposedAction('migrate-1', 'migrate', inputs, ('x',)),), solution.actions
        )
        error = self.assertRaises(
            exceptions.Invalid, solution.add_action, 'nop', {'resource_id': 'x'}
        )
        self.assertIn('is reserved', str(error))

    def test_a_name_is_given_once(self) -> None:
        solution = Solution()
        solution.add_action('nop', name='nop-1')
        self.assertRaises(exceptions.Invalid, solution.add_action, 'x', name='nop-1')
        self.assertEqual('nop-2', solution.add_action('nop', {'n': 1}))

    def test_indicators_add_up(self) -> None:
        solution = Solution()
        solution.set_efficacy_indicators(a=1, b=2)
        solution.set_efficacy_indicators(b=3)
        self.assertEqual({'a': 1, 'b': 3}, solution.indicators)


class IndicatorTest(base.TestCase):
    """Indicators as they are stored and displayed."""

    def test_an_indicator_shows_all_fields_and_a_specification_its_schema(self) -> None:
        shown = IndicatorSpecification('n', 'how many', '%').to_mapping()
        self.assertEqual({'type': 'number'}, json.loads(shown.pop('schema')))
        self.assertEqual({'name': 'n', 'description': 'how many', 'unit': '%'}, shown)
        self.assertEqual(
            {**shown, 'value': 2.5}, Indicator('n', 2.5, 'how many', '%').to_mapping()
        )
