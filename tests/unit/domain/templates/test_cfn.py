"""Templates in the format of AWS."""

from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import base
from tests.unit.domain.templates.test_template import LEAVES
from tests.unit.domain.templates.worlds import CreatedResources, parsed
from watcherlite import exceptions
from watcherlite.domain.stacks import Definition
from watcherlite.domain.templates import description, formats, template, versions
from watcherlite.domain.templates.blueprint import Blueprint, NoReferences
from watcherlite.domain.templates.constraints import Constraint
from watcherlite.domain.templates.definitions import (
    OutputDefinition,
    ParameterDefinition,
    ResourceDefinition,
)
from watcherlite.domain.templates.functions import function_tables
from watcherlite.domain.templates.scope import MAX_MADE

AWS = {'AWSTemplateFormatVersion': '2010-09-09'}
HEAT = {'HeatTemplateFormatVersion': '2012-12-12'}
PARAMETERS = {
    'size': {'Type': 'Number', 'Default': '3'},
    'names': {'Type': 'CommaDelimitedList', 'Default': 'a,b'},
    'tree': {'Type': 'Json', 'Default': {'x': [1, 2]}},
    'secret': {'Type': 'String', 'Default': 'hunter2', 'NoEcho': 'true'},
}
MAPPINGS = {'zones': {'north': {'image': 'penguin', 'ports': [1, 2]}, '1': {'a': 'b'}}}


def blueprint(sections, version=AWS, **fields):
    """Return the blueprint of the sections of a template."""
    definition = Definition({**version, **sections}, **fields)
    return Blueprint.of(definition, name='teapot', uuid='1-2-3', tenant='tenant-1')


def evaluated(written, references=None, version=AWS, **sections):
    """Return the evaluated value of a property."""
    made = blueprint(
        {
            'Parameters': PARAMETERS,
            'Mappings': MAPPINGS,
            'Resources': {
                'web': {'Type': 'T', 'Properties': {'value': written}},
                'db': {'Type': 'T'},
            },
            **sections,
        },
        version,
    )
    return made.properties('web', references or NoReferences()).get('value')


class CfnCase(base.TestCase):
    def problems(self, load, *args, **fields):
        error = self.assertRaises(
            exceptions.StackValidationFailed, load, *args, **fields
        )
        return error.problems


