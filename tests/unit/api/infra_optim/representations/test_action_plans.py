"""Action plans as clients of Watcher read them."""

from typing import Any

from tests import base, factories
from tests.unit.api.infra_optim import fakes
from watcherlite.api.infra_optim.handlers import action_plans as representations
from watcherlite.api.operation import Version
from watcherlite.db.query import ListedPlan
from watcherlite.states import action_plan as states

UUID = '11111111-1111-4111-8111-111111111111'


def represented(
    detail: bool = True, version: Version = (1, 5), **values: Any
) -> dict[str, Any]:
    """Return how a plan is shown."""
    plan = factories.make_plan(**{'uuid': UUID, 'state': states.RECOMMENDED, **values})
    return representations.represent(
        fakes.request(version=version),
        ListedPlan(plan, 'an audit', 'a strategy', 'dummy'),
        detail,
    )


class TestAPlan(base.TestCase):
    def test_in_a_list(self) -> None:
        saved = {'name': 'saved', 'description': 'd', 'unit': '%', 'value': 50.0}
        nodes = {'name': 'nodes', 'description': 'd', 'unit': None, 'value': 2.0}
        self.assertEqual(
            {
                'uuid': UUID,
                'state': 'RECOMMENDED',
                'audit_uuid': 'an audit',
                'strategy_uuid': 'a strategy',
                'strategy_name': 'dummy',
                'efficacy_indicators': [nodes],
                'global_efficacy': [saved],
                'updated_at': None,
                'links': [
                    {'href': f'{fakes.HOST}/v1/action_plans/{UUID}', 'rel': 'self'},
                    {'href': f'{fakes.HOST}/action_plans/{UUID}', 'rel': 'bookmark'},
                ],
            },
            represented(
                detail=False, global_efficacy=[saved], efficacy_indicators=[nodes]
            ),
        )
