"""The definition of new, changed and adopted stacks."""

import dataclasses
from typing import Any, ClassVar

from tests import base
from tests.stack_worlds import res, template
from watcherlite import exceptions
from watcherlite.domain.stacks import Definition, NewStack, Resource, StackRequest
from watcherlite.engine.stacks.requests import abandonment, definition_merge
from watcherlite.testing.memory_store import MemoryStore

TEMPLATE = template({'a': res()}, parameters={'p': {}, 'q': {}, 'r': {}})
BEFORE = Definition(
    TEMPLATE,
    {
        'parameters': {'p': 'environment', 'q': 'environment'},
        'parameter_defaults': {'d': 1},
        'resource_registry': {
            'A': 'old.yaml',
            'B': 'kept.yaml',
            'resources': {'x': {'A': 'x.yaml'}},
        },
        'encrypted_param_names': ['p'],
    },
    {'one': '1', 'two': '2'},
    {'q': 'given', 'r': 'given'},
)


def merged(**keys: Any) -> Definition:
    """Return BEFORE merged with an existing update."""
    given = {'template': None, 'existing': True, **keys}
    return definition_merge.merge_update(BEFORE, StackRequest('s', **given))


class TestNew(base.TestCase):
    def test_a_new_definition_is_that_of_the_request(self) -> None:
        new = StackRequest(
            's', TEMPLATE, {'parameters': {'p': 1}}, {'f': 'x'}, {'q': 2}
        )

        self.assertEqual(
            Definition(TEMPLATE, {'parameters': {'p': 1}}, {'f': 'x'}, {'q': 2}),
            definition_merge.build_definition(new),
        )

    def test_invalid_definitions_are_rejected(self) -> None:
        for place, keys in (
            ('template', {'template': None}),
            ('template', {'template': []}),
            ('files.x', {'files': {'x': {}}}),
            ('files', {'files': ['x']}),
            ('parameters', {'parameters': ['x']}),
            ('environment', {'environment': {'parameters': []}}),
            ('adopt_stack_data', {'adopt': 'x'}),
        ):
            with self.subTest(place=place, keys=keys):
                new: Any = StackRequest('s', **{'template': TEMPLATE, **keys})
                error = self.assertRaises(
                    exceptions.StackValidationFailed,
                    definition_merge.build_definition,
                    new,
                )
                self.assertEqual(place, error.problems[0].partition(':')[0])


class TestMerging(base.TestCase):
    def test_a_replacing_update_drops_the_old_definition(self) -> None:
        new = StackRequest('s', TEMPLATE, files={'f': 'x'}, parameters={'p': 1})

        self.assertEqual(
            Definition(TEMPLATE, {}, {'f': 'x'}, {'p': 1}),
            definition_merge.merge_update(BEFORE, new),
        )

    def test_an_update_without_changes_keeps_the_definition(self) -> None:
        self.assertEqual(BEFORE.digest, merged().digest)

    def test_values_of_the_request_override_the_definition(self) -> None:
        found = merged(
            environment={
                'parameters': {'q': 'now'},
                'parameter_defaults': {'e': 2},
                'resource_registry': {
                    'A': 'new.yaml',
                    'resources': {'y': {'A': 'y.yaml'}},
                },
                'encrypted_param_names': ['r', 'p'],
            },
            files={'two': 'II', 'three': 'III'},
            parameters={'r': 'now'},
        )

        self.assertEqual(
            Definition(
                TEMPLATE,
                {
                    'parameters': {'p': 'environment', 'q': 'now'},
                    'parameter_defaults': {'d': 1, 'e': 2},
                    'resource_registry': {
                        'A': 'new.yaml',
                        'B': 'kept.yaml',
                        'resources': {'x': {'A': 'x.yaml'}, 'y': {'A': 'y.yaml'}},
                    },
                    'encrypted_param_names': ['p', 'r'],
                },
                {'one': '1', 'two': 'II', 'three': 'III'},
                {'r': 'now'},
            ),
            found,
        )

    def test_cleared_and_undeclared_parameters_are_dropped_everywhere(self) -> None:
        changed = template({'b': res()}, parameters={'q': {}})

        cleared = merged(clear_parameters=('p', 'q'), parameters={'q': 'again'})
        other = merged(template=changed)
        # The validation reports it.
        unknown = merged(parameters={'unknown': 1})

        self.assertNotIn('parameters', cleared.environment)
        self.assertEqual({'r': 'given', 'q': 'again'}, cleared.parameters)
        self.assertEqual(changed, other.template)
        self.assertEqual({'q': 'environment'}, other.environment['parameters'])
        self.assertEqual({'q': 'given'}, other.parameters)
        self.assertEqual(1, unknown.parameters['unknown'])


