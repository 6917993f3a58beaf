"""Health marks, adoptions and user-defined actions of nodes."""

import dataclasses
import datetime
from typing import Any

from tests.cluster_worlds import BY
from tests.functional.engine.clusters.operations_case import OperationsCase
from tests.operated_worlds import OperatedWorld
from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.db.query import EventQuery
from watcherlite.domain import events
from watcherlite.domain.clusters import Profile
from watcherlite.domain.resource_results import Ready
from watcherlite.engine.clusters.requests.clusters import ClusterOperations
from watcherlite.engine.clusters.requests.values import (
    AdoptionRequest,
    NewClusterAction,
)
from watcherlite.engine.clusters.services import ClusterLimits


class TestMarks(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile, 1)
        (node,) = self.world.nodes(self.cluster)
        self.world.save(node, status='ACTIVE', status_reason='well')
        self.node = self.world.reload(node)

    def mark(self, *values: Any) -> Any:
        return self.operations.nodes.mark_unhealthy(self.node.uuid, BY, *values)

    def test_a_mark_stores_an_event_and_evaluates_the_cluster(self) -> None:
        after = self.mark('true', 'it is slow')

        self.assertEqual(
            ('ERROR', 'it is slow', {'unhealthy': 'it is slow'}),
            (after.status, after.status_reason, after.data),
        )
        cluster = self.world.reload(self.cluster)
        self.assertEqual(
            (
                'WARNING',
                'NODE_UPDATE: number of active nodes is below desired_capacity (1).',
            ),
            (cluster.status, cluster.status_reason),
        )
        (shown,) = self.world.store.list_cluster_events(EventQuery())
        detail = shown.event.detail or {}
        action = self.world.store.get_action(detail['action']['uuid'])
        self.assertEqual(
            (
                'NODE_UPDATE',
                f'node_mark_unhealthy_{self.node.uuid[:8]}_',
                'SUCCEEDED',
                self.cluster.uuid,
                {'mark_unhealthy': True, 'status_reason': 'it is slow'},
            ),
            (
                action.action_type,
                (action.name or '')[:-8],
                action.status,
                action.within,
                action.inputs,
            ),
        )
        self.assertEqual(
            (events.NODE, 'ACTIVE', 'ERROR', 'it is slow', 'end', self.cluster.uuid),
            (
                shown.event.subject,
                shown.event.old_status,
                shown.event.new_status,
                shown.event.message,
                detail['phase'],
                detail['cluster'],
            ),
        )

    def test_removing_a_mark_restores_the_status_before_it_even_error(self) -> None:
        self.mark(True, 'once')
        self.mark(True, 'twice')
        after = self.mark(False, 'a mistake')

        self.assertEqual(
            ('ACTIVE', 'a mistake', {}), (after.status, after.status_reason, after.data)
        )
        self.assertEqual('ACTIVE', self.world.reload(self.cluster).status)

        self.world.save(self.node, status='ERROR', status_reason='broken')
        self.mark(True)
        after = self.mark(False)

        self.assertEqual(('ERROR', 'broken'), (after.status, after.status_reason))

    def test_a_mark_is_rejected_during_an_action(self) -> None:
        begun = self.operations.check('c', BY)

        with self.assert_refused(
            f'The NODE_UPDATE action for target {self.node.uuid} conflicts '
            f'with the following action(s): CLUSTER_CHECK {begun.action}.',
            exceptions.ActionConflict,
        ):
            self.mark(True)

    def test_an_invalid_reason_is_rejected(self) -> None:
        for reason in ('', 'x' * 256, 7):
            with self.assert_refused(
                'The value for status_reason must be text of 1 to 255 characters.'
            ):
                self.mark(True, reason)


