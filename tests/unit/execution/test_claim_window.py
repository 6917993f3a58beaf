"""The claim window: the number of actions that a worker keeps in flight."""

from tests import base
from watcherlite.execution.claim_queues import ClaimWindow
from watcherlite.execution.services import ExecutionSettings


class TestWindow(base.TestCase):
    def setUp(self):
        super().setUp()
        self.window = ClaimWindow(ExecutionSettings(max_parallel=8, claim_batch=512))

    def taking(self, seconds, times=16):
        for _ in range(times):
            self.window.took(seconds)
        return self.window

    def test_as_many_as_there_are_threads_before_anything_is_known(self):
        self.assertEqual((8, 8, 3), (self.window.size, *map(self.window.room, (0, 5))))

    def test_no_more_when_actions_take_long(self):
        self.assertEqual((8, 0), (self.taking(1.0).size, self.window.room(8)))

    def test_more_when_they_are_short_as_soon_as_a_few_have_told(self):
        self.assertEqual(12, self.taking(0.0, times=8).size)

    def test_no_more_than_one_claim_takes(self):
        self.assertEqual(512, self.taking(0.00001, times=200).size)

    def test_not_for_a_few_at_a_time(self):
        self.taking(0.00001, times=200)

        self.assertEqual(
            (0, 256, 511), tuple(self.window.room(busy) for busy in (257, 256, 1))
        )

    def test_what_holds_up_all_threads_is_not_short(self):
        self.taking(0.00001, times=200).stuck(0.25)

        self.assertEqual(8, self.window.size)
