"""The server group of new nodes."""

from typing import Any

from tests.unit.plugins.openstack.resources.fake_cloud import FakeClouds, unavailable
from tests.unit.plugins.policies.case import PolicyCase, profile, uuids
from watcherlite import exceptions
from watcherlite.domain.outcomes import Retry
from watcherlite.plugins.policies.affinity import Affinity
from watcherlite.testing.policies import make_node

OUT = 'CLUSTER_SCALE_OUT'
INHERITED = 'inherited_group'
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


class ServerGroupTest(PolicyCase):
    """The groups of nova for clusters of servers."""

    def setUp(self) -> None:
        super().setUp()
        self.clouds = FakeClouds()
        self.compute = self.clouds.connection.compute

    def policy(self) -> Affinity:
        made = Affinity()
        made.clouds = self.clouds
        return made

    def context_of(self, servergroup: Any, kept: Any = None, **properties: Any) -> Any:
        """Return the context for a cluster of servers."""
        made = profile(1, **properties)
        spec = {**made.spec, 'type': 'os.nova.server'}
        return self.context(
            *(Affinity(), 'CLUSTER_ATTACH_POLICY', {'servergroup': servergroup}),
            profiles=[made.evolve(spec=spec)],
            binding_data=kept or {},
            credential='a-credential',
        )

    def test_the_group_of_a_cluster_is_created_once_and_deleted(self) -> None:
        context = self.context_of({}, context={'region_name': 'RegionTwo'})

        kept = self.policy().attach(context)
        again = self.policy().attach(context)

        self.assertEqual(kept, again)
        (group,) = self.compute.objects['server_group'].values()
        self.assertEqual(
            {'id': group['id'], 'name': 'c-00000000', 'policy': 'anti-affinity'}, group
        )
        self.assertEqual(
            {
                'servergroup_id': group['id'],
                'inherited_group': False,
                'policies': 'anti-affinity',
            },
            kept,
        )
        self.assertEqual(
            ({'a-credential'}, {'RegionTwo'}),
            (set(self.clouds.credentials), set(self.clouds.regions)),
        )
        self.policy().detach(self.context_of({}, kept))
        self.policy().detach(self.context_of({}, kept))
        self.assertEqual({}, self.compute.objects['server_group'])

    def test_a_group_that_is_named_must_exist_with_the_policy_and_is_kept(self) -> None:
        self.compute.create_server_group(id='g-id', name='g', policy='affinity')
        named = {'name': 'g', 'policies': 'affinity'}
        other = {'scheduler_hints': {'group': 'g'}}

        kept = self.policy().attach(self.context_of(named))
        self.policy().detach(self.context_of(named, kept))

        self.assertEqual(('g-id', True), (kept['servergroup_id'], kept[INHERITED]))
        self.assertEqual(['g-id'], list(self.compute.objects['server_group']))
        for given, text in (
            (
                self.context_of({'name': 'gone'}),
                "servergroup 'gone' could not be found",
            ),
            (self.context_of({}, **other), r'\(anti-affinity\).*\(affinity\)'),
        ):
            with self.assertRaisesRegex(exceptions.Conflict, text):
                self.policy().attach(given)

    def test_an_unavailable_service_is_tried_again(self) -> None:
        for call in (self.policy().attach, self.policy().detach):
            self.compute.failures['find_server_group'] = [unavailable()]
            self.assertIsInstance(call(self.context_of({})), Retry)
