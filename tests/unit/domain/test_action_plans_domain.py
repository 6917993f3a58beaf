"""The rules of plans that need nothing but the plan."""

from testtools import matchers

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
from watcherlite.domain.actions import cut
from watcherlite.states import action_plan as states

A = '00000000-0000-4000-8000-00000000000a'
B = '00000000-0000-4000-8000-00000000000b'
USER = f' Action {A} was skipped by user.'
AUTOMATIC = f' Action {B} was skipped automatically.'


class TestSkipMessage(base.TestCase):
    def test_it_begins_with_the_fixed_sentence(self):
        self.assertEqual(f'{SKIPPED_MESSAGE}{USER}', skip_message(None, [(A, True)]))

    def test_message_distinguishes_skips_by_users(self):
        self.assertEqual(
            f'{SKIPPED_MESSAGE}{USER}{AUTOMATIC}',
            skip_message(None, [(A, True), (B, False)]),
        )

    def test_the_next_ones_are_appended(self):
        first = skip_message(None, [(A, True)])

        self.assertEqual(
            f'{SKIPPED_MESSAGE}{USER}{AUTOMATIC}', skip_message(first, [(B, False)])
        )

    def test_earlier_text_follows_the_fixed_sentence(self):
        self.assertEqual(
            f'{SKIPPED_MESSAGE} Proposed by hand.{USER}',
            skip_message('Proposed by hand.', [(A, True)]),
        )

    def test_as_many_are_named_as_fit_and_the_rest_are_counted(self):
        self.assertEqual(
            f'{SKIPPED_MESSAGE}{USER * 3} And 9 more.',
            skip_message(None, [(A, True)] * 12),
        )

    def test_later_ones_are_counted_as_well(self):
        full = skip_message(None, [(A, True)] * 12)

        self.assertEqual(
            f'{SKIPPED_MESSAGE}{USER * 3} And 10 more.',
            skip_message(full, [(B, False)]),
        )

    def test_single_skips_give_the_message_of_one_batch(self):
        text = None
        for count in range(1, 120):
            text = skip_message(text, [(A, True)])
            self.assertEqual(skip_message(None, [(A, True)] * count), text)

    def test_a_message_of_any_length_fits_and_begins_with_the_sentence(self):
        for length in range(300):
            text = skip_message('x' * length or None, [(A, True), (B, False)])
            self.assertTrue(text.startswith(SKIPPED_MESSAGE), text)
            self.assertThat(len(text), _at_most(255))

    def test_where_no_name_fits_they_are_counted(self):
        room = 255 - len(SKIPPED_MESSAGE) - 1 - len(USER)

        fits = skip_message('x' * room, [(A, True)])
        does_not = skip_message('x' * (room + 1), [(A, True)])

        self.assertEqual((255, True), (len(fits), fits.endswith(USER)))
        self.assertEqual(f'{SKIPPED_MESSAGE} {"x" * (room + 1)} 1 in all.', does_not)


class TestReasons(base.TestCase):
    SKIPS = f'{SKIPPED_MESSAGE}{USER * 3} And 9 more.'

    def test_a_plan_that_ends_badly_has_its_reason_first(self):
        self.assertEqual(
            f'No disk. {SKIPPED_MESSAGE}{USER}{AUTOMATIC}',
            reason_message(f'{SKIPPED_MESSAGE}{USER}{AUTOMATIC}', 'No disk.'),
        )

    def test_the_reason_is_never_lost_to_the_list(self):
        for length in range(1, 300):
            text = reason_message(self.SKIPS, 'x' * length)
            self.assertThat(len(text), _at_most(255))
            self.assertTrue(text.startswith(cut('x' * length)), text)

    def test_actions_that_do_not_fit_are_counted(self):
        self.assertEqual(
            f'{"x" * 100}. {SKIPPED_MESSAGE}{USER} And 11 more.',
            reason_message(self.SKIPS, 'x' * 100),
        )

    def test_a_later_skip_leaves_the_reason_first(self):
        text = reason_message(None, 'It was cancelled.')

        self.assertEqual(
            f'It was cancelled. {SKIPPED_MESSAGE}{USER}',
            skip_message(text, [(A, True)], reason_first=True),
        )
        self.assertEqual(
            f'It was cancelled. {SKIPPED_MESSAGE}{USER}{AUTOMATIC}',
            skip_message(
                f'It was cancelled. {SKIPPED_MESSAGE}{USER}',
                [(B, False)],
                reason_first=True,
            ),
        )

    def test_appended_text_is_last_and_never_truncated(self):
        self.assertEqual(
            f'{SKIPPED_MESSAGE}{USER} Too old.',
            appended_message(f'{SKIPPED_MESSAGE}{USER}', 'Too old.'),
        )
        self.assertEqual(
            f'{SKIPPED_MESSAGE}{USER * 2} And 10 more. {"x" * 60}',
            appended_message(self.SKIPS, 'x' * 60),
        )
        self.assertEqual('Too old.', appended_message(None, 'Too old.'))


