"""The values of parameters."""

from tests import base
from watcherlite import exceptions
from watcherlite.domain.templates import parameters, template

PSEUDO = {'OS::stack_name': 'teapot'}


def declared(**definitions):
    return template.load(
        {'heat_template_version': 'wallaby', 'parameters': definitions}
    )


def one(definition, value):
    return parameters.values(declared(p=definition), {'p': value}, {}, {})['p']


class ValuesTest(base.TestCase):
    def refusal(self, kind, definitions, given, environment=None):
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            parameters.values,
            declared(**definitions),
            given,
            environment or {},
            PSEUDO,
        )
        self.assertIs(kind, type(error))
        return error.problems

    def test_values_are_of_the_types_of_their_parameters(self):
        cases = [
            ('string', 5, '5'),
            ('string', '', ''),
            ('number', '3', 3),
            ('number', ' -2.5e1 ', -25.0),
            ('number', 7, 7),
            ('boolean', 'Yes', True),
            ('boolean', 0, False),
            ('boolean', False, False),
            ('json', '{"a": [1]}', {'a': [1]}),
            ('json', [1, {'b': None}], [1, {'b': None}]),
            ('json', '', {}),
            ('comma_delimited_list', 'a, b ,c', ['a', 'b', 'c']),
            ('comma_delimited_list', '', []),
            ('comma_delimited_list', ['a', 1], ['a', '1']),
            ('comma_delimited_list', 80, ['80']),
        ]

        self.assertEqual(
            [expected for _, _, expected in cases],
            [one({'type': kind}, value) for kind, value, _ in cases],
        )

    def test_value_of_another_type_is_rejected(self):
        cases = [
            ('string', ['a'], 'it is a list and must be text'),
            ('string', 'a\0', 'this text has a NUL character, which databases cannot '
             'store'),
            ('number', 'three', 'it must be a number'),
            ('number', True, 'it must be a number'),
            ('number', 'nan', 'it must be a number'),
            ('number', '9' * 5000, 'it must be a number'),
            ('boolean', 'maybe', 'it must be true or false'),
            ('boolean', 2, 'it must be true or false'),
            ('json', '{', 'it must be a mapping or a list, or either as JSON'),
            ('json', '[' * 10**5, 'it must be a mapping or a list, or either as JSON'),
            ('json', '5', 'it is a number and must be a mapping or a list'),
            ('json', {'a': float('inf')}, 'within it, 1 levels deep: inf is not a '
             'number in JSON'),
            ('comma_delimited_list', {}, 'it is a mapping and must be text with '
             'commas, or a list'),
        ]  # fmt: skip

        self.assertEqual(
            [
                [f"parameters.p: Parameter 'p' is invalid: {text}"]
                for _, _, text in cases
            ],
            [
                self.refusal(
                    exceptions.StackValidationFailed,
                    {'p': {'type': kind}},
                    {'p': value},
                )
                for kind, value, _ in cases
            ],
        )

    def test_given_values_override_the_environment_and_defaults(self):
        names = ('given', 'environment', 'defaults', 'template')
        found = parameters.values(
            declared(**{n: {'type': 'string', 'default': 'template'} for n in names}),
            {'given': 'given', 'template': None},
            {
                'parameters': {'given': 'environment', 'environment': 'environment'},
                'parameter_defaults': dict.fromkeys(
                    ('environment', 'defaults', 'unknown'), 'defaults'
                ),
            },
            PSEUDO,
        )

        self.assertEqual({**PSEUDO, **{name: name for name in names}}, found)

    def test_undeclared_and_omitted_parameters_are_refused_with_all_problems(self):
        undefined = 'parameters.{0}: The Parameter ({0}) was not defined in template.'
        omitted = 'parameters.{0}: The Parameter ({0}) was not provided.'
        text, number = {'type': 'string'}, {'type': 'number'}
        for kind, definitions, given, environment, *problems in (
            (
                *(exceptions.UnknownUserParameter, {}, {'x': 1, 'y': 1}),
                {'parameters': {'y': 1}},
                *(undefined.format('y'), undefined.format('x')),
            ),
            (
                *(exceptions.UserParameterMissing, {'p': text}, {'p': None}, {}),
                omitted.format('p'),
            ),
            (
                *(exceptions.StackValidationFailed, {'a': text, 'b': number}),
                *({'b': 'x', 'x': 1}, {}),
                undefined.format('x'),
                omitted.format('a'),
                "parameters.b: Parameter 'b' is invalid: it must be a number",
            ),
        ):
            self.assertEqual(
                problems, self.refusal(kind, definitions, given, environment)
            )


