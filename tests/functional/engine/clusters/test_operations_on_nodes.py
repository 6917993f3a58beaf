"""Requests on nodes of clusters, also during other actions."""

import datetime
from collections.abc import Callable
from typing import Any
from unittest import mock

from tests.cluster_worlds import BY, QUEUED
from tests.functional.engine.clusters.operations_case import OperationsCase
from watcherlite import exceptions
from watcherlite.domain.actions import COMPLETE, ActionChange
from watcherlite.engine.clusters.requests.values import ClusterRequest, NodeRequest


class TestBusy(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile, 2)
        self.first = self.operations.check(self.cluster.uuid, BY).action

    def test_a_queued_action_is_a_conflict_unless_the_request_waits(self) -> None:
        node = self.world.nodes(self.cluster)[0].uuid
        requests: tuple[tuple[str, str, Callable[..., Any]], ...] = (
            ('CLUSTER_RECOVER', self.cluster.uuid, self.operations.recover),
            ('NODE_CHECK', node, self.operations.nodes.check),
        )
        for action_type, uuid, request in requests:
            text = (
                f'The {action_type} action for target {uuid} conflicts with the '
                f'following action(s): CLUSTER_CHECK {self.first}.'
            )
            with self.assert_refused(text, exceptions.ActionConflict):
                request(uuid, BY)
        begun = self.operations.recover('c', QUEUED)
        self.assertEqual('READY', self.world.store.get_action(begun.action).status)

    def test_an_action_is_suspended_between_two_stages(self) -> None:
        action = self.world.store.get_action(self.first)
        now = self.world.clock.now()
        between = action.evolve(phase=COMPLETE, start_time=now)
        with self.world.store.transaction() as tx:
            tx.change_actions([ActionChange(action, between)])
        signal = self.operations.actions.update

        held = signal(self.first, BY, 'SUSPENDED').action
        going = signal(self.first, BY, 'RUNNING').action

        self.assertEqual(
            [('SUSPENDED', COMPLETE), ('READY', COMPLETE)],
            [(one.status, one.phase) for one in (held, going)],
        )

    def test_a_started_action_locks_the_target(self) -> None:
        self.world.start_by_hand(self.first)

        with self.assert_refused(
            f'CLUSTER_RECOVER for cluster {self.cluster.uuid} cannot be completed '
            f'because it is already locked: CLUSTER_CHECK {self.first}.',
            exceptions.ResourceIsLocked,
        ):
            self.operations.recover('c', BY)

    def test_a_concurrent_request_is_detected(self) -> None:
        self.end_actions(self.cluster)
        store = self.world.store
        find = store.find_object
        came: list[bool] = []

        def found(*args: Any) -> Any:
            row = find(*args)
            if not came:
                came.append(True)
                self.operations.check('c', BY)
            return row

        with (
            mock.patch.object(store, 'find_object', found),
            self.assertRaises(exceptions.ActionConflict),
        ):
            self.operations.recover('c', BY)

    def test_an_action_on_a_node_blocks_the_cluster_but_no_other_node(self) -> None:
        self.end_actions(self.cluster)
        one, two = self.world.nodes(self.cluster)
        checks = self.operations.nodes.check(one.uuid, BY).action

        with self.assert_refused(
            f'The CLUSTER_CHECK action for target {self.cluster.uuid} conflicts with '
            f'the following action(s): NODE_CHECK {checks}.',
            exceptions.ActionConflict,
        ):
            self.operations.check('c', BY)
        begun = self.operations.nodes.check(two.uuid, BY)
        action = self.world.store.get_action(begun.action)
        self.assertEqual(
            (two.uuid, self.cluster.uuid, 'READY'),
            (action.target, action.within, action.status),
        )

    def test_every_action_can_be_scheduled_during_other_actions(self) -> None:
        spare = self.world.insert_node(self.profile, 'spare', status='ACTIVE')
        better = self.world.profile('better').uuid
        policy = self.world.policy('senlin.policy.deletion').uuid
        due = self.world.clock.now() + datetime.timedelta(hours=1)
        later = self.operations.scheduled_at(due)
        one, two = (node.uuid for node in self.world.nodes(self.cluster))
        new = NodeRequest('new', 'p', 'c')

        asked = [
            later.create(ClusterRequest('d', 'p'), BY),
            later.update('c', BY, {'profile_id': better}),
            later.resize('c', BY, {'max_size': 4}),
            later.scale('c', BY, 'CLUSTER_SCALE_OUT'),
            later.add_nodes('c', BY, [spare.uuid]),
            later.del_nodes('c', BY, [one]),
            later.replace_nodes('c', BY, {one: spare.uuid}),
            later.attach_policy('c', BY, policy),
            later.check('c', BY),
            later.recover('c', BY),
            later.operate('c', BY, 'reboot'),
            later.delete('c', BY),
            later.nodes.create(new, BY),
            later.nodes.update(two, BY, {'role': 'x'}),
            later.nodes.check(two, BY),
            later.nodes.recover(two, BY),
            later.nodes.operate(two, BY, 'reboot'),
            later.nodes.delete(two, BY),
        ]

        found = [self.world.store.get_action(begun.action) for begun in asked]
        self.assertEqual({('READY', due)}, {(a.status, a.not_before) for a in found})
        self.assertEqual('READY', self.world.store.get_action(self.first).status)
        with self.assertRaisesRegex(exceptions.BadRequest, 'cannot be forced'):
            later.delete('c', BY, force=True)

    def test_a_scheduled_action_conflicts_with_nothing(self) -> None:
        self.end_actions(self.cluster)
        self.world.user_action(
            'sleep',
            self.cluster,
            inputs={'duration': 0},
            not_before='2999-01-01T00:00:00',
            interval=5,
        )

        begun = self.operations.check('c', BY)

        self.assertEqual('READY', self.world.store.get_action(begun.action).status)