def _at_most(number):
    return matchers.Not(matchers.GreaterThan(number))


class TestEndedState(base.TestCase):
    def ended(self, **values):
        return ended_state(factories.make_plan(**{'unfinished': 0, **values}))

    def test_plan_with_unfinished_actions_has_not_ended(self):
        for state in states.STATES:
            self.assertIsNone(self.ended(state=state, unfinished=1, failed=1), state)

    def test_only_a_plan_that_runs_or_is_cancelled_comes_to_an_end(self):
        found = {state: self.ended(state=state) for state in states.STATES}

        self.assertEqual(
            {'ONGOING': 'SUCCEEDED', 'CANCELLING': 'CANCELLED'},
            {state: end for state, end in found.items() if end is not None},
        )

    def test_a_plan_that_was_cancelled_is_cancelled_whatever_failed(self):
        self.assertEqual('CANCELLED', self.ended(state='CANCELLING', failed=3))

    def test_skipped_actions_do_not_fail_the_plan(self):
        self.assertEqual('SUCCEEDED', self.ended(skipped=4))

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

    def test_every_end_is_allowed_by_the_machine(self):
        for state in ('ONGOING', 'CANCELLING'):
            for failed in (0, 1):
                end = self.ended(state=state, failed=failed)
                self.assertTrue(states.MACHINE.allows(state, end), (state, end))


class TestStages(base.TestCase):
    def plans(self):
        return {
            (state, stage): factories.make_plan(state=state, stage=stage)
            for state in states.STATES
            for stage in STAGES
        }

    def test_a_rollback_begins_when_everything_that_ran_has_ended(self):
        wanted = {
            key
            for key, plan in self.plans().items()
            if needs_rollback(plan.evolve(on_failure='rollback', failed=1))
        }

        self.assertEqual({('ONGOING', STOPPING)}, wanted)

    def test_rollback_waits_for_unfinished_actions(self):
        plan = factories.make_plan(stage=STOPPING, on_failure='rollback', unfinished=1)

        self.assertFalse(needs_rollback(plan))

    def test_plans_that_only_stop_are_not_rolled_back(self):
        for on_failure in ('continue', 'stop'):
            plan = factories.make_plan(stage=STOPPING, on_failure=on_failure)
            self.assertFalse(needs_rollback(plan), on_failure)

    def test_actions_are_claimable_in_forward_and_reverting_plans(self):
        self.assertEqual(
            {
                ('PENDING', FORWARD),
                ('PENDING', STOPPING),
                ('PENDING', REVERTING),
                ('ONGOING', FORWARD),
                ('ONGOING', REVERTING),
            },
            {key for key, plan in self.plans().items() if plan.claimable},
        )

    def test_stopping_plan_cancels_unstarted_actions(self):
        self.assertEqual(
            {
                ('ONGOING', STOPPING),
                ('CANCELLING', FORWARD),
                ('CANCELLING', STOPPING),
                ('CANCELLING', REVERTING),
            },
            {key for key, plan in self.plans().items() if plan.cancels_unstarted},
        )

    def test_no_plan_lets_actions_start_and_cancels_them_at_once(self):
        for key, plan in self.plans().items():
            self.assertFalse(plan.claimable and plan.cancels_unstarted, key)

    def test_a_plan_begins_forward(self):
        self.assertEqual(
            ('RECOMMENDED', FORWARD, 'continue', 'resume'),
            (
                (plan := action_plans.ActionPlan(A, id=1)).state,
                plan.stage,
                plan.on_failure,
                plan.on_worker_loss,
            ),
        )
