"""The requirements of a strategy, as `strategy state` shows them."""

import jsonschema

from tests import base
from watcherlite import exceptions
from watcherlite.api.infra_optim.handlers import strategies
from watcherlite.api.infra_optim.schemas import strategies as schemas
from watcherlite.api.operation import at


class Installed:
    """Plugins, of which one can be used."""

    def plugin(self, namespace, name):
        if (namespace, name) != ('watcherlite.strategies', 'dummy'):
            raise exceptions.PluginNotFound(f'There is no strategy {name}.')
        return object


class TestRequirements(base.TestCase):
    """One object for each kind of thing."""

    def test_no_requirement_is_mandatory_and_models_are_missing(self):
        shown = strategies.requirements('dummy', Installed())

        self.assertEqual(
            [
                {
                    'type': 'Datasource',
                    'state': 'Datasource is not presented for this strategy',
                    'mandatory': False,
                    'comment': '',
                },
                {'type': 'Metrics', 'state': [], 'mandatory': False, 'comment': ''},
                {
                    'type': 'CDM',
                    'state': [
                        {'compute_model': 'not available'},
                        {'storage_model': 'not available'},
                        {'baremetal_model': 'not available'},
                    ],
                    'mandatory': False,
                    'comment': '',
                },
                {'type': 'Name', 'state': 'dummy', 'mandatory': '', 'comment': ''},
            ],
            shown,
        )
        jsonschema.validate(shown, at(schemas.STATE, (1, 0)))

    def test_uninstalled_strategy_is_reported(self):
        shown = strategies.requirements('gone', Installed())

        self.assertEqual('There is no strategy gone.', shown[-1]['comment'])