class TestMembers(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile, 2)
        self.well = self.world.insert_node(self.profile, 'well', status='ACTIVE')

    def test_nodes_are_referenced_by_name_or_uuid(self) -> None:
        other = self.world.insert_node(self.profile, 'other', status='ACTIVE')

        begun = self.operations.add_nodes('c', BY, ['well', other.uuid, 'well'])

        self.assertEqual({'nodes': [self.well.uuid, other.uuid]}, self.inputs(begun))

    def test_unsuitable_nodes_are_rejected(self) -> None:
        bad = self.world.insert_node(self.profile, 'bad', status='ERROR')
        plain = self.world.profile('plain', 'plain')
        another = self.world.insert_node(plain, 'another', status='ACTIVE')
        member = self.world.nodes(self.cluster)[0]
        owned = f"Nodes ['{member.uuid}'] already owned by some cluster."
        other_type = (
            f"Profile type of nodes ['{another.uuid}'] does not match that of the "
            'cluster.'
        )
        for nodes, kind, text in (
            (['nope'], exceptions.BadRequest, "Nodes not found: ['nope']."),
            (['c-1'], exceptions.NodeNotOrphan, owned),
            (['bad'], exceptions.BadRequest, f"Nodes are not ACTIVE: ['{bad.uuid}']."),
            (['another'], exceptions.BadRequest, other_type),
            (
                [],
                exceptions.BadRequest,
                'No nodes specified: a list of them is needed.',
            ),
        ):
            with self.subTest(nodes=nodes), self.assert_refused(text, kind):
                self.operations.add_nodes('c', BY, nodes)

    def test_only_members_within_the_size_limits_are_removed(self) -> None:
        with self.assert_refused(
            f"Nodes not members of specified cluster: ['{self.well.uuid}']."
        ):
            self.operations.del_nodes('c', BY, ['well'])
        self.world.save(self.cluster, min_size=2)
        with self.assert_refused(
            "The target capacity (1) is less than the cluster's min_size (2)."
        ):
            self.operations.del_nodes('c', BY, ['c-1'])
        self.world.save(self.cluster, min_size=0)

        begun = self.operations.del_nodes('c', BY, ['c-2'], 'true')

        two = self.world.nodes(self.cluster)[1]
        self.assertEqual(
            {'count': 1, 'candidates': [two.uuid], 'destroy_after_deletion': True},
            self.inputs(begun),
        )

    def test_only_members_are_replaced_and_only_by_orphans(self) -> None:
        one, two = self.world.nodes(self.cluster)
        replace = self.operations.replace_nodes
        with self.assert_refused(
            f"Nodes to be replaced are not of specified cluster: ['{self.well.uuid}']."
        ):
            replace('c', BY, {'well': 'c-1'})
        with self.assert_refused(
            f"Nodes ['{two.uuid}'] already owned by some cluster.",
            exceptions.NodeNotOrphan,
        ):
            replace('c', BY, {one.uuid: 'c-2'})

        begun = replace('c', BY, {'c-1': 'well'})

        self.assertEqual({'candidates': {one.uuid: self.well.uuid}}, self.inputs(begun))


