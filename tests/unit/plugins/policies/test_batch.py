"""The batches in which nodes are updated."""

from typing import Any

from tests.unit.plugins.policies.case import PolicyCase, at, nodes, uuids
from watcherlite.plugins.policies.batch import Batch
from watcherlite.testing.policies import make_node

UPDATE = 'CLUSTER_UPDATE'


class BatchTest(PolicyCase):
    """Plans."""

    def decide(self, count: int = 5, **properties: Any) -> dict[str, Any]:
        data: dict[str, Any] = {}
        context = self.context(Batch(), UPDATE, properties, nodes=nodes(count))
        Batch().pre_op(context, data)
        return data

    def sizes(self, count: int, **properties: Any) -> list[int]:
        plan = self.decide(count, **properties)['update']['plan']
        self.assertEqual(
            uuids(*range(1, count + 1)), [uuid for batch in plan for uuid in batch]
        )
        return [len(batch) for batch in plan]

    def test_the_plan_groups_the_nodes(self) -> None:
        self.assertEqual(
            {'update': {'pause_time': 7, 'plan': [uuids(1, 2), uuids(3, 4), uuids(5)]}},
            self.decide(max_batch_size=2, pause_time=7),
        )

    def test_the_minimum_in_service_is_respected(self) -> None:
        self.assertEqual([4, 1], self.sizes(5))
        self.assertEqual([2, 2, 1], self.sizes(5, min_in_service=3))
        self.assertEqual([5], self.sizes(5, min_in_service=0))

    def test_an_unreachable_minimum_leads_to_two_halves(self) -> None:
        self.assertEqual([2, 1], self.sizes(3, min_in_service=3))
        self.assertEqual([1], self.sizes(1))

    def test_a_cluster_without_nodes_has_no_batches(self) -> None:
        self.assertEqual({'update': {'pause_time': 60, 'plan': []}}, self.decide(0))

    def test_unhealthy_nodes_are_updated_first(self) -> None:
        mixed = [
            make_node(1, at(1)),
            make_node(2, at(2), status='ERROR'),
            make_node(3, at(3)),
        ]
        data: dict[str, Any] = {}
        properties = {'max_batch_size': 1}

        Batch().pre_op(self.context(Batch(), UPDATE, properties, nodes=mixed), data)

        self.assertEqual([uuids(2), uuids(1), uuids(3)], data['update']['plan'])

    def test_a_repeated_call_decides_the_same(self) -> None:
        data = first = self.decide()

        Batch().pre_op(self.context(Batch(), UPDATE, nodes=nodes(2)), data)

        self.assertEqual(first, data)
