"""The server group of new nodes."""

from typing import Any

from tests.unit.plugins.policies.case import PolicyCase, profile, uuids
from watcherlite.plugins.policies.affinity import Affinity
from watcherlite.testing.policies import make_node

OUT = 'CLUSTER_SCALE_OUT'
KEPT = {'servergroup_id': 'g', 'inherited_group': True, 'policies': 'anti-affinity'}


class AffinityTest(PolicyCase):
    """Groups and placements."""

    def attach(self, properties_of_policy: dict[str, Any], **properties: Any) -> Any:
        made = profile(1, **properties)
        context = self.context(
            *(Affinity(), 'CLUSTER_ATTACH_POLICY', properties_of_policy),
            profiles=[made],
        )
        return Affinity().attach(context)

    def decide(
        self, properties: dict[str, Any], action_type: str = OUT, **values: Any
    ) -> Any:
        data = dict(values.pop('data', {}))
        context = self.context(
            Affinity(), action_type, properties, binding_data=KEPT, **values
        )
        Affinity().pre_op(context, data)
        return data

    def test_the_group_is_the_named_one_that_of_the_profile_or_a_new_one(self) -> None:
        named = {'servergroup': {'name': 'g', 'policies': 'affinity'}}
        made = {'servergroup_id': 'c-00000000', 'inherited_group': False}
        hints = {'scheduler_hints': {'group': 'g'}}

        self.assertEqual({**KEPT, 'policies': 'affinity'}, self.attach(named))
        self.assertEqual(KEPT, self.attach({}, **hints))
        self.assertEqual({**KEPT, **made}, self.attach({}))

    def test_each_new_node_gets_its_group_and_zone(self) -> None:
        where = {'servergroup': 'g', 'zone': 'x'}

        self.assertEqual(
            {
                'creation': {'count': 2},
                'placement': {'count': 2, 'placements': [where, where]},
            },
            self.decide({'availability_zone': 'x'}, data={'creation': {'count': 2}}),
        )
        self.assertEqual(
            {'placement': {'count': 1, 'placements': [{'servergroup': 'g'}]}},
            self.decide({}),
        )

    def test_a_single_new_node_gets_its_group_and_zone(self) -> None:
        (alone,) = uuids(1)
        there = make_node(1, None, data={'placement': {'region_name': 'r'}})
        context = self.context(
            *(Affinity(), 'NODE_CREATE'), nodes=[there], node=alone, binding_data=KEPT
        )
        data: dict[str, Any] = {}

        Affinity().pre_op(context, data)

        self.assertEqual({}, data)
        self.assertEqual(
            {'placement': {'servergroup': 'g', 'region_name': 'r'}},
            context.nodes[0].data,
        )

    def test_an_action_without_new_nodes_gets_no_decision(self) -> None:
        wish = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': -1}

        self.assertEqual(
            {},
            self.decide(
                *({}, 'CLUSTER_RESIZE'), inputs=wish, nodes=[make_node(1, None)]
            ),
        )
