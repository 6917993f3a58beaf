"""Text written by functions, compared with what the versioned objects say."""

import datetime
import json
import subprocess
import sys
import types

import hypothesis
from hypothesis import strategies as st

from tests import base
from tests.unit.notifications import documents
from watcherlite.notifications import schema, serializer
from watcherlite.notifications.serializer import Encoded

UPDATE = {'old_state': 'PENDING', 'state': 'ONGOING', 'status_message': None}
NAME = 'ActionStateUpdatePayload'


class TestSameAsVersionedObjects(base.TestCase):
    @hypothesis.settings(max_examples=200, deadline=None, database=None)
    @hypothesis.given(data=st.data())
    def test_every_class_in_every_version(self, data):
        payload = data.draw(st.sampled_from(sorted(schema.PAYLOADS)))
        version = data.draw(st.sampled_from(sorted(schema.PAYLOADS[payload])))
        fields = data.draw(documents.values(payload))

        text = serializer.encoder(payload, version)(**fields)

        self.assertEqual(
            documents.versioned_object(payload, fields).to_wire(version),
            json.loads(text),
        )

    @hypothesis.settings(max_examples=50, deadline=None, database=None)
    @hypothesis.given(data=st.data())
    def test_parts_that_were_written_before_make_no_difference(self, data):
        payload = data.draw(st.sampled_from(sorted(schema.PAYLOADS)))
        version = data.draw(st.sampled_from(sorted(schema.PAYLOADS[payload])))
        fields = data.draw(documents.values(payload))
        encode = serializer.encoder(payload, version)

        self.assertEqual(
            encode(**fields), encode(**_written_before(payload, version, fields))
        )

    def test_every_class_and_version_can_be_written(self):
        for payload, versions in schema.PAYLOADS.items():
            for version in versions:
                fields = _smallest(payload)
                self.assertEqual(
                    documents.versioned_object(payload, fields).to_wire(version),
                    json.loads(serializer.encoder(payload, version)(**fields)),
                )


class TestText(base.TestCase):
    def test_it_is_plain_ascii_whatever_the_values_are(self):
        text = serializer.encoder(NAME, '1.1')(
            **{**UPDATE, 'status_message': 'a\x00"\\\n\u2028€😀'}
        )

        self.assertEqual(
            '{"watcher_object.name":"ActionStateUpdatePayload",'
            '"watcher_object.namespace":"watcher","watcher_object.version":"1.1",'
            '"watcher_object.data":{"old_state":"PENDING","state":"ONGOING",'
            '"status_message":"a\\u0000\\"\\\\\\n\\u2028\\u20ac\\ud83d\\ude00"}}',
            text,
        )

    def test_an_older_version_leaves_out_what_it_does_not_know(self):
        self.assertEqual(
            {'old_state': 'PENDING', 'state': 'ONGOING'},
            json.loads(serializer.encoder(NAME, '1.0')(**UPDATE))[
                'watcher_object.data'
            ],
        )

    def test_mappings_and_sequences_of_any_kind_are_written(self):
        inner = types.MappingProxyType({'hosts': ('a', 'b')})

        self.assertEqual(
            '{"scope":{"hosts":["a","b"]}}',
            serializer.encoded_document(types.MappingProxyType({'scope': inner})),
        )

    def test_what_is_no_json_is_refused(self):
        self.assertRaises(TypeError, serializer.encoded_document, {'at': {1, 2}})

    def test_times_are_in_utc_and_whole_seconds(self):
        zone = datetime.timezone(datetime.timedelta(hours=-8))
        aware = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=datetime.UTC)
        naive = aware.replace(tzinfo=None)

        self.assertEqual(
            ('"2016-11-04T16:29:20Z"', '"2016-11-04T16:29:20Z"', None),
            (
                serializer.encoded_time(
                    datetime.datetime(2016, 11, 4, 8, 29, 20, 999999, zone)
                ),
                serializer.encoded_time(naive),
                serializer.encoded_time(None),
            ),
        )


class TestErrors(base.TestCase):
    def test_a_null_that_must_not_be_is_named(self):
        fields = _smallest('ActionUpdatePayload')
        encode = serializer.encoder('ActionUpdatePayload', '1.1')

        for name in ('uuid', 'input_parameters', 'action_plan'):
            error = self.assertRaises(ValueError, encode, **{**fields, name: None})
            self.assertEqual(
                f'ActionUpdatePayload 1.1: {name} must not be null', str(error)
            )

    def test_a_boolean_must_not_be_null(self):
        fields = {**_smallest('AuditCreatePayload'), 'auto_trigger': None}

        error = self.assertRaises(
            ValueError, serializer.encoder('AuditCreatePayload', '1.2'), **fields
        )

        self.assertEqual(
            'AuditCreatePayload 1.2: auto_trigger must not be null', str(error)
        )

    def test_an_integer_must_not_be_null(self):
        fields = {**_smallest('ClusterActionPayload'), 'min_size': None}

        error = self.assertRaises(
            ValueError, serializer.encoder('ClusterActionPayload', '1.0'), **fields
        )

        self.assertEqual(
            'ClusterActionPayload 1.0: min_size must not be null', str(error)
        )

    def test_a_value_that_cannot_be_written_is_told_of_with_its_class(self):
        error = self.assertRaises(
            ValueError, serializer.encoder(NAME, '1.1'), **{**UPDATE, 'state': 7}
        )

        self.assertIn(f'{NAME} 1.1', str(error))

    def test_an_unknown_class_or_version_is_an_error(self):
        self.assertRaises(KeyError, serializer.encoder, 'NoPayload', '1.0')
        self.assertRaises(KeyError, serializer.encoder, NAME, '2.0')


class TestImports(base.TestCase):
    def test_building_needs_no_versioned_objects(self):
        heavy = subprocess.run(
            [
                sys.executable,
                '-c',
                'import sys, watcherlite.notifications.relay; '
                'print([name for name in sys.modules if name.split(".")[0] in '
                '("oslo_versionedobjects", "oslo_messaging", "eventlet")])',
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )

        self.assertEqual('[]', heavy.stdout.strip())


def _smallest(payload):
    """Return the fields of a payload with null wherever that may be."""
    some = {
        'uuid': '4a97b9dd-2023-43dc-b713-815bdd94d4d6',
        'string': '',
        'boolean': False,
        'integer': 0,
        'datetime': None,
        'dict': {},
        'list': [],
        'uuids': [],
    }
    return {
        name: None
        if nullable
        else _smallest(nested)
        if kind == 'object'
        else some[kind]
        for name, kind, nullable, nested, _ in list(schema.PAYLOADS[payload].values())[
            -1
        ]
    }


def _written_before(payload, version, fields):
    """Return the fields with everything as Encoded that may be."""
    rows = {row[0]: row for row in schema.PAYLOADS[payload][version]}
    result = dict(fields)
    for name, value in fields.items():
        if name not in rows or value is None:
            continue
        _, kind, _, nested, nested_version = rows[name]
        if kind == 'object':
            result[name] = Encoded(serializer.encoder(nested, nested_version)(**value))
        elif kind == 'datetime':
            result[name] = serializer.encoded_time(value)
        elif kind in ('dict', 'list', 'uuids'):
            result[name] = serializer.encoded_document(value)
    return result
