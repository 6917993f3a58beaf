"""Actions as clients of Watcher read them."""

from typing import Any

from tests import base, factories
from tests.unit.api.infra_optim import fakes
from tests.worlds import kind
from watcherlite.api.infra_optim.handlers import actions as representations
from watcherlite.api.operation import Version
from watcherlite.db.query import ListedAction
from watcherlite.plugins.loader import Plugins
from watcherlite.states import action as states

UUID = '11111111-1111-4111-8111-111111111111'
PLAN = '22222222-2222-4222-8222-222222222222'


def represented(
    detail: bool = True, version: Version = (1, 5), **values: Any
) -> dict[str, Any]:
    """Return how an action is shown."""
    types = Plugins.of(action_types={'nop': kind(description='It does nothing.')})
    request = fakes.request(fakes.services(plugins=types), version=version)
    action = factories.make_action(**{'uuid': UUID, **values})
    return representations.represent(request, ListedAction(action, PLAN), detail)


class TestAnAction(base.TestCase):
    def test_deleted_action_has_the_state_deleted(self) -> None:
        shown = represented(status=states.SUCCEEDED, deleted_at=factories.NOW)
        self.assertEqual('DELETED', shown['state'])

    def test_credentials_among_its_inputs_are_masked(self) -> None:
        shown = represented(inputs={'url': 'http://u:s3@h/', 'auth': {'token': 's3'}})
        self.assertEqual(
            {'url': 'http://u:***@h/', 'auth': {'token': '***'}},
            shown['input_parameters'],
        )