class SectionsTest(CfnCase):
    def test_a_complete_template_is_read(self):
        found = template.load(
            parsed("""
                AWSTemplateFormatVersion: 2010-09-09
                Description: Tea
                Parameters:
                  litres:
                    Type: Number
                    Default: '2'
                    Label: Litres
                    Description: How much
                    NoEcho: 'TRUE'
                    MinValue: '1'
                    MaxValue: 9
                    ConstraintDescription: One digit.
                  leaf: {Type: String, AllowedValues: [green, 3], MinLength: 1}
                  code: {Type: String, AllowedPattern: '[a-z]+', MaxLength: '8'}
                Mappings: {kinds: {green: {minutes: 2}}}
                Conditions:
                  full: {'Fn::Not': [{'Fn::Equals': [{Ref: litres}, 0]}]}
                Resources:
                  pot:
                    Type: OS::Heat::Value
                    Description: The pot
                    Properties: {value: {Ref: litres}}
                    Metadata: {a: b}
                    DependsOn: stove
                    DeletionPolicy: Retain
                    UpdatePolicy: {batch: 1}
                    Condition: full
                  stove: {Type: OS::Heat::None, DependsOn: []}
                Outputs:
                  value:
                    Value: {'Fn::GetAtt': [pot, value]}
                    Description: It
                    Condition: full
                """)
        )

        text = 'One digit.'
        self.assertEqual(
            (
                'AWSTemplateFormatVersion.2010-09-09',
                'Tea',
                (),
                {
                    'litres': ParameterDefinition(
                        'litres',
                        'number',
                        label='Litres',
                        description='How much',
                        default='2',
                        hidden=True,
                        constraints=(Constraint('range', {'min': 1, 'max': 9}, text),),
                    ),
                    'leaf': ParameterDefinition(
                        'leaf',
                        'string',
                        constraints=(
                            Constraint('length', {'min': 1}),
                            Constraint('allowed_values', {'value': ['green', '3']}),
                        ),
                    ),
                    'code': ParameterDefinition(
                        'code',
                        'string',
                        constraints=(
                            Constraint('length', {'max': 8}),
                            Constraint('allowed_pattern', {'value': '[a-z]+'}),
                        ),
                    ),
                },
                ['full'],
                {
                    'pot': ResourceDefinition(
                        'pot',
                        'OS::Heat::Value',
                        properties={'value': {'Ref': 'litres'}},
                        metadata={'a': 'b'},
                        depends_on=('stove',),
                        deletion_policy='Retain',
                        update_policy={'batch': 1},
                        condition='full',
                        description='The pot',
                    ),
                    'stove': ResourceDefinition('stove', 'OS::Heat::None'),
                },
                {
                    'value': OutputDefinition(
                        'value', {'Fn::GetAtt': ['pot', 'value']}, 'It', 'full'
                    )
                },
                frozenset({'litres'}),
            ),
            (
                found.version.name,
                found.description,
                found.groups,
                found.parameters,
                list(found.conditions),
                found.resources,
                found.outputs,
                found.hidden,
            ),
        )

    def test_problems_have_the_lines_and_paths_of_the_format(self):
        written = parsed("""
            AWSTemplateFormatVersion: 2010-09-09
            Parameters:
              a: {Type: Text}
              b: {Type: String, MinValue: 1, MinLength: x, Default: [1]}
              AWS::Region: {Type: Number, AllowedValues: []}
              c: 1
              d: {Default: 1, NoEcho: maybe}
              e: {Type: String, AllowedValues: [x], Default: y}
            Mappings: {m: 1, n: {k: 2}}
            Resources:
              r: {Type: T, properties: {}}
              s: {Type: '', DependsOn: x, DeletionPolicy: Snapshot}
              t: 5
              u:
                Type: T
                Properties:
                  a: {Ref: rr}
                  b: {'Fn::GetAtt': web.x}
                  c: {'Fn::GetAtt': web}
                  d: {'Fn::FindInMap': [n, kk, v]}
                  e: {'Fn::Sub': Metadata}
            Outputs: {o: {value: 1}, p: {Value: {'Fn::Join': [x]}}}
            Rules: {}
            """)

        types = 'String, Number, Boolean, Json, CommaDelimitedList'
        self.assertEqual(
            [
                f"template:3: Parameters.a.Type: 'Text' is no type of a parameter; "
                f'write one of {types}',
                'template:4: Parameters.b.MinValue: a string has no such constraint; '
                'this one is for number',
                "template:4: Parameters.b.MinLength: 'x' is not a whole number",
                'template:4: Parameters.b.Default: Invalid default: it is a list and '
                'must be text',
                "template:5: Parameters.'AWS::Region': the names AWS::... are those of "
                'pseudo parameters; rename it',
                "template:5: Parameters.'AWS::Region'.AllowedValues: this list is "
                'empty; write a list of the values, like [small, large]',
                'template:6: Parameters.c: this is a number; it must be a mapping like '
                '{Type: String}',
                'template:7: Parameters.d.Type: Missing parameter type for parameter: '
                f'd; write one of {types}',
                'template:7: Parameters.d.NoEcho: it must be true or false',
                'template:8: Parameters.e.Default: Invalid default: it must be one of '
                "'x'",
                'template:9: Mappings.m: this is a number; it must be a mapping of '
                'keys',
                'template:9: Mappings.n.k: this is a number; it must be a mapping of '
                'values',
                'template:11: Resources.r.properties: there is no such key; did you '
                'mean Properties?',
                'template:12: Resources.s.Type: this is text; write the type of the '
                'resource, like OS::Heat::None',
                'template:12: Resources.s.DependsOn: there is no resource x; name one '
                'of the template',
                "template:12: Resources.s.DeletionPolicy: 'Snapshot' is not one of "
                'Delete, Retain; Retain keeps the resource when the stack is deleted',
                'template:13: Resources.t: this is a number; it must be a mapping like '
                '{Type: OS::Heat::None}',
                'template:17: Resources.u.Properties.a.Ref: there is no parameter or '
                'resource rr; did you mean r?',
                "template:18: Resources.u.Properties.b.'Fn::GetAtt': there is no "
                'resource web; name a resource of the template',
                "template:19: Resources.u.Properties.c.'Fn::GetAtt': it names no "
                'attribute; write Fn::GetAtt: [NAME, ATTRIBUTE] or NAME.ATTRIBUTE',
                "template:20: Resources.u.Properties.d.'Fn::FindInMap': the mapping "
                'has no such key; add it to Mappings',
                'template:21: Resources.u.Properties.e: the function '
                'Fn::Sub is not supported here; use Fn::Replace',
                'template:22: Outputs.o: this is no output (Value is missing); write '
                '{Value: ...}',
                "template:22: Outputs.p.Value.'Fn::Join': it has 1 arguments, not 2; "
                "write Fn::Join: [', ', [a, b]]",
                'template:23: Rules: there is no such key; known are '
                'AWSTemplateFormatVersion, Description, Parameters, Conditions, '
                'Resources, Outputs, Mappings',
            ],
            self.problems(template.load, written),
        )

    def test_sections_may_be_empty(self):
        found = template.load({**HEAT, 'Resources': None, 'Mappings': None})

        self.assertEqual(
            ({}, {}, ''), (found.resources, found.outputs, found.description)
        )

    def test_the_format_of_heat_has_no_conditions(self):
        sections = {
            'Conditions': {'c': True},
            'Resources': {'a': {'Type': 'T', 'Condition': 'c'}},
        }
        text = 'this is for AWSTemplateFormatVersion 2010-09-09'

        self.assertEqual(
            [f'Conditions: {text}', f'Resources.a.Condition: {text}'],
            self.problems(template.load, {**HEAT, **sections}),
        )
        self.assertEqual(['a'], list(template.load({**AWS, **sections}).resources))

    def test_description_has_the_format_of_the_api(self):
        sections = {
            'Description': 'Tea',
            'Parameters': {
                'leaf': {
                    'Type': 'String',
                    'AllowedValues': ['green'],
                    'MinLength': '1',
                    'ConstraintDescription': 'Green.',
                },
                **PARAMETERS,
            },
        }

        found = description.describe(template.load({**AWS, **sections}), {'size': 4})

        self.assertEqual(
            {
                'Description': 'Tea',
                'Parameters': {
                    'leaf': {
                        'Type': 'String',
                        'Label': 'leaf',
                        'Description': '',
                        'NoEcho': 'false',
                        'AllowedValues': ['green'],
                        'MinLength': 1,
                        'ConstraintDescription': 'Green. Green.',
                    },
                    'size': {
                        'Type': 'Number',
                        'Label': 'size',
                        'Description': '',
                        'NoEcho': 'false',
                        'Default': '3',
                        'Value': 4,
                    },
                    'names': {
                        'Type': 'CommaDelimitedList',
                        'Label': 'names',
                        'Description': '',
                        'NoEcho': 'false',
                        'Default': 'a,b',
                    },
                    'tree': {
                        'Type': 'Json',
                        'Label': 'tree',
                        'Description': '',
                        'NoEcho': 'false',
                        'Default': '{"x": [1, 2]}',
                    },
                    'secret': {
                        'Type': 'String',
                        'Label': 'secret',
                        'Description': '',
                        'NoEcho': 'true',
                        'Default': 'hunter2',
                    },
                },
            },
            found,
        )


