"""The representations of rows."""

import datetime

from tests import base
from watcherlite.api import timestamps
from watcherlite.api.clustering.handlers import actions, events, specs, types
from watcherlite.db.clusters import ListedClusterAction
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import NewProfile, Owner, Profile
from watcherlite.domain.events import CLUSTER, NODE, Event, StoredEvent
from watcherlite.plugins.base import Policy

NOW = datetime.datetime(2026, 11, 20, 15, 52, 42, 123456, datetime.UTC)
LATEST = (1, 15)


def action(**values):
    made = Action('a-uuid', 'NODE_CHECK', id=1, tenant='here', **values)
    return actions.represent(ListedClusterAction(made), LATEST)


class TestTimes(base.TestCase):
    def test_times_are_in_utc_to_the_second_or_fractional_seconds(self):
        east = NOW.astimezone(datetime.timezone(datetime.timedelta(hours=5)))
        for when, expected in (
            (east, ('2026-11-20T15:52:42Z', 1795189962.123456)),
            (None, (None, None)),
        ):
            self.assertEqual(
                expected, (timestamps.seconds(when), timestamps.epoch(when))
            )


class TestActions(base.TestCase):
    def test_outputs_omit_private_keys_and_include_failure_message(self):
        private = {'nodes_added': ['n'], '_physical_id': 'p'}
        for status, outputs, expected in (
            ('SUCCEEDED', private, {'nodes_added': ['n']}),
            ('FAILED', None, {'reason': 'no disk'}),
            ('FAILED', {'reason': 'uncut', 'n': 1}, {'reason': 'uncut', 'n': 1}),
            ('READY', None, {}),
            ('CANCELLED', None, {}),
        ):
            shown = action(status=status, status_message='no disk', outputs=outputs)
            self.assertEqual(expected, shown['outputs'])

    def test_signal_is_shown_until_the_action_ends(self):
        shown = [
            action(status=status, control='RESUME')['control']
            for status in ('RUNNING', 'WAITING', 'SUCCEEDED', 'CANCELLED')
        ]

        self.assertEqual(['RESUME', 'RESUME', None, None], shown)

    def test_credentials_are_masked(self):
        shown = action(
            inputs={'params': {'admin_pass': 'hush', 'type': 'SOFT'}},
            outputs={'password': 'hush'},
            data={'token': 'hush'},
        )

        self.assertNotIn('hush', str(shown))
        self.assertEqual('SOFT', shown['inputs']['params']['type'])

    def test_cluster_of_action_is_target_or_contains_target(self):
        for name, values, expected in (
            ('CLUSTER_CHECK', {'target': 'c'}, 'c'),
            ('NODE_CHECK', {'target': 'n', 'within': 'c'}, 'c'),
            ('NODE_CHECK', {'target': 'n'}, ''),
            ('NODE_JOIN', {'target': 'n', 'inputs': {'cluster_id': 'c'}}, 'c'),
        ):
            one = Action('u', name, id=1, **values)
            self.assertEqual(expected, actions.cluster_of(one))

    def test_derived_action_has_cause_and_only_policy_data(self):
        shown = action(derived_from=7, data={'key': 'NODE_JOIN:n', 'deletion': {}})

        self.assertEqual(
            ('Derived Action', {'deletion': {}}), (shown['cause'], shown['data'])
        )

    def test_queued_action_depends_on_the_lock_holder(self):
        queued = Action('u', 'CLUSTER_CHECK', id=1, status='WAITING', blocked_on='c')

        shown = actions.represent(
            ListedClusterAction(queued, holders=(('CLUSTER_UPDATE', 'v'),)), (1, 15)
        )

        self.assertEqual(
            ('The action is queued: it waits for CLUSTER_UPDATE v.', ['v']),
            (shown['status_reason'], shown['depends_on']),
        )

    def test_target_of_third_party_types_is_a_cluster_or_node(self):
        rows = [
            ListedClusterAction(one)
            for one in (
                Action('u', 'command', id=1, target='c'),
                Action('u', 'command', id=1, target='n', within='c'),
                Action('u', 'command', id=1, target='m'),
                Action('u', 'CLUSTER_CHECK', id=1, target='d'),
                Action('u', 'NODE_CHECK', id=1, target='o'),
                Action('u', 'command', id=1),
            )
        ]

        self.assertEqual({'c', 'm'}, actions.unresolved_targets(rows))
        self.assertEqual(
            ['c', 'c', '', 'd', '', ''],
            [actions.represent(row, LATEST, {'c'})['cluster_id'] for row in rows],
        )

    def test_not_before_is_shown_in_utc(self):
        self.assertIsNone(action()['not_before'])
        self.assertEqual('2026-11-20T15:52:42Z', action(not_before=NOW)['not_before'])