class TestHealth(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile, 2)

    def test_a_recovery_must_be_supported_by_the_profile(self) -> None:
        self.world.insert_cluster(self.world.profile('plain', 'plain'), 1, 'plain')
        for name, params, text in (
            (
                'c',
                {'operation': 'PRAY'},
                "Operation value 'PRAY' has to be one of the following: REBOOT, "
                'REBUILD, RECREATE.',
            ),
            (
                'plain',
                {'operation': 'REBOOT'},
                "The operation 'REBOOT' is not supported by profile type 'plain-1.0'.",
            ),
            (
                'c',
                {'force': True},
                "Action parameter ['force'] is not recognizable; known are check, "
                'check_capacity, operation, operation_params.',
            ),
        ):
            with self.subTest(params=params), self.assert_refused(text):
                self.operations.recover(name, BY, params)

        desired = {'operation': 'reboot', 'check': 'True', 'check_capacity': None}
        begun = self.operations.recover('c', BY, desired)
        self.assertEqual({'operation': 'REBOOT', 'check': True}, self.inputs(begun))

    def test_an_operation_and_its_parameters_must_fit_the_profile(self) -> None:
        operate = self.operations.operate
        for operation, params, filters, text in (
            (
                'unknown',
                {},
                None,
                "The operation 'unknown' is not supported by profile type "
                "'sample-1.0'.",
            ),
            ('patch', {}, None, 'params.colour: is required'),
            (
                'reboot',
                {'type': 'MILD'},
                None,
                'params.type: "MILD" is none of "SOFT", "HARD"',
            ),
            ('reboot', {}, {'shape': 'x'}, "Filter key 'shape' is unsupported"),
            (
                'reboot',
                {},
                {'name': 'x'},
                'No node (matching the filter) could be found',
            ),
        ):
            with (
                self.subTest(operation=operation, params=params),
                self.assert_refused(text),
            ):
                operate('c', BY, operation, params, filters)

        begun = operate('c', BY, 'patch', {'colour': 'red'}, {'name': 'c-2'})

        two = self.world.nodes(self.cluster)[1]
        self.assertEqual(
            {'operation': 'patch', 'params': {'colour': 'red'}, 'nodes': [two.uuid]},
            self.inputs(begun),
        )
        action = self.world.store.get_action(begun.action)
        name = f'cluster_patch_{self.cluster.uuid[:8]}_{action.uuid[:8]}'
        self.assertEqual(name, action.name)

    def test_values_are_collected_from_the_nodes(self) -> None:
        one, two = self.world.nodes(self.cluster)

        def found(path: str) -> Any:
            return self.operations.collect(
                'c', BY, path, lambda node: {'name': node.name, 'd': {'i': node.index}}
            )

        self.assertEqual([(one.uuid, 1), (two.uuid, 2)], found('$.d.i'))
        self.assertEqual([], found('$.nope'))
        self.assertEqual([(one.uuid, 1), (two.uuid, 2)], found('$..i'))
        for path, text in (
            (
                '$.[',
                "'$.[' is no JSON path: names, [indexes], * and one '..' are "
                'understood.',
            ),
            ('$..a..b', "'$..a..b' has more than one '..'."),
        ):
            with self.assert_refused(text):
                found(path)


