"""Payloads and their versions."""

import datetime

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fixture

from tests import base
from tests.notification_samples import documents
from watcherlite.objects import action, action_plan, audit, nested, registry

# Class -> version and fingerprint of its fields and of the versions nested in it. If
# the test that compares these fails, a payload has changed, and a consumer may depend
# on it. Then, in this order: 1. raise its VERSION (for a new field: the second number)
# and add a line to the history above it, and do the same for every payload that nests
# it; 2. add the conversion to an older version to added_in and obj_relationships; 3.
# run `python -m tests.notification_samples.generator`; 4. copy the new fingerprint from
# the failure, and write a release note. Only a class that has not been released yet may
# change without a new version.
FINGERPRINTS = {
    'ActionCancelPayload': '1.2-1233c6ec5128a53d76a23647ca9f8bac',
    'ActionCreatePayload': '1.2-602c508070888572dbb0b3cf9f5bbb12',
    'ActionDeletePayload': '1.2-602c508070888572dbb0b3cf9f5bbb12',
    'ActionExecutionPayload': '1.2-1233c6ec5128a53d76a23647ca9f8bac',
    'ActionPlanActionPayload': '1.3-d40f23dd0e5b78a6e9c307d0add70af9',
    'ActionPlanCancelPayload': '1.3-d40f23dd0e5b78a6e9c307d0add70af9',
    'ActionPlanCreatePayload': '1.3-74692847d918afca45993fd34b903a01',
    'ActionPlanDeletePayload': '1.3-74692847d918afca45993fd34b903a01',
    'ActionPlanStateUpdatePayload': '1.1-44b5516178e87ca2611fb1d64feead41',
    'ActionPlanUpdatePayload': '1.3-af3558537f6c307cf8c396b23ac8dba5',
    'ActionStateUpdatePayload': '1.1-44b5516178e87ca2611fb1d64feead41',
    'ActionUpdatePayload': '1.2-2fd1036cfb55c8f2c36ad1df52ede630',
    'AuditActionPayload': '1.2-f176c82f442bfed528fa0db0bbfb10e7',
    'AuditCreatePayload': '1.2-6a521863b8c177da42d47e3dfd5bd092',
    'AuditDeletePayload': '1.2-6a521863b8c177da42d47e3dfd5bd092',
    'AuditPayload': '1.4-7c16cfbe4327f4c413a2f6dabb904771',
    'AuditStateUpdatePayload': '1.1-44b5516178e87ca2611fb1d64feead41',
    'AuditUpdatePayload': '1.2-5533518c7939f1fafaa71372234f3e8e',
    'ClusterActionPayload': '1.0-50090b83784f2d061aed7d2f45d42371',
    'ClusteringActionPayload': '1.0-b877f82a49baa233a4d384bb9a7585fc',
    'ExceptionPayload': '1.0-0b372d97c81e9d232aeeb93ce29110b1',
    'GoalPayload': '1.0-2fe0edd532eefb63948298c8b65448ac',
    'NodeActionPayload': '1.0-484064a0ca5fabefdd6b5076048e1db0',
    'ResourceActionPayload': '1.0-f904ce4a9f73ed2ba42fb3502729497d',
    'ResourceHookPayload': '1.0-ae0536b4fa99e7e380f36c0136df53b8',
    'StackActionPayload': '1.0-92a77168f7044b9878849870909ac3bb',
    'StackStateUpdatePayload': '1.0-16d50cda8332e284242bd4abccdff7bf',
    'StackUpdatePayload': '1.0-40222371258b91cf2fcddbe79d660033',
    'StrategyPayload': '1.0-fa29b2cd29da2f3ff606689e35a9551b',
    'TerseActionPlanPayload': '1.3-4a6dd3a45986bbdff1134495607a9f8b',
    'TerseStackPayload': '1.0-6c9a39d033c38e26b6629a70246eed14',
}

CLASSES = registry.payload_classes()


def _in_versions(cls):
    """Return the parts that the fingerprint of oslo.versionedobjects omits."""
    nested = [
        (field, cls.fields[field].objname, versions)
        for field, versions in cls.obj_relationships.items()
    ]
    return sorted(cls.added_in.items()), sorted(nested)


