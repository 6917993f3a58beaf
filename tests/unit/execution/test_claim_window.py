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
            self.window.record_duration(seconds)
        return self.window

    def test_the_initial_window_is_the_number_of_threads(self):
        self.assertEqual(
            (8, 8, 3), (self.window.size, *map(self.window.capacity, (0, 5)))
        )

    def test_long_actions_do_not_enlarge_the_window(self):
        self.assertEqual((8, 0), (self.taking(1.0).size, self.window.capacity(8)))

    def test_a_few_short_actions_enlarge_the_window(self):
        self.assertEqual(12, self.taking(0.0, times=8).size)

    def test_a_window_of_one_claim_batch_has_room_when_half_of_it_is_free(self):
        self.assertEqual(512, self.taking(0.00001, times=200).size)
        self.assertEqual(
            (0, 256, 511), tuple(self.window.capacity(busy) for busy in (257, 256, 1))
        )

        # Stuck threads reduce it.
        self.window.record_stuck(0.25)
        self.assertEqual(8, self.window.size)
