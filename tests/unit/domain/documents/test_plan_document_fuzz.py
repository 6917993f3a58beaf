"""Random plan documents."""

import json

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import base
from watcherlite import exceptions
from watcherlite.domain.documents import plan_document

#: Parts of documents, valid and invalid.
PIECES = st.sampled_from(
    [
        'actions:', 'name:', ' a', '\n', '\n- ', '\n  ', '- ', '{', '}', '[', ']', ', ',
        ': ', '&a', ' *a', '<<: ', '!!int ', '!x ', '"', "'", '|\n', '>\n', '---\n',
        '...\n', '#', '? ', '%YAML 1.1\n', '@', '`', '\t', '\r', '\ufeff', '\x00',
        '\x85', '\u2028', '\ud800', '9' * 30, '1e999', '.nan', '1:30', '2001-12-14',
        '~', 'yes', '\\', '\\u12', 'action_type: nop', 'timeout: ', 'parents: ',
    ]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        'name', 'action_type', 'input_parameters', 'parents', 'timeout', 'target',
        'not_before', 'other',
    ]
)  # fmt: skip
NAMES = st.text('abcäöü -=1', min_size=1, max_size=3).filter(lambda t: t == t.strip())


def refused_or_accepted(read, *args):
    """Return the document, or None after InvalidDocument; raise any other error."""
    try:
        return read(*args)
    except exceptions.InvalidDocument as error:
        if not error.problems or not all(
            isinstance(problem, str) and problem for problem in error.problems
        ):
            raise AssertionError(f'no reason: {error.problems}') from error
        return None


class FuzzTest(base.TestCase):
    @settings(deadline=None)
    @given(st.lists(PIECES, max_size=20).map(''.join))
    def test_any_text_is_accepted_or_refused_with_a_reason(self, text):
        refused_or_accepted(plan_document.parse, text, 'f')

    @settings(deadline=None)
    @given(st.binary(max_size=30))
    def test_any_bytes_are_accepted_or_refused_with_a_reason(self, data):
        refused_or_accepted(plan_document.parse, data, 'f')

    @settings(deadline=None)
    @given(
        st.fixed_dictionaries(
            {'actions': st.lists(st.dictionaries(KEYS, VALUES), max_size=3)},
            optional={'name': VALUES, 'on_failure': VALUES, 'max_parallel': VALUES},
        )
    )
    def test_any_value_and_its_json_text_have_the_same_result(self, value):
        document = refused_or_accepted(plan_document.from_mapping, value)

        self.assertEqual(
            document, refused_or_accepted(plan_document.parse, json.dumps(value), 'f')
        )

    @settings(deadline=None)
    @given(
        st.lists(NAMES, min_size=1, max_size=5, unique=True),
        st.dictionaries(st.text('abc', max_size=3), st.text('a\n:#"\\', max_size=5)),
    )
    def test_yaml_and_json_have_the_same_result(self, names, inputs):
        value = {
            'actions': [
                {
                    'name': name,
                    'action_type': 'nop',
                    'input_parameters': inputs,
                    'parents': names[:i],
                }
                for i, name in enumerate(names)
            ]
        }
        expected = plan_document.from_mapping(value)

        self.assertEqual(expected, plan_document.parse(json.dumps(value), 'f'))
        self.assertEqual(
            expected,
            plan_document.parse(yaml.safe_dump(value, allow_unicode=True), 'f'),
        )