_AUDIT = {
    *('uuid', 'name', 'audit_type', 'state', 'parameters', 'interval', 'scope'),
    *('goal_uuid', 'strategy_uuid', 'auto_trigger', 'next_run_time', 'status_message'),
    *('created_at', 'updated_at', 'deleted_at', 'goal', 'strategy'),
}
_CHANGE = {'old_state', 'state', 'status_message'}
WATCHER = {
    'AuditActionPayload': {'1.2': {*_AUDIT, 'fault'}},
    'AuditCreatePayload': {'1.2': _AUDIT},
    'AuditDeletePayload': {'1.2': _AUDIT},
    'AuditUpdatePayload': {'1.2': {*_AUDIT, 'state_update'}},
    'ActionPlanStateUpdatePayload': {'1.1': _CHANGE},
    'ActionStateUpdatePayload': {'1.1': _CHANGE},
    'AuditStateUpdatePayload': {'1.1': _CHANGE},
}
#: Class -> versions of Watcher in which the fields, or the nested payloads, differ.
TAKEN = {
    'TerseActionPlanPayload': {'1.1', '1.2'},
    'ActionPlanCreatePayload': {'1.1', '1.2'},
    'ActionPlanUpdatePayload': {'1.1', '1.2'},
    'ActionPlanDeletePayload': {'1.1', '1.2'},
    'ActionPlanActionPayload': {'1.1', '1.2'},
    'ActionPlanCancelPayload': {'1.1', '1.2'},
    'ActionCreatePayload': {'1.1'},
    'ActionUpdatePayload': {'1.1'},
    'ActionDeletePayload': {'1.1'},
    'ActionExecutionPayload': {'1.1'},
    'ActionCancelPayload': {'1.1'},
    'AuditPayload': {'1.1', '1.2', '1.3'},
}


class TestVersionsOfWatcher(base.TestCase):
    def test_the_same_name_and_version_means_the_same_fields(self):
        ours = {
            name: {
                version: {field.name for field in CLASSES[name].fields_in(version)}
                for version in versions
            }
            for name, versions in WATCHER.items()
        }

        self.assertEqual(WATCHER, ours)

    def test_versions_with_another_meaning_upstream_are_not_used(self):
        written = {
            name: sorted(TAKEN[name] & set(CLASSES[name].versions())) for name in TAKEN
        }

        self.assertEqual({name: [] for name in TAKEN}, written)


class TestFingerprints(base.TestCase):
    def test_no_payload_changes_without_a_new_version(self):
        checker = fixture.ObjectVersionChecker(
            {name: [cls] for name, cls in CLASSES.items()}
        )

        expected, actual = checker.test_hashes(FINGERPRINTS, _in_versions)

        self.assertEqual(
            expected,
            actual,
            'Payloads have changed; follow the comment above FINGERPRINTS.',
        )

    def test_nested_versions_never_decrease(self):
        checker = fixture.ObjectVersionChecker(
            {name: [cls] for name, cls in CLASSES.items()}
        )

        checker.test_relationships_in_order()

    def test_the_last_version_nests_the_last_versions(self):
        found = {
            (name, field): (
                relationships[-1],
                (cls.VERSION, CLASSES[cls.fields[field].objname].VERSION),
            )
            for name, cls in CLASSES.items()
            for field, relationships in cls.obj_relationships.items()
            if len(relationships) > 1
        }

        for place, (last, expected) in found.items():
            self.assertEqual(expected, last, place)
        self.assertIn(('ActionPlanCreatePayload', 'audit'), found)