class TestAdopting(base.TestCase):
    DATA: ClassVar[Any] = {
        'name': 'other',
        'template': TEMPLATE,
        'environment': {'parameters': {'p': 'then', 'q': 'then'}},
        'files': {'f': 'x'},
        'resources': {
            'a': {
                'name': 'a',
                'resource_id': 'id-a',
                'resource_data': {'d': 1},
                'attributes': {'o': 2},
                'status': 'COMPLETE',
            },
            'n': {
                'resource_id': 'id-n',
                'template': {'resources': {'m': {'type': 'T'}, 'never': {}}},
                'resources': {'m': {'resource_id': 'id-m'}, 'k': {}},
            },
        },
    }

    def test_values_of_the_request_override_the_adopted_ones(self) -> None:
        new = StackRequest('s', None, {'parameters': {'q': 'now'}}, adopt=self.DATA)

        self.assertEqual(
            Definition(TEMPLATE, {'parameters': {'p': 'then', 'q': 'now'}}, {'f': 'x'}),
            definition_merge.build_definition(new),
        )

    def test_only_used_keys_of_adopted_resources_are_kept(self) -> None:
        self.assertEqual(
            {
                'a': {
                    'resource_id': 'id-a',
                    'resource_data': {'d': 1},
                    'attributes': {'o': 2},
                    'status': 'COMPLETE',
                },
                'n': {
                    'resource_id': 'id-n',
                    'resources': {
                        'm': {'resource_id': 'id-m', 'definition': {'type': 'T'}},
                        'k': {},
                    },
                },
            },
            abandonment.adopted_resources(StackRequest('s', None, adopt=self.DATA)),
        )

    def test_a_creation_adopts_nothing(self) -> None:
        self.assertIsNone(abandonment.adopted_resources(StackRequest('s', TEMPLATE)))

    def test_invalid_adoption_data_is_rejected_with_its_place(self) -> None:
        for place, resources in (
            ('adopt_stack_data.resources', []),
            ('adopt_stack_data.resources.a', {'a': 'id'}),
            ('adopt_stack_data.resources.a.resource_data', {'a': {'resource_data': 1}}),
            (
                'adopt_stack_data.resources.a.resources.b',
                {'a': {'resources': {'b': 5}}},
            ),
            (
                'adopt_stack_data.resources.a.template.resources.b',
                {'a': {'resources': {'b': {}}, 'template': {'resources': {'b': 'T'}}}},
            ),
        ):
            with self.subTest(place=place):
                error = self.assertRaises(
                    exceptions.StackValidationFailed,
                    abandonment.adopted_resources,
                    StackRequest('s', None, adopt={'resources': resources}),
                )
                self.assertEqual(place, str(error).partition(':')[0])

    def test_replaced_resources_are_not_exported(self) -> None:
        store = MemoryStore()
        with store.transaction() as tx:
            known = tx.insert_definition(Definition(TEMPLATE))
            stack = tx.insert_stack(NewStack('u', 's', 'a-project', known.id))
        row = Resource('1', stack.id, 'a', 'T', 'T', id=1, physical_id='back')
        replaced = {'id': 2, 'physical_id': 'was not wanted', 'superseded_by': 1}
        rows = [row, dataclasses.replace(row, uuid='2', **replaced)]

        found = abandonment.export_stack(store, [stack], rows)

        self.assertEqual('back', found['resources']['a']['resource_id'])