class TestAdopting(OperationsCase):
    def test_an_adopted_resource_becomes_a_node_with_its_own_profile(self) -> None:
        self.world.external.samples['here'] = {'value': 'x'}
        desired = AdoptionRequest(
            'here', 'sample-1.0', 'n', 'master', overrides={'value': 'x'}
        )
        spec = {'type': 'sample', 'version': '1.0', 'properties': {'value': 'x'}}

        self.assertEqual(spec, self.operations.nodes.preview(desired, BY))
        node = self.operations.nodes.adopt(desired, BY)

        profile = self.world.store.objects_by_id(Profile, [node.profile_id])
        self.assertEqual(spec, profile[node.profile_id].spec)
        self.assertEqual(
            ('n', 'master', 'here', 'INIT'),
            (node.name, node.role, node.physical_id, node.status),
        )
        self.world.worker()
        self.world.wait_until_idle()
        self.assertEqual('ACTIVE', self.world.reload(node).status)

    def test_the_handler_adopts_a_resource_once(self) -> None:
        world = OperatedWorld(self.make_store())
        self.addCleanup(world.stop)

        def adopt(handler: Any, context: Any) -> Ready:
            world.external.record_call('adopt', context.resource_name)
            return Ready(data={'ours': True})

        found = type(
            'Found', (world.types.resource_types()['Sample'],), {'adopt': adopt}
        )
        world.types = world.types.of(resource_handlers={'Found': found})
        parts = dataclasses.replace(world.cluster_parts, plugins=world.types)
        operations = ClusterOperations(parts, world.clock, world)
        world.external.samples['here'] = {}

        node = operations.nodes.adopt(AdoptionRequest('here', 'found', 'n'), BY)
        world.worker()
        world.wait_until_idle()
        world.wait_for_end(operations.nodes.check('n', BY).action)
        world.row(operations.nodes.delete('n', BY))

        calls = [call for call, _ in world.external.calls]
        self.assertEqual(['adopt', 'check', 'delete'], calls)
        self.assertEqual({'data': {'ours': True}}, world.reload(node).kept)

    def test_a_type_without_adoption_is_rejected(self) -> None:
        known = self.world.types.resource_types()['Sample']
        blind = type('Blind', (known,), {'adoptable': False})
        types = self.world.types.of(resource_handlers={'Blind': blind})
        parts = dataclasses.replace(self.world.cluster_parts, plugins=types)
        nodes = ClusterOperations(parts, self.world.clock, self.world).nodes

        for request in (nodes.preview, nodes.adopt):
            with self.assert_refused(
                'Nothing can be adopted as blind-1.0: its type only finds resources '
                'that it has created.'
            ):
                request(AdoptionRequest('x', 'blind'), BY)
        self.assertEqual([], self.world.external.calls)

    def test_a_missing_resource_becomes_an_unhealthy_node(self) -> None:
        node = self.operations.nodes.adopt(AdoptionRequest('gone', 'sample'), BY)

        self.world.worker()
        self.world.wait_until_idle()

        self.assertEqual('ERROR', self.world.reload(node).status)

    def test_invalid_adoptions_are_rejected(self) -> None:
        for desired, kind, text in (
            (
                AdoptionRequest('x', 'nope'),
                exceptions.NotFound,
                "The profile_type 'nope' could not be found. Known types: "
                'os.heat.stack-1.0, plain-1.0, sample-1.0.',
            ),
            (
                AdoptionRequest('x', 'sample', snapshot=True),
                exceptions.BadRequest,
                'No type of profile makes snapshots of what is adopted.',
            ),
            (
                AdoptionRequest('', 'sample'),
                exceptions.BadRequest,
                'The identity of what is adopted is missing.',
            ),
        ):
            with self.subTest(desired=desired), self.assert_refused(text, kind):
                self.operations.nodes.preview(desired, BY)


class TestUserActions(OperationsCase):
    limits = ClusterLimits(user_actions=frozenset({'sleep'}))

    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile)

    def request_action(self, **values: Any) -> Any:
        given = {'action': 'sleep', 'target': 'c', 'inputs': {'duration': 0}, **values}
        return self.operations.actions.create(NewClusterAction(**given), BY)

    def test_a_user_action_keeps_its_schedule(self) -> None:
        begun = self.request_action(
            interval='60', not_before='2999-01-01T01:00:00+01:00'
        )

        action = self.world.store.get_action(begun.action)
        self.assertEqual(
            (60, datetime.datetime(2999, 1, 1, tzinfo=datetime.UTC), 3600),
            (action.interval, action.not_before, action.timeout),
        )
        self.assertEqual(
            -0,
            self.world.store.get_action(
                self.request_action(interval=-1).action
            ).interval,
        )

    def test_a_time_in_the_past_means_now(self) -> None:
        for value in ('1960-01-01T00:00:00', '0100-01-01T00:00:00+14:00'):
            self.world.insert_cluster(self.profile, name=f'in-{value[:4]}')
            begun = self.request_action(not_before=value, target=f'in-{value[:4]}')
            action = self.world.store.get_action(begun.action)
            self.assertEqual(EPOCH, action.not_before)

    def test_invalid_user_actions_are_rejected(self) -> None:
        for name, value, text in (
            (
                'action',
                'nop',
                "The action type 'nop' is not for clusters and nodes; those that this "
                'installation allows are: sleep.',
            ),
            (
                'target',
                'nope',
                "The specified target 'nope' could not be found: there is neither a "
                'cluster nor a node of that name.',
            ),
            (
                'not_before',
                'soon',
                "The value for not_before is no time in ISO 8601: 'soon'.",
            ),
            ('not_before', 7, 'The value for not_before must be a time, not a number.'),
        ):
            with self.subTest(name=name, value=value), self.assert_refused(text):
                self.request_action(**{name: value})
