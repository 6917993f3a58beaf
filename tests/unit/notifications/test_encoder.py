"""Payloads as JSON text, compared with the versioned objects."""

import datetime
import json
import subprocess
import sys
import types

import hypothesis
from hypothesis import strategies as st
from oslo_versionedobjects import exception as ovo_exception

from tests import base
from tests.unit.notifications import payload_values
from watcherlite.notifications import encoder

UPDATE = {'old_state': 'PENDING', 'state': 'ONGOING', 'status_message': None}
NAME = 'ActionStateUpdatePayload'


CLASSES = payload_values.CLASSES
#: Every payload class in every served version.
SERVED = [(name, version) for name in CLASSES for version in CLASSES[name].versions()]


class TestSameAsVersionedObjects(base.TestCase):
    @hypothesis.settings(max_examples=100, deadline=None, database=None)
    @hypothesis.given(data=st.data())
    def test_every_class_in_every_version(self, data):
        payload, version = data.draw(st.sampled_from(SERVED))
        fields = data.draw(payload_values.values(payload))

        text = encode(payload, version, fields)

        self.assertEqual(
            payload_values.versioned_object(payload, fields).to_wire(version),
            json.loads(text),
        )

    @hypothesis.settings(max_examples=50, deadline=None, database=None)
    @hypothesis.given(data=st.data())
    def test_parts_that_were_written_before_make_no_difference(self, data):
        payload, version = data.draw(st.sampled_from(SERVED))
        fields = data.draw(payload_values.values(payload))

        self.assertEqual(
            encode(payload, version, fields),
            encode(payload, version, _encoded(payload, version, fields)),
        )

    def test_every_class_and_version_is_the_primitive_of_its_object(self):
        for payload, version in SERVED:
            for fields in (_smallest(payload), _largest(payload)):
                self.assertEqual(
                    _primitive(payload, version, fields),
                    json.loads(encode(payload, version, fields)),
                    (payload, version),
                )

    def test_a_pinned_version_that_a_class_does_not_have_means_its_latest(self):
        for payload, cls in CLASSES.items():
            fields = _smallest(payload)
            self.assertEqual(
                encode(payload, cls.VERSION, fields), encode(payload, 'latest', fields)
            )


class TestText(base.TestCase):
    def test_the_text_is_ascii_for_all_values(self):
        text = encode(NAME, '1.1', {**UPDATE, 'status_message': 'a\x00"\\\n\u2028€😀'})

        self.assertEqual(
            '{"watcher_object.name":"ActionStateUpdatePayload",'
            '"watcher_object.namespace":"watcher","watcher_object.version":"1.1",'
            '"watcher_object.data":{"old_state":"PENDING","state":"ONGOING",'
            '"status_message":"a\\u0000\\"\\\\\\n\\u2028\\u20ac\\ud83d\\ude00"}}',
            text,
        )

    def test_older_version_omits_later_fields(self):
        self.assertEqual(
            {'old_state': 'PENDING', 'state': 'ONGOING'},
            json.loads(encode(NAME, '1.0', UPDATE))['watcher_object.data'],
        )

    def test_mappings_and_sequences_of_any_kind_are_written(self):
        inner = types.MappingProxyType({'hosts': ('a', 'b')})

        self.assertEqual(
            '{"scope":{"hosts":["a","b"]}}',
            encoder.encode_document(types.MappingProxyType({'scope': inner})),
        )

    def test_non_json_values_are_rejected(self):
        self.assertRaises(TypeError, encoder.encode_document, {'at': {1, 2}})

    def test_times_are_in_utc_and_whole_seconds(self):
        zone = datetime.timezone(datetime.timedelta(hours=-8))
        aware = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=datetime.UTC)
        naive = aware.replace(tzinfo=None)

        self.assertEqual(
            ('"2016-11-04T16:29:20Z"', '"2016-11-04T16:29:20Z"', None),
            (
                encoder.encode_time(
                    datetime.datetime(2016, 11, 4, 8, 29, 20, 999999, zone)
                ),
                encoder.encode_time(naive),
                encoder.encode_time(None),
            ),
        )


class TestSharedPayload(base.TestCase):
    def test_it_is_encoded_once_in_each_version(self):
        update = 'ActionUpdatePayload'
        fields = _smallest(update)
        plan = fields['action_plan']
        shared = {**fields, 'action_plan': encoder.SharedPayload(plan)}
        expected = encode(update, '1.2', fields)

        self.assertEqual(expected, encode(update, '1.2', shared))
        changed = {**fields, 'action_plan': {**plan, 'state': 'CANCELLED'}}
        plan['state'] = 'CANCELLED'
        self.assertEqual(expected, encode(update, '1.2', shared))
        self.assertEqual(encode(update, '1.0', changed), encode(update, '1.0', shared))


