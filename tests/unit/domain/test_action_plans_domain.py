"""The rules of plans that depend only on the plan."""

from tests import base, factories
from watcherlite.domain import action_plans
from watcherlite.domain.action_plans import (
    FORWARD,
    REVERTING,
    SKIPPED_MESSAGE,
    STAGES,
    STOPPING,
    appended_message,
    ended_state,
    needs_rollback,
    reason_message,
    skip_message,
)
from watcherlite.domain.actions import truncate
from watcherlite.states import action_plan as states

A = '00000000-0000-4000-8000-00000000000a'
B = '00000000-0000-4000-8000-00000000000b'
USER = f' Action {A} was skipped by user.'
AUTOMATIC = f' Action {B} was skipped automatically.'


class TestSkipMessage(base.TestCase):
    def test_skips_follow_the_fixed_sentence_by_name_or_by_number(self):
        first = f'{SKIPPED_MESSAGE}{USER}'
        full = f'{SKIPPED_MESSAGE}{USER * 3} And 9 more.'
        room = 'x' * (255 - len(SKIPPED_MESSAGE) - 1 - len(USER))
        for before, skips, after in (
            (None, [(A, True)], first),
            (None, [(A, True), (B, False)], first + AUTOMATIC),
            (first, [(B, False)], first + AUTOMATIC),
            ('By hand.', [(A, True)], f'{SKIPPED_MESSAGE} By hand.{USER}'),
            (None, [(A, True)] * 12, full),
            (full, [(B, False)], f'{SKIPPED_MESSAGE}{USER * 3} And 10 more.'),
            (room, [(A, True)], f'{SKIPPED_MESSAGE} {room}{USER}'),
            (f'{room}x', [(A, True)], f'{SKIPPED_MESSAGE} {room}x 1 in all.'),
        ):
            self.assertEqual(after, skip_message(before, skips), (before, skips))

    def test_single_skips_give_the_message_of_one_batch(self):
        text = None
        for count in range(1, 120):
            text = skip_message(text, [(A, True)])
            self.assertEqual(skip_message(None, [(A, True)] * count), text)

    def test_a_message_of_any_length_fits_and_begins_with_the_sentence(self):
        for length in range(300):
            text = skip_message('x' * length or None, [(A, True), (B, False)])
            self.assertTrue(text.startswith(SKIPPED_MESSAGE), text)
            self.assertLessEqual(len(text), 255)


class TestReasons(base.TestCase):
    SKIPS = f'{SKIPPED_MESSAGE}{USER * 3} And 9 more.'

    def test_the_reason_is_first_and_appended_text_last(self):
        first = f'{SKIPPED_MESSAGE}{USER}'
        for expected, text in (
            (f'No. {first}{AUTOMATIC}', reason_message(first + AUTOMATIC, 'No.')),
            (
                f'{"x" * 100}. {first} And 11 more.',
                reason_message(self.SKIPS, 'x' * 100),
            ),
            (
                f'No. {first}',
                skip_message(
                    reason_message(None, 'No.'), [(A, True)], reason_first=True
                ),
            ),
            (
                f'No. {first}{AUTOMATIC}',
                skip_message(f'No. {first}', [(B, False)], reason_first=True),
            ),
            (f'{first} Too old.', appended_message(first, 'Too old.')),
            (
                f'{first}{USER} And 10 more. {"x" * 60}',
                appended_message(self.SKIPS, 'x' * 60),
            ),
            ('Too old.', appended_message(None, 'Too old.')),
        ):
            self.assertEqual(expected, text)

    def test_the_reason_is_never_lost_to_the_list(self):
        for length in range(1, 300):
            text = reason_message(self.SKIPS, 'x' * length)
            self.assertLessEqual(len(text), 255)
            self.assertTrue(text.startswith(truncate('x' * length)), text)


class TestEndedState(base.TestCase):
    def ended(self, **values):
        return ended_state(factories.make_plan(**{'unfinished': 0, **values}))

    def test_plan_with_unfinished_actions_has_not_ended(self):
        for state in states.STATES:
            self.assertIsNone(self.ended(state=state, unfinished=1, failed=1), state)

    def test_only_running_or_cancelling_plans_have_an_allowed_end(self):
        for counts, end in (
            ({}, 'SUCCEEDED'),
            ({'skipped': 4}, 'SUCCEEDED'),
            ({'failed': 1}, 'FAILED'),
            ({'failed': 3}, 'FAILED'),
        ):
            found = {
                state: self.ended(state=state, **counts) for state in states.STATES
            }
            ends = {state: end for state, end in found.items() if end is not None}
            self.assertEqual({'ONGOING': end, 'CANCELLING': 'CANCELLED'}, ends)
            for pair in ends.items():
                self.assertTrue(states.MACHINE.allows(*pair), pair)

    def test_a_failure_is_final_unless_it_is_still_to_be_rolled_back(self):
        found = {
            (on_failure, stage): self.ended(
                failed=1, on_failure=on_failure, stage=stage
            )
            for on_failure in states.ON_FAILURE
            for stage in STAGES
        }

        self.assertEqual(
            {
                ('continue', FORWARD): 'FAILED',
                ('continue', STOPPING): 'FAILED',
                ('continue', REVERTING): 'FAILED',
                ('stop', FORWARD): 'FAILED',
                ('stop', STOPPING): 'FAILED',
                ('stop', REVERTING): 'FAILED',
                ('rollback', FORWARD): None,
                ('rollback', STOPPING): None,
                ('rollback', REVERTING): 'FAILED',
            },
            found,
        )


class TestStages(base.TestCase):
    def plans(self):
        return {
            (state, stage): factories.make_plan(state=state, stage=stage)
            for state in states.STATES
            for stage in STAGES
        }

    def test_a_rollback_starts_when_every_started_action_has_ended(self):
        for expected, values in (
            ({('ONGOING', STOPPING)}, {'on_failure': 'rollback', 'failed': 1}),
            (set(), {'on_failure': 'rollback', 'unfinished': 1}),
            (set(), {'on_failure': 'continue'}),
            (set(), {'on_failure': 'stop'}),
        ):
            desired = {
                key
                for key, plan in self.plans().items()
                if needs_rollback(plan.evolve(**values))
            }
            self.assertEqual(expected, desired, values)

    def test_a_plan_lets_actions_start_or_cancels_them(self):
        found = {
            key: (plan.claimable, plan.cancels_unstarted)
            for key, plan in self.plans().items()
            if plan.claimable or plan.cancels_unstarted
        }

        start, cancel = (True, False), (False, True)
        self.assertEqual(
            {
                ('PENDING', FORWARD): start,
                ('PENDING', STOPPING): start,
                ('PENDING', REVERTING): start,
                ('ONGOING', FORWARD): start,
                ('ONGOING', REVERTING): start,
                ('ONGOING', STOPPING): cancel,
                ('CANCELLING', FORWARD): cancel,
                ('CANCELLING', STOPPING): cancel,
                ('CANCELLING', REVERTING): cancel,
            },
            found,
        )

    def test_a_plan_starts_in_the_stage_forward(self):
        self.assertEqual(
            ('RECOMMENDED', FORWARD, 'continue', 'resume'),
            (
                (plan := action_plans.ActionPlan(A, id=1)).state,
                plan.stage,
                plan.on_failure,
                plan.on_worker_loss,
            ),
        )