class TestEvents(base.TestCase):
    def shown(self, subject, detail):
        event = Event(
            *(subject, 'stepped', None, None, None, 'ERROR', 'it broke', None),
            *(None, NOW, detail),
            subject_id=1,
            uuid='e-uuid',
        )
        return events.represent(StoredEvent(7, event), None)

    def test_events_of_deleted_node_and_without_action_are_shown(self):
        cause = {'uuid': 'a', 'name': 'node_check', 'type': 'NODE_CHECK'}
        of_node = {
            'action': cause,
            'phase': 'error',
            'uuid': 'n-uuid',
            'name': 'n1',
            'cluster': 'c-uuid',
            'initiator': {'user_id': 'u1', 'user_name': 'alice'},
        }
        common = {
            'id': 'e-uuid',
            'timestamp': '2026-11-20T15:52:42Z',
            'cluster_id': 'c-uuid',
            'user': None,
            'project': '',
            'status_reason': 'it broke',
        }

        self.assertEqual(
            {
                **common,
                'oid': 'n-uuid',
                'oname': 'n1',
                'otype': 'NODE',
                'level': '40',
                'action': 'NODE_CHECK',
                'status': 'error',
                'user': 'u1',
                'meta_data': {
                    'action': cause,
                    'initiator': {'user_id': 'u1', 'user_name': 'alice'},
                },
            },
            self.shown(NODE, of_node),
        )
        self.assertEqual(
            {
                **common,
                'oid': 'c-uuid',
                'oname': 'web',
                'otype': 'CLUSTER',
                'level': '20',
                'action': None,
                'status': '',
                'meta_data': {},
            },
            self.shown(CLUSTER, {'uuid': 'c-uuid', 'name': 'web'}),
        )


class TestSpecs(base.TestCase):
    def test_validated_object_has_no_id(self):
        row = NewProfile('', 'validated_profile', 't-1.0', 'T', {}, Owner('here'))

        self.assertIsNone(specs.profile(row)['id'])

    def test_credentials_are_masked(self):
        spec = {'type': 't', 'properties': {'password': 'hush', 'value': 'x'}}
        row = Profile('u', 'p', 't-1.0', 'T', spec, Owner('here'), id=1)

        shown = specs.profile(row)['spec']

        self.assertNotIn('hush', str(shown))
        self.assertEqual('x', shown['properties']['value'])


class TestTypes(base.TestCase):
    """The types of profiles and policies."""

    def test_support_status_is_grouped_by_version(self):
        old = {'status': 'DEPRECATED', 'since': '2016.04'}
        new = {'status': 'SUPPORTED', 'since': '2018.01'}

        class VersionedPolicy(Policy):
            support_status = ({'version': '1.0', **old}, {'version': '1.1', **new})

        self.assertEqual(
            {'1.0': [old], '1.1': [new]}, types.support_of(VersionedPolicy, '1.1')
        )
        self.assertEqual({'1.0': []}, types.support_of(Policy, '1.0'))

    def test_listed_type_has_separate_version_from_1_5(self):
        support = {'1.0': [{'status': 'SUPPORTED'}]}

        self.assertEqual(
            [
                {'name': 't-1.0'},
                {'name': 't', 'version': '1.0', 'support_status': support},
            ],
            [
                types.represent_listed('t', '1.0', support, (1, minor))
                for minor in (4, 5)
            ],
        )
