"""The selection of the nodes to delete."""

from typing import Any

from tests.unit.plugins.policies.case import (
    PolicyCase,
    at,
    nodes,
    placed,
    profile,
    uuids,
)
from watcherlite import exceptions
from watcherlite.plugins.policies.deletion import Deletion, HookedDeletion
from watcherlite.testing.policies import fitted, make_node

IN = 'CLUSTER_SCALE_IN'
PLAIN = {
    'destroy_after_deletion': True,
    'grace_period': 0,
    'reduce_desired_capacity': True,
}


class DeletionTest(PolicyCase):
    """Candidates."""

    def decide(
        self,
        action_type: str = IN,
        data: dict[str, Any] | None = None,
        properties: dict[str, Any] | None = None,
        **values: Any,
    ) -> dict[str, Any]:
        found = dict(data or {})
        given = {'nodes': nodes(5), **values}
        all_properties = {'criteria': 'OLDEST_FIRST', **(properties or {})}
        Deletion().pre_op(
            self.context(Deletion(), action_type, all_properties, **given), found
        )
        return found

    def removed_nodes(self, *args: Any, **values: Any) -> list[str]:
        return self.decide(*args, **values)['deletion']['candidates']

    def test_a_decision_names_the_candidates_and_the_options(self) -> None:
        options = {
            'destroy_after_deletion': False,
            'grace_period': 5,
            'reduce_desired_capacity': False,
        }

        self.assertEqual(
            {'deletion': {'count': 2, 'candidates': uuids(1, 2), **options}},
            self.decide(data={'deletion': {'count': 2}}, properties=options),
        )

    def test_the_count_of_the_request_applies(self) -> None:
        self.assertEqual(uuids(1, 2, 3), self.removed_nodes(inputs={'count': 3}))
        self.assertEqual(uuids(1), self.removed_nodes())
        self.assertEqual(uuids(1, 2, 3, 4, 5), self.removed_nodes(inputs={'count': 9}))
        self.assertEqual([], self.removed_nodes(data={'deletion': {'count': 0}}))

    def test_each_criterion_has_its_order(self) -> None:
        mixed = [
            make_node(1, at(1), profile_id=2),
            make_node(2, at(2), profile_id=1),
            make_node(3, at(3), profile_id=2),
        ]
        for criteria, gone in (
            ('OLDEST_FIRST', (1, 2, 3)),
            ('YOUNGEST_FIRST', (3, 2, 1)),
            ('OLDEST_PROFILE_FIRST', (2, 1, 3)),
        ):
            self.assertEqual(
                uuids(*gone),
                self.removed_nodes(
                    nodes=mixed,
                    inputs={'count': 3},
                    properties={'criteria': criteria},
                    profiles=[profile(1), profile(2)],
                ),
            )

    def test_the_random_choice_is_repeatable_for_an_action(self) -> None:
        chance = {'properties': {'criteria': 'RANDOM'}, 'inputs': {'count': 3}}

        first, second = self.removed_nodes(**chance), self.removed_nodes(**chance)

        self.assertEqual(first, second)
        self.assertNotEqual(uuids(1, 2, 3), first)

    def test_unhealthy_and_tainted_nodes_are_removed_first(self) -> None:
        mixed = [
            make_node(1, at(1)),
            make_node(2, None),
            make_node(3, at(3), status='WARNING'),
            make_node(4, at(4), tainted=True),
        ]

        self.assertEqual(
            uuids(3, 4, 2), self.removed_nodes(nodes=mixed, inputs={'count': 3})
        )

    def test_decided_regions_and_zones_are_respected(self) -> None:
        spread = [
            placed(1, region_name='a', zone='x'),
            placed(2, region_name='a', zone='y'),
            placed(3, region_name='b', zone='x'),
            placed(4, region_name='b', zone='y'),
            make_node(5, at(5)),
        ]
        for decided, gone in (
            ({'regions': {'a': 0, 'b': 2}}, (3, 4)),
            ({'regions': {'a': 1, 'b': 1}}, (1, 3)),
            ({'zones': {'x': 0, 'y': 2}}, (2, 4)),
            ({'regions': {'a': 1, 'b': 1}, 'zones': {'x': 0, 'y': 2}}, (2, 4)),
            # The remainder is taken from regions without a decision.
            ({'regions': {'a': 1, 'b': 0}}, (1, 5)),
            # There are fewer nodes than the decision requires.
            ({'regions': {'a': 0, 'b': 0, 'c': 2}}, (1, 2)),
        ):
            data = {'deletion': {'count': 2, **decided}}
            self.assertEqual(uuids(*gone), self.removed_nodes(data=data, nodes=spread))

    def test_named_nodes_are_removed_or_deleted_by_the_request(self) -> None:
        for destroys in (True, False):
            named = {'candidates': uuids(4, 2), 'destroy_after_deletion': destroys}

            self.assertEqual(
                {'deletion': {**PLAIN, 'count': 2, **named}},
                self.decide('CLUSTER_DEL_NODES', inputs=named),
            )

    def test_the_target_of_a_node_action_is_removed(self) -> None:
        (node,) = uuids(3)

        self.assertEqual(
            {'deletion': {'count': 1, 'candidates': [node], **PLAIN}},
            self.decide('NODE_DELETE', node=node),
        )

    def test_only_a_shrinking_resize_gets_a_decision(self) -> None:
        def resize(number: int) -> dict[str, Any]:
            wish = {'adjustment_type': 'EXACT_CAPACITY', 'number': number}
            return self.decide('CLUSTER_RESIZE', inputs=wish)

        self.assertEqual({}, resize(7))
        self.assertEqual({}, resize(5))
        self.assertEqual(
            {'deletion': {'count': 2, 'candidates': uuids(1, 2), **PLAIN}}, resize(3)
        )

    def test_a_repeated_call_decides_the_same(self) -> None:
        first = self.decide(inputs={'count': 2})

        self.assertEqual(first, self.decide(data=first, nodes=nodes(5)[1:]))

    def test_the_hooks_are_part_of_the_decision_about_a_removal(self) -> None:
        hooks = {'type': 'webhook', 'params': {'url': 'http://127.0.0.1:1/'}}
        whole = {**hooks, 'params': {**hooks['params'], 'queue': ''}, 'timeout': 0}
        removed = {'count': 1, 'candidates': uuids(1), **PLAIN}
        wish = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 1}
        for action_type, inputs, decided in (
            (IN, {}, {'deletion': removed, 'hooks': whole}),
            ('CLUSTER_RESIZE', wish, {}),
        ):
            data: dict[str, Any] = {}
            context = self.context(
                *(HookedDeletion(), action_type, {'hooks': hooks}),
                nodes=nodes(1),
                inputs=inputs,
            )

            HookedDeletion().pre_op(context, data)

            self.assertEqual(decided, data)

    def test_undeliverable_hooks_are_rejected(self) -> None:
        url = (
            'properties.hooks.params.url: is required, and starts with http:// or '
            'https://'
        )
        for hooks, text in (
            (
                {'params': {'queue': 'q'}},
                'properties.hooks.type: zaqar is not supported; use webhook',
            ),
            ({'type': 'webhook'}, url),
            ({'type': 'webhook', 'params': {'url': 'file:///etc/passwd'}}, url),
            ({'type': 'webhook', 'params': {'url': 'http://'}}, url),
            ({'type': 'webhook', 'params': {'url': 'http://h:99999/'}}, url),
            (
                {'type': 'webhook', 'timeout': 10**15},
                'properties.hooks.timeout: 1000000000000000 is greater than the '
                'maximum of 31536000',
            ),
        ):
            error = self.assertRaises(
                exceptions.InvalidSpec, fitted, HookedDeletion(), hooks=hooks
            )
            self.assertEqual(text, str(error))
        self.assertEqual({'criteria': 'RANDOM', **PLAIN}, fitted(HookedDeletion()))
        fitted(HookedDeletion(), hooks={})
