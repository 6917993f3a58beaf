"""What is asked of clusters: what is refused with which words, what becomes of it."""

from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

from tests.cluster_worlds import BY
from tests.operated_worlds import OperatedCase, OperatedWorld
from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Owner
from watcherlite.engine.clusters.asking import Asker, NewCluster, NewNode
from watcherlite.engine.clusters.parts import Limits
from watcherlite.states import action as action_states

OTHERS = Asker(Owner('another-project'))


class OperationsCase(OperatedCase):
    """Nothing is executed: what is asked for stays as it is asked for."""

    limits = Limits(nodes=5, clusters=3)

    def setUp(self) -> None:
        super().setUp()
        self.world.stop()
        self.world = OperatedWorld(self.make_store(), limits=self.limits)
        self.operations, self.by = self.world.operations, BY
        self.profile = self.world.profile()

    def refused(
        self, kind: type[Exception], text: str, call: Callable[..., Any], *args: Any
    ) -> None:
        """Expect a refusal in just these words, after which all is as before."""
        before = self.everything()
        with self.assertRaises(exceptions.WatcherliteError) as caught:
            call(*args)
        self.assertEqual((kind, text), (type(caught.exception), str(caught.exception)))
        self.assertEqual(before, self.everything())

    def everything(self) -> Any:
        store = self.world.store
        rows = [r for c in store.clusters_by_uuid(self.uuids()).values() for r in [c]]
        return rows, [a.uuid for a in self.world._actions()]

    def uuids(self) -> list[str]:
        return [str(action.target) for action in self.world._actions()]

    def inputs(self, begun: Any) -> Mapping[str, Any]:
        return self.world.store.get_action(begun.action).inputs

    def over(self, cluster: Cluster) -> None:
        """Let nothing be under way on a cluster."""
        for action in self.world._actions():
            if action.target == cluster.uuid and not action.finished:
                self.world.plans.signal_action(action.uuid, action_states.CANCEL)


class TestCreate(OperationsCase):
    def test_the_action_is_stored_with_the_cluster(self) -> None:
        new = NewCluster(
            'web', 'p', '2', 1, '4', 60, {'a': 1}, {'node.name.format': 'web-$3I'}
        )
        by = Asker(BY.owner, context={'user_id': 'a user'})

        begun = self.operations.create(new, by)

        row = begun.row
        self.assertEqual(
            ('web', 'INIT', 2, 1, 4, 60, {'a': 1}, {'node.name.format': 'web-$3I'}),
            (
                *(row.name, row.status, row.desired_capacity, row.min_size),
                *(row.max_size, row.timeout, row.metadata, row.config),
            ),
        )
        action = self.world.store.get_action(begun.action)
        self.assertEqual(
            (
                *('CLUSTER_CREATE', f'cluster_create_{row.uuid[:8]}', row.uuid),
                *('READY', 'RPC Request', 'engine', BY.owner.tenant, None, 60),
                *({}, {'user_id': 'a user'}),
            ),
            (
                *(action.action_type, action.name, action.target),
                *(action.status, action.cause, action.lane, action.tenant),
                *(action.within, action.timeout, action.inputs, action.context),
            ),
        )

    def test_the_least_size_is_the_size_that_nobody_gave(self) -> None:
        begun = self.operations.create(NewCluster('c', 'p', min_size=2), BY)

        self.assertEqual((2, 2, -1), _sizes(begun.row))

    def test_what_makes_no_sense_is_refused(self) -> None:
        cases: tuple[tuple[dict[str, Any], str], ...] = (
            (
                {'profile': 'nope'},
                "The specified profile 'nope' could not be found.",
            ),
            (
                {'desired_capacity': 'two'},
                "The value for desired_capacity must be an integer: 'two'.",
            ),
            (
                {'desired_capacity': -1},
                "Value must be >= 0 for field 'desired_capacity'.",
            ),
            (
                {'desired_capacity': 6},
                "Value must be <= 5 for field 'desired_capacity'.",
            ),
            ({'max_size': -2}, "Value must be >= -1 for field 'max_size'."),
            ({'metadata': []}, "The value for 'metadata' must be a map, not a list."),
            (
                {'name': 'a b'},
                "The value for the name ('a b') contains illegal characters or has "
                'not 1 to 255 of them: letters, digits and . _ ~ - are allowed.',
            ),
        )
        for values, text in cases:
            with self.subTest(values=values):
                new = NewCluster(**{'name': 'c', 'profile': 'p', **values})
                self.refused(
                    exceptions.BadRequest, text, self.operations.create, new, BY
                )

    def test_sizes_that_contradict_each_other_are_refused(self) -> None:
        for sizes, text in (
            (
                (1, 2, None),
                'The target capacity (1) is less than the specified min_size (2).',
            ),
            (
                (3, 0, 2),
                'The target capacity (3) is greater than the specified max_size (2).',
            ),
            (
                (None, 3, 2),
                'The target capacity (3) is greater than the specified max_size (2).',
            ),
        ):
            with self.subTest(sizes=sizes):
                new = NewCluster('c', 'p', *sizes)
                self.refused(
                    exceptions.BadRequest, text, self.operations.create, new, BY
                )

    def test_a_project_has_no_more_clusters_than_it_may(self) -> None:
        for _ in range(3):
            self.operations.create(NewCluster('c', 'p'), BY)

        self.refused(
            exceptions.OverQuota,
            'Quota exceeded for resources: this project has 3 clusters, and may not '
            'have more; delete some.',
            *(self.operations.create, NewCluster('c', 'p'), BY),
        )

    def test_a_profile_of_another_project_is_none(self) -> None:
        self.refused(
            exceptions.BadRequest,
            "The specified profile 'p' could not be found.",
            *(self.operations.create, NewCluster('c', 'p'), OTHERS),
        )


