"""The functions of templates."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import base
from tests.unit.domain.templates.test_template import LEAVES, nested
from tests.unit.domain.templates.worlds import Made, blueprint, evaluated
from watcherlite import exceptions
from watcherlite.domain.templates import scope

DECLARED = {
    'size': {'type': 'number', 'default': 3},
    'names': {'type': 'comma_delimited_list', 'default': 'a,b'},
    'tree': {'type': 'json', 'default': {'x': [1, {'y': 'deep'}], '5': 'five'}},
    'on': {'type': 'boolean', 'default': True},
    'secret': {'type': 'string', 'default': 'hunter2', 'hidden': True},
    'secrets': {'type': 'json', 'default': {'hunter2': 'x'}, 'hidden': True},
}


class FunctionCase(base.TestCase):
    def value(self, written, references=None, **given):
        return evaluated(written, references, declared=DECLARED, **given)

    def failure(self, written, references=None, **given):
        error = self.assertRaises(
            exceptions.StackValidationFailed, self.value, written, references, **given
        )
        return str(error).removeprefix('resources.web.properties.value.')


class LookupsTest(FunctionCase):
    def test_parameters_are_given_whole_or_by_a_path(self):
        tree = {'x': [1, {'y': 'deep'}], '5': 'five'}
        cases = {
            'size': 3,
            'names': ['a', 'b'],
            'on': True,
            'tree': tree,
            'OS::stack_name': 'teapot',
            'OS::stack_id': '1-2-3',
            'OS::project_id': 'kitchen',
        }

        self.assertEqual(
            cases, {name: self.value({'get_param': name}) for name in cases}
        )
        self.assertEqual(
            ['deep', 'five', 'b', '', '', ''],
            [
                self.value({'get_param': path})
                for path in (
                    ['tree', 'x', 1, 'y'],
                    ['tree', 5],
                    ['names', {'get_param': ['tree', 'x', 0]}],
                    ['tree', 'z'],
                    ['names', 'x'],
                    ['size', 1],
                )
            ],
        )

    def test_get_resource_returns_the_physical_reference(self):
        made = Made(db={'ip': ['10.0.0.1', {'deep': 1}], 'show': {'all': 1}})
        written = [
            {'get_resource': 'db'},
            {'get_attr': ['db', 'ip', 0]},
            {'get_attr': ['db', 'ip', {'get_param': ['tree', 'x', 0]}, 'deep']},
            {'get_attr': ['db']},
        ]

        self.assertEqual(
            ['id-of-db', '10.0.0.1', 1, {'all': 1}], self.value(written, made)
        )
        self.assertEqual([None] * 4, self.value(written))

    def test_files_are_those_that_came_with_the_template(self):
        self.assertEqual('#!', self.value({'get_file': 'run'}, files={'run': '#!'}))
        self.assertEqual(
            'get_file: No content found in the "files" section for get_file path: run; '
            'send its text in files',
            self.failure({'get_file': 'run'}),
        )

    def test_results_are_not_shared(self):
        made = blueprint(
            {
                'parameters': {'tree': DECLARED['tree']},
                'resources': {
                    'web': {
                        'type': 'T',
                        'properties': {'a': {'get_param': 'tree'}, 'b': {'c': [1]}},
                    }
                },
            }
        )
        first = made.properties('web', scope.NoReferences())
        first['a']['x'].clear()
        first['b']['c'].append(2)

        self.assertEqual(
            {'a': DECLARED['tree']['default'], 'b': {'c': [1]}},
            made.properties('web', scope.NoReferences()),
        )


class TextsTest(FunctionCase):
    def replaced(self, name='str_replace', **given):
        return self.value({name: given})

    def test_names_in_a_text_are_replaced_longest_first_and_only_once(self):
        self.assertEqual(
            [
                'http://1.2.3.4:80/',
                'b-a',
                'x-long',
                '{"k": [1, true]} 3 True  [1]',
            ],
            [
                self.replaced(
                    template='http://$host:$port/',
                    params={'$host': '1.2.3.4', '$port': 80},
                ),
                self.replaced(template='a-b', params={'a': 'b', 'b': 'a'}),
                self.replaced(template='n-name', params={'n': 'x', 'name': 'long'}),
                self.replaced(
                    template='A B C D E',
                    params={
                        'A': {'k': [1, True]},
                        'B': {'get_param': 'size'},
                        'C': {'get_param': 'on'},
                        'D': {'get_attr': ['db', 'x']},
                        'E': [1],
                    },
                ),
            ],
        )  # fmt: skip

    def test_the_strict_one_wants_each_name_in_the_text(self):
        text = {'template': 'a', 'params': {'a': '1', 'c': '2', 'b': '3'}}

        self.assertEqual(
            'str_replace_strict: The following params were not found in the template; '
            'remove them, or use str_replace: b, c',
            self.failure({'str_replace_strict': text}),
        )
        self.assertEqual('1', self.value({'str_replace': text}))
        self.assertEqual(
            'str_replace_vstrict: some params are empty; give each a value: a',
            self.failure(
                {'str_replace_vstrict': {'template': 'a', 'params': {'a': ''}}}
            ),
        )

    def test_lists_are_joined(self):
        self.assertEqual(
            ['a, b', 'a-b-c-{"k": 1}-3', '', ''],
            [
                self.value({'list_join': given})
                for given in (
                    [', ', {'get_param': 'names'}],
                    ['-', ['a', 'b'], ['c', {'k': 1}, 3]],
                    [', ', []],
                    [', ', {'get_attr': ['db', 'x']}],
                )
            ],
        )

    def test_texts_are_split(self):
        self.assertEqual(
            [['a', 'b', ''], 'b', 'b', None],
            [
                self.value({'str_split': given})
                for given in (
                    [',', 'a,b,'],
                    [',', 'a,b', 1],
                    [',', 'a,b', '1'],
                    [',', {'get_attr': ['db', 'x']}],
                )
            ],
        )
        self.assertEqual(
            'str_split: Incorrect index to "str_split" should be between 0 and 1',
            self.failure({'str_split': [',', 'a,b', 2]}),
        )

    def test_digests_are_in_hexadecimal(self):
        self.assertEqual(
            ['5d41402abc4b2a76b9719d911017c592', None],
            [
                self.value({'digest': ['md5', 'hello']}),
                self.value({'digest': ['sha256', {'get_attr': ['db', 'x']}]}),
            ],
        )
        self.assertEqual(
            'digest: the algorithm must be one of md5, sha1, sha224, sha256, sha384, '
            'sha512',
            self.failure({'digest': ['sha1024', 'x']}),
        )

    def test_urls_are_put_together(self):
        self.assertEqual(
            [
                'https://me:s%40y@example.org:8080/a%20b?q=1+2#top',
                'http://[::1]/x',
                '/only',
            ],
            [
                self.value({'make_url': parts})
                for parts in (
                    {
                        'scheme': 'https',
                        'username': 'me',
                        'password': 's@y',
                        'host': 'example.org',
                        'port': 8080,
                        'path': 'a b',
                        'query': {'q': '1 2'},
                        'fragment': 'top',
                    },
                    {'scheme': 'http', 'host': '::1', 'path': '/x'},
                    {'path': '/only'},
                )
            ],
        )


class GatheringsTest(FunctionCase):
    def test_maps_and_lists_are_put_together(self):
        unknown = {'get_attr': ['db', 'x']}

        self.assertEqual(
            [
                {'a': 2, 'b': 3},
                {'b': 10, 'c': 2},
                [1, 2, 2, 3],
                [1, True, 2, 3],
                ['c'],
                [True, True, True, False],
            ],
            [
                self.value({'map_merge': [{'a': 1}, {'a': 2}, {'b': 3}, unknown]}),
                self.value(
                    {
                        'map_replace': [
                            {'a': 1, 'c': 2},
                            {'keys': {'a': 'b'}, 'values': {'1': 10}},
                        ]
                    }
                ),
                self.value({'list_concat': [[1, 2], [2, 3], unknown]}),
                self.value({'list_concat_unique': [[1, True, 2], [2, 3]]}),
                self.value({'filter': [['a', 'b'], ['a', 'b', 'c']]}),
                self.value(
                    [
                        {'contains': ['a', {'get_param': 'names'}]},
                        {'contains': ['5', {'get_param': 'tree'}]},
                        {'contains': ['ell', 'hello']},
                        {'contains': ['a', unknown]},
                    ]
                ),
            ],
        )

    def test_nothing_put_together_is_nothing(self):
        self.assertEqual(
            [{}, [], []],
            [
                self.value({name: []})
                for name in ('map_merge', 'list_concat', 'list_concat_unique')
            ],
        )

    def test_keys_that_become_the_same_are_refused(self):
        self.assertEqual(
            'map_replace: two keys become the same; let each become another one',
            self.failure({'map_replace': [{'a': 1, 'b': 2}, {'keys': {'a': 'b'}}]}),
        )

    def test_a_template_is_repeated_for_each_combination(self):
        self.assertEqual(
            [
                {'ports': ['80-a', {'n80': 80}]},
                {'ports': ['80-b', {'n80': 80}]},
                {'ports': ['81-a', {'n81': 81}]},
                {'ports': ['81-b', {'n81': 81}]},
            ],
            self.value(
                {
                    'repeat': {
                        'for_each': {'%p%': [80, 81], '%n%': {'get_param': 'names'}},
                        'template': {'ports': ['%p%-%n%', {'n%p%': '%p%'}]},
                    }
                }
            ),
        )

    def test_without_permutations_lists_go_together(self):
        def repeated(*values):
            return {
                'repeat': {
                    'for_each': {'%a%': values[0], '%b%': values[1]},
                    'template': '%a%%b%',
                    'permutations': False,
                }
            }

        self.assertEqual(['xa', 'yb'], self.value(repeated(['x', 'y'], ['a', 'b'])))
        self.assertEqual(
            'repeat: without permutations all lists of for_each must be of one length; '
            'these have 2, 1 values',
            self.failure(repeated(['x', 'y'], ['a'])),
        )

    def test_repeat_accepts_maps(self):
        self.assertEqual(
            [['x', '5'], [{'k': 1}, [2]], []],
            [
                self.value({'repeat': {'for_each': {'%': values}, 'template': '%'}})
                for values in (
                    {'get_param': 'tree'},
                    [{'k': 1}, [2]],
                    {'get_attr': ['db', 'x']},
                )
            ],
        )


class BoundsTest(FunctionCase):
    def test_excessive_results_are_rejected(self):
        many = 'made of more than fits'
        doubled = 'a' * 10
        for _ in range(12):
            doubled = {'str_replace': {'template': doubled, 'params': {'a': 'a' * 10}}}
        cases = [
            doubled,
            {'str_replace': {'template': 'a' * 3000, 'params': {'a': 'b' * 3000}}},
            [{'get_param': 'long'}] * 100,
            {'list_join': ['', [{'get_param': 'long'}] * 30]},
            {
                'repeat': {
                    'for_each': {c: list(range(20)) for c in 'abcdefgh'},
                    'template': many,
                }
            },
            {
                'repeat': {
                    'for_each': {'%': list(range(2000))},
                    'template': {'get_param': 'long'},
                }
            },
        ]

        texts = [
            str(
                self.assertRaises(
                    exceptions.StackValidationFailed,
                    evaluated,
                    case,
                    declared={'long': {'type': 'string', 'default': 'x' * 100_000}},
                )
            )
            for case in cases
        ]

        self.assertEqual(
            ['this makes more than 4194304 characters and values; make less']
            * len(cases),
            [text.rpartition(': ')[2] for text in texts],
        )

    def test_deepest_allowed_value_is_evaluated(self):
        condition, value = True, 'x'
        for _ in range(94):
            condition = {'not': condition}
        for _ in range(46):
            value = {'if': ['deep', value, 'y']}

        self.assertEqual('x', self.value(value, conditions={'deep': condition}))

    def test_many_names_in_a_long_text_take_no_longer_than_they_may(self):
        text = {
            'template': 'x' * 200_000,
            'params': {f'name{i}': i for i in range(20_000)},
        }

        self.assertIn(
            'makes more than', self.failure({'str_replace': text}).partition(': ')[2]
        )


class SecretsTest(FunctionCase):
    def test_messages_do_not_contain_hidden_values(self):
        secret = {'get_param': 'secret'}
        keys = {'get_param': 'secrets'}
        cases = [
            {'get_param': [secret]},
            {'get_file': secret},
            {'get_resource': secret},
            {'get_attr': [secret, 'x']},
            {'get_attr': ['db', [secret]]},
            {'str_replace_strict': {'template': 'a', 'params': keys}},
            {'list_join': [[secret], ['a']]},
            {'str_split': [',', [secret]]},
            {'digest': [secret, 'a']},
            {'map_merge': [secret]},
            {'map_replace': [secret, {}]},
            {'list_concat': [secret]},
            {'repeat': {'for_each': {'a': secret}, 'template': 'x'}},
            {'repeat': {'for_each': keys, 'template': 'x'}},
            {'repeat': {'for_each': secret, 'template': 'x'}},
            {'make_url': {'host': 'a', 'port': secret}},
        ]

        failures = [self.failure(case) for case in cases]

        self.assertEqual(len(cases), len([f for f in failures if f]))
        self.assertEqual([], [f for f in failures if 'hunter2' in f])


class VersionsTest(FunctionCase):
    def test_functions_of_later_versions_are_data(self):
        written = {'list_concat': [[1], [2]]}

        self.assertEqual(
            [written, [1, 2]],
            [self.value(written, version=v) for v in ('2017-02-24', '2017-09-01')],
        )

    def test_mappings_that_resemble_functions_are_data(self):
        written = [
            {'get_params': 'x'},
            {'get_param': 'size', 'other': 1},
            {'equals': [1, 1]},
            {'Fn::Join': [1]},
        ]

        self.assertEqual(written, self.value(written))

    def test_unsupported_functions_are_reported(self):
        self.assertEqual(
            [
                'the function resource_facade is not supported here; hand over what it '
                'should give as a parameter',
                'the function yaql is not supported here; use map_merge, list_concat, '
                'repeat or filter',
            ],
            [
                self.failure({name: 'metadata'}).partition(': ')[2]
                for name in ('resource_facade', 'yaql')
            ],
        )


class Anything:
    """References that give whatever was drawn."""

    def __init__(self, value):
        self._value = value

    def reference(self, name):
        return self._value

    def attribute(self, name, path):
        return self._value


class FuzzTest(base.TestCase):
    @settings(max_examples=500, deadline=None)
    @given(nested(st.one_of(LEAVES, st.just({'get_param': 'any'}))), nested(LEAVES))
    def test_no_value_raises_anything_but_that_it_is_invalid(self, written, value):
        template = {
            'heat_template_version': '2021-04-16',
            'parameters': {'any': {'type': 'json', 'default': [value]}},
            'conditions': {'b': {'equals': [{'get_param': 'any'}, [1]]}},
            'resources': {
                'a': {'type': 'T', 'properties': {'p': written}},
                'T': {'type': 'T'},
            },
            'outputs': {'o': {'value': written}},
        }
        try:
            made = blueprint(template)
            made.properties('a', Anything(value))
            made.outputs(Anything(value))
        except exceptions.StackValidationFailed as error:
            self.assertNotEqual([], error.problems)
