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


def make_cluster(desired: int = 4, low: int = 2, high: int = 8) -> Cluster:
    return Cluster(
        'c', 'c', OWNER, 1, id=1, desired_capacity=desired, min_size=low, max_size=high
    )


def make_node(name: str, **values: object) -> Node:
    """Return a node; the number at the end of its name is its index and its age."""
    index = int(name[-1])
    made = START - datetime.timedelta(days=index)
    node = Node(
        name, name, OWNER, 1, 'Sample', id=index, index=index, status=states.ACTIVE
    )
    return node.evolve(**{'created_at': made, **values})


class SizesTest(base.TestCase):
    def test_consistent_sizes_are_accepted_and_a_negative_one_is_no_limit(self) -> None:
        cluster, unlimited = make_cluster(), make_cluster(high=-1)
        for sizes in ((4, 2, 8), (0, 0, -1), (9, None, -1), (1, None, None)):
            capacity.check_sizes(cluster, *sizes)
        capacity.check_sizes(cluster, 2, None, None, strict=True)
        capacity.check_sizes(None, 3, 3, 3, strict=True, most=3)
        capacity.check_sizes(None)
        capacity.check_sizes(unlimited, 1000, strict=True)
        capacity.check_sizes(unlimited, None, 1000)
        capacity.check_sizes(cluster, 1000, 900, -1, strict=True)

    def test_sizes_that_contradict_each_other_or_the_cluster_are_rejected(self) -> None:
        most = 'is greater than the maximum number of nodes allowed per cluster (10).'
        strict, bounded = {'strict': True}, {'most': 10}
        for sizes, keys, text in (
            ((3, 4, None), {}, 'target capacity (3) is less than the specified '
             'min_size (4).'),
            ((3, None, 2), {}, 'target capacity (3) is greater than the specified '
             'max_size (2).'),
            ((11, None, None), bounded, f'target capacity (11) {most}'),
            ((1,), strict, "target capacity (1) is less than the cluster's min_size "
             '(2).'),
            ((9,), strict, "target capacity (9) is greater than the cluster's "
             'max_size (8).'),
            ((None, 3, 2), {}, 'specified min_size (3) is greater than the specified '
             'max_size (2).'),
            ((None, 9, None), {}, 'specified min_size (9) is greater than the current '
             'max_size (8) of the cluster.'),
            ((None, 5, None), strict, 'specified min_size (5) is greater than the '
             'current desired_capacity (4) of the cluster.'),
            ((None, None, 1), {}, 'specified max_size (1) is less than the current '
             'min_size (2) of the cluster.'),
            ((None, None, 3), strict, 'specified max_size (3) is less than the current '
             'desired_capacity (4) of the cluster.'),
            ((None, None, 20), bounded, f'specified max_size (20) {most}'),
        ):  # fmt: skip
            error = self.assertRaises(
                exceptions.Invalid, capacity.check_sizes, make_cluster(), *sizes, **keys
            )
            self.assertEqual(f'The {text}', str(error))


class ResizeTest(base.TestCase):
    def test_percentages_below_one_node_are_rounded_away_from_zero(self) -> None:
        percent = capacity.CHANGE_IN_PERCENTAGE
        for expected, *adjustment in (
            (5, 4, percent, 10),
            (5, 4, percent, 49),
            (3, 4, percent, -10),
            (6, 4, percent, 50),
            (3, 4, percent, -49),
            (7, 4, percent, 10, 3),
            (1, 4, percent, -10, 3),
            (10, 4, percent, 150, 3),
            (2, 0, percent, 50, 2),
            (3, 4, capacity.EXACT_CAPACITY, 3),
            (6, 4, capacity.CHANGE_IN_CAPACITY, 2),
            (2, 4, capacity.CHANGE_IN_CAPACITY, -2, 5),
        ):
            self.assertEqual(expected, capacity.adjusted(*adjustment), adjustment)

    def test_resize_is_clamped_to_the_limits_unless_it_is_strict(self) -> None:
        change, exact = capacity.CHANGE_IN_CAPACITY, capacity.EXACT_CAPACITY
        for nodes, adjustment, sizes in (
            (4, Adjustment(change, 10), Sizes(8, 2, 8)),
            (4, Adjustment(exact, 0), Sizes(2, 2, 8)),
            (4, Adjustment(change, 10, max_size=-1), Sizes(14, 2, -1)),
            (3, Adjustment(min_size=0, max_size=20), Sizes(4, 0, 20)),
            (4, Adjustment(min_size=5), Sizes(5, 5, 8)),
            (4, Adjustment(max_size=3), Sizes(3, 2, 3)),
        ):
            self.assertEqual(sizes, capacity.resized(make_cluster(), nodes, adjustment))
        much = Adjustment(change, 10, strict=True)
        error = self.assertRaises(
            exceptions.Invalid, capacity.resized, make_cluster(), 4, much
        )
        self.assertIn("greater than the cluster's max_size (8)", str(error))

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

    def test_victims_are_chosen_by_health_and_then_by_the_criteria(self) -> None:
        ages = [make_node(f'n{at}') for at in (2, 4, 1, 3)]
        profiles = [
            *(
                make_node('n1', profile_id=2),
                make_node('n2'),
                make_node('n3', profile_id=2),
            ),
            make_node('n4'),
        ]
        health = [
            *(make_node('n1'), make_node('n2', created_at=None, init_at=START)),
            *(make_node('n3', status=states.ERROR), make_node('n4', tainted=True)),
            *(make_node('n5', status=states.WARNING), make_node('n6')),
        ]
        for nodes, count, criteria, expected in (
            (ages, 2, capacity.OLDEST_FIRST, 'n4 n3'),
            (ages, 3, capacity.YOUNGEST_FIRST, 'n1 n2 n3'),
            (profiles, 3, capacity.OLDEST_PROFILE_FIRST, 'n3 n1 n4'),
            (health, 5, capacity.OLDEST_FIRST, 'n5 n4 n3 n2 n6'),
            ([make_node('n1')], 5, capacity.RANDOM, 'n1'),
            ([make_node('n1')], -1, capacity.RANDOM, ''),
        ):
            found = self.names(nodes, count, criteria)
            self.assertEqual(expected.split(), found, (count, criteria))
        self.assertEqual(
            {'n3', 'n4', 'n5', 'n2'}, set(self.names(health, 4, capacity.RANDOM))
        )

    def test_random_selection_is_stable_for_an_action(self) -> None:
        nodes = [make_node(f'n{at}') for at in range(9)]
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


class NamesTest(base.TestCase):
    def test_placeholders_are_filled_and_without_a_format_a_name_is_random(
        self,
    ) -> None:
        for written, name in (
            ('web-$I', 'web-7'),
            ('web-$3I.x', r'web-007\.x'),
            ('web-$5R', 'web-[a-zA-Z][a-zA-Z0-9]{4}'),
            ('$20r', '[a-z][a-z0-9]{19}'),
            ('$R$I', '[a-zA-Z][a-zA-Z0-9]{7}7'),
            (None, 'node-[a-zA-Z][a-zA-Z0-9]{7}'),
        ):
            found = capacity.node_name(written, 7, random.Random('seed'))
            self.assertRegex(found, f'^{name}$')

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
