"""The messages for invalid inputs."""

import types

import jsonschema

from tests import base
from tests.worlds import raises
from watcherlite import exceptions
from watcherlite.plugins import base as contract
from watcherlite.plugins import schemas


def kind_with(schema, **methods):
    return type('Kind', (contract.ActionType,), {'schema': schema, **methods})


def properties(**schemas_by_name):
    return {
        'type': 'object',
        'properties': schemas_by_name,
        'additionalProperties': False,
    }


class TestMessages(base.TestCase):
    def problems(self, schema, inputs):
        error = self.assertRaises(
            exceptions.InvalidInput, schemas.validate_inputs, kind_with(schema), inputs
        )
        return str(error).split('; ')

    def test_each_rule_has_its_own_message(self):
        cases = [
            ({'minimum': 0}, -1, '-1 is less than the minimum of 0'),
            ({'maximum': 9}, 10, '10 is greater than the maximum of 9'),
            ({'exclusiveMinimum': 0}, 0, '0 is not greater than 0'),
            ({'exclusiveMaximum': 9}, 9, '9 is not less than 9'),
            ({'type': 'integer'}, 'x', '"x" is not a whole number'),
            ({'type': ['string', 'null']}, [], 'a list is not a string or null'),
            ({'type': 'boolean'}, {}, 'an object is not true or false'),
            ({'enum': ['a', 1]}, 'b', '"b" is none of "a", 1'),
            ({'const': 'a'}, 'b', '"b" is not "a"'),
            ({'pattern': '^/'}, 'x', '"x" does not match ^/'),
            (
                {'pattern': '^/', 'description': 'a full path'},
                'x',
                '"x" does not match ^/ (a full path)',
            ),
            ({'minLength': 2}, 'x', 'has 1 characters, at least 2 needed'),
            ({'maxItems': 1}, [1, 2], 'has 2 items, at most 1 allowed'),
            ({'minProperties': 1}, {}, 'has 0 keys, at least 1 needed'),
            ({'uniqueItems': True}, [1, 1], 'has the same item twice'),
            ({'multipleOf': 5}, 7, '7 breaks the rule multipleOf: 5'),
        ]
        for rule, value, words in cases:
            self.assertEqual(
                [f'input_parameters.key: {words}'],
                self.problems(properties(key=rule), {'key': value}),
            )

    def test_one_message_has_all_problems(self):
        schema = properties(a={'type': 'string'}, b={'minimum': 0})
        schema['required'] = ['c', 'd']

        self.assertEqual(
            [
                'input_parameters.c: is required',
                'input_parameters.d: is required',
                'input_parameters.a: 1 is not a string',
                'input_parameters.b: -1 is less than the minimum of 0',
            ],
            self.problems(schema, {'a': 1, 'b': -1}),
        )

    def test_each_problem_has_its_place_and_a_hint(self):
        port = properties(port={'type': 'integer'})
        alternatives = {'oneOf': [{'type': 'string'}, port]}
        size = {'$ref': '#/$defs/size'}
        for rule, schema, inputs, problems in (
            (
                'a place is a path down to the item',
                properties(list={'items': port}),
                {'list': [{'port': 1}, {'port': 'x'}]},
                ['.list.1.port: "x" is not a whole number'],
            ),
            (
                'an unknown key is answered with the nearest one',
                properties(message={}, method={}),
                {'mesage': 1, 'zzz': 2},
                [
                    '.mesage: is not known, did you mean message?',
                    '.zzz: is not known (known: message, method)',
                ],
            ),
            (
                'keys that match a pattern are known',
                {**properties(a={}), 'patternProperties': {'^x-': {}}},
                {'x-y': 1, 'b': 2},
                ['.b: is not known (known: a)'],
            ),
            (
                'a secret is not shown through its parent',
                properties(login={'type': 'string'}),
                {'login': {'password': 'canary'}},
                ['.login: an object is not a string'],
            ),
            (
                'of alternatives the nearest is explained',
                properties(a={'anyOf': [{'type': 'null'}, {'minimum': 5}]}),
                {'a': 3},
                [
                    '.a: 3 is not null or input_parameters.a: 3 is less than the '
                    'minimum of 5'
                ],
            ),
            (
                'of alternatives of the right type the nearest is explained',
                properties(a=alternatives),
                {'a': {'port': 'x'}},
                ['.a.port: "x" is not a whole number'],
            ),
            (
                'no schema allows the key',
                properties(key=False),
                {'key': 7},
                [': 7 must not be there'],
            ),
            (
                'a reference into the schema is followed',
                {'$defs': {'size': {'type': 'integer'}}, **properties(a=size)},
                {'a': 'x'},
                ['.a: "x" is not a whole number'],
            ),
            (
                'an older dialect is heeded',
                {
                    '$schema': 'http://json-schema.org/draft-04/schema#',
                    **properties(a={'minimum': 0, 'exclusiveMinimum': True}),
                },
                {'a': 0},
                ['.a: 0 is less than the minimum of 0'],
            ),
        ):
            expected = [f'input_parameters{problem}' for problem in problems]
            self.assertEqual(expected, self.problems(schema, inputs), rule)

    def test_secrets_are_not_repeated(self):
        schema = properties(
            password={'type': 'integer'},
            headers={'additionalProperties': {'type': 'integer'}},
            url={'pattern': '^https:'},
            api_keys={'type': 'object'},
        )

        problems = self.problems(
            schema,
            {
                'password': 'canary-1',
                'headers': {'X-Auth-Token': 'canary-2', 'Accept': 'text'},
                'url': 'http://user:canary-3@host/',
            },
        )

        self.assertEqual(
            [
                'input_parameters.headers.Accept: "text" is not a whole number',
                'input_parameters.headers.X-Auth-Token: *** is not a whole number',
                'input_parameters.password: *** is not a whole number',
                'input_parameters.url: "http://user:***@host/" does not match ^https:',
            ],
            problems,
        )

    def test_a_long_value_is_cut(self):
        (problem,) = self.problems(properties(a={'const': 1}), {'a': 'x' * 10_000})

        self.assertLess(len(problem), 120)

    def test_the_number_of_reported_errors_is_limited(self):
        class Items(list):
            looked_at = 0

            def __getitem__(self, index):
                self.looked_at += 1
                return super().__getitem__(index)

        items = Items(range(5000))
        validator = jsonschema.Draft202012Validator({'items': {'type': 'string'}})

        self.assertEqual(1000, len(schemas.first_errors(validator, items)))
        self.assertEqual(1000, items.looked_at)

    def test_many_problems_are_counted_and_not_listed(self):
        schema = properties(a={'items': {'type': 'string'}})

        problems = self.problems(schema, {'a': list(range(1000))})

        self.assertEqual(schemas.MAX_PROBLEMS + 1, len(problems))
        self.assertEqual('and 990 more problems', problems[-1])

    def test_recursive_inputs_are_refused(self):
        schema = {'$defs': {'n': {'items': {'$ref': '#/$defs/n'}}}, '$ref': '#/$defs/n'}
        deep = []
        for _ in range(5000):
            deep = [deep]

        self.assertEqual(
            ['input_parameters: nested too deeply'], self.problems(schema, deep)
        )


