"""Over which regions and zones nodes are spread."""

from typing import Any

from tests.unit.plugins.policies.case import PolicyCase, at, nodes, placed, uuids
from watcherlite import exceptions
from watcherlite.plugins.base import Policy
from watcherlite.plugins.policies.spreading import RegionPlacement, ZonePlacement
from watcherlite.testing.policies import a_node, fitted

OUT, IN, RESIZE = 'CLUSTER_SCALE_OUT', 'CLUSTER_SCALE_IN', 'CLUSTER_RESIZE'
REGIONS = {'regions': [{'name': 'a', 'weight': 200}, {'name': 'b'}]}


class SpreadingTest(PolicyCase):
    """Decisions."""

    def decided(
        self,
        policy: Policy,
        action_type: str,
        said: dict[str, Any],
        data: dict[str, Any] | None = None,
        **values: Any,
    ) -> dict[str, Any]:
        found = dict(data or {})
        policy.pre_op(self.context(policy, action_type, said, **values), found)
        return found

    def test_nodes_come_to_regions_by_their_weights(self) -> None:
        self.assertEqual(
            {'creation': {'count': 6, 'regions': {'a': 4, 'b': 2}}},
            self.decided(RegionPlacement(), OUT, REGIONS, inputs={'count': 6}),
        )

    def test_nodes_that_are_there_count(self) -> None:
        there = [placed(index, region_name='a') for index in (1, 2, 3)]

        self.assertEqual(
            {'creation': {'count': 3, 'regions': {'b': 2, 'a': 1}}},
            self.decided(
                *(RegionPlacement(), OUT, REGIONS, {'creation': {'count': 3}}),
                nodes=there,
            ),
        )

    def test_a_region_takes_no_more_than_its_cap(self) -> None:
        said = {'regions': [{'name': 'a', 'cap': 1}, {'name': 'b', 'cap': 2}]}

        self.assertEqual(
            {'creation': {'count': 3, 'regions': {'a': 1, 'b': 2}}},
            self.decided(RegionPlacement(), OUT, said, inputs={'count': 3}),
        )
        error = self.assertRaises(
            exceptions.Invalid,
            *(self.decided, RegionPlacement(), OUT, said),
            inputs={'count': 4},
        )
        self.assertEqual('There is no feasible plan to handle all nodes.', str(error))

    def test_nodes_go_from_where_there_are_most_for_the_weight(self) -> None:
        there = [
            *(placed(index, region_name='a') for index in (1, 2, 3)),
            *(placed(index, region_name='b') for index in (4, 5, 6)),
        ]

        self.assertEqual(
            {'deletion': {'count': 3, 'regions': {'a': 1, 'b': 2}}},
            self.decided(
                *(RegionPlacement(), IN, REGIONS),
                inputs={'count': 3},
                nodes=there,
            ),
        )

    def test_nodes_elsewhere_go_first(self) -> None:
        there = [placed(1, region_name='a'), placed(2, region_name='z'), *nodes(5)[3:]]

        self.assertEqual(
            {'deletion': {'count': 3, 'regions': {'a': 0, 'b': 0}}},
            self.decided(
                *(RegionPlacement(), IN, REGIONS),
                inputs={'count': 3},
                nodes=there,
            ),
        )

    def test_zones_are_decided_beside_regions(self) -> None:
        said = {'zones': [{'name': 'x'}, {'name': 'y'}, {'name': 'z', 'weight': 0}]}
        decided = {'creation': {'count': 3, 'regions': {'a': 3}}}

        self.assertEqual(
            {
                'creation': {
                    'count': 3,
                    'regions': {'a': 3},
                    'zones': {'x': 2, 'y': 1},
                }
            },
            self.decided(ZonePlacement(), OUT, said, decided),
        )

    def test_a_resize_is_looked_at_either_way(self) -> None:
        def resize(number: int) -> dict[str, Any]:
            wish = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': number}
            there = [placed(1, region_name='b'), placed(2, region_name='b')]
            return self.decided(
                RegionPlacement(), RESIZE, REGIONS, inputs=wish, nodes=there
            )

        self.assertEqual({'creation': {'count': 2, 'regions': {'a': 2}}}, resize(2))
        self.assertEqual(
            {'deletion': {'count': 1, 'regions': {'a': 0, 'b': 1}}}, resize(-1)
        )
        self.assertEqual({}, resize(0))

    def test_a_node_that_is_made_alone_is_told_where(self) -> None:
        there = [placed(1, region_name='a'), a_node(2, None, data={'k': 'v'})]
        (alone,) = uuids(2)
        said = {'regions': [{'name': 'a'}, {'name': 'b'}]}
        context = self.context(
            *(RegionPlacement(), 'NODE_CREATE', said), nodes=there, node=alone
        )
        data: dict[str, Any] = {}

        RegionPlacement().pre_op(context, data)

        self.assertEqual(
            ({}, {'k': 'v', 'placement': {'region_name': 'b'}}),
            (data, context.nodes[1].data),
        )

    def test_what_was_decided_before_stays(self) -> None:
        decided = {'creation': {'count': 2, 'regions': {'z': 2}}}

        self.assertEqual(
            decided, self.decided(RegionPlacement(), OUT, REGIONS, decided)
        )
        there = placed(2, region_name='z')
        context = self.context(
            *(RegionPlacement(), 'NODE_CREATE', REGIONS), nodes=[there], node=there.uuid
        )
        RegionPlacement().pre_op(context, {})
        self.assertEqual([there], context.nodes)

    def test_a_region_cannot_be_named_twice(self) -> None:
        error = self.assertRaises(
            *(exceptions.InvalidSpec, fitted, RegionPlacement()),
            regions=[{'name': 'a'}, {'name': 'a', 'weight': 1}],
        )

        self.assertEqual('properties.regions: a is named more than once', str(error))

    def test_each_region_has_its_defaults(self) -> None:
        self.assertEqual(
            {'regions': [{'name': 'a', 'weight': 100, 'cap': -1}]},
            fitted(RegionPlacement(), regions=[{'name': 'a'}]),
        )
        self.assertEqual(
            {'zones': [{'name': 'x', 'weight': 100}]},
            fitted(ZonePlacement(), zones=[{'name': 'x'}]),
        )

    def test_the_oldest_of_a_place_count_as_any(self) -> None:
        there = [a_node(1, at(1)), placed(2, region_name='b')]

        self.assertEqual(
            {'creation': {'count': 1, 'regions': {'a': 1}}},
            self.decided(RegionPlacement(), OUT, REGIONS, nodes=there),
        )
