"""The claim queues: the order and limits of claims."""

from typing import Any

from tests import base
from tests.factories import make_plan
from watcherlite.execution.claim_queues import ClaimQueue, ClaimQueues
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.group_commit import ClaimRequest, ClaimResult
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


def claim_sizes(desired: list[ClaimRequest]) -> list[tuple[Any, int]]:
    return [(w.lane or w.plan_id, w.limit) for w in desired]


def queues(*lanes: str) -> ClaimQueues:
    clock = ManualClock()
    services = CoreServices(MemoryStore(clock), clock, ExecutionSettings(), 'w')
    return ClaimQueues(services, lanes, CommitQueue(services))


class ClaimQueuesTest(base.TestCase):
    """A worker that serves the applier lane."""

    def setUp(self) -> None:
        super().setUp()
        self.queues = queues('applier')
        self.empty('applier')

    def empty(self, *names: Any) -> None:
        """Apply claims that found nothing to these queues."""
        for source in self.queues:
            if (source.lane or source.plan_id) in names:
                source.more = source.hinted = False

    def claim(
        self, desired: ClaimRequest, more: bool, limited: bool = False
    ) -> ClaimQueue | None:
        return self.queues.apply_claim(ClaimResult(desired, [], more, limited))

    def plan(self, key: int) -> ClaimQueue:
        source = self.queues.find(key, None)
        assert source is not None
        return source

    def test_a_new_queue_may_have_actions(self) -> None:
        found = queues('applier', 'engine')
        self.assertEqual([('applier', 5), ('engine', 5)], claim_sizes(found.share(10)))
        self.assertTrue(found.has_lane('engine'))
        self.assertFalse(self.queues.has_lane('engine'))

    def test_the_room_is_divided_among_the_queues_which_take_turns(self) -> None:
        for keys, room, shares in (
            ((1, 2, 3), 10, [[(1, 3), (2, 3), (3, 4)]]),
            ((1, 2, 3), 1, [[(1, 1)], [(2, 1)], [(3, 1)], [(1, 1)]]),
            # The remainder of the room rotates.
            ((1, 2), 3, [[(1, 1), (2, 2)], [(2, 1), (1, 2)]]),
        ):
            self.queues = queues('applier')
            self.empty('applier')
            for key in keys:
                self.queues.hint_plan(key, f'plan-{key}')
            self.assertEqual(
                shares, [claim_sizes(self.queues.share(room)) for _ in shares]
            )

    def test_a_lane_has_its_turn_among_more_plans_than_there_is_room(self) -> None:
        found = queues('applier')
        for key in (1, 2, 3):
            found.hint_plan(key, f'plan-{key}')
        self.assertEqual(
            [[('applier', 1), (1, 1)], [(2, 1), (3, 1)], [('applier', 1), (1, 1)]],
            [claim_sizes(found.share(2)) for _ in range(3)],
        )

    def test_only_a_claim_that_reached_its_limit_is_followed_by_another(self) -> None:
        self.assertFalse(self.queues.has_more())
        self.assertEqual([], self.queues.share(10))
        self.queues.hint_plan(1, 'plan-1')
        (desired,) = self.queues.share(10)
        self.claim(desired, more=True)
        self.assertTrue(self.queues.has_more())
        self.claim(desired, more=False)
        self.assertFalse(self.queues.has_more())

    def test_the_limit_of_a_queue_grows_while_it_has_more(self) -> None:
        self.queues.hint_plan(1, 'plan-1')
        taken = []
        for more in (True, True, True, False):
            (desired,) = self.queues.share(600)
            taken.append(desired.limit)
            self.claim(desired, more)
        self.queues.hint_plan(1, 'plan-1')
        (desired,) = self.queues.share(600)
        self.assertEqual([32, 128, 512, 600], taken)
        self.assertEqual(32, desired.limit)

    def test_a_hint_during_a_claim_outlives_the_claim(self) -> None:
        self.queues.hint_plan(1, 'plan-1')
        (desired,) = self.queues.share(10)
        self.queues.hint_plan(1, 'plan-1')
        self.claim(desired, more=False)
        self.assertTrue(self.queues.has_more())
        (desired,) = self.queues.share(10)
        self.claim(desired, more=False)
        self.assertFalse(self.queues.has_more())

    def test_a_release_in_the_transaction_of_a_claim_does_not_outlive_it(self) -> None:
        self.queues.hint_plan(1, 'plan-1')
        (desired,) = self.queues.share(10)
        self.plan(1).more = True
        self.claim(desired, more=False)
        self.assertFalse(self.queues.has_more())

    def test_a_limited_plan_waits_until_one_of_its_actions_ends(self) -> None:
        self.queues.hint_plan(1, 'plan-1')
        (desired,) = self.queues.share(10)
        self.claim(desired, more=True, limited=True)
        self.assertFalse(self.queues.has_more())
        self.queues.update_plan(make_plan(id=1, max_parallel=3, active=3))
        self.assertFalse(self.queues.has_more())
        self.queues.update_plan(make_plan(id=1, max_parallel=3, active=2))
        self.assertTrue(self.queues.has_more())

    def test_the_queue_of_an_ended_or_stopping_plan_is_removed(self) -> None:
        for values in ({'state': 'SUCCEEDED'}, {'stage': 'stopping'}):
            self.queues.hint_plan(1, 'plan-1')
            self.queues.update_plan(make_plan(id=1, **values))
            self.assertIsNone(self.queues.find(1, 'applier'))
        self.assertIsNone(self.claim(ClaimRequest(1, None, 5), more=True))

    def test_a_plan_without_a_hint_has_no_queue(self) -> None:
        self.queues.update_plan(make_plan(id=7))
        self.assertIsNone(self.queues.find(7, 'applier'))
        lane = self.queues.find(None, 'applier')
        assert lane is not None
        self.assertEqual('applier', lane.lane)

    def test_each_kind_of_hint_marks_its_queues(self) -> None:
        self.queues.hint_plan(1, 'plan-1')
        self.empty(1)
        self.queues.hint_lane('applier')
        self.assertEqual([('applier', 9)], claim_sizes(self.queues.share(9)))
        self.queues.hint_all()
        self.assertEqual([(1, 4), ('applier', 5)], claim_sizes(self.queues.share(9)))
