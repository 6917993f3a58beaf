from tests import base
from watcherlite import exceptions
from watcherlite.api import arguments

QUERY = {
    'type': 'object',
    'properties': {
        'limit': {'type': 'integer', 'minimum': 1},
        'share': {'type': 'number'},
        'force': {'type': 'boolean'},
        'name': {'type': 'string', 'maxLength': 5},
        'audit_uuid': {'type': 'string', 'format': 'uuid'},
        'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
        'state': {'type': 'string', 'enum': ['PENDING', 'ONGOING']},
    },
    'additionalProperties': False,
}
BODY = {
    'title': 'audit',
    'type': 'object',
    'properties': {
        'audit_type': {'enum': ['ONESHOT', 'EVENT']},
        'interval': {'type': ['string', 'integer', 'null']},
        'name': {'type': 'string', 'pattern': '^[a-z]+$'},
        'parameters': {
            'type': 'object',
            'properties': {'password': {'type': 'string'}, 'n': {'maximum': 3}},
        },
    },
    'required': ['audit_type'],
    'additionalProperties': False,
}
PATCH = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {'op': {'enum': ['add', 'remove']}, 'path': {'type': 'string'}},
        'required': ['op', 'path'],
        'additionalProperties': False,
    },
}


def refusal(call, *args):
    """Return the message of the error that a call raises."""
    try:
        call(*args)
    except exceptions.Invalid as error:
        return str(error)
    raise AssertionError('no error was raised')


class TestQuery(base.TestCase):
    """The arguments of a URL."""

    def setUp(self):
        super().setUp()
        self.checker = arguments.Checker(QUERY)

    def test_arguments_are_converted_to_types_of_schema(self):
        uuid = '3F2504E0-4F89-41D3-9A0C-0305E82C3301'

        self.assertEqual(
            {'limit': 5, 'share': 0.5, 'force': True, 'name': '7', 'audit_uuid': uuid},
            self.checker.query(
                {
                    'limit': '5',
                    'share': '.5',
                    'force': 'True',
                    'name': '7',
                    'audit_uuid': uuid,
                }
            ),
        )

    def test_unknown_arguments_are_ignored_if_schema_allows(self):
        checker = arguments.Checker(
            {
                'type': 'object',
                'properties': {
                    'limit': {'type': 'integer'},
                    'name': {'type': 'array', 'items': {'type': 'string'}},
                },
            }
        )

        found = checker.query(
            {'colour': 'red', 'limit': ['1', '2'], 'name': ['a', 'b'], 'x': ['1', '2']}
        )

        self.assertEqual({'limit': 2, 'name': ['a', 'b']}, found)
        self.assertEqual({'name': ['a']}, checker.query({'name': 'a'}))
        self.assertRaises(exceptions.Invalid, checker.query, {'limit': 'many'})

    def test_invalid_values_have_error_messages_of_watcher(self):
        field = 'Invalid input for field/attribute'
        for given, text in (
            ({'foo': '1'}, 'Unknown argument: "foo"'),
            ({'limit': '0'}, 'Limit must be positive'),
            ({'limit': '-3'}, 'Limit must be positive'),
            (
                {'limit': 'x'},
                f"{field} limit. Value: 'x'. unable to convert to int. Error: a whole "
                'number is expected',
            ),
            (
                {'limit': '9' * 40},
                f"{field} limit. Value: '{'9' * 40}'. unable to convert to int. "
                'Error: a whole number is expected',
            ),
            (
                {'share': '1e999'},
                f"{field} share. Value: '1e999'. unable to convert to float. Error: a "
                'number is expected',
            ),
            (
                {'force': 'perhaps'},
                f"{field} force. Value: 'perhaps'. unable to convert to boolean. "
                'Error: true or false is expected',
            ),
            (
                {'audit_uuid': 'v'},
                f"{field} audit_uuid. Value: 'v'. unable to convert to uuid. Error: "
                'Expected a uuid but received v',
            ),
            (
                {'sort_dir': 'up'},
                "Invalid sort direction: up. Acceptable values are 'asc' or 'desc'",
            ),
            (
                {'state': 'BOGUS'},
                f"{field} state. Value: 'BOGUS'. Value should be one of: PENDING, "
                'ONGOING',
            ),
            (
                {'name': 'abcdef'},
                f"{field} name. Value: 'abcdef'. Value should have a maximum length "
                'of 5',
            ),
            ({'name': ['a', 'b']}, 'The argument "name" is given twice'),
            (
                {'name': 'a\0'},
                'The argument "name": this text has a NUL character, which databases '
                'cannot store',
            ),
        ):
            with self.subTest(given=given):
                self.assertEqual(text, refusal(self.checker.query, given))

    def test_error_names_missing_argument_and_truncates_long_name(self):
        checker = arguments.Checker({**QUERY, 'required': ['name']})

        self.assertEqual('Missing argument: "name"', refusal(checker.query, {}))
        self.assertLess(len(refusal(self.checker.query, {'x' * 5000: ''})), 200)


