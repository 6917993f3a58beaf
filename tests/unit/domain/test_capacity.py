"""The desired size of a cluster, the nodes to delete, and the names of nodes."""

import datetime
import random

from tests import base
from watcherlite import exceptions
from watcherlite.domain import capacity
from watcherlite.domain.capacity import Adjustment, Sizes
from watcherlite.domain.clusters import Cluster, Node, Owner, Profile
from watcherlite.states import cluster as states

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
OWNER = Owner('a-project')


def a_cluster(desired: int = 4, low: int = 2, high: int = 8) -> Cluster:
    return Cluster(
        'c', 'c', OWNER, 1, id=1, desired_capacity=desired, min_size=low, max_size=high
    )


def a_node(name: str, **values: object) -> Node:
    """Return a node; the number at the end of its name is its index and its age."""
    index = int(name[-1])
    made = START - datetime.timedelta(days=index)
    node = Node(
        name, name, OWNER, 1, 'Thing', id=index, index=index, status=states.ACTIVE
    )
    return node.evolve(**{'created_at': made, **values})


class SizesTest(base.TestCase):
    def refusal(self, *sizes: int | None, **keys: object) -> str:
        error = self.assertRaises(
            exceptions.Invalid, capacity.check_sizes, *(a_cluster(), *sizes), **keys
        )
        return str(error)

    def test_consistent_sizes_are_accepted(self) -> None:
        cluster = a_cluster()
        for sizes in ((4, 2, 8), (0, 0, -1), (9, None, -1), (1, None, None)):
            capacity.check_sizes(cluster, *sizes)
        capacity.check_sizes(cluster, 2, None, None, strict=True)
        capacity.check_sizes(None, 3, 3, 3, strict=True, most=3)
        capacity.check_sizes(None)

    def test_desired_capacity_outside_given_limits_is_rejected(self) -> None:
        self.assertEqual(
            'The target capacity (3) is less than the specified min_size (4).',
            self.refusal(3, 4, None),
        )
        self.assertEqual(
            'The target capacity (3) is greater than the specified max_size (2).',
            self.refusal(3, None, 2),
        )
        self.assertEqual(
            'The target capacity (11) is greater than the maximum number of nodes '
            'allowed per cluster (10).',
            self.refusal(11, None, None, most=10),
        )

    def test_strict_rejects_a_capacity_outside_the_limits_of_the_cluster(self) -> None:
        self.assertEqual(
            "The target capacity (1) is less than the cluster's min_size (2).",
            self.refusal(1, strict=True),
        )
        self.assertEqual(
            "The target capacity (9) is greater than the cluster's max_size (8).",
            self.refusal(9, strict=True),
        )

    def test_limits_that_contradict_each_other_or_the_cluster_are_refused(self) -> None:
        self.assertEqual(
            [
                'The specified min_size (3) is greater than the specified max_size '
                '(2).',
                'The specified min_size (9) is greater than the current max_size (8) '
                'of the cluster.',
                'The specified min_size (5) is greater than the current '
                'desired_capacity (4) of the cluster.',
                'The specified max_size (1) is less than the current min_size (2) of '
                'the cluster.',
                'The specified max_size (3) is less than the current '
                'desired_capacity (4) of the cluster.',
                'The specified max_size (20) is greater than the maximum number of '
                'nodes allowed per cluster (10).',
            ],
            [
                self.refusal(None, 3, 2),
                self.refusal(None, 9, None),
                self.refusal(None, 5, None, strict=True),
                self.refusal(None, None, 1),
                self.refusal(None, None, 3, strict=True),
                self.refusal(None, None, 20, most=10),
            ],
        )

    def test_a_negative_max_size_is_no_limit(self) -> None:
        unlimited = a_cluster(high=-1)
        capacity.check_sizes(unlimited, 1000, strict=True)
        capacity.check_sizes(unlimited, None, 1000)
        capacity.check_sizes(a_cluster(), 1000, 900, -1, strict=True)


