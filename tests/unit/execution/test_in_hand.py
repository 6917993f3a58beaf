"""What a worker has in hand, and how much of it takes a thread."""

from tests import base
from tests.factories import make_action
from watcherlite.execution.context import TIMEOUT, Context
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.task import Task
from watcherlite.testing.clock import ManualClock


class InHandTest(base.TestCase):
    """Every way in and out leaves the count right."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.hand = InHand(self.clock)
        # As everybody has it who calls what changes the count.
        self.hand.lock.acquire()
        self.addCleanup(self.hand.lock.release)

    def a_task(self, key: int = 1, **values: int) -> Task:
        return Task(make_action(id=key, attempt=1, **values))

    def taken(self, key: int = 1) -> Task:
        task = self.a_task(key)
        self.hand.add(task)
        return task

    def test_a_task_is_busy_until_it_ends(self) -> None:
        first, second = self.taken(1), self.taken(2)
        self.assertEqual(2, self.hand.busy)
        self.assertEqual({1: 1, 2: 1}, self.hand.attempts())
        self.assertEqual([first, second], self.hand.tasks())
        self.assertIs(first, self.hand.get(1))
        self.hand.forget(first)
        self.assertEqual((1, None), (self.hand.busy, self.hand.get(1)))

    def test_to_forget_twice_is_to_forget_once(self) -> None:
        task = self.taken()
        self.taken(2)
        self.hand.forget(task)
        self.hand.forget(task)
        self.assertEqual(1, self.hand.busy)

    def test_an_idle_task_is_not_busy(self) -> None:
        task = self.taken()
        self.hand.rest(task)
        self.hand.rest(task)
        self.assertEqual((0, True), (self.hand.busy, task.idle))
        self.assertTrue(self.hand.occupy(task))
        self.assertFalse(self.hand.occupy(task))
        self.assertEqual((1, False), (self.hand.busy, task.idle))
        self.hand.rest(task)
        self.hand.forget(task)
        self.assertEqual(0, self.hand.busy)

    def test_a_task_that_is_not_in_hand_changes_nothing(self) -> None:
        stranger = self.a_task(7)
        self.hand.rest(stranger)
        self.hand.pause(stranger, True)
        self.hand.forget(stranger)
        self.assertFalse(self.hand.occupy(stranger))
        self.assertEqual((0, False), (self.hand.busy, stranger.paused))

    def test_a_new_attempt_takes_the_place_of_the_old(self) -> None:
        old = self.taken()
        new = self.a_task()
        self.hand.add(new)
        self.assertEqual((1, True), (self.hand.busy, old.abandoned))
        self.hand.forget(old)
        self.assertTrue(self.hand.holds(new))
        self.assertEqual(1, self.hand.busy)

    def test_quiet_is_when_no_thread_is_at_work(self) -> None:
        self.assertTrue(self.hand.wait_until_quiet(0))
        task = self.taken()
        self.assertFalse(self.hand.wait_until_quiet(0))
        self.hand.rest(task)
        self.assertTrue(self.hand.wait_until_quiet(0))

    def test_who_is_suspended_in_a_thread_is_not_waited_for_and_is_not_over(
        self,
    ) -> None:
        task = self.taken()
        self.hand.pause(task, True)
        self.hand.pause(task, True)
        # At once, and it takes nobody's place.
        self.assertFalse(self.hand.wait_until_quiet(3600))
        self.assertEqual(0, self.hand.busy)
        other = self.taken(2)
        self.hand.forget(task)
        self.assertFalse(self.hand.wait_until_quiet(0))
        self.hand.forget(other)
        self.assertTrue(self.hand.wait_until_quiet(0))

    def test_one_that_goes_on_is_at_work_again(self) -> None:
        task = self.taken()
        self.hand.pause(task, True)
        self.hand.pause(task, False)
        self.assertFalse(self.hand.wait_until_quiet(0))
        self.assertEqual(1, self.hand.busy)

    def test_what_is_given_up_hears_of_it_and_nothing_more_is_taken(self) -> None:
        task = self.taken()
        task.context = Context(task.action, None, self.clock)
        idle = self.taken(2)
        self.hand.rest(idle)
        self.hand.abandon()
        later = self.taken(3)
        self.assertEqual([True, True, True], [t.abandoned for t in (task, idle, later)])
        self.assertEqual(TIMEOUT, task.context.signal)
        self.assertEqual((0, []), (self.hand.busy, self.hand.tasks()))
        self.hand.forget(task)
        self.assertEqual(0, self.hand.busy)
