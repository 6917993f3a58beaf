"""How goals and strategies are shown."""

import jsonschema

from tests import base
from tests.factories import make_goal, make_strategy
from tests.unit.api.infra_optim.requests import links_to, make_request
from watcherlite.api.infra_optim.handlers import goals, strategies
from watcherlite.api.infra_optim.schemas import goals as goal_schemas
from watcherlite.api.infra_optim.schemas import strategies as strategy_schemas
from watcherlite.api.operation import at
from watcherlite.db.query import ListedGoal, ListedStrategy

TIMES = {
    'created_at': '2026-03-29T01:30:15.123456+00:00',
    'updated_at': None,
    'deleted_at': None,
}
INDICATOR = {'name': 'nodes', 'unit': None, 'description': 'How many.', 'schema': {}}


class TestGoals(base.TestCase):
    """What is in a goal's JSON object."""

    def setUp(self):
        super().setUp()
        self.goal = make_goal(name='dummy', efficacy_specification=(INDICATOR,))
        self.brief = {
            'uuid': self.goal.uuid,
            'name': 'dummy',
            'display_name': self.goal.display_name,
            'efficacy_specification': [INDICATOR],
            'links': links_to(f'goals/{self.goal.uuid}'),
        }

    def test_a_list_has_the_columns_of_clients(self):
        shown = goals.represent(make_request(), ListedGoal(self.goal), False)

        self.assertEqual(self.brief, shown)
        jsonschema.validate({'goals': [shown]}, at(goal_schemas.COLLECTION, (1, 0)))

    def test_details_add_the_times(self):
        shown = goals.represent(make_request(), ListedGoal(self.goal), True)

        self.assertEqual({**self.brief, **TIMES}, shown)
        jsonschema.validate(shown, at(goal_schemas.GOAL, (1, 0)))


class TestStrategies(base.TestCase):
    """What is in a strategy's JSON object."""

    def setUp(self):
        super().setUp()
        goal = make_goal(name='dummy')
        strategy = make_strategy(name='dummy', parameters_spec={'type': 'object'})
        self.listed = ListedStrategy(strategy, goal.uuid, 'dummy')
        self.brief = {
            'uuid': strategy.uuid,
            'name': 'dummy',
            'display_name': strategy.display_name,
            'goal_uuid': goal.uuid,
            'goal_name': 'dummy',
            'links': links_to(f'strategies/{strategy.uuid}'),
        }

    def test_a_list_has_the_columns_of_clients(self):
        shown = strategies.represent(make_request(), self.listed, False)

        self.assertEqual(self.brief, shown)
        jsonschema.validate(
            {'strategies': [shown]}, at(strategy_schemas.COLLECTION, (1, 0))
        )

    def test_details_add_the_schema_of_the_parameters_and_the_times(self):
        shown = strategies.represent(make_request(), self.listed, True)

        self.assertEqual(
            {**self.brief, 'parameters_spec': {'type': 'object'}, **TIMES}, shown
        )
        jsonschema.validate(shown, at(strategy_schemas.STRATEGY, (1, 0)))
