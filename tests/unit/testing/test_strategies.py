"""`run_strategy`: a strategy without engine or store."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests import base
from watcherlite import exceptions, testing
from watcherlite.domain.solutions import Solution
from watcherlite.plugins.base import Strategy
from watcherlite.plugins.scoring_engines.dummy import Aggregate
from watcherlite.testing.clock import ManualClock


class DataProposingStrategy(Strategy):
    """A strategy that proposes the data that it receives."""

    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'n': {'type': 'number', 'default': 3}},
    }

    def execute(self, context: Any) -> Solution:
        context.checkpoint()
        context.sleep(60)
        solution = Solution()
        solution.add_action(
            'nop',
            {
                'n': context.parameters['n'],
                'at': context.now().isoformat(),
                'model': context.model('compute'),
                'audit': (context.audit_uuid, context.audit_name, context.goal),
            },
        )
        return solution


class RunStrategyTest(base.TestCase):
    """The interface for plugin authors."""

    def test_a_strategy_gets_parameters_models_and_the_time(self) -> None:
        solution = testing.run_strategy(
            DataProposingStrategy, scope=[{'compute': []}], models={'compute': list}
        )
        (action,) = solution.actions
        self.assertEqual(
            {
                'n': 3,
                'at': '2030-01-01T00:01:00+00:00',
                'model': [{'compute': []}],
                'audit': (
                    '00000000-0000-4000-8000-000000000001',
                    'an audit',
                    'unclassified',
                ),
            },
            action.input_parameters,
        )

    def test_a_strategy_gets_the_given_scoring_engines(self) -> None:
        class Scored(Strategy):
            def execute(self, context: Any) -> Solution:
                solution = Solution()
                score = context.scoring_engine('max').calculate_score('[1, 2]')
                solution.add_action('nop', {'message': score})
                return solution

        solution = testing.run_strategy(
            Scored, scoring_engines={'max': Aggregate('', max)}
        )

        self.assertEqual({'message': '[2]'}, solution.actions[0].input_parameters)
        with self.assertRaisesRegex(exceptions.PluginNotFound, 'scoring engine max'):
            testing.run_strategy(Scored)

    def test_parameters_that_do_not_fit_are_refused(self) -> None:
        for parameters in ({'n': 'x'}, {'zz': 1}):
            self.assertRaises(
                exceptions.InvalidInput,
                testing.run_strategy,
                DataProposingStrategy,
                parameters,
            )

    def test_a_signal_stops_a_strategy(self) -> None:
        clock = ManualClock()
        for signals in (
            [testing.at_checkpoint(1, 'CANCEL')],
            [testing.after_seconds(30, 'CANCEL')],
        ):
            self.assertRaises(
                exceptions.Cancelled,
                testing.run_strategy,
                DataProposingStrategy,
                signals=signals,
                clock=clock,
            )
