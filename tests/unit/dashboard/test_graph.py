"""The layout of graphs."""

import hypothesis
from hypothesis import strategies as st

from tests import base
from watcherlite.dashboard import graph

#: The parents of a node are among the preceding nodes.
GRAPHS = st.integers(0, 12).flatmap(
    lambda count: st.tuples(
        *(
            st.sets(st.integers(0, number - 1), max_size=4)
            if number
            else st.just(set[int]())
            for number in range(count)
        )
    )
)


class TestLayout(base.TestCase):
    @hypothesis.given(GRAPHS)
    def test_nodes_are_apart_and_right_of_their_parents(
        self, parents: tuple[set[int], ...]
    ) -> None:
        given = {
            str(node): [str(p) for p in sorted(of)] for node, of in enumerate(parents)
        }
        laid_out = graph.lay_out(given)

        places = laid_out.places
        self.assertEqual(given.keys(), places.keys())
        self.assertEqual(len(places), len(set(places.values())))
        for node, of in given.items():
            for parent in of:
                self.assertLess(places[parent][0] + graph.NODE_WIDTH, places[node][0])
        for x, y in places.values():
            self.assertLessEqual(x + graph.NODE_WIDTH, laid_out.width)
            self.assertLessEqual(y + graph.NODE_HEIGHT, laid_out.height)
        self.assertEqual(sum(map(len, given.values())), len(laid_out.edges))

    def test_a_chain_is_a_row_and_its_edges_are_straight(self) -> None:
        laid_out = graph.lay_out({'a': [], 'b': ['a'], 'c': ['b']})
        self.assertEqual({8}, {y for _, y in laid_out.places.values()})
        self.assertEqual(
            ['M198 25C226 25 226 25 254 25', 'M444 25C472 25 472 25 500 25'],
            laid_out.edges,
        )

    def test_nodes_stand_beside_their_neighbours(self) -> None:
        laid_out = graph.lay_out(
            {'a': [], 'b': [], 'c': [], 'x': ['c'], 'y': ['b'], 'z': ['a']}
        )
        for parent, child in (('c', 'x'), ('b', 'y'), ('a', 'z')):
            self.assertEqual(laid_out.places[parent][1], laid_out.places[child][1])

    def test_parents_that_are_not_shown_are_left_out(self) -> None:
        laid_out = graph.lay_out({'a': ['gone']})
        self.assertEqual(({'a': (8, 8)}, []), (laid_out.places, laid_out.edges))
