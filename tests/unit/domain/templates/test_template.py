"""The declarations of a template."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import base
from tests.unit.domain.templates.worlds import VERSION, parsed
from watcherlite import exceptions
from watcherlite.domain.templates import template, versions
from watcherlite.domain.templates.definitions import (
    OutputDefinition,
    ParameterDefinition,
    ResourceDefinition,
)
from watcherlite.domain.templates.functions import function_tables


class LoadTest(base.TestCase):
    def test_invalid_sections_are_rejected_with_their_places(self):
        later = (
            'this is for heat_template_version 2016-10-14 and later; this one is '
            '2016-04-08'
        )
        for sections, *expected in (
            (
                {
                    'heat_template_version': '2016-04-08',
                    'conditions': {'c': True},
                    'resources': {'a': {'type': 'T', 'condition': 'c'}},
                },
                f'conditions: {later}',
                f'resources.a.condition: {later}',
            ),
            (
                {'conditions': {'a': {'not': 'b'}, 'b': {'or': ['c', True]}, 'c': 'a'}},
                'conditions.a: conditions refer to each other in a cycle: b needs c '
                'needs a needs b; break it',
            ),
            (
                {
                    'conditions': {
                        'a': {'equals': [{'get_attr': ['x', 'y']}, 1]},
                        'b': {'maybe': []},
                        'c': 3,
                        'd': 'e',
                    },
                    'resources': {'x': {'type': 'T'}},
                },
                'conditions.a.equals[0].get_attr: a condition is evaluated before '
                'resources exist; use get_param',
                'conditions.b: there is no function maybe; known are and, contains, '
                'digest, equals, filter, get_attr, get_file, get_param, get_resource, '
                'if, list_concat, list_concat_unique, list_join, make_url, map_merge, '
                'map_replace, not, or, repeat, resource_facade, str_replace, '
                'str_replace_strict, str_replace_vstrict, str_split',
                'conditions.c: this is a number; a condition is a name of one, true or '
                'false, or one function like {equals: [{get_param: size}, small]}',
                'conditions.d: there is no condition e; name a condition of the '
                'template',
            ),
            (
                {'resources': {'a': {'type': 'T', 'deletion_policy': 'Snapshot'}}},
                "resources.a.deletion_policy: 'Snapshot' is not one of Delete, Retain; "
                'Retain keeps the resource when the stack is deleted',
            ),
            (
                {
                    'parameters': {'a': {'type': 'string'}},
                    'parameter_groups': [
                        {'parameters': ['a', 'b']},
                        {'parameters': ['a']},
                        {'label': 'x'},
                    ],
                },
                "parameter_groups[0].parameters[1]: there is no parameter 'b'; name "
                'one of the template',
                'parameter_groups[1].parameters[0]: a is in a group already; name it '
                'once',
                'parameter_groups[2].parameters: this is nothing; it must be a list of '
                'names of parameters',
            ),
        ):
            error = self.assertRaises(
                exceptions.TemplateInvalid,
                template.load,
                {'heat_template_version': VERSION, **sections},
            )
            self.assertEqual(expected, error.problems)

    def test_a_complete_template_is_evaluated(self):
        found = template.load(
            parsed("""
                heat_template_version: newton
                description: Tea
                parameter_groups: [{label: Water, parameters: [litres]}]
                parameters:
                  litres: {type: number, default: 2, label: Litres, hidden: true}
                conditions:
                  full: {not: empty}
                  empty: {equals: [{get_param: litres}, 0]}
                resources:
                  pot:
                    type: OS::Heat::Value
                    description: The pot
                    properties: {value: {get_param: litres}}
                    metadata: {a: b}
                    depends_on: stove
                    deletion_policy: retain
                    update_policy: {batch: 1}
                    condition: full
                  stove: {type: OS::Heat::None, depends_on: [], external_id: abc}
                outputs:
                  value: {value: {get_attr: [pot, value]}, description: It}
                """)
        )

        self.assertEqual(
            (
                'heat_template_version.2016-10-14',
                'Tea',
                ({'label': 'Water', 'parameters': ['litres']},),
                {
                    'litres': ParameterDefinition(
                        'litres', 'number', label='Litres', default=2, hidden=True
                    )
                },
                ['empty', 'full'],
                {
                    'pot': ResourceDefinition(
                        'pot',
                        'OS::Heat::Value',
                        properties={'value': {'get_param': 'litres'}},
                        metadata={'a': 'b'},
                        depends_on=('stove',),
                        deletion_policy='Retain',
                        update_policy={'batch': 1},
                        condition='full',
                        description='The pot',
                    ),
                    'stove': ResourceDefinition(
                        'stove', 'OS::Heat::None', external_id='abc'
                    ),
                },
                {
                    'value': OutputDefinition(
                        'value', {'get_attr': ['pot', 'value']}, 'It'
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

    def test_a_version_is_needed_and_has_to_exist(self):
        known = (
            '2013-05-23, 2014-10-16, 2015-04-30, 2015-10-15, 2016-04-08, newton, '
            'ocata, pike, queens, rocky, wallaby'
        )
        cases = [
            {},
            {'heat_template_version': '2099-01-01'},
            {'heat_template_version': None},
            {'AWSTemplateFormatVersion': '2010-09-10'},
            {'AWSTemplateFormatVersion': '2010-09-09', 'heat_template_version': 'pike'},
        ]

        self.assertEqual(
            [
                'Template version was not provided; write heat_template_version: '
                '2021-04-16',
                'heat_template_version: The template version is invalid: '
                '"heat_template_version: 2099-01-01". "heat_template_version" should '
                f'be one of: {known}',
                'heat_template_version: The template version is invalid: '
                '"heat_template_version: nothing". "heat_template_version" should be '
                f'one of: {known}',
                'AWSTemplateFormatVersion: The template version is invalid: '
                '"AWSTemplateFormatVersion: 2010-09-10". "AWSTemplateFormatVersion" '
                'should be 2010-09-09',
                'AWSTemplateFormatVersion: Ambiguous versions (heat_template_version, '
                'AWSTemplateFormatVersion); write only one of these keys',
            ],
            [
                self.assertRaises(
                    exceptions.TemplateInvalid, template.load, case
                ).problems[0]
                for case in cases
            ],
        )

    def test_sections_may_be_empty(self):
        found = template.load(
            {
                'heat_template_version': 'pike',
                'resources': None,
                'outputs': {},
                'parameters': None,
            }
        )

        self.assertEqual(
            ({}, {}, {}), (found.resources, found.outputs, found.parameters)
        )


TABLE = function_tables.table_of(versions.LATEST)


def version(date):
    return versions.find(versions.KEY, date)


def nested(leaves):
    names = st.sampled_from(
        [
            'a', 'type', 'default', 'constraints', 'properties', 'depends_on', 'value',
            'condition', 'template', 'params', 'for_each', 'permutations', 'length',
            'min', 'allowed_values', *TABLE.values, *TABLE.conditions,
        ]
    )  # fmt: skip
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=2)
        ),
        max_leaves=12,
    )


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(['a', 'b', 'string', 'number', 'T', 'json', 'OS::stack_name']),
)


class FuzzTest(base.TestCase):
    @settings(max_examples=200, deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from(['parameters', 'conditions', 'resources', 'outputs', 'x']),
            st.one_of(
                LEAVES,
                st.dictionaries(st.sampled_from('ab'), nested(LEAVES), max_size=2),
            ),
        ),
        st.sampled_from(versions.VERSIONS),
    )
    def test_any_mapping_is_parsed_or_invalid(self, sections, version):
        try:
            template.load({'heat_template_version': version.date, **sections})
        except exceptions.TemplateInvalid as error:
            self.assertNotEqual([], error.problems)


class ListsTest(base.TestCase):
    def test_versions_are_listed_with_aliases(self):
        listed = versions.list_versions()

        self.assertEqual(13, len(listed))
        self.assertEqual(
            [
                {
                    'version': 'heat_template_version.2013-05-23',
                    'type': 'hot',
                    'aliases': [],
                },
                {
                    'version': 'heat_template_version.2021-04-16',
                    'type': 'hot',
                    'aliases': ['heat_template_version.wallaby'],
                },
                {
                    'version': 'AWSTemplateFormatVersion.2010-09-09',
                    'type': 'cfn',
                    'aliases': [],
                },
                {
                    'version': 'HeatTemplateFormatVersion.2012-12-12',
                    'type': 'cfn',
                    'aliases': [],
                },
            ],
            [listed[0], *listed[-3:]],
        )

    def test_functions_are_listed_by_version(self):
        lookups = ['get_attr', 'get_file', 'get_param', 'get_resource']
        names = [*lookups, 'list_join', 'resource_facade']

        self.assertEqual(
            [*names, 'str_replace'],
            [
                function['functions']
                for function in function_tables.list_functions(version('2013-05-23'))
            ],
        )
        self.assertEqual(
            function_tables.list_functions(version('2013-05-23')),
            function_tables.list_functions(version('2013-05-23'), True),
        )
        self.assertEqual(
            {'and', 'equals', 'not', 'or'},
            {
                function['functions']
                for function in function_tables.list_functions(
                    version('2016-10-14'), True
                )
            }
            - {
                function['functions']
                for function in function_tables.list_functions(version('2016-10-14'))
            },
        )
        self.assertEqual(
            [],
            [
                function
                for function in function_tables.list_functions(
                    version('2021-04-16'), True
                )
                if not function['description'].endswith('.')
            ],
        )
