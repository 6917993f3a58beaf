"""The action as a value."""

from tests import base, factories
from watcherlite.domain import actions
from watcherlite.domain.actions import truncate


class TestCut(base.TestCase):
    def test_a_message_has_at_most_255_characters_and_no_nul(self):
        for text, expected in (
            *((text, text) for text in (None, '', 'short', 'x' * 254, 'x' * 255)),
            ('x' * 256, 'x' * 254 + '…'),
            ('x' * 100_000, 'x' * 254 + '…'),
            ('ü' * 255, 'ü' * 255),
            ('🎈' * 256, '🎈' * 254 + '…'),
            ('a\0b\0', 'a?b?'),
            ('\0' * 300, '?' * 254 + '…'),
        ):
            self.assertEqual(expected, truncate(text))


class TestAction(base.TestCase):
    def test_a_new_action_waits_for_its_plan_and_was_never_claimed(self):
        action = factories.make_action()

        self.assertEqual(
            ('INIT', None, 0, 'run', None, False),
            (
                action.status,
                action.owner,
                action.attempt,
                action.phase,
                action.control,
                action.finished,
            ),
        )

    def test_the_four_final_statuses_are_finished(self):
        finished = {
            status
            for status in actions.states.STATES
            if factories.make_action(status=status).finished
        }

        self.assertEqual({'SUCCEEDED', 'FAILED', 'CANCELLED', 'SKIPPED'}, finished)

    def test_state_distinguishes_first_wait_and_retry(self):
        new = factories.make_action(status='WAITING')
        begun = new.evolve(start_time=factories.NOW)

        self.assertEqual(
            ['PENDING', 'ONGOING', 'PENDING'],
            [one.state for one in (new, begun, begun.evolve(status='READY'))],
        )
