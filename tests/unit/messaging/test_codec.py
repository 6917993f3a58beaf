"""The encoding of messages; all other messages are rejected."""

import json

import hypothesis
from hypothesis import strategies as st

from tests import base
from watcherlite.messaging import codec

IDS = st.text(st.characters(exclude_categories=('C', 'Z')), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def document(**fields):
    return json.dumps(
        {'schema': 'watcherlite.command', 'version': 1, 'type': 'x', **fields}
    ).encode()


class TestEncode(base.TestCase):
    def test_the_envelope_is_around_the_fields(self):
        body = codec.encode({'type': 'launch_action_plan', 'plan': 'p1'})

        self.assertEqual(
            {
                'schema': 'watcherlite.command',
                'version': 1,
                'type': 'launch_action_plan',
                'plan': 'p1',
            },
            json.loads(body),
        )

    def test_a_decoded_message_has_lists_for_tuples(self):
        message = {'type': 'work_available', 'plans': ('p1', 'p2'), 'worker': 'w'}

        self.assertEqual(
            {'type': 'work_available', 'plans': ['p1', 'p2'], 'worker': 'w'},
            codec.decode(codec.encode(message)),
        )

    def test_an_undecodable_message_is_not_encoded(self):
        for message in (
            {},
            {'type': None},
            {'type': 'x', 'count': 1},
            {'type': 'x', 'plans': [1]},
            {'type': 'x', 'plan': {'uuid': 'p1'}},
            {'type': 'x', 'version': '2'},
            {'type': 'x', 'schema': 'other'},
            {'type': 'x', 'plans': ['p' * 1024] * 1024},
        ):
            self.assertRaises(codec.MalformedMessage, codec.encode, message)

    @hypothesis.given(
        st.dictionaries(
            IDS.filter(lambda name: name not in ('schema', 'version', 'type')),
            IDS | st.lists(IDS),
        )
    )
    def test_every_encoded_message_is_decoded(self, fields):
        message = {'type': 'x', **fields}

        self.assertEqual(message, codec.decode(codec.encode(message)))


class TestDecode(base.TestCase):
    def test_an_unknown_field_is_ignored(self):
        self.assertEqual(
            {'type': 'x', 'since_1_1': 'y'}, codec.decode(document(since_1_1='y'))
        )

    def test_each_defect_is_named(self):
        cases = [
            (b'', 'not JSON'),
            (b'\xff\xfe', 'not JSON'),
            (document().decode().encode('utf-16'), 'not JSON'),
            (b'[' * 100000, 'not JSON'),
            (b'\x80\x04}\x94.', 'not JSON'),
            (b'[1, 2, 3]', 'not an object'),
            (b'"text"', 'not an object'),
            (document(schema='other'), 'schema'),
            (b'{"version": 1, "type": "x"}', 'schema'),
            (document(version=2), 'version is not 1'),
            (document(version=True), 'version is not 1'),
            (document(version='1'), 'version is not 1'),
            (document(type=7), 'type is not a string'),
            (document(plan=7), "'plan'"),
            (document(plan=None), "'plan'"),
            (document(plans=['p', ['q']]), "'plans'"),
            (document(plan='a\nb'), "'plan'"),
            (document(plan='\x00'), "'plan'"),
            (document(plan='\ud800'), "'plan'"),
            (document(plan='x' * codec.SIZE_LIMIT), 'bytes; at most'),
        ]

        for body, expected in cases:
            error = self.assertRaises(codec.MalformedMessage, codec.decode, body)
            self.assertIn(expected, str(error))

    @hypothesis.settings(max_examples=250)
    @hypothesis.given(
        st.binary()
        | JSON.map(lambda value: json.dumps(value).encode())
        | JSON.map(lambda value: document(plan=value))
        | st.dictionaries(
            st.sampled_from(['schema', 'version', 'type', 'plan']), JSON
        ).map(lambda fields: document(**fields))
    )
    def test_data_that_is_not_a_message_is_rejected(self, body):
        try:
            message = codec.decode(body)
        except codec.MalformedMessage:
            return
        self.assertEqual(message, codec.decode(codec.encode(message)))
