"""The action as a value."""

from tests import base, factories
from watcherlite.domain import actions
from watcherlite.domain.actions import cut


class TestCut(base.TestCase):
    def test_no_message_stays_none(self):
        self.assertIsNone(cut(None))

    def test_a_message_that_fits_is_left_as_it_is(self):
        for text in ('', 'short', 'x' * 254, 'x' * 255):
            self.assertEqual(text, cut(text))

    def test_a_longer_one_ends_in_an_ellipsis_at_255_characters(self):
        self.assertEqual('x' * 254 + '…', cut('x' * 256))
        self.assertEqual('x' * 254 + '…', cut('x' * 100_000))

    def test_characters_are_counted_and_not_bytes(self):
        self.assertEqual('ü' * 255, cut('ü' * 255))
        self.assertEqual('🎈' * 254 + '…', cut('🎈' * 256))

    def test_a_nul_becomes_a_question_mark(self):
        self.assertEqual('a?b?', cut('a\0b\0'))

    def test_a_long_message_of_nuls_is_cut_too(self):
        self.assertEqual('?' * 254 + '…', cut('\0' * 300))


class TestAction(base.TestCase):
    def test_a_new_one_waits_for_its_plan_and_was_never_taken(self):
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

        self.assertEqual(
            ('PENDING', 'ONGOING'),
            (new.state, new.evolve(start_time=factories.NOW).state),
        )

    def test_a_start_time_from_an_earlier_try_does_not_make_ready_ongoing(self):
        action = factories.make_action(status='READY', start_time=factories.NOW)

        self.assertEqual('PENDING', action.state)