class TestUniqueNames(OperationsCase):
    limits = Limits(unique_names=True)

    def test_no_two_of_a_project_have_the_same_name(self) -> None:
        self.operations.create(NewCluster('c', 'p'), BY)

        self.refused(
            exceptions.BadRequest,
            "A cluster named 'c' already exists.",
            *(self.operations.create, NewCluster('c', 'p'), BY),
        )
        spec = {'type': 'thing', 'version': '1.0'}
        self.refused(
            exceptions.BadRequest,
            "A profile named 'p' already exists.",
            *(self.operations.profiles.create, 'p', spec, BY),
        )

    def test_a_name_that_something_is_to_get_is_taken(self) -> None:
        first = self.operations.create(NewCluster('c', 'p'), BY).row
        self.operations.create(NewCluster('d', 'p'), BY)
        self.operations.update('c', BY, {'name': 'e'}, wait=True)
        taken = exceptions.BadRequest, "A cluster named 'e' already exists."

        self.refused(*taken, self.operations.create, NewCluster('e', 'p'), BY)
        self.refused(*taken, self.operations.update, 'd', BY, {'name': 'e'})
        # By itself it may be asked for again
        self.operations.update('c', BY, {'name': 'e', 'timeout': 9}, wait=True)

        # And once that is not to be, it is free
        self.over(first)
        self.operations.create(NewCluster('e', 'p'), BY)

    def test_a_name_is_free_that_only_looks_like_what_others_are_called(self) -> None:
        first = self.operations.create(NewCluster('c', 'p'), BY).row

        for name in (first.uuid, first.uuid[:8], 'C'):
            self.operations.create(NewCluster(name, 'p'), BY)

    def test_each_project_has_names_of_its_own(self) -> None:
        self.operations.create(NewCluster('c', 'p'), BY)
        boss = Asker(OTHERS.owner, everywhere=True)

        # It is in the project of the cluster that the name has to be free
        self.operations.update('c', boss, {'name': 'd'}, wait=True)
        self.refused(
            exceptions.BadRequest,
            "A cluster named 'd' already exists.",
            *(self.operations.create, NewCluster('d', 'p'), BY),
        )
        self.operations.create(NewCluster('c', 'p'), boss)


