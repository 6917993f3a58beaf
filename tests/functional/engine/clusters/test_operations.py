"""Requests on clusters: rejections with their texts, and stored actions."""

from typing import Any

from tests.cluster_worlds import BY, QUEUED
from tests.functional.engine.clusters.operations_case import OTHERS, OperationsCase
from watcherlite import exceptions
from watcherlite.engine.clusters.requests.values import ClusterRequest, RequestContext
from watcherlite.engine.clusters.services import ClusterLimits


class TestCreate(OperationsCase):
    def test_the_action_is_stored_with_the_cluster(self) -> None:
        new = ClusterRequest(
            'web', 'p', '2', 1, '4', 60, {'a': 1}, {'node.name.format': 'web-$3I'}
        )
        by = RequestContext(BY.owner, context={'user_id': 'a user'})

        begun = self.operations.create(new, by)

        row = begun.row
        self.assertEqual(
            ('web', 'INIT', 2, 1, 4, 60, {'a': 1}, {'node.name.format': 'web-$3I'}),
            (
                row.name,
                row.status,
                row.desired_capacity,
                row.min_size,
                row.max_size,
                row.timeout,
                row.metadata,
                row.config,
            ),
        )
        action = self.world.store.get_action(begun.action)
        name = f'cluster_create_{row.uuid[:8]}_{action.uuid[:8]}'
        self.assertEqual(
            (
                'CLUSTER_CREATE',
                name,
                row.uuid,
                'READY',
                'RPC Request',
                'engine',
                BY.owner.tenant,
                None,
                60,
                {},
                {'user_id': 'a user'},
            ),
            (
                action.action_type,
                action.name,
                action.target,
                action.status,
                action.cause,
                action.lane,
                action.tenant,
                action.within,
                action.timeout,
                action.inputs,
                action.context,
            ),
        )

    def test_the_default_size_is_the_minimum_size(self) -> None:
        begun = self.operations.create(ClusterRequest('c', 'p', min_size=2), BY)

        row = begun.row
        self.assertEqual((2, 2, -1), (row.desired_capacity, row.min_size, row.max_size))

    def test_invalid_clusters_are_rejected(self) -> None:
        below = 'The target capacity (1) is less than the specified min_size (2).'
        above = 'The target capacity (3) is greater than the specified max_size (2).'
        size = 'desired_capacity'
        cases: tuple[tuple[dict[str, Any], str], ...] = (
            ({'profile': 'nope'}, "The specified profile 'nope' could not be found."),
            (
                {size: 'two'},
                "The value for desired_capacity must be an integer: 'two'.",
            ),
            ({size: -1}, "Value must be >= 0 for field 'desired_capacity'."),
            ({size: 6}, "Value must be <= 5 for field 'desired_capacity'."),
            ({size: 1, 'min_size': 2, 'max_size': None}, below),
            ({size: 3, 'min_size': 0, 'max_size': 2}, above),
            ({size: None, 'min_size': 3, 'max_size': 2}, above),
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
                new = ClusterRequest(**{'name': 'c', 'profile': 'p', **values})
                with self.assert_refused(text):
                    self.operations.create(new, BY)

    def test_the_cluster_quota_is_enforced(self) -> None:
        for _ in range(3):
            self.operations.create(ClusterRequest('c', 'p'), BY)

        with self.assert_refused(
            'Quota exceeded for resources: this project has 3 clusters, and may not '
            'have more; delete some.',
            exceptions.OverQuota,
        ):
            self.operations.create(ClusterRequest('c', 'p'), BY)


class TestUniqueNames(OperationsCase):
    limits = ClusterLimits(unique_names=True)

    def test_names_are_unique_in_a_project_and_similar_ones_available(self) -> None:
        first = self.operations.create(ClusterRequest('c', 'p'), BY).row

        with self.assert_refused("A cluster named 'c' already exists."):
            self.operations.create(ClusterRequest('c', 'p'), BY)
        spec = {'type': 'sample', 'version': '1.0'}
        with self.assert_refused("A profile named 'p' already exists."):
            self.operations.profiles.create('p', spec, BY)
        for name in (first.uuid, first.uuid[:8], 'C'):
            self.operations.create(ClusterRequest(name, 'p'), BY)

    def test_a_name_reserved_by_an_action_is_taken(self) -> None:
        first = self.operations.create(ClusterRequest('c', 'p'), BY).row
        self.operations.create(ClusterRequest('d', 'p'), BY)
        self.operations.update('c', QUEUED, {'name': 'e'})
        taken = "A cluster named 'e' already exists."

        with self.assert_refused(taken):
            self.operations.create(ClusterRequest('e', 'p'), BY)
        with self.assert_refused(taken):
            self.operations.update('d', BY, {'name': 'e'})
        # The owner of the name can request it again.
        self.operations.update('c', QUEUED, {'name': 'e', 'timeout': 9})

        # After the rejection of the rename, the name is free.
        self.end_actions(first)
        self.operations.create(ClusterRequest('e', 'p'), BY)

    def test_projects_have_separate_names(self) -> None:
        self.operations.create(ClusterRequest('c', 'p'), BY)
        boss = RequestContext(OTHERS.owner, everywhere=True, wait=True)

        # The name must be unique in the project of the cluster.
        self.operations.update('c', boss, {'name': 'd'})
        with self.assert_refused("A cluster named 'd' already exists."):
            self.operations.create(ClusterRequest('d', 'p'), BY)
        self.operations.create(ClusterRequest('c', 'p'), boss)


class TestUpdate(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(self.profile)

    def test_the_inputs_of_an_update_are_the_changed_fields(self) -> None:
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

    def test_invalid_updates_are_rejected(self) -> None:
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
            with self.subTest(changes=changes), self.assert_refused(text):
                self.operations.update('c', BY, changes)

    def test_a_cluster_with_outdated_nodes_can_be_updated_to_its_profile(self) -> None:
        better = self.world.profile('better')
        cluster = self.world.insert_cluster(self.profile, 2, name='half')
        self.world.save(self.world.nodes(cluster)[0], profile_id=better.id)

        with self.assert_refused('No property needs an update.'):
            self.operations.update(
                'half', BY, {'profile_id': 'p', 'profile_only': True}
            )
        begun = self.operations.update('half', BY, {'profile_id': 'p'})

        self.assertEqual({'new_profile_id': self.profile.uuid}, self.inputs(begun))

    def test_a_cluster_in_error_cannot_be_updated(self) -> None:
        self.world.save(self.cluster, status='ERROR')

        with self.assert_refused(
            'Updating a cluster in error state is not supported.',
            exceptions.FeatureNotSupported,
        ):
            self.operations.update('c', BY, {'timeout': 1})


class TestSizes(OperationsCase):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.world.insert_cluster(
            self.profile, 3, min_size=1, max_size=4
        )

    def test_scaling_has_a_count_only_if_requested(self) -> None:
        begun = self.operations.scale('c', BY, 'CLUSTER_SCALE_OUT')
        self.assertEqual({}, self.inputs(begun))
        self.end_actions(self.cluster)

        begun = self.operations.scale('c', BY, 'CLUSTER_SCALE_IN', '2')
        self.assertEqual({'count': 2}, self.inputs(begun))

    def test_scaling_beyond_the_limits_is_rejected(self) -> None:
        scale = self.operations.scale
        above = "The target capacity (5) is greater than the cluster's max_size (4)."
        below = "The target capacity (0) is less than the cluster's min_size (1)."
        for kind, count, text in (
            ('CLUSTER_SCALE_OUT', 2, above),
            ('CLUSTER_SCALE_IN', 3, below),
            ('CLUSTER_SCALE_IN', 0, 'Count for scale-in request cannot be 0.'),
            ('CLUSTER_SCALE_OUT', 'x', "The value for count must be an integer: 'x'."),
        ):
            with self.subTest(kind=kind, count=count), self.assert_refused(text):
                scale('c', BY, kind, count)

    def test_invalid_resizes_are_rejected(self) -> None:
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
                'No resize is requested: an adjustment, or a new min_size or '
                'max_size, is needed.',
            ),
            (
                {'size': 1},
                "Action parameter ['size'] is not recognizable; known are "
                'adjustment_type, max_size, min_size, min_step, number, strict.',
            ),
        ):
            with self.subTest(params=params), self.assert_refused(text):
                resize('c', BY, params)

    def test_only_a_strict_resize_beyond_the_limits_is_rejected(self) -> None:
        params = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': '2'}
        with self.assert_refused(
            "The target capacity (5) is greater than the cluster's max_size (4)."
        ):
            self.operations.resize('c', BY, {**params, 'strict': True})

        begun = self.operations.resize('c', BY, params)

        self.assertEqual(
            {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 2, 'strict': False},
            self.inputs(begun),
        )
