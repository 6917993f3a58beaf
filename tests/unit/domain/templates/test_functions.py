"""The functions of templates."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import base
from tests.unit.domain.templates.test_template import LEAVES, nested
from tests.unit.domain.templates.worlds import CreatedResources, blueprint, evaluated
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
#: A value that is known only once a resource has been created.
UNKNOWN = {'get_attr': ['db', 'x']}


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
            'OS::project_id': 'tenant-1',
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

    def test_resources_have_references_and_files_come_with_the_template(self):
        made = CreatedResources(db={'ip': ['10.0.0.1', {'deep': 1}], 'show': {'id': 1}})
        written = [
            {'get_resource': 'db'},
            {'get_attr': ['db', 'ip', 0]},
            {'get_attr': ['db', 'ip', {'get_param': ['tree', 'x', 0]}, 'deep']},
            {'get_attr': ['db', 'show', 'id']},
            {'get_attr': ['db']},
        ]

        self.assertEqual(
            [
                *('id-of-db', '10.0.0.1', 1, 1),
                {'ip': ['10.0.0.1', {'deep': 1}], 'show': {'id': 1}},
            ],
            self.value(written, made),
        )
        self.assertEqual([None] * 5, self.value(written))
        self.assertEqual('#!', self.value({'get_file': 'run'}, files={'run': '#!'}))

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


class ResultsTest(FunctionCase):
    def assert_results(self, *cases):
        for written, expected in cases:
            self.assertEqual(expected, self.value(written), written)

    def test_names_in_a_text_are_replaced_longest_first_and_only_once(self):
        values = {
            'A': {'k': [1, True]},
            'B': {'get_param': 'size'},
            'C': {'get_param': 'on'},
            'D': UNKNOWN,
            'E': [1],
        }
        strict = {'template': 'a', 'params': {'a': '1', 'c': '2', 'b': '3'}}
        url = {'$host': '1.2.3.4', '$port': 80}
        self.assert_results(
            *(
                ({'str_replace': {'template': text, 'params': params}}, expected)
                for text, params, expected in (
                    ('http://$host:$port/', url, 'http://1.2.3.4:80/'),
                    ('a-b', {'a': 'b', 'b': 'a'}, 'b-a'),
                    ('n-name', {'n': 'x', 'name': 'long'}, 'x-long'),
                    ('A B C D E', values, '{"k": [1, true]} 3 True  [1]'),
                )
            ),
            ({'str_replace': strict}, '1'),
        )

    def test_texts_are_joined_split_and_concatenated(self):
        parts = {
            'scheme': 'https',
            'username': 'me',
            'password': 's@y',
            'host': 'example.org',
            'port': 8080,
            'path': 'a b',
            'query': {'q': '1 2'},
            'fragment': 'top',
        }
        url = 'https://me:s%40y@example.org:8080/a%20b?q=1+2#top'
        bracketed = {'scheme': 'http', 'host': '::1', 'path': '/x'}
        self.assert_results(
            ({'list_join': [', ', {'get_param': 'names'}]}, 'a, b'),
            ({'list_join': ['-', ['a', 'b'], ['c', {'k': 1}, 3]]}, 'a-b-c-{"k": 1}-3'),
            ({'list_join': [', ', []]}, ''),
            ({'list_join': [', ', UNKNOWN]}, ''),
            ({'str_split': [',', 'a,b,']}, ['a', 'b', '']),
            ({'str_split': [',', 'a,b', 1]}, 'b'),
            ({'str_split': [',', 'a,b', '1']}, 'b'),
            ({'str_split': [',', UNKNOWN]}, None),
            ({'digest': ['md5', 'hello']}, '5d41402abc4b2a76b9719d911017c592'),
            ({'digest': ['sha256', UNKNOWN]}, None),
            ({'make_url': parts}, url),
            ({'make_url': bracketed}, 'http://[::1]/x'),
            ({'make_url': {'path': '/only'}}, '/only'),
        )

    def test_maps_and_lists_are_merged_and_repeated(self):
        pairs = {'%p%': [80, 81], '%n%': {'get_param': 'names'}}
        ports = {'ports': ['%p%-%n%', {'n%p%': '%p%'}]}
        replaced = [{'a': 1, 'c': 2}, {'keys': {'a': 'b'}, 'values': {'1': 10}}]
        self.assert_results(
            ({'map_merge': [{'a': 1}, {'a': 2}, {'b': 3}, UNKNOWN]}, {'a': 2, 'b': 3}),
            ({'map_merge': []}, {}),
            ({'map_replace': replaced}, {'b': 10, 'c': 2}),
            ({'list_concat': [[1, 2], [2, 3], UNKNOWN]}, [1, 2, 2, 3]),
            ({'list_concat': []}, []),
            ({'list_concat_unique': [[1, True, 2], [2, 3]]}, [1, True, 2, 3]),
            ({'list_concat_unique': []}, []),
            ({'filter': [['a', 'b'], ['a', 'b', 'c']]}, ['c']),
            ({'contains': ['a', {'get_param': 'names'}]}, True),
            ({'contains': ['5', {'get_param': 'tree'}]}, True),
            ({'contains': ['ell', 'hello']}, True),
            ({'contains': ['a', UNKNOWN]}, False),
            (
                {'repeat': {'for_each': pairs, 'template': ports}},
                [
                    {'ports': ['80-a', {'n80': 80}]},
                    {'ports': ['80-b', {'n80': 80}]},
                    {'ports': ['81-a', {'n81': 81}]},
                    {'ports': ['81-b', {'n81': 81}]},
                ],
            ),
            (repeat_in_parallel(['x', 'y'], ['a', 'b']), ['xa', 'yb']),
            *(
                ({'repeat': {'for_each': {'%': values}, 'template': '%'}}, expected)
                for values, expected in (
                    ({'get_param': 'tree'}, ['x', '5']),
                    ([{'k': 1}, [2]], [{'k': 1}, [2]]),
                    (UNKNOWN, []),
                )
            ),
        )

    def test_arguments_that_do_not_fit_are_rejected_with_the_function(self):
        unfound = {'template': 'a', 'params': {'a': '1', 'c': '2', 'b': '3'}}
        empty = {'template': 'a', 'params': {'a': ''}}
        for written, text in (
            ({'get_file': 'run'}, 'No content found in the "files" section for '
             'get_file path: run; send its text in files'),
            ({'str_replace_strict': unfound}, 'The following params were not found in '
             'the template; remove them, or use str_replace: b, c'),
            ({'str_replace_vstrict': empty}, 'some params are empty; give each a '
             'value: a'),
            ({'str_split': [',', 'a,b', 2]}, 'Incorrect index to "str_split" should be '
             'between 0 and 1'),
            ({'digest': ['sha1024', 'x']}, 'the algorithm must be one of md5, sha1, '
             'sha224, sha256, sha384, sha512'),
            ({'map_replace': [{'a': 1, 'b': 2}, {'keys': {'a': 'b'}}]}, 'two keys '
             'have the same replacement; make the replacements distinct'),
            (repeat_in_parallel(['x', 'y'], ['a']), 'without permutations all lists of '
             'for_each must be of one length; these have 2, 1 values'),
        ):  # fmt: skip
            (function,) = written
            self.assertEqual(f'{function}: {text}', self.failure(written))


def repeat_in_parallel(first, second):
    """Return a template with a `repeat` over lists in parallel."""
    return {
        'repeat': {
            'for_each': {'%a%': first, '%b%': second},
            'template': '%a%%b%',
            'permutations': False,
        }
    }


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

    def test_many_names_in_a_long_text_are_replaced_in_time(self):
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
            'resources.web.properties.value: the function yaql is not supported here; '
            'use map_merge, list_concat, repeat or filter',
            self.failure({'yaql': 'metadata'}),
        )


class Anything:
    """References with drawn values."""

    def __init__(self, value):
        self._value = value

    def reference(self, name):
        return self._value

    def attribute(self, name, path):
        return self._value


class FuzzTest(base.TestCase):
    @settings(max_examples=250, deadline=None)
    @given(nested(st.one_of(LEAVES, st.just({'get_param': 'any'}))), nested(LEAVES))
    def test_any_value_is_evaluated_or_invalid(self, written, value):
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
