"""Orders, levels and cycles."""

import graphlib
import os

from hypothesis import given
from hypothesis import strategies as st

from tests import base
from watcherlite.domain import graph


@st.composite
def graphs(draw, acyclic=True):
    """Draw parents; acyclic ones point along a random order of the nodes."""
    size = draw(st.integers(0, 12))
    rank = draw(st.permutations(range(size)))
    return [
        sorted(
            draw(
                st.sets(
                    st.sampled_from(
                        [p for p in range(size) if not acyclic or rank[p] < rank[node]]
                        or [None]
                    )
                )
            )
            - {None}
        )
        for node in range(size)
    ]


class OrderTest(base.TestCase):
    def test_valid_order_is_kept_and_a_parent_pulled_before_its_dependent(self):
        self.assertEqual([0, 1, 2, 3], graph.order([[], [], [1], [0, 2]]))
        self.assertEqual([2, 0, 1, 3], graph.order([[2], [], [], [1]]))

    def test_a_cycle_has_no_order(self):
        error = self.assertRaises(ValueError, graph.order, [[1], [0]])

        self.assertIn('a cycle', str(error))

    @given(graphs())
    def test_every_node_comes_once_and_after_its_parents(self, parents):
        order = graph.order(parents)

        self.assertEqual(list(range(len(parents))), sorted(order))
        place = {node: i for i, node in enumerate(order)}
        for node, waits_for in enumerate(parents):
            for parent in waits_for:
                self.assertLess(place[parent], place[node])
        # Sorting twice changes nothing.
        again = [[place[p] for p in parents[node]] for node in order]
        self.assertEqual(list(range(len(parents))), graph.order(again))


class LevelsTest(base.TestCase):
    def test_a_diamond_has_three_levels(self):
        self.assertEqual([[0], [1, 2], [3]], graph.levels([[], [0], [0], [1, 2]]))
        self.assertEqual([], graph.levels([]))

    @given(graphs())
    def test_a_node_is_one_level_after_its_latest_parent(self, parents):
        level = {n: i for i, nodes in enumerate(graph.levels(parents)) for n in nodes}

        expected = {
            node: 1 + max((level[p] for p in parents[node]), default=-1)
            for node in range(len(parents))
        }
        self.assertEqual(expected, level)


class CyclesTest(base.TestCase):
    def test_cycles_start_at_their_lowest_node_in_execution_order(self):
        for parents, limit, cycles in (
            # 0 depends on 2, 2 on 1, 1 on 0.
            ([[2], [0], [1]], {}, [[0, 1, 2]]),
            ([[1], [0], [], [4], [3], [5]], {}, [[0, 1], [3, 4], [5]]),
            ([[0], [1], [2]], {'limit': 2}, [[0], [1]]),
        ):
            self.assertEqual(cycles, graph.find_cycles(parents, **limit))

    @given(graphs(acyclic=False))
    def test_every_cycle_is_found(self, parents):
        try:
            graphlib.TopologicalSorter(dict(enumerate(parents))).prepare()
            cyclic = False
        except graphlib.CycleError:
            cyclic = True

        cycles = graph.find_cycles(parents)

        self.assertEqual(cyclic, bool(cycles))
        for cycle in cycles:
            for before, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
                self.assertIn(before, parents[after])


class SizeTest(base.TestCase):
    def test_100_000_actions_take_well_under_a_second(self):
        size = 100_000
        chain = [[i + 1] for i in range(size - 1)] + [[]]
        wide = [[]] + [[0]] * (size - 2) + [list(range(1, size - 1))]

        # CPU time of the process, independent of the load of the machine
        began = os.times().user
        found = (
            graph.order(chain)[0],
            len(graph.levels(chain)),
            [len(level) for level in graph.levels(wide)],
            graph.find_cycles(chain),
            len(graph.find_cycles([*chain[:-1], [0]])[0]),
        )
        taken = os.times().user - began

        self.assertEqual((size - 1, size, [1, size - 2, 1], [], size), found)
        # Five traversals; a quadratic one would take minutes
        self.assertLess(taken, 5.0)