class TestOlderVersions(base.TestCase):
    def setUp(self):
        super().setUp()
        self.samples = documents.samples()

    def test_every_sample_reads_back_as_the_object_that_it_was(self):
        for event_type, sample in self.samples.items():
            payload = sample['payload']
            cls = CLASSES[payload['watcher_object.name']]
            self.assertEqual(
                payload, cls.obj_from_primitive(payload).to_wire(), event_type
            )

    def test_version_1_0_has_no_status_message_anywhere(self):
        for event_type, sample in self.samples.items():
            old = self._in_1_0(sample['payload'])
            self.assertNotIn('status_message', repr(old), event_type)
            self.assertEqual({'1.0'}, _versions(old), event_type)

    def test_version_1_0_is_otherwise_the_same(self):
        for event_type, sample in self.samples.items():
            self.assertEqual(
                _without_new_fields(sample['payload']),
                self._in_1_0(sample['payload']),
                event_type,
            )

    def test_of_an_audit_1_1_has_its_name_and_1_0_has_not(self):
        sample = self.samples['audit.update']['payload']
        cls = CLASSES[sample['watcher_object.name']]
        whole = set(sample['watcher_object.data'])
        left = {}
        for version in ('1.0', '1.1', '1.2'):
            document = cls.obj_from_primitive(sample).to_wire(version)
            data = document['watcher_object.data']
            nested = data['state_update']['watcher_object.version']
            left[version] = (whole - set(data), nested)

        self.assertEqual(
            {
                '1.0': (
                    {'name', 'auto_trigger', 'next_run_time', 'status_message'},
                    '1.0',
                ),
                '1.1': ({'status_message'}, '1.0'),
                '1.2': (set(), '1.1'),
            },
            left,
        )

    def test_unknown_version_is_rejected(self):
        payload = action.ActionStateUpdatePayload(
            old_state=None, state=None, status_message=None
        )

        self.assertRaises(ovo_exception.InvalidTargetVersion, payload.to_wire, '1.2')
        self.assertRaises(ovo_exception.InvalidTargetVersion, payload.fields_in, '1.2')

    def test_payloads_omit_the_list_of_changed_fields(self):
        payload = action_plan.ActionPlanStateUpdatePayload(old_state='PENDING')
        payload.state = 'ONGOING'

        self.assertEqual(
            {
                'watcher_object.name': 'ActionPlanStateUpdatePayload',
                'watcher_object.namespace': 'watcher',
                'watcher_object.version': '1.0',
                'watcher_object.data': {'old_state': 'PENDING', 'state': 'ONGOING'},
            },
            payload.to_wire('1.0'),
        )

    def _in_1_0(self, payload):
        cls = CLASSES[payload['watcher_object.name']]
        return cls.obj_from_primitive(payload).to_wire('1.0')


class TestFields(base.TestCase):
    def test_invalid_uuid_is_rejected(self):
        self.assertRaises(
            ValueError, action_plan.TerseActionPlanPayload, uuid='the plan'
        )

    def test_a_document_is_a_mapping_and_a_list_is_a_list(self):
        self.assertRaises(
            ValueError, action_plan.TerseActionPlanPayload, global_efficacy=['95 %']
        )
        self.assertRaises(ValueError, audit.AuditPayload, scope={'hosts': []})

    def test_a_time_is_written_in_utc_whatever_its_zone(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        aware = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=datetime.UTC)
        naive = aware.replace(tzinfo=None)
        payload = nested.StrategyPayload(
            created_at=datetime.datetime(2016, 11, 4, 18, 29, 20, 999999, zone),
            updated_at=naive,
        )

        self.assertEqual(
            {
                'created_at': '2016-11-04T16:29:20Z',
                'updated_at': '2016-11-04T16:29:20Z',
            },
            payload.to_wire()['watcher_object.data'],
        )


def _versions(document):
    """Return the versions in a document and in all nested ones."""
    if not isinstance(document, dict):
        return set()
    found = {document[key] for key in document if key == 'watcher_object.version'}
    return found.union(*(_versions(value) for value in document.values()))


def _without_new_fields(document, new=frozenset()):
    """Return a document as in its version 1.0.

    :param new: the fields that were added later
    """
    if not isinstance(document, dict):
        return document
    name = document.get('watcher_object.name')
    inner = CLASSES[name].added_in if name else frozenset()
    return {
        key: '1.0'
        if key == 'watcher_object.version'
        else _without_new_fields(value, inner)
        for key, value in document.items()
        if key not in new
    }