class TestBusy(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.a_cluster(self.profile, 2)
        self.first = self.operations.check(self.cluster.uuid, BY).action

    def test_what_waits_for_its_turn_is_a_conflict(self) -> None:
        uuid = self.cluster.uuid
        self.refused(
            exceptions.ActionConflict,
            f'The CLUSTER_RECOVER action for target {uuid} conflicts with the '
            f'following action(s): CLUSTER_CHECK {self.first}.',
            *(self.operations.recover, 'c', BY),
        )
        node = self.world.nodes(self.cluster)[0]
        self.refused(
            exceptions.ActionConflict,
            f'The NODE_CHECK action for target {node.uuid} conflicts with the '
            f'following action(s): CLUSTER_CHECK {self.first}.',
            *(self.operations.nodes.check, node.uuid, BY),
        )

    def test_what_has_begun_has_locked_it(self) -> None:
        self.world.start_by_hand(self.first)

        self.refused(
            exceptions.ResourceIsLocked,
            f'CLUSTER_RECOVER for cluster {self.cluster.uuid} cannot be completed '
            f'because it is already locked: CLUSTER_CHECK {self.first}.',
            *(self.operations.recover, 'c', BY),
        )

    def test_who_comes_between_a_question_and_its_answer_is_not_overlooked(
        self,
    ) -> None:
        self.over(self.cluster)
        store = self.world.store
        find = store.find_noun
        came: list[bool] = []

        def found(*args: Any) -> Any:
            row = find(*args)
            if not came:
                came.append(True)
                self.operations.check('c', BY)
            return row

        with (
            mock.patch.object(store, 'find_noun', found),
            self.assertRaises(exceptions.ActionConflict),
        ):
            self.operations.recover('c', BY)

    def test_who_waits_is_queued(self) -> None:
        begun = self.operations.recover('c', BY, wait=True)

        self.assertEqual('READY', self.world.store.get_action(begun.action).status)

    def test_an_action_on_a_node_keeps_the_cluster_busy_but_no_other_node(self) -> None:
        self.over(self.cluster)
        one, two = self.world.nodes(self.cluster)
        checks = self.operations.nodes.check(one.uuid, BY).action

        self.refused(
            exceptions.ActionConflict,
            f'The CLUSTER_CHECK action for target {self.cluster.uuid} conflicts with '
            f'the following action(s): NODE_CHECK {checks}.',
            *(self.operations.check, 'c', BY),
        )
        begun = self.operations.nodes.check(two.uuid, BY)
        action = self.world.store.get_action(begun.action)
        self.assertEqual(
            (two.uuid, self.cluster.uuid, 'READY'),
            (action.target, action.within, action.status),
        )

    def test_what_is_due_later_is_in_nobodys_way(self) -> None:
        self.over(self.cluster)
        self.world.user_action(
            'sleep',
            self.cluster,
            inputs={'duration': 0},
            not_before='2999-01-01T00:00:00',
            interval=5,
        )

        begun = self.operations.check('c', BY)

        self.assertEqual('READY', self.world.store.get_action(begun.action).status)


class TestUpdate(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.a_cluster(self.profile)

    def test_only_what_changes_is_asked_for(self) -> None:
        better = self.world.profile('better')
        changes = {
            'name': 'c',
            'timeout': '60',
            'metadata': {'k': 'v'},
            'profile_id': 'better',
            'profile_only': 'true',
            'config': None,
        }

        begun = self.operations.update('c', BY, changes)

        self.assertEqual(
            {
                'timeout': 60,
                'metadata': {'k': 'v'},
                'new_profile_id': better.uuid,
                'profile_only': True,
            },
            self.inputs(begun),
        )

    def test_what_cannot_be_is_refused(self) -> None:
        self.world.profile('plain', 'plain')
        for changes, text in (
            ({}, 'No property needs an update.'),
            ({'name': 'c', 'timeout': 3600}, 'No property needs an update.'),
            (
                {'profile_id': 'plain'},
                'Cannot update a cluster to a different profile type, operation '
                'aborted.',
            ),
            (
                {'profile_id': 'nope'},
                "The specified profile 'nope' could not be found.",
            ),
        ):
            with self.subTest(changes=changes):
                self.refused(
                    exceptions.BadRequest,
                    text,
                    self.operations.update,
                    'c',
                    BY,
                    changes,
                )

    def test_one_in_error_is_not_updated(self) -> None:
        self.world.set(self.cluster, status='ERROR')

        self.refused(
            exceptions.FeatureNotSupported,
            'Updating a cluster in error state is not supported.',
            *(self.operations.update, 'c', BY, {'timeout': 1}),
        )

    def test_that_of_another_project_is_not_there(self) -> None:
        self.refused(
            exceptions.NotFound,
            "The cluster 'c' could not be found.",
            *(self.operations.update, 'c', OTHERS, {'timeout': 1}),
        )
        everywhere = Asker(OTHERS.owner, everywhere=True)
        begun = self.operations.update('c', everywhere, {'timeout': 1})
        action = self.world.store.get_action(begun.action)
        self.assertEqual(BY.owner.tenant, action.tenant)


class TestSizes(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.a_cluster(self.profile, 3, min_size=1, max_size=4)

    def test_scaling_says_how_many_only_when_that_was_asked(self) -> None:
        begun = self.operations.scale('c', BY, 'CLUSTER_SCALE_OUT')
        self.assertEqual({}, self.inputs(begun))
        self.over(self.cluster)

        begun = self.operations.scale('c', BY, 'CLUSTER_SCALE_IN', '2')
        self.assertEqual({'count': 2}, self.inputs(begun))

    def test_scaling_beyond_the_limits_is_refused(self) -> None:
        scale = self.operations.scale
        for kind, count, error, text in (
            (
                *('CLUSTER_SCALE_OUT', 2, exceptions.BadRequest),
                "The target capacity (5) is greater than the cluster's max_size (4).",
            ),
            (
                *('CLUSTER_SCALE_IN', 3, exceptions.BadRequest),
                "The target capacity (0) is less than the cluster's min_size (1).",
            ),
            (
                *('CLUSTER_SCALE_IN', 0, exceptions.BadRequest),
                'Count for scale-in request cannot be 0.',
            ),
            (
                *('CLUSTER_SCALE_OUT', 'x', exceptions.BadRequest),
                "The value for count must be an integer: 'x'.",
            ),
        ):
            with self.subTest(kind=kind, count=count):
                self.refused(error, text, scale, 'c', BY, kind, count)

    def test_a_resize_is_checked(self) -> None:
        resize = self.operations.resize
        for params, text in (
            (
                {'adjustment_type': 'CHANGE_IN_CAPACITY'},
                'Missing number value for size adjustment.',
            ),
            ({'number': 1}, 'Missing adjustment_type value for size adjustment.'),
            (
                {'adjustment_type': 'MORE', 'number': 1},
                "Invalid value 'MORE' specified for 'adjustment_type': it is one of "
                'EXACT_CAPACITY, CHANGE_IN_CAPACITY, CHANGE_IN_PERCENTAGE.',
            ),
            (
                {'adjustment_type': 'CHANGE_IN_PERCENTAGE', 'number': 'nan'},
                "Invalid value 'nan' specified for 'number'",
            ),
            (
                {},
                'No resize is asked for: an adjustment, or a new min_size or '
                'max_size, is needed.',
            ),
            (
                {'size': 1},
                "Action parameter ['size'] is not recognizable; known are "
                'adjustment_type, max_size, min_size, min_step, number, strict.',
            ),
        ):
            with self.subTest(params=params):
                self.refused(exceptions.BadRequest, text, resize, 'c', BY, params)

    def test_a_strict_resize_is_refused_where_another_does_what_it_can(self) -> None:
        params = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': '2'}
        self.refused(
            exceptions.BadRequest,
            "The target capacity (5) is greater than the cluster's max_size (4).",
            *(self.operations.resize, 'c', BY, {**params, 'strict': True}),
        )

        begun = self.operations.resize('c', BY, params)

        self.assertEqual(
            {
                'adjustment_type': 'CHANGE_IN_CAPACITY',
                'number': 2,
                'strict': False,
            },
            self.inputs(begun),
        )


class TestMembers(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.a_cluster(self.profile, 2)
        self.well = self.world.a_node(self.profile, 'well', status='ACTIVE')

    def test_nodes_are_meant_by_name_or_uuid(self) -> None:
        other = self.world.a_node(self.profile, 'other', status='ACTIVE')

        begun = self.operations.add_nodes('c', BY, ['well', other.uuid, 'well'])

        self.assertEqual({'nodes': [self.well.uuid, other.uuid]}, self.inputs(begun))

    def test_nodes_that_do_not_fit_are_refused(self) -> None:
        bad = self.world.a_node(self.profile, 'bad', status='ERROR')
        plain = self.world.profile('plain', 'plain')
        another = self.world.a_node(plain, 'another', status='ACTIVE')
        member = self.world.nodes(self.cluster)[0]
        for nodes, kind, text in (
            (['nope'], exceptions.BadRequest, "Nodes not found: ['nope']."),
            (
                ['c-1'],
                exceptions.NodeNotOrphan,
                f"Nodes ['{member.uuid}'] already owned by some cluster.",
            ),
            (
                ['bad'],
                exceptions.BadRequest,
                f"Nodes are not ACTIVE: ['{bad.uuid}'].",
            ),
            (
                ['another'],
                exceptions.BadRequest,
                f"Profile type of nodes ['{another.uuid}'] does not match that of "
                'the cluster.',
            ),
            (
                [],
                exceptions.BadRequest,
                'No nodes specified: a list of them is needed.',
            ),
        ):
            with self.subTest(nodes=nodes):
                self.refused(kind, text, self.operations.add_nodes, 'c', BY, nodes)

    def test_nodes_of_another_project_are_not_there(self) -> None:
        theirs = self.world.a_cluster(self.profile, 0, 'theirs')
        with self.world.store.transaction() as tx:
            tx.insert_noun(theirs.evolve(id=None, uuid='e' * 36, owner=OTHERS.owner))

        self.refused(
            exceptions.BadRequest,
            f"Nodes not found: ['{self.well.uuid}'].",
            *(self.operations.add_nodes, 'e' * 36, OTHERS, [self.well.uuid]),
        )

    def test_only_members_are_removed_and_not_more_than_may_go(self) -> None:
        self.refused(
            exceptions.BadRequest,
            f"Nodes not members of specified cluster: ['{self.well.uuid}'].",
            *(self.operations.del_nodes, 'c', BY, ['well']),
        )
        self.world.set(self.cluster, min_size=2)
        self.refused(
            exceptions.BadRequest,
            "The target capacity (1) is less than the cluster's min_size (2).",
            *(self.operations.del_nodes, 'c', BY, ['c-1']),
        )
        self.world.set(self.cluster, min_size=0)

        begun = self.operations.del_nodes('c', BY, ['c-2'], 'true')

        two = self.world.nodes(self.cluster)[1]
        self.assertEqual(
            {'count': 1, 'candidates': [two.uuid], 'destroy_after_deletion': True},
            self.inputs(begun),
        )

    def test_members_are_replaced_by_others(self) -> None:
        begun = self.operations.replace_nodes('c', BY, {'c-1': 'well'})

        one = self.world.nodes(self.cluster)[0]
        self.assertEqual({'candidates': {one.uuid: self.well.uuid}}, self.inputs(begun))

    def test_what_is_replaced_is_a_member_and_by_what_is_none(self) -> None:
        one, two = self.world.nodes(self.cluster)
        replace = self.operations.replace_nodes
        self.refused(
            exceptions.BadRequest,
            f"Nodes to be replaced are not of specified cluster: ['{self.well.uuid}'].",
            *(replace, 'c', BY, {'well': 'c-1'}),
        )
        self.refused(
            exceptions.NodeNotOrphan,
            f"Nodes ['{two.uuid}'] already owned by some cluster.",
            *(replace, 'c', BY, {one.uuid: 'c-2'}),
        )


class TestHealth(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.a_cluster(self.profile, 2)

    def test_a_recovery_is_one_that_the_profile_knows(self) -> None:
        self.world.a_cluster(self.world.profile('plain', 'plain'), 1, 'plain')
        for name, params, text in (
            (
                *('c', {'operation': 'PRAY'}),
                "Operation value 'PRAY' has to be one of the following: REBOOT, "
                'REBUILD, RECREATE.',
            ),
            (
                *('plain', {'operation': 'REBOOT'}),
                "The operation 'REBOOT' is not supported by profile type 'plain-1.0'.",
            ),
            (
                *('c', {'force': True}),
                "Action parameter ['force'] is not recognizable; known are check, "
                'check_capacity, operation, operation_params.',
            ),
        ):
            with self.subTest(params=params):
                self.refused(
                    exceptions.BadRequest,
                    text,
                    *(self.operations.recover, name, BY, params),
                )

        wanted = {'operation': 'reboot', 'check': 'True', 'check_capacity': None}
        begun = self.operations.recover('c', BY, wanted)
        self.assertEqual({'operation': 'REBOOT', 'check': True}, self.inputs(begun))

    def test_an_operation_is_one_of_the_profile_with_its_parameters(self) -> None:
        operate = self.operations.operate
        for operation, params, filters, text in (
            (
                *('dance', {}, None),
                "The operation 'dance' is not supported by profile type 'thing-1.0'.",
            ),
            (*('paint', {}, None), 'params.colour: is required'),
            (
                *('reboot', {'type': 'MILD'}, None),
                'params.type: "MILD" is none of "SOFT", "HARD"',
            ),
            (*('reboot', {}, {'shape': 'x'}), "Filter key 'shape' is unsupported"),
            (
                *('reboot', {}, {'name': 'x'}),
                'No node (matching the filter) could be found',
            ),
        ):
            with self.subTest(operation=operation, params=params):
                self.refused(
                    exceptions.BadRequest,
                    text,
                    *(operate, 'c', BY, operation, params, filters),
                )

        begun = operate('c', BY, 'paint', {'colour': 'red'}, {'name': 'c-2'})

        two = self.world.nodes(self.cluster)[1]
        self.assertEqual(
            {'operation': 'paint', 'params': {'colour': 'red'}, 'nodes': [two.uuid]},
            self.inputs(begun),
        )
        action = self.world.store.get_action(begun.action)
        self.assertEqual(f'cluster_paint_{self.cluster.uuid[:8]}', action.name)

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
            ('$.[', "'$.[' is no JSON path."),
            ('$..a..b', "'$..a..b' has more than one '..'."),
            ('', 'A JSON path has 1 to 1024 characters, not 0.'),
        ):
            with self.assertRaises(exceptions.BadRequest) as caught:
                found(path)
            self.assertEqual(text, str(caught.exception))


class TestDelete(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.a_cluster(self.profile)

    def test_what_is_changed_is_deleted_by_force_alone(self) -> None:
        self.world.set(self.cluster, status='UPDATING')
        before = self.operations.check('c', BY).action
        self.refused(
            exceptions.ActionInProgress,
            f"The cluster '{self.cluster.uuid}' is in status UPDATING.",
            *(self.operations.delete, 'c', BY),
        )

        begun = self.operations.delete('c', BY, force=True)

        found = self.world.store.get_action
        self.assertEqual('CANCELLED', found(before).status)
        self.assertEqual(
            ('READY', {}), (found(begun.action).status, self.inputs(begun))
        )

    def test_it_waits_for_what_goes_on_and_is_asked_for_once(self) -> None:
        before = self.operations.check('c', BY).action

        begun = self.operations.delete('c', BY)
        again = self.operations.delete('c', BY, force=True)

        self.assertEqual(begun.action, again.action)
        self.assertEqual('READY', self.world.store.get_action(before).status)

    def test_what_is_repeated_does_not_keep_it(self) -> None:
        again = self.world.user_action(
            'sleep', self.cluster, inputs={'duration': 0}, interval=3600
        )

        self.operations.delete('c', BY)

        self.assertEqual('CANCELLED', self.world.store.get_action(again.uuid).status)

    def test_what_others_depend_on_stays(self) -> None:
        self.world.set(self.cluster, dependents={'nodes': ['x']})

        self.refused(
            exceptions.ResourceInUse,
            f"The cluster '{self.cluster.uuid}' cannot be deleted: still depended by "
            'other clusters and/or nodes.',
            *(
                self.operations.delete,
                'c',
                BY,
            ),
        )


class TestCreateNode(OperationsCase):
    def test_a_node_comes_to_its_cluster_with_the_next_index(self) -> None:
        cluster = self.world.a_cluster(self.profile, 2)

        begun = self.operations.nodes.create(NewNode('n', 'p', 'c', 'master'), BY)

        row = begun.row
        self.assertEqual(
            ('n', cluster.id, 3, 'master', 'INIT'),
            (row.name, row.cluster_id, row.index, row.role, row.status),
        )
        self.assertEqual(4, self.world.now(cluster).next_index)
        action = self.world.store.get_action(begun.action)
        self.assertEqual(
            ('NODE_CREATE', row.uuid, cluster.uuid, 3600),
            (action.action_type, action.target, action.within, action.timeout),
        )

    def test_a_node_that_does_not_fit_its_cluster_is_refused(self) -> None:
        self.world.a_cluster(self.profile, 2, max_size=2)
        self.world.profile('plain', 'plain')
        create = self.operations.nodes.create
        for profile, cluster, kind, text in (
            (
                *('p', 'nope', exceptions.BadRequest),
                "The specified cluster 'nope' could not be found.",
            ),
            (
                *('plain', 'c', exceptions.BadRequest),
                'Node and cluster have different profile type, operation aborted.',
            ),
            (
                *('p', 'c', exceptions.BadRequest),
                "The target capacity (3) is greater than the cluster's max_size (2).",
            ),
        ):
            with self.subTest(profile=profile, cluster=cluster):
                self.refused(kind, text, create, NewNode('n', profile, cluster), BY)


def _sizes(row: Cluster) -> tuple[int, int, int]:
    return row.desired_capacity, row.min_size, row.max_size