class TestDelete(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile)

    def test_a_cluster_in_transition_is_deleted_only_by_force(self) -> None:
        self.world.save(self.cluster, status='UPDATING')
        before = self.operations.check('c', BY).action
        with self.assert_refused(
            f"The cluster '{self.cluster.uuid}' is in status UPDATING.",
            exceptions.ActionInProgress,
        ):
            self.operations.delete('c', BY)

        begun = self.operations.delete('c', BY, force=True)

        found = self.world.store.get_action
        self.assertEqual('CANCELLED', found(before).status)
        self.assertEqual(
            ('READY', {}), (found(begun.action).status, self.inputs(begun))
        )

    def test_a_deletion_is_requested_once_and_waits_unless_forced(self) -> None:
        before = self.operations.check('c', BY).action
        begun = self.operations.delete('c', BY).action

        for force, status in ((False, 'READY'), (True, 'CANCELLED')):
            again = self.operations.delete('c', BY, force=force).action
            self.assertEqual(begun, again)
            self.assertEqual([status, 'READY'], self.statuses(before, again))

    def test_force_cancels_what_the_first_deletion_of_a_node_waits_for(self) -> None:
        cluster = self.world.insert_cluster(self.profile, 1, name='d')
        (node,) = self.world.nodes(cluster)
        nodes = self.operations.nodes
        around = self.operations.check('d', BY).action
        before = nodes.check(node.uuid, QUEUED).action
        begun = nodes.delete(node.uuid, BY)
        after = self.operations.check('d', QUEUED).action

        again = nodes.delete(node.uuid, BY, force=True)

        self.assertEqual(begun.action, again.action)
        self.assertEqual(
            ['CANCELLED', 'CANCELLED', 'READY', 'READY'],
            self.statuses(around, before, again.action, after),
        )

    def test_a_forced_deletion_of_a_node_leaves_that_of_its_cluster(self) -> None:
        cluster = self.world.insert_cluster(self.profile, 1, name='d')
        (node,) = self.world.nodes(cluster)
        around = self.operations.delete('d', BY).action

        begun = self.operations.nodes.delete(node.uuid, BY, force=True).action

        self.assertEqual(['READY', 'READY'], self.statuses(around, begun))

    def test_a_scheduled_deletion_does_not_replace_a_deletion(self) -> None:
        scheduled = self.operations.delete('c', BY).action
        action = self.world.store.get_action(scheduled)
        later = self.world.clock.now() + datetime.timedelta(hours=1)
        with self.world.store.transaction() as tx:
            tx.change_actions([ActionChange(action, action.evolve(not_before=later))])

        begun = self.operations.delete('c', BY).action

        self.assertEqual(['CANCELLED', 'READY'], self.statuses(scheduled, begun))

    def statuses(self, *uuids: str) -> list[str]:
        return [self.world.store.get_action(uuid).status for uuid in uuids]

    def test_a_repeated_action_does_not_delay_a_deletion(self) -> None:
        again = self.world.user_action(
            'sleep', self.cluster, inputs={'duration': 0}, interval=3600
        )

        self.operations.delete('c', BY)

        self.assertEqual('CANCELLED', self.world.store.get_action(again.uuid).status)

    def test_an_object_with_dependents_is_not_deleted(self) -> None:
        self.world.save(self.cluster, dependents={'nodes': ['x']})

        with self.assert_refused(
            f"The cluster '{self.cluster.uuid}' cannot be deleted: still depended by "
            'other clusters and/or nodes.',
            exceptions.ResourceInUse,
        ):
            self.operations.delete('c', BY)


class TestCreateNode(OperationsCase):
    def test_a_new_node_gets_the_next_index_of_its_cluster(self) -> None:
        cluster = self.world.insert_cluster(self.profile, 2)

        begun = self.operations.nodes.create(NodeRequest('n', 'p', 'c', 'master'), BY)

        row = begun.row
        self.assertEqual(
            ('n', cluster.id, 3, 'master', 'INIT'),
            (row.name, row.cluster_id, row.index, row.role, row.status),
        )
        self.assertEqual(4, self.world.reload(cluster).next_index)
        action = self.world.store.get_action(begun.action)
        self.assertEqual(
            ('NODE_CREATE', row.uuid, cluster.uuid, 3600),
            (action.action_type, action.target, action.within, action.timeout),
        )

    def test_a_node_unsuitable_for_its_cluster_is_rejected(self) -> None:
        self.world.insert_cluster(self.profile, 2, max_size=2)
        self.world.profile('plain', 'plain')
        create = self.operations.nodes.create
        for profile, cluster, text in (
            ('p', 'nope', "The specified cluster 'nope' could not be found."),
            (
                'plain',
                'c',
                'Node and cluster have different profile type, operation aborted.',
            ),
            (
                'p',
                'c',
                "The target capacity (3) is greater than the cluster's max_size (2).",
            ),
        ):
            with (
                self.subTest(profile=profile, cluster=cluster),
                self.assert_refused(text),
            ):
                create(NodeRequest('n', profile, cluster), BY)