class TestBody(base.TestCase):
    """The body."""

    def test_valid_body_is_returned_unchanged(self):
        body = {'audit_type': 'EVENT', 'interval': None}

        self.assertIs(body, arguments.Checker(BODY).body(body))

    def test_invalid_values_have_error_messages_of_watcher(self):
        field = 'Invalid input for field/attribute'
        for given, text in (
            (
                {'audit_type': 'EVENT', 'foo': 1},
                'Unknown attribute for argument audit: foo',
            ),
            (
                {'audit_type': 'EVENT', 'foo': 1, 'bar': 2},
                'Unknown attributes for argument audit: foo, bar',
            ),
            ({}, f"{field} audit_type. Value: 'None'. Mandatory field missing."),
            (
                {'audit_type': 'x'},
                f"{field} audit_type. Value: 'x'. Value should be one of: ONESHOT, "
                'EVENT',
            ),
            (
                {'audit_type': 'EVENT', 'interval': True},
                f"{field} interval. Value: 'True'. It must be text or a whole number "
                'or null and is true or false.',
            ),
            (
                {'audit_type': 'EVENT', 'name': 'A'},
                f"{field} name. Value: 'A'. Value should match the pattern ^[a-z]+$",
            ),
            ([], f'{field} audit. It must be an object and is a list.'),
            # Nested values are not quoted.
            (
                {'audit_type': 'EVENT', 'parameters': {'password': 5150}},
                f'{field} parameters.password. It must be text and is a number.',
            ),
        ):
            with self.subTest(given=given):
                self.assertEqual(text, refusal(arguments.Checker(BODY).body, given))

    def test_error_lists_alternative_keys(self):
        checker = arguments.Checker(
            {
                'title': 'action',
                'type': 'object',
                'properties': {'unlock': {}, 'lock': {}},
                'minProperties': 1,
                'maxProperties': 1,
            }
        )
        field = 'Invalid input for field/attribute action.'

        self.assertEqual(
            [
                f'{field} It has 0 keys and must have at least 1 of lock, unlock',
                f'{field} It has 2 keys and must have at most 1 of lock, unlock',
            ],
            [
                refusal(checker.body, {}),
                refusal(checker.body, {'lock': 1, 'unlock': 1}),
            ],
        )

    def test_invalid_patch_is_rejected_by_attribute_name(self):
        checker = arguments.Checker(PATCH, arguments.PATCH)
        field = 'Invalid input for field/attribute'

        self.assertEqual(
            [
                'Unknown attribute for argument patch: foo',
                f"{field} path. Value: 'None'. Mandatory field missing.",
                f"{field} op. Value: 'test'. Value should be one of: add, remove",
            ],
            [
                refusal(checker.body, [line])
                for line in (
                    {'op': 'add', 'path': '/x', 'foo': 1},
                    {'op': 'add'},
                    {'op': 'test', 'path': '/x'},
                )
            ],
        )


class TestParse(base.TestCase):
    """The bytes of a body."""

    def test_json_is_parsed(self):
        self.assertEqual({'a': [1, 0.5]}, arguments.parse(b'{"a": [1, 0.5]}'))

    def test_invalid_json_and_unstorable_values_are_rejected(self):
        bad = 'The body is not valid JSON'
        for data, text in (
            (b'{', f'{bad}: Expecting property name enclosed in double quotes, line 1'),
            (b'\xff', bad),
            (b'[' * 100_000, bad),
            (b'9' * 5000, bad),
            (b'[NaN]', bad),
            (b'[1e999]', bad),
            (
                b'{"a": "\\u0000"}',
                'a: this text has a NUL character, which databases cannot store',
            ),
            (
                b'["\\ud800"]',
                '0: this text has half of a surrogate pair, which is not a character',
            ),
            (
                b'[' * 150 + b'1' + b']' * 150,
                '0.' * 59 + '0…: this is nested deeper than 100 levels',
            ),
        ):
            with self.subTest(data=data[:20]):
                self.assertEqual(text, refusal(arguments.parse, data))

    def test_json_content_types_are_accepted(self):
        expected = {
            '': True,
            'application/json': True,
            'Application/JSON; charset=utf-8': True,
            'application/json-patch+json': True,
            'text/plain': False,
            'application/xml': False,
        }

        self.assertEqual(
            expected, {kind: arguments.accepts_json(kind) for kind in expected}
        )
