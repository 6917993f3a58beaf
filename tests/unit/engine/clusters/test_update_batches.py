"""The order in which the nodes of a cluster are updated."""

from tests import base
from watcherlite.engine.clusters.actions.update_batches import UpdateBatches


class BatchesTest(base.TestCase):
    def test_all_are_updated_at_once_or_by_the_plan_of_a_policy(self) -> None:
        plan = [['a', 'gone'], ['gone'], ['b', 'a', 'b']]
        data = {'update': {'plan': plan, 'pause_time': 7}}
        for expected, decided, nodes in (
            (UpdateBatches((('a', 'b'),)), {}, 'ab'),
            (UpdateBatches(()), {}, ''),
            (UpdateBatches((('a',), ('b',), ('c', 'd')), 7.0), data, 'cbad'),
        ):
            self.assertEqual(expected, UpdateBatches.of(decided, [*nodes]))

    def test_the_next_batch_is_the_first_unfinished_one(self) -> None:
        batches = UpdateBatches((('a',), ('b', 'c')))
        self.assertEqual(
            [('a',), ('b', 'c'), ('c',), ()],
            [batches.next_after(ended) for ended in ('', 'a', 'ab', 'abc')],
        )
