"""The projection of clusters and nodes; pure, and in one transaction."""

import datetime

from tests import base
from tests.cluster_worlds import BY
from tests.factories import make_action
from watcherlite.clock import UTC
from watcherlite.domain.actions import ActionChange
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.projection import events, transitions
from watcherlite.engine.clusters.projection.cluster_projection import ClusterProjection
from watcherlite.engine.clusters.projection.transitions import (
    project_cluster,
    project_node,
)

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=UTC)
EARLIER = NOW - datetime.timedelta(minutes=1)
EQUAL = 'number of active nodes is equal or above desired_capacity'


def make_node_action(action_type, **values):
    given = {'target': 't', 'lane': 'engine', 'status': 'READY', **values}
    return make_action(action_type=action_type, **given)


def started(action_type, **values):
    before = make_node_action(action_type, **values)
    return ActionChange(before, before.evolve(status='RUNNING', start_time=NOW))


def ended(action_type, status='SUCCEEDED', begun=True, outputs=None, **values):
    message = values.pop('status_message', None)
    before = make_node_action(action_type, **values)
    if begun:
        before = before.evolve(status='RUNNING', start_time=EARLIER)
    after = before.evolve(
        status=status, end_time=NOW, status_message=message, outputs=outputs
    )
    return ActionChange(before, after)


class TestClusters(base.TestCase):
    def cluster(self, **values):
        given = {
            'desired_capacity': 3,
            'min_size': 1,
            'status': 'ACTIVE',
            'id': 1,
            **values,
        }
        return Cluster('t', 'c', BY.owner, 1, **given)

    def follow(self, change, active=3, **values):
        return project_cluster(self.cluster(**values), change, active, NOW)

    def test_each_action_has_its_status_while_it_runs(self):
        for action_type, status in (
            ('CLUSTER_CREATE', 'CREATING'),
            ('CLUSTER_DELETE', 'DELETING'),
            ('CLUSTER_UPDATE', 'UPDATING'),
            ('CLUSTER_ADD_NODES', 'RESIZING'),
            ('CLUSTER_DEL_NODES', 'RESIZING'),
            ('CLUSTER_REPLACE_NODES', 'RESIZING'),
            ('CLUSTER_RESIZE', 'RESIZING'),
            ('CLUSTER_SCALE_IN', 'RESIZING'),
            ('CLUSTER_SCALE_OUT', 'RESIZING'),
            ('CLUSTER_CHECK', 'CHECKING'),
            ('CLUSTER_RECOVER', 'RECOVERING'),
            ('CLUSTER_OPERATION', 'OPERATING'),
            ('CLUSTER_ATTACH_POLICY', 'ACTIVE'),
            ('CLUSTER_DETACH_POLICY', 'ACTIVE'),
            ('CLUSTER_UPDATE_POLICY', 'ACTIVE'),
        ):
            with self.subTest(action_type=action_type):
                self.assertEqual(status, self.follow(started(action_type)).status)

    def test_the_status_after_an_action_follows_from_the_nodes(self):
        low = 'number of active nodes is below'
        for active, status, text in (
            (3, 'ACTIVE', f'{EQUAL} (3).'),
            (4, 'ACTIVE', f'{EQUAL} (3).'),
            (2, 'WARNING', f'{low} desired_capacity (3).'),
            (0, 'ERROR', f'{low} min_size (1).'),
            (6, 'WARNING', 'number of active nodes is above max_size (5).'),
        ):
            for end in ('SUCCEEDED', 'FAILED', 'CANCELLED'):
                with self.subTest(active=active, end=end):
                    change = ended('CLUSTER_RESIZE', end)
                    row = self.follow(change, active, max_size=5, status='RESIZING')
                    self.assertEqual(
                        (status, f'CLUSTER_RESIZE: {text}', NOW),
                        (row.status, row.status_reason, row.updated_at),
                    )

    def test_a_cluster_whose_creation_fails_is_in_error(self):
        for end, active, status in (
            ('FAILED', 2, 'ERROR'),
            ('FAILED', 3, 'ACTIVE'),
            ('CANCELLED', 2, 'ERROR'),
            ('SUCCEEDED', 2, 'WARNING'),
        ):
            with self.subTest(end=end, active=active):
                change = ended('CLUSTER_CREATE', end)
                row = self.follow(change, active, status='CREATING')
                self.assertEqual(status, row.status)
                made = NOW if end == 'SUCCEEDED' else None
                self.assertEqual(made, row.created_at)

    def test_a_cluster_whose_creation_never_started_has_a_reason(self):
        change = ended('CLUSTER_CREATE', 'FAILED', False, status_message='no')

        row = self.follow(change, 0, status='INIT')

        self.assertEqual(('ERROR', 'Not made: no'), (row.status, row.status_reason))

    def test_an_action_that_never_started_leaves_the_cluster_unchanged(self):
        for end in ('FAILED', 'CANCELLED', 'SKIPPED'):
            change = ended('CLUSTER_RESIZE', end, begun=False)
            self.assertEqual(self.cluster(), self.follow(change, 0))

    def test_the_fields_of_the_outputs_are_applied(self):
        shown = {
            'desired_capacity': 2,
            'min_size': 0,
            'name': 'd',
            'data': {'a': None, 'b': 2},
            'uuid': 'not that',
        }
        change = ended('CLUSTER_UPDATE', outputs={action_types.CLUSTER: shown})

        row = self.follow(change, 2, data={'a': 1, 'c': 3})

        self.assertEqual(
            (2, 0, 'd', {'b': 2, 'c': 3}, 't', 'ACTIVE'),
            (
                row.desired_capacity,
                row.min_size,
                row.name,
                row.data,
                row.uuid,
                row.status,
            ),
        )

    def test_only_a_successful_deletion_deletes_the_row(self):
        gone = self.follow(ended('CLUSTER_DELETE'), 0)
        left = self.follow(ended('CLUSTER_DELETE', 'FAILED'), 1)

        self.assertEqual((NOW, None), (gone.deleted_at, left.deleted_at))
        self.assertEqual('WARNING', left.status)

    def test_each_run_of_a_repeated_action_is_projected(self):
        first = started('CLUSTER_CHECK', interval=60)
        between = ended('CLUSTER_CHECK', 'READY', interval=60)
        second = ActionChange(
            between.after, between.after.evolve(status='RUNNING', end_time=None)
        )

        self.assertEqual(
            [events.START, events.END, events.START],
            [transitions.phase_of(change) for change in (first, between, second)],
        )
        row = self.follow(between, 3, status='CHECKING')
        self.assertEqual('ACTIVE', row.status)
        self.assertEqual('CHECKING', self.follow(second).status)
        failed = ended('CLUSTER_CHECK', 'READY', status_message='it failed')
        self.assertEqual(events.ERROR, transitions.phase_of(failed))

    def test_a_requested_node_evaluates_its_cluster(self):
        request = {'cause': 'RPC Request', 'within': 't'}
        row = self.follow(ended('NODE_CHECK', **request), 2)
        unmade = self.follow(ended('NODE_CHECK', **request), 0, status='INIT')

        self.assertEqual('WARNING', row.status)
        self.assertTrue(row.status_reason.startswith('NODE_CHECK: '))
        self.assertEqual('INIT', unmade.status)