class FunctionsTest(CfnCase):
    def failure(self, written, references=None, **sections):
        (problem,) = self.problems(evaluated, written, references, **sections)
        return problem.removeprefix('Resources.web.Properties.value.')

    def test_ref_gives_parameters_pseudo_parameters_and_resources(self):
        cases = {
            'size': 3,
            'names': ['a', 'b'],
            'tree': {'x': [1, 2]},
            'AWS::StackName': 'teapot',
            'AWS::StackId': 'arn:openstack:heat::tenant-1:stacks/teapot/1-2-3',
            'AWS::Region': formats.REGION,
            'db': 'id-of-db',
        }

        self.assertEqual(
            cases,
            {name: evaluated({'Ref': name}, CreatedResources()) for name in cases},
        )
        self.assertIsNone(evaluated({'Ref': 'db'}))

    def test_attributes_are_named_in_two_forms(self):
        created = CreatedResources(db={'ip': '10.0.0.1', 'Outputs.ip': '10.0.0.2'})
        forms = (['db', 'ip'], 'db.ip', ['db', 'Outputs.ip'], 'db.Outputs.ip')

        self.assertEqual(
            ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
            [evaluated({'Fn::GetAtt': form}, created) for form in forms],
        )

    def test_references_are_dependencies(self):
        made = blueprint(
            {
                'Resources': {
                    'a': {'Type': 'T'},
                    'b': {'Type': 'T', 'Metadata': {'x': {'Ref': 'a'}}},
                    'c': {'Type': 'T', 'Properties': {'x': {'Fn::GetAtt': 'b.y'}}},
                    'd': {'Type': 'T', 'DependsOn': ['a', 'c']},
                }
            }
        )

        self.assertEqual(
            {'a': (), 'b': ('a',), 'c': ('b',), 'd': ('a', 'c')}, made.requires
        )
        self.assertEqual(
            [('b', 'y')], [(one.resource, one.name) for one in made.attributes]
        )

    def test_texts_are_joined_split_and_replaced(self):
        self.assertEqual(
            ['a-3--{"x": [1, 2]}', ['a', 'b', ''], 'x is hunter2, $y', 'plain', ''],
            [
                evaluated(written)
                for written in (
                    {
                        'Fn::Join': [
                            '-',
                            ['a', {'Ref': 'size'}, {'Ref': 'db'}, {'Ref': 'tree'}],
                        ]
                    },
                    {'Fn::Split': [',', 'a,b,']},
                    {'Fn::Replace': [{'$x': {'Ref': 'secret'}}, 'x is $x, $y']},
                    {'Fn::Base64': 'plain'},
                    {'Fn::Join': ['', [{'Ref': 'db'}]]},
                )
            ],
        )

    def test_items_are_selected_from_lists_mappings_and_json(self):
        cases = [
            (['1', ['a', 'b']], 'b'),
            ([1, {'Ref': 'names'}], 'b'),
            ([-1, ['a', 'b']], 'b'),
            ([2, ['a', 'b']], ''),
            (['x', {'Ref': 'tree'}], [1, 2]),
            (['y', {'Ref': 'tree'}], ''),
            (['a', '{"a": {"b": 1}}'], {'b': 1}),
            ([0, '["a"]'], 'a'),
            ([0, ''], ''),
            ([0, {'Ref': 'db'}], ''),
        ]

        self.assertEqual(
            [value for _, value in cases],
            [evaluated({'Fn::Select': written}) for written, _ in cases],
        )

    def test_values_are_found_in_mappings(self):
        self.assertEqual(
            ['penguin', [1, 2], 'b'],
            [
                evaluated({'Fn::FindInMap': path})
                for path in (
                    ['zones', 'north', 'image'],
                    ['zones', {'Fn::Select': [0, ['north']]}, 'ports'],
                    ['zones', 1, 'a'],
                )
            ],
        )

    def test_zones_are_listed_and_members_become_a_mapping(self):
        members = ['.member.0.Name=a', '.member.0.Value=1=2', '.member.1.Value=']

        self.assertEqual(
            [['nova'], {'a': '1=2', 'b': ''}, {}],
            [
                evaluated(written)
                for written in (
                    {'Fn::GetAZs': ''},
                    {
                        'Fn::MemberListToMap': [
                            'Name',
                            'Value',
                            [*members, '.member.1.Name=b', 'x'],
                        ]
                    },
                    {'Fn::MemberListToMap': ['Name', 'Value', []]},
                )
            ],
        )

    def test_invalid_arguments_are_rejected(self):
        no_json = 'the text to select from is not JSON; give it a list or a mapping'
        cases = {
            'Fn::Select': [
                ([{}, ['a']], 'its index is a mapping; it must be a number'),
                (['--1', ['a']], 'its index is text; it must be a number'),
                ([1, {'a': 1}], 'its index is a number; it must be a key'),
                ([0, 'a,b'], no_json),
                ([0, {'Ref': 'secret'}], no_json),
                (
                    ['a', '{"a": NaN}'],
                    'the text to select from: nan is not a number in JSON',
                ),
                (
                    [0, 5],
                    'the values to select from: this is a number; it must be a list',
                ),
            ],
            'Fn::FindInMap': [
                (
                    ['z', 'north', 'image'],
                    'there is no mapping of that name; add it to Mappings',
                ),
                (
                    ['zones', {'Ref': 'secret'}, 'image'],
                    'the mapping has no such key; add it to Mappings',
                ),
                (
                    ['zones', 'north', 'x'],
                    'the mapping has no such value; add it to Mappings',
                ),
                (['zones', [], 'x'], 'the name of the key is a list; it must be text'),
            ],
            'Fn::Base64': [([], 'its argument is a list; it must be text')],
            'Fn::MemberListToMap': [
                ([1, 'b', []], 'the names of the key and the value must be text'),
                (['a', 'b', [1]], 'a member is a number; it must be text'),
                (
                    ['a', 'b', ['.member.0.a=1']],
                    'a member lacks its key or its value; write both, like '
                    '.member.0.Name=a and .member.0.Value=b',
                ),
            ],
        }

        self.assertEqual(
            [f"'{name}': {text}" for name, each in cases.items() for _, text in each],
            [
                self.failure({name: written})
                for name, each in cases.items()
                for written, _ in each
            ],
        )

    def test_results_are_bounded(self):
        chunk = {'Fn::Join': [',', ['x' * 1000] * 1000]}
        members = [f'.member.{i}.a={"x" * 1000}' for i in range(2)]
        text = f'this makes more than {MAX_MADE} characters and values; make less'

        for written in (
            {'Fn::Join': ['', [chunk] * 5]},
            {'Fn::Split': ['x', chunk]},
            {'Fn::Replace': [{'x': 'y' * 10}, chunk]},
        ):
            self.assertIn(text, self.failure(written))
        self.assertIn(
            'a member lacks', self.failure({'Fn::MemberListToMap': ['a', 'b', members]})
        )

    def test_functions_of_hot_are_data(self):
        written = {'get_param': 'size'}

        self.assertEqual(written, evaluated(written))


