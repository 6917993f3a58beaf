"""The order in which the nodes of a cluster are updated."""

from tests import base
from watcherlite.engine.clusters.actions.update_batches import UpdateBatches


class BatchesTest(base.TestCase):
    def test_without_a_policy_all_are_updated_at_once(self) -> None:
        self.assertEqual(UpdateBatches((('a', 'b'),)), UpdateBatches.of({}, ['a', 'b']))
        self.assertEqual(UpdateBatches(()), UpdateBatches.of({}, []))

    def test_the_plan_of_a_policy_is_limited_to_existing_nodes(self) -> None:
        plan = [['a', 'gone'], ['gone'], ['b', 'a', 'b']]
        data = {'update': {'plan': plan, 'pause_time': 7}}
        self.assertEqual(
            UpdateBatches((('a',), ('b',), ('c', 'd')), 7.0),
            UpdateBatches.of(data, ['c', 'b', 'a', 'd']),
        )

    def test_the_next_batch_is_the_first_unfinished_one(self) -> None:
        batches = UpdateBatches((('a',), ('b', 'c')))
        self.assertEqual(
            [('a',), ('b', 'c'), ('c',), ()],
            [batches.next_after(ended) for ended in ('', 'a', 'ab', 'abc')],
        )