class ConstraintsTest(base.TestCase):
    def problem(self, kind, constraint, value, **more):
        definition = {'type': kind, 'constraints': [constraint], **more}
        error = self.assertRaises(
            exceptions.StackValidationFailed, one, definition, value
        )
        return str(error).removeprefix("parameters.p: Parameter 'p' is invalid: ")

    def test_messages_have_the_constraint(self):
        cases = [
            ('string', {'length': {'min': 2, 'max': 3}}, 'abcd', 'its length must be '
             'from 2 to 3'),
            ('comma_delimited_list', {'length': {'max': 1}}, 'a,b', 'its length must '
             'be at most 1'),
            ('json', {'length': {'min': 1}}, {}, 'its length must be at least 1'),
            ('number', {'range': {'min': '1', 'max': 5.5}}, 6, 'it must be from 1 '
             'to 5.5'),
            ('number', {'modulo': {'step': 4, 'offset': 1}}, 6, 'divided by 4, it must '
             'leave 1'),
            ('string', {'allowed_values': ['a', 'b']}, 'c', "it must be one of "
             "'a', 'b'"),
            ('number', {'allowed_values': ['1', 2]}, 3, 'it must be one of 1, 2'),
            ('comma_delimited_list', {'allowed_values': ['a']}, 'a,c', "it must be one "
             "of 'a'"),
            ('string', {'allowed_pattern': '[a-z]+'}, 'ab1', 'it must match the '
             'pattern [a-z]+'),
            ('string', {'length': {'max': 1}, 'description': 'One letter'}, 'ab', 'its '
             'length must be at most 1 (One letter)'),
        ]  # fmt: skip

        self.assertEqual(
            [text for _, _, _, text in cases],
            [self.problem(kind, rule, value) for kind, rule, value, _ in cases],
        )

    def test_valid_values_pass(self):
        cases = [
            ('string', {'length': {'min': 2, 'max': 3}}, 'abc'),
            ('number', {'range': {'min': 1}}, 1),
            ('number', {'modulo': {'step': 4, 'offset': 1}}, 9),
            ('number', {'allowed_values': ['1', 2]}, '2'),
            ('comma_delimited_list', {'allowed_values': ['a', 'b']}, ['b', 'a']),
            ('string', {'allowed_pattern': '[a-z]+'}, 'ab'),
            ('string', {'custom_constraint': 'nova.flavor'}, 'm1.small'),
        ]

        for kind, rule, value in cases:
            one({'type': kind, 'constraints': [rule]}, value)

    def test_hidden_values_are_not_in_messages(self):
        cases = [
            ('string', {'allowed_values': ['hunter2', 'hunter3']}),
            ('string', {'allowed_pattern': '[a-z]+'}),
            ('string', {'length': {'max': 2}}),
        ]
        texts = [self.problem(k, rule, 'hunter9', hidden=True) for k, rule in cases]
        texts.append(
            self.problem('number', {'range': {'min': 1}}, 'hunter9', hidden=True)
        )

        self.assertEqual(4, len(texts))
        self.assertEqual([], [text for text in texts if 'hunter' in text])

    def test_a_catastrophic_pattern_is_matched_in_linear_time(self):
        wrong = self.problem('string', {'allowed_pattern': '(a+)+b'}, 'a' * 5000)
        large = {'allowed_pattern': '(x{0,1000})*y'}

        self.assertEqual('it must match the pattern (a+)+b', wrong)
        self.assertIn(
            '50000 characters are too many for the pattern (x{0,1000})*y',
            self.problem('string', large, 'x' * 50_000),
        )

    def test_invalid_constraints_are_reported(self):
        rules = [
            {'range': {'min': 1}},
            {'length': {}},
            {'length': {'min': 'x'}},
            {'allowed_values': []},
            {'allowed_pattern': '('},
            {'length': {'max': 1}, 'allowed_values': ['a']},
            {'longth': {'max': 1}},
            5,
        ]
        error = self.assertRaises(
            exceptions.TemplateInvalid,
            lambda: declared(
                p={'type': 'string', 'constraints': rules},
                q={'type': 'number', 'constraints': [{'modulo': {'step': 0}}]},
                r={'type': 'string', 'constraints': {}},
            ),
        )

        self.assertEqual(
            [
                'parameters.p.constraints[0].range: a string has no such constraint; '
                'this one is for number',
                'parameters.p.constraints[1].length: min and max are missing; '
                'set at least one',
                "parameters.p.constraints[2].length.min: 'x' is not a whole number",
                'parameters.p.constraints[3].allowed_values: this list is empty; write '
                'a list of the values, like [small, large]',
                'parameters.p.constraints[4].allowed_pattern: this is no regular '
                'expression: missing ): (',
                'parameters.p.constraints[5]: there are 2 constraints here; write one, '
                'like {range: {min: 1, max: 9}}',
                'parameters.p.constraints[6].longth: there is no such key; did you '
                'mean length?',
                'parameters.p.constraints[6]: there are 0 constraints here; write one, '
                'like {range: {min: 1, max: 9}}',
                'parameters.p.constraints[7]: this is a number; it must be a mapping',
                'parameters.q.constraints[0].modulo: write a step other than 0 and a '
                'smaller offset, like {step: 2, offset: 0}',
                'parameters.r.constraints: this is a mapping; it must be a list like '
                '[{length: {max: 8}}]',
            ],
            error.problems,
        )


class ImmutableTest(base.TestCase):
    def test_only_immutable_parameters_must_not_change(self):
        found = declared(
            a={'type': 'string', 'immutable': True},
            b={'type': 'string'},
            new={'type': 'string', 'immutable': True},
        )

        parameters.check_immutable(
            found, {'a': '1', 'b': '1'}, {'a': '1', 'b': '2', 'new': '3'}
        )
        error = self.assertRaises(
            exceptions.ImmutableParameterModified,
            parameters.check_immutable,
            found,
            {'a': '1', 'b': '1'},
            {'a': '2', 'b': '2', 'new': '3'},
        )

        self.assertEqual(
            'The following parameters are immutable and may not be updated: a; give '
            'them the values that they have',
            str(error),
        )
