"""Action plans as clients of Watcher read them."""

from typing import Any

from tests import base, factories
from tests.unit.api.infra_optim import fakes
from watcherlite.api.infra_optim.handlers import (
    action_plans as representations,
)
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

    def test_in_detail_it_has_all_of_a_list_and_more(self) -> None:
        listed = represented(detail=False)
        shown = represented(name='nightly')
        self.assertEqual(listed, {name: shown[name] for name in listed})
        self.assertEqual(
            {
                'hostname': None,
                'name': 'nightly',
                'created_at': '2026-03-29T01:30:15.123456+00:00',
                'deleted_at': None,
                'status_message': None,
            },
            {name: shown[name] for name in shown if name not in listed},
        )

    def test_its_message_is_shown_from_version_1_5_on(self) -> None:
        self.assertNotIn(
            'status_message', represented(version=(1, 4), status_message='why')
        )
        shown = represented(version=(1, 5), status_message='why')
        self.assertEqual('why', shown['status_message'])

    def test_every_state_is_shown_as_it_is(self) -> None:
        self.assertEqual(
            list(states.STATES),
            [represented(state=state)['state'] for state in states.STATES],
        )