class ResizeTest(base.TestCase):
    def test_percentages_below_one_node_are_rounded_away_from_zero(self) -> None:
        percent = capacity.CHANGE_IN_PERCENTAGE
        self.assertEqual(
            [5, 5, 3, 6, 3, 7, 1, 10, 2],
            [
                capacity.adjusted(4, percent, 10),
                capacity.adjusted(4, percent, 49),
                capacity.adjusted(4, percent, -10),
                capacity.adjusted(4, percent, 50),
                capacity.adjusted(4, percent, -49),
                capacity.adjusted(4, percent, 10, 3),
                capacity.adjusted(4, percent, -10, 3),
                capacity.adjusted(4, percent, 150, 3),
                capacity.adjusted(0, percent, 50, 2),
            ],
        )

    def test_other_adjustments_count_from_the_nodes_that_are_there(self) -> None:
        self.assertEqual(
            [3, 6, 2],
            [
                capacity.adjusted(4, capacity.EXACT_CAPACITY, 3),
                capacity.adjusted(4, capacity.CHANGE_IN_CAPACITY, 2),
                capacity.adjusted(4, capacity.CHANGE_IN_CAPACITY, -2, 5),
            ],
        )

    def test_resize_is_clamped_to_the_limits(self) -> None:
        cluster = a_cluster()
        much = Adjustment(capacity.CHANGE_IN_CAPACITY, 10)
        little = Adjustment(capacity.EXACT_CAPACITY, 0)
        self.assertEqual(Sizes(8, 2, 8), capacity.resized(cluster, 4, much))
        self.assertEqual(Sizes(2, 2, 8), capacity.resized(cluster, 4, little))
        self.assertEqual(
            Sizes(14, 2, -1),
            capacity.resized(
                cluster, 4, Adjustment(capacity.CHANGE_IN_CAPACITY, 10, max_size=-1)
            ),
        )

    def test_a_strict_request_is_refused_instead(self) -> None:
        much = Adjustment(capacity.CHANGE_IN_CAPACITY, 10, strict=True)
        error = self.assertRaises(
            exceptions.Invalid, capacity.resized, a_cluster(), 4, much
        )
        self.assertIn("greater than the cluster's max_size (8)", str(error))

    def test_new_limits_keep_the_capacity_if_possible(self) -> None:
        cluster = a_cluster()
        self.assertEqual(
            [Sizes(4, 0, 20), Sizes(5, 5, 8), Sizes(3, 2, 3)],
            [
                capacity.resized(cluster, 3, Adjustment(min_size=0, max_size=20)),
                capacity.resized(cluster, 4, Adjustment(min_size=5)),
                capacity.resized(cluster, 4, Adjustment(max_size=3)),
            ],
        )

    def test_number_of_nodes_of_a_scaling_policy(self) -> None:
        percent = capacity.CHANGE_IN_PERCENTAGE
        self.assertEqual(
            [2, 1, -1, 3, 1, 2],
            [
                capacity.scaling_count(5, False, capacity.CHANGE_IN_CAPACITY, 2),
                capacity.scaling_count(5, True, capacity.EXACT_CAPACITY, 4),
                capacity.scaling_count(5, False, capacity.EXACT_CAPACITY, 4),
                capacity.scaling_count(7, True, percent, 50),
                capacity.scaling_count(5, True, percent, 10, 1),
                capacity.scaling_count(5, False, percent, 50, 1),
            ],
        )


