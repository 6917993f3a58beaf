"""The hooks and restricted actions of an environment."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain.templates import environment
from watcherlite.domain.templates.resource_rules import (
    MAX_PATTERNS,
    ResourceRules,
    has_hooks,
)
from watcherlite.states import stack as states


def rules(**entries):
    return ResourceRules({'resource_registry': {'resources': entries}})


class ResourceRulesTest(base.TestCase):
    def test_all_entries_that_match_a_name_apply(self):
        found = rules(
            **{
                'db': {'hooks': 'pre-create', 'restricted_actions': 'update'},
                '*b': {'hooks': ['pre-update', 'pre-create']},
                '[ab]?': {'hooks': 'post-delete', 'restricted_actions': ['replace']},
                'd[!c]': {'restricted_actions': ['replace'], 'hooks': None},
                'd*': {'Local::File': 'x.yaml'},
            }
        )

        self.assertEqual(
            {
                'db': ({'pre-create', 'pre-update'}, {'update', 'replace'}),
                'ab': ({'pre-create', 'pre-update', 'post-delete'}, {'replace'}),
                'dc': (set(), set()),
                'DB': (set(), set()),
            },
            {
                name: (set(found.hooks(name)), set(found.restricted_actions(name)))
                for name in ('db', 'ab', 'dc', 'DB')
            },
        )

    def test_an_environment_without_hooks_has_no_rules(self):
        self.assertEqual(
            [False, False, False, True],
            [
                bool(ResourceRules({})),
                bool(ResourceRules({'resource_registry': {'resources': None}})),
                bool(rules(a={'T': 'U', 'b': {'hooks': 'pre-create'}})),
                bool(rules(a={'hooks': 'pre-create'})),
            ],
        )

    def test_hooks_are_found_at_any_depth(self):
        inner = {'a': {'b': {'hooks': ['pre-create', 'post-update']}, 'T': 'U'}}
        around = {'resource_registry': {'resources': inner}}

        self.assertEqual(
            {states.CREATE: True, states.UPDATE: True, states.DELETE: False},
            {
                operation: has_hooks(around, operation)
                for operation in (states.CREATE, states.UPDATE, states.DELETE)
            },
        )

    def test_the_number_of_patterns_is_limited(self):
        entry = {'hooks': 'pre-create'}
        many = {f'a{n}*': entry for n in range(MAX_PATTERNS)}

        def load(entries):
            return environment.load({'resource_registry': {'resources': entries}})

        load({**many, 'b': {**many, 'T*': 'U'}})
        self.assertEqual(
            [
                [f'environment: resource_registry.{place}: 501 names have wildcards; '
                 'at most 500 may have them']
                for place in ('resources', 'resources.b')
            ],
            [
                self.assertRaises(
                    exceptions.StackValidationFailed, load, entries
                ).problems
                for entries in ({**many, 'a*': entry}, {'b': {**many, 'a*': entry}})
            ],
        )  # fmt: skip