class ConditionsTest(CfnCase):
    CONDITIONS: ClassVar = {
        'small': {'Fn::Equals': [{'Ref': 'size'}, 3]},
        'large': {'Fn::Not': ['small']},
        'north': {
            'Fn::Equals': [
                {'Fn::FindInMap': ['zones', 'north', 'image']}, 'penguin'
            ]
        },
        'both': {'Fn::And': ['small', 'north', True]},
        'one': {'Fn::Or': ['large', {'Fn::Not': [{'Fn::Not': ['north']}]}]},
    }  # fmt: skip

    def test_conditions_decide_values_resources_and_outputs(self):
        made = blueprint(
            {
                'Parameters': PARAMETERS,
                'Mappings': MAPPINGS,
                'Conditions': self.CONDITIONS,
                'Resources': {
                    'a': {
                        'Type': 'T',
                        'Condition': 'both',
                        'Properties': {
                            'x': {'Fn::If': ['large', 'L', 'S']},
                            'y': {'Fn::If': ['one', {'Ref': 'size'}, 'S']},
                        },
                    },
                    'b': {'Type': 'T', 'Condition': 'large'},
                },
                'Outputs': {
                    'o': {'Value': 1, 'Condition': 'small'},
                    'p': {'Value': 2, 'Condition': 'large'},
                },
            }
        )

        self.assertEqual(
            (
                {
                    'small': True,
                    'large': False,
                    'north': True,
                    'both': True,
                    'one': True,
                },
                ['a'],
                {'x': 'S', 'y': 3},
                [('o', 1)],
            ),
            (
                made.conditions,
                list(made.resources),
                made.properties('a', NoReferences()),
                [(one.key, one.value) for one in made.outputs(NoReferences())],
            ),
        )

    def test_invalid_conditions_are_rejected(self):
        self.assertEqual(
            [
                "Conditions.a.'Fn::Equals'[0].Ref: a condition is evaluated before "
                'resources exist; use Ref with a parameter',
                "Conditions.b.'Fn::Not': its arguments are text, not a list; write "
                'Fn::Not: [CONDITION]',
                'Conditions.c: this is a number; a condition is a name of one, true '
                'or false, or one function like {Fn::Equals: [{Ref: size}, small]}',
                "Conditions.d.'Fn::And'[1]: there is no condition x; name a condition "
                'of the template',
                "Resources.web.Properties.value.'Fn::If': it has 2 arguments, not 3; "
                'write Fn::If: [CONDITION, VALUE, OTHERWISE]',
            ],
            self.problems(
                evaluated,
                {'Fn::If': ['d', 1]},
                Conditions={
                    'a': {'Fn::Equals': [{'Ref': 'db'}, 1]},
                    'b': {'Fn::Not': 'a'},
                    'c': 5,
                    'd': {'Fn::And': [True, 'x']},
                },
            ),
        )