class VictimsTest(base.TestCase):
    def names(self, nodes: list[Node], count: int, criteria: str) -> list[str]:
        profiles = {
            1: Profile('p', 'p', 't', 'T', {}, OWNER, id=1, created_at=START),
            2: Profile('q', 'q', 't', 'T', {}, OWNER, id=2).evolve(
                created_at=START - datetime.timedelta(days=1)
            ),
        }
        chosen = capacity.victims(
            nodes, count, criteria, seed='an action', profiles=profiles
        )
        return [node.name for node in chosen]

    def test_by_age_the_higher_number_is_older_here(self) -> None:
        nodes = [a_node(f'n{at}') for at in (2, 4, 1, 3)]
        self.assertEqual(['n4', 'n3'], self.names(nodes, 2, capacity.OLDEST_FIRST))
        self.assertEqual(
            ['n1', 'n2', 'n3'], self.names(nodes, 3, capacity.YOUNGEST_FIRST)
        )

    def test_by_the_age_of_the_profile_and_then_by_their_own(self) -> None:
        nodes = [
            *(a_node('n1', profile_id=2), a_node('n2'), a_node('n3', profile_id=2)),
            a_node('n4'),
        ]
        self.assertEqual(
            ['n3', 'n1', 'n4'], self.names(nodes, 3, capacity.OLDEST_PROFILE_FIRST)
        )

    def test_those_that_are_not_well_go_first_and_then_those_never_made(self) -> None:
        nodes = [
            *(a_node('n1'), a_node('n2', created_at=None, init_at=START)),
            *(a_node('n3', status=states.ERROR), a_node('n4', tainted=True)),
            *(a_node('n5', status=states.WARNING), a_node('n6')),
        ]
        self.assertEqual(
            ['n5', 'n4', 'n3', 'n2', 'n6'], self.names(nodes, 5, capacity.OLDEST_FIRST)
        )
        self.assertEqual(
            {'n3', 'n4', 'n5', 'n2'}, set(self.names(nodes, 4, capacity.RANDOM))
        )

    def test_random_selection_is_stable_for_an_action(self) -> None:
        nodes = [a_node(f'n{at}') for at in range(9)]
        chosen = {
            seed: [n.name for n in capacity.victims(given, 4, seed=seed)]
            for seed in ('one', 'two', 'three')
            for given in (nodes, nodes[::-1])
        }
        self.assertEqual(
            chosen['one'],
            [node.name for node in capacity.victims(nodes, 4, seed='one')],
        )
        self.assertEqual(3, len({tuple(names) for names in chosen.values()}))

    def test_no_more_are_chosen_than_there_are_and_never_fewer_than_none(self) -> None:
        nodes = [a_node('n1')]
        self.assertEqual(['n1'], self.names(nodes, 5, capacity.RANDOM))
        self.assertEqual([], self.names(nodes, -1, capacity.RANDOM))


class NamesTest(base.TestCase):
    def named(self, written: str | None, index: int = 7) -> str:
        return capacity.node_name(written, index, random.Random('seed'))

    def test_placeholders_are_filled(self) -> None:
        self.assertEqual('web-7', self.named('web-$I'))
        self.assertEqual('web-007.x', self.named('web-$3I.x'))
        self.assertRegex(self.named('web-$5R'), '^web-[a-zA-Z][a-zA-Z0-9]{4}$')
        self.assertRegex(self.named('$20r'), '^[a-z][a-z0-9]{19}$')
        self.assertRegex(self.named('$R$I'), '^[a-zA-Z][a-zA-Z0-9]{7}7$')

    def test_without_a_format_a_name_is_random(self) -> None:
        self.assertRegex(self.named(None), '^node-[a-zA-Z][a-zA-Z0-9]{7}$')

    def test_a_format_that_makes_no_names_is_refused(self) -> None:
        for written in ('web-$3I', 'node-$8R', '$R', 'x' * 247 + '$I', 'a~b_c.$I'):
            capacity.check_name_format(written)
        for written in (
            'web $I',
            'a/b',
            '',
            'x' * 248 + '$I',
            '$999R',
            '$99999999999R',
        ):
            error = self.assertRaises(
                exceptions.Invalid, capacity.check_name_format, written
            )
            self.assertIn(capacity.NAME_FORMAT, str(error))