class TestNodes(base.TestCase):
    def node(self, **values):
        given = {'status': 'ACTIVE', 'status_reason': 'well', 'id': 2, **values}
        return Node('t', 'n', BY.owner, 1, 'Sample', **given)

    def test_each_action_has_its_status_while_it_runs(self):
        for action_type, status in (
            ('NODE_CREATE', 'CREATING'),
            ('NODE_DELETE', 'DELETING'),
            ('NODE_UPDATE', 'ACTIVE'),
            ('NODE_JOIN', 'ACTIVE'),
            ('NODE_LEAVE', 'ACTIVE'),
            ('NODE_CHECK', 'ACTIVE'),
            ('NODE_RECOVER', 'RECOVERING'),
            ('NODE_OPERATION', 'OPERATING'),
        ):
            with self.subTest(action_type=action_type):
                row = project_node(self.node(), started(action_type), NOW)
                self.assertEqual(status, row.status)
        inputs = {'new_profile_id': 'p'}
        row = project_node(self.node(), started('NODE_UPDATE', inputs=inputs), NOW)
        self.assertEqual('UPDATING', row.status)

    def test_the_fields_in_a_token_are_applied(self):
        before = make_node_action('NODE_CREATE', status='RUNNING', start_time=EARLIER)
        shown = {'physical_id': 'x', 'kept': {'data': {'a': 1}}}
        change = ActionChange(before, before.evolve(token={action_types.NODE: shown}))

        row = project_node(self.node(kept={'name': 'n'}), change, NOW)

        self.assertEqual('x', row.physical_id)
        self.assertEqual({'name': 'n', 'data': {'a': 1}}, row.kept)

    def test_a_refused_action_restores_the_status(self):
        begun = project_node(self.node(), started('NODE_DELETE'), NOW)
        refusal = {action_types.NODE: {transitions.UNCHANGED: True}, 'reason': 'no'}
        change = ended('NODE_DELETE', 'FAILED', outputs=refusal)

        row = project_node(begun, change, NOW)

        self.assertEqual(('ACTIVE', 'well'), (row.status, row.status_reason))
        self.assertEqual({}, row.kept)

    def test_the_reason_of_a_failure_is_that_of_the_handler(self):
        begun = project_node(self.node(), started('NODE_RECOVER'), NOW)
        text = 'Action failed in execute: no room'

        row = project_node(
            begun, ended('NODE_RECOVER', 'FAILED', status_message=text), NOW
        )

        self.assertEqual(('ERROR', 'no room'), (row.status, row.status_reason))

    def test_a_check_does_not_change_updated_at(self):
        shown = {'status': 'ACTIVE', 'status_reason': 'Check: Node is ACTIVE.'}
        well = ended('NODE_CHECK', outputs={action_types.NODE: shown})

        self.assertIsNone(project_node(self.node(), well, NOW).updated_at)
        row = project_node(self.node(status='ERROR'), well, NOW)
        self.assertEqual(NOW, row.updated_at)


class TestConcerns(base.TestCase):
    def test_actions_of_plans_are_not_projected(self):
        known = ClusterProjection()

        self.assertTrue(known.is_affected_by(make_node_action('NODE_CHECK')))
        self.assertTrue(known.is_affected_by(make_node_action('CLUSTER_SCALE_IN')))
        self.assertFalse(
            known.is_affected_by(make_node_action('NODE_CHECK', plan_id=1))
        )
        self.assertFalse(known.is_affected_by(make_node_action('nop')))
