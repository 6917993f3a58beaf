"""The schema of scopes."""

from tests import base
from watcherlite import exceptions
from watcherlite.api.arguments import Checker
from watcherlite.api.infra_optim.schemas import scopes

CHECKER = Checker({'type': 'object', 'properties': {'scope': scopes.SCOPE}})

#: As documented by Watcher.
RIGHT = (
    None,
    [],
    [{'compute': []}],
    [
        {
            'compute': [
                {'host_aggregates': [{'id': '*'}, {'id': 1}, {'name': 'fast'}]},
                {'availability_zones': [{'name': 'az-1'}]},
                {
                    'exclude': [
                        {'instances': [{'uuid': 'u'}]},
                        {'compute_nodes': [{'name': 'node-1'}]},
                        {'instance_metadata': [{'optimize': 'no'}]},
                        {'projects': [{'uuid': 'p'}]},
                    ]
                },
            ]
        },
        {
            'storage': [
                {'volume_types': [{'name': 'ssd'}]},
                {'exclude': [{'storage_pools': [{'name': 'pool'}]}]},
            ]
        },
        {'baremetal': [{'exclude': [{'ironic_nodes': [{'uuid': 'u'}]}]}]},
    ],
)
WRONG = (
    'everything',
    {'compute': []},
    ['compute'],
    [{}],
    [{'network': []}],
    [{'compute': {}}],
    [{'compute': ['host']}],
    [{'compute': [{'hosts': []}]}],
    [{'compute': [{'host_aggregates': [{'id': 'fast'}]}]}],
    [{'compute': [{'exclude': [{'servers': []}]}]}],
)


class TestScopes(base.TestCase):
    """The schema, and the rules that it cannot express."""

    def test_scopes_documented_by_watcher_are_valid(self):
        for scope in RIGHT:
            with self.subTest(scope=scope):
                CHECKER.body({'scope': scope})
                scopes.check(scope)

    def test_invalid_scopes_are_rejected(self):
        for scope in WRONG:
            with self.subTest(scope=scope):
                self.assertRaises(exceptions.Invalid, CHECKER.body, {'scope': scope})

    def test_aggregates_cannot_be_included_and_excluded_together(self):
        aggregates = {'host_aggregates': [{'id': 1}]}
        scope = [{'storage': []}, {'compute': [aggregates, {'exclude': [aggregates]}]}]
        CHECKER.body({'scope': scope})

        error = self.assertRaises(exceptions.Invalid, scopes.check, scope)

        self.assertEqual(
            "host_aggregates can't be included and excluded together", str(error)
        )
