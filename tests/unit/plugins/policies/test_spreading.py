"""The distribution of nodes over regions and zones."""

from typing import Any

from tests.unit.plugins.policies.case import PolicyCase, at, nodes, placed, uuids
from watcherlite import exceptions
from watcherlite.plugins.base import Policy
from watcherlite.plugins.policies.spreading import RegionPlacement, ZonePlacement
from watcherlite.testing.policies import fitted, make_node

OUT, IN, RESIZE = 'CLUSTER_SCALE_OUT', 'CLUSTER_SCALE_IN', 'CLUSTER_RESIZE'
REGIONS = {'regions': [{'name': 'a', 'weight': 200}, {'name': 'b'}]}


class SpreadingTest(PolicyCase):
    """Decisions."""

    def decide(
        self,
        policy: Policy,
        action_type: str,
        properties: dict[str, Any],
        data: dict[str, Any] | None = None,
        **values: Any,
    ) -> dict[str, Any]:
        found = dict(data or {})
        policy.pre_op(self.context(policy, action_type, properties, **values), found)
        return found

    def test_new_nodes_are_distributed_by_weight_and_within_caps(self) -> None:
        capped = {'regions': [{'name': 'a', 'cap': 1}, {'name': 'b', 'cap': 2}]}
        there = [placed(index, region_name='a') for index in (1, 2, 3)]
        mixed = [make_node(1, at(1)), placed(2, region_name='b')]
        three = {'inputs': {'count': 3}}
        for properties, values, count, regions in (
            (REGIONS, {'inputs': {'count': 6}}, 6, {'a': 4, 'b': 2}),
            # Nodes that exist count, wherever they are.
            (REGIONS, {**three, 'nodes': there}, 3, {'b': 2, 'a': 1}),
            (REGIONS, {'nodes': mixed}, 1, {'a': 1}),
            (capped, three, 3, {'a': 1, 'b': 2}),
        ):
            self.assertEqual(
                {'creation': {'count': count, 'regions': regions}},
                self.decide(RegionPlacement(), OUT, properties, **values),
            )
        error = self.assertRaises(
            exceptions.Invalid,
            *(self.decide, RegionPlacement(), OUT, capped),
            inputs={'count': 4},
        )
        self.assertEqual('There is no feasible plan to handle all nodes.', str(error))

    def test_nodes_are_removed_from_other_and_from_the_fullest_places(self) -> None:
        for there, left in (
            (
                [placed(n, region_name='a' if n < 4 else 'b') for n in range(1, 7)],
                (1, 2),
            ),
            (
                [placed(1, region_name='a'), placed(2, region_name='z'), *nodes(5)[3:]],
                (0, 0),
            ),
        ):
            self.assertEqual(
                {
                    'deletion': {
                        'count': 3,
                        'regions': dict(zip('ab', left, strict=True)),
                    }
                },
                self.decide(
                    *(RegionPlacement(), IN, REGIONS), inputs={'count': 3}, nodes=there
                ),
            )

    def test_a_server_that_no_policy_has_placed_counts_for_its_zone(self) -> None:
        there = [
            make_node(n, at(n), attributes={'OS-EXT-AZ:availability_zone': 'a'})
            for n in (1, 2)
        ]
        zones = {'zones': [{'name': 'a'}, {'name': 'b'}]}

        self.assertEqual(
            {'creation': {'count': 2, 'zones': {'b': 2}}},
            self.decide(ZonePlacement(), OUT, zones, inputs={'count': 2}, nodes=there),
        )

    def test_zones_and_regions_are_decided_independently(self) -> None:
        properties = {
            'zones': [{'name': 'x'}, {'name': 'y'}, {'name': 'z', 'weight': 0}]
        }
        decided = {'creation': {'count': 3, 'regions': {'a': 3}}}

        self.assertEqual(
            {'creation': {'count': 3, 'regions': {'a': 3}, 'zones': {'x': 2, 'y': 1}}},
            self.decide(ZonePlacement(), OUT, properties, decided),
        )

    def test_a_resize_in_either_direction_gets_a_decision(self) -> None:
        def resize(number: int) -> dict[str, Any]:
            wish = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': number}
            there = [placed(1, region_name='b'), placed(2, region_name='b')]
            return self.decide(
                RegionPlacement(), RESIZE, REGIONS, inputs=wish, nodes=there
            )

        self.assertEqual({'creation': {'count': 2, 'regions': {'a': 2}}}, resize(2))
        self.assertEqual(
            {'deletion': {'count': 1, 'regions': {'a': 0, 'b': 1}}}, resize(-1)
        )
        self.assertEqual({}, resize(0))

    def test_a_single_new_node_gets_its_place(self) -> None:
        there = [placed(1, region_name='a'), make_node(2, None, data={'k': 'v'})]
        (alone,) = uuids(2)
        properties = {'regions': [{'name': 'a'}, {'name': 'b'}]}
        context = self.context(
            *(RegionPlacement(), 'NODE_CREATE', properties), nodes=there, node=alone
        )
        data: dict[str, Any] = {}

        RegionPlacement().pre_op(context, data)

        self.assertEqual(
            ({}, {'k': 'v', 'placement': {'region_name': 'b'}}),
            (data, context.nodes[1].data),
        )

    def test_an_earlier_decision_is_kept(self) -> None:
        decided = {'creation': {'count': 2, 'regions': {'z': 2}}}

        self.assertEqual(decided, self.decide(RegionPlacement(), OUT, REGIONS, decided))
        there = placed(2, region_name='z')
        context = self.context(
            *(RegionPlacement(), 'NODE_CREATE', REGIONS), nodes=[there], node=there.uuid
        )
        RegionPlacement().pre_op(context, {})
        self.assertEqual([there], context.nodes)

    def test_duplicate_regions_are_rejected(self) -> None:
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