NAMES = st.sampled_from(
    [
        'a', 'Type', 'Default', 'Properties', 'DependsOn', 'Value', 'Condition',
        'NoEcho', 'MinLength', 'AllowedValues', 'UpdatePolicy', 'x',
        *function_tables.table_of(versions.CFN_VERSIONS[0]).values,
        *function_tables.table_of(versions.CFN_VERSIONS[0]).conditions,
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(
        LEAVES, st.sampled_from(['String', 'Number', 'AWS::Region', 'a.b', '-1'])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=2)
    ),
    max_leaves=12,
)
SECTIONS = ('Parameters', 'Mappings', 'Conditions', 'Resources', 'Outputs', 'x')


class FuzzTest(base.TestCase):
    @settings(max_examples=200, deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from(SECTIONS),
            st.one_of(
                LEAVES, st.dictionaries(st.sampled_from('ab'), VALUES, max_size=2)
            ),
        ),
        st.sampled_from(versions.CFN_VERSIONS),
    )
    def test_any_mapping_is_parsed_or_invalid(self, sections, version):
        try:
            template.load({version.key: version.date, **sections})
        except exceptions.TemplateInvalid as error:
            self.assertNotEqual([], error.problems)

    @settings(max_examples=150, deadline=None)
    @given(VALUES)
    def test_any_value_is_evaluated_or_invalid(self, written):
        try:
            evaluated(written, CreatedResources(db={'b': 1}))
        except exceptions.StackValidationFailed as error:
            self.assertNotEqual([], error.problems)


class ListsTest(base.TestCase):
    def test_functions_are_listed_by_version(self):
        names = [
            'Fn::Base64', 'Fn::FindInMap', 'Fn::GetAZs', 'Fn::GetAtt', 'Fn::Join',
            'Fn::MemberListToMap', 'Fn::Replace', 'Fn::ResourceFacade', 'Fn::Select',
            'Fn::Split', 'Ref',
        ]  # fmt: skip
        aws, heat = versions.CFN_VERSIONS

        self.assertEqual(
            [
                names,
                names,
                sorted([*names, 'Fn::If']),
                sorted(
                    [*names, 'Fn::If', 'Fn::And', 'Fn::Equals', 'Fn::Not', 'Fn::Or']
                ),
            ],
            [
                [f['functions'] for f in function_tables.list_functions(version, more)]
                for version, more in (
                    (heat, False),
                    (heat, True),
                    (aws, False),
                    (aws, True),
                )
            ],
        )