class TestSchemas(base.TestCase):
    def test_an_unusable_schema_is_an_error_of_the_plugin(self):
        elsewhere = 'http://127.0.0.1:9/x.json'
        for schema, text in (
            (
                {'properties': {'a': {'$ref': elsewhere}}},
                f'it refers to {elsewhere}; only references into the schema itself, '
                'such as #/$defs/name, are followed',
            ),
            ({'$ref': '#/$defs/lost'}, 'it has no #/$defs/lost'),
            (
                {'type': 'text'},
                "schema.type: 'text' is not valid under any of the given schemas",
            ),
        ):
            error = self.assertRaises(
                exceptions.PluginError, schemas.validate_inputs, kind_with(schema), {}
            )

            self.assertEqual(text, str(error).partition('is not usable: ')[2])

    def test_a_property_called_ref_and_a_mapping_that_is_no_dict_are_valid(self):
        called_ref = {'$ref': {'type': 'string'}, 'a': {'enum': ['$ref']}}
        for schema, inputs in (
            ({'properties': called_ref}, {'$ref': 'http://x/'}),
            ({'type': 'object'}, types.MappingProxyType({'a': 1})),
        ):
            self.assertIsNone(schemas.validate_inputs(kind_with(schema), inputs))

    def test_a_schema_is_compiled_once(self):
        kind = kind_with({'type': 'object'})

        self.assertIs(schemas.compiled(kind), schemas.compiled(kind))


class TestOwnValidation(base.TestCase):
    def test_own_validation_follows_the_schema_with_valid_inputs(self):
        seen = []
        kind = kind_with(
            properties(a={'type': 'integer'}),
            validate=lambda self, inputs: seen.append(dict(inputs)),
        )

        self.assertRaises(
            exceptions.InvalidInput, schemas.validate_inputs, kind, {'a': 'x'}
        )
        schemas.validate_inputs(kind, {'a': 1})

        self.assertEqual([{'a': 1}], seen)

    def test_its_rejection_is_reported_and_other_errors_are_defects_of_the_plugin(self):
        failed = f'{__name__}:Kind cannot check its inputs: its validate() raised '
        odd = exceptions.InvalidInput('input_parameters.a: is odd')
        for raised, passed_on, text in (
            (odd, exceptions.InvalidInput, 'input_parameters.a: is odd'),
            (KeyError('canary'), exceptions.PluginError, f'{failed}KeyError'),
            (SystemExit(1), exceptions.PluginError, f'{failed}SystemExit'),
        ):
            kind = kind_with({}, validate=raises(raised))

            error = self.assertRaises(passed_on, schemas.validate_inputs, kind, {})

            self.assertEqual(text, str(error))
