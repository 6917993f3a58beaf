"""Environments, and the types that they map."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain.templates import environment
from watcherlite.domain.templates.environment import Registry


class LoadTest(base.TestCase):
    def refusal(self, written):
        return self.assertRaises(
            exceptions.StackValidationFailed, environment.load, written
        ).problems

    def test_an_environment_may_be_text_or_a_mapping_or_nothing(self):
        self.assertEqual(
            [{'parameters': {'a': 1}}, {'parameters': {'a': 1}}, {}, {}],
            [
                environment.load(written)
                for written in (
                    'parameters: {a: 1}\nresource_registry:\n',
                    {'parameters': {'a': 1}},
                    None,
                    '',
                )
            ],
        )

    def test_problems_are_reported_with_paths(self):
        self.assertEqual(
            [
                ['environment:1: parameter: there is no such key; did you mean '
                 'parameters?'],
                ['environment: parameters: this is a list; it must be a mapping',
                 'environment: resource_registry.A: this is a number; it must be the '
                 'name of a type or of a template',
                 'environment: resource_registry.B: this is a mapping; it must be the '
                 'name of a type or of a template',
                 "environment: resource_registry.resources.web.hooks: 'pre' is not one "
                 'of pre-create, post-create, pre-update, post-update, pre-delete, '
                 'post-delete',
                 'environment: resource_registry.resources.web.hooks: 5 is not '
                 'one of pre-create, post-create, pre-update, post-update, pre-delete, '
                 'post-delete',
                 'environment: resource_registry.resources.web.in.restricted_actions: '
                 "'delete' is not one of update, replace",
                 'environment: resource_registry.resources.db: this is text; it must '
                 'be a mapping of types',
                 "environment: parameter_merge_strategies.a: 'join' is not one of "
                 'overwrite, merge, deep_merge',
                 'environment: event_sinks: this is a mapping; it must be a list'],
                ['environment: this is a list; it must be a mapping like {parameters: '
                 '{}}'],
            ],
            [
                self.refusal('parameter: {}'),
                self.refusal(
                    {
                        'parameters': [],
                        'resource_registry': {
                            'A': 5,
                            'B': {'hooks': 'pre-create'},
                            'resources': {
                                'web': {
                                    'hooks': ['pre', 'pre-create', 5],
                                    'in': {'restricted_actions': 'delete'},
                                    'restricted_actions': 'replace',
                                },
                                'db': 'x',
                            },
                        },
                        'parameter_merge_strategies': {'a': 'join'},
                        'event_sinks': {},
                    }
                ),
                self.refusal([]),
            ],
        )  # fmt: skip


class MergeTest(base.TestCase):
    def test_later_files_take_precedence_and_sections_are_merged(self):
        files = {
            'one': """
                parameters: {a: 1, b: 1}
                resource_registry: {T: X, resources: {web: {T: Y}}}
                encrypted_param_names: [a]
                """,
            'two': """
                parameters: {b: 2}
                parameter_defaults: {c: 2}
                resource_registry: {U: X, resources: {db: {T: Z}}}
                encrypted_param_names: [a, b]
                event_sinks: [{type: log}]
                """,
        }

        self.assertEqual(
            {
                'parameters': {'z': 0, 'a': 1, 'b': 2},
                'parameter_defaults': {'c': 2},
                'resource_registry': {
                    'T': 'X',
                    'U': 'X',
                    'resources': {'web': {'T': 'Y'}, 'db': {'T': 'Z'}},
                },
                'encrypted_param_names': ['a', 'b'],
                'event_sinks': [{'type': 'log'}],
            },
            environment.merge({'parameters': {'z': 0}}, files, ['one', 'two']),
        )

    def test_parameters_are_merged_as_their_types_and_strategies_say(self):
        before = {'list': 'a,b', 'json': '{"x": {"y": 1}}', 'deep': {'x': {'y': 1}},
                  'text': 'ab', 'over': [1], 'new': None}  # fmt: skip
        files = {
            'after': """
                parameters:
                  list: [c]
                  json: {x: {z: 2}}
                  deep: {x: {z: 2}}
                  text: cd
                  over: [2]
                  new: n
                parameter_merge_strategies: {default: merge, deep: deep_merge,
                                             over: overwrite}
                """
        }
        template = {
            'parameters': {
                'list': {'type': 'comma_delimited_list'},
                'json': {'type': 'json'},
                'text': {'type': 'string'},
            }
        }

        in_format_of_aws = {
            'AWSTemplateFormatVersion': '2010-09-09',
            'Parameters': {
                'list': {'Type': 'CommaDelimitedList'},
                'json': {'Type': 'Json'},
                'text': {'Type': 'String'},
            },
        }

        merged = {
            'parameters': {
                'list': ['a', 'b', 'c'],
                'json': {'x': {'z': 2}},
                'deep': {'x': {'y': 1, 'z': 2}},
                'text': 'abcd',
                'over': [2],
                'new': 'n',
            }
        }
        self.assertEqual(
            [merged, merged],
            [
                environment.merge({'parameters': before}, files, ['after'], written)
                for written in (template, in_format_of_aws)
            ],
        )

    def test_missing_file_is_reported(self):
        error = self.assertRaises(
            exceptions.StackValidationFailed, environment.merge, {}, {}, ['env.yaml']
        )

        self.assertEqual(
            "environment_files: there is no 'env.yaml' among the files; send its text "
            'in files',
            str(error),
        )


REGISTRY = {
    'resource_registry': {
        'OS::Alias': 'OS::Real',
        'OS::Twice': 'OS::Alias',
        'OS::Net*': 'OS::Neutron*',
        'OS::Network*': 'net.yaml',
        'OS::Same': 'OS::Same',
        'OS::Off': '',
        'OS::Gone': None,
        'OS::A': 'OS::B',
        'OS::B': 'OS::A',
        'base_url': 'file:///x',
        'resources': {
            'web': {'OS::Real': 'web.yaml', 'OS::Se*': 'OS::Re*'},
            'db*': {'OS::Server': 'db.yaml'},
        },
    }
}


class TypesTest(base.TestCase):
    def test_types_are_mapped_to_others(self):
        cases = {
            ('x', 'OS::Real'): 'OS::Real',
            ('x', 'OS::Alias'): 'OS::Real',
            ('x', 'OS::Twice'): 'OS::Real',
            ('x', 'OS::Net::Port'): 'OS::Neutron::Port',
            ('x', 'OS::Networks'): 'net.yaml',
            ('x', 'OS::Same'): 'OS::Same',
            ('x', 'base_url'): 'base_url',
            ('web', 'OS::Twice'): 'web.yaml',
            ('web', 'OS::Server'): 'OS::Rerver',
            ('x', 'OS::Server'): 'OS::Server',
            ('db1', 'OS::Server'): 'db.yaml',
            ('d', 'OS::Server'): 'OS::Server',
        }

        self.assertEqual(
            cases, {case: Registry(REGISTRY).type_of(*case) for case in cases}
        )
        self.assertEqual('OS::Any', Registry({}).type_of('x', 'OS::Any'))

    def test_mapping_to_nothing_is_rejected(self):
        self.assertEqual(
            [
                'resource_registry: the type OS::Off is disabled; map it to another '
                'type',
                'resource_registry: the type OS::Gone is disabled; map it to another '
                'type',
                'resource_registry: the type OS::A has a cyclic mapping; remove a '
                'part of it',
            ],
            [
                str(
                    self.assertRaises(
                        exceptions.StackValidationFailed,
                        Registry(REGISTRY).type_of,
                        'x',
                        name,
                    )
                )
                for name in ('OS::Off', 'OS::Gone', 'OS::A')
            ],
        )

    def test_nested_stack_gets_the_entry_of_its_resource(self):
        around = {
            'parameters': {'a': 1},
            'parameter_defaults': {'b': 2},
            'resource_registry': {
                'T': 'U',
                'resources': {
                    'pool': {'T': 'V', 'member': {'T': 'W'}},
                    'x': {'T': 'Z'},
                },
            },
        }

        self.assertEqual(
            [
                {
                    'parameter_defaults': {'b': 2},
                    'resource_registry': {
                        'T': 'U',
                        'resources': {'member': {'T': 'W'}},
                    },
                },
                {'parameter_defaults': {'b': 2}, 'resource_registry': {'T': 'U'}},
                {},
            ],
            [
                environment.nested(around, 'pool'),
                environment.nested(around, 'other'),
                environment.nested({'parameters': {'a': 1}}, 'pool'),
            ],
        )

    def test_entries_with_wildcards_are_combined_with_that_of_the_name(self):
        around = {
            'resource_registry': {
                'resources': {
                    'pool': {'member': {'hooks': 'pre-update'}},
                    'p*': {
                        'member': {'hooks': 'pre-create', 'T': 'U'},
                        '?': {'restricted_actions': 'replace'},
                    },
                    'q*': {'member': {'hooks': 'pre-delete'}},
                }
            }
        }

        self.assertEqual(
            {
                'resource_registry': {
                    'resources': {
                        'member': {'hooks': 'pre-update', 'T': 'U'},
                        '?': {'restricted_actions': 'replace'},
                    }
                }
            },
            environment.nested(around, 'pool'),
        )

    def test_hooks_and_restricted_actions_are_no_types(self):
        entry = {'hooks': 'pre-create', 'restricted_actions': 'update'}
        registry = Registry(
            {'resource_registry': {'resources': {'web': entry, 'db*': entry}}}
        )

        self.assertEqual(
            ['hooks', 'restricted_actions'],
            [
                registry.type_of('web', 'hooks'),
                registry.type_of('db1', 'restricted_actions'),
            ],
        )