class TestErrors(base.TestCase):
    def refusal(self, payload, version, fields):
        return str(self.assertRaises(ValueError, encode, payload, version, fields))

    def test_nulls_missing_fields_and_other_types_are_named(self):
        update = 'ActionUpdatePayload'
        for payload, version, names in (
            (update, '1.2', 'uuid input_parameters action_plan state_update'),
            ('AuditCreatePayload', '1.2', 'auto_trigger'),
            ('ClusterActionPayload', '1.0', 'min_size'),
        ):
            for name in names.split():
                self.assertEqual(
                    f'{payload} {version}: {name} must not be null',
                    self.refusal(payload, version, {**_smallest(payload), name: None}),
                )
        fields = _smallest(update)
        fields['action_plan'] = {**fields['action_plan'], 'state': None}
        self.assertIn(
            'TerseActionPlanPayload 1.3: state must not be null',
            self.refusal(update, '1.2', fields),
        )
        self.assertEqual(
            f'{NAME} 1.1: status_message is missing',
            self.refusal(NAME, '1.1', {'old_state': None, 'state': None}),
        )
        self.assertIn(f'{NAME} 1.1', self.refusal(NAME, '1.1', {**UPDATE, 'state': 7}))

    def test_an_unknown_class_or_version_is_an_error(self):
        self.assertRaises(KeyError, encode, 'NoPayload', '1.0', {})
        self.assertRaises(
            ovo_exception.InvalidTargetVersion,
            encoder.PayloadEncoder,
            CLASSES[NAME],
            '2.0',
        )


#: Builds the messages of no event, then of one; prints whether the versioned objects
#: are loaded before and after each, and whether the resolver of eventlet is.
LAZY = """
import os
import sys
from tests.bench import documents
from watcherlite.notifications import messages, relay
from watcherlite.notifications.settings import NotificationSettings
from watcherlite.states import action as states
settings = NotificationSettings('host')
builder = messages.MessageBuilder(settings, documents._FakeSource())
builder.build([])
print('oslo_versionedobjects' in sys.modules, 'watcherlite.objects' in sys.modules)
batch = builder.build([documents._stored(states.READY, states.RUNNING)])
print(len(batch.messages), 'oslo_versionedobjects' in sys.modules)
print('dns' in sys.modules, 'EVENTLET_NO_GREENDNS' in os.environ)
"""


class TestImports(base.TestCase):
    def test_the_objects_are_loaded_when_the_first_payload_is_built(self):
        done = subprocess.run(
            [sys.executable, '-c', LAZY],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )

        self.assertEqual('False False\n2 True\nFalse False\n', done.stdout)
        self.assertEqual('', done.stderr)


def encode(payload, version, fields):
    return encoder.payload_encoder(payload, version).encode(fields)


def _primitive(payload, version, fields):
    """Return the serialisation of oslo.versionedobjects for these values."""
    found = payload_values.versioned_object(payload, fields)
    found.obj_reset_changes(recursive=True)
    return found.obj_to_primitive(target_version=version)


def _smallest(payload):
    """Return the fields of a payload with null wherever it is permitted."""
    return {
        field.name: None
        if field.nullable
        else _smallest(field.payload)
        if field.payload
        else SMALLEST[field.kind]
        for field in payload_values.latest_fields(payload)
    }


def _largest(payload):
    """Return the fields of a payload without null."""
    return {
        field.name: _largest(field.payload) if field.payload else LARGEST[field.kind]
        for field in payload_values.latest_fields(payload)
    }


SMALLEST = {
    'UUID': '4a97b9dd-2023-43dc-b713-815bdd94d4d6',
    'string': '',
    'boolean': False,
    'integer': 0,
    'object': {},
    'array': [],
    'array of UUIDs': [],
}
LARGEST = {
    'UUID': '4a97b9dd-2023-43dc-b713-815bdd94d4d6',
    'string': '100 %s "\\" \u20ac',
    'boolean': True,
    'integer': -(2**40),
    'time': datetime.datetime(2016, 11, 4, 16, 29, 20, 999999, tzinfo=datetime.UTC),
    'object': {'percent': '%d', 'deep': [{'a': None}]},
    'array': [1, 'two', [3.5, {}]],
    'array of UUIDs': ['d95ffcc4-9f0a-4a4d-9d0b-6c3f0f1ac2bd'],
}


def _encoded(payload, version, fields):
    """Return the fields with Encoded values wherever it is permitted."""
    result = dict(fields)
    for field in CLASSES[payload].fields_in(version):
        value = fields[field.name]
        if value is None:
            continue
        if field.payload:
            result[field.name] = encoder.encode(field.payload, field.version, value)
        elif field.kind == 'time':
            result[field.name] = encoder.encode_time(value)
        elif field.kind.startswith(('object', 'array')):
            result[field.name] = encoder.encode_document(value)
    return result
