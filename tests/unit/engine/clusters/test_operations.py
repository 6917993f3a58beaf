"""What is asked of clusters: what is refused with which words, what becomes of it."""

from typing import Any

from tests.cluster_worlds import BY
from tests.unit.engine.clusters.operations_case import OTHERS, OperationsCase
from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster
from watcherlite.engine.clusters.requests.values import NewCluster, RequestContext
from watcherlite.engine.clusters.services import ClusterLimits


class TestCreate(OperationsCase):
    def test_the_action_is_stored_with_the_cluster(self) -> None:
        new = NewCluster(
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
            self.operations.create,
            NewCluster('c', 'p'),
            BY,
        )


class TestUniqueNames(OperationsCase):
    limits = ClusterLimits(unique_names=True)

    def test_no_two_of_a_project_have_the_same_name(self) -> None:
        self.operations.create(NewCluster('c', 'p'), BY)

        self.refused(
            exceptions.BadRequest,
            "A cluster named 'c' already exists.",
            self.operations.create,
            NewCluster('c', 'p'),
            BY,
        )
        spec = {'type': 'thing', 'version': '1.0'}
        self.refused(
            exceptions.BadRequest,
            "A profile named 'p' already exists.",
            self.operations.profiles.create,
            'p',
            spec,
            BY,
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
        boss = RequestContext(OTHERS.owner, everywhere=True)

        # It is in the project of the cluster that the name has to be free
        self.operations.update('c', boss, {'name': 'd'}, wait=True)
        self.refused(
            exceptions.BadRequest,
            "A cluster named 'd' already exists.",
            self.operations.create,
            NewCluster('d', 'p'),
            BY,
        )
        self.operations.create(NewCluster('c', 'p'), boss)


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

    def test_one_whose_nodes_have_another_profile_is_updated_to_its_own(self) -> None:
        better = self.world.profile('better')
        cluster = self.world.a_cluster(self.profile, 2, name='half')
        self.world.set(self.world.nodes(cluster)[0], profile_id=better.id)

        self.refused(
            exceptions.BadRequest,
            'No property needs an update.',
            self.operations.update,
            'half',
            BY,
            {'profile_id': 'p', 'profile_only': True},
        )
        begun = self.operations.update('half', BY, {'profile_id': 'p'})

        self.assertEqual({'new_profile_id': self.profile.uuid}, self.inputs(begun))

    def test_one_in_error_is_not_updated(self) -> None:
        self.world.set(self.cluster, status='ERROR')

        self.refused(
            exceptions.FeatureNotSupported,
            'Updating a cluster in error state is not supported.',
            self.operations.update,
            'c',
            BY,
            {'timeout': 1},
        )


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
                'CLUSTER_SCALE_OUT',
                2,
                exceptions.BadRequest,
                "The target capacity (5) is greater than the cluster's max_size (4).",
            ),
            (
                'CLUSTER_SCALE_IN',
                3,
                exceptions.BadRequest,
                "The target capacity (0) is less than the cluster's min_size (1).",
            ),
            (
                'CLUSTER_SCALE_IN',
                0,
                exceptions.BadRequest,
                'Count for scale-in request cannot be 0.',
            ),
            (
                'CLUSTER_SCALE_OUT',
                'x',
                exceptions.BadRequest,
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
            self.operations.resize,
            'c',
            BY,
            {**params, 'strict': True},
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


def _sizes(row: Cluster) -> tuple[int, int, int]:
    return row.desired_capacity, row.min_size, row.max_size
